"""The named patterns, and cutting text into pieces on its own.

In: a pattern (a name, a regular expression, a sequence of them, or `None`) and a text. Out: pieces.
The table of names lives in the core, so there is one source of truth. Costs a pass over the text.
"""

from __future__ import annotations

from collections.abc import Iterable

from bytepair import _core
from bytepair._names import did_you_mean
from bytepair.errors import ArgumentError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from bytepair._types import Pattern

__all__ = ["names", "pretokenize", "regex"]


def names() -> list[str]:
    """The names of the named patterns.

    >>> "gpt2" in names()
    True
    """
    return _core.pattern_names()


def regex(pattern: Pattern) -> str | list[str] | None:
    r"""The regular expression (or the sequence of them) that `pattern` stands for.

    A string that is not a name is a regular expression. Raises `ArgumentError` (a `ValueError`)
    when it looks like a name but is none, and `TypeError` when it is no pattern at all.

    >>> regex("qwen2") == regex("qwen3")
    True
    >>> regex(r"\w+|\W+")
    '\\w+|\\W+'
    """
    if pattern is None:
        return None
    if isinstance(pattern, str):
        resolved = _core.resolve_pattern(pattern)
        if resolved is None and pattern.replace("_", "").isalnum() and pattern.isascii():
            message = (
                f"unknown pattern {pattern!r}: the names are {', '.join(names())}; "
                "a regular expression of letters alone is written in a group, as in '(?:abc)'"
                f"{did_you_mean(pattern, names())}"
            )
            raise ArgumentError(message)
        return pattern if resolved is None else resolved
    if not isinstance(pattern, Iterable):
        message = f"a pattern is str, a sequence of str, or None, not {type(pattern).__name__}"
        raise TypeError(message)
    parts: list[str] = []
    for part in pattern:
        if not isinstance(part, str):
            message = f"a pattern is str, a sequence of str, or None, not {type(part).__name__}"
            raise TypeError(message)
        resolved = regex(part)
        parts.extend([resolved] if isinstance(resolved, str) else resolved or [])
    return parts


def pretokenize(text: str, pattern: Pattern = "gpt2") -> list[str]:
    """Cut `text` into pieces. Joined, they are the text; none is empty.

    Raises `PatternError` (a `ValueError`) when the regular expression cannot be used.

    >>> pretokenize("It's 2026, isn't it?")
    ['It', "'s", ' 2026', ',', ' isn', "'t", ' it', '?']
    """
    return _core.pretokenize(text, regex(pattern))
