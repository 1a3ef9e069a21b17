"""Beside lesson 3: merging by chance, so that a model sees a word spelled in many ways.

In: a piece, the ranks of pairs, a rate and a source of chance. Out: tokens that spell the piece,
mostly as merging does, sometimes otherwise. This is BPE-dropout (Provilkov, Emelianenko and Voita,
2020, "BPE-Dropout: Simple and Effective Subword Regularization"): before each step every possible
merge is left out with some probability, and the best of those that are left is made. When none is
left, merging ends. At rate 0 it is `merge_by_pairs`, at rate 1 single bytes.

It is for training a model; encode exactly when the model is used. The fast half's
`encode(..., dropout=..., seed=...)` draws the same numbers in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from .merge import Pair, Word, single_bytes

_MASK = (1 << 64) - 1


def chances(seed: int) -> Iterator[float]:
    """Numbers from 0 to below 1 that depend on the seed alone (SplitMix64).

    >>> [round(chance, 3) for chance, _ in zip(chances(7), range(3))]
    [0.39, 0.017, 0.901]
    """
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & _MASK
        mixed = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB & _MASK
        yield ((mixed ^ (mixed >> 31)) >> 11) / (1 << 53)


def merge_with_dropout(
    piece: bytes, pair_ranks: Mapping[Pair, int], rate: float, draws: Iterator[float]
) -> Word:
    """Merge a piece by learned pairs, each merge left out with probability ``rate``.

    To look at the merges from the best on, and to draw for each until one stays, is the same as to
    draw for all of them first.

    >>> ranks = {(b"l", b"l"): 0, (b"h", b"e"): 1, (b"ll", b"o"): 2}
    >>> draws = chances(1)
    >>> [merge_with_dropout(b"hello", ranks, 0.5, draws) for _ in range(2)]
    [(b'he', b'llo'), (b'h', b'e', b'l', b'l', b'o')]
    >>> merge_with_dropout(b"hello", ranks, 0.0, draws)
    (b'he', b'llo')
    """
    tokens = list(single_bytes(piece))
    if rate >= 1:
        return tuple(tokens)
    while True:
        possible = sorted(
            (pair_ranks[pair], position)
            for position, pair in enumerate(pairwise(tokens))
            if pair in pair_ranks
        )
        chosen = next((position for _, position in possible if next(draws) >= rate), None)
        if chosen is None:
            return tuple(tokens)
        tokens[chosen : chosen + 2] = [tokens[chosen] + tokens[chosen + 1]]
