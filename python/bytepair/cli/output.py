"""Files out: whole or not at all.

In: a path as the user gave it, or a dash. Out: a file that appears under its name only when it is
complete. What is no regular file (a device, a pipe) is written to directly.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import bytepair
from bytepair.cli.failures import Failure

__all__ = ["STDOUT", "check_folder", "check_kind", "opened", "save"]

STDOUT = "-"


@contextmanager
def opened(path: str | None) -> Iterator[BinaryIO]:
    """A file to write bytes to: standard output for `None` or a dash."""
    if path is None or path == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    check_folder(path)
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with target.open("wb") as file:
            yield file
        return
    with _beside(target) as folder:
        with (folder / target.name).open("wb") as file:
            yield file
        _move(folder / target.name, target)


def check_folder(path: str) -> None:
    """Raise `Failure` when the file cannot be written: asked before the work, not after it."""
    target = Path(os.path.realpath(path))
    folder = target.parent
    if not folder.is_dir():
        message = f"{path}: the folder {str(folder)!r} does not exist"
        raise Failure(message)
    if not os.access(folder, os.W_OK) and not (target.exists() and os.access(target, os.W_OK)):
        message = f"{path}: the folder {str(folder)!r} is not writable"
        raise Failure(message)


def check_kind(path: str, written: Path) -> None:
    """Raise `Failure` when what is at `path` cannot be replaced by what was written elsewhere."""
    target = Path(path)
    if target.is_dir() and written.is_file():
        message = f"{path}: is a directory; name a file in it"
    elif target.is_file() and written.is_dir():
        message = f"{path}: is a file; this format is a directory of files"
    elif target.exists() and not (target.is_file() or target.is_dir()):
        message = f"{path}: is neither a file nor a directory; a tokenizer cannot be saved there"
    else:
        return
    raise Failure(message)


def save(
    tokenizer: bytepair.Tokenizer,
    path: str,
    format: str | None,
    check: Callable[[str], None] | None = None,
) -> None:
    """Save a tokenizer under a name of its own, let `check` look at it there, and move it.

    A format may be a directory of files; those that were there before are replaced.
    """
    target = Path(os.path.realpath(path))
    with _beside(target) as folder:
        written = folder / target.name
        tokenizer.save(written, format=format)
        check_kind(path, written)
        if check is not None:
            check(str(written))
        if written.is_dir() and target.is_dir():
            for file in sorted(written.iterdir()):
                _move(file, target / file.name)
        else:
            _move(written, target)


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """A folder beside `target`, on the same file system, that is gone afterwards."""
    folder: str | None = None
    try:
        folder = tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name[:64]}.")
        yield Path(folder)
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _move(source: Path, target: Path) -> None:
    """Put a file in its place; a file that is replaced hands on its rights."""
    if target.is_file():
        shutil.copymode(target, source)
    source.replace(target)
