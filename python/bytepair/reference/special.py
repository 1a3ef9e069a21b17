"""Lesson 1: special tokens, the marks that are never text.

In: a text and a list of special tokens such as ``<|endoftext|>``. Out: the same text in parts: the
special tokens, each whole, and the *spans* of ordinary text between them.

Special tokens carry meaning of their own ("a document ends here"), so nothing else may touch them:
they are cut out before anything is counted, merged or encoded. Cost: one regular expression search.
This module does not give out ids; that is the tokenizer's work (lesson 6).
"""

from __future__ import annotations

import re
from collections.abc import Iterable


def check_text(text: str) -> None:
    """Refuse what is no text, such as the bytes of a file, before it fails further down."""
    if not isinstance(text, str):
        hint = "; decode it first" if isinstance(text, bytes) else ""
        raise TypeError(f"text must be str, not {type(text).__name__}{hint}")


def check_special_tokens(special_tokens: Iterable[str]) -> list[str]:
    """The special tokens as a list, or an error that says what is wrong with them.

    >>> check_special_tokens(("<|user|>", "<|endoftext|>"))
    ['<|user|>', '<|endoftext|>']
    """
    if isinstance(special_tokens, str):
        # A str is a sequence of characters: every letter would silently become a special token.
        raise TypeError(
            f"special_tokens is the str {special_tokens!r}; pass a list: [{special_tokens!r}]"
        )
    if not isinstance(special_tokens, Iterable):
        raise TypeError(
            f"special_tokens must be a list of str, not {type(special_tokens).__name__};"
            " pass [] for none"
        )
    tokens = list(special_tokens)
    for position, token in enumerate(tokens):
        if not isinstance(token, str):
            raise TypeError(f"special token {position} must be str, not {token!r}")
        if token == "":
            raise ValueError(f"special token {position} is empty; it would match everywhere")
        if token in tokens[:position]:
            raise ValueError(f"special token {token!r} is listed twice; name it once")
    return tokens


def special_pattern(special_tokens: Iterable[str]) -> re.Pattern[str]:
    """A pattern that finds the leftmost special token, and of several that start there the longest.

    A regular expression takes the first alternative that fits, not the longest, so the longest must
    be written first. Were ``<|end|>`` first, ``<|end|><|end|>`` could never be found.

    >>> special_pattern(["<|end|>", "<|end|><|end|>"]).findall("a<|end|><|end|>b")
    ['<|end|><|end|>']
    """
    longest_first = sorted(check_special_tokens(special_tokens), key=len, reverse=True)
    # With no special tokens the pattern must match nothing; "" would match everywhere.
    return re.compile("|".join(re.escape(token) for token in longest_first) or r"(?!)")


def split_on_special_tokens(text: str, special_tokens: Iterable[str]) -> list[str]:
    """Cut a text at its special tokens and keep both: joined, the parts are the text again.

    No part is empty. A part is a special token exactly if it is in ``special_tokens``.

    >>> split_on_special_tokens("Hi<|end|>you<|end|><|end|>", ["<|end|>", "<|end|><|end|>"])
    ['Hi', '<|end|>', 'you', '<|end|><|end|>']
    """
    check_text(text)
    parts = []
    end = 0
    for match in special_pattern(special_tokens).finditer(text):
        parts += [text[end : match.start()], match.group()]
        end = match.end()
    parts.append(text[end:])
    return [part for part in parts if part]
