r"""The package's own format: one JSON file, lossless, versioned, readable, made for diffs.

In: a tokenizer, or such a file. Out: the other. Every token and every merge has a line of its own:

    {
    "format": "bytepair",
    "version": 1,
    "name": null,
    "pattern": "gpt2",
    "normalizer": null,
    "merge_rule": "pairs",
    "ignore_merges": false,
    "special_tokens": {"<|endoftext|>": 256},
    "special_aliases": {},
    "vocab": [
    [0,"\\x00"],
    ...
    ],
    "merges": [
    [" ","t"],
    ...
    ]
    }

A token is written as text where its bytes are UTF-8, and a byte that is not as `\xNN`; control
characters likewise, and a backslash is doubled. (JSON then doubles the backslashes once more.)
`merges` is null where the merge rule is `"ranks"`: they follow from the ids. `normalizer` is null,
a name or a list of steps. Some keys are there only where they say something: `added_tokens`;
`token_flags` (name → [takes white space before it, behind it, is a word of its own]);
`drops_space`; and `symbols`, where merging begins with characters: `byte_ids` (the 256 tokens that
stand for bytes) or `unknown` and `fuse_unknown`, `frozen` (ids of tokens that are never merged),
and under `"ranks"` `ranks`, a list of [id, rank]; and `conventions`, as `Tokenizer.conventions` has
them. A key that a release does not know it refuses.
"""

from __future__ import annotations

import json
import re
from typing import Any

from bytepair import _core
from bytepair.conventions import check as check_conventions
from bytepair.errors import ArgumentError, BytepairError, FormatError
from bytepair.formats import _files
from bytepair.tokenizer import Tokenizer

NAME = "native"
OPTIONS: tuple[str, ...] = ()
VERSION = 1

_KEYS = (
    "format",
    "version",
    "name",
    "pattern",
    "normalizer",
    "merge_rule",
    "ignore_merges",
    "special_tokens",
    "special_aliases",
    "added_tokens",
    "token_flags",
    "drops_space",
    "symbols",
    "conventions",
    "vocab",
    "merges",
)
_OPTIONAL: dict[str, Any] = {
    "added_tokens": {},
    "token_flags": {},
    "drops_space": False,
    "symbols": None,
    "conventions": {},
}
"""Keys that are left out where they have this value."""
_TYPES = (
    ("ignore_merges", bool),
    ("drops_space", bool),
    ("vocab", list),
    ("special_tokens", dict),
    ("token_flags", dict),
)
_ESCAPE = re.compile(rb"\\(?:x([0-9a-f]{2})|(\\)|)")
_HIDDEN = re.compile("[\\\\\x00-\x1f\x7f-\x9f\u2028\u2029]")


def detect(path: str) -> bool:
    """Whether `path` is a file of this format."""
    try:
        with open(path, "rb") as file:
            head = file.read(64)
    except IsADirectoryError:
        return False
    return re.match(rb'(\xef\xbb\xbf)?\s*{\s*"format"\s*:\s*"bytepair"', head) is not None


def load(path: str) -> Tokenizer:
    """Read a tokenizer from a file. Raises `FormatError`, naming the file and the place."""
    return _build(_files.read_json(path), path)


def loads(text: str) -> Tokenizer:
    """Read a tokenizer from the text of a file."""
    return _build(_files.parse_json(text, "the text"), "the text")


def save(tokenizer: Tokenizer, path: str) -> None:
    """Write a tokenizer to a file, whole or not at all."""
    _files.write_whole(path, dumps(tokenizer))


