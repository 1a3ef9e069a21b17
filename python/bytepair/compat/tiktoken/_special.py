"""Finds what a text must not hold.

In: a collection of strings and a text. Out: nothing, or the `ValueError` of tiktoken that names the
first of them in the text. A text that does not hold the beginning which all of the strings share
costs no more than a search for that.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection


class Finder:
    """Looks for any of some strings; the longest of those that begin at the same place."""

    def __init__(self, strings: frozenset[str]) -> None:
        first, last = min(strings), max(strings)
        # What the first and the last in order share, all between them share too.
        same = (at for at, char in enumerate(first) if last[at : at + 1] != char)
        self.start = first[: next(same, len(first))]
        longest_first = sorted(strings, key=lambda string: (-len(string), string))
        self.search = re.compile("|".join(map(re.escape, longest_first))).search


@functools.lru_cache(maxsize=128)
def finder(strings: frozenset[str]) -> Finder | None:
    """A finder of these strings, `None` where there are none."""
    return Finder(strings) if strings else None


def finder_of(disallowed: Collection[str]) -> Finder | None:
    """A finder of what a caller disallows."""
    if not disallowed:
        return None
    return finder(disallowed if isinstance(disallowed, frozenset) else frozenset(disallowed))


def check(text: str, forbidden: Finder | None) -> None:
    """Refuse a text that holds a forbidden string. Raises `ValueError`, in tiktoken's words."""
    if forbidden is None:
        return
    # What is no str the search refuses, in words of its own.
    plain = type(text) is not str or forbidden.start in text
    found = forbidden.search(text) if plain else None
    if found is None:
        return
    token = found.group()
    message = (
        f"Encountered text corresponding to disallowed special token {token!r}.\n"
        "If you want this text to be encoded as a special token, "
        f"pass it to `allowed_special`, e.g. `allowed_special={{{token!r}, ...}}`.\n"
        "If you want this text to be encoded as normal text, disable the check for this token "
        f"by passing `disallowed_special=(enc.special_tokens_set - {{{token!r}}})`.\n"
        "To disable this check for all special tokens, pass `disallowed_special=()`.\n"
    )
    raise ValueError(message)
