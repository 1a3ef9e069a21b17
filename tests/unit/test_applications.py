"""Streams, spans, limits and bytes: arguments, errors, and what the properties do not say."""

from __future__ import annotations

import threading

import pytest

import bytepair
from bytepair import errors

GPT2 = bytepair.get_encoding("gpt2")
CL100K = bytepair.get_encoding("cl100k_base")


def test_a_decoder_takes_an_id_or_several():
    numpy = pytest.importorskip("numpy")
    stream = GPT2.stream_decoder()
    assert stream.feed(31373) == "hello"
    assert stream.feed(numpy.uint32(995)) == " world"
    assert stream.feed(numpy.array([31373, 995])) == "hello world"
    assert stream.feed(iter([31373])) == "hello"
    assert stream.feed([]) == ""
    with pytest.raises(TypeError, match="ids must be int, not str"):
        stream.feed("hello")
    with pytest.raises(TypeError, match="ids must be int, not float"):
        stream.feed(1.5)


def test_a_decoder_names_the_unknown_id_and_goes_on():
    stream = GPT2.stream_decoder()
    assert stream.feed([31373, 8582]) == "hello"
    with pytest.raises(errors.UnknownTokenError, match="unknown id 60000 at position 3"):
        stream.feed([25081, 60000])
    assert stream.feed(25081) == "\U0001f642"
    with pytest.raises(errors.UnknownTokenError, match="60000 at position 1"):
        GPT2.stream_decoder([31373, 60000])


def test_the_end_of_a_decoder():
    for how, tail in [("replace", "\ufffd"), ("ignore", "")]:
        stream = GPT2.stream_decoder(errors=how)
        assert stream.feed(8582) == ""
        assert stream.finish() == tail
        assert stream.finish() == ""
    stream = GPT2.stream_decoder(errors="strict")
    assert stream.feed([31373, 8582]) == "hello"
    with pytest.raises(UnicodeDecodeError, match="at byte 5 of the stream"):
        stream.finish()
    with pytest.raises(errors.ArgumentError, match='errors is "nothing"'):
        GPT2.stream_decoder(errors="nothing")


def test_many_decoders_and_threads():
    text = "caf\u00e9 \U0001f642 " * 50
    ids = GPT2.encode(text)
    results = []

    def work() -> None:
        results.append("".join(GPT2.decode_iterable(ids)))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [text] * 8


def test_an_encoder_is_encode_iterable():
    text = "hello wor\U0001f642ld<|endoftext|> 12345  x"
    stream = GPT2.stream_encoder()
    for size in (1, 2, 5, 99):
        ids = []
        for at in range(0, len(text), size):
            ids += stream.feed(text[at : at + size])
        assert ids + stream.finish() == GPT2.encode(text)
    plain = GPT2.stream_encoder(allowed_special=())
    assert plain.feed(text) + plain.finish() == GPT2.encode_ordinary(text)
    with pytest.raises(TypeError, match="text must be str, not bytes"):
        stream.feed(b"x")


def test_an_encoder_joins_halves_of_a_pair():
    stream = GPT2.stream_encoder(errors="replace")
    ids = stream.feed("a\ud83d") + stream.feed("\ude42b\ud800") + stream.finish()
    assert ids == GPT2.encode("a\U0001f642b\ufffd")
    with pytest.raises(UnicodeEncodeError):
        GPT2.stream_encoder().feed("a\ud83d")


def test_an_encoder_refuses_what_is_disallowed():
    stream = GPT2.stream_encoder(allowed_special=(), disallowed_special="all")
    assert stream.feed("hello <|endof") == [31373]
    with pytest.raises(errors.SpecialTokenError, match="character 6,"):
        stream.feed("text|>")


def test_an_alias_is_as_long_as_it_is_written():
    harmony = bytepair.get_encoding("o200k_harmony")
    aliases = harmony._special_aliases
    assert aliases
    for alias in aliases:
        text = f"\u00e9{alias}b"
        _, spans = harmony.encode_with_offsets(text)
        assert spans[-2:] == [(1, 1 + len(alias)), (1 + len(alias), len(text))]


def test_offsets_refuse_what_they_do_not_know():
    with pytest.raises(errors.ArgumentError, match='"char", "byte" or "utf16"'):
        GPT2.encode_with_offsets("x", unit="word")
    with pytest.raises(UnicodeDecodeError):
        GPT2.decode_with_offsets([8582], errors="strict")
    with pytest.raises(errors.UnknownTokenError, match="60000"):
        GPT2.decode_with_offsets([60000])


def test_limits_that_make_no_sense():
    with pytest.raises(errors.ArgumentError, match="max_tokens is -1"):
        GPT2.truncate("x", -1)
    with pytest.raises(errors.ArgumentError, match='"right", "left" or "middle"'):
        GPT2.truncate("x", 1, side="top")
    with pytest.raises(errors.ArgumentError, match="overlap is 3 and max_tokens is 3"):
        GPT2.chunk("x", 3, overlap=3)
    with pytest.raises(errors.ArgumentError, match="overlap is -1"):
        GPT2.chunk("x", 3, overlap=-1)
    assert GPT2.fits("", 0)
    assert not GPT2.fits("", -1)
    assert GPT2.chunk("", 3) == []


def test_a_character_over_the_limit_is_named():
    with pytest.raises(errors.ArgumentError, match='"\u732b" at 1 takes 3 tokens'):
        CL100K.chunk("a\u732b", 2)


def test_chunks_of_two_tokens():
    text = "xx \U0001f642 yy"
    chunks = GPT2.chunk(text, 2)
    assert "".join(chunk.text for chunk in chunks) == text
    assert all(chunk.text == text[chunk.start : chunk.end] for chunk in chunks)


def test_the_middle_makes_no_special_token():
    text = "<|endof" + " word" * 50 + "text|>"
    for most in range(2, 14):
        kept = GPT2.truncate(text, most, side="middle")
        assert 50256 not in GPT2.encode(kept)


def test_a_disallowed_special_token_stops_a_cut():
    text = "hello <|endoftext|>"
    with pytest.raises(errors.SpecialTokenError, match="character 6,"):
        GPT2.truncate(text, 1, allowed_special=(), disallowed_special="all")
    assert GPT2.truncate(text, 3, allowed_special=()) == "hello <|"


def test_bytes_and_special_tokens():
    data = b"\xff<|endoftext|>\xff\xfe"
    assert GPT2.encode(data)[1] == 50256
    assert 50256 not in GPT2.encode_ordinary(data)
    with pytest.raises(errors.SpecialTokenError, match="byte 1"):
        GPT2.encode(data, allowed_special=(), disallowed_special="all")
    assert GPT2.count(b"word " * 1000, limit=10) == 11
    assert GPT2.count(b"\xff" * 1000, limit=10) == 11
    with pytest.raises(TypeError, match="text must be str"):
        GPT2.encode(bytearray(b"x"))
