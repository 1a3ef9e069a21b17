"""`bytepair pieces`: count pieces on one machine or many, and add the counts up.

In: a corpus, and files of counts made before. Out: one file of counts, for `bytepair train`, and a
summary.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import Annotated

import typer

import bytepair
from bytepair.cli import show
from bytepair.cli.counting import count_all
from bytepair.cli.failures import Usage, in_options
from bytepair.cli.files import check_apart, expand_all, on_disk
from bytepair.cli.meter import Meter
from bytepair.cli.options import Json, MemoryLimit, MinPieceCount, Quiet, TempDir
from bytepair.cli.output import check_folder
from bytepair.cli.train import DEFAULT_SPECIAL, Errors, _named_as_given
from bytepair.corpus.files import CORPUS_SUFFIXES
from bytepair.counts import is_counts_file
from bytepair.errors import ArgumentError, PatternError

__all__ = ["pieces"]

EXAMPLES = (
    "bytepair pieces shard-1.jsonl.gz -o one.parquet\n\n"
    "bytepair pieces one.parquet two.parquet -o all.parquet\n\n"
    "bytepair train all.parquet --vocab-size 32000 -o my.json"
)

_DEFAULT_PATTERN = "gpt2"


def pieces(
    *,
    corpus: Annotated[
        list[str],
        typer.Argument(
            metavar="CORPUS", help="A corpus, as for train, and files of counts, which are added."
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="OUT", help="Where to save the counts (.parquet)."),
    ] = None,
    special: Annotated[
        list[str] | None,
        typer.Option("--special", metavar="TOKEN", show_default=DEFAULT_SPECIAL,
                     help="A special token, at which text is cut; give it once for each."),
    ] = None,
    no_special: Annotated[bool, typer.Option("--no-special", help="No special tokens.")] = False,
    pattern: Annotated[
        str, typer.Option(metavar="PATTERN", help="How text is cut: a name, a regex, or none.")
    ] = _DEFAULT_PATTERN,
    text_field: Annotated[
        str, typer.Option(metavar="FIELD", help="Field of JSON lines, column of tables: the text.")
    ] = "text",
    errors: Annotated[
        Errors, typer.Option(help="What to do with bytes that are not UTF-8.")
    ] = Errors.STRICT,
    threads: Annotated[int | None, typer.Option(min=1, metavar="N")] = None,
    memory_limit: MemoryLimit = None,
    temp_dir: TempDir = None,
    min_piece_count: MinPieceCount = 1,
    top: Annotated[
        int, typer.Option(min=0, metavar="N", help="How many of the commonest pieces to show.")
    ] = 10,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:  # fmt: skip
    """Count the pieces of a corpus, add up counts, and save them for train."""
    if special and no_special:
        message = "--special and --no-special exclude each other"
        raise Usage(message)
    if output is not None:
        if not output.lower().endswith(".parquet"):
            message = f"--output: {output}: the name of a file of counts ends in .parquet"
            raise Usage(message)
        check_folder(output)
    options = {
        "pattern": None if pattern == "none" else pattern,
        "special_tokens": [] if no_special else special or [DEFAULT_SPECIAL],
        "text_field": text_field,
        "errors": errors.value,
        "threads": threads,
        "memory_limit": memory_limit,
        "temp_dir": temp_dir,
    }
    try:
        count_all([], **options)
    except (ArgumentError, PatternError) as error:
        raise Usage(in_options(str(error))) from None
    with ExitStack() as stack:
        inputs = expand_all(corpus, suffixes=CORPUS_SUFFIXES)
        check_apart(inputs, output)
        files = [stack.enter_context(on_disk(input)) for input in inputs]
        paths = [file.path for file in files]
        meter = stack.enter_context(Meter("counting", quiet=quiet))
        stack.enter_context(_named_as_given(files))
        counts = count_all(paths, progress=meter.hear, **options)
        # Of all together: a piece that is rare in each part may not be in the sum.
        counts = bytepair.count_pieces(counts, min_piece_count=min_piece_count)
    added = sum(map(is_counts_file, paths))
    if output is not None:
        counts.save(output)
    if as_json:
        print(json.dumps(_summary(counts, output, top), ensure_ascii=False))
    elif not quiet:
        print(_readable(counts, output, top, len(paths), added))


def _summary(counts: bytepair.PieceCounts, output: str | None, top: int) -> dict[str, object]:
    from bytepair.formats.native import escape

    return {
        "output": output,
        "pieces": len(counts),
        "total": counts.total(),
        "pattern": counts.pattern,
        "special_tokens": list(counts.special_tokens),
        "top": [[escape(piece), count] for piece, count in counts.most_common(top)],
    }


def _readable(
    counts: bytepair.PieceCounts, output: str | None, top: int, files: int, added: int
) -> str:
    rows = [
        ("pieces", f"{len(counts):,} different, {counts.total():,} in all"),
        ("from", f"{files:,} file{'s'[: files != 1]}, {added:,} of counts"),
    ]
    if top:
        pieces = show.tokens([piece for piece, _ in counts.most_common(top)])
        rows.append(("commonest", pieces or "none"))
    if output is not None:
        rows.append(("saved", output))
    return "counted\n" + show.lines(rows)
