"""Options that several commands share, and the choice of a tokenizer.

In: option values. Out: a `Tokenizer` with the name to show for it. Loading is the library's.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

import bytepair
from bytepair._names import did_you_mean
from bytepair.cli.failures import Usage
from bytepair.encodings import MODELS

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from bytepair.formats import LoadOptions

__all__ = [
    "DEFAULT_ENCODING",
    "AllowSpecial",
    "Chosen",
    "Encoding",
    "Encodings",
    "Files",
    "Json",
    "MemoryLimit",
    "MinPieceCount",
    "Model",
    "Models",
    "Output",
    "Quiet",
    "TempDir",
    "TokenizerPath",
    "TokenizerPaths",
    "check_format",
    "choose",
    "choose_all",
    "format_names",
    "load",
]

DEFAULT_ENCODING = "o200k_base"
"""What `count` and `bench` use when no tokenizer is named."""

_PANEL = "Tokenizer"
_ENCODING = typer.Option(
    "--encoding",
    "-e",
    metavar="NAME",
    help=f"A bundled encoding: {', '.join(bytepair.list_encodings())}.",
    autocompletion=bytepair.list_encodings,
    rich_help_panel=_PANEL,
)
_MODEL = typer.Option(
    "--model",
    "-m",
    metavar="MODEL",
    help="The encoding of an OpenAI model, such as gpt-4o.",
    rich_help_panel=_PANEL,
)
_PATH = typer.Option(
    "--tokenizer",
    "-t",
    metavar="PATH",
    help="A tokenizer file (or directory), such as one that `train` wrote.",
    rich_help_panel=_PANEL,
)

Encoding = Annotated[str | None, _ENCODING]
Model = Annotated[str | None, _MODEL]
TokenizerPath = Annotated[str | None, _PATH]
Encodings = Annotated[list[str] | None, _ENCODING]
Models = Annotated[list[str] | None, _MODEL]
TokenizerPaths = Annotated[list[str] | None, _PATH]
Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE",
        help="Files or globs; a dash, or none, is standard input.",
        show_default=False,
    ),
]
AllowSpecial = Annotated[
    bool,
    typer.Option(
        "--allow-special",
        help="Recognise special tokens in the text. Without it they are plain text, "
        "which is right for text from strangers.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Write JSON, for programs.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no summary.")]
MemoryLimit = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="The most memory to hold, as 2GB; counts without room go to a temporary folder.",
    ),
]
TempDir = Annotated[
    str | None, typer.Option(metavar="FOLDER", help="Where the temporary folder is made.")
]
MinPieceCount = Annotated[
    int,
    typer.Option(min=1, metavar="N", help="Leave out pieces that occur more rarely (inexact)."),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write here instead of to standard output; the file appears when it is complete.",
    ),
]


class Chosen(NamedTuple):
    """A tokenizer and the name to show for it."""

    label: str
    tokenizer: bytepair.Tokenizer


def choose(
    encoding: str | None, model: str | None, path: str | None, *, default: str | None = None
) -> Chosen:
    """The one tokenizer that the three options name.

    Raises `Usage` when they name none (and there is no default) or more than one.
    """
    chosen = choose_all(
        [] if encoding is None else [encoding],
        [] if model is None else [model],
        [] if path is None else [path],
        default=default,
        most=1,
    )
    return chosen[0]


def choose_all(
    encodings: list[str],
    models: list[str],
    paths: list[str],
    *,
    default: str | None = None,
    most: int | None = None,
) -> list[Chosen]:
    """The tokenizers that the options name, at least one and at most `most`."""
    number = len(encodings) + len(models) + len(paths)
    if number == 0 and default is not None:
        encodings = [default]
    elif number == 0 or (most is not None and number > most):
        given = "no tokenizer" if number == 0 else "more than one tokenizer"
        message = (
            f"{given} is given: use one of -e NAME (bundled, as -e o200k_base), "
            "-m MODEL (as -m gpt-4o) or -t PATH (a tokenizer file)"
        )
        raise Usage(message)
    return [
        *(Chosen(name, _encoding(name)) for name in encodings),
        *(_for_model(name) for name in models),
        *(Chosen(path, load(path)) for path in paths),
    ]


def load(
    path: str, option: str = "", *, format: str | None = None, **options: Unpack[LoadOptions]
) -> bytepair.Tokenizer:
    """The tokenizer in a file; `option` is where its path was given, if that has to be said.

    Raises `Usage` for a dash, and for the name of an encoding where no file has it.
    """
    given = f"{option} {path}" if option else path
    if path == "-":
        message = (
            f"{given}: a tokenizer is not read from standard input; save it to a file and name "
            "that (./- if it is called so)"
        )
        raise Usage(message)
    if path in bytepair.list_encodings() and not os.path.lexists(path):
        way_out = f"-e {path} is the bundled encoding"
        if option == "--base":
            file = f"{path}.json"
            way_out = (
                f"`bytepair convert -e {path} {file} --to native` writes one for --base {file}"
            )
        message = f"{given}: there is no file of this name; {way_out}"
        raise Usage(message)
    return bytepair.Tokenizer.load(path, format=format, **options)


def _encoding(name: str) -> bytepair.Tokenizer:
    names = bytepair.list_encodings()
    if name not in names:
        hint = did_you_mean(name, names)
        message = f"--encoding: unknown encoding {name!r}; the names are {', '.join(names)}{hint}"
        raise Usage(message)
    return bytepair.get_encoding(name)


def _for_model(model: str) -> Chosen:
    try:
        tokenizer = bytepair.encoding_for_model(model)
    except KeyError:
        names = ", ".join(bytepair.list_encodings())
        hint = did_you_mean(model, MODELS)
        message = f"--model: no encoding is known for {model!r}; name it with -e: {names}{hint}"
        raise Usage(message) from None
    return Chosen(tokenizer.name or model, tokenizer)


def format_names() -> list[str]:
    """The names of the tokenizer formats."""
    from bytepair import formats

    return formats.names()


def check_format(name: str | None, option: str) -> None:
    """Raise `Usage` unless `name` is a format or `None`."""
    if name is not None and name not in format_names():
        names = format_names()
        hint = did_you_mean(name, names)
        message = f"{option}: unknown format {name!r}; the formats are {', '.join(names)}{hint}"
        raise Usage(message)
