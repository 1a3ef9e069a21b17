"""Cuts found by counting alone, for texts that the normalizer rewrites.

In: a tokenizer, a text and a limit. Out: places in the text as given. The core cuts where tokens
end, and in a text that is rewritten they end in another one, so it refuses. Here parts of the text
as given are encoded, and kept where they fit: right for every tokenizer, and slow (a second for
some hundreds of chunks of 512 tokens). Parts that nothing rewrites are left to the core.

A result is the longest that fits, but for texts made to mislead the search: it looks on for the
length of the longest token (at most 512 characters) where one more character does not fit.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Literal

from bytepair import _core
from bytepair._breaks import last_break
from bytepair._kept import kept
from bytepair.errors import ArgumentError

__all__ = ["Search"]

Allowed = Iterable[str] | Literal["all"]
Span = tuple[int, int]

_TRY_BREAKS = 16
"""How many breaks of a kind are tried, as in the core."""


class Search:
    """What a search works with: a tokenizer, a text and which special tokens count."""

    def __init__(
        self, tokenizer: _core.Tokenizer, text: str, allowed: Allowed, disallowed: Allowed
    ) -> None:
        self._tokenizer = tokenizer
        self._text = text
        self._allowed: Allowed = "all" if allowed == "all" else list(allowed)
        disallowed = "all" if disallowed == "all" else list(disallowed)
        # Refuses what is disallowed in the whole text, which parts of it may not hold.
        tokenizer.count(text, allowed_special=self._allowed, disallowed_special=disallowed)
        self._longest = _longest_token(tokenizer)
        self._names = [
            *(name for name in tokenizer.special_tokens if _has(self._allowed, name)),
            *(name for name in tokenizer.special_tokens if _has(disallowed, name)),
            *tokenizer.added_tokens,
        ]

    def fits(self, part: str, most: int) -> bool:
        """Whether a text has at most `most` tokens."""
        return self._tokenizer.count(part, limit=most, allowed_special=self._allowed) <= most

    def ids(self, start: int, end: int) -> list[int]:
        """The ids of a part of the text, encoded on its own."""
        return self._tokenizer.encode(self._text[start:end], allowed_special=self._allowed)

    def cut_out(self, most: int, side: str) -> Span:
        """What to take out of the text, for the side where it is cut; as the core's `cut_out`."""
        size = len(self._text)
        if side == "right":
            return self.prefix(0, most), size
        if side == "left":
            return 0, self.suffix(0, size, most)
        if self.fits(self._text, most):
            return size, size
        head = self.prefix(0, (most + 1) // 2)
        kept = self._text[:head]
        used = self._tokenizer.count(kept, allowed_special=self._allowed)
        tail = self.suffix(head, size, most - used)
        while self._crosses(head, tail) or not self.fits(kept + self._text[tail:], most):
            tail += 1
        return head, tail

    def chunks(self, most: int, overlap: int, prefer: Sequence[str]) -> list[Span]:
        """The chunks of the text, as the core's `chunks`, which has checked the numbers."""
        found: list[Span] = []
        start = done = 0
        while done < len(self._text):
            end = self.prefix(start, most)
            if end <= done:
                start = done
                end = self.prefix(start, most)
            if end <= done:
                raise self._too_long(start, most)
            if end < len(self._text):
                end = self._preferred(start, end, done, most, prefer)
            found.append((start, end))
            done = end
            start = self.suffix(start, end, overlap) if overlap else end
        return found

    def prefix(self, start: int, most: int) -> int:
        """The end of the longest part from `start` on that has at most `most` tokens."""
        # A window that is not rewritten is the core's; its end must not be in sight of the cut.
        window = self._text[start : start + 16 * most + 4 * self._longest]
        kept = self._by_core(window, most, "right")
        if kept is not None and (
            kept[0] <= len(window) - self._longest or start + len(window) == len(self._text)
        ):
            return start + kept[0]
        room = len(self._text) - start
        return start + self._most(room, most, lambda size: self._text[start : start + size])

    def suffix(self, start: int, end: int, most: int) -> int:
        """The start of the longest part up to `end`, from `start` on, that fits."""
        first = max(start, end - 16 * most - 4 * self._longest)
        kept = self._by_core(self._text[first:end], most, "left")
        if kept is not None and (kept[1] >= self._longest or first == start):
            return first + kept[1]
        return end - self._most(end - start, most, lambda size: self._text[end - size : end])

    def _by_core(self, window: str, most: int, side: str) -> Span | None:
        try:
            return _core.cut_out(self._tokenizer, window, most, side, allowed_special=self._allowed)
        except ArgumentError:
            return None

    def _most(self, room: int, most: int, part: Callable[[int], str]) -> int:
        """The most characters, `room` at most, of which the part fits."""
        low, high = 0, min(room, 4 * most + 1)
        while self.fits(part(high), most):
            if high == room:
                return room
            low, high = high, min(room, 2 * high)
        # Of `low` the part fits, of `high` it does not.
        while high - low > 1:
            middle = (low + high) // 2
            if self.fits(part(middle), most):
                low = middle
            else:
                high = middle
        # One more may be too many, and some more, which complete a token, not.
        size = high
        while size < min(room, low + self._longest):
            size += 1
            if self.fits(part(size), most):
                low = size
        return low

    def _preferred(self, start: int, end: int, done: int, most: int, prefer: Sequence[str]) -> int:
        for kind in prefer:
            at = last_break(kind, self._text, done, end)
            for _ in range(_TRY_BREAKS):
                if at is None:
                    break
                if at == end or self.fits(self._text[start:at], most):
                    return at
                at = last_break(kind, self._text, done, at - 1)
        return end

    def _too_long(self, at: int, most: int) -> ArgumentError:
        char = self._text[at]
        needed = self._tokenizer.count(char, allowed_special=self._allowed)
        return ArgumentError(
            f"the character {json.dumps(char, ensure_ascii=False)} at {at} takes {needed} tokens "
            f"and max_tokens is {most}; give at least {needed}"
        )

    def _crosses(self, head: int, tail: int) -> bool:
        """Whether a token that is found, not merged, would stand where two parts are joined."""
        return any(
            self._text.endswith(name[:size], 0, head) and self._text.startswith(name[size:], tail)
            for name in self._names
            for size in range(1, len(name))
        )


def _has(chosen: Allowed, name: str) -> bool:
    return chosen == "all" or name in chosen


_FAR = 512
"""How far is looked at most: no token of a known tokenizer is longer, and a file may hold any."""


@kept
def _longest_token(tokenizer: _core.Tokenizer) -> int:
    """The bytes of the longest token, and so the characters, at most; not above `_FAR`."""
    names = chain(tokenizer.special_tokens, tokenizer.added_tokens)
    tokens = (len(token) for _, token in tokenizer._model.items())
    return min(max(chain(tokens, map(len, names)), default=1), _FAR)
