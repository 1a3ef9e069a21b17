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
    when it looks like a name but is none (letters, digits and `_` alone; with dashes, dots and
    spaces too where that is near a name, as `"gpt-2"` is) or is empty, and `TypeError` when it is
    no pattern at all.

    >>> regex("qwen2") == regex("qwen3")
    True
    >>> regex(r"\w+|\W+")
    '\\w+|\\W+'
    """
    if pattern is None:
        return None
    if isinstance(pattern, str):
        resolved = _core.resolve_pattern(pattern)
        if not pattern:
            message = "the pattern is empty; give pattern=None to have none"
            raise ArgumentError(message)
        if resolved is None and like_name(pattern):
            message = (
                f"unknown pattern {pattern!r}: the names are {', '.join(names())}; "
                "a regular expression that looks like a name is written in a group, as in '(?:abc)'"
                f"{_meant(pattern)}"
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


def like_name(pattern: str) -> bool:
    """Whether a string is rather a name, perhaps misspelt, than a regular expression.

    >>> like_name("gpt-2"), like_name("abc"), like_name("a b"), like_name("gpt[24]")
    (True, True, False, False)
    """
    letters = _letters(pattern)
    if not (letters.isalnum() and letters.isascii()):
        return False
    return pattern.replace("_", "").isalnum() or bool(_meant(pattern))


def _letters(name: str) -> str:
    return name.lower().translate(dict.fromkeys(map(ord, "-. _")))


def _meant(pattern: str) -> str:
    """The end of a message: the name that is nearest, however words are put together in it."""
    known = {_letters(name): name for name in names()}
    near = did_you_mean(_letters(pattern), known)
    for letters, name in known.items():
        near = near.replace(f"{letters!r}", f"{name!r}")
    return near


def pretokenize(text: str, pattern: Pattern = "gpt2") -> list[str]:
    r"""Cut `text` into pieces. Joined, they are the text; none is empty.

    A match is a piece, and so is what is between two. A match of no characters is none, but what is
    before it and after it are apart: `\b` and `(?=a)` cut where they match, `(?:)` everywhere, and
    `^` and `$`, which match at the ends alone, nowhere.

    Raises `PatternError` (a `ValueError`) when the regular expression cannot be used.

    >>> pretokenize("It's 2026, isn't it?")
    ['It', "'s", ' 2026', ',', ' isn', "'t", ' it', '?']
    >>> pretokenize("one two", r"\b"), pretokenize("one two", "^")
    (['one', ' ', 'two'], ['one two'])
    """
    return _core.pretokenize(text, regex(pattern))
