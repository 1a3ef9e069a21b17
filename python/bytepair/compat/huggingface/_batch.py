"""What a call of the tokenizer gives: a dictionary of lists or arrays, and more about its rows.

In: rows. Out: `BatchEncoding`, which is used like transformers' class of the name.
"""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from bytepair.compat.huggingface._rows import Row
from bytepair.errors import ArgumentError


class CharSpan(NamedTuple):
    """A part of a text, in characters."""

    start: int
    end: int


class BatchEncoding(UserDict[str, Any]):
    """The ids of texts, with their masks: a dictionary, whose values are attributes too.

    Args:
        data: the lists.
        rows: the rows that they are of.
        names: gives the token of an id, as a string.
        tensor_type: `"np"` or `"pt"`, to make arrays of the lists.
    """

    def __init__(
        self,
        data: dict[str, Any] | None = None,
        rows: Sequence[Row] = (),
        names: Callable[[int], str | None] | None = None,
        tensor_type: str | None = None,
    ) -> None:
        """Build it; see the class."""
        super().__init__(data)
        self._rows = list(rows)
        self._names = names
        self.convert_to_tensors(tensor_type)

    def __getattr__(self, name: str) -> Any:
        # While it is unpickled there is no `data` yet.
        data = self.__dict__.get("data", {})
        if name in data:
            return data[name]
        message = f"{type(self).__name__!r} has no {name!r}; it has {', '.join(data)}"
        raise AttributeError(message)

    def __getitem__(self, item: Any) -> Any:
        if isinstance(item, slice):
            return {key: value[item] for key, value in self.data.items()}
        return self.data[item]

    def __reduce__(self) -> tuple[Any, ...]:
        # The rows stay behind: they lead to the tokenizer.
        return BatchEncoding, (self.data,)

    def tokens(self, batch_index: int = 0) -> list[str | None]:
        """The tokens of a row, as strings."""
        if self._names is None:
            message = "the tokens are not known any more; ask the tokenizer, with the ids"
            raise ArgumentError(message)
        return [self._names(id) for id in self._row(batch_index).ids]

    def sequence_ids(self, batch_index: int = 0) -> list[int | None]:
        """For each id of a row the number of its text, `None` for special tokens."""
        return self._row(batch_index).sequence_ids

    def word_ids(self, batch_index: int = 0) -> list[int | None]:
        """For each id of a row the number of its word, for a text that was given as words."""
        words = self._row(batch_index).word_ids
        if words is None:
            message = "word_ids are known for texts given as words (is_split_into_words=True) alone"
            raise ArgumentError(message)
        return words

    def token_to_chars(
        self, batch_or_token_index: int, token_index: int | None = None
    ) -> CharSpan | None:
        """The part of the text that an id covers, `None` for a special token."""
        row, index = self._place(batch_or_token_index, token_index)
        if self._with_offsets(row).sequence_ids[index] is None:
            return None
        return CharSpan(*row.offsets[index])

    def char_to_token(
        self, batch_or_char_index: int, char_index: int | None = None, sequence_index: int = 0
    ) -> int | None:
        """The index of the id that covers a character, `None` where there is none."""
        row, char = self._place(batch_or_char_index, char_index)
        places = zip(self._with_offsets(row).sequence_ids, row.offsets, strict=True)
        for index, (sequence, (start, end)) in enumerate(places):
            if sequence == sequence_index and start <= char < end:
                return index
        return None

    def convert_to_tensors(self, tensor_type: str | None) -> BatchEncoding:
        """Make arrays of the lists, in place.

        `tensor_type` is `"np"`, `"pt"` or `None`, for nothing. Raises `ArgumentError` for rows of
        unequal length where arrays cannot hold them, `ImportError` without the library.
        """
        if tensor_type is None:
            return self
        array = _ARRAYS.get(str(getattr(tensor_type, "value", tensor_type)))
        if array is None:
            message = f'return_tensors is {tensor_type!r}; it is "np", "pt" or None'
            raise ArgumentError(message)
        for key, value in self.data.items():
            if isinstance(value, list):
                try:
                    self.data[key] = array(value)
                except (TypeError, ValueError) as error:
                    message = (
                        f"the rows of {key} are not of one length, so they make no tensor: "
                        "give padding=True, truncation=True, or both"
                    )
                    raise ArgumentError(message) from error
        return self

    def to(self, device: Any, *, non_blocking: bool = False) -> BatchEncoding:
        """Move PyTorch's tensors to a device; what is no tensor stays."""
        for key, value in self.data.items():
            if hasattr(value, "to"):
                self.data[key] = value.to(device, non_blocking=non_blocking)
        return self

    def _row(self, index: int) -> Row:
        if not self._rows:
            message = "the rows of this batch are not known any more: it was padded or unpickled"
            raise ArgumentError(message)
        return self._rows[index]

    def _place(self, first: int, second: int | None) -> tuple[Row, int]:
        """A row and an index in it; of row 0 where one number is given."""
        return (self._row(0), first) if second is None else (self._row(first), second)

    def _with_offsets(self, row: Row) -> Row:
        if not row.has_offsets:
            message = "offsets were not asked for; give return_offsets_mapping=True"
            raise ArgumentError(message)
        return row


def _numpy(value: list[Any]) -> Any:
    try:
        import numpy as np
    except ImportError as error:
        message = 'return_tensors="np" needs NumPy; install it'
        raise ImportError(message) from error
    if _is_ragged(value):
        array = np.empty(len(value), dtype=object)
        array[:] = [np.asarray(row) for row in value]
        return array
    return np.asarray(value, dtype=np.int64 if _is_empty(value) else None)


def _torch(value: list[Any]) -> Any:
    try:
        import torch
    except ImportError as error:
        message = 'return_tensors="pt" needs PyTorch; install torch'
        raise ImportError(message) from error
    return torch.tensor(value, dtype=torch.int64 if _is_empty(value) else None)


def _is_empty(value: list[Any]) -> bool:
    """Whether there is no number in it."""
    return all(isinstance(item, list | tuple) and _is_empty(list(item)) for item in value)


def _is_ragged(value: list[Any]) -> bool:
    return (
        bool(value)
        and isinstance(value[0], list | tuple)
        and len({len(item) for item in value}) > 1
    )


_ARRAYS: dict[str, Callable[[list[Any]], Any]] = {"np": _numpy, "pt": _torch}
