"""Ids to text: the part of `FastTokenizer` that decodes.

In: ids, a list of them or many, arrays and tensors. Out: text. As in transformers an id that no
token has gives no text; `tokenizer.backend.decode` refuses it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from bytepair.compat.huggingface._names import Names
from bytepair.errors import UnknownTokenError


class Decoding(Names):
    """The methods that decode."""

    @property
    def clean_up_tokenization_spaces(self) -> bool:
        """What the settings say; it has no effect, as in transformers for BPE."""
        return self._settings.clean_up_tokenization_spaces

    @clean_up_tokenization_spaces.setter
    def clean_up_tokenization_spaces(self, value: bool) -> None:
        self._settings.clean_up_tokenization_spaces = bool(value)

    def decode(
        self,
        token_ids: Any,
        skip_special_tokens: bool = False,  # noqa: FBT001 - as in transformers
        clean_up_tokenization_spaces: bool | None = None,  # noqa: FBT001
    ) -> Any:
        """The text of ids, or the texts of a batch of them.

        Args:
            token_ids: an id, ids, or lists of ids; arrays and tensors too.
            skip_special_tokens: whether to leave special tokens out.
            clean_up_tokenization_spaces: has no effect, as in transformers for BPE.

        As in transformers, an id that no token has gives no text.
        """
        ids = listed(token_ids)
        if isinstance(ids, Mapping):
            ids = ids["input_ids"]
        if isinstance(ids, list | tuple) and ids and isinstance(ids[0], list | tuple):
            return [self._text(row, skip=skip_special_tokens) for row in ids]
        return self._text([ids] if isinstance(ids, int) else ids, skip=skip_special_tokens)

    def batch_decode(
        self,
        sequences: Any,
        skip_special_tokens: bool = False,  # noqa: FBT001 - as in transformers
        clean_up_tokenization_spaces: bool | None = None,  # noqa: FBT001
    ) -> list[str]:
        """The texts of a batch of ids; the options are those of `decode`."""
        rows = listed(sequences)
        if not isinstance(rows, list | tuple):
            message = f"sequences must be a list of lists of ids, not {type(sequences).__name__}"
            raise TypeError(message)
        if len(rows) == 0:
            return []
        result = self.decode(rows, skip_special_tokens, clean_up_tokenization_spaces)
        return result if isinstance(result, list) else [result]

    def _text(self, ids: Iterable[int], *, skip: bool) -> str:
        kept = [id for id in map(int, ids) if id not in self._skipped] if skip else list(ids)
        try:
            return self.backend.decode(kept)
        except UnknownTokenError:
            return self.backend.decode([id for id in kept if id in self._strings])

    @cached_property
    def _skipped(self) -> set[int]:
        """The ids of special tokens."""
        return set(self.backend.special_tokens.values())


def listed(value: Any) -> Any:
    """Arrays and tensors as lists, in lists too."""
    if isinstance(value, list | tuple) and value and hasattr(value[0], "tolist"):
        return [listed(item) for item in value]
    return value.tolist() if hasattr(value, "tolist") else value
