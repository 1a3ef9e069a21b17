"""Arrow arrays of strings made by hand, right or damaged, as capsules of the C data interface.

In: strings, how they are kept, and what to damage. Out: an object with `__arrow_c_array__` or
`__arrow_c_stream__`, which counts how often its structures are released. What a damaged array says
of its buffers is either refused by what can be read in the structures, or lies within the buffers
made here: their size is nothing that the interface tells.
"""

from __future__ import annotations

import ctypes
import struct
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_int64, c_void_p
from typing import ClassVar


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


ReleaseSchema = CFUNCTYPE(None, POINTER(Schema))
ReleaseArray = CFUNCTYPE(None, POINTER(Array))
ReleaseStream = CFUNCTYPE(None, POINTER(Stream))
GetSchema = CFUNCTYPE(c_int, POINTER(Stream), POINTER(Schema))
GetNext = CFUNCTYPE(c_int, POINTER(Stream), POINTER(Array))
LastError = CFUNCTYPE(c_void_p, POINTER(Stream))

Schema._fields_ = [
    ("format", c_void_p),
    ("name", c_char_p),
    ("metadata", c_char_p),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", c_void_p),
    ("dictionary", c_void_p),
    ("release", ReleaseSchema),
    ("private_data", c_void_p),
]
Array._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", c_void_p),
    ("children", c_void_p),
    ("dictionary", c_void_p),
    ("release", ReleaseArray),
    ("private_data", c_void_p),
]
Stream._fields_ = [
    ("get_schema", GetSchema),
    ("get_next", GetNext),
    ("get_last_error", LastError),
    ("release", ReleaseStream),
    ("private_data", c_void_p),
]

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [c_void_p, c_char_p, c_void_p]
NAMES = {Schema: b"arrow_schema", Array: b"arrow_array", Stream: b"arrow_array_stream"}
SLACK = 64
"""Bytes behind each buffer, so that what is a little too long reads no other memory."""


def capsule(structure: ctypes.Structure, name: bytes | None = None) -> object:
    return _new_capsule(ctypes.addressof(structure), name or NAMES[type(structure)], None)


class Column:
    """Strings, `skip` others before them in the buffers, kept as `kind` says: `u`, `U` or `vu`."""

    kept: ClassVar[list[object]] = []
    """What ctypes must not free while others may call it."""

    def __init__(self, texts: list[bytes], kind: str, skip: int = 0) -> None:
        self.released: list[str] = []
        self.buffers: list[ctypes.Array | None] = [None]
        texts = [b"before"] * skip + texts
        if kind == "vu":
            self._views(texts)
        else:
            ends = [0]
            for text in texts:
                ends.append(ends[-1] + len(text))
            code = "i" if kind == "u" else "q"
            self.add(struct.pack(f"={len(ends)}{code}", *ends))
            self.add(b"".join(texts))
        self.array = Array(len(texts) - skip, 0, skip, len(self.buffers))
        self.schema = Schema()
        self.format = ctypes.create_string_buffer(kind.encode())
        self.schema.format = ctypes.addressof(self.format)
        self.schema.release = self.keep(ReleaseSchema(self._release("schema")))
        self.array.release = self.keep(ReleaseArray(self._release("array")))
        self.point()

    def _views(self, texts: list[bytes]) -> None:
        views, data = b"", b""
        for text in texts:
            if len(text) <= 12:
                views += struct.pack("=i12s", len(text), text)
            else:
                views += struct.pack("=i4sii", len(text), text[:4], 0, len(data))
                data += text
        self.add(views)
        self.add(data)
        self.add(struct.pack("=q", len(data)))

    def add(self, data: bytes) -> None:
        self.buffers.append(ctypes.create_string_buffer(data, len(data) + SLACK))

    def point(self, shift: int = 0) -> None:
        """Let the array point to its buffers, `shift` bytes behind their beginning."""
        places = [None if b is None else ctypes.addressof(b) + shift for b in self.buffers]
        self.places = (c_void_p * max(1, len(places)))(*places)
        self.array.buffers = ctypes.addressof(self.places)

    def keep(self, callback: object) -> object:
        self.kept.append(callback)
        return callback

    def _release(self, name: str) -> object:
        def release(place: object) -> None:
            self.released.append(name)
            kind = type(place.contents)
            field = ctypes.addressof(place.contents) + kind.release.offset
            ctypes.memset(field, 0, kind.release.size)

        return release

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        self.kept.append(self)
        return capsule(self.schema), capsule(self.array)


class Chunks:
    """A stream of columns of one kind. `code` is what its callbacks return; without `typed` it
    gives no schema and says nothing of it.
    """

    def __init__(self, columns: list[Column], *, code: int = 0, typed: bool = True) -> None:
        self.columns, self.code, self.typed = columns, code, typed
        self.released: list[str] = []
        self.rest = iter(columns)
        self.stream = Stream()
        callbacks = {
            "get_schema": GetSchema(self._schema),
            "get_next": GetNext(self._next),
            "get_last_error": LastError(lambda _: None),
            "release": ReleaseStream(lambda place: self._release(place)),
        }
        Column.kept += [self, callbacks]
        for name, callback in callbacks.items():
            setattr(self.stream, name, callback)

    def _schema(self, _: object, place: object) -> int:
        if self.typed and not self.code:
            _move(self.columns[0].schema, place)
        return self.code

    def _next(self, _: object, place: object) -> int:
        column = next(self.rest, None)
        if column is None:
            ctypes.memset(ctypes.addressof(place.contents), 0, ctypes.sizeof(Array))
        else:
            _move(column.array, place)
        return 0

    def _release(self, place: object) -> None:
        self.released.append("stream")
        ctypes.memset(ctypes.addressof(place.contents), 0, ctypes.sizeof(Stream))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return capsule(self.stream)


def _move(source: ctypes.Structure, place: object) -> None:
    size = ctypes.sizeof(source)
    ctypes.memmove(ctypes.addressof(place.contents), ctypes.addressof(source), size)
    ctypes.memset(ctypes.addressof(source), 0, size)
