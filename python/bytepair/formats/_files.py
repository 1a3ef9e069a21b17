"""Files, read and written whole.

In: a path. Out: its text or JSON, or a file that is complete or not there at all. Errors name the
file and the place. A byte order mark at the head of a text file is passed over.
"""

from __future__ import annotations

import errno
import gc
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from bytepair import _core
from bytepair.errors import FormatError
from bytepair.patterns import like_name


@contextmanager
def uncollected() -> Iterator[None]:
    """Nothing is searched for cycles here: a vocab has none, and looking for them takes longest."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


MOST_TEXT = 1 << 30
"""The bytes of a text file, at most: the largest known has a thirtieth of it."""


def read_text(path: str) -> str:
    """The text of a UTF-8 file, line ends as they are.

    Raises `FormatError` with the byte offset when it is not UTF-8, or when it has more than
    `MOST_TEXT` bytes; `OSError` when it cannot be read.
    """
    return text_of(read_bytes(path, MOST_TEXT), path)


def text_of(content: bytes, path: str) -> str:
    """The text that the content of a file is; see `read_text`."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{path}: byte {error.start} is not valid UTF-8; the file is damaged or no text"
        raise FormatError(message) from error


def read_bytes(path: str, most: int) -> bytes:
    """The content of a file of at most `most` bytes. Raises `FormatError` when it has more."""
    with open(path, "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        message = f"{path}: has more than {most} bytes, which no file of this format has"
        raise FormatError(message)
    refuse_pointer(content, path)
    return content


def refuse_pointer(content: bytes, path: str) -> None:
    """Raise `FormatError` where a file's beginning is that of a pointer of Git LFS."""
    if content.startswith(b"version https://git-lfs.github.com/spec/"):
        message = (
            f"{path}: is a pointer of Git LFS, not the file that it stands for; fetch that with "
            "`git lfs pull`"
        )
        raise FormatError(message)


def head(path: str, size: int = 4096) -> bytes:
    """The first bytes of a file, without a byte order mark; none of what is a directory."""
    try:
        with open(path, "rb") as file:
            return file.read(size).removeprefix(b"\xef\xbb\xbf")
    except IsADirectoryError:
        return b""


def read_json(path: str) -> Any:
    """The value of a JSON file. Raises `FormatError` with line and column."""
    return parse_json(read_text(path), path)


def parse_json(text: str, source: str) -> Any:
    """The value of a JSON text; `source` names it in errors. An object may not name a key twice."""
    try:
        return json.loads(text, object_pairs_hook=lambda pairs: _unique(pairs, source))
    except FormatError:
        raise
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        message = f"{source}: {place}: not JSON ({error.msg})"
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
            message = f"{source}: its JSON ends too early, in {place} ({error.msg})"
        raise FormatError(message) from error
    except ValueError as error:
        # Python refuses to read a number of thousands of digits.
        message = f"{source}: not JSON that a tokenizer has ({error})"
        raise FormatError(message) from error
    except RecursionError as error:
        message = f"{source}: nested too deeply to be a tokenizer"
        raise FormatError(message) from error


def _unique(pairs: list[tuple[str, Any]], source: str) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        message = f"{source}: the key {twice!r} occurs twice in one object"
        raise FormatError(message)
    return value


def as_pattern(regex: str) -> str:
    r"""A regular expression from a file as a pattern: the name of a known one, never taken for one.

    >>> as_pattern("gpt2"), as_pattern(r"\S+")
    ('(?:gpt2)', '\\S+')
    """
    name = _core.pattern_name(regex)
    return name or (f"(?:{regex})" if not regex or like_name(regex) else regex)


def write_whole(path: str, text: str) -> None:
    """Write a UTF-8 file by way of a temporary one beside it, so that no half file can be left."""
    with replacing(path) as file:
        file.write(text.encode())


@contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """A file to write that has its name when it is complete, and is removed on an error."""
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, "Is a directory; give the name of a file", path)
    folder = os.path.dirname(path) or "."
    try:
        descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=f".{os.path.basename(path)}.")
    except OSError as error:
        raise type(error)(error.errno, error.strerror, path) from None
    try:
        try:
            with open(descriptor, "wb") as file:
                yield file
        except OSError as error:
            if error.filename is not None or error.errno is None:
                raise
            raise type(error)(error.errno, error.strerror, path) from None
        # A temporary file is private; give it the rights that a new file has.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        try:
            os.replace(temporary, path)
        except OSError as error:
            raise type(error)(error.errno, error.strerror, path) from None
    except BaseException:
        os.unlink(temporary)
        raise
