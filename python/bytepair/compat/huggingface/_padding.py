"""How rows are cut and filled up: the part of `FastTokenizer` that reads those options.

In: transformers' options. Out: a `Cut`, and a function that fills rows up. `pad` does the same for
rows that were encoded before, as a collator of batches does.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from bytepair._numbers import limit, whole
from bytepair.compat.huggingface._batch import BatchEncoding
from bytepair.compat.huggingface._decoding import listed
from bytepair.compat.huggingface._names import Names
from bytepair.compat.huggingface._rows import Cut, Row
from bytepair.compat.huggingface._settings import UNLIMITED
from bytepair.errors import ArgumentError

_STRATEGIES = ("longest_first", "only_first", "only_second", "do_not_truncate")
_FILLINGS = ("longest", "max_length", "do_not_pad")
_FILLED = {"attention_mask": 0, "special_tokens_mask": 1, "token_type_ids": 0}
"""What `pad` fills up besides the ids, and with what."""


class Padding(Names):
    """The methods that cut and fill up."""

    @property
    def model_max_length(self) -> int:
        """The most ids that the model takes."""
        return self._settings.model_max_length

    @model_max_length.setter
    def model_max_length(self, value: int) -> None:
        self._settings.model_max_length = whole(1, model_max_length=value)

    @property
    def max_len_single_sentence(self) -> int:
        """The most ids of a text that the model takes, without the special tokens around it."""
        return self.model_max_length - self._settings.template.added(pair=False)

    @property
    def max_len_sentences_pair(self) -> int:
        """The most ids of two texts that the model takes, without the special tokens around."""
        return self.model_max_length - self._settings.template.added(pair=True)

    @property
    def padding_side(self) -> str:
        """Where padding goes: `"left"` or `"right"`."""
        return self._settings.padding_side

    @padding_side.setter
    def padding_side(self, value: str) -> None:
        self._settings.padding_side = _side(value)

    @property
    def truncation_side(self) -> str:
        """Where ids are cut off: `"left"` or `"right"`."""
        return self._settings.truncation_side

    @truncation_side.setter
    def truncation_side(self, value: str) -> None:
        self._settings.truncation_side = _side(value)

    @property
    def model_input_names(self) -> list[str]:
        """What a call gives when nothing is said."""
        return self._settings.model_input_names

    def _strategies(
        self,
        padding: bool | str,  # noqa: FBT001
        truncation: bool | str | None,  # noqa: FBT001
        max_length: int | None,
        multiple: int | None,
        stride: int,
        padding_side: str | None,
        *,
        verbose: bool,
    ) -> tuple[Cut | None, Callable[[list[Row]], None] | None]:
        """How to cut and how to fill up."""
        if max_length is not None:
            max_length = limit(max_length=max_length)
        stride = limit(stride=stride)
        if max_length is not None and padding is False and truncation is None:
            truncation = True
        strategy = (
            "longest_first" if truncation is True else str(plain(truncation or "do_not_truncate"))
        )
        if strategy not in _STRATEGIES:
            message = f"truncation is {truncation!r}; it is True, False or one of {_STRATEGIES}"
            raise ArgumentError(message)
        filling = self._filling(padding)
        if padding is True and max_length is not None and strategy == "do_not_truncate" and verbose:
            warnings.warn(
                "max_length has no effect with padding=True and without truncation; "
                'padding="max_length" fills up to it',
                stacklevel=3,
            )
        if max_length is None:
            known = self.model_max_length <= UNLIMITED // 10**10
            max_length = self.model_max_length if known else None
            if not known:
                strategy = "do_not_truncate"
                filling = "do_not_pad" if filling == "max_length" else filling
        cut = None
        if strategy != "do_not_truncate" and max_length is not None:
            cut = Cut(max_length, strategy, stride, self.truncation_side)
        if filling == "do_not_pad":
            return cut, None
        if cut is not None and multiple is not None and cut.length % multiple:
            message = f"max_length {cut.length} is not a multiple of pad_to_multiple_of {multiple}"
            raise ArgumentError(message)
        length = max_length if filling == "max_length" else None
        return cut, self._filler(length, multiple, padding_side)

    def _filler(
        self, length: int | None, multiple: int | None, side: str | None
    ) -> Callable[[list[Row]], None]:
        """A function that fills rows up, to `length` or to the longest."""
        pad = self.pad_token_id
        if pad is None:
            message = (
                "there is no pad_token to fill up with; set one, "
                "as in tokenizer.pad_token = tokenizer.eos_token"
            )
            raise ArgumentError(message)
        side = _side(self.padding_side if side is None else side)

        def fill(rows: list[Row]) -> None:
            target = max(map(len, rows), default=0) if length is None else length
            for row in rows:
                row.fill(_rounded(target, multiple), side=side, id=pad, type_id=0)

        return fill

    def pad(
        self,
        encoded_inputs: Any,
        padding: bool | str = True,  # noqa: FBT001 - as in transformers
        max_length: int | None = None,
        pad_to_multiple_of: int | None = None,
        padding_side: str | None = None,
        return_attention_mask: bool | None = None,  # noqa: FBT001
        return_tensors: str | None = None,
        verbose: bool = True,  # noqa: FBT001
    ) -> BatchEncoding:
        """Fill up rows that were encoded before.

        Args:
            encoded_inputs: what a call gave, a dictionary of lists, or a list of such for one row
                each. Of what they hold, ids, masks and type ids are filled up.
            padding: as in a call.
            max_length: as in a call.
            pad_to_multiple_of: as in a call.
            padding_side: as in a call.
            return_attention_mask: as in a call.
            return_tensors: as in a call.
            verbose: has no effect.

        Raises `ArgumentError` when there are no ids, or no token to fill up with.
        """
        rows = encoded_inputs
        if isinstance(rows, list | tuple):
            rows = {key: [row[key] for row in rows] for key in (rows[0] if rows else {})}
        data = {key: listed(value) for key, value in rows.items()}
        name = self._settings.model_input_names[0]
        if name not in data:
            message = f"there is no {name!r} to pad in {list(data)}"
            raise ArgumentError(message)
        single = bool(data[name]) and not isinstance(data[name][0], list | tuple)
        if single:
            data = {key: [value] for key, value in data.items()}
        if return_attention_mask is None:
            return_attention_mask = "attention_mask" in self._settings.model_input_names
        filled = {name: self.pad_token_id, **_FILLED}
        if not return_attention_mask:
            del filled["attention_mask"]
        else:
            data.setdefault("attention_mask", [[1] * len(row) for row in data[name]])
        filling = self._filling(padding)
        if filling == "max_length" and max_length is None:
            unlimited = self.model_max_length > UNLIMITED // 10**10
            filling, max_length = "do_not_pad" if unlimited else filling, self.model_max_length
        if filling != "do_not_pad":
            longest = max(map(len, data[name]), default=0)
            length = _rounded(
                int(max_length or 0) if filling == "max_length" else longest, pad_to_multiple_of
            )
            self._fill_lists(data, filled, length, padding_side)
        if single:
            data = {key: value[0] for key, value in data.items()}
        return BatchEncoding(data, tensor_type=return_tensors)

    def _fill_lists(
        self, data: dict[str, Any], filled: dict[str, int], length: int, side: str | None
    ) -> None:
        if self.pad_token_id is None:
            self._filler(length, None, side)
        left = _side(self.padding_side if side is None else side) == "left"
        for key, fill in filled.items():
            rows = data.get(key)
            if rows is not None:
                padding = [[fill] * (length - len(row)) for row in rows]
                data[key] = [
                    more + list(row) if left else list(row) + more
                    for row, more in zip(rows, padding, strict=True)
                ]

    def _filling(self, padding: bool | str) -> str:  # noqa: FBT001
        filling = str(plain(padding))
        if isinstance(padding, bool):
            filling = "longest" if padding else "do_not_pad"
        if filling not in _FILLINGS:
            message = f"padding is {padding!r}; it is True, False or one of {_FILLINGS}"
            raise ArgumentError(message)
        return filling


def plain(value: Any) -> Any:
    """The value of one of transformers' enumerations, or the string that it is."""
    return getattr(value, "value", value)


def _rounded(length: int, multiple: int | None) -> int:
    return length if not multiple else -(-length // multiple) * multiple


def _side(value: str) -> str:
    if value not in ("left", "right"):
        message = f'a side is "left" or "right", not {value!r}'
        raise ArgumentError(message)
    return value
