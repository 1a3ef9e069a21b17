"""Tokenizers in pickles: what goes to other processes.

In: a tokenizer. Out: a function and its arguments, as `pickle` wants them. The model is flat bytes,
which the core writes and reads in a small part of the time that a file takes; a pickle of one
version is not for another. To keep a tokenizer, save it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bytepair import _core

if TYPE_CHECKING:
    from bytepair.tokenizer import Tokenizer


def parts(tokenizer: Tokenizer) -> tuple[Callable[..., Tokenizer], tuple[Any, ...]]:
    """What `Tokenizer.__reduce__` gives.

    >>> from bytepair import get_encoding
    >>> function, arguments = parts(get_encoding("gpt2"))
    >>> function(*arguments) == get_encoding("gpt2")
    True
    """
    others = {
        "pattern": tokenizer._pattern,
        "name": tokenizer.name,
        "aliases": tokenizer._special_aliases,
        "added_tokens": tokenizer.added_tokens,
        "normalizer": tokenizer.normalizer,
        "drops_space": tokenizer.drops_space,
        "token_flags": tokenizer._token_flags,
        "conventions": tokenizer.conventions,
    }
    return restored, (_core.flatten(tokenizer._model), tokenizer._special_names, others)


def restored(flat: bytes, special_tokens: dict[str, int], others: dict[str, Any]) -> Tokenizer:
    """The tokenizer of what `parts` gave."""
    from bytepair.tokenizer import Tokenizer

    return Tokenizer._assemble(_core.unflatten(flat), special_tokens, **others)