def dumps(tokenizer: Tokenizer) -> str:
    """The text of a file; equal tokenizers of the same name give the same text."""
    model = tokenizer._model
    merges = None
    if not model.by_rank:
        merges = [[escape(left), escape(right)] for left, right in model.merges()]
    optional: dict[str, Any] = {
        "added_tokens": tokenizer.added_tokens,
        "token_flags": {name: list(flags) for name, flags in tokenizer._token_flags.items()},
        "drops_space": tokenizer.drops_space,
        "symbols": model.symbols,
        "conventions": tokenizer.conventions,
    }
    values: dict[str, Any] = {
        "format": "bytepair",
        "version": VERSION,
        "name": tokenizer.name,
        "pattern": tokenizer.pattern,
        "normalizer": tokenizer.normalizer,
        "merge_rule": tokenizer.merge_rule,
        "ignore_merges": model.whole_pieces,
        "special_tokens": tokenizer._special_names,
        "special_aliases": tokenizer._special_aliases,
        **{key: value for key, value in optional.items() if value != _OPTIONAL[key]},
        "vocab": [[id, escape(token)] for id, token in model.items()],
        "merges": merges,
    }
    lines = ",\n".join(f"{_json(key)}: {_lines(value)}" for key, value in values.items())
    return f"{{\n{lines}\n}}\n"


def escape(token: bytes) -> str:
    r"""Token bytes as readable text, without loss.

    >>> escape(b"caf\xc3\xa9"), escape(b"\xc3"), escape(b"\n")
    ('café', '\\xc3', '\\x0a')
    """
    text = token.decode("utf-8", "surrogateescape")
    if text.isascii() and text.isprintable() and "\\" not in text:
        return text
    text = _HIDDEN.sub(_escape_one, text)
    return re.sub("[\udc80-\udcff]", lambda found: f"\\x{ord(found[0]) - 0xDC00:02x}", text)


def _escape_one(found: re.Match[str]) -> str:
    if found[0] == "\\":
        return "\\\\"
    return "".join(f"\\x{byte:02x}" for byte in found[0].encode())


def unescape(text: str) -> bytes:
    r"""Token bytes from their readable text. Raises `ValueError` for an escape that is none.

    >>> unescape("\\xc3") + unescape("\\\\")
    b'\xc3\\'
    """
    data = text.encode()
    return _ESCAPE.sub(_unescape_one, data) if b"\\" in data else data


def _unescape_one(found: re.Match[bytes]) -> bytes:
    if found[1] is not None:
        return bytes.fromhex(found[1].decode())
    if found[2] is None:
        message = "a backslash is followed by neither xNN nor a backslash"
        raise ValueError(message)
    return b"\\"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _lines(value: Any) -> str:
    """JSON with one line for each item of a list of lists."""
    if not (isinstance(value, list) and value and isinstance(value[0], list)):
        return _json(value)
    return "[\n" + ",\n".join(map(_json, value)) + "\n]"


# ── Reading ───────────────────────────────────────────────────────────────────────────────────────


def _build(data: Any, source: str) -> Tokenizer:
    values = _check(data, source)
    vocab: dict[int, bytes] = {}
    for at, entry in enumerate(values["vocab"]):
        id, text = _pair(entry, int, str, f"{source}: vocab entry {at}")
        if id in vocab or not 0 <= id < 1 << 32:
            why = "occurs twice" if id in vocab else "is not in [0, 2**32)"
            message = f"{source}: vocab entry {at}: id {id} {why}"
            raise FormatError(message)
        vocab[id] = _token(text, f"{source}: vocab entry {at}")
    try:
        model = _model(values, vocab, source)
        tokenizer = Tokenizer._assemble(
            model,
            _ids(values, "special_tokens", source),
            pattern=values["pattern"],
            name=values["name"],
            aliases=_ids(values, "special_aliases", source),
            added_tokens=_ids(values, "added_tokens", source),
            normalizer=values["normalizer"],
            drops_space=values["drops_space"],
            token_flags=_flags(values["token_flags"], source),
            conventions=values["conventions"],
        )
        check_conventions(tokenizer, values["conventions"])
    except FormatError:
        raise
    except (BytepairError, TypeError, ValueError, OverflowError) as error:
        message = f"{source}: {error}"
        raise FormatError(message) from error
    return tokenizer


