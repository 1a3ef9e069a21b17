"""The JSON file of `bytepair.reference.BPETokenizer`, the tokenizer to read and to learn from.

In: such a file. Out: a `Tokenizer`, and back. It is a vocab (id → token, in GPT-2's alphabet), a
list of merges, special tokens, a pattern and the merge rule.
"""

from __future__ import annotations

import json
import re

from bytepair.errors import BytepairError, FormatError
from bytepair.formats import _files
from bytepair.formats._holds import refuse_more
from bytepair.formats.gpt2 import spell, unspell
from bytepair.tokenizer import Tokenizer

NAME = "reference"
OPTIONS: tuple[str, ...] = ()
VERSION = 1

_HEAD = re.compile(rb'\s*{\s*"format"\s*:\s*"bytepair\.reference"')


def detect(path: str) -> bool:
    """Whether `path` is a file of this format."""
    return _HEAD.match(_files.head(path)) is not None


def load(path: str) -> Tokenizer:
    """Read a tokenizer. Raises `FormatError`, naming the file and the place."""
    data = _files.read_json(path)
    match data:
        case {
            "format": "bytepair.reference",
            "version": 1,
            "pattern": str() | None as pattern,
            "merge_rule": "pairs" | "ranks" as rule,
            "special_tokens": dict(special),
            "vocab": dict(entries),
            "merges": list(values),
        }:
            pass
        case _:
            message = f"{path}: not a file of bytepair.reference, version {VERSION}"
            raise FormatError(message)
    vocab: dict[int, bytes] = {}
    for text, token in entries.items():
        found = unspell(token) if isinstance(token, str) else None
        if not (text.isascii() and text.isdigit() and len(text) <= 10) or not found:
            message = f"{path}: vocab entry {text!r:.80}: {token!r:.80} is not id → token"
            raise FormatError(message)
        if int(text) in vocab:
            message = f"{path}: vocab entry {text!r}: the id occurs twice"
            raise FormatError(message)
        vocab[int(text)] = found
    merges = []
    for at, value in enumerate(values):
        match value:
            case [str(left), str(right)]:
                pair = unspell(left), unspell(right)
            case _:
                pair = None, None
        if not pair[0] or not pair[1]:
            message = f"{path}: merge {at}: {value!r:.80} is not two tokens"
            raise FormatError(message)
        merges.append((pair[0], pair[1]))
    for name, id in special.items():
        if type(id) is not int or not 0 <= id < 1 << 32:
            message = f"{path}: special token {name!r:.80}: {id!r:.80} is not an id in [0, 2**32)"
            raise FormatError(message)
    try:
        return Tokenizer(
            vocab,
            merges if rule == "pairs" else None,
            special,
            pattern=pattern,
            merge_rule=rule,
        )
    except (BytepairError, OverflowError) as error:
        message = f"{path}: {error}"
        raise FormatError(message) from error


def save(tokenizer: Tokenizer, path: str) -> None:
    """Write a tokenizer. Raises `FormatError` when the format cannot hold it, and says why."""
    refuse_more(tokenizer, "a file of bytepair.reference")
    model = tokenizer._model
    pattern = tokenizer.pattern
    for what, value in (
        ("added tokens", tokenizer.added_tokens),
        ("a normalizer", tokenizer.normalizer),
        ("two names for one special token", tokenizer._special_aliases),
        ("ignore_merges", model.whole_pieces and not model.by_rank),
        ("a sequence of patterns", isinstance(pattern, list)),
    ):
        if value:
            message = f"bytepair.reference does not know {what}; save in the native format instead"
            raise FormatError(message)
    values = {
        "format": "bytepair.reference",
        "version": VERSION,
        "pattern": pattern,
        "merge_rule": tokenizer.merge_rule,
        "special_tokens": tokenizer.special_tokens,
        "vocab": {str(id): spell(token) for id, token in sorted(tokenizer.vocab.items())},
        "merges": [[spell(left), spell(right)] for left, right in tokenizer.merges],
    }
    _files.write_whole(path, json.dumps(values, ensure_ascii=False, indent=1) + "\n")
