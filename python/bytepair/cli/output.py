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
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import bytepair
from bytepair.cli.failures import Failure, Usage

__all__ = ["STDOUT", "Writer", "check_folder", "check_kind", "opened", "save", "write"]

STDOUT = "-"


class Writer:
    """A file that bytes are written to; an error names the place as the user did."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self._line_ended = True

    def write(self, data: bytes) -> None:
        """Write all of `data`."""
        with naming(self._name):
            self._file.write(data)
        if data:
            self._line_ended = data.endswith(b"\n")

    def end_line(self) -> None:
        """End the line, if one has begun."""
        if not self._line_ended:
            self.write(b"\n")


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Errors of the system name this place."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, name) from None


@contextmanager
def opened(path: str | None) -> Iterator[Writer]:
    """A file to write bytes to: standard output for `None` or a dash."""
    if path is None or path == STDOUT:
        writer = Writer(sys.stdout.buffer, "standard output")
        try:
            yield writer
        except BaseException:
            # On a terminal what is said of the error begins on a line of its own.
            if sys.stdout.isatty():
                with suppress(OSError):
                    writer.end_line()
            raise
        with naming("standard output"):
            sys.stdout.buffer.flush()
        return
    check_folder(path)
    target = Path(os.path.realpath(path))
    if target.is_dir():
        message = f"{path}: is a directory; name a file in it"
        raise Failure(message)
    if target.exists() and not target.is_file():
        with naming(path):
            file = target.open("wb")
        yield from _closing(file, path)
        return
    with _beside(target) as folder:
        with naming(path):
            file = (folder / target.name).open("wb")
        yield from _closing(file, path)
        _move(folder / target.name, target)


def _closing(file: BinaryIO, path: str) -> Iterator[Writer]:
    """The file to be written, closed afterwards: what is still buffered may fail only then."""
    try:
        yield Writer(file, path)
    except BaseException:
        # What is wrong is known, and the file is given up.
        with suppress(OSError):
            file.close()
        raise
    with naming(path):
        file.close()


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
        with naming(path):
            tokenizer.save(written, format=format)
        check_kind(path, written)
        if check is not None:
            check(str(written))
        if written.is_dir() and target.is_dir():
            for file in sorted(written.iterdir()):
                _move(file, target / file.name)
        else:
            _move(written, target)


def write(
    tokenizer: bytepair.Tokenizer, format: str | None, check: Callable[[str], None] | None = None
) -> None:
    """Save a tokenizer to standard output. Raises `Usage` where a format has several files."""
    with tempfile.TemporaryDirectory(prefix="bytepair-") as folder:
        path = Path(folder, "tokenizer")
        tokenizer.save(path, format=format)
        if not path.is_file() or len(os.listdir(folder)) > 1:
            message = f"-: the format {format} has several files; name a place for them"
            raise Usage(message)
        if check is not None:
            check(str(path))
        with opened(STDOUT) as file:
            file.write(path.read_bytes())


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
