"""minbpe's `.model` files.

In: such a file. Out: a `Tokenizer`, and back. Byte b has id b and the merge in place n makes id
256 + n, so the file is a list of pairs of ids, after the pattern and the special tokens:

    minbpe v1
    <pattern, or nothing for none>
    <number of special tokens>
    <special token> <id>
    ...
    <left id> <right id>
    ...

minbpe drops text that the pattern does not match; here it is a piece of its own. The companion
`.vocab` is for people and is neither read nor written.
"""

from __future__ import annotations

from bytepair import _core
from bytepair.errors import BytepairError, FormatError
from bytepair.formats import _files
from bytepair.formats._holds import refuse_more
from bytepair.patterns import regex
from bytepair.tokenizer import Tokenizer

NAME = "minbpe"
OPTIONS: tuple[str, ...] = ()
HEADER = "minbpe v1"
_MOST_BYTES = 1 << 28


def detect(path: str) -> bool:
    """Whether `path` is a file of this format."""
    return _files.head(path, 64).split(b"\n")[0].rstrip() == HEADER.encode()


def load(path: str) -> Tokenizer:
    """Read a tokenizer. Raises `FormatError`, naming file and line."""
    lines = [line.removesuffix("\r") for line in _files.read_text(path).split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    if len(lines) < 3 or lines[0].rstrip() != HEADER or not _is_number(lines[2]):
        message = f"{path}: not a minbpe model: {HEADER!r}, a pattern and a number come first"
        raise FormatError(message)
    pattern, first = lines[1].strip() or None, 3 + int(lines[2])
    if first > len(lines):
        message = f"{path}: line 3: {lines[2]} special tokens are announced; the file ends before"
        raise FormatError(message)
    special: dict[str, int] = {}
    for number, line in enumerate(lines[3:first], 4):
        parts = line.split()
        if len(parts) != 2 or not _is_number(parts[1]) or parts[0] in special:
            message = f"{path}: line {number}: {line!r:.80} is not a new special token and its id"
            raise FormatError(message)
        special[parts[0]] = int(parts[1])
    vocab, merges = _merges(lines[first:], first + 1, path)
    try:
        return Tokenizer._assemble(
            _core.Model.from_merges(vocab, merges),
            special,
            pattern=pattern and _files.as_pattern(pattern),
            name=None,
        )
    except (BytepairError, OverflowError) as error:
        message = f"{path}: {error}"
        raise FormatError(message) from error


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 10


def _merges(
    lines: list[str], number: int, path: str
) -> tuple[dict[int, bytes], list[tuple[bytes, bytes]]]:
    tokens = [bytes([byte]) for byte in range(256)]
    ids = {token: id for id, token in enumerate(tokens)}
    merges = []
    size = 0
    for at, line in enumerate(lines, number):
        parts = line.split()
        pair = [int(part) for part in parts if _is_number(part)]
        if len(parts) != 2 or len(pair) != 2 or max(pair) >= len(tokens):
            message = f"{path}: line {at}: {line!r:.80} is not two ids below {len(tokens)}"
            raise FormatError(message)
        left, right = (tokens[id] for id in pair)
        token = left + right
        if token in ids:
            message = (
                f"{path}: line {at}: token {len(tokens)} has the bytes of token {ids[token]}, "
                "which is not supported"
            )
            raise FormatError(message)
        # Tokens can double in length with each line; 64 lines would be more than any memory.
        size += len(token)
        if size > _MOST_BYTES:
            message = f"{path}: line {at}: the tokens up to here take more than {_MOST_BYTES} bytes"
            raise FormatError(message)
        ids[token] = len(tokens)
        tokens.append(token)
        merges.append((left, right))
    return dict(enumerate(tokens)), merges


def save(tokenizer: Tokenizer, path: str) -> None:
    """Write a tokenizer. Raises `FormatError` when the format cannot hold it, and says why."""
    _files.write_whole(path, dumps(tokenizer))


def dumps(tokenizer: Tokenizer) -> str:
    """The text of a file."""
    refuse_more(tokenizer, "a minbpe model")
    model = tokenizer._model
    merges = model.merges()
    made = [bytes([byte]) for byte in range(256)] + [left + right for left, right in merges]
    if model.items() != list(enumerate(made)):
        raise _refusal(
            "byte b has id b there, and merge n makes id 256 + n, without exception "
            '(train with special_ids="last")'
        )
    if model.whole_pieces and not model.by_rank:
        raise _refusal("it cannot hold ignore_merges")
    if tokenizer.added_tokens or tokenizer.normalizer or tokenizer._special_aliases:
        raise _refusal("it cannot hold added tokens, a normalizer or two names for one token")
    special = tokenizer.special_tokens
    for name in special:
        if name.split() != [name]:
            raise _refusal(f"the special token {name!r} has white space in it")
    ids = {token: id for id, token in enumerate(made)}
    lines = [HEADER, _pattern(tokenizer), str(len(special))]
    lines += [f"{name} {id}" for name, id in special.items()]
    lines += [f"{ids[left]} {ids[right]}" for left, right in merges]
    return "\n".join(lines) + "\n"


def _pattern(tokenizer: Tokenizer) -> str:
    name = _core.pattern_name(tokenizer._pattern)
    pattern = regex(name) if name is not None else tokenizer._pattern
    if pattern is None:
        return ""
    if not isinstance(pattern, str):
        raise _refusal(f"the pattern is a sequence of {len(pattern)} regular expressions")
    if pattern.strip() != pattern or not pattern or len(pattern.splitlines()) > 1:
        raise _refusal(f"the pattern {pattern!r} has white space at its ends or a line break")
    return pattern


def _refusal(why: str) -> FormatError:
    return FormatError(f"a minbpe model cannot keep this tokenizer: {why}; use the native format")
