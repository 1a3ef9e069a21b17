"""Arrow columns of hostile producers: the texts, or an error that says what is wrong; no crash.

What the interface does not tell cannot be checked, and is the producer's duty: that each buffer is
as large as length, offset and the last offset say, that pointers point to live memory until the
release, and that callbacks are functions of their type.
"""

from __future__ import annotations

import ctypes
import struct
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bytepair
from arrow_support import Array, Chunks, Column, Schema, capsule

GPT2 = bytepair.get_encoding("gpt2")
KINDS = ["u", "U", "vu"]
TEXTS = st.lists(st.text(max_size=20).map(str.encode), max_size=6)


def rows_of(column: object) -> list[list[int]]:
    return GPT2.encode_batch(column)


def released_once(column: Column) -> bool:
    return sorted(column.released) == ["array", "schema"]


@pytest.mark.parametrize("kind", KINDS)
@given(texts=TEXTS, skip=st.integers(0, 3))
def test_right_arrays_are_read(kind, texts, skip):
    column = Column(texts, kind, skip)
    assert rows_of(column) == [GPT2.encode(text.decode()) for text in texts]
    assert released_once(column)


FIELDS = {
    "length": st.integers(-(2**63), -1) | st.just(2**62),
    "offset": st.integers(-(2**63), -1),
    "n_buffers": st.integers(-9, 2),
    "buffers": st.none(),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("field", FIELDS)
@given(data=st.data(), texts=TEXTS.filter(bool), skip=st.integers(0, 3))
def test_fields_that_make_no_sense(kind, field, data, texts, skip):
    column = Column(texts, kind, skip)
    setattr(column.array, field, data.draw(FIELDS[field]))
    with pytest.raises(ValueError, match="its producer is at fault"):
        rows_of(column)
    assert released_once(column)


@pytest.mark.parametrize("kind", KINDS)
@given(texts=TEXTS.filter(any), missing=st.sampled_from([1, 2, 3]), skip=st.integers(0, 3))
def test_buffers_that_are_not_there(kind, texts, missing, skip):
    column = Column(texts, kind, skip)
    if missing < len(column.buffers):
        column.buffers[missing] = None
        column.point()
    try:
        found = rows_of(column)
    except ValueError as error:
        assert "Arrow" in str(error)  # noqa: PT017
    else:  # It was not needed.
        assert found == [GPT2.encode(text.decode()) for text in texts]
        assert kind == "vu" or missing == 3
    assert released_once(column)


@pytest.mark.parametrize("kind", ["u", "U"])
@given(texts=TEXTS.filter(any), shift=st.integers(1, 3))
def test_buffers_that_are_not_aligned(kind, texts, shift):
    column = Column(texts, kind)
    column.point(shift)
    with pytest.raises(ValueError, match="not aligned"):
        rows_of(column)


SMALL = st.integers(-3, 90)


@pytest.mark.parametrize("kind", ["u", "U"])
@given(offsets=st.lists(SMALL, min_size=2, max_size=8), data=st.binary(min_size=90, max_size=90))
def test_offsets_in_any_order(kind, offsets, data):
    column = Column([b""] * (len(offsets) - 1), kind)
    code = "i" if kind == "u" else "q"
    column.buffers[1:] = []
    column.add(struct.pack(f"={len(offsets)}{code}", *offsets))
    column.add(data)
    column.point()
    # Python's slices are never out of bounds, so what is refused is asked for first.
    pairs = list(pairwise(offsets))
    right = all(0 <= start <= end <= offsets[-1] for start, end in pairs)
    check_texts(column, right, [data[start:end] for start, end in pairs])


@given(
    views=st.lists(st.tuples(SMALL, st.integers(-2, 3), SMALL), min_size=1, max_size=5),
    sizes=st.lists(st.integers(-2, 90), max_size=3),
    data=st.binary(min_size=90, max_size=90),
)
def test_views_of_anything(views, sizes, data):
    column = Column([b""] * len(views), "vu")
    column.buffers[1:] = []
    column.add(b"".join(struct.pack("=i4sii", n, b"abcd", at, start) for n, at, start in views))
    for _ in sizes:
        column.add(data)
    column.add(struct.pack(f"={len(sizes)}q", *sizes))
    column.array.n_buffers = len(column.buffers)
    column.point()
    right, texts = True, []
    for length, at, start in views:
        if 0 <= length <= 12:
            texts.append(struct.pack("=4sii", b"abcd", at, start)[:length])
            continue
        right &= length > 0 and 0 <= at < len(sizes) and start >= 0
        right = right and start + length <= sizes[at]
        texts.append(data[start : start + length])
    check_texts(column, right, texts)


def check_texts(column: Column, right: bool, texts: list[bytes]) -> None:
    try:
        expected = [text.decode() for text in texts] if right else None
    except UnicodeDecodeError:
        expected = None
    if expected is None:
        with pytest.raises(ValueError, match=r"out of bounds|not UTF-8"):
            rows_of(column)
    else:
        assert rows_of(column) == [GPT2.encode(text) for text in expected]
    assert released_once(column)


@given(form=st.binary(max_size=4).filter(lambda form: b"\0" not in form))
def test_other_formats_are_refused(form):
    column = Column([b"a"], "u")
    column.format = ctypes.create_string_buffer(form)
    column.schema.format = ctypes.addressof(column.format)
    if form == b"u":
        assert rows_of(column) == [[64]]
    elif form in (b"U", b"vu"):
        return  # The buffers are of another kind: nothing tells.
    else:
        with pytest.raises(TypeError, match="an Arrow column of"):
            rows_of(column)
    assert released_once(column)


def test_a_schema_without_a_format_and_other_odd_pairs():
    column = Column([b"a"], "u")
    column.schema.format = None
    with pytest.raises(ValueError, match="the Arrow schema has no format"):
        rows_of(column)
    assert released_once(column)

    class Gives:
        def __init__(self, given: object) -> None:
            self.given = given

        def __arrow_c_array__(self) -> object:
            return self.given

    column = Column([b"a"], "u")
    pair = column.__arrow_c_array__()
    assert rows_of(Gives(pair)) == [[64]]
    with pytest.raises(ValueError, match="was used before"):
        rows_of(Gives(pair))
    schema, array = Schema(), Array()
    for given_pair in (
        None,
        (),
        pair[:1],
        (pair[1], pair[0]),
        (None, None),
        (capsule(schema, b"arrow_array"), capsule(array, b"arrow_schema")),
    ):
        with pytest.raises((TypeError, ValueError, IndexError)):
            rows_of(Gives(given_pair))
    with pytest.raises(ValueError, match="was used before"):
        rows_of(Gives((capsule(schema), capsule(array))))


@pytest.mark.parametrize("kind", KINDS)
@given(texts=st.lists(st.text(max_size=5).map(str.encode), min_size=1, max_size=20), data=st.data())
def test_nulls_are_refused_with_their_place(kind, texts, data):
    column = Column(texts, kind)
    null = data.draw(st.integers(0, len(texts) - 1))
    bits = ((1 << len(texts)) - 1) & ~(1 << null)
    column.buffers[0] = ctypes.create_string_buffer(bits.to_bytes(8, "little"), 8)
    column.array.null_count = data.draw(st.sampled_from([1, -1, 2**40]))
    column.point()
    with pytest.raises(TypeError, match=f"text {null} is null"):
        rows_of(column)
    assert released_once(column)


@pytest.mark.parametrize("kind", KINDS)
@given(chunks=st.lists(TEXTS, min_size=1, max_size=4), skip=st.integers(0, 2))
def test_streams_of_chunks(kind, chunks, skip):
    columns = [Column(texts, kind, skip) for texts in chunks]
    stream = Chunks(columns)
    assert rows_of(stream) == [GPT2.encode(text.decode()) for texts in chunks for text in texts]
    assert stream.released == ["stream"]
    assert sorted(columns[0].released) == ["array", "schema"]
    assert all(column.released == ["array"] for column in columns[1:])


def test_streams_that_fail():
    with pytest.raises(ValueError, match="failed with code 5: no reason given"):
        rows_of(Chunks([Column([b"a"], "u")], code=5))
    with pytest.raises(ValueError, match="the Arrow schema has no format"):
        rows_of(Chunks([Column([b"a"], "u")], typed=False))
    columns = [Column([b"a"], "u"), Column([b"b", b"\xff"], "u"), Column([b"c"], "u")]
    with pytest.raises(ValueError, match="text 2 is not UTF-8 at byte 0"):
        rows_of(Chunks(columns))
    assert [column.released for column in columns] == [["schema", "array"], ["array"], ["array"]]
    columns = [Column([b"a"], "u"), Column([b"b"], "u"), Column([b"c"], "u")]
    columns[1].array.length = -1
    stream = Chunks(columns)
    with pytest.raises(ValueError, match="has length -1 and offset 0"):
        rows_of(stream)
    # What it had not asked for stays with the producer.
    assert [sorted(column.released) for column in columns] == [["array", "schema"], ["array"], []]
    assert stream.released == ["stream"]
