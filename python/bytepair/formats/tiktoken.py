"""tiktoken's rank files (`.tiktoken`): one token on a line, in base64, with its rank.

In: such a file, or an `Encoding` of tiktoken's. Out: a `Tokenizer`, and back. The rank of a token
is its id, and of two pairs the one that joins to the lower rank merges first.

A file holds neither the pattern nor the special tokens. OpenAI's four are known by their SHA-256;
for any other the caller names both, and nothing is guessed. What is written is the tokens; the
special tokens and the pattern have to be kept elsewhere. Lines may end in CRLF, and blank ones are
passed over.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from bytepair import _core
from bytepair._types import Pattern, SpecialTokens
from bytepair.errors import ArgumentError, BytepairError, FormatError
from bytepair.formats import _files
from bytepair.formats._holds import refuse_more
from bytepair.tokenizer import Tokenizer

if TYPE_CHECKING:
    import tiktoken

NAME = "tiktoken"
OPTIONS = ("pattern", "special_tokens")

KNOWN = {
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930": "r50k_base",
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069": "p50k_base",
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7": "cl100k_base",
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d": "o200k_base",
}
"""SHA-256 of OpenAI's rank files (with LF) → encoding."""

_UNSAID: Any = object()


def detect(path: str) -> bool:
    """Whether `path` is a file whose first line is a token in base64 and a number."""
    line = _files.head(path).lstrip().split(b"\n")[0].split()
    return len(line) == 2 and line[1].isdigit() and _bytes(line[0]) is not None


def load(
    path: str, *, pattern: Pattern = _UNSAID, special_tokens: SpecialTokens = _UNSAID
) -> Tokenizer:
    """Read a rank file.

    Raises `FormatError`, naming file and line; `ArgumentError` when the file is not one of OpenAI's
    and the pattern or the special tokens are not given.
    """
    content = _files.read_bytes(path, _files.MOST_TEXT).replace(b"\r\n", b"\n")
    known = KNOWN.get(hashlib.sha256(content).hexdigest())
    if known is not None:
        from bytepair.encodings import get_encoding

        encoding = get_encoding(known)
        if pattern is _UNSAID and special_tokens is _UNSAID:
            return encoding
        pattern = encoding.pattern if pattern is _UNSAID else pattern
        special_tokens = encoding.special_tokens if special_tokens is _UNSAID else special_tokens
    vocab = _parse(content, path)
    given = {"pattern": pattern, "special_tokens": special_tokens}
    missing = [option for option, value in given.items() if value is _UNSAID]
    if missing:
        message = (
            f"{path}: a rank file does not hold {' and '.join(missing)}, and this one is none of "
            "OpenAI's; give pattern= (a name such as 'cl100k', or a regular expression) and "
            "special_tokens= (name → id, or () for none)"
        )
        raise ArgumentError(message)
    try:
        return Tokenizer(vocab, None, special_tokens, pattern=pattern, merge_rule="ranks")
    except BytepairError as error:
        message = f"{path}: {error}"
        raise FormatError(message) from error


def save(tokenizer: Tokenizer, path: str) -> None:
    """Write a rank file. Raises `FormatError` when the ids are not ranks, and says where."""
    lines = (
        f"{base64.b64encode(token).decode()} {rank}\n" for token, rank in ranks(tokenizer).items()
    )
    _files.write_whole(path, "".join(lines))


def ranks(tokenizer: Tokenizer) -> dict[bytes, int]:
    """The rank table of a tokenizer: token → rank, which is its id. Special tokens are not in it.

    Raises `FormatError` when merging by it would not give the same ids.

    >>> from bytepair import get_encoding
    >>> ranks(get_encoding("cl100k_base"))[b" the"]
    279
    """
    refuse_more(tokenizer, "a rank table")
    way_out = "save in the native or the huggingface format instead"
    for what, value in (
        ("added tokens", tokenizer.added_tokens),
        ("a normalizer", tokenizer.normalizer),
    ):
        if value:
            message = f"tiktoken has nothing like {what} ({_shortened(value)}); {way_out}"
            raise FormatError(message)
    model = tokenizer._model
    table: dict[bytes, int] = {}
    for id, token in model.items():
        if table.setdefault(token, id) != id:
            message = f"{token!r} has the ids {table[token]} and {id}; a rank table has one of each"
            raise FormatError(message)
    _check_bytes(table, f"the tokenizer has no token for {{}}; tiktoken needs one; {way_out}")
    if not model.by_rank:
        _check_order(model, table, way_out)
    return table


