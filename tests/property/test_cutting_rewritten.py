"""Cuts of texts that the normalizer rewrites: by brute force, and beside the core's."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import lru_cache
from unittest import mock

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import bytepair
from bytepair import Tokenizer, _places
from bytepair._breaks import KINDS, last_break
from bytepair._by_count import Search
from bytepair.errors import ArgumentError, SpecialTokenError
from text_support import MERGES, PART, PATTERNS, SPECIAL, VOCAB, small_tokenizer

NORMALIZERS = {
    "NFC": "NFC",
    "NFD": "NFD",
    "lower": "Lowercase",
    "marks": [["Replace", " ", "\u2581"], ["Prepend", "\u2581"]],
    "gone": [["Replace", "a", ""], "NFKC"],
}
TEXT = st.lists(
    st.one_of(PART, st.sampled_from("e\u0301\u0323\u0958\ufb01\u1100\u1161A")), max_size=24
)
TEXTS = TEXT.map("".join)


def rewriting(kind: str) -> Tokenizer:
    return Tokenizer(VOCAB, MERGES, SPECIAL, normalizer=NORMALIZERS[kind])


def longest(tokenizer: Tokenizer, text: str, most: int, side: str) -> str:
    parts = [text[:n] if side == "right" else text[len(text) - n :] for n in range(len(text) + 1)]
    return next(part for part in reversed(parts) if tokenizer.count(part) <= most)


@pytest.mark.parametrize("kind", NORMALIZERS)
@given(text=TEXTS, most=st.integers(0, 25))
def test_the_longest_is_kept(kind, text, most):
    tokenizer = rewriting(kind)
    for side in ("right", "left"):
        kept, ids, (start, end) = tokenizer.truncate_with_span(text, most, side=side)
        assert kept == text[start:end] == longest(tokenizer, text, most, side)
        assert ids == tokenizer.encode(kept)
    assert tokenizer.count(tokenizer.truncate(text, most, side="middle")) <= most


@pytest.mark.parametrize("kind", NORMALIZERS)
@given(text=TEXTS, most=st.integers(7, 25), overlap=st.integers(0, 3))
def test_chunks_tile_the_text(kind, text, most, overlap):
    tokenizer = rewriting(kind)
    done = 0
    chunks = tokenizer.chunk(text, most, overlap=overlap)
    for chunk in chunks:
        assert chunk.text == text[chunk.start : chunk.end]
        assert chunk.ids == tokenizer.encode(chunk.text)
        assert len(chunk.ids) <= most
        assert chunk.start <= done < chunk.end
        assert chunk.text == longest(tokenizer, text[chunk.start :], most, "right")
        done = chunk.end
    assert done == len(text)
    assert tokenizer.chunk_batch([text, "a"], most, overlap=overlap)[0] == chunks
    assert tokenizer.truncate_batch([text, "a"], most)[0] == tokenizer.truncate(text, most)


@pytest.mark.parametrize("kind", PATTERNS)
@given(
    text=st.one_of(
        TEXTS, st.lists(st.sampled_from(["A b", ". ", "\n\n", '?" ', "。"])).map("".join)
    ),
    most=st.integers(7, 25),
    overlap=st.integers(0, 3),
    prefer=st.lists(st.sampled_from(KINDS), max_size=3),
)
def test_counting_finds_what_the_core_finds(kind, text, most, overlap, prefer):
    tokenizer = small_tokenizer(kind, SPECIAL)
    search = Search(tokenizer, text, "all", ())
    with mock.patch.object(Search, "_by_core", return_value=None):
        for side in ("right", "left", "middle"):
            taken = bytepair._core.cut_out(tokenizer, text, most, side)
            assert search.cut_out(most, side) == taken
        chunks = tokenizer.chunk(text, most, overlap=overlap, prefer=prefer)
        wanted = [(chunk.start, chunk.end) for chunk in chunks]
        assert search.chunks(most, overlap, prefer) == wanted


def test_added_tokens_are_as_long_as_they_are():
    """One more character may complete the longest of them, and no cut makes one."""
    normalizer = [["Replace", "Z", "zz"]]
    added = {"<abcdefgh>": 300, "ab": 301}
    tokenizer = Tokenizer(VOCAB, MERGES, added_tokens=added, normalizer=normalizer)
    text = "Z<abcdefgh>" + "z" * 20
    for side in ("right", "left", "middle"):
        kept, ids, (start, end) = tokenizer.truncate_with_span(text, 3, side=side)
        assert len(ids) <= 3
        if side != "middle":
            assert kept == text[start:end] == longest(tokenizer, text, 3, side)
    assert tokenizer.truncate(text, 3) == "Z<abcdefgh>"
    # Taking out the middle would leave "a" and "b" side by side.
    for more in ({}, {"normalizer": normalizer}):
        tokenizer = Tokenizer(VOCAB, MERGES, added_tokens=added, **more)
        text = "zaxZbx" if more else "zaxxbx"
        assert tokenizer.truncate(text, 4, side="middle") == "zax"


BYTES = Tokenizer({byte: bytes([byte]) for byte in range(256)}, [], pattern=None)


@given(
    kind=st.sampled_from(KINDS),
    parts=st.lists(
        st.sampled_from([*"\n\r\u2028 \t.!?…\u0964)\"'。！」aé\x1c\x85\u3000", "\r\n"]), min_size=1
    ),
)
def test_breaks_are_the_core_s(kind, parts):
    text = "".join(parts)
    found = last_break(kind, text, 0, len(text))
    size = len(text.encode())
    # With something behind it the text does not end the search.
    ahead = text + "a"
    first = BYTES.chunk(ahead, size, prefer=kind)[0].end
    assert (last_break(kind, ahead, 0, len(text)) or len(text)) == first
    assert found is None or 0 < found <= len(text)


def test_qwen_s_and_mistral_s_texts(shared):
    vocabs = shared / "data" / "vocabs"
    qwen = Tokenizer.load(vocabs / "hf" / "qwen3")
    text = "hello world cafe\u0301 au lait. " * 400
    assert [chunk.text for chunk in qwen.chunk("hello world cafe\u0301", 2)] == [
        "hello world",
        " cafe\u0301",
    ]
    mistral = Tokenizer.load(vocabs / "mistral" / "tokenizer.model.v1")
    for tokenizer in (qwen, mistral):
        chunks = tokenizer.chunk(text, 64, prefer="sentence")
        assert "".join(chunk.text for chunk in chunks) == text
        assert all(tokenizer.fits(chunk.text, 64) for chunk in chunks)
        assert tokenizer.truncate(text, 64).startswith(chunks[0].text)


def test_what_is_refused_is_said_as_ever():
    tokenizer = rewriting("NFC")
    text = "abc <|a|> e\u0301\u0301 猫"
    with pytest.raises(SpecialTokenError):
        tokenizer.chunk(text, 9, allowed_special=(), disallowed_special="all")
    with pytest.raises(ArgumentError) as caught:
        tokenizer.chunk(text, 2)
    assert str(caught.value) == (
        'the character "猫" at 14 takes 3 tokens and max_tokens is 2; give at least 3'
    )
    assert caught.value.__context__ is None
    for prefer in ("page", ["line", "page"]):
        with pytest.raises(ArgumentError, match="prefer has 'page'; it takes 'paragraph'"):
            tokenizer.chunk(text, 9, prefer=prefer)
    with pytest.raises(ArgumentError, match="side is 'up'"):
        tokenizer.truncate(text, 9, side="up")


# ── Places ────────────────────────────────────────────────────────────────────────────────────────


@given(text=st.lists(st.sampled_from("ae\u0301\u0323\u0f71\u0f73\u1100\u1161\u11a8\uac00")))
def test_nfc_by_parts_is_nfc(text):
    text = "".join(text)
    with mock.patch.object(_places, "_PART", 2):
        assert _places._nfc(text) == unicodedata.normalize("NFC", text)


@given(text=TEXTS)
def test_places_in_text_that_nfc_rewrites(text):
    tokenizer = rewriting("NFC")
    ids, spans = tokenizer.encode_with_offsets(text, allowed_special=())
    assert ids == tokenizer.encode_ordinary(text)
    # From the beginning to the end, and nothing left out but what became nothing of its own.
    assert all(0 <= start <= end <= len(text) for start, end in spans)
    assert [start for start, _ in spans] == sorted(start for start, _ in spans)
    utf8 = [(len(text[:a].encode()), len(text[:b].encode())) for a, b in spans]
    utf16 = [(len(text[:a].encode("utf-16-le")) // 2, len(text[:b].encode("utf-16-le")) // 2)
             for a, b in spans]  # fmt: skip
    for unit, wanted in (("byte", utf8), ("utf16", utf16)):
        found = tokenizer.encode_with_offsets(text, unit=unit, allowed_special=())
        if unicodedata.is_normalized("NFC", text):
            # The core tells the bytes of a character apart.
            assert found[0] == ids
        else:
            assert found == (ids, wanted)


@pytest.mark.parametrize("kind", ["qwen3", "gemma3"])
@given(text=TEXTS, before=st.text(max_size=3), after=st.text(max_size=3))
def test_places_are_those_of_tokenizers(both, kind, text, before, after):
    ours, theirs = both(kind)
    text = before + text + after + "\u2581"
    there = theirs.encode(text, add_special_tokens=False)
    assert ours.encode_with_offsets(text) == (there.ids, there.offsets)


@pytest.fixture(scope="module")
def both(shared) -> Callable[[str], tuple[Tokenizer, tokenizers.Tokenizer]]:
    @lru_cache
    def load(kind: str) -> tuple[Tokenizer, tokenizers.Tokenizer]:
        path = shared / "data" / "vocabs" / "hf" / kind / "tokenizer.json"
        return Tokenizer.load(path), tokenizers.Tokenizer.from_file(str(path))

    return load


def test_places_of_one_accent():
    tokenizer = rewriting("NFC")
    alignment = tokenizer.align("cafe\u0301 x")
    spans = alignment.spans()
    assert [spans[0], *spans[-2:]] == [(0, 1), (5, 6), (6, 7)]
    assert alignment.char_to_token(3) == 3
    with pytest.raises(ArgumentError, match="rewrites the text"):
        rewriting("lower").encode_with_offsets("A")
    with pytest.raises(ArgumentError, match="unit is"):
        tokenizer.encode_with_offsets("e\u0301", unit="word")


def test_a_choice_of_special_tokens_may_be_read_once():
    tokenizer = rewriting("NFC")
    text = "e\u0301 <|a|> b"
    for allowed in (["<|a|>"], []):
        wanted = tokenizer.chunk(text, 7, allowed_special=allowed)
        assert tokenizer.chunk(text, 7, allowed_special=iter(allowed)) == wanted
        batch = tokenizer.chunk_batch([text], 7, allowed_special=iter(allowed))
        assert batch == [wanted]
        cut = tokenizer.truncate(text, 5, allowed_special=allowed)
        assert tokenizer.truncate(text, 5, allowed_special=iter(allowed)) == cut
