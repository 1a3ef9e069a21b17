"""From the ids of one text, or of two, to the row of ids that a model takes.

In: ids, with their offsets where somebody wants them. Out: a `Row`: cut to a length, with the
special tokens of the template around it, filled up to another length. It is the arithmetic of
`tokenizers`, in its order: cut first, then put tokens around, then fill up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from bytepair.errors import ArgumentError

Offsets = list[tuple[int, int]]


class Text(NamedTuple):
    """The ids of a text, where each is in it, and of which word where it was given as words."""

    ids: list[int]
    offsets: Offsets | None = None
    words: list[int | None] | None = None
    overflows: bool = False
    """Whether it was cut off from what is kept."""

    def cut(self, start: int, stop: int, *, overflows: bool = False) -> Text:
        """The ids from `start` to `stop`."""
        return Text(
            self.ids[start:stop],
            None if self.offsets is None else self.offsets[start:stop],
            None if self.words is None else self.words[start:stop],
            overflows,
        )


class Slot(NamedTuple):
    """A place in a template: special tokens, or the text number `sequence`."""

    ids: tuple[int, ...]
    sequence: int | None
    type_id: int


@dataclass(frozen=True)
class Template:
    """What is put around a text, and around two."""

    single: tuple[Slot, ...] = (Slot((), 0, 0),)
    pair: tuple[Slot, ...] = (Slot((), 0, 0), Slot((), 1, 1))
    types_all: bool = False
    """Whether its types hold for what overflows too, where special tokens are put around it; else
    that has the number of its text."""

    def slots(self, *, pair: bool, special: bool) -> tuple[Slot, ...]:
        """The places for one text or two, with the special tokens or without."""
        slots = self.pair if pair else self.single
        return slots if special else tuple(slot for slot in slots if slot.sequence is not None)

    def added(self, *, pair: bool) -> int:
        """How many special tokens there are."""
        return sum(len(slot.ids) for slot in self.slots(pair=pair, special=True))


@dataclass(frozen=True)
class Cut:
    """How rows are cut: transformers' options of truncation."""

    length: int
    strategy: str = "longest_first"
    stride: int = 0
    side: str = "right"

    def pieces(self, size: int, length: int) -> list[tuple[int, int]]:
        """The parts that `size` ids are cut into: the one to keep, then those that overflow."""
        if length >= size:
            return [(0, size)]
        if length == 0:
            return [(0, 0), (0, size)]
        if self.stride >= length:
            message = (
                f"stride is {self.stride}, and {length} ids are left of a text: "
                "make stride less, or max_length more"
            )
            raise ArgumentError(message)
        step = length - self.stride
        if self.side == "right":
            starts = range(0, size - self.stride, step)
            return [(start, min(start + length, size)) for start in starts]
        stops = range(size, self.stride, -step)
        return [(max(stop - length, 0), stop) for stop in stops]

    def lengths(self, first: int, second: int | None, length: int) -> tuple[int, int]:
        """How many ids of each text stay, of `length` together."""
        total = first + (second or 0)
        if total <= length:
            return first, second or 0
        if self.strategy == "longest_first":
            return _balanced(first, second, length)
        if self.strategy == "only_second" and second is None:
            message = 'truncation="only_second" needs a second text (text_pair)'
            raise ArgumentError(message)
        target = first if self.strategy == "only_first" else second or 0
        left = target - (total - length)
        if left <= 0:
            message = (
                f"truncation={self.strategy!r}: that text has {target} ids, too few to come from "
                f"{total} ids to {length}"
            )
            raise ArgumentError(message)
        return (left, second or 0) if self.strategy == "only_first" else (first, left)


def _balanced(first: int, second: int | None, length: int) -> tuple[int, int]:
    """The lengths of two texts when the longer one is cut until both are as long."""
    if second is None:
        return length, 0
    shorter, longer = sorted((first, second))
    longer = shorter if shorter > length else max(shorter, length - shorter)
    if shorter + longer > length:
        shorter = length // 2
        longer = shorter + length % 2
    return (longer, shorter) if first > second else (shorter, longer)


class Part(NamedTuple):
    """A part of a row: of a text, or special tokens (`sequence` is `None`)."""

    text: Text
    sequence: int | None
    type_id: int


