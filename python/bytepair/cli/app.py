"""The table of commands and the way in.

In: arguments. Out: an exit code. Adding a command means adding a module with a function and a line
in `COMMANDS`; help, shell completion and tests read the table.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

import bytepair
from bytepair.cli import INTERRUPTED, bench, convert, count, decode, encode, inspect, pieces, train
from bytepair.cli.failures import complain, give_up_stdout, guarded

__all__ = ["COMMANDS", "app", "run"]

COMMANDS: dict[str, Callable[..., None]] = {
    "train": train.train,
    "pieces": pieces.pieces,
    "encode": encode.encode,
    "decode": decode.decode,
    "count": count.count,
    "inspect": inspect.inspect,
    "convert": convert.convert,
    "bench": bench.bench,
}
"""Name → function; the order is that of the help."""

# What `typer.BadParameter` is a case of: wrong usage. Releases of typer differ in where it lives.
_WrongUsage: Any = typer.BadParameter.__base__

app = typer.Typer(
    name="bytepair",
    help="Byte-pair encoding: train, encode, decode, count.",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it so
    if wanted:
        print(f"bytepair {bytepair.__version__}")
        raise typer.Exit


@app.callback(epilog="`bytepair COMMAND --help` has examples. A dash is standard input or output.")
def _bytepair(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", help="Show the version.", callback=_show_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Byte-pair encoding: train, encode, decode, count."""


for _name, _function in COMMANDS.items():
    _examples = sys.modules[_function.__module__].EXAMPLES
    app.command(_name, epilog=f"Examples:\n\n{_examples}")(guarded(_function))


def run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A token or a file's name may hold what the terminal's encoding does not.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = app(
            list(arguments) or ["--help"],
            prog_name="bytepair",
            standalone_mode=False,
            windows_expand_args=False,
        )
    except _WrongUsage as error:
        message = _plainer(" ".join(error.format_message().split()).removesuffix("."))
        message += _given(error.__cause__, message)
        where = error.ctx.command_path if error.ctx is not None else "bytepair"
        complain(f"{message[:1].lower()}{message[1:]}", hint=f"{where} --help")
        return 2
    except typer.Abort:
        return INTERRUPTED
    except (BrokenPipeError, SystemExit):
        # The reader of a help has had enough; typer makes an exit of the broken pipe.
        give_up_stdout()
        return 0
    if not arguments:
        return 2
    return code if isinstance(code, int) else 0


def _given(cause: BaseException | None, message: str) -> str:
    """The value that was wrong, where the library that typer asks knows it and it is not said."""
    errors = getattr(cause, "errors", None)
    given = [f"{fault['input']!r:.40}" for fault in errors()[:1]] if errors else []
    return "".join(f", not {value}" for value in given if f": {value} " not in message)


def _plainer(message: str) -> str:
    """What typer says of a value, without the words of the library that it asks."""
    message = message.replace("Value error, ", "").replace("Input should be", "it must be")
    return re.sub(r"a valid integer(, .*)?", "a whole number", message)
