"""Files in, bytes out: unpacked, and where asked for made valid UTF-8.

In: a path. Out: a reader of bytes that holds some hundred kilobytes, whatever the file's size (a
`.zst` or `.xz` file may ask for a larger window). gzip, bzip2 and xz are the standard library's;
zstd is the core's, which has it for the bundled encodings.
"""

from __future__ import annotations

import codecs
import io
import zlib
from collections.abc import Callable
from functools import partial
from typing import IO, Any, BinaryIO, Literal, Protocol, cast

from bytepair import _core
from bytepair.corpus.files import packing
from bytepair.corpus.remote import is_url, open_url
from bytepair.errors import ArgumentError, CorpusError

__all__ = ["Errors", "Reader", "check_errors", "open_bytes", "position", "text_source"]

Errors = Literal["strict", "replace", "ignore"]


class Reader(Protocol):
    """What has `read` and `close`."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes; none at the end."""
        ...

    def close(self) -> object:
        """Close the file behind it."""
        ...


def check_errors(errors: str) -> None:
    """Raise `ArgumentError` unless this is a way to treat bytes that are not UTF-8."""
    if errors not in ("strict", "replace", "ignore"):
        message = f'errors is {errors!r}; it is "strict", "replace" or "ignore"'
        raise ArgumentError(message)


def open_bytes(path: str) -> io.BufferedReader:
    """What a file holds, unpacked. Damage is a `CorpusError` that names the file."""
    packed = packing(path)
    if packed:
        return io.BufferedReader(_Unpacked(path, packed), 1 << 18)
    if is_url(path):
        return cast("io.BufferedReader", open_url(path))
    return io.BufferedReader(_Plain(path), 1 << 18)


def text_source(path: str, errors: Errors) -> tuple[str, Callable[[], Reader] | None]:
    """A file of text as the core takes it: a path it reads itself, or a path and what opens it."""
    if errors == "strict":
        return path, partial(open_bytes, path) if packing(path) or is_url(path) else None
    return path, partial(_Mended, path, errors)


def position(reader: object) -> int:
    """How many bytes of the file behind a reader are read, as it is on disk."""
    if isinstance(reader, _Mended):
        reader = reader._inner
    raw = getattr(reader, "raw", None)
    if isinstance(raw, _Unpacked):
        return raw._under.tell()
    return reader.tell() if isinstance(reader, io.IOBase) or hasattr(reader, "tell") else 0


class _Plain(io.FileIO):
    """A file whose name is in the errors of reading it, not of opening it alone."""

    def readinto(self, buffer: Any, /) -> int | None:
        try:
            return super().readinto(buffer)
        except OSError as error:
            error.filename = self.name
            raise


class _Unpacked(io.RawIOBase):
    """What a packed file holds."""

    def __init__(self, path: str, packed: str) -> None:
        self._path = path
        self._under: BinaryIO = open_url(path) if is_url(path) else _Plain(path)
        try:
            self._inner = _open_packed(self._under, packed)
        except BaseException:
            self._under.close()
            raise

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        # `lzma.LZMAError` is no `OSError`; its module may be missing where xz is not used.
        try:
            data = self._inner.read(len(buffer))
        except (EOFError, OSError, zlib.error, ValueError) as error:
            # What is wrong with the contents has no number of the system's.
            if isinstance(error, OSError) and error.errno is not None:
                error.filename = error.filename or self._path
                raise
            raise self._damaged(error) from error
        except Exception as error:
            if type(error).__name__ != "LZMAError":
                raise
            raise self._damaged(error) from error
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        # An object whose file could not be opened is closed too, when it is thrown away.
        if not self.closed and hasattr(self, "_inner"):
            self._inner.close()
            # What unpacks an open file leaves it open.
            self._under.close()
        super().close()

    def _damaged(self, error: Exception) -> CorpusError:
        return CorpusError(
            f"{self._path}: cannot be unpacked ({error}); the file is damaged or cut off"
        )


def _open_packed(file: BinaryIO, packed: str) -> Reader:
    if packed == ".gz":
        import gzip

        return cast("IO[bytes]", gzip.open(file, "rb"))
    if packed == ".bz2":
        import bz2

        return cast("IO[bytes]", bz2.open(file, "rb"))
    if packed == ".xz":
        return _Xz(file)
    return _core.ZstdReader(file)


class _Xz:
    """What an `.xz` file holds, all its streams, within a limit of memory that `lzma` has not."""

    MEMORY = 1 << 29
    """More than any preset of xz asks for; a file may ask for eight times as much."""

    def __init__(self, file: BinaryIO) -> None:
        import lzma

        self._file = file
        self._lzma = lzma
        self._inner = lzma.LZMADecompressor(memlimit=self.MEMORY)

    def read(self, size: int, /) -> bytes:
        data = b""
        begun = True
        while True:
            if self._inner.eof:
                # Between streams there may be padding, four zero bytes or more.
                data = self._inner.unused_data.lstrip(b"\0")
                while not data and (chunk := self._file.read(1 << 16)):
                    data = chunk.lstrip(b"\0")
                if not data:
                    return b""
                self._inner = self._lzma.LZMADecompressor(memlimit=self.MEMORY)
            elif self._inner.needs_input:
                data = self._file.read(1 << 16)
                begun = bool(data)
            found = self._inner.decompress(data, size)
            data = b""
            if found:
                return found
            if not begun and not self._inner.eof:
                message = "the file ends within a stream"
                raise EOFError(message)

    def close(self) -> None:
        self._file.close()


class _Mended:
    """The bytes of a file, with what is not UTF-8 replaced by U+FFFD or left out."""

    def __init__(self, path: str, errors: Errors) -> None:
        self._inner = open_bytes(path)
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors)

    def read(self, size: int, /) -> bytes:
        while chunk := self._inner.read(size):
            if text := self._decoder.decode(chunk):
                return text.encode()
        return self._decoder.decode(b"", final=True).encode()

    def close(self) -> None:
        self._inner.close()
