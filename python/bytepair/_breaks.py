"""Where a reader would cut a text: the core's rules, for cuts that are found by counting.

In: a text and a place in it. Out: the last end of a paragraph, line or sentence at or before it.
The rules are those of `breaks.rs` in the core, word for word; a test compares the two.
"""

from __future__ import annotations

__all__ = ["KINDS", "last_break"]

KINDS = ("paragraph", "line", "sentence")

_CLOSING = frozenset("\"')]}\u00bb\u2019\u201d\u300d\u300f\u3011\uff09")
_CLOSING_MOST = 8
_FULL_WIDTH = frozenset("\u3002\uff01\uff1f\uff61")
_ENDS = frozenset(".!?\u2026\u061f\u06d4\u0964")
# What Unicode calls white space; `str.isspace` takes four separators of ASCII for it too.
_NO_SPACE = frozenset("\x1c\x1d\x1e\x1f")


def last_break(kind: str, text: str, done: int, at: int) -> int | None:
    r"""The last break of a kind at or before `at` and behind `done`, if there is one.

    >>> last_break("sentence", "One. Two.\nThree.", 0, 12)
    9
    """
    rule = {"paragraph": _ends_paragraph, "line": _ends_line, "sentence": _ends_sentence}[kind]
    return next((place for place in range(at, done, -1) if rule(text, place)), None)


def _ends_line(text: str, at: int) -> bool:
    if at == 0:
        return False
    last = text[at - 1]
    return last in "\n\u2028\u2029" or (last == "\r" and text[at : at + 1] != "\n")


def _ends_paragraph(text: str, at: int) -> bool:
    if not _ends_line(text, at):
        return False
    line = _back(text, at, "\n\r")
    if len(text[max(line, at - 4) : at].replace("\r\n", "\n")) > 1:
        return True
    blank = _back(text, line, " \t")
    return blank < line and blank > 0 and text[blank - 1] in "\n\r\u2028\u2029"


def _back(text: str, at: int, signs: str) -> int:
    """The place before the run of `signs` that ends at `at`."""
    while at > 0 and text[at - 1] in signs:
        at -= 1
    return at


def _ends_sentence(text: str, at: int) -> bool:
    before = text[max(0, at - _CLOSING_MOST - 1) : at]
    sign = next((sign for sign in reversed(before) if sign not in _CLOSING), "")
    after = text[at : at + 1]
    if sign in _FULL_WIDTH:
        return after not in _CLOSING
    return sign in _ENDS and (not after or (after.isspace() and after not in _NO_SPACE))
