"""The vocab and the merges that a course trains, as JSON: a dict and a list.

In: a file with both, or a directory with `vocab.json` and `merges.json`. Out: a `Tokenizer`, and
back. A file is an object of

    {"vocab": {"0": "Ā", …}, "merges": [["Ġ", "t"], …], "special_tokens": ["<|endoftext|>"]}

where the vocab goes from id to token or from token to id, and a token is spelled in GPT-2's
alphabet or is a list of its bytes (`[32, 116]`). Without `special_tokens` an entry that no merge
makes and that is no byte is one. Pickles, in which courses keep the same, are never loaded.

The pattern is not in it: GPT-2's is taken when reading, and any other refused when writing.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any

from bytepair.errors import BytepairError, FormatError
from bytepair.formats import _files, gpt2
from bytepair.formats.gpt2 import spell, unspell
from bytepair.tokenizer import Tokenizer

NAME = "cs336"
OPTIONS: tuple[str, ...] = ()
PAIR = ("vocab.json", "merges.json")
_KEYS = {"vocab", "merges", "special_tokens"}
_HEAD = re.compile(rb'\s*{\s*"(?:vocab|merges|special_tokens)"\s*:')


def detect(path: str) -> bool:
    """Whether `path` is a file of both, or a directory with the two files."""
    if os.path.isdir(path):
        return all(os.path.isfile(os.path.join(path, name)) for name in PAIR)
    head = _files.head(path)
    return _HEAD.match(head) is not None and b'"token_bytes"' not in head


def load(path: str) -> Tokenizer:
    """Read a tokenizer. Raises `FormatError`, naming the file and the place."""
    if os.path.isdir(path):
        vocab_path, merges_path = (os.path.join(path, name) for name in PAIR)
        parts: Any = {
            "vocab": _files.read_json(vocab_path),
            "merges": _files.read_json(merges_path),
        }
    else:
        parts = _files.read_json(path)
    if not isinstance(parts, dict) or not {"vocab", "merges"} <= parts.keys() <= _KEYS:
        message = f"{path}: not an object of vocab, merges and, if there are any, special_tokens"
        raise FormatError(message)
    entries = _entries(parts["vocab"], path)
    merges = _merges(parts["merges"], path)
    special = parts.get("special_tokens")
    if special is None:
        made = {left + right for left, right in merges}
        special = [
            text
            for text, token in entries.values()
            if text is not None and len(text) > 1 and token not in made
        ]
    if not isinstance(special, list) or any(not isinstance(name, str) for name in special):
        message = f"{path}: special_tokens is not a list of str"
        raise FormatError(message)
    literal = {name for name in special if len(name) > 1}
    vocab = {
        id: text.encode() if text is not None and text in literal else token
        for id, (text, token) in entries.items()
    }
    try:
        return Tokenizer(vocab, merges, special, pattern="gpt2")
    except (BytepairError, UnicodeEncodeError) as error:
        message = f"{path}: {error}"
        raise FormatError(message) from error


def save(tokenizer: Tokenizer, path: str) -> None:
    """Write a file with both. Raises `FormatError` when it cannot hold the tokenizer."""
    gpt2.check(tokenizer)
    entries = {id: spell(token) for id, token in tokenizer._model.items()}
    entries.update((id, name) for name, id in tokenizer.special_tokens.items())
    values: dict[str, Any] = {
        "vocab": {str(id): text for id, text in sorted(entries.items())},
        "merges": [[spell(left), spell(right)] for left, right in tokenizer.merges],
        "special_tokens": list(tokenizer.special_tokens),
    }
    if len(set(entries.values())) < len(entries):
        message = "two tokens are spelled alike; save in the native format instead"
        raise FormatError(message)
    _files.write_whole(path, json.dumps(values, ensure_ascii=False, indent=0) + "\n")


def _entries(values: Any, path: str) -> dict[int, tuple[str | None, bytes]]:
    """Id → the spelling of its token, and its bytes."""
    if not isinstance(values, dict):
        message = f"{path}: vocab is not an object"
        raise FormatError(message)
    entries: dict[int, tuple[str | None, bytes]] = {}
    # From id to token, unless a value is an id.
    backwards = any(type(value) is int for value in values.values())
    for key, value in values.items():
        place = f"{path}: vocab entry {key!r:.80}"
        text, number = (key, value) if backwards else (value, key)
        if isinstance(number, str) and number.isascii() and number.isdigit() and len(number) < 11:
            number = int(number)
        if type(number) is not int or not 0 <= number < 1 << 32:
            message = f"{place}: {number!r:.80} is not an id in [0, 2**32)"
            raise FormatError(message)
        if number in entries:
            message = f"{place}: the id {number} occurs twice"
            raise FormatError(message)
        token = _token(text)
        if not token:
            message = f"{place}: {text!r:.80} is not a token"
            raise FormatError(message)
        entries[number] = (text if isinstance(text, str) else None, token)
    return entries


def _token(value: Any) -> bytes | None:
    if isinstance(value, list):
        if all(type(byte) is int and 0 <= byte < 256 for byte in value):
            return bytes(value)
        return None
    if not isinstance(value, str):
        return None
    token = unspell(value)
    return value.encode("utf-8", "surrogatepass") if token is None else token


def _merges(values: Any, path: str) -> list[tuple[bytes, bytes]]:
    if not isinstance(values, list):
        message = f"{path}: merges is not a list"
        raise FormatError(message)
    merges = []
    for at, value in enumerate(values):
        pair = value.split(" ") if isinstance(value, str) else value
        sides = [_token(side) for side in pair] if isinstance(pair, list) else []
        if len(sides) != 2 or not sides[0] or not sides[1]:
            message = f"{path}: merge {at}: {value!r:.80} is not two tokens"
            raise FormatError(message)
        merges.append((sides[0], sides[1]))
    return merges