def from_encoding(encoding: tiktoken.Encoding) -> Tokenizer:
    """A tokenizer from an `Encoding`; see `Tokenizer.from_tiktoken`."""
    table, special, pattern = (
        getattr(encoding, name, None)
        for name in ("_mergeable_ranks", "_special_tokens", "_pat_str")
    )
    if not isinstance(table, Mapping) or not isinstance(special, Mapping) or pattern is None:
        message = f"from_tiktoken takes a tiktoken.Encoding, not {type(encoding).__name__}"
        raise TypeError(message)
    names: dict[int, str] = {}
    aliases: dict[str, int] = {}
    for name, id in special.items():
        # The first of two names is the one that the id decodes to.
        if names.setdefault(id, name) != name:
            aliases[name] = id
    pattern = _files.as_pattern(pattern)
    plain = Tokenizer.from_ranks(table, pattern=pattern, name=encoding.name)
    return Tokenizer._assemble(
        plain._model,
        {name: id for id, name in names.items()},
        pattern=pattern,
        name=encoding.name,
        aliases=aliases,
    )


def to_encoding(tokenizer: Tokenizer) -> tiktoken.Encoding:
    """An `Encoding` from a tokenizer; see `Tokenizer.to_tiktoken`."""
    try:
        import tiktoken
    except ImportError as error:
        message = "to_tiktoken needs tiktoken; install it"
        raise ImportError(message) from error
    table = ranks(tokenizer)
    return tiktoken.Encoding(
        tokenizer.name or "bytepair",
        pat_str=_one_regex(tokenizer),
        mergeable_ranks=table,
        special_tokens=tokenizer.special_tokens,
    )


# ── Reading ───────────────────────────────────────────────────────────────────────────────────────


def _parse(content: bytes, path: str) -> dict[int, bytes]:
    vocab: dict[int, bytes] = {}
    lines: dict[bytes, int] = {}
    for number, line in _lines(content):
        place = f"{path}: line {number}"
        parts = line.split()
        token = _bytes(parts[0]) if len(parts) == 2 and parts[1].isdigit() else None
        if token is None:
            message = f"{place}: {_shortened(line)} is not a token in base64 and its rank"
            raise FormatError(message)
        rank = int(parts[1]) if len(parts[1]) < 12 else 1 << 32
        if rank >= 1 << 32:
            message = f"{place}: the rank {_shortened(parts[1])} is not below 2**32"
            raise FormatError(message)
        if rank in vocab:
            message = f"{place}: rank {rank} is given to {token!r} and, before, to {vocab[rank]!r}"
            raise FormatError(message)
        if token in lines:
            message = f"{place}: the token {token!r} is in line {lines[token]} already"
            raise FormatError(message)
        vocab[rank] = token
        lines[token] = number
    _check_bytes(lines, f"{path}: no line for {{}}; the file is not whole")
    return vocab


def _lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if line.strip():
            yield number, line


def _bytes(text: bytes) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True) or None
    except ValueError:
        return None


def _check_bytes(table: Mapping[bytes, int], message: str) -> None:
    missing = [byte for byte in range(256) if bytes([byte]) not in table]
    if missing:
        shown = ", ".join(f"0x{byte:02x}" for byte in missing[:5])
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        raise FormatError(message.format(f"the single byte {shown}{more}"))


# ── Writing ───────────────────────────────────────────────────────────────────────────────────────


def _check_order(model: _core.Model, table: dict[bytes, int], way_out: str) -> None:
    """Refuse merges by pair that are not the merges by rank, in the order of the ids."""
    before = -1
    for left, right in model.merges():
        rank = table[left + right]
        if rank == before:
            message = (
                f"two merges give id {rank} ({left + right!r}); which goes first tiktoken decides "
                f"by place in the text, so ids could differ; {way_out}"
            )
            raise FormatError(message)
        if rank < before:
            message = (
                f"the merge {left!r} + {right!r} gives id {rank}, but an earlier one gives "
                f"{before}: merge order is not id order, as tiktoken needs; {way_out}"
            )
            raise FormatError(message)
        before = rank
    try:
        ranked = _core.Model.from_ranks(dict(model.items()))
    except BytepairError as error:
        raise FormatError(str(error)) from error
    longer = sum(len(token) > 1 for token in table)
    if longer != len(model.merges()) or ranked.merges() != model.merges():
        message = f"merging by rank would reach some tokens by other pairs; {way_out}"
        raise FormatError(message)


def _one_regex(tokenizer: Tokenizer) -> str:
    pattern = tokenizer._pattern
    if pattern is None:
        return r"[\s\S]+"
    if not isinstance(pattern, str):
        message = (
            "tiktoken takes one regular expression and the pattern is a sequence of "
            f"{len(pattern)}; save in the huggingface format instead"
        )
        raise FormatError(message)
    if _core.pattern_name(pattern) is not None:
        return pattern
    # tiktoken drops what a pattern does not match; here it is a piece of its own.
    return rf"(?:{pattern})|(?:(?!{pattern})[\s\S])+"


def _shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
