"""Benchmarks of the Python package: what a call costs with everything that Python adds to it.

The text is the sample corpus of the package, repeated, so that they run anywhere; a race against
other tokenizers on real corpora needs more than this. Each benchmark checks what it measured.

    make bench
"""

from __future__ import annotations

from importlib import resources

import pytest

import bytepair
from bytepair import reference

SEPARATOR = "<|endoftext|>"
ENCODINGS = ["gpt2", "cl100k_base", "o200k_base"]


@pytest.fixture(scope="module")
def text():
    """About 0.6 MB of English, Chinese and code."""
    sample = resources.files("bytepair") / "data" / "sample_corpus.txt"
    return sample.read_text(encoding="utf-8") * 8


@pytest.fixture(params=ENCODINGS)
def tokenizer(request):
    return bytepair.get_encoding(request.param)


def test_encode(benchmark, tokenizer, text):
    ids = benchmark(tokenizer.encode, text)
    assert tokenizer.decode(ids) == text


def test_encode_numpy(benchmark, tokenizer, text):
    pytest.importorskip("numpy")
    ids = benchmark(tokenizer.encode_numpy, text)
    assert ids.tolist() == tokenizer.encode(text)


def test_encode_batch(benchmark, tokenizer, text):
    documents = text.split(SEPARATOR)
    rows = benchmark(tokenizer.encode_batch, documents)
    assert [tokenizer.decode(ids) for ids in rows] == documents


def test_encode_iterable(benchmark, tokenizer, text):
    chunks = [text[start : start + 4096] for start in range(0, len(text), 4096)]
    ids = benchmark(lambda: list(tokenizer.encode_iterable(chunks)))
    assert ids == tokenizer.encode(text)


def test_encode_a_short_text(benchmark, tokenizer):
    ids = benchmark(tokenizer.encode, "How many tokens is this?")
    assert tokenizer.decode(ids) == "How many tokens is this?"


def test_count(benchmark, tokenizer, text):
    assert benchmark(tokenizer.count, text) == len(tokenizer.encode(text))


def test_decode(benchmark, tokenizer, text):
    ids = tokenizer.encode(text)
    assert benchmark(tokenizer.decode, ids) == text


def test_decode_30_ids(benchmark, tokenizer, text):
    ids = tokenizer.encode(text)[:30]
    assert text.startswith(benchmark(tokenizer.decode, ids).rstrip("\ufffd"))


def test_a_step_of_a_stream(benchmark, tokenizer):
    stream = tokenizer.stream_decoder()
    [id, *_] = tokenizer.encode("hello")
    assert benchmark(stream.feed, id) == tokenizer.decode([id])


def test_train(benchmark, text):
    trained = benchmark(bytepair.train_bpe_from_text, text, 2000, [SEPARATOR])
    assert trained == reference.train_bpe_from_text(text, 2000, [SEPARATOR])
