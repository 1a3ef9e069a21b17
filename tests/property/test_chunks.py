"""Streaming: for every chunking of every text, the ids of the whole text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bytepair
from bytepair import errors, reference
from text_support import MERGES, PART, PATTERNS, SPECIAL, VOCAB, small_tokenizer

PLAIN = {kind: small_tokenizer(kind, []) for kind in PATTERNS}
WITH_SPECIAL = {kind: small_tokenizer(kind, SPECIAL) for kind in PATTERNS}


@st.composite
def chunkings(draw: st.DrawFn) -> list[str]:
    """A text in chunks, cut at any characters; some chunks are empty."""
    text = "".join(draw(st.lists(PART, max_size=25)))
    cuts = draw(st.lists(st.integers(0, len(text)), max_size=12).map(sorted))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@pytest.mark.parametrize("kind", PATTERNS)
@given(chunks=chunkings())
def test_any_chunking_gives_the_same_ids(kind, chunks):
    text = "".join(chunks)
    for encoding in (PLAIN[kind], WITH_SPECIAL[kind]):
        assert list(encoding.encode_iterable(chunks)) == encoding.encode(text)
        assert list(encoding.encode_iterable(text)) == encoding.encode(text)


@pytest.mark.parametrize("kind", PATTERNS)
@given(chunks=chunkings(), allowed=st.sets(st.sampled_from(SPECIAL)))
def test_with_any_policy(kind, chunks, allowed):
    encoding, text = WITH_SPECIAL[kind], "".join(chunks)
    ids = encoding.encode(text, allowed_special=allowed)
    assert list(encoding.encode_iterable(chunks, allowed_special=allowed)) == ids
    options = {"allowed_special": allowed, "disallowed_special": "all"}
    try:
        expected = encoding.encode(text, **options)
    except errors.SpecialTokenError:
        with pytest.raises(errors.SpecialTokenError):
            list(encoding.encode_iterable(chunks, **options))
    else:
        assert list(encoding.encode_iterable(chunks, **options)) == expected == ids


@given(chunks=st.lists(st.text(max_size=20), max_size=10))
def test_any_text(chunks):
    for name in ("gpt2", "cl100k_base", "o200k_base"):
        encoding = bytepair.get_encoding(name)
        assert list(encoding.encode_iterable(chunks)) == encoding.encode("".join(chunks))


@pytest.mark.parametrize("kind", ["gpt2", "cl100k", "o200k"])
@given(chunks=chunkings())
def test_the_reference_streams_alike(kind, chunks):
    slow = reference.BPETokenizer(VOCAB, MERGES, SPECIAL, pattern=kind)
    assert list(slow.encode_iterable(chunks)) == WITH_SPECIAL[kind].encode("".join(chunks))


@pytest.mark.parametrize("kind", PATTERNS)
@given(piece=PART, times=st.integers(1, 3_000), size=st.integers(1, 999), tail=PART)
def test_long_runs_in_chunks(kind, piece, times, size, tail):
    text = piece * times + tail
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    encoding = WITH_SPECIAL[kind]
    assert list(encoding.encode_iterable(chunks)) == encoding.encode(text)
