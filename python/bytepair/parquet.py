"""A small part of Parquet: flat tables of bytes and 64-bit counts, neither packed nor encoded.

In: rows and key-value metadata. Out: a file that every Parquet reader reads; and back. Files of
others are read where they are as plain: one page after another, PLAIN, uncompressed, no nulls.
Every page has its CRC. Written and read one row group at a time. It does not read dictionaries,
nested columns or compressed pages; pyarrow does.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import Any, BinaryIO

from bytepair.errors import FormatError

__all__ = ["read", "read_metadata", "write"]

MAGIC = b"PAR1"
ROWS = 1 << 17
"""Rows of a row group."""

# Numbers of the format: physical types, encodings, page types, wire types of its metadata.
_INT64, _BYTE_ARRAY = 2, 6
_PLAIN, _RLE = 0, 3
_DATA_PAGE = 0
_REQUIRED = 0
_UINT_64 = 14
_TRUE, _FALSE, _I32, _I64, _BINARY, _LIST, _STRUCT = 1, 2, 5, 6, 8, 9, 12

Field = tuple[int, int, Any]
"""Number, wire type and value of one field of a metadata struct."""


def write(
    file: BinaryIO, rows: Iterable[tuple[bytes, int]], names: tuple[str, str], meta: dict[str, str]
) -> None:
    """Write rows of (bytes, count) as a table with two columns.

    >>> import io
    >>> file = io.BytesIO()
    >>> write(file, [(b"low", 5), (b"lower", 2)], ("piece", "count"), {"by": "hand"})
    >>> read_metadata(file)["by"], list(read(file, ("piece", "count")))
    ('hand', [(b'low', 5), (b'lower', 2)])
    """
    file.write(MAGIC)
    place = len(MAGIC)
    groups: list[list[Field]] = []
    total = 0
    source = iter(rows)
    while batch := list(islice(source, ROWS)):
        pieces = b"".join(struct.pack("<I", len(piece)) + piece for piece, _ in batch)
        counts = struct.pack(f"<{len(batch)}Q", *(count for _, count in batch))
        columns = []
        for name, kind, data in ((names[0], _BYTE_ARRAY, pieces), (names[1], _INT64, counts)):
            page = _page(data, len(batch))
            file.write(page)
            columns.append(_column(name, kind, len(batch), place, len(page)))
            place += len(page)
        size = len(pieces) + len(counts)
        groups.append([(1, _LIST, (_STRUCT, columns)), (2, _I64, size), (3, _I64, len(batch))])
        total += len(batch)
    footer = _encode(
        [
            (1, _I32, 2),
            (2, _LIST, (_STRUCT, _schema(names))),
            (3, _I64, total),
            (4, _LIST, (_STRUCT, groups)),
            (5, _LIST, (_STRUCT, [_pair(key, value) for key, value in meta.items()])),
            (6, _BINARY, b"bytepair"),
        ]
    )
    file.write(footer + struct.pack("<I", len(footer)) + MAGIC)


def _schema(names: tuple[str, str]) -> list[list[Field]]:
    root: list[Field] = [(4, _BINARY, b"schema"), (5, _I32, 2)]
    piece: list[Field] = [
        (1, _I32, _BYTE_ARRAY),
        (3, _I32, _REQUIRED),
        (4, _BINARY, names[0].encode()),
    ]
    # The logical type says "integer of 64 bits, without a sign", as the older field 6 does.
    integer = [(1, 3, 64), (2, _FALSE, False)]
    count: list[Field] = [
        (1, _I32, _INT64),
        (3, _I32, _REQUIRED),
        (4, _BINARY, names[1].encode()),
        (6, _I32, _UINT_64),
        (10, _STRUCT, [(10, _STRUCT, integer)]),
    ]
    return [root, piece, count]


def _pair(key: str, value: str) -> list[Field]:
    return [(1, _BINARY, key.encode()), (2, _BINARY, value.encode())]


def _page(data: bytes, values: int) -> bytes:
    crc = struct.unpack("<i", struct.pack("<I", zlib.crc32(data)))[0]
    levels = [(1, _I32, values), (2, _I32, _PLAIN), (3, _I32, _RLE), (4, _I32, _RLE)]
    header = [
        (1, _I32, _DATA_PAGE),
        (2, _I32, len(data)),
        (3, _I32, len(data)),
        (4, _I32, crc),
        (5, _STRUCT, levels),
    ]
    return _encode(header) + data


def _column(name: str, kind: int, values: int, place: int, size: int) -> list[Field]:
    facts = [
        (1, _I32, kind),
        (2, _LIST, (_I32, [_PLAIN])),
        (3, _LIST, (_BINARY, [name.encode()])),
        (4, _I32, 0),
        (5, _I64, values),
        (6, _I64, size),
        (7, _I64, size),
        (9, _I64, place),
    ]
    return [(2, _I64, place), (3, _STRUCT, facts)]


# ── Reading ───────────────────────────────────────────────────────────────────────────────────────


def read_metadata(file: BinaryIO) -> dict[str, str]:
    """The key-value metadata; `FormatError` if the file is no Parquet file."""
    pairs = _footer(file).get(5, [])
    with _damage():
        return {pair[1].decode(): pair.get(2, b"").decode() for pair in pairs}


def read(file: BinaryIO, names: tuple[str, str]) -> Iterator[tuple[bytes, int]]:
    """The rows of two columns: bytes, and integers of 64 bits taken without a sign.

    Raises `FormatError` for what is not plain, and for a damaged page.
    """
    footer = _footer(file)
    with _damage():
        schema = {element[4].decode(): element for element in footer[2][1:]}
        for name, kind in zip(names, (_BYTE_ARRAY, _INT64), strict=True):
            if name not in schema or schema[name].get(1) != kind:
                wanted = {_BYTE_ARRAY: "binary", _INT64: "uint64"}[kind]
                message = f"there is no column {name!r} of type {wanted}"
                raise FormatError(message)
        for group in footer[4]:
            chunks = {chunk[3][3][-1].decode(): chunk[3] for chunk in group[1]}
            pieces = _values(file, chunks[names[0]], schema[names[0]])
            counts = _values(file, chunks[names[1]], schema[names[1]])
            yield from zip(pieces, counts, strict=True)


def _footer(file: BinaryIO) -> Mapping[int, Any]:
    size = file.seek(0, os.SEEK_END)
    message = "this is no Parquet file, or only the beginning of one"
    if size < 12:
        raise FormatError(message)
    file.seek(size - 8)
    length, magic = struct.unpack("<I4s", file.read(8))
    if magic != MAGIC or length > size - 12:
        raise FormatError(message)
    file.seek(size - 8 - length)
    with _damage():
        return _decode(file.read(length), 0)[0]


@contextmanager
def _damage() -> Iterator[None]:
    """What metadata that make no sense lead to is a `FormatError`."""
    try:
        yield
    except FormatError:
        raise
    except (LookupError, struct.error, TypeError, AttributeError, ValueError, OSError) as error:
        message = "the Parquet metadata are damaged"
        raise FormatError(message) from error


def _values(file: BinaryIO, chunk: Mapping[int, Any], element: Mapping[int, Any]) -> list[Any]:
    """The values of one column of a row group."""
    if chunk[4] != 0 or 11 in chunk:
        message = (
            "its pages are compressed or use a dictionary; write the table with "
            'compression="none" and use_dictionary=False'
        )
        raise FormatError(message)
    file.seek(chunk[9])
    data = file.read(chunk[7])
    values: list[Any] = []
    at = 0
    while len(values) < chunk[5]:
        header, at = _decode(data, at)
        page = data[at : at + header[3]]
        at += header[3]
        if header[1] != _DATA_PAGE or header[5][2] != _PLAIN:
            message = "its pages are not plain; write the table with data_page_version='1.0'"
            raise FormatError(message)
        if 4 in header and zlib.crc32(page) != header[4] & 0xFFFF_FFFF:
            message = "a page is damaged: its checksum is another"
            raise FormatError(message)
        if element.get(3, _REQUIRED) != _REQUIRED:
            # Which values are null; they must be none, which the number of values shows.
            page = page[4 + struct.unpack_from("<I", page)[0] :]
        values += _plain(page, header[5][1], element[1])
    return values


def _plain(page: bytes, number: int, kind: int) -> list[Any]:
    if kind == _INT64:
        if len(page) != 8 * number:
            message = "a column has nulls or a page is cut off; counts and pieces cannot be null"
            raise FormatError(message)
        return list(struct.unpack(f"<{number}Q", page))
    values: list[bytes] = []
    at = 0
    while at < len(page):
        (size,) = struct.unpack_from("<I", page, at)
        values.append(page[at + 4 : at + 4 + size])
        at += 4 + size
    if len(values) != number or at != len(page):
        message = "a column has nulls or a page is cut off; counts and pieces cannot be null"
        raise FormatError(message)
    return values


# ── Thrift's compact protocol, in which the metadata are written ──────────────────────────────────


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _zigzag(number: int) -> bytes:
    return _varint(number << 1 if number >= 0 else (-number << 1) - 1)


def _encode(fields: Iterable[Field]) -> bytes:
    out = bytearray()
    last = 0
    for number, kind, value in fields:
        out.append((number - last) << 4 | kind)
        last = number
        if kind not in (_TRUE, _FALSE):
            out += _encode_value(kind, value)
    return bytes(out) + b"\0"


def _encode_value(kind: int, value: Any) -> bytes:
    if kind == 3:
        return bytes([value])
    if kind in (_I32, _I64):
        return _zigzag(value)
    if kind == _BINARY:
        return _varint(len(value)) + bytes(value)
    if kind == _STRUCT:
        return _encode(value)
    inner, items = value
    size = len(items)
    head = bytes([size << 4 | inner]) if size < 15 else bytes([0xF0 | inner]) + _varint(size)
    return head + b"".join(_encode_value(inner, item) for item in items)


def _decode(data: bytes, at: int) -> tuple[dict[int, Any], int]:
    """A struct as number → value, and where it ends."""
    fields: dict[int, Any] = {}
    number = 0
    while data[at]:
        head = data[at]
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            coded, at = _decode_varint(data, at)
            number = coded >> 1 ^ -(coded & 1)
        fields[number], at = _decode_value(head & 15, data, at)
    return fields, at + 1


def _decode_varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, at


def _decode_value(kind: int, data: bytes, at: int) -> tuple[Any, int]:
    if kind in (_TRUE, _FALSE):
        return kind == _TRUE, at
    if kind == 3:
        return data[at], at + 1
    if kind in (4, _I32, _I64):
        coded, at = _decode_varint(data, at)
        return coded >> 1 ^ -(coded & 1), at
    if kind == 7:
        return struct.unpack_from("<d", data, at)[0], at + 8
    if kind == _BINARY:
        size, at = _decode_varint(data, at)
        return data[at : at + size], at + size
    if kind == _STRUCT:
        return _decode(data, at)
    if kind not in (_LIST, 10):
        message = "the Parquet metadata are damaged"
        raise FormatError(message)
    size, inner, at = data[at] >> 4, data[at] & 15, at + 1
    if size == 15:
        size, at = _decode_varint(data, at)
    items = []
    for _ in range(size):
        item, at = _decode_value(inner, data, at)
        items.append(item)
    return items, at
