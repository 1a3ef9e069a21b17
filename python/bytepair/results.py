"""What `chunk` and `heal` give: tuples with named parts."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Chunk", "Healed"]


class Chunk(NamedTuple):
    """A part of a text, with its own ids and where it stands.

    >>> from bytepair import get_encoding
    >>> get_encoding("gpt2").chunk("hello world", 1)[1]
    Chunk(text=' world', ids=[995], start=5, end=11)
    """

    text: str
    """The part: the source's characters from `start` to `end`."""
    ids: list[int]
    """What `encode` gives for it."""
    start: int
    """The index of its first character in the source."""
    end: int
    """The index behind its last character."""


class Healed(NamedTuple):
    """What holds of some ids, and what may come in place of the rest.

    >>> from bytepair import get_encoding
    >>> get_encoding("gpt2").heal([5450, 25]).stable
    [5450]
    """

    stable: list[int]
    """The ids that hold."""
    tail: bytes
    """The bytes of those that do not; empty where all hold."""
    completions: list[list[int]]
    """Rows of ids that begin with the tail's bytes, each as short as that allows."""
