"""Files in: arguments → inputs → bytes or text in chunks.

In: names as the user gave them (files, globs, directories, a dash). Out: `Input`s, read in chunks
so that memory does not grow with them. Text is UTF-8 and reaches the tokenizer unchanged, line
ends and byte order marks included.
"""

from __future__ import annotations

import codecs
import glob
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from bytepair.cli.failures import Failure, Usage
from bytepair.corpus.remote import expand_url, is_url
from bytepair.corpus.remote import size as remote_size

__all__ = [
    "CHUNK",
    "STDIN",
    "Advance",
    "Input",
    "check_apart",
    "expand",
    "expand_all",
    "on_disk",
    "total_size",
]

CHUNK = 1 << 16
STDIN = "-"

Advance = Callable[[int], None]


class Input(NamedTuple):
    """A file, or standard input."""

    path: str
    """As given; a dash is standard input."""
    copy_of: str | None = None
    """The name of the input that this file is a copy of."""

    @property
    def name(self) -> str:
        """What errors call it."""
        return self.copy_of or ("standard input" if self.path == STDIN else self.path)

    @property
    def size(self) -> int | None:
        """The size in bytes, where there is one."""
        if is_url(self.path):
            return remote_size(self.path)
        try:
            place = sys.stdin.fileno() if self.path == STDIN else self.path
            status = os.stat(place)
        except (OSError, ValueError):
            return None
        return status.st_size if stat.S_ISREG(status.st_mode) else None

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The open file."""
        if self.path == STDIN:
            yield sys.stdin.buffer
        else:
            with Path(self.path).open("rb") as file:
                yield file

    def chunks(self, advance: Advance | None = None) -> Iterator[bytes]:
        """The bytes, in chunks; `advance` hears the size of each."""
        with self.open() as file:
            # `read1` hands on what a pipe has instead of waiting until a chunk is full.
            read = getattr(file, "read1", file.read)
            while chunk := read(CHUNK):
                if advance is not None:
                    advance(len(chunk))
                yield chunk

    def text(self, advance: Advance | None = None) -> Iterator[str]:
        """The text, in chunks. Raises `Failure`, with the byte offset, where it is not UTF-8."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        place = 0
        try:
            for chunk in self.chunks(advance):
                start = place - len(decoder.getstate()[0])
                place += len(chunk)
                yield decoder.decode(chunk)
            start = place - len(decoder.getstate()[0])
            decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            message = (
                f"{self.name}: byte {start + error.start} is not valid UTF-8; "
                "convert the file to UTF-8 first"
            )
            raise Failure(message) from None


def expand_all(arguments: Sequence[str], *, suffixes: tuple[str, ...] = ()) -> list[Input]:
    """The inputs that the arguments name; none is standard input. See `expand`."""
    if list(arguments).count(STDIN) > 1:
        message = "standard input is named twice; it can be read once"
        raise Usage(message)
    return [
        found
        for argument in (arguments or [STDIN])
        for found in expand(argument, suffixes=suffixes)
    ]


def expand(argument: str, *, suffixes: tuple[str, ...] = ()) -> list[Input]:
    """The inputs behind one argument: a file, a glob, or a directory where `suffixes` are given.

    Raises `Failure` when there is no such file.
    """
    if argument == STDIN:
        return [Input(STDIN)]
    if suffixes and is_url(argument):
        return [Input(url) for url in expand_url(argument, suffixes)]
    # Not Path.is_dir, which fails on a text as long as no name of a file may be.
    if os.path.isdir(argument):
        return _in_directory(argument, suffixes)
    if not os.path.lexists(argument):
        found = []
        if glob.has_magic(argument):
            # Most shells have done this already; Windows has not, nor has a quoted argument.
            found = sorted(filter(os.path.isfile, glob.glob(argument, recursive=True)))
        if not found:
            reason = "no file matches" if glob.has_magic(argument) else "no such file"
            message = f"{argument:.200}: {reason}{_perhaps_text(argument)}"
            raise Failure(message)
        return [Input(path) for path in found]
    return [Input(argument)]


def _perhaps_text(argument: str) -> str:
    """The end of a message about a file that is missing and whose name is rather a text."""
    if any(map(str.isspace, argument)) or not any(mark in argument for mark in "./\\"):
        return "; text and ids come from a file, or from standard input: echo … | bytepair …"
    return ""


def _in_directory(directory: str, suffixes: tuple[str, ...]) -> list[Input]:
    if not suffixes:
        message = f"{directory}: is a directory; name the files in it, or a glob"
        raise Failure(message)
    paths = sorted(
        path
        for path in Path(directory).rglob("*")
        if path.name.lower().endswith(suffixes) and path.is_file()
    )
    if not paths:
        kinds = suffixes if len(suffixes) < 4 else ("text or table",)
        message = f"{directory}: the directory has no {' or '.join(kinds)} file"
        raise Failure(message)
    return [Input(str(path)) for path in paths]


def total_size(inputs: Sequence[Input]) -> int | None:
    """The size of all inputs together, where each has one."""
    sizes = [input.size for input in inputs]
    return None if None in sizes else sum(size for size in sizes if size is not None)


def check_apart(inputs: Sequence[Input], output: str | None) -> None:
    """Raise `Failure` when what is written would take the place of what is read."""
    if output is None or output == STDIN or not os.path.isfile(output):
        return
    target = os.stat(output)
    for input in inputs:
        try:
            status = os.fstat(sys.stdin.fileno()) if input.path == STDIN else os.stat(input.path)
        except (OSError, ValueError):
            continue
        if os.path.samestat(status, target):
            message = f"{output}: is the input {input.name} too, which would be lost; name another"
            raise Failure(message)


@contextmanager
def on_disk(input: Input) -> Iterator[Input]:
    """The input, or a copy of it for the time of the context if it is no regular file.

    What comes through a pipe can be read once and from front to back only, so it is copied.
    """
    if is_url(input.path) or (input.path != STDIN and input.size is not None):
        yield input
        return
    with tempfile.TemporaryDirectory(prefix="bytepair-") as folder:
        copy = Path(folder, "input.txt")
        with copy.open("wb") as file, input.open() as source:
            shutil.copyfileobj(source, file)
        yield Input(str(copy), copy_of=input.name)
