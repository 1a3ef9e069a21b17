"""Ids in: lists, tuples, iterables and buffers of every kind give the same text."""

from __future__ import annotations

import array
import random

import pytest

from bytepair import Tokenizer, get_encoding
from bytepair.errors import ArgumentError, UnknownTokenError

numpy = pytest.importorskip("numpy")

TEXT = "hello world, naïve café 中文 😀 <|endoftext|> " * 3
KINDS = ["uint16", "int32", "uint32", "int64", "uint64", "int16", ">u4", ">i8", "<i4"]


@pytest.fixture(scope="module")
def gpt2():
    return get_encoding("gpt2")


@pytest.mark.parametrize("kind", KINDS)
def test_arrays(gpt2, kind):
    ids = [id for id in gpt2.encode(TEXT) if id < 1 << 15]
    expected = gpt2.decode(ids)
    values = numpy.array(ids, dtype=kind)
    assert gpt2.decode(values) == expected
    assert gpt2.decode(numpy.repeat(values, 2)[::2]) == expected
    if not kind.startswith(">"):  # Python does not read those
        assert gpt2.decode(memoryview(values)) == expected
    assert gpt2.decode_bytes(values[:0]) == b""


def test_other_buffers(gpt2):
    ids = gpt2.encode(TEXT)
    for code in "IlqQL":
        assert gpt2.decode(array.array(code, ids)) == TEXT
    assert gpt2.decode(numpy.array(ids, dtype=object)) == TEXT
    # The ids of a buffer of bytes are its bytes.
    for small in (b"\x00\x01", bytearray(b"\x00\x01"), numpy.array([0, 1], dtype="uint8")):
        assert gpt2.decode(small) == '!"'


@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_what_no_token_has_is_named_with_its_place(gpt2, kind):
    for wrong, position in ((-1, 2), (60_000, 0)):
        values = [5, 5, 5, 5]
        values[position] = wrong
        for form in (values, tuple(values), numpy.array(values, dtype=kind)):
            with pytest.raises(UnknownTokenError, match=f"{wrong} at position {position}"):
                gpt2.decode(form)
    with pytest.raises(UnknownTokenError, match="18446744073709551615 at position 0"):
        gpt2.decode(numpy.array([2**64 - 1], dtype="uint64"))


@pytest.mark.parametrize("kind", ["float64", "float32", "bool", "S1", "U1"])
def test_what_is_no_integer_is_refused(gpt2, kind):
    if kind == "bool":
        assert gpt2.decode([True]) == '"'
        return
    with pytest.raises(TypeError, match="ids must be int"):
        gpt2.decode(numpy.array([1, 2]).astype(kind))


def test_two_dimensions_are_refused(gpt2):
    with pytest.raises(TypeError, match="ids must be int"):
        gpt2.decode(numpy.zeros((2, 2), dtype="uint32"))


@pytest.mark.parametrize("step", [1, 3, 100_000])
def test_gaps_and_lengths(step):
    """Tokens of every length around the one that is copied at once; ids with gaps, dense or not."""
    source = random.Random(step)
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [source.randbytes(length) for length in range(2, 70)]
    vocab = {at * step: token for at, token in enumerate(tokens)}
    last = max(vocab)
    tokenizer = Tokenizer(vocab, [], {"<|s|>": last + 7}, pattern=None)
    ids = source.choices([*vocab, last + 7], k=5_000)
    expected = b"".join(vocab.get(id, b"<|s|>") for id in ids)
    assert tokenizer.decode_bytes(ids) == expected
    assert tokenizer.decode(ids) == expected.decode(errors="replace")
    for wrong in (last + 1, last + 8, 2**32 - 1, 1 if step > 1 else last + 2):
        with pytest.raises(UnknownTokenError, match=f"{wrong} at position 5000"):
            tokenizer.decode_bytes([*ids, wrong])


def test_errors_are_those_of_python(gpt2):
    ids = [8582, 31373, 8582]
    data = gpt2.decode_bytes(ids)
    for errors in ("replace", "ignore", "backslashreplace", "surrogateescape"):
        assert gpt2.decode(ids, errors=errors) == data.decode(errors=errors)
    with pytest.raises(UnicodeDecodeError):
        gpt2.decode(ids, errors="strict")
    for name in ("no such handler", "a\0b"):
        for given in (ids, [31373], []):
            with pytest.raises(ArgumentError, match="errors is "):
                gpt2.decode(given, errors=name)
