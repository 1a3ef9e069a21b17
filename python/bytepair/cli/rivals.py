"""Other libraries, given the same tokenizer: what `bytepair bench --compare` measures against.

In: a tokenizer. Out: a function that encodes a text with another library, or `NotComparable` with
the reason. They are given our vocab and pattern, so nothing is downloaded, and count only if their
ids are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bytepair import Tokenizer, patterns

__all__ = ["RIVALS", "NotComparable", "rival"]

_CHECKED = 100_000
"""Characters on which the ids must be the same."""

Encode = Callable[[str], Sequence[int]]


class NotComparable(Exception):
    """A library that cannot be measured on this tokenizer; the message says why."""


def rival(name: str, tokenizer: Tokenizer, text: str) -> Encode:
    """The encode function of another library with this tokenizer, its ids compared on `text`."""
    try:
        encode = RIVALS[name](tokenizer)
    except ImportError:
        message = "not installed"
        raise NotComparable(message) from None
    sample = text[:_CHECKED]
    if list(encode(sample)) != tokenizer.encode_ordinary(sample):
        message = "gives other ids for this tokenizer"
        raise NotComparable(message)
    return encode


def _parts(tokenizer: Tokenizer) -> tuple[str, dict[bytes, int]]:
    """The regular expression, and token bytes → id without the special tokens."""
    regex = patterns.regex(tokenizer.pattern)
    if not isinstance(regex, str):
        message = "needs one regular expression"
        raise NotComparable(message)
    special = set(tokenizer.special_tokens.values())
    ids = {token: id for id, token in tokenizer.vocab.items() if id not in special}
    if any(bytes([byte]) not in ids for byte in range(256)):
        message = "needs all 256 bytes"
        raise NotComparable(message)
    return regex, ids


def _tiktoken(tokenizer: Tokenizer) -> Encode:
    import tiktoken

    regex, ids = _parts(tokenizer)
    encoding = tiktoken.Encoding("rival", pat_str=regex, mergeable_ranks=ids, special_tokens={})
    return encoding.encode_ordinary


def _tokenizers(tokenizer: Tokenizer) -> Encode:
    from tokenizers import Regex, models, pre_tokenizers
    from tokenizers import Tokenizer as Rival

    from bytepair.formats.gpt2 import spell

    regex, ids = _parts(tokenizer)
    vocab = {spell(token): id for token, id in ids.items()}
    merges = [(spell(left), spell(right)) for left, right in tokenizer.merges]
    whole = tokenizer.ignore_merges or tokenizer.merge_rule == "ranks"
    other: Any = Rival(models.BPE(vocab=vocab, merges=merges, ignore_merges=whole))
    if tokenizer.pattern == "gpt2":
        # Its own way to GPT-2's pattern, and its fastest.
        other.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    else:
        split = pre_tokenizers.Split(Regex(regex), "isolated")
        level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        other.pre_tokenizer = pre_tokenizers.Sequence([split, level])

    def encode(text: str) -> list[int]:
        ids: list[int] = other.encode(text, add_special_tokens=False).ids
        return ids

    return encode


RIVALS: dict[str, Callable[[Tokenizer], Encode]] = {
    "tiktoken": _tiktoken,
    "tokenizers": _tokenizers,
}
"""Name → how to build it."""
