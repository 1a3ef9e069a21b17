"""A tokenizer's vocab as a mapping.

In: a tokenizer. Out: a read-only view, id → token bytes. It copies nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bytepair.errors import UnknownTokenError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from bytepair.tokenizer import Tokenizer

__all__ = ["VocabView"]


class VocabView(Mapping[int, bytes]):
    """A tokenizer's vocab as a read-only mapping from id to token bytes, in id order.

    It looks into the tokenizer and copies nothing. Special and added tokens are part of it.

    >>> from bytepair import get_encoding
    >>> vocab = get_encoding("gpt2").vocab
    >>> vocab[995], len(vocab)
    (b' world', 50257)
    """

    __slots__ = ("_tokenizer",)

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def __getitem__(self, id: int, /) -> bytes:
        return self._tokenizer.token_bytes(id)

    def __iter__(self) -> Iterator[int]:
        ids = self._tokenizer._model.ids()
        besides = self._besides()
        return iter(sorted({*ids, *besides}) if besides else ids)

    def __len__(self) -> int:
        model = self._tokenizer._model
        return len(model) + sum(model.token(id) is None for id in self._besides())

    def _besides(self) -> set[int]:
        """The ids of the special and added tokens, which the model may not have."""
        tokenizer = self._tokenizer
        return {*tokenizer.special_tokens.values(), *tokenizer.added_tokens.values()}

    def __contains__(self, id: object, /) -> bool:
        try:
            self._tokenizer.token_bytes(id)  # type: ignore[arg-type]
        except (UnknownTokenError, TypeError):
            return False
        return True

    def __repr__(self) -> str:
        return f"<vocab of {len(self)} tokens>"
