"""Arguments that make no sense, or little: an error that names them, and never anything worse."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator

import pytest

from bytepair import Tokenizer, errors, get_encoding
from bytepair.errors import ArgumentError

GPT2 = get_encoding("gpt2")
TEXT = "hello world, hello"
HUGE = [2**31, 2**32, 2**63 - 1, 2**63, 2**64, 2**200]


class Index:
    """An integer that is no int, as those of NumPy."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


class Liar:
    """Ids, with a length that is not theirs."""

    def __init__(self, length: int) -> None:
        self.length = length

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[int]:
        return iter([31373, 995])


@pytest.mark.parametrize("number", HUGE)
def test_a_limit_that_no_text_reaches_is_none(number):
    assert GPT2.fits(TEXT, number)
    assert GPT2.fits_batch([TEXT], number) == [True]
    assert GPT2.count(TEXT, limit=number) == GPT2.count(TEXT)
    assert GPT2.count_batch([TEXT], limit=number) == [GPT2.count(TEXT)]
    assert GPT2.truncate_batch([TEXT], number) == [TEXT]
    for side in ("right", "left", "middle"):
        assert GPT2.truncate(TEXT, number, side=side) == TEXT
    assert [chunk.text for chunk in GPT2.chunk(TEXT, number)] == [TEXT]
    assert [chunk.text for chunk in GPT2.chunk_batch([TEXT], number)[0]] == [TEXT]


def test_integers_of_other_kinds_are_integers():
    for number in (Index(3), True):
        plain = int(number) if number is True else 3
        assert GPT2.truncate(TEXT, number) == GPT2.truncate(TEXT, plain)
        assert GPT2.count(TEXT, limit=number) == plain + 1
        assert not GPT2.fits(TEXT, number)
    numpy = pytest.importorskip("numpy")
    assert GPT2.truncate(TEXT, numpy.int64(3)) == GPT2.truncate(TEXT, 3)
    assert GPT2.count(TEXT, limit=numpy.uint8(3)) == 4
    assert GPT2.decode([numpy.int32(31373), Index(995)]) == "hello world"


@pytest.mark.parametrize("number", [-1, -(2**63), -(2**200), Index(-1)])
def test_a_number_below_zero_is_refused_by_its_name(number):
    for call, name in [
        (lambda: GPT2.truncate(TEXT, number), "max_tokens"),
        (lambda: GPT2.chunk(TEXT, 5, overlap=number), "overlap"),
        (lambda: GPT2.count(TEXT, limit=number), "limit"),
    ]:
        with pytest.raises(ArgumentError, match=f"{name} is "):
            call()
    assert not GPT2.fits("", number)


@pytest.mark.parametrize("number", [None, 1.5, float("nan"), "3", b"3", [], object()])
def test_what_is_no_integer_is_refused_by_its_name(number):
    for call, name in [
        (lambda: GPT2.truncate(TEXT, number), "max_tokens"),
        (lambda: GPT2.truncate_batch([TEXT], number), "max_tokens"),
        (lambda: GPT2.chunk(TEXT, number), "max_tokens"),
        (lambda: GPT2.chunk(TEXT, 5, overlap=number), "overlap"),
        (lambda: GPT2.fits(TEXT, number), "n"),
        (lambda: GPT2.fits_batch([TEXT], number), "n"),
    ]:
        with pytest.raises(TypeError, match=f"^{name} must be int, not {type(number).__name__} "):
            call()
    if number is not None:
        with pytest.raises(TypeError, match="limit must be int or None, not "):
            GPT2.count(TEXT, limit=number)


@pytest.mark.parametrize("length", [0, 5, 2**40, 2**62])
def test_a_length_is_a_hint_only(length):
    assert GPT2.decode(Liar(length)) == "hello world"
    assert GPT2.decode_with_offsets(Liar(length)) == ("hello world", [0, 5])
    assert GPT2.stream_decoder().feed(Liar(length)) == "hello world"
    assert GPT2.heal(Liar(length)).stable == GPT2.heal([31373, 995]).stable


def test_what_an_iterable_raises_comes_through():
    def ids() -> Iterator[int]:
        yield 31373
        raise ZeroDivisionError

    def texts() -> Iterator[str]:
        yield "hello"
        raise ZeroDivisionError

    stream = GPT2.stream_decoder()
    for call in (
        lambda: GPT2.decode(ids()),
        lambda: GPT2.heal(ids()),
        lambda: stream.feed(ids()),
        lambda: GPT2.encode_batch(texts()),
        lambda: list(GPT2.encode_iterable(texts())),
        lambda: GPT2.truncate_batch(texts(), 3),
        lambda: GPT2.encode("a", allowed_special=texts()),
    ):
        with pytest.raises(ZeroDivisionError):
            call()
    assert stream.feed(995) == " world"  # nothing was taken


def test_lone_surrogates_are_named_where_there_are_no_options():
    for call in (GPT2.encode_with_offsets, GPT2.encode_with_unstable, GPT2.token_strings):
        with pytest.raises(UnicodeEncodeError):
            call("a\ud800b")
    for call in (GPT2.truncate, GPT2.chunk, GPT2.fits):
        with pytest.raises(UnicodeEncodeError):
            call("a\ud800b", 5)
    with pytest.raises(errors.UnknownTokenError, match="4294967296 at position 0"):
        GPT2.heal([2**32])


@pytest.mark.parametrize("bytes_mode", [False, True])
def test_an_id_that_feeds_the_stream_it_is_fed_to(bytes_mode):
    stream = GPT2.stream_decoder(bytes_mode=bytes_mode)

    class Feeding:
        def __index__(self) -> int:
            stream.feed(31373)
            return 995

    assert len(stream.feed([Feeding(), Feeding()])) == 12
    stream.finish()


def test_one_stream_of_many_threads_loses_nothing():
    ids, parts = GPT2.encode("some words \U0001f642 and more " * 500), []
    stream = GPT2.stream_decoder(bytes_mode=True)
    encoder, counts = GPT2.stream_encoder(), []

    def work() -> None:
        for id in ids:
            parts.append(len(stream.feed(id)))
            counts.append(len(encoder.feed("word ")))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(parts) == 8 * len(GPT2.decode_bytes(ids))
    assert sum(counts) + len(encoder.finish()) == GPT2.count("word " * (8 * len(ids)))


def test_the_first_space_is_dropped_once(shared):
    """Of a tokenizer that puts one there: in parts as in all, in text as in bytes."""
    folder = shared / "data" / "vocabs" / "mistral"
    tokenizer = Tokenizer.load(folder / "tokenizer.model.v1")
    ids = tokenizer.encode("one two three")
    assert tokenizer.decode(ids) == "one two three"
    for stream in (tokenizer.stream_decoder(), tokenizer.stream_decoder(bytes_mode=True)):
        for _ in range(2):
            parts = [stream.feed(id) for id in ids]
            assert type(parts[0])().join(parts) in ("one two three", b"one two three")
            stream.finish()
    after = tokenizer.stream_decoder(ids[:1], bytes_mode=True)
    assert b"".join(map(after.feed, ids[1:])) == b" two three"
    many = ids * 400_000
    assert tokenizer.decode(many).count(" ") == 3 * 400_000 - 1
    assert pickle.loads(pickle.dumps(tokenizer)).decode(ids) == "one two three"
