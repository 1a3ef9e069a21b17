"""Merges the bytes of one piece where the core cannot be asked, because they are no text.

In: any bytes, and the rank of a token. Out: ids. The core takes bytes that are not UTF-8 apart
before it merges; tiktoken does not where it looks for completions. `merged` takes O(n log n),
`merged_slowly` is the definition that it is tested against.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from itertools import pairwise

Rank = Callable[[bytes], int | None]
"""Gives the rank of a token, which is its id, or `None` for bytes that are none."""


def merged_slowly(piece: bytes, rank: Rank) -> list[int]:
    """The ids of a piece by the definition: join the pair of the lowest rank, leftmost first.

    >>> from bytepair import get_encoding
    >>> merged_slowly(b"hello", get_encoding("gpt2")._model.id)
    [31373]
    """
    parts = [piece[at : at + 1] for at in range(len(piece))]
    while True:
        ranks = [rank(left + right) for left, right in pairwise(parts)]
        known = [found for found in ranks if found is not None]
        if not known:
            return [known_id(rank(part)) for part in parts]
        at = ranks.index(min(known))
        parts[at : at + 2] = [parts[at] + parts[at + 1]]


def merged(piece: bytes, rank: Rank) -> list[int]:
    """What `merged_slowly` gives.

    >>> from bytepair import get_encoding
    >>> merged(b"hello", get_encoding("gpt2")._model.id)
    [31373]
    """
    size = len(piece)
    # The token that begins at each place ends there; 0 where none begins any more.
    end = list(range(1, size + 1))
    before = list(range(-1, size))
    waiting: list[tuple[int, int, int]] = []

    def offer(start: int) -> tuple[int, int, int] | None:
        middle = end[start]
        if middle == size:
            return None
        found = rank(piece[start : end[middle]])
        return None if found is None else (found, start, end[middle])

    waiting.extend(entry for start in range(size) if (entry := offer(start)) is not None)
    heapify(waiting)
    while waiting:
        entry = heappop(waiting)
        _, start, stop = entry
        # The pair may be gone, or one of its tokens longer by now.
        if not end[start] or offer(start) != entry:
            continue
        end[end[start]] = 0
        end[start] = stop
        if stop < size:
            before[stop] = start
        for neighbour in (before[start], start):
            if neighbour >= 0 and (offered := offer(neighbour)) is not None:
                heappush(waiting, offered)
    return [known_id(rank(piece[at : end[at]])) for at in range(size) if end[at]]


def known_id(id: int | None) -> int:
    """The id of a token that must be there. Raises `ValueError` where it is not."""
    if id is None:
        message = "a byte of the text is no token of this encoding"
        raise ValueError(message)
    return id
