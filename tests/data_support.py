"""What tests of `bytepair.data` run in other processes."""

from __future__ import annotations

from bytepair import get_encoding
from bytepair.data import Packed

DOCUMENTS = [f"Document {n}: " + "some words, " * (n * 7 % 23) + "\u4e2d\u6587." for n in range(60)]


def rows(length: int = 16, **options: object) -> Packed:
    """Rows of the documents above."""
    return Packed(DOCUMENTS, get_encoding("gpt2"), length, end=50256, **options)


def rows_of_worker(job: tuple[int, int]) -> list[list[int]]:
    """The rows of one worker of some, made in another process."""
    return list(rows().sharded(*job))


def rows_of_pickled(packed: Packed) -> list[list[int]]:
    """The rows of what came from another process."""
    return list(packed)
