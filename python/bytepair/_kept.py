"""What is made of a tokenizer when it is first asked for, and kept as long as it lives."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TypeVar

__all__ = ["kept"]

_Key = TypeVar("_Key")
_Made = TypeVar("_Made")


def kept(make: Callable[[_Key], _Made]) -> Callable[[_Key], _Made]:
    """`make`, called once for each object, which it must not keep alive.

    Nobody waits: two threads that ask at once both make it, and what they make is the same.
    """
    found: dict[int, _Made] = {}

    def get(key: _Key) -> _Made:
        # By identity: to compare tokenizers takes longer than most of what is made.
        name = id(key)
        if name not in found:
            found[name] = make(key)
            weakref.finalize(key, found.pop, name, None).atexit = False
        return found[name]

    return get
