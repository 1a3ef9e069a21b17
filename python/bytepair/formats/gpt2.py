"""GPT-2's two files: `encoder.json` and `vocab.bpe` (Hugging Face's `vocab.json`, `merges.txt`).

In: the two files, or a directory that holds them. Out: a `Tokenizer`, and back. Token bytes are
spelled in GPT-2's alphabet, which has a printable character for each byte (openai/gpt-2,
`encoder.py`). Special tokens stand in `encoder.json` as plain text, with nothing to mark them.

The pattern is not in the files: GPT-2's is taken when reading, and any other refused when writing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from bytepair.errors import BytepairError, FormatError
from bytepair.formats import _files
from bytepair.formats._holds import refuse_more
from bytepair.tokenizer import Tokenizer

NAME = "gpt2"
OPTIONS: tuple[str, ...] = ()
PAIRS = (("encoder.json", "vocab.bpe"), ("vocab.json", "merges.txt"))
"""Names of the two files in a directory; the first pair is what is written."""
HEADER = "#version: 0.2"

_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHERS = [byte for byte in range(256) if byte not in set(_PRINTABLE)]
BYTE_TO_CHARACTER = {
    **{byte: chr(byte) for byte in _PRINTABLE},
    **{byte: chr(0x100 + at) for at, byte in enumerate(_OTHERS)},
}
CHARACTER_TO_BYTE = {character: byte for byte, character in BYTE_TO_CHARACTER.items()}
# No byte is spelled by these, so they must not pass for bytes.
_TO_BYTES = str.maketrans(
    {
        **{char: chr(byte) for char, byte in CHARACTER_TO_BYTE.items()},
        **{chr(byte): "\uffff" for byte in _OTHERS},
    }
)
_TO_CHARACTERS = str.maketrans({chr(byte): char for byte, char in BYTE_TO_CHARACTER.items()})


def spell(token: bytes) -> str:
    """Token bytes in GPT-2's alphabet.

    >>> spell(b" the")
    'Ġthe'
    """
    return token.decode("latin-1").translate(_TO_CHARACTERS)


def unspell(text: str) -> bytes | None:
    """The bytes of a token spelled in GPT-2's alphabet; `None` if a character is not in it.

    >>> unspell("Ġthe"), unspell("一")
    (b' the', None)
    """
    try:
        return text.translate(_TO_BYTES).encode("latin-1")
    except UnicodeEncodeError:
        return None


# ── The format of a directory ─────────────────────────────────────────────────────────────────────


def detect(path: str) -> bool:
    """Whether `path` is a directory with the two files."""
    return _pair_in(path) is not None


def load(path: str) -> Tokenizer:
    """Read a tokenizer from a directory.

    An entry that no merge makes and that is no byte can only be a special token, and becomes one.
    """
    found = _pair_in(path)
    if found is None:
        names = " or ".join(" and ".join(pair) for pair in PAIRS)
        message = f"{path}: no {names} in it"
        raise FormatError(message)
    vocab_path, merges_path = (os.path.join(path, name) for name in found)
    entries = _read_vocab(vocab_path)
    merges = _read_merges(merges_path)
    made = {left + right for left, right in merges}
    special = {
        text: id for text, id in entries.items() if len(text) > 1 and unspell(text) not in made
    }
    return _build(entries, merges, special, vocab_path)


def save(tokenizer: Tokenizer, path: str) -> None:
    """Write a tokenizer to a directory, which is made if it is not there."""
    contents = _contents(tokenizer)  # before the directory, so that a refusal leaves none
    os.makedirs(path, exist_ok=True)
    for name, content in zip(PAIRS[0], contents, strict=True):
        _files.write_whole(os.path.join(path, name), content)


def _pair_in(path: str) -> tuple[str, str] | None:
    for pair in PAIRS:
        if all(os.path.isfile(os.path.join(path, name)) for name in pair):
            return pair
    return None


# ── Two files ─────────────────────────────────────────────────────────────────────────────────────


def load_files(
    vocab_path: str | os.PathLike[str],
    merges_path: str | os.PathLike[str],
    special_tokens: Mapping[str, int] | Iterable[str] | None = None,
) -> Tokenizer:
    """Read a tokenizer from the two files; see `Tokenizer.from_files`."""
    vocab_name = os.fspath(vocab_path)
    entries = _read_vocab(vocab_name)
    merges = _read_merges(os.fspath(merges_path))
    return _build(entries, merges, special_tokens, vocab_name)


def save_files(
    tokenizer: Tokenizer,
    vocab_path: str | os.PathLike[str],
    merges_path: str | os.PathLike[str],
) -> None:
    """Write the two files; see `Tokenizer.save_files`."""
    for path, content in zip((vocab_path, merges_path), _contents(tokenizer), strict=True):
        _files.write_whole(os.fspath(path), content)


def _contents(tokenizer: Tokenizer) -> tuple[str, str]:
    """What the two files hold."""
    check(tokenizer)
    entries = {spell(token): id for id, token in tokenizer._model.items()}
    for name, id in tokenizer.special_tokens.items():
        if entries.setdefault(name, id) != id:
            message = (
                f"the special token {name!r} (id {id}) is spelled like token {entries[name]} in "
                "GPT-2's alphabet; save in the native format instead"
            )
            raise FormatError(message)
    if len(entries) < len(tokenizer.vocab):
        message = "two tokens have the same bytes; GPT-2's files hold one id for each"
        raise FormatError(message)
    ordered = dict(sorted(entries.items(), key=lambda entry: entry[1]))
    merges = "".join(f"{spell(left)} {spell(right)}\n" for left, right in tokenizer.merges)
    return json.dumps(ordered), f"{HEADER}\n{merges}"


def check(tokenizer: Tokenizer) -> None:
    """Refuse what the two files cannot hold."""
    way_out = "save in the native format instead"
    if tokenizer.pattern != "gpt2":
        message = f"GPT-2's files imply GPT-2's pattern, not {tokenizer.pattern!r}; {way_out}"
        raise FormatError(message)
    refuse_more(tokenizer, "GPT-2's files")
    if tokenizer.added_tokens or tokenizer.normalizer or tokenizer._special_aliases:
        message = (
            "GPT-2's files cannot hold added tokens, a normalizer or two names for one token; "
            f"{way_out}"
        )
        raise FormatError(message)
    model = tokenizer._model
    if model.by_rank:
        # By pairs the same ids come out if every token is the merge of two, in order of id.
        made = sum(len(token) > 1 for _, token in model.items())
        if made != len(model.merges()):
            message = f"some tokens are reached by no merge of two lower ones; {way_out}"
            raise FormatError(message)
    elif model.whole_pieces:
        message = f"GPT-2's files cannot hold ignore_merges; {way_out}"
        raise FormatError(message)


def _read_vocab(path: str) -> dict[str, int]:
    entries = _files.read_json(path)
    if not isinstance(entries, dict):
        message = f"{path}: not an object of token → id"
        raise FormatError(message)
    for text, id in entries.items():
        if type(id) is not int or not 0 <= id < 1 << 32:
            message = f"{path}: token {text!r} has {id!r} for an id; ids are in [0, 2**32)"
            raise FormatError(message)
    return entries


def _read_merges(path: str) -> list[tuple[bytes, bytes]]:
    """The merges, in order. Only the first line may be a header; blank lines at the end go."""
    lines = [line.removesuffix("\r") for line in _files.read_text(path).split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    merges = []
    first = 1 if lines and lines[0].startswith("#version") else 0
    for number, line in enumerate(lines[first:], first + 1):
        parts = line.split(" ")
        sides = [unspell(part) for part in parts]
        if len(sides) != 2 or not sides[0] or not sides[1]:
            message = f"{path}: line {number}: {line!r} is not two tokens with one space between"
            raise FormatError(message)
        merges.append((sides[0], sides[1]))
    return merges


def _build(
    entries: dict[str, int],
    merges: list[tuple[bytes, bytes]],
    special_tokens: Mapping[str, int] | Iterable[str] | None,
    source: str,
) -> Tokenizer:
    names: Any = special_tokens
    if names is not None and not isinstance(names, (str, Mapping)):
        names = list(names)
    literal = set(names or ())
    vocab: dict[int, bytes] = {}
    for text, id in entries.items():
        token = text.encode() if text in literal and len(text) > 1 else unspell(text)
        token = text.encode() if token is None else token
        if id in vocab:
            message = f"{source}: id {id} is given to {vocab[id]!r} and to {token!r}"
            raise FormatError(message)
        vocab[id] = token
    try:
        return Tokenizer(vocab, merges, names, pattern="gpt2")
    except BytepairError as error:
        message = f"{source}: {error}"
        raise FormatError(message) from error
