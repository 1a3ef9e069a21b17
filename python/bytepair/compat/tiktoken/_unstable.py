"""What an unfinished text may still become, and bytes that are no text, as tiktoken has them.

In: a text that may go on, or any bytes. Out: ids. The search for completions is the core's, which
`Tokenizer.encode_with_unstable` uses too; like tiktoken's it looks behind ends of any length. Bytes
that are not UTF-8 are encoded by the same means: what follows the last valid character is merged
with the last piece before it.
"""

from __future__ import annotations

import sys
from collections.abc import Set as AbstractSet
from typing import Literal

from bytepair import _core
from bytepair._beginnings import beginnings
from bytepair.tokenizer import Tokenizer


def encode(
    tokenizer: Tokenizer, text: str, allowed: AbstractSet[str] | Literal["all"]
) -> tuple[list[int], list[list[int]]]:
    """The certain ids of `text`, and the completions of the rest, sorted.

    >>> from bytepair import get_encoding
    >>> stable, completions = encode(get_encoding("gpt2"), "hello fanta", "all")
    >>> stable, [8842] in completions
    ([31373], True)
    """
    ids, _, completions = beginnings(tokenizer).encode(
        tokenizer, text, allowed_special=allowed, most=sys.maxsize
    )
    return ids, completions


def encode_bytes(tokenizer: Tokenizer, text: bytes) -> list[int]:
    r"""The ids of any bytes.

    >>> from bytepair import get_encoding
    >>> gpt2 = get_encoding("gpt2")
    >>> gpt2.decode_bytes(encode_bytes(gpt2, b"hello \xff"))
    b'hello \xff'
    """
    try:
        return tokenizer.encode_ordinary(text.decode())
    except UnicodeDecodeError as error:
        valid = error.start
    ids, certain = _core.split_unstable(tokenizer, text[:valid].decode())
    rest = tokenizer.decode_bytes(ids[certain:])
    return ids[:certain] + _core.merge_piece(tokenizer, rest + text[valid:])