def _check(data: Any, source: str) -> dict[str, Any]:
    """The values of the file, its keys and its version checked."""
    if not isinstance(data, dict) or data.get("format") != "bytepair":
        message = f'{source}: not a bytepair tokenizer: it has no "format": "bytepair"'
        raise FormatError(message)
    version = data.get("version")
    if version != VERSION:
        message = (
            f"{source}: version {version!r} of the format is not known to this release, "
            f"which reads version {VERSION}; upgrade bytepair"
        )
        raise FormatError(message)
    values: dict[str, Any] = {**_OPTIONAL, **data}
    for key in _KEYS:
        if key not in values:
            message = f"{source}: the key {key!r} is missing"
            raise FormatError(message)
    unknown = [key for key in values if key not in _KEYS]
    if unknown:
        message = f"{source}: the key {unknown[0]!r} is not known, so the ids might differ"
        raise FormatError(message)
    for key, type_ in _TYPES:
        if not isinstance(values[key], type_):
            message = f"{source}: {key!r} must be a {type_.__name__}"
            raise FormatError(message)
    if values["name"] is not None and not isinstance(values["name"], str):
        message = f"{source}: 'name' must be a string or null"
        raise FormatError(message)
    return values


def _model(values: dict[str, Any], vocab: dict[int, bytes], source: str) -> _core.Model:
    rule, merges = values["merge_rule"], values["merges"]
    symbols = values["symbols"]
    if symbols is not None:
        return _character_model(values, vocab, source)
    if rule == "ranks" and merges is None:
        return _core.Model.from_ranks(vocab)
    if rule != "pairs" or not isinstance(merges, list):
        message = f"merge_rule is {rule!r} with merges {type(merges).__name__}"
        raise ArgumentError(message + '; it is "pairs" with a list, or "ranks" with null')
    pairs = _merges(merges, source)
    return _core.Model.from_merges(vocab, pairs, whole_pieces=values["ignore_merges"])


def _merges(merges: list[Any], source: str) -> list[tuple[bytes, bytes]]:
    pairs = []
    for at, entry in enumerate(merges):
        place = f"{source}: merge {at}"
        left, right = _pair(entry, str, str, place)
        pairs.append((_token(left, place), _token(right, place)))
    return pairs


def _character_model(values: dict[str, Any], vocab: dict[int, bytes], source: str) -> _core.Model:
    """A model whose merging begins with characters."""
    symbols, merges = values["symbols"], values["merges"]
    known = {"byte_ids", "unknown", "fuse_unknown", "frozen", "ranks"}
    if not isinstance(symbols, dict) or not symbols.keys() <= known or values["ignore_merges"]:
        message = f"{source}: 'symbols' must be an object of {sorted(known)}, without ignore_merges"
        raise FormatError(message)
    ranked = values["merge_rule"] == "ranks"
    if ranked != (merges is None) or ranked != isinstance(symbols.get("ranks"), list):
        message = f"{source}: 'symbols' has 'ranks', or there are 'merges', as 'merge_rule' says"
        raise FormatError(message)
    pairs = None if merges is None else _merges(merges, source)
    if ranked:
        numbered = enumerate(symbols["ranks"])
        ranks = [_pair(rank, int, int, f"{source}: rank {at}") for at, rank in numbered]
        symbols = {**symbols, "ranks": ranks}
    return _core.Model.from_symbols(vocab, merges=pairs, **symbols)


def _flags(values: dict[str, Any], source: str) -> dict[str, tuple[bool, bool, bool]]:
    flags = {}
    for name, value in values.items():
        match value:
            case [bool(left), bool(right), bool(word)]:
                flags[name] = (left, right, word)
            case _:
                message = f"{source}: token_flags: {name!r:.80} has {value!r:.80}, not three bools"
                raise FormatError(message)
    return flags


def _pair(entry: Any, first: type, second: type, place: str) -> tuple[Any, Any]:
    match entry:
        case [a, b] if type(a) is first and type(b) is second:
            return a, b
    message = f"{place}: {entry!r} is not [{first.__name__}, {second.__name__}]"
    raise FormatError(message)


def _token(text: str, place: str) -> bytes:
    try:
        return unescape(text)
    except ValueError as error:
        message = f"{place}: {text!r}: {error}"
        raise FormatError(message) from error


def _ids(values: dict[str, Any], key: str, source: str) -> dict[str, int]:
    ids = values[key]
    if isinstance(ids, dict) and all(type(id) is int and 0 <= id < 1 << 32 for id in ids.values()):
        return ids
    message = f"{source}: {key!r} must map names to ids in [0, 2**32)"
    raise FormatError(message)
