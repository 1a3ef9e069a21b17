"""`bytepair train`: a corpus to a tokenizer.

In: text files, globs, directories or standard input. Out: a tokenizer file and a summary.
Everything that can be wrong with the options and the place for the result is found before the
corpus is read.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import typer

import bytepair
from bytepair.cli import show
from bytepair.cli.counting import count_all
from bytepair.cli.failures import Failure, Usage, in_options
from bytepair.cli.files import Input, check_apart, expand_all, on_disk
from bytepair.cli.meter import Meter
from bytepair.cli.options import (
    Json,
    MemoryLimit,
    MinPieceCount,
    Quiet,
    TempDir,
    check_format,
    format_names,
    load,
)
from bytepair.cli.output import STDOUT, check_folder, check_kind, save, write
from bytepair.corpus.files import CORPUS_SUFFIXES, kind, packing
from bytepair.corpus.remote import is_url
from bytepair.counts import is_counts_file
from bytepair.errors import ArgumentError, CorpusError, PatternError, TrainingWarning

__all__ = ["SpecialIds", "TieBreak", "train"]

EXAMPLES = (
    "bytepair train corpus.txt --vocab-size 8000 -o my.json\n\n"
    "bytepair train docs/ '*.md' --vocab-size 32000 -o my.json --pattern o200k "
    "--special '<|endoftext|>' --special '<|user|>'\n\n"
    "xzcat corpus.xz | bytepair train - --vocab-size 8000 -o my.json --quiet"
)

DEFAULT_SPECIAL = "<|endoftext|>"
_SAMPLE = 1_000_000
"""Bytes of the corpus on which compression is measured."""


class TieBreak(str, Enum):
    """Which of several equally frequent pairs is merged."""

    LEXICOGRAPHIC = "lexicographic"
    LOWEST_IDS = "lowest_ids"
    HUGGINGFACE = "huggingface"
    FIRST_SEEN = "first_seen"


class SpecialIds(str, Enum):
    """Where special tokens have their ids."""

    AFTER_BYTES = "after_bytes"
    FIRST = "first"
    LAST = "last"


class Errors(str, Enum):
    """What to do with bytes that are not UTF-8."""

    STRICT = "strict"
    REPLACE = "replace"
    IGNORE = "ignore"


class _Options(NamedTuple):
    """What the library is asked for."""

    vocab_size: int
    special: list[str]
    pattern: str | None
    tie_break: Literal["lexicographic", "lowest_ids", "huggingface", "first_seen"]
    special_ids: Literal["after_bytes", "first", "last"]
    min_count: int
    max_token_bytes: int | None
    threads: int | None
    text_field: str = "text"
    errors: Literal["strict", "replace", "ignore"] = "strict"
    base: bytepair.Tokenizer | None = None
    memory_limit: str | None = None
    temp_dir: str | None = None
    min_piece_count: int = 1
    checkpoint: str | None = None


class _Trained(NamedTuple):
    tokenizer: bytepair.Tokenizer
    corpus_bytes: int | None
    pieces: int
    bytes_per_token: float | None
    count_seconds: float
    learn_seconds: float
    warnings: list[str]


def train(
    *,
    corpus: Annotated[
        list[str],
        typer.Argument(
            metavar="CORPUS",
            help="Files (text, .jsonl, .parquet, .arrow, each also .gz, .bz2, .xz, .zst), globs, "
            "directories, URLs, counts made by `pieces`, or a dash.",
        ),
    ],
    vocab_size: Annotated[
        int,
        typer.Option(
            "--vocab-size",
            "-n",
            min=1,
            metavar="N",
            help="How many tokens: the 256 bytes, the special tokens and the merges.",
        ),
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="OUT", help="Where to save the tokenizer; - is stdout."
        ),
    ],
    special: Annotated[
        list[str] | None,
        typer.Option(
            "--special",
            metavar="TOKEN",
            help="A special token, taken literally; give it once for each.",
            show_default=DEFAULT_SPECIAL,
        ),
    ] = None,
    no_special: Annotated[
        bool, typer.Option("--no-special", help="No special tokens at all.")
    ] = False,
    pattern: Annotated[
        str,
        typer.Option(
            metavar="PATTERN",
            help=f"How text is cut into pieces: a name ({', '.join(bytepair.patterns.names())}), "
            "a regular expression, or none.",
        ),
    ] = "gpt2",
    tie_break: Annotated[
        TieBreak, typer.Option(help="Which of several equally frequent pairs is merged.")
    ] = TieBreak.LEXICOGRAPHIC,
    special_ids: Annotated[
        SpecialIds, typer.Option(help="Where special tokens have their ids.")
    ] = SpecialIds.AFTER_BYTES,
    min_count: Annotated[
        int, typer.Option(min=1, metavar="N", help="The least count of a pair that is merged.")
    ] = 1,
    max_token_bytes: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="The longest token, in bytes.")
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="How many threads count; the result is the same.",
            show_default="one for each core",
        ),
    ] = None,
    text_field: Annotated[
        str,
        typer.Option(metavar="FIELD", help="Field of JSON lines, column of tables: the text."),
    ] = "text",
    errors: Annotated[
        Errors, typer.Option(help="What to do with bytes that are not UTF-8.")
    ] = Errors.STRICT,
    base: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="A tokenizer to go on from: its ids and merges, pattern and special tokens stay.",
        ),
    ] = None,
    memory_limit: MemoryLimit = None,
    temp_dir: TempDir = None,
    min_piece_count: MinPieceCount = 1,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Keep counts and merges here; the same command goes on from there.",
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="The format of the file.",
            show_default="native",
            autocompletion=format_names,
        ),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train a tokenizer on text and save it. A file that is there is replaced."""
    if special and no_special:
        message = "--special and --no-special exclude each other"
        raise Usage(message)
    if as_json and output == STDOUT:
        message = "--json and -o - both want standard output"
        raise Usage(message)
    start = None if base is None else load(base, "--base")
    own = [DEFAULT_SPECIAL] if start is None else list(start.special_tokens)
    options = _Options(
        vocab_size,
        [] if no_special else special or own,
        None if pattern == "none" else pattern,
        tie_break.value,
        special_ids.value,
        min_count,
        max_token_bytes,
        threads,
        text_field,
        errors.value,
        start,
        memory_limit,
        temp_dir,
        min_piece_count,
        checkpoint,
    )
    check_format(format, "--format")
    _rehearse(options, output, format)
    inputs = expand_all(corpus, suffixes=CORPUS_SUFFIXES)
    check_apart([*inputs, *([Input(base)] if base else [])], output)
    trained = _train(inputs, options, quiet=quiet)
    _save(trained.tokenizer, output, format)
    for warning in trained.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if as_json:
        print(json.dumps(_summary(trained, output, format), ensure_ascii=False))
    elif not quiet:
        stream = sys.stderr if output == STDOUT else sys.stdout
        print(_readable_summary(trained, len(inputs), output, format), file=stream)


