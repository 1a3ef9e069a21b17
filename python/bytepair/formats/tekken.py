"""Mistral's `tekken.json`.

In: such a file. Out: a `Tokenizer`, and back. The first ids are special tokens, named in the file
or `<SPECIAL_n>`; the tokens follow, in order of rank, and only as many as `default_vocab_size` has
room for. Merging is by rank.

mistral-common never looks for special tokens in text, so its ids are those of `encode_ordinary`. In
files before version v11 the special tokens have no names; those that mistral-common gives them are
taken.
"""

from __future__ import annotations

import base64
import json
import re
from typing import Any

from bytepair import _core
from bytepair.errors import BytepairError, FormatError
from bytepair.formats import _files, tiktoken
from bytepair.patterns import regex
from bytepair.tokenizer import Tokenizer

NAME = "tekken"
OPTIONS: tuple[str, ...] = ()
VERSION = "v11"

_OLD_NAMES = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    *("[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]"),
    *("[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"),
    "[TOOL_CONTENT]",
)
_OLD_VERSIONS = ("v1", "v2", "v3", "v7")
_HEAD = re.compile(rb'\s*{\s*"(?:config|vocab|special_tokens)"\s*:.*"token_bytes"', re.DOTALL)


def detect(path: str) -> bool:
    """Whether `path` is a file of this format."""
    head = _files.head(path, 1 << 16)
    return _HEAD.match(head) is not None or (
        head.lstrip().startswith(b"{") and b'"default_num_special_tokens"' in head
    )


def load(path: str) -> Tokenizer:
    """Read a tokenizer. Raises `FormatError`, naming the file and the place."""
    data = _files.read_json(path)
    match data:
        case {
            "config": {
                "pattern": str(pattern),
                "default_vocab_size": int(size),
                "default_num_special_tokens": int(reserved),
            },
            "vocab": list(entries),
        } if 0 <= reserved <= size < 1 << 32:
            pass
        case _:
            message = (
                f"{path}: not a tekken.json: it needs config (pattern, default_vocab_size, "
                "default_num_special_tokens) and vocab"
            )
            raise FormatError(message)
    special = _special_names(data, reserved, path)
    vocab: dict[int, bytes] = {}
    for at, entry in enumerate(entries[: size - reserved]):
        match entry:
            case {"rank": int(rank), "token_bytes": str(text)} if rank == at:
                pass
            case _:
                message = f"{path}: vocab entry {at}: {entry!r:.80} is not rank {at} with its bytes"
                raise FormatError(message)
        try:
            vocab[rank + reserved] = base64.b64decode(text, validate=True)
        except ValueError as error:
            message = f"{path}: vocab entry {at}: token_bytes {text!r:.80} is not base64"
            raise FormatError(message) from error
    try:
        return Tokenizer._assemble(
            _core.Model.from_ranks(vocab),
            special,
            pattern=_files.as_pattern(pattern),
            name=None,
        )
    except BytepairError as error:
        message = f"{path}: {error}"
        raise FormatError(message) from error


def save(tokenizer: Tokenizer, path: str) -> None:
    """Write a tokenizer: special tokens with the first ids, then the 256 bytes, then the others."""
    name = _core.pattern_name(tokenizer._pattern)
    pattern = None if name is None else regex(name)
    if not isinstance(pattern, str):
        message = (
            "mistral-common drops text that a pattern does not match, so only a named pattern of "
            f"one regular expression can be kept, not {tokenizer.pattern!r:.80}"
        )
        raise FormatError(message)
    table = tiktoken.ranks(tokenizer)
    special = sorted(tokenizer._special_names.items(), key=lambda item: item[1])
    reserved = len(special)
    wanted = [(bytes([byte]), reserved + byte) for byte in range(256)]
    ids = [*(id for _, id in special), *table.values()]
    if ids != list(range(len(ids))) or any(table[token] != id for token, id in wanted):
        message = (
            "in tekken.json the special tokens come first, then the 256 bytes by value, then the "
            'other tokens, without a hole; train with special_ids="first", or save in another '
            "format"
        )
        raise FormatError(message)
    if tokenizer._special_aliases:
        message = "a special token has two names; tekken.json has room for one"
        raise FormatError(message)
    values = {
        "config": {
            "pattern": pattern,
            "num_vocab_tokens": len(table),
            "default_vocab_size": len(ids),
            "default_num_special_tokens": reserved,
            "version": VERSION,
        },
        "vocab": [
            {
                "rank": id - reserved,
                "token_bytes": base64.b64encode(token).decode(),
                "token_str": _text(token),
            }
            for token, id in table.items()
        ],
        "special_tokens": [
            {"rank": id, "token_str": name, "is_control": True} for name, id in special
        ],
    }
    _files.write_whole(path, json.dumps(values, ensure_ascii=False, indent=1) + "\n")


def _text(token: bytes) -> str | None:
    try:
        return token.decode()
    except UnicodeDecodeError:
        return None


def _special_names(data: dict[str, Any], reserved: int, path: str) -> dict[str, int]:
    """The special tokens; those without a name are `<SPECIAL_n>`."""
    entries = data.get("special_tokens")
    if entries is None:
        version = data["config"].get("version")
        if version not in _OLD_VERSIONS:
            message = f"{path}: version {version!r} has no special_tokens; the file is not whole"
            raise FormatError(message)
        entries = [{"rank": at, "token_str": name} for at, name in enumerate(_OLD_NAMES[:reserved])]
    if not isinstance(entries, list):
        message = f"{path}: special_tokens is not a list"
        raise FormatError(message)
    names: dict[int, str] = {}
    for at, entry in enumerate(entries):
        match entry:
            case {"rank": int(rank), "token_str": str(name)} if 0 <= rank < reserved:
                pass
            case _:
                message = (
                    f"{path}: special token {at}: {entry!r:.80} is not a token_str with a rank "
                    f"below {reserved}"
                )
                raise FormatError(message)
        if rank in names or name in names.values():
            message = f"{path}: special token {at}: rank {rank} or name {name!r} occurs twice"
            raise FormatError(message)
        names[rank] = name
    for rank in range(reserved):
        names.setdefault(rank, f"<SPECIAL_{rank}>")
    return {name: rank for rank, name in sorted(names.items())}
