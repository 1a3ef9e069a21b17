"""The container of GGUF files: keys and values, without tensors.

In: a file of llama.cpp's, or keys and values. Out: the values of the keys wanted, or the bytes of a
file with no tensor in it. The layout is that of GGUF version 3 (ggml, `docs/gguf.md`); version 2
has the same keys. A file is mapped into memory and only the keys before its tensors are looked at,
so that a model of many gigabytes costs no more than its vocab.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterable
from typing import Any

MAGIC = b"GGUF"
VERSION = 3
STRING, ARRAY = 8, 9
U32, I32, F32, BOOL = 4, 5, 6, 7

_FORMATS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
_MOST_KEYS = 1 << 16
_MOST_DEPTH = 4


def read(path: str, wanted: tuple[str, ...]) -> dict[str, Any]:
    """The values of the keys that begin with one of `wanted`.

    Raises `ValueError`, naming the byte, when the file is damaged.
    """
    with open(path, "rb") as file:
        size = file.seek(0, 2)
        if size < 24:
            message = f"the file has {size} bytes; a GGUF file has at least 24"
            raise ValueError(message)
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            reader = _Reader(data, size)
            return reader.values(wanted)


class _Reader:
    def __init__(self, data: mmap.mmap, size: int) -> None:
        self.data = data
        self.size = size
        self.at = 0

    def error(self, what: str) -> ValueError:
        return ValueError(f"byte {self.at}: {what}")

    def take(self, size: int) -> bytes:
        if size > self.size - self.at:
            raise self.error(f"{size} bytes are wanted and {self.size - self.at} are left")
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, format: str) -> Any:
        return struct.unpack(f"<{format}", self.take(struct.calcsize(format)))[0]

    def text(self) -> str:
        begin = self.at
        content = self.take(self.number("Q"))
        try:
            return content.decode()
        except UnicodeDecodeError as error:
            self.at = begin
            raise self.error("a string is not UTF-8") from error

    def values(self, wanted: tuple[str, ...]) -> dict[str, Any]:
        if self.take(4) != MAGIC:
            raise ValueError("byte 0: not a GGUF file")
        version = self.number("I")
        if version not in (2, VERSION):
            raise self.error(f"version {version} of GGUF is not known; 2 and 3 are")
        self.take(8)
        count = self.number("Q")
        if count > _MOST_KEYS:
            raise self.error(f"{count} keys are announced; at most {_MOST_KEYS} are read")
        found: dict[str, Any] = {}
        for _ in range(count):
            key = self.text()
            kind = self.number("I")
            if key in found:
                raise self.error(f"the key {key!r:.80} occurs twice")
            if key.startswith(wanted):
                found[key] = self.value(kind)
            else:
                self.skip(kind)
        return found

    def value(self, kind: int, depth: int = 0) -> Any:
        if kind == STRING:
            return self.text()
        if kind != ARRAY:
            return self.number(self.format(kind))
        kind, length = self.array(depth)
        if kind in (STRING, ARRAY):
            return [self.value(kind, depth + 1) for _ in range(length)]
        format = self.format(kind)
        return list(
            struct.unpack(f"<{length}{format}", self.take(length * struct.calcsize(format)))
        )

    def skip(self, kind: int, depth: int = 0) -> None:
        if kind == STRING:
            self.take_none(self.number("Q"))
        elif kind != ARRAY:
            self.take_none(struct.calcsize(self.format(kind)))
        else:
            kind, length = self.array(depth)
            if kind in (STRING, ARRAY):
                for _ in range(length):
                    self.skip(kind, depth + 1)
            else:
                self.take_none(length * struct.calcsize(self.format(kind)))

    def take_none(self, size: int) -> None:
        if size > self.size - self.at:
            raise self.error(f"{size} bytes are wanted and {self.size - self.at} are left")
        self.at += size

    def array(self, depth: int) -> tuple[int, int]:
        if depth >= _MOST_DEPTH:
            raise self.error("arrays lie in each other too deep")
        kind, length = self.number("I"), self.number("Q")
        # Every item takes a byte at least, a string or an array eight.
        least = 8 if kind in (STRING, ARRAY) else struct.calcsize(self.format(kind))
        if length > (self.size - self.at) // least:
            raise self.error(f"an array of {length} items is longer than the file")
        return kind, length

    def format(self, kind: int) -> str:
        if kind not in _FORMATS:
            raise self.error(f"the type {kind} is not known")
        return _FORMATS[kind]


def dumps(values: Iterable[tuple[str, int, Any]]) -> bytes:
    """A file without tensors; a value is (key, type, value), and a list an array of that type."""
    entries = list(values)
    parts = [MAGIC, struct.pack("<IQQ", VERSION, 0, len(entries))]
    for key, kind, value in entries:
        parts.append(_string(key))
        if isinstance(value, list):
            parts.append(struct.pack("<IIQ", ARRAY, kind, len(value)))
            if kind == STRING:
                parts += map(_string, value)
            else:
                parts.append(struct.pack(f"<{len(value)}{_FORMATS[kind]}", *value))
        elif kind == STRING:
            parts += [struct.pack("<I", kind), _string(value)]
        else:
            parts.append(struct.pack(f"<I{_FORMATS[kind]}", kind, value))
    return b"".join(parts)


def _string(text: str) -> bytes:
    content = text.encode()
    return struct.pack("<Q", len(content)) + content