def _learn(
    corpus: bytepair.PieceCounts | Sequence[str], options: _Options, meter: Meter
) -> bytepair.Tokenizer:
    return bytepair.train(
        corpus,
        options.vocab_size,
        special_tokens=options.special,
        pattern=options.pattern,
        tie_break=options.tie_break,
        special_ids=options.special_ids,
        min_count=options.min_count,
        max_token_bytes=options.max_token_bytes,
        base=options.base,
        report=True,
        text_field=options.text_field,
        errors=options.errors,
        memory_limit=options.memory_limit,
        temp_dir=options.temp_dir,
        min_piece_count=options.min_piece_count,
        checkpoint=options.checkpoint,
        threads=options.threads,
        progress=meter.hear,
    )


def _corpus(paths: Sequence[str], options: _Options) -> bytepair.PieceCounts | Sequence[str]:
    """What training reads: the files, or the counts that some of them hold added up."""
    if paths and not any(map(is_counts_file, paths)):
        return paths
    base = options.base
    return count_all(
        paths,
        pattern=options.pattern if base is None else base.pattern,
        special_tokens=options.special,
        text_field=options.text_field,
        errors=options.errors,
        threads=options.threads,
        keep_order=options.tie_break == "first_seen",
        memory_limit=options.memory_limit,
        temp_dir=options.temp_dir,
    )


def _rehearse(options: _Options, output: str, format: str | None) -> None:
    """Train on nothing and save it elsewhere: what is wrong with the options shows at once."""
    with tempfile.TemporaryDirectory(prefix="bytepair-") as folder:
        # The name's ending may say that it is of another format.
        written = Path(folder, f"rehearsal{'' if output == STDOUT else Path(output).suffix}")
        try:
            options = options._replace(checkpoint=None)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", TrainingWarning)
                tokenizer = _learn(_corpus([], options), options, Meter("", quiet=True))
                tokenizer.save(written, format=format)
        except (ArgumentError, PatternError) as error:
            raise Usage(in_options(str(error).replace(str(written), output))) from None
        if output == STDOUT:
            if written.is_dir():
                message = f"-o -: the format {format} is a directory of files; name one"
                raise Usage(message)
            return
        check_folder(output)
        check_kind(output, written)


