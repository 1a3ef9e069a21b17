"""The command line: `bytepair train | encode | decode | count | inspect | convert | bench`.

In: arguments. Out: an exit code: 0, 1 (failed; one line on standard error says why), 2 (used
wrongly) or 130 (stopped by Ctrl-C). Every command is a module of this package with a function of
the same name, thin over the library; `bytepair.cli.app` has the table of them. It needs typer and
rich (`pip install "bytepair[cli]"`), which this module does not import before they are known to be
there.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["INTERRUPTED", "main"]

INTERRUPTED = 130
"""The exit code after Ctrl-C, as a shell gives it."""

_INSTALL = 'error: the command line needs {}; pip install "bytepair[cli]" brings it'


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line on `arguments`, by default the process's own; return the exit code.

    >>> main(["decode", "-e", "gpt2", "no-such-file.txt"])
    1
    """
    try:
        for needed in ("typer", "rich"):
            if not _is_installed(needed):
                print(_INSTALL.format(needed), file=sys.stderr)
                return 1
        from bytepair.cli.app import run

        code = run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        code = INTERRUPTED
    if code == INTERRUPTED:
        print("interrupted", file=sys.stderr)
    return code


def _is_installed(name: str) -> bool:
    from importlib.util import find_spec

    try:
        return find_spec(name) is not None
    except ValueError:  # a module that was put out of the way: `sys.modules[name] = None`
        return False
