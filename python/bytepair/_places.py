"""Where ids are in a text that is rewritten before it is encoded.

In: a tokenizer whose normalizer is NFC, or puts one character for another, and a text. Out: ids,
with the characters of the text as given. The rewritten text is encoded, and each of its characters
counted as the one it came from: of several that became one, the first, as `tokenizers` does. Costs
a pass over the text in Python; the core answers for texts that nothing rewrites.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from bytepair import _core
from bytepair._kept import kept
from bytepair.errors import ArgumentError

if TYPE_CHECKING:
    from bytepair.tokenizer import Tokenizer

__all__ = ["origins_of", "places", "rewriter"]

Located = tuple[list[int], list[tuple[int, int]]]
Rewriter = Callable[[str], tuple[str, Sequence[int]]]
"""Of a text, what it becomes and, for each character of that, the index of the one it came from."""

_PART = 1 << 20
"""How many characters are normalized at once, in some hundredths of a second."""


@kept
def _plain(tokenizer: Tokenizer) -> Tokenizer:
    """The same without its normalizer."""
    return tokenizer._remade(normalizer=None)


def rewriter(normalizer: Any) -> Rewriter | None:
    """What a normalizer does to a text, if that leaves every character a place."""
    if normalizer in ("NFC", ["NFC"]):
        return lambda text: (_nfc(text), origins_of(text))
    if not isinstance(normalizer, list) or not all(map(_swaps, normalizer)):
        return None

    def swap(text: str) -> tuple[str, Sequence[int]]:
        for _, old, new in normalizer:
            text = text.replace(old, new)
        return text, range(len(text))

    return swap


def _swaps(step: Any) -> bool:
    """Whether a step of a normalizer puts one character for another."""
    return isinstance(step, list) and step[0] == "Replace" and len(step[1]) == len(step[2]) == 1


def places(
    tokenizer: Tokenizer,
    text: str,
    rewrite: Rewriter,
    unit: str,
    allowed: Any,
    disallowed: Any = (),
) -> Located:
    """The ids of `text` and, for each, its start and end in `unit`s of the text as given."""
    rewritten, origins = rewrite(text)
    ids, offsets = _core.encode_with_offsets(
        _plain(tokenizer), rewritten, "char", allowed_special=allowed
    )
    # A special token is found before the text is rewritten, and may stand beside what changes.
    whole = tokenizer.encode(text, allowed_special=allowed, disallowed_special=disallowed)
    if ids != whole:
        message = (
            f"the places of tokens in {text[:60]!r} are not known: the normalizer changes a "
            "special token in it; encode it without places"
        )
        raise ArgumentError(message)
    spans = [
        (origins[start], origins[end - 1] + 1) if end > start else (origins[start],) * 2
        for start, end in offsets
    ]
    if unit == "char":
        return ids, spans
    encoding, width = ("utf-8", 1) if unit == "byte" else ("utf-16-le", 2)
    sizes = (len(char.encode(encoding)) // width for char in text)
    before = list(accumulate(sizes, initial=0))
    return ids, [(before[start], before[end]) for start, end in spans]


def _nfc(text: str) -> str:
    """The text in NFC, put together from parts, between which a signal is heard."""
    joining, parts, start = _joining(), [], 0
    while start < len(text):
        end = start + _PART
        while end < len(text) and (unicodedata.combining(text[end]) or text[end] in joining):
            end += 1
        parts.append(unicodedata.normalize("NFC", text[start:end]))
        start = end
    return "".join(parts)


def origins_of(text: str) -> Sequence[int]:
    r"""For each character of the text in NFC, the index of the one it came from.

    >>> origins_of("ae\u0301x")
    [0, 1, 3]
    """
    if text.isascii():
        return range(len(text))
    joining = _joining()
    origins: list[int] = []
    start = 0
    for end in range(1, len(text) + 1):
        if end < len(text) and (unicodedata.combining(text[end]) or text[end] in joining):
            continue
        at = start
        for change in _changes(text[start:end]):
            # A character more than there was is at the place of the one before it.
            origins.append(at if change <= 0 else max(at - 1, 0))
            at += max(1 - change, 0)
        start = end
    return origins


def _changes(text: str) -> list[int]:
    """For each character of a text in NFC: 1 if it is one more, minus what it took in besides."""
    if len(text) == 1 or unicodedata.is_normalized("NFC", text):
        parts = unicodedata.normalize("NFC", text)
        return [int(at >= len(text)) for at in range(len(parts))]
    taken = [
        (part, int(at > 0))
        for char in text
        for at, part in enumerate(unicodedata.normalize("NFD", char))
    ]
    joined: list[tuple[str, int]] = []
    starter, last = -1, 0
    for char, change in _ordered(taken):
        mark = unicodedata.combining(char)
        if starter >= 0 and (last == 0 or last < mark):
            whole = unicodedata.normalize("NFC", joined[starter][0] + char)
            if len(whole) == 1:
                joined[starter] = (whole, joined[starter][1] + change - 1)
                continue
        if mark == 0:
            starter = len(joined)
        last = mark
        joined.append((char, change))
    return [change for _, change in joined]


def _ordered(chars: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """The characters with the marks after each other one in canonical order."""
    ordered: list[tuple[str, int]] = []
    marks: list[tuple[str, int]] = []
    for item in [*chars, ("", 0)]:
        if item[0] and unicodedata.combining(item[0]):
            marks.append(item)
            continue
        ordered += sorted(marks, key=lambda mark: unicodedata.combining(mark[0]))
        ordered.append(item)
        marks = []
    return ordered[:-1]


@lru_cache(maxsize=1)
def _joining() -> frozenset[str]:
    """The characters that can join with what is before them, besides the marks."""
    joining = {chr(point) for point in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}
    for point in range(sys.maxunicode + 1):
        parts = unicodedata.decomposition(chr(point)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            joining.add(chr(int(parts[1], 16)))
            if unicodedata.combining(chr(int(parts[0], 16))):
                joining.add(chr(point))
    return frozenset(joining)
