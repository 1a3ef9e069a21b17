"""`bytepair count`: how many tokens, as `wc` counts words.

In: files or standard input, and one tokenizer or several. Out: a row for each file and their
total, a column for each tokenizer. A file that cannot be read costs an error and exit code 1; the
rest is still counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from itertools import chain, islice
from typing import NamedTuple

import typer

from bytepair import Tokenizer
from bytepair._types import Allowed
from bytepair.cli.failures import Failure, Usage, complain, explain
from bytepair.cli.files import CHUNK, STDIN, Input, expand, on_disk, total_size
from bytepair.cli.meter import Meter
from bytepair.cli.notes import SpecialNote
from bytepair.cli.options import (
    DEFAULT_ENCODING,
    AllowSpecial,
    Chosen,
    Encodings,
    Files,
    Json,
    Models,
    Quiet,
    TokenizerPaths,
    choose_all,
)
from bytepair.corpus.files import TEXT_SUFFIXES
from bytepair.errors import BytepairError

__all__ = ["count"]

EXAMPLES = (
    "bytepair count *.md\n\n"
    "bytepair count -e gpt2 -e o200k_base docs/\n\n"
    "cat prompt.txt | bytepair count -m gpt-4o"
)

_WHOLE = 1 << 23
"""Bytes of a file that is read whole, which is faster; a larger one is streamed."""
_BATCH = 1 << 16


class _Row(NamedTuple):
    path: str
    bytes: int
    tokens: list[int]


def count(
    *,
    files: Files = None,
    encodings: Encodings = None,
    models: Models = None,
    tokenizers: TokenizerPaths = None,
    allow_special: AllowSpecial = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Count tokens: for each file and in total, like wc. The default encoding is o200k_base.

    Name several tokenizers to compare them in columns. Of a directory, the .txt and .md files are
    counted. Special tokens in the text are plain text unless --allow-special is given;
    Tokenizer.count recognises them by default.
    """
    chosen = choose_all(encodings or [], models or [], tokenizers or [], default=DEFAULT_ENCODING)
    inputs, failures = _inputs(files or [])
    several = len(inputs) + failures > 1
    rows: list[_Row] = []
    size = total_size(inputs)
    note = SpecialNote(on=not (allow_special or quiet))
    with Meter("counting", size and size * len(chosen), quiet=quiet) as meter:
        for input in inputs:
            try:
                rows.append(_count_one(input, chosen, meter, note, allow_special=allow_special))
            except (Failure, BytepairError, ImportError, OSError) as error:
                failures += 1
                complain(explain(error))
    _show(rows, chosen, as_json=as_json, with_total=several)
    note.write()
    if failures:
        raise typer.Exit(1)


def _inputs(arguments: Sequence[str]) -> tuple[list[Input], int]:
    """The inputs that are there, and how many are not, of which the user is told."""
    if list(arguments).count(STDIN) > 1:
        message = "standard input is named twice; it can be read once"
        raise Usage(message)
    found: list[Input] = []
    failures = 0
    for argument in arguments or [STDIN]:
        try:
            found += expand(argument, suffixes=TEXT_SUFFIXES)
        except Failure as error:
            failures += 1
            complain(str(error))
    return found, failures


def _count_one(
    input: Input,
    chosen: Sequence[Chosen],
    meter: Meter,
    note: SpecialNote,
    *,
    allow_special: bool,
) -> _Row:
    size = 0

    def advance(bytes: int) -> None:
        nonlocal size
        size += bytes
        meter.advance(bytes)

    once = nullcontext(input) if len(chosen) == 1 else on_disk(input)
    with once as source:
        tokens = [
            _tokens(
                tokenizer,
                note.watch(tokenizer, source.text(advance), source.name),
                allow_special=allow_special,
            )
            for _, tokenizer in chosen
        ]
    return _Row(input.path, size // len(chosen), tokens)


def _tokens(tokenizer: Tokenizer, chunks: Iterator[str], *, allow_special: bool) -> int:
    allowed: Allowed = "all" if allow_special else ()
    head = list(islice(chunks, _WHOLE // CHUNK))
    more = next(chunks, None)
    if more is None:
        number: int = tokenizer.count("".join(head), allowed_special=allowed)
        return number
    ids = tokenizer.encode_iterable(chain(head, [more], chunks), allowed_special=allowed)
    number = 0
    while batch := len(list(islice(ids, _BATCH))):
        number += batch
    return number


def _show(
    rows: Sequence[_Row], chosen: Sequence[Chosen], *, as_json: bool, with_total: bool
) -> None:
    labels = _labels(chosen)
    total = [sum(numbers) for numbers in zip(*(row.tokens for row in rows), strict=True)]
    total = total or [0] * len(chosen)
    if as_json:
        files = [
            {"path": row.path, "bytes": row.bytes, "tokens": _by_label(labels, row.tokens)}
            for row in rows
        ]
        sums = {"bytes": sum(row.bytes for row in rows), "tokens": _by_label(labels, total)}
        print(json.dumps({"files": files, "total": sums}, ensure_ascii=False))
        return
    table = [(list(map(str, row.tokens)), "" if row.path == STDIN else row.path) for row in rows]
    if with_total:
        table.append((list(map(str, total)), "total"))
    if len(chosen) > 1:
        table.insert(0, (labels, ""))
    widths = [max(map(len, cells)) for cells in zip(*(cells for cells, _ in table), strict=True)]
    for cells, path in table:
        numbers = "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        print(f"{numbers}  {path}" if path else numbers)


def _labels(chosen: Sequence[Chosen]) -> list[str]:
    """A name for each column; one that comes twice is numbered."""
    labels: list[str] = []
    for label, _ in chosen:
        same = [label, *(f"{label} ({number})" for number in range(2, len(chosen) + 1))]
        labels.append(next(name for name in same if name not in labels))
    return labels


def _by_label(labels: Sequence[str], numbers: Sequence[int]) -> dict[str, int]:
    return dict(zip(labels, numbers, strict=True))