def _train(inputs: Sequence[Input], options: _Options, *, quiet: bool) -> _Trained:
    with ExitStack() as stack:
        files = [stack.enter_context(on_disk(input)) for input in inputs]
        paths = [file.path for file in files]
        stack.enter_context(_named_as_given(files))
        meter = stack.enter_context(Meter("counting", quiet=quiet))
        caught = stack.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always", TrainingWarning)
        began = time.perf_counter()
        corpus = _corpus(paths, options)
        counted = time.perf_counter() - began
        tokenizer = _learn(corpus, options, meter)
        report = tokenizer.training_report
        sizes = [file.size for file in files]
        return _Trained(
            tokenizer,
            None if None in sizes else sum(size for size in sizes if size is not None),
            report.pieces if report else 0,
            _bytes_per_token(tokenizer, paths[0]) if _is_text(paths[0]) else _overall(tokenizer),
            counted + (report.count_seconds if report else 0.0),
            report.learn_seconds if report else 0.0,
            [str(warning.message) for warning in caught],
        )


@contextmanager
def _named_as_given(files: Sequence[Input]) -> Iterator[None]:
    """Errors name the input, not the copy that was made of it."""
    try:
        yield
    except CorpusError as error:
        message = str(error)
        for file in files:
            if file.copy_of is not None:
                message = message.replace(file.path, file.copy_of)
        raise Failure(in_options(message)) from None


def _bytes_per_token(tokenizer: bytepair.Tokenizer, path: str) -> float | None:
    """How many bytes a token stands for, on the beginning of the corpus."""
    with open(path, "rb") as file:
        text = file.read(_SAMPLE).decode(errors="ignore")
    tokens = tokenizer.count(text)
    return len(text.encode()) / tokens if tokens else None


def _is_text(path: str) -> bool:
    return not kind(path) and not packing(path) and not is_url(path)


def _overall(tokenizer: bytepair.Tokenizer) -> float | None:
    """How many bytes a token stands for, on the whole corpus, as training saw it."""
    report = tokenizer.training_report
    return report[-1].bytes_per_token if report else None


def _save(tokenizer: bytepair.Tokenizer, output: str, format: str | None) -> None:
    if output != STDOUT:
        save(tokenizer, output, format)
        return
    write(tokenizer, format)


def _longest(tokenizer: bytepair.Tokenizer) -> list[bytes]:
    special = set(tokenizer.special_tokens.values())
    plain = ((id, token) for id, token in tokenizer.vocab.items() if id not in special)
    return [token for _, token in show.longest(plain, 5)]


def _summary(trained: _Trained, output: str, format: str | None) -> dict[str, Any]:
    from bytepair.formats.native import escape

    tokenizer = trained.tokenizer
    report = tokenizer.training_report
    return {
        "output": output,
        "format": format or "native",
        "vocab_size": tokenizer.vocab_size,
        "merges": len(tokenizer.merges),
        "special_tokens": tokenizer.special_tokens,
        "fingerprint": tokenizer.fingerprint,
        "corpus_bytes": trained.corpus_bytes,
        "pieces": trained.pieces,
        "bytes_per_token": trained.bytes_per_token,
        "report": report.summary() if report is not None else None,
        "longest_tokens": [escape(token) for token in _longest(tokenizer)],
        "seconds": {"count": trained.count_seconds, "learn": trained.learn_seconds},
        "warnings": trained.warnings,
    }


def _readable_summary(trained: _Trained, files: int, output: str, format: str | None) -> str:
    tokenizer = trained.tokenizer
    size = trained.corpus_bytes
    rate = "" if size is None else show.quantity(size / max(trained.count_seconds, 1e-9), "bytes")
    special = len(tokenizer.special_tokens)
    rows = [
        ("tokens", f"{tokenizer.vocab_size:,} (256 bytes, {special} special, "
         f"{len(tokenizer.merges):,} merges)"),
        ("corpus", (f"{show.quantity(size, 'bytes')} in " if size is not None else "")
         + f"{files:,} file{'s'[: files != 1]}, {trained.pieces:,} different pieces"),
        ("time", f"counting {trained.count_seconds:.2f} s{rate and f' ({rate}/s)'}, "
         f"learning {trained.learn_seconds:.2f} s"),
        ("longest", show.tokens(_longest(tokenizer))),
    ]  # fmt: skip
    if trained.bytes_per_token is not None:
        sample = show.quantity(min(size or _SAMPLE, _SAMPLE), "bytes")
        ratio = f"{trained.bytes_per_token:.2f} on the first {sample} of the corpus"
        rows.insert(2, ("bytes/token", ratio))
    if output != STDOUT:
        rows.append(("saved", f"{output} ({format or 'native'})"))
    return "trained\n" + show.lines(rows)
