"""`bytepair encode`: text to ids.

In: files or standard input. Out: a line of ids for each input, or JSON, or raw integers. Memory
does not grow with the input. The library's defaults recognise special tokens; this command, whose
text is as a rule somebody else's, does so only with `--allow-special`, and says where it did not.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator
from enum import Enum
from itertools import islice
from typing import Annotated

import typer

from bytepair._types import Allowed
from bytepair.cli.failures import Usage
from bytepair.cli.files import Input, check_apart, expand_all, total_size
from bytepair.cli.meter import Meter
from bytepair.cli.notes import SpecialNote
from bytepair.cli.options import (
    AllowSpecial,
    Chosen,
    Encoding,
    Files,
    Json,
    Model,
    Output,
    Quiet,
    TokenizerPath,
    choose,
)
from bytepair.cli.output import STDOUT, Writer, opened

__all__ = ["Raw", "encode", "raw_type"]

EXAMPLES = (
    "bytepair encode -e o200k_base notes.txt\n\n"
    "bytepair encode -t my.json --allow-special --format u16 -o train.bin corpus.txt\n\n"
    "echo hello | bytepair encode -m gpt-4o --json"
)

_BATCH = 1 << 16
"""How many ids are written at once."""


class Raw(str, Enum):
    """Raw ids: unsigned little-endian integers, one after the other."""

    U16 = "u16"
    U32 = "u32"


def encode(
    *,
    files: Files = None,
    encoding: Encoding = None,
    model: Model = None,
    tokenizer: TokenizerPath = None,
    allow_special: AllowSpecial = False,
    as_json: Json = False,
    raw: Annotated[
        Raw | None,
        typer.Option(
            "--format", help="Write raw little-endian integers, inputs one after the other."
        ),
    ] = None,
    output: Output = None,
    quiet: Quiet = False,
) -> None:
    """Turn text into ids: one line for each input, the ids separated by spaces.

    With --json each line is a JSON array. Special tokens in the text are plain text unless
    --allow-special is given, which Tokenizer.encode does by default: give it for a corpus of yours
    whose documents end in <|endoftext|>.
    """
    if as_json and raw is not None:
        message = "--json and --format exclude each other"
        raise Usage(message)
    chosen = choose(encoding, model, tokenizer)
    if raw is not None:
        _check_raw(chosen, raw, output)
    inputs = expand_all(files or [])
    check_apart([*inputs, *([Input(tokenizer)] if tokenizer else [])], output)
    note = SpecialNote(on=not (allow_special or quiet))
    # A bar would run into the ids on a terminal.
    quiet = quiet or (output in (None, STDOUT) and sys.stdout.isatty())
    with (
        opened(output) as file,
        Meter("encoding", total_size(inputs), quiet=quiet) as meter,
    ):
        for input in inputs:
            batches = _batches(chosen, input, meter, note, allow_special=allow_special)
            if raw is not None:
                _write_raw(file, batches, raw)
            else:
                _write_line(file, batches, as_json=as_json)
    note.write()


def _batches(
    chosen: Chosen, input: Input, meter: Meter, note: SpecialNote, *, allow_special: bool
) -> Iterator[list[int]]:
    allowed: Allowed = "all" if allow_special else ()
    chunks = note.watch(chosen.tokenizer, input.text(meter.advance), input.name)
    ids = chosen.tokenizer.encode_iterable(chunks, allowed_special=allowed)
    while batch := list(islice(ids, _BATCH)):
        yield batch


def _write_line(file: Writer, batches: Iterator[list[int]], *, as_json: bool) -> None:
    between = b""
    if as_json:
        file.write(b"[")
    for batch in batches:
        # The list's own text is the fastest way from ids to digits.
        text = str(batch)[1:-1]
        file.write(between + (text if as_json else text.replace(",", "")).encode())
        between = b", " if as_json else b" "
    file.write(b"]\n" if as_json else b"\n")


def _write_raw(file: Writer, batches: Iterator[list[int]], raw: Raw) -> None:
    for batch in batches:
        ids = array(raw_type(raw), batch)
        if sys.byteorder == "big":
            ids.byteswap()
        file.write(ids.tobytes())


def raw_type(raw: Raw) -> str:
    """The type code of `array` for a raw format."""
    return "H" if raw is Raw.U16 else "I"


def _check_raw(chosen: Chosen, raw: Raw, output: str | None) -> None:
    greatest = chosen.tokenizer.vocab_size - 1
    if raw is Raw.U16 and greatest > 0xFFFF:
        message = (
            f"--format u16: ids of {chosen.label} go up to {greatest}, and u16 holds 65535 "
            "at most; use --format u32"
        )
        raise Usage(message)
    if output in (None, STDOUT) and sys.stdout.isatty():
        message = "--format writes binary, which a terminal cannot show; use -o FILE or a pipe"
        raise Usage(message)
