"""Texts out of JSON lines, Parquet and Arrow files.

In: a path and the field that holds the text (`"text"`; a dotted path goes into objects). Out: the
texts, one by one; memory is that of a line or of some thousand rows. A line or row without a text
is an error that names file and place, because leaving it out would be a loss without a word.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, BinaryIO

from bytepair import parquet
from bytepair.corpus.disk import Place
from bytepair.corpus.files import LINES, kind, packing
from bytepair.corpus.readers import Errors, open_bytes, position
from bytepair.errors import ArgumentError, CorpusError, FormatError

__all__ = ["COUNTS_KEY", "texts"]

COUNTS_KEY = "bytepair.piece_counts"
"""Key of the metadata by which a Parquet file is known to hold piece counts."""
_ROWS = 4096
_LINES_PER_LOOK = 16
_LINE = 1 << 30
"""The most bytes of a line: a small packed file may unpack to one that fills the memory."""


def texts(path: str, field: str, errors: Errors, place: Place | None = None) -> Iterator[str]:
    """The texts of a file of one of the kinds `LINES` and `TABLES`; `place` hears how far it is."""
    found = (_lines if kind(path) in LINES else _rows)(path, field, errors, place)
    if place is None:
        yield from found
        return
    place.share(0)
    yield from found
    place.passed()


def _lines(path: str, field: str, errors: Errors, heard: Place | None) -> Iterator[str]:
    end = 0
    with open_bytes(path) as file:
        for number, line in enumerate(iter(lambda: file.readline(_LINE + 1), b""), 1):
            end += len(line)
            if len(line) > _LINE:
                message = f"{path}, line {number}: more than {_LINE >> 20} MiB; is it JSON lines?"
                raise CorpusError(message)
            if heard is not None and number % _LINES_PER_LOOK == 0:
                heard.read(position(file))
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if not line.strip():
                continue
            place = f"{path}, line {number}"
            try:
                value = json.loads(line.decode(errors=errors))
            except UnicodeDecodeError as error:
                at = end - len(line) + error.start
                message = (
                    f"{place}: byte {at} of the file is not valid UTF-8; "
                    'repair it, or give errors="replace" or errors="ignore"'
                )
                raise CorpusError(message) from error
            except (json.JSONDecodeError, RecursionError) as error:
                message = f"{place}: not JSON ({error}); each line must be one JSON value"
                raise CorpusError(message) from error
            yield _text(_walk(value, field, place), field, place, errors)


def _walk(value: Any, field: str, place: str) -> Any:
    """The value of a field, which may be named as such or by a dotted path."""
    if isinstance(value, dict):
        if field in value:
            return value[field]
        first, dot, rest = field.partition(".")
        if dot and first in value:
            return _walk(value[first], rest, place)
    found = (
        f"it has {', '.join(map(repr, value))}" if isinstance(value, dict) else "it is no object"
    )
    message = f"{place}: there is no field {field!r} ({found[:200]}); name it with text_field"
    raise CorpusError(message)


def _text(value: Any, field: str, place: str, errors: Errors) -> str:
    if isinstance(value, bytes):
        try:
            return value.decode(errors=errors)
        except UnicodeDecodeError as error:
            message = f"{place}: byte {error.start} of {field!r} is not valid UTF-8"
            raise CorpusError(message) from error
    if not isinstance(value, str):
        shown = "null" if value is None else type(value).__name__
        message = f"{place}: the field {field!r} is {shown}, not a text"
        raise CorpusError(message)
    try:
        value.encode()
    except UnicodeEncodeError as error:
        if errors == "strict":
            message = (
                f"{place}: the field {field!r} holds a lone surrogate at character {error.start}; "
                'repair it, or give errors="replace" or errors="ignore"'
            )
            raise CorpusError(message) from error
        return value.encode("utf-16", "surrogatepass").decode("utf-16", errors)
    return value


def _rows(path: str, field: str, errors: Errors, heard: Place | None) -> Iterator[str]:
    with ExitStack() as stack:
        file: BinaryIO = stack.enter_context(open_bytes(path))
        if packing(path):
            # Its metadata are at its end, so it must be on disk.
            unpacked = stack.enter_context(tempfile.TemporaryFile(prefix="bytepair-"))
            shutil.copyfileobj(file, unpacked)
            unpacked.seek(0)
            file = unpacked
        for number, value in enumerate(_column(path, file, field, heard), 1):
            yield _text(value, field, f"{path}, row {number}", errors)


def _column(path: str, file: BinaryIO, field: str, heard: Place | None) -> Iterator[Any]:
    is_parquet = kind(path) == ".parquet"
    if is_parquet:
        try:
            holds_counts = COUNTS_KEY in parquet.read_metadata(file)
        except FormatError as error:
            message = f"{path}: {error}"
            raise CorpusError(message) from error
        if holds_counts:
            message = f"{path}: holds piece counts, no texts; read them with PieceCounts.load(path)"
            raise ArgumentError(message)
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        message = f'{path}: reading it needs pyarrow; pip install "bytepair[arrow]"'
        raise ImportError(message) from error
    file.seek(0)
    try:
        batches, schema, step, steps = _batches(file, is_parquet=is_parquet, pa=pa, pq=pq)
        name, path_inside = _find(schema.names, field, path)
        done = 0
        for batch in batches(name):
            # A batch is counted while the next one is read.
            if heard is not None and steps:
                heard.share(done / steps)
            done += step(batch)
            for value in batch.column(batch.schema.get_field_index(name)).to_pylist():
                for part in path_inside:
                    value = value.get(part) if isinstance(value, dict) else None
                yield value
    except pa.ArrowInvalid as error:
        message = f"{path}: cannot be read ({error})"
        raise CorpusError(message) from error


def _batches(
    file: BinaryIO, *, is_parquet: bool, pa: Any, pq: Any
) -> tuple[Callable[[str], Iterator[Any]], Any, Callable[[Any], int], int]:
    """What a table gives.

    A function from a column's name to batches of rows, the schema, how far a batch brings, and of
    how much; 0 if that is not known.
    """
    if is_parquet:
        table = pq.ParquetFile(file)
        return (
            lambda name: table.iter_batches(batch_size=_ROWS, columns=[name]),
            table.schema_arrow,
            lambda batch: batch.num_rows,
            table.metadata.num_rows,
        )
    try:
        reader = pa.ipc.open_file(file)
        number = reader.num_record_batches
        return (
            lambda name: (reader.get_batch(at) for at in range(number)),
            reader.schema,
            lambda batch: 1,
            number,
        )
    except pa.ArrowInvalid:
        file.seek(0)
        stream = pa.ipc.open_stream(file)
        return lambda name: stream, stream.schema, lambda batch: 0, 0


def _find(names: list[str], field: str, path: str) -> tuple[str, list[str]]:
    """The column of a field, and the way from there."""
    first, _, rest = field.partition(".")
    if field in names:
        return field, []
    if first in names and rest:
        return first, rest.split(".")
    shown = ", ".join(map(repr, names))[:200]
    message = f"{path}: there is no column {field!r} (it has {shown}); name it with text_field"
    raise CorpusError(message)
