"""Reading protocol buffers: the few wire types that SentencePiece's models use.

In: bytes. Out: (field number, value) in the order of the file, where a value is an int, four bytes
or eight, or the bytes of a string, a message or a packed list. What a field means the caller knows.
Costs no more memory than the fields at work.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

__all__ = ["fields", "floating", "signed"]


def fields(data: memoryview, start: int = 0) -> Iterator[tuple[int, int | memoryview]]:
    """The fields of a message; `start` is where it begins in its file, for errors.

    Raises `ValueError`, naming the byte, when the message is damaged.

    >>> list(fields(memoryview(bytes([0x08, 0x96, 0x01]))))
    [(1, 150)]
    """
    at = 0
    while at < len(data):
        begin = start + at
        tag, at = _varint(data, at, begin)
        number, kind = tag >> 3, tag & 7
        if number == 0:
            message = f"byte {begin}: a field has the number 0"
            raise ValueError(message)
        if kind == 0:
            value, at = _varint(data, at, begin)
            yield number, value
            continue
        if kind == 2:
            size, at = _varint(data, at, begin)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            message = f"byte {begin}: a field has the wire type {kind}, which no model uses"
            raise ValueError(message)
        if size > len(data) - at:
            message = f"byte {begin}: a field has {size} bytes, but {len(data) - at} are left"
            raise ValueError(message)
        yield number, data[at : at + size]
        at += size


def _varint(data: memoryview, at: int, begin: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at
        shift += 7
    message = f"byte {begin}: a number does not end"
    raise ValueError(message)


def signed(value: int) -> int:
    """An int32 or int64 from its number on the wire."""
    return value - (1 << 64) if value >> 63 else value


def floating(value: memoryview) -> float:
    """A float from its four bytes."""
    return float(struct.unpack("<f", value)[0])
