"""The operations of applications on every kind of vocabulary, random text and the four corpora.

Real tables and small ones, merging that begins with characters, special tokens that take the white
space around them, and normalizers. Places in a text that one of them rewrites are compared with
those of `tokenizers` elsewhere (`test_cutting_rewritten.py`); all else holds for every text.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bytepair import Tokenizer, get_encoding
from text_support import MERGES, PART, VOCAB

BUNDLED = ["gpt2", "cl100k_base", "o200k_base"]
MADE = ["characters", "flags", "nfc"]
LOADED = ["llama3", "qwen3", "deepseek_v3", "gemma3"]
KINDS = [*BUNDLED, *MADE, *LOADED]
CORPORA = ["english", "chinese", "code", "multilingual"]
SPECIALS = ["<left>", "<right>", "<word>"]


def added(content: str, id: int, **flags: bool) -> dict[str, object]:
    usual = {"lstrip": False, "rstrip": False, "single_word": False, "normalized": False}
    return {"id": id, "content": content, "special": True, **usual, **flags}


def with_flags(folder: Path) -> Tokenizer:
    """GPT-2's tokens, and special ones with a flag each."""
    path = folder / "flags.json"
    get_encoding("gpt2").with_special_tokens(SPECIALS).save(path, format="huggingface")
    facts = json.loads(path.read_text(encoding="utf-8"))
    flags = ({"lstrip": True}, {"rstrip": True}, {"single_word": True})
    own = [added(name, 50257 + at, **flags[at]) for at, name in enumerate(SPECIALS)]
    others = [token for token in facts["added_tokens"] if token["content"] not in SPECIALS]
    path.write_text(json.dumps({**facts, "added_tokens": [*others, *own]}), encoding="utf-8")
    return Tokenizer.load(path, format="huggingface")


def of_characters(folder: Path) -> Tokenizer:
    """Tokens that begin with characters; bytes for those that have none."""
    words = ["t", "h", "e", " ", "th", "the", " the", "é", "中", "a", "aa", "\u0301"]
    vocab = {f"<0x{byte:02X}>": byte for byte in range(256)}
    vocab |= {word: 256 + at for at, word in enumerate(words)}
    merges = [["t", "h"], ["th", "e"], [" ", "the"], ["a", "a"]]
    model = {"type": "BPE", "vocab": vocab, "merges": merges, "byte_fallback": True}
    decoder = {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]}
    facts = {
        "version": "1.0",
        "added_tokens": [added("<left>", 256 + len(words))],
        "normalizer": None,
    }
    facts |= {"pre_tokenizer": None, "decoder": decoder, "model": model}
    path = folder / "characters.json"
    path.write_text(json.dumps(facts), encoding="utf-8")
    return Tokenizer.load(path, format="huggingface")


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory, request) -> Callable[[str], Tokenizer]:
    folder, made = tmp_path_factory.mktemp("vocabs"), {}

    def build(kind: str) -> Tokenizer:
        if kind in BUNDLED:
            return get_encoding(kind)
        if kind == "nfc":
            return Tokenizer(VOCAB, MERGES, SPECIALS, pattern="gpt2", normalizer="NFC")
        if kind in MADE:
            return with_flags(folder) if kind == "flags" else of_characters(folder)
        shared = request.getfixturevalue("shared")
        return Tokenizer.load(shared / "data" / "vocabs" / "hf" / kind / "tokenizer.json")

    def tokenizer(kind: str) -> Tokenizer:
        if kind not in made:
            made[kind] = build(kind)
        return made[kind]

    return tokenizer


TEXTS = st.lists(
    st.one_of(PART, st.sampled_from([*SPECIALS, " ", "<|endoftext|>"]), st.text(max_size=3)),
    max_size=24,
).map("".join)
CUTS = st.lists(st.integers(0, 60), max_size=6)
kinds = pytest.mark.parametrize("kind", KINDS)


def parts_of(text: str, cuts: list[int]) -> list[str]:
    places = sorted({0, *(min(cut, len(text)) for cut in cuts), len(text)})
    return [text[start:end] for start, end in pairwise(places)]


def rewritten(tokenizer: Tokenizer, text: str) -> bool:
    """Whether a normalizer rewrites `text`: then its tokens hold other bytes than it does."""
    return tokenizer.decode_bytes(tokenizer.encode(text)) != text.encode()


def streams_give_the_ids(tokenizer: Tokenizer, text: str, cuts: list[int]) -> None:
    ids, parts = tokenizer.encode(text), parts_of(text, cuts)
    assert list(tokenizer.encode_iterable(parts)) == ids
    stream = tokenizer.stream_encoder()
    for _ in range(2):  # a stream that has ended is new
        assert [id for part in parts for id in stream.feed(part)] + stream.finish() == ids
    decoder = tokenizer.stream_decoder()
    assert "".join(map(decoder.feed, ids)) + decoder.finish() == tokenizer.decode(ids)
    raw = tokenizer.stream_decoder(bytes_mode=True)
    assert b"".join(map(raw.feed, ids)) + raw.finish() == tokenizer.decode_bytes(ids)


