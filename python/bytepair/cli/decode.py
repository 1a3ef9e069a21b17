"""`bytepair decode`: ids to text.

In: files or standard input with ids as `encode` writes them. Out: exactly the bytes that the ids
stand for, nothing added; a terminal gets a line end where the text has none, so that the prompt
begins on a line of its own. Memory does not grow with the input.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Iterator
from typing import Annotated

import typer

from bytepair import Tokenizer
from bytepair.cli.encode import Raw, raw_type
from bytepair.cli.failures import Failure
from bytepair.cli.files import Input, check_apart, expand_all, total_size
from bytepair.cli.meter import Meter
from bytepair.cli.options import Encoding, Files, Model, Output, Quiet, TokenizerPath, choose
from bytepair.cli.output import STDOUT, opened
from bytepair.errors import UnknownTokenError

__all__ = ["decode"]

EXAMPLES = (
    "bytepair decode -e o200k_base ids.txt\n\n"
    "echo 15339 1917 | bytepair decode -e cl100k_base\n\n"
    "bytepair decode -t my.json --format u16 train.bin -o text.txt"
)

_SEPARATORS = b" \t\r\n\v\f,[]"
_TO_SPACES = bytes.maketrans(_SEPARATORS, b" " * len(_SEPARATORS))
_WORD = re.compile(rb"[^ \t\r\n\v\f,\[\]]+")
_LONGEST_ID = 64
"""Bytes without a separator that may still be an id; what is longer is another kind of file."""


def decode(
    *,
    files: Files = None,
    encoding: Encoding = None,
    model: Model = None,
    tokenizer: TokenizerPath = None,
    raw: Annotated[
        Raw | None, typer.Option("--format", help="Read raw little-endian integers.")
    ] = None,
    output: Output = None,
    quiet: Quiet = False,
) -> None:
    """Turn ids into text: exactly the bytes they stand for, inputs one after the other.

    Ids are separated by white space, or are JSON arrays; with --format they are raw integers. A
    terminal gets a line end after text that has none.
    """
    chosen = choose(encoding, model, tokenizer)
    inputs = expand_all(files or [])
    check_apart([*inputs, *([Input(tokenizer)] if tokenizer else [])], output)
    on_terminal = output in (None, STDOUT) and sys.stdout.isatty()
    quiet = quiet or on_terminal
    with (
        opened(output) as file,
        Meter("decoding", total_size(inputs), quiet=quiet) as meter,
    ):
        for input in inputs:
            batches = _text_ids(input, meter) if raw is None else _raw_ids(input, raw, meter)
            place = 0
            for ids in batches:
                file.write(_decoded(chosen.tokenizer, ids, place, input))
                place += len(ids)
        if on_terminal:
            file.end_line()


def _decoded(tokenizer: Tokenizer, ids: list[int], place: int, input: Input) -> bytes:
    try:
        data: bytes = tokenizer.decode_bytes(ids)
    except UnknownTokenError:
        vocab = tokenizer.vocab
        at, id = next((at, id) for at, id in enumerate(ids) if id not in vocab)
        message = (
            f"{input.name}: unknown id {id} at position {place + at}: the vocab size is "
            f"{tokenizer.vocab_size} and no token has this id"
        )
        raise Failure(message) from None
    return data


def _text_ids(input: Input, meter: Meter) -> Iterator[list[int]]:
    rest = b""
    place = 0
    brackets = 0
    for chunk in input.chunks(meter.advance):
        data = rest + chunk
        # The last id may go on in the next chunk.
        end = data.translate(_TO_SPACES).rfind(b" ") + 1
        rest = data[end:]
        ids = _parse(input, data[:end], place)
        brackets += data.count(b"[", 0, end) - data.count(b"]", 0, end)
        place += len(ids)
        if len(rest) > _LONGEST_ID:
            raise _not_an_id(input, rest, place)
        if ids:
            yield ids
    last = _parse(input, rest, place)
    if brackets > 0:
        message = f"{input.name}: the JSON array is not complete; the file may be cut short"
        raise Failure(message)
    if brackets < 0:
        message = f"{input.name}: there is a ] without a [; the start of the file may be missing"
        raise Failure(message)
    if last:
        yield last


def _parse(input: Input, data: bytes, place: int) -> list[int]:
    # One pass in C decides the ordinary case; `int` alone would take signs and underscores.
    if data.translate(None, b"0123456789" + _SEPARATORS):
        for at, word in enumerate(_WORD.finditer(data)):
            if not word[0].isdigit():
                raise _not_an_id(input, word[0], place + at)
    words = data.translate(_TO_SPACES).split()
    if max(map(len, words), default=0) > _LONGEST_ID:
        at = next(at for at, word in enumerate(words) if len(word) > _LONGEST_ID)
        raise _not_an_id(input, words[at], place + at)
    return list(map(int, words))


def _not_an_id(input: Input, word: bytes, place: int) -> Failure:
    shown = word[:40].decode(errors="replace") + ("…" if len(word) > 40 else "")
    message = (
        f"{input.name}: {shown!r} at position {place} is not an id; ids are whole numbers "
        "separated by white space, or JSON arrays of them"
    )
    return Failure(message)


def _raw_ids(input: Input, raw: Raw, meter: Meter) -> Iterator[list[int]]:
    kind = raw_type(raw)
    width = array(kind).itemsize
    rest = b""
    size = 0
    for chunk in input.chunks(meter.advance):
        size += len(chunk)
        data = rest + chunk
        end = len(data) - len(data) % width
        rest = data[end:]
        ids = array(kind, data[:end])
        if sys.byteorder == "big":
            ids.byteswap()
        yield ids.tolist()
    if rest:
        message = (
            f"{input.name}: {size} bytes are no whole number of {raw.value} integers; "
            "the file may be cut short or of another format"
        )
        raise Failure(message)
