"""What a tokenizer has that most formats have no place for.

In: a tokenizer that is to be written. Out: nothing, or a `FormatError` that names what would be
lost. Added tokens, normalizers and second names each format refuses itself.
"""

from __future__ import annotations

from bytepair.errors import FormatError
from bytepair.tokenizer import Tokenizer


def refuse_more(tokenizer: Tokenizer, holder: str) -> None:
    """Refuse merging that begins with characters, token flags and a dropped space."""
    for what, there in (
        ("merging that begins with characters, as SentencePiece's", tokenizer._model.symbols),
        ("tokens that take the white space around them", tokenizer._token_flags),
        ("a decoder that leaves out a space", tokenizer.drops_space),
    ):
        if there:
            message = f"{holder} cannot hold {what}; save in the native format instead"
            raise FormatError(message)
