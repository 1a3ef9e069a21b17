"""`bytepair convert`: a tokenizer in another format.

In: a tokenizer file or the name of an encoding. Out: the file in the format asked for, read back
and found to give the same ids before it takes its name. What a format cannot hold is refused.
"""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

import bytepair
from bytepair.cli.failures import Failure, Usage
from bytepair.cli.options import (
    Encoding,
    Json,
    Model,
    Quiet,
    TokenizerPath,
    check_format,
    choose,
    format_names,
)
from bytepair.cli.output import check_folder, save
from bytepair.cli.probe import difference

__all__ = ["convert"]

EXAMPLES = (
    "bytepair convert my.json gpt2-files/ --to gpt2\n\n"
    "bytepair convert gpt2-files/ my.json --from gpt2 --to native\n\n"
    "bytepair convert -e cl100k_base cl100k.json --to native"
)


def convert(
    *,
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="[IN] OUT",
            help="The tokenizer to read, unless an option names it, and where to write.",
            show_default=False,
        ),
    ],
    to: Annotated[
        str,
        typer.Option(
            "--to", metavar="FORMAT", help="The format to write.", autocompletion=format_names
        ),
    ],
    source_format: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FORMAT",
            help="The format to read.",
            show_default="found out",
            autocompletion=format_names,
        ),
    ] = None,
    encoding: Encoding = None,
    model: Model = None,
    tokenizer: TokenizerPath = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a tokenizer in another format, and check that what was written gives the same ids."""
    check_format(to, "--to")
    check_format(source_format, "--from")
    named = encoding is not None or model is not None or tokenizer is not None
    if len(paths) != (1 if named else 2):
        wanted = "OUT alone, since an option names the tokenizer" if named else "IN and OUT"
        message = f"{len(paths)} paths are given; convert takes {wanted}"
        raise Usage(message)
    source, target = paths[0], paths[-1]
    if named and (tokenizer is None or source_format is None):
        chosen = choose(encoding, model, tokenizer)
        label, loaded = chosen.label, chosen.tokenizer
    else:
        label = tokenizer or source
        loaded = bytepair.Tokenizer.load(label, format=source_format)
    check_folder(target)

    def check(path: str) -> None:
        different = difference(loaded, bytepair.Tokenizer.load(path, format=to))
        if different is not None:
            message = f"{to} does not keep this tokenizer: {different}; nothing was written"
            raise Failure(message)

    save(loaded, target, to, check)
    if as_json:
        facts = {
            "source": label,
            "output": target,
            "format": to,
            "vocab_size": loaded.vocab_size,
            "same_ids": True,
        }
        print(json.dumps(facts, ensure_ascii=False))
    elif not quiet:
        print(f"{label} → {target} ({to}); read back, it gives the same ids", file=sys.stdout)
