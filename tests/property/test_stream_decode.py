"""Stream decoding and offsets: the same as decoding and encoding at once, for any ids and text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bytepair
from bytepair import Tokenizer
from text_support import PART, SPECIAL, small_tokenizer

GPT2 = bytepair.get_encoding("gpt2")
BYTES = Tokenizer({byte: bytes([byte]) for byte in range(256)}, [])
WITH_SPECIAL = {
    kind: small_tokenizer(kind, SPECIAL) for kind in ("gpt2", "o200k", "custom", "none")
}
# Bytes that often make, break or resemble characters.
SOME = st.sampled_from([*b"ab", *"é中🙂\ufffd".encode(), 0xC0, 0xED, 0xA0, 0xF4, 0x90, 0xFF])
IDS = st.lists(st.one_of(SOME, st.integers(0, 255)), max_size=40)


def streamed(tokenizer: Tokenizer, ids: list[int], cuts: list[int], errors: str) -> str:
    stream = tokenizer.stream_decoder(errors=errors)
    ends = sorted({min(cut, len(ids)) for cut in cuts} | {len(ids)})
    parts = [stream.feed(ids[a:b]) for a, b in zip([0, *ends], ends, strict=False)]
    return "".join(parts) + stream.finish()


@pytest.mark.parametrize("errors", ["replace", "ignore"])
@given(ids=IDS, cuts=st.lists(st.integers(0, 40), max_size=8))
def test_a_stream_gives_the_text(errors, ids, cuts):
    expected = bytes(ids).decode(errors=errors)
    assert BYTES.decode(ids, errors=errors) == expected
    assert streamed(BYTES, ids, cuts, errors) == expected
    assert "".join(BYTES.decode_iterable(ids, errors=errors)) == expected


@given(ids=IDS)
def test_strict_streams_fail_where_decoding_does(ids):
    try:
        expected = bytes(ids).decode()
    except UnicodeDecodeError:
        with pytest.raises(UnicodeDecodeError):
            streamed(BYTES, ids, [], "strict")
    else:
        assert streamed(BYTES, ids, list(range(40)), "strict") == expected


@given(prompt=IDS, ids=IDS)
def test_a_prompt_is_not_repeated(prompt, ids):
    stream = BYTES.stream_decoder(prompt)
    text = "".join(map(stream.feed, ids)) + stream.finish()
    # The text of all, without what the prompt had completed.
    before = BYTES.stream_decoder().feed(prompt)
    assert before + text == BYTES.decode(prompt + ids)


@given(text=st.text(max_size=60))
def test_a_character_is_given_when_it_is_complete(text):
    stream, given_out, ids = GPT2.stream_decoder(), "", GPT2.encode(text)
    for taken, id in enumerate(ids, 1):
        given_out += stream.feed(id)
        complete = GPT2.decode_bytes(ids[:taken]).decode(errors="ignore")
        assert given_out == complete
    assert stream.finish() == ""


@pytest.mark.parametrize("kind", WITH_SPECIAL)
@given(text=st.lists(st.one_of(PART, st.text(max_size=3)), max_size=20).map("".join))
def test_spans_are_where_the_tokens_are(kind, text):
    tokenizer, raw = WITH_SPECIAL[kind], text.encode()
    ids, spans = tokenizer.encode_with_offsets(text, unit="byte")
    assert ids == tokenizer.encode(text)
    assert [raw[a:b] for a, b in spans] == [tokenizer.token_bytes(id) for id in ids]
    # The character of each byte.
    begins = [at for at, character in enumerate(text) for _ in character.encode()]
    assert tokenizer.encode_with_offsets(text)[1] == [
        (begins[a], begins[b - 1] + 1) for a, b in spans
    ]
    units = [len(text[:n].encode("utf-16-le")) // 2 for n in range(len(text) + 1)]
    assert tokenizer.encode_with_offsets(text, unit="utf16")[1] == [
        (units[begins[a]], units[begins[b - 1] + 1]) for a, b in spans
    ]
    assert tokenizer.decode_with_offsets(ids) == (text, [begins[a] for a, _ in spans])


@given(ids=IDS)
def test_offsets_into_broken_text(ids):
    for errors in ("replace", "ignore"):
        text, starts = BYTES.decode_with_offsets(ids, errors=errors)
        assert text == BYTES.decode(ids, errors=errors)
        assert len(starts) == len(ids)
        assert starts == sorted(starts)
        assert all(0 <= start <= len(text) for start in starts)


@given(data=st.binary(max_size=60), text=st.text(max_size=20))
def test_any_bytes_come_back(data, text):
    for tokenizer in (GPT2, BYTES, WITH_SPECIAL["gpt2"]):
        for given_bytes in (data, text.encode(), text.encode() + data + text.encode()):
            ids = tokenizer.encode(given_bytes)
            assert tokenizer.decode_bytes(ids) == given_bytes
            assert tokenizer.count(given_bytes) == len(ids)
            assert tokenizer.decode_bytes(tokenizer.encode_ordinary(given_bytes)) == given_bytes
        assert tokenizer.encode(text.encode()) == tokenizer.encode(text)
