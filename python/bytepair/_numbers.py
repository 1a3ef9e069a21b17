"""Numbers that a caller gives: whole ones, in their range, or an error with the argument's name.

In: an argument with its name. Out: the number, or `TypeError` or `ArgumentError`. What counts as a
whole number is what Python takes for an index, so NumPy's integers do.
"""

from __future__ import annotations

import operator

from bytepair.errors import ArgumentError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["limit", "whole"]

LIMITLESS = (1 << 63) - 1
"""As good as no limit."""


def whole(least: int | None = 0, **number: Any) -> int:
    """The one number given by name, as an `int` of at least `least`, if that is given.

    >>> whole(vocab_size=300)
    300
    >>> whole(1, max_tokens="5")
    Traceback (most recent call last):
      ...
    TypeError: max_tokens must be int, not str ('5')
    """
    ((name, value),) = number.items()
    try:
        found: int = operator.index(value)
    except TypeError:
        message = f"{name} must be int, not {type(value).__name__} ({value!r:.40})"
        raise TypeError(message) from None
    if least is not None and found < least:
        message = f"{name} is {found}; give {least} or more"
        raise ArgumentError(message)
    return found


def limit(least: int | None = 0, **number: object) -> int:
    """`whole` for a number of tokens, bytes or the like: those that nothing has are all the same.

    >>> limit(max_tokens=2**64) == limit(max_tokens=2**80)
    True
    """
    return min(whole(least, **number), LIMITLESS)
