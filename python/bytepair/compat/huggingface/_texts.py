"""What a caller gives a tokenizer, put in order.

In: a text or a list, pairs or words, as transformers takes them. Out: a `Batch`, whose texts are
all of one kind. What is no text is refused here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from bytepair.compat.huggingface._rows import Text
from bytepair.errors import ArgumentError

Texts = Any
"""A text, a list of texts, a list of pairs; or, given as words, lists of words."""


class Batch(NamedTuple):
    """Texts, each alone (its partner is `None`) or in a pair."""

    pairs: list[tuple[Any, Any]]
    words: bool
    """Whether a text is a list of words."""
    many: bool
    """Whether it was given as a list of texts."""

    @classmethod
    def of(cls, first: Texts, second: Texts, *, words: bool) -> Batch:
        """Put in order what a caller gave."""
        many = isinstance(first, list | tuple)
        if words:
            many = many and bool(first) and isinstance(first[0], list | tuple)
        if not many:
            pairs = [(first, second or None)]
        elif second is None:
            pairs = [_pair(item, words=words) for item in first]
        elif isinstance(second, str) or len(first) != len(second):
            given = "one text" if isinstance(second, str) else f"{len(second)} texts"
            message = f"text_pair is {given} for {len(first)} texts; give one for each"
            raise ArgumentError(message)
        else:
            pairs = list(zip(first, second, strict=True))
        for index, (text, partner) in enumerate(pairs):
            place = f" (text {index})" if many else ""
            _check(text, place, words=words)
            if partner is not None:
                _check(partner, place, words=words)
        return cls(pairs, words, many)


def _pair(item: Any, *, words: bool) -> tuple[Any, Any]:
    """An item of a list, which may be two texts."""
    if isinstance(item, str) or not isinstance(item, list | tuple):
        return item, None
    if words and not (len(item) == 2 and isinstance(item[0], list | tuple)):
        return item, None
    if len(item) != 2:
        message = (
            f"a pair of texts has two, not {len(item)}; for words give is_split_into_words=True"
        )
        raise ArgumentError(message)
    return item[0], item[1]


def _check(text: Any, place: str, *, words: bool) -> None:
    if not words and not isinstance(text, str):
        message = f"a text must be str, not {type(text).__name__}{place}"
        raise TypeError(message)
    if words and (
        not isinstance(text, list | tuple) or any(not isinstance(word, str) for word in text)
    ):
        message = f"with is_split_into_words=True a text is a list of str, not {text!r:.60}{place}"
        raise TypeError(message)


def given(value: bool | None, otherwise: bool) -> bool:  # noqa: FBT001
    """A choice, or what is taken where there is none."""
    return otherwise if value is None else value


def joined(words: list[Text], *, offsets: bool) -> Text:
    """The text of words; the offsets are those in each word."""
    return Text(
        [id for word in words for id in word.ids],
        [place for word in words for place in word.offsets or []] if offsets else None,
        [at for at, word in enumerate(words) for _ in word.ids],
    )


def trimmed(token: str, place: tuple[int, int], *, keeps: bool) -> tuple[int, int]:
    """The place of a token without the spaces at its ends; `keeps` leaves one at the beginning.

    >>> trimmed("Ġthe", (3, 7), keeps=False)
    (4, 7)
    """
    start, end = place
    before = _spaces(token)
    behind = _spaces(token[::-1])
    if before:
        start = min(start + before - (keeps and before > 0), end)
    if behind and end >= behind:
        end = max(end - behind, start)
    return start, end


def _spaces(token: str) -> int:
    """How many spaces a token begins with, where a space is spelled as a file spells it."""
    return next(
        (at for at, char in enumerate(token) if char != "Ġ" and not char.isspace()), len(token)
    )
