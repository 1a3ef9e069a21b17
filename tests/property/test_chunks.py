"""Streaming: for every chunking of every text, the ids of the whole text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bytepair
from bytepair import Tokenizer, errors, reference

SPECIAL = ["<|a|>", "<|a|><|a|>", "<|a|>b<|", "  ", "\n\n", "'s x"]
BYTES = {byte: bytes([byte]) for byte in range(256)}
VOCAB = {**BYTES, 256: b"th", 257: b"the", 258: b"  ", 259: b"   ", 260: b"\n\n", 261: b" \n"}
MERGES = [(b"t", b"h"), (b"th", b"e"), (b" ", b" "), (b"  ", b" "), (b"\n", b"\n"), (b" ", b"\n")]
PATTERNS = {
    "gpt2": "gpt2",
    "cl100k": "cl100k",
    "o200k": "o200k",
    "llama3": "llama3",
    "nanochat": "nanochat",
    "deepseek_v3": "deepseek_v3",
    "none": None,
    "custom": r"\s+(?!\S)|\p{L}{1,20}(?=\s)|\d{1,3}|.",
    "look-behind": r"(?<=a)b+|a+|\s+",
    "sequence": [r"\p{N}{1,2}", r" ?\p{L}+|\s+$"],
}
PART = st.sampled_from(
    [
        *["a", "b", "s", "x", "S", "L", "é", "\u0301", "中", "🙂", "1", "12", "1234", "'ll", "’"],
        *[" ", "  ", "   ", "\n", "\n\n", "\r", "\r\n", "\t", "\u00a0", "\u2028", "/", ".", "'"],
        *["<", "<|", "|>", "<|a", "a|>", "<|a|>", "<|a|><|a|>", "the", " the", "HTTPServer"],
    ]
)


def tokenizer(kind: str, special: list[str]) -> Tokenizer:
    return Tokenizer(VOCAB, MERGES, special, pattern=PATTERNS[kind])


PLAIN = {kind: tokenizer(kind, []) for kind in PATTERNS}
WITH_SPECIAL = {kind: tokenizer(kind, SPECIAL) for kind in PATTERNS}


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