@dataclass
class Row:
    """What a model takes of one text or of two."""

    parts: list[Part]
    overflowing: list[Row] = field(default_factory=list)
    filled: int = 0
    """How many ids of padding there are."""
    fill_side: str = "right"
    fill_id: int = 0
    fill_type: int = 0

    def __len__(self) -> int:
        return sum(len(part.text.ids) for part in self.parts) + self.filled

    def _whole(self, values: Iterable[Iterable[Any]], filling: Any) -> list[Any]:
        joined = [value for part in values for value in part]
        if not self.filled:
            return joined
        padding = [filling] * self.filled
        return joined + padding if self.fill_side == "right" else padding + joined

    @property
    def ids(self) -> list[int]:
        """The ids."""
        if len(self.parts) == 1 and not self.filled:
            return self.parts[0].text.ids
        return self._whole([part.text.ids for part in self.parts], self.fill_id)

    @property
    def type_ids(self) -> list[int]:
        """For each id, the number that the template gives to its text."""
        return self._whole(
            [[part.type_id] * len(part.text.ids) for part in self.parts], self.fill_type
        )

    @property
    def attention_mask(self) -> list[int]:
        """1 for each id, 0 for padding."""
        return self._whole([[1] * len(part.text.ids) for part in self.parts], 0)

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for what the template or padding put there, else 0."""
        return self._whole(
            [[int(part.sequence is None)] * len(part.text.ids) for part in self.parts], 1
        )

    @property
    def sequence_ids(self) -> list[int | None]:
        """The number of the text that each id is from."""
        return self._whole([[part.sequence] * len(part.text.ids) for part in self.parts], None)

    @property
    def offsets(self) -> Offsets:
        """Where each id is in its text, in characters; (0, 0) for special tokens and padding."""
        return self._whole(
            [part.text.offsets or [(0, 0)] * len(part.text.ids) for part in self.parts],
            (0, 0),
        )

    @property
    def has_offsets(self) -> bool:
        """Whether the offsets are known."""
        return all(part.text.offsets is not None or part.sequence is None for part in self.parts)

    @property
    def word_ids(self) -> list[int | None] | None:
        """The word that each id is of, where the text was given as words."""
        if any(part.text.words is None and part.sequence is not None for part in self.parts):
            return None
        return self._whole(
            [part.text.words or [None] * len(part.text.ids) for part in self.parts],
            None,
        )

    def fill(self, length: int, *, side: str, id: int, type_id: int) -> None:
        """Fill up to `length` ids, the overflowing rows too."""
        self.filled = max(length - len(self), 0)
        self.fill_side, self.fill_id, self.fill_type = side, id, type_id
        for row in self.overflowing:
            row.fill(length, side=side, id=id, type_id=type_id)


def build(
    first: Text,
    second: Text | None,
    template: Template,
    *,
    special: bool,
    cut: Cut | None,
    trim: Callable[[Text], Text] | None = None,
) -> Row:
    """The row of a text, or of two; `trim` changes a text after it is cut."""
    trim = trim or _same
    slots = template.slots(pair=second is not None, special=special)
    types_all = template.types_all and special
    if cut is None:
        return _row(slots, (trim(first), None if second is None else trim(second)))
    length = cut.length
    if special:
        added = template.added(pair=second is not None)
        length -= added
        if length < 0:
            message = f"max_length is {cut.length}, but {added} special tokens are added; raise it"
            raise ArgumentError(message)
    sizes = len(first.ids), None if second is None else len(second.ids)
    kept = cut.lengths(*sizes, length)
    firsts = _pieces(first, cut, kept[0], trim)
    if second is None:
        main, *more = [_row(slots, (text, None), types_all=types_all) for text in firsts]
        return replace(main, overflowing=more)
    seconds = _pieces(second, cut, kept[1], trim)
    order = [slot.sequence for slot in slots if slot.sequence is not None]
    if order[0] == 0:
        texts = list(_combined(firsts, seconds))
    else:
        texts = [(one, other) for other, one in _combined(seconds, firsts)]
    main, *more = [_row(slots, both, types_all=types_all) for both in texts]
    return replace(main, overflowing=more)


def _pieces(text: Text, cut: Cut, length: int, trim: Callable[[Text], Text]) -> list[Text]:
    """What is kept of a text, then what overflows."""
    pieces = enumerate(cut.pieces(len(text.ids), length))
    return [trim(text.cut(*piece, overflows=at > 0)) for at, piece in pieces]


def _same(text: Text) -> Text:
    return text


def _combined(firsts: list[Text], seconds: list[Text]) -> Iterator[tuple[Text, Text]]:
    """What is kept of both texts, then each part of the one with each of the other."""
    yield firsts[0], seconds[0]
    for first in firsts[1:]:
        for second in seconds:
            yield first, second
    for second in seconds[1:]:
        yield firsts[0], second


def _row(
    slots: tuple[Slot, ...], texts: tuple[Text, Text | None], *, types_all: bool = True
) -> Row:
    parts = []
    for slot in slots:
        text = Text(list(slot.ids)) if slot.sequence is None else texts[slot.sequence]
        if text is not None:
            type_id = slot.type_id
            if text.overflows and not types_all and slot.sequence is not None:
                type_id = slot.sequence
            parts.append(Part(text, slot.sequence, type_id))
    return Row(parts)
