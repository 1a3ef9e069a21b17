"""How a command fails: one line on standard error and an exit code, never a traceback.

In: an exception from the library, the system or a command. Out: `error: …` and code 1; code 2 for
wrong usage, 130 for Ctrl-C, and 0 without a word when the reader of a pipe has had enough. What is
not expected here is a bug and keeps its traceback.
"""

from __future__ import annotations

import errno
import functools
import io
import os
import re
import sys
from collections.abc import Callable

import typer

from bytepair.cli import INTERRUPTED
from bytepair.errors import BytepairError

__all__ = [
    "Failure",
    "Usage",
    "complain",
    "explain",
    "give_up_stdout",
    "guarded",
    "in_options",
]


_OPTIONS = {"special_tokens": "special"}
_NO_SPECIAL = ("--special (name → id, or () for none)", "--special TOKEN=ID (or --no-special)")
_ARGUMENT = re.compile(
    r"""(?<![\w./\\'"-])(?:
        (?P<name>vocab_size|min_count|max_token_bytes|min_piece_count|memory_limit|temp_dir
          |text_field|tie_break|special_ids|(?:special_tokens|pattern|format|errors)(?==)
          |(?:special_tokens|pattern|checkpoint|threads|errors)(?=[ ]is[ ]))
        (?:(?P<equals>=)(?:"(?P<quoted>\w+)"|(?P<none>None\b))?)?
    )(?![\w./\\'"-])""",
    re.VERBOSE,
)
"""Arguments of the library that are options here, with what is said of their values."""


class Failure(Exception):
    """The command cannot do what it was asked to; the message is the line that is shown."""


class Usage(Exception):
    """The command was asked wrongly."""


def complain(message: str, *, hint: str | None = None) -> None:
    """Write an error to standard error: one line, and one more with the command that helps."""
    print(f"error: {' '.join(message.splitlines())}", file=sys.stderr)
    if hint is not None:
        print(f"see {hint}", file=sys.stderr)


def explain(error: BaseException) -> str:
    """The line for an error."""
    if isinstance(error, OSError) and error.strerror:
        reason = error.strerror[:1].lower() + error.strerror[1:]
        name = error.filename
        if name is None and error.errno == errno.ENOSPC:
            # Files that are written have names.
            name = "standard output"
        return f"{os.fsdecode(name)}: {reason}" if isinstance(name, (str, bytes)) else reason
    if isinstance(error, MemoryError):
        return "out of memory"
    return in_options(str(error)) if isinstance(error, BytepairError) else str(error)


def in_options(message: str) -> str:
    """A message of the library, with arguments spelled as options of the command line.

    >>> in_options("vocab_size is 5; give a larger one, or pattern=None")
    '--vocab-size is 5; give a larger one, or --pattern none'
    """
    return _ARGUMENT.sub(_option, message).replace(*_NO_SPECIAL)


def _option(found: re.Match[str]) -> str:
    name, equals, quoted, none = found.group("name", "equals", "quoted", "none")
    option = "--" + _OPTIONS.get(name, name).replace("_", "-")
    value = quoted or ("none" if none else "")
    return f"{option} {value}" if equals and value else option


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """The command with its errors turned into a line and an exit code."""

    @functools.wraps(command)
    def run(**options: object) -> None:
        try:
            command(**options)
            sys.stdout.flush()
        except BrokenPipeError:
            give_up_stdout()
            raise typer.Exit(0) from None
        except KeyboardInterrupt:
            give_up_stdout()
            raise typer.Exit(INTERRUPTED) from None
        except Usage as error:
            complain(str(error), hint=f"bytepair {command.__name__} --help")
            raise typer.Exit(2) from None
        # An `ImportError` names the package that is missing: none is needed but for some inputs.
        except (
            Failure,
            BytepairError,
            ImportError,
            OSError,
            UnicodeError,
            MemoryError,
        ) as error:
            _flush_or_give_up()
            complain(explain(error))
            raise typer.Exit(1) from None

    return run


def _flush_or_give_up() -> None:
    try:
        sys.stdout.flush()
    except OSError:
        give_up_stdout()


def give_up_stdout() -> None:
    """Let what is still buffered go nowhere, or the interpreter fails on it at its end."""
    try:
        descriptor = sys.stdout.fileno()
    except (io.UnsupportedOperation, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
