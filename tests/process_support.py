"""What tests run in other processes, in a module that those can import."""

from __future__ import annotations

import hashlib

from bytepair import Tokenizer


def digest_of(tokenizer: Tokenizer, text: str) -> str:
    """A digest of the ids of `text`."""
    return hashlib.sha256(repr(tokenizer.encode(text)).encode()).hexdigest()
