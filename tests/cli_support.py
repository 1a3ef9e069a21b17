"""Running the command line in tests.

In: arguments and standard input. Out: exit code, standard output and standard error, as bytes.
`cli` runs in this process, which is fast and counts for coverage; `spawn` runs the real command.
"""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from bytepair.cli import main

SAMPLE = Path(__file__).parent.parent / "python" / "bytepair" / "data" / "sample_corpus.txt"
SPECIAL_NOTE = "note: special tokens in the text were taken as plain text"
COMMAND = [sys.executable, "-m", "bytepair"]


class Done(NamedTuple):
    """What a command did."""

    code: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        """Standard output as text."""
        return self.out.decode()

    @property
    def error(self) -> str:
        """Standard error as text."""
        return self.err.decode()


def cli(*arguments: object, stdin: bytes = b"") -> Done:
    """Run a command in this process."""
    source, out, err = io.BytesIO(stdin), io.BytesIO(), io.BytesIO()
    streams = {
        "stdin": io.TextIOWrapper(source, encoding="utf-8"),
        "stdout": io.TextIOWrapper(out, encoding="utf-8"),
        "stderr": io.TextIOWrapper(err, encoding="utf-8"),
    }
    with mock.patch.multiple(sys, **streams):
        code = main([str(argument) for argument in arguments])
        sys.stdout.flush()
        sys.stderr.flush()
        return Done(code, out.getvalue(), err.getvalue())


def ok(*arguments: object, stdin: bytes = b"") -> str:
    """Run a command in this process that must succeed in silence; return what it printed.

    The note on special tokens taken as text may be there; it has tests of its own.
    """
    done = cli(*arguments, stdin=stdin)
    said = [line for line in done.error.splitlines() if not line.startswith(SPECIAL_NOTE)]
    assert (done.code, said) == (0, [])
    return done.text


def spawn(*arguments: object, stdin: bytes = b"", **options: object) -> Done:
    """Run the real command."""
    words = [*COMMAND, *map(str, arguments)]
    done = subprocess.run(words, input=stdin, capture_output=True, timeout=300, **options)
    return Done(done.returncode, done.stdout, done.stderr)
