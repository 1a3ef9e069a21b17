"""What callers give an `Encoding`, and what tiktoken says when it is wrong.

In: an argument. Out: what it stands for, or the exception of tiktoken, in its words where they are
its own, for a value that cannot be used.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NoReturn

from bytepair.errors import UnknownTokenError

if TYPE_CHECKING:
    from bytepair.tokenizer import Tokenizer


class Parts:
    """What `bytepair.formats.tiktoken` takes an encoding apart into."""

    name = None

    def __init__(self, ranks: dict[bytes, int], special: dict[str, int], pattern: str) -> None:
        self._mergeable_ranks = ranks
        self._special_tokens = special
        self._pat_str = pattern


class NotASet:
    """An `allowed_special` that is none, kept until the error is due."""

    def __init__(self, value: object) -> None:
        self.value = value


RANGE = "out of range integral type conversion attempted"


def not_a(kind: str, value: object) -> TypeError:
    shown = "'None'" if value is None else f"'{type(value).__name__}' object"
    return TypeError(f"{shown} is not an instance of '{kind}'")


def is_sequence(value: Any) -> bool:
    """Whether it has items by position, as lists, tuples, arrays and bytes do."""
    if isinstance(value, str):
        message = "Can't extract `str` to `Vec`"
        raise TypeError(message)
    return hasattr(type(value), "__getitem__") and not isinstance(value, dict)


def id_of(value: Any) -> int:
    id = operator.index(value)
    if id < 0 or id >> 32:
        raise OverflowError(RANGE)
    return id


def explain(tokens: Iterable[int], tokenizer: Tokenizer) -> NoReturn:
    """Raise what is wrong with ids that could not be decoded."""
    for id in [id_of(token) for token in tokens]:
        try:
            tokenizer.token_bytes(id)
        except UnknownTokenError:
            message = f"Invalid token for decoding: {id}"
            raise KeyError(message) from None
    message = "ids that can be read one by one, but not together"
    raise TypeError(message)


def thread_count(num_threads: int | None) -> int | None:
    """The number of threads, `None` for as many as there are cores."""
    if num_threads is not None and num_threads <= 0:
        message = "max_workers must be greater than 0"
        raise ValueError(message)
    return None if num_threads is None else max(1, int(num_threads))
