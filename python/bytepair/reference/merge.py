"""Lesson 3: merging, the heart of BPE.

In: a piece as bytes. Out: the tokens it becomes. A text of any language is bytes in UTF-8, so with
the 256 single bytes as the first tokens nothing is ever unknown.

The definition: start from single bytes; as long as two neighbours may be merged, merge the two with
the lowest rank, the leftmost of equals first. There are two ways to say which neighbours may:

- by *pairs* (GPT-2, Hugging Face): training learned a list of pairs; the rank of a pair is its
  place in that list;
- by *ranks* (tiktoken): a table gives every token a rank; two neighbours may be merged if their
  bytes, put together, are in the table. A piece that is in the table as a whole is taken at once.

For a vocabulary made by training, both give the same tokens. For others they need not, see the
example of `merge_by_ranks`.

Every fast engine is tested against this module. Cost: each merge looks at the whole piece again, so
time grows with the square of the length. Pieces are mostly short words; for a piece of a million
letters, use the fast half of the package.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

Pair = tuple[bytes, bytes]
Word = tuple[bytes, ...]  # a piece, as the tokens it consists of so far


def single_bytes(piece: bytes) -> Word:
    """The piece as a word of single bytes, the state before any merge.

    >>> single_bytes(b"low")
    (b'l', b'o', b'w')
    """
    return tuple(bytes([byte]) for byte in piece)


def merge_word(word: Word, pair: Pair) -> Word:
    """Merge every occurrence of one pair in a word, from left to right.

    Occurrences that overlap cannot both be merged; the left one wins.

    >>> merge_word((b"a", b"a", b"a", b"b"), (b"a", b"a"))
    (b'aa', b'a', b'b')
    """
    merged: list[bytes] = []
    position = 0
    while position < len(word):
        if word[position : position + 2] == pair:
            merged.append(pair[0] + pair[1])
            position += 2
        else:
            merged.append(word[position])
            position += 1
    return tuple(merged)


def merge_lowest_first(word: Word, rank_of: Callable[[bytes, bytes], int | None]) -> Word:
    """Merge the neighbours of lowest rank until no two may be merged.

    ``rank_of(left, right)`` is the rank, or None if the two may not be merged.
    """
    tokens = list(word)
    while True:
        ranked = [
            (rank, position)
            for position, (left, right) in enumerate(pairwise(tokens))
            if (rank := rank_of(left, right)) is not None
        ]
        if not ranked:
            return tuple(tokens)
        _, position = min(ranked)
        tokens[position : position + 2] = [tokens[position] + tokens[position + 1]]


def merge_by_pairs(piece: bytes, pair_ranks: Mapping[Pair, int]) -> Word:
    """Merge a piece by learned pairs.

    >>> merge_by_pairs(b"hello", {(b"l", b"l"): 0, (b"h", b"e"): 1, (b"ll", b"o"): 2})
    (b'he', b'llo')
    """
    return merge_lowest_first(
        single_bytes(piece), lambda left, right: pair_ranks.get((left, right))
    )


def merge_by_ranks(piece: bytes, token_ranks: Mapping[bytes, int]) -> Word:
    """Merge a piece by the ranks of the results, the whole piece first.

    The case where it differs from pairs: the pairs (a,b), (b,c), (a,bc) in this order turn ``abc``
    into ``ab c``, because after (a,b) no learned pair is left. By ranks, ``ab`` and ``c`` make
    ``abc``.

    >>> merge_by_ranks(b"abcabc", {b"ab": 3, b"bc": 4, b"abc": 5})
    (b'abc', b'abc')
    >>> merge_by_pairs(b"abcabc", {(b"a", b"b"): 0, (b"b", b"c"): 1, (b"a", b"bc"): 2})
    (b'ab', b'c', b'ab', b'c')
    """
    if piece in token_ranks:
        return (piece,)
    return merge_lowest_first(
        single_bytes(piece), lambda left, right: token_ranks.get(left + right)
    )
