"""`bytepair bench`: how fast this machine encodes, counts and decodes.

In: a text file, or the sample corpus of the package. Out: MB/s and tokens/s of each operation on
one thread: the best of several runs, caches warm. With `--compare`, other libraries beside it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from importlib.resources import files
from typing import Annotated, NamedTuple

import typer

from bytepair import Tokenizer
from bytepair.cli.failures import Failure
from bytepair.cli.files import Input, expand
from bytepair.cli.meter import Meter
from bytepair.cli.options import (
    DEFAULT_ENCODING,
    Encoding,
    Json,
    Model,
    Quiet,
    TokenizerPath,
    choose,
)
from bytepair.cli.rivals import RIVALS, NotComparable, rival

__all__ = ["bench"]

EXAMPLES = "bytepair bench\n\nbytepair bench corpus.txt -t my.json --compare"

_LONGEST = 1 << 25
"""Bytes of the file that are used."""
_LEAST_RUNS = 3


class _Row(NamedTuple):
    name: str
    seconds: float


def bench(
    *,
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help="A text file, of which the first 32 MiB are used; a dash is standard input.",
            show_default="the sample corpus",
        ),
    ] = None,
    encoding: Encoding = None,
    model: Model = None,
    tokenizer: TokenizerPath = None,
    seconds: Annotated[
        float,
        typer.Option(min=0.0, metavar="S", help="How long each measurement goes on, at the least."),
    ] = 1.0,
    compare: Annotated[
        bool,
        typer.Option(
            "--compare", help=f"Measure {' and '.join(RIVALS)} too, where they are installed."
        ),
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure encode, count and decode on one thread. The default encoding is o200k_base."""
    chosen = choose(encoding, model, tokenizer, default=DEFAULT_ENCODING)
    source, text = _text(file)
    size = len(text.encode())
    tokens = chosen.tokenizer.count(text, allowed_special=())
    if not tokens:
        message = f"{source}: is empty; there is nothing to measure"
        raise Failure(message)
    work, skipped = _work(chosen.tokenizer, text, compare=compare)
    rows = []
    with Meter("measuring", len(work), quiet=quiet, unit="operations") as meter:
        for name, function in work.items():
            rows.append(_Row(name, _best(function, seconds)))
            meter.advance(1)
    if as_json:
        results = [
            {
                "name": row.name,
                "seconds": row.seconds,
                "mb_per_second": size / row.seconds / 1e6,
                "tokens_per_second": tokens / row.seconds,
            }
            for row in rows
        ]
        facts = {
            "source": source,
            "bytes": size,
            "tokens": tokens,
            "tokenizer": chosen.label,
            "results": results,
            "skipped": skipped,
        }
        print(json.dumps(facts, ensure_ascii=False))
        return
    print(f"{source}: {size:,} bytes, {tokens:,} tokens of {chosen.label}; one thread, best run")
    width = max(len(row.name) for row in rows)
    for row in rows:
        rate = f"{size / row.seconds / 1e6:8.1f} MB/s  {tokens / row.seconds / 1e6:7.2f} M tokens/s"
        print(f"  {row.name.ljust(width)}  {rate}")
    for name, reason in skipped.items():
        print(f"  {name} is left out: {reason}")


def _text(file: str | None) -> tuple[str, str]:
    """The name of the text and the text."""
    if file is None:
        sample = files("bytepair") / "data" / "sample_corpus.txt"
        return "the sample corpus", sample.read_bytes().decode()
    inputs = expand(file)
    if len(inputs) > 1:
        message = f"{file}: matches {len(inputs)} files; bench measures one"
        raise Failure(message)
    return inputs[0].name, "".join(_beginning(inputs[0]))


def _beginning(input: Input) -> list[str]:
    chunks: list[str] = []
    size = 0

    def advance(bytes: int) -> None:
        nonlocal size
        size += bytes

    for chunk in input.text(advance):
        chunks.append(chunk)
        if size >= _LONGEST:
            break
    return chunks


def _work(
    tokenizer: Tokenizer, text: str, *, compare: bool
) -> tuple[dict[str, Callable[[], object]], dict[str, str]]:
    """What to measure, and what cannot be measured, with the reason."""
    ids = tokenizer.encode_ordinary(text)
    work: dict[str, Callable[[], object]] = {
        "encode": lambda: tokenizer.encode_ordinary(text),
        "encode_numpy": lambda: tokenizer.encode_numpy(text, allowed_special=()),
        "count": lambda: tokenizer.count(text, allowed_special=()),
        "decode": lambda: tokenizer.decode(ids),
    }
    skipped: dict[str, str] = {}
    try:
        import numpy  # noqa: F401 - only whether it is there matters
    except ImportError:
        del work["encode_numpy"]
        skipped["encode_numpy"] = "NumPy is not installed"
    if compare:
        for name in RIVALS:
            try:
                other = rival(name, tokenizer, text)
            except NotComparable as error:
                skipped[name] = str(error)
            else:
                work[f"{name} encode"] = partial(other, text)
    return work, skipped


def _best(function: Callable[[], object], seconds: float) -> float:
    """The time of the fastest run, after one that warms the caches."""
    function()
    best = float("inf")
    began = time.perf_counter()
    runs = 0
    while runs < _LEAST_RUNS or time.perf_counter() - began < seconds:
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
        runs += 1
    return best
