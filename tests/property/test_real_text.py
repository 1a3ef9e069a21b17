"""Real text and random bytes in random parts: every way to go through them gives the same."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bytepair

ENCODINGS = ["gpt2", "cl100k_base", "o200k_base"]
KINDS = ["english", "chinese", "code", "multilingual"]
LENGTH = 30_000
# The fixture is the same text for all examples.
same_text = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
CUTS = st.lists(st.integers(0, 3_000), max_size=40)
PLACE = st.integers(0, LENGTH - 3_000)


def parts(whole, cuts):
    """What was given, cut at these places, of which some may be the same."""
    ends = sorted(min(cut, len(whole)) for cut in cuts)
    return [whole[a:b] for a, b in pairwise([0, *ends, len(whole)])]


@pytest.fixture(params=KINDS)
def corpus(request, corpus_text):
    return corpus_text(request.param, 4 * LENGTH)[:LENGTH]


@pytest.mark.parametrize("name", ENCODINGS)
@same_text
@given(place=PLACE, size=st.integers(0, 3_000), cuts=CUTS)
def test_streams_of_real_text_give_its_ids_and_the_text(corpus, name, place, size, cuts):
    encoding, text = bytepair.get_encoding(name), corpus[place : place + size]
    ids = encoding.encode(text)
    assert list(encoding.encode_iterable(parts(text, cuts))) == ids
    stream = encoding.stream_encoder()
    assert [id for part in parts(text, cuts) for id in stream.feed(part)] + stream.finish() == ids
    decoder = encoding.stream_decoder()
    assert "".join(map(decoder.feed, parts(ids, cuts))) + decoder.finish() == text
    decoder = encoding.stream_decoder(bytes_mode=True)
    assert b"".join(map(decoder.feed, ids)) + decoder.finish() == text.encode()


@pytest.mark.parametrize("name", ENCODINGS)
@same_text
@given(place=PLACE, size=st.integers(0, 3_000))
def test_spans_of_real_text_slice_back_to_the_bytes(corpus, name, place, size):
    encoding, text = bytepair.get_encoding(name), corpus[place : place + size]
    ids, spans = encoding.encode_with_offsets(text, unit="byte")
    assert ids == encoding.encode(text)
    raw = text.encode()
    assert [raw[a:b] for a, b in spans] == [encoding.token_bytes(id) for id in ids]
    # In characters, a token covers each character of which it has a byte.
    covered = encoding.encode_with_offsets(text)[1]
    assert all(
        encoding.token_bytes(id) in text[a:b].encode()
        for id, (a, b) in zip(ids, covered, strict=True)
    )
    assert all(a <= c <= b for (a, b), (c, _) in pairwise(covered))


@pytest.mark.parametrize("name", ENCODINGS)
@same_text
@given(place=PLACE, size=st.integers(0, 3_000), most=st.integers(4, 300), overlap=st.integers(0, 3))
def test_chunks_of_real_text_tile_it(corpus, name, place, size, most, overlap):
    encoding, text = bytepair.get_encoding(name), corpus[place : place + size]
    done = 0
    for chunk in encoding.chunk(text, most, overlap=overlap):
        assert chunk.text == text[chunk.start : chunk.end]
        assert chunk.ids == encoding.encode(chunk.text)
        assert len(chunk.ids) <= most
        assert chunk.start <= done < chunk.end
        assert encoding.count(text[chunk.start : done]) <= overlap
        # One character more does not fit.
        more = text[chunk.start : chunk.end + 1]
        assert chunk.end == len(text) or not encoding.fits(more, most)
        done = chunk.end
    assert done == len(text)


BYTES = st.binary(max_size=200) | st.lists(
    st.sampled_from([b"ab ", "é中🙂".encode(), b"\xf0\x9f", b"\xe4\xbd", b"\xff", b"\xc0\x80"]),
    max_size=40,
).map(b"".join)


@pytest.mark.parametrize("name", ENCODINGS)
@given(data=BYTES, cuts=CUTS)
def test_streams_of_random_bytes(name, data, cuts):
    encoding = bytepair.get_encoding(name)
    ids = encoding.encode(data)
    assert encoding.decode_bytes(ids) == data
    decoder = encoding.stream_decoder(bytes_mode=True)
    assert b"".join(map(decoder.feed, parts(ids, cuts))) + decoder.finish() == data
    for errors in ("replace", "ignore"):
        expected = data.decode(errors=errors)
        decoder = encoding.stream_decoder(errors=errors)
        assert "".join(map(decoder.feed, parts(ids, cuts))) + decoder.finish() == expected
        text = "".join(encoding.decode_iterable(ids, errors=errors))
        assert text == encoding.decode(ids, errors=errors) == expected
        # And on: the text of these bytes is text.
        assert list(encoding.encode_iterable(parts(text, cuts))) == encoding.encode(text)