def counts_agree(tokenizer: Tokenizer, text: str, most: int) -> None:
    count = len(tokenizer.encode(text))
    assert tokenizer.count(text) == count
    assert tokenizer.count(text, limit=most) == min(count, most + 1)
    assert tokenizer.fits(text, most) is (count <= most)


def spans_slice_back(tokenizer: Tokenizer, text: str) -> None:
    ids, spans = tokenizer.encode_with_offsets(text, unit="byte")
    assert ids == tokenizer.encode(text)
    if rewritten(tokenizer, text):
        return
    data, done = text.encode(), 0
    for id, (start, end) in zip(ids, spans, strict=True):
        token = tokenizer.token_bytes(id)
        # A special token may take white space that is no part of it.
        part = data[start:end]
        assert part == token or (
            tokenizer.is_special(id) and part.decode().strip() == token.decode()
        )
        assert start == done
        done = end
    assert done == len(data)


def chunks_tile(tokenizer: Tokenizer, text: str, most: int) -> None:
    chunks = tokenizer.chunk(text, most)
    assert "".join(chunk.text for chunk in chunks) == text
    for chunk in chunks:
        assert chunk.text == text[chunk.start : chunk.end]
        assert chunk.ids == tokenizer.encode(chunk.text)
        assert len(chunk.ids) <= most
    ends = [chunk.end for chunk in chunks]
    assert [chunk.start for chunk in chunks] == [0, *ends][: len(chunks)]


def cuts_are_the_longest(tokenizer: Tokenizer, text: str, most: int) -> None:
    size = len(text)
    fit = [n for n in range(size + 1) if tokenizer.fits(text[:n], most)]
    assert tokenizer.truncate(text, most) == text[: max(fit)]
    fit = [n for n in range(size + 1) if tokenizer.fits(text[n:], most)]
    assert tokenizer.truncate(text, most, side="left") == text[min(fit) :]
    kept, ids, (start, end) = tokenizer.truncate_with_span(text, most, side="middle")
    assert kept == text[:start] + text[end:]
    assert ids == tokenizer.encode(kept)
    assert len(ids) <= most
    if tokenizer.fits(text, most):
        assert kept == text
    else:
        assert text[:start] == tokenizer.truncate(text, (most + 1) // 2)


def healing_gives_the_bytes(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    healed = tokenizer.heal(ids)
    assert ids[: len(healed.stable)] == healed.stable
    taken = b"".join(map(tokenizer.token_bytes, ids[len(healed.stable) :]))
    assert healed.tail == taken
    for row in healed.completions:
        assert b"".join(map(tokenizer.token_bytes, row)).startswith(healed.tail)
        before = b"".join(map(tokenizer.token_bytes, row[:-1]))
        assert len(before) < len(healed.tail)  # no longer than it must be


def everything_agrees(tokenizer, text, cuts, most):
    streams_give_the_ids(tokenizer, text, cuts)
    counts_agree(tokenizer, text, most)
    spans_slice_back(tokenizer, text)
    chunks_tile(tokenizer, text, most + 8)
    cuts_are_the_longest(tokenizer, text, most)
    healing_gives_the_bytes(tokenizer, text)


@kinds
@given(text=TEXTS, cuts=CUTS, most=st.integers(0, 20))
def test_random_text(tokenizers, kind, text, cuts, most):
    everything_agrees(tokenizers(kind), text, cuts, most)


@kinds
@given(data=st.binary(max_size=60))
def test_random_bytes(tokenizers, kind, data):
    tokenizer = tokenizers(kind)
    ids = tokenizer.encode(data)
    assert tokenizer.count(data) == len(ids)
    assert tokenizer.fits(data, len(ids))
    assert not tokenizer.fits(data, len(ids) - 1)
    raw = tokenizer.stream_decoder(bytes_mode=True)
    assert b"".join(map(raw.feed, ids)) == tokenizer.decode_bytes(ids)
    if kind not in ("nfc", "qwen3", "gemma3"):  # a normalizer changes the text in them
        assert tokenizer.decode_bytes(ids) == data


@pytest.mark.parametrize("corpus", CORPORA)
@kinds
@settings(max_examples=max(8, settings.default.max_examples // 8))
@given(at=st.integers(0, 400_000), size=st.integers(1, 120), cuts=CUTS, most=st.integers(1, 40))
def test_real_text(tokenizers, corpora, kind, corpus, at, size, cuts, most):
    tokenizer, whole = tokenizers(kind), corpora(corpus)
    at %= len(whole)
    text = whole[at : at + size]
    assume(text)
    everything_agrees(tokenizer, text, cuts, most)


@pytest.fixture(scope="module")
def corpora(corpus_text) -> Callable[[str], str]:
    texts: dict[str, str] = {}

    def text(name: str) -> str:
        if name not in texts:
            texts[name] = corpus_text(name, 400_000)
        return texts[name]

    return text
