"""BPE-dropout: what the reference draws, exact without it, the same in every thread and process."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bytepair
from bytepair import errors, reference
from text_support import MERGES, PART, PATTERNS, VOCAB, small_tokenizer

GPT2 = bytepair.get_encoding("gpt2")
CL100K = bytepair.get_encoding("cl100k_base")
TEXT = "The unrelated words of this sentence are spelled in many ways, 中文 too."
SEED = st.integers(0, 2**64 - 1)
RATE = st.sampled_from([0.01, 0.1, 0.5, 0.9, 0.999])


def twin(tokenizer: bytepair.Tokenizer, text: str, rate: float, seed: int) -> list[int]:
    """The definition, over a tokenizer without special tokens."""
    ranks = {pair: rank for rank, pair in reversed(list(enumerate(tokenizer.merges)))}
    draws = reference.chances(seed)
    words = [
        reference.merge_with_dropout(piece.encode(), ranks, rate, draws)
        for piece in bytepair.patterns.pretokenize(text, tokenizer.pattern)
    ]
    return [tokenizer.token_id(token) for word in words for token in word]


@pytest.mark.parametrize("kind", PATTERNS)
@given(text=st.lists(PART, max_size=12).map("".join), rate=RATE, seed=SEED)
def test_the_draws_are_those_of_the_reference(kind, text, rate, seed):
    tokenizer = bytepair.Tokenizer(VOCAB, MERGES, pattern=PATTERNS[kind])
    assert tokenizer.encode(text, dropout=rate, seed=seed) == twin(tokenizer, text, rate, seed)


@pytest.mark.parametrize("encoding", [GPT2, CL100K], ids=["pairs", "ranks"])
def test_bundled_encodings_draw_as_the_reference(encoding):
    for rate in (0.1, 0.7):
        expected = twin(encoding, TEXT, rate, 7)
        assert encoding.encode(TEXT, dropout=rate, seed=7) == expected
        assert encoding.decode(expected) == TEXT


@given(text=st.text(max_size=40), rate=RATE, seed=SEED)
def test_the_text_comes_back(text, rate, seed):
    assert CL100K.decode(CL100K.encode(text, dropout=rate, seed=seed)) == text


@given(text=st.text(max_size=40), seed=SEED)
def test_rate_0_is_exact_and_rate_1_is_bytes(text, seed):
    assert GPT2.encode(text, dropout=0, seed=seed) == GPT2.encode(text)
    single = [GPT2.token_id(bytes([byte])) for byte in text.encode()]
    assert GPT2.encode(text, dropout=1, seed=seed, allowed_special=()) == single


@given(
    texts=st.lists(st.text(max_size=20), max_size=6),
    rate=RATE,
    seed=SEED,
    threads=st.integers(1, 4),
)
def test_each_text_of_a_batch_has_its_own_seed(texts, rate, seed, threads):
    expected = [
        CL100K.encode(text, dropout=rate, seed=(seed + n) % 2**64) for n, text in enumerate(texts)
    ]
    assert CL100K.encode_batch(texts, dropout=rate, seed=seed, threads=threads) == expected


def test_a_large_batch_depends_on_no_thread_and_no_other_text():
    texts = [TEXT * 20] * 200
    rows = CL100K.encode_batch(texts, dropout=0.2, seed=2**64 - 100, threads=1)
    assert CL100K.encode_batch(texts, dropout=0.2, seed=2**64 - 100, threads=7) == rows
    assert len({tuple(ids) for ids in rows}) == 200
    others = ["another", *texts[1:150]]
    assert CL100K.encode_batch(others, dropout=0.2, seed=2**64 - 100)[1:] == rows[1:150]
    assert CL100K.encode_batch(texts, dropout=0, seed=1) == CL100K.encode_batch(texts)
    for row, text in zip(rows, texts, strict=True):
        assert CL100K.decode(row) == text


def test_published_draws():
    # The first numbers of SplitMix64 from 1234567, as its authors' program prints them.
    first = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    draws = reference.chances(1234567)
    assert [next(draws) for _ in first] == [(number >> 11) / (1 << 53) for number in first]


def test_merges_are_left_out_as_often_as_asked():
    # Of "ab" one merge is possible: it is left out at the first draw or made.
    tokenizer = bytepair.Tokenizer({0: b"a", 1: b"b", 2: b"ab"}, [(b"a", b"b")], pattern=None)
    split = sum(len(tokenizer.encode("ab", dropout=0.3, seed=seed)) == 2 for seed in range(5_000))
    assert 0.27 < split / 5_000 < 0.33


def test_special_tokens_and_pieces_stay():
    text = "hello <|endoftext|> 12345"
    ids = GPT2.encode(text, dropout=0.9, seed=3)
    assert ids.count(50256) == 1
    assert GPT2.decode(ids) == text
    assert 50256 not in GPT2.encode(text, dropout=0.9, seed=3, allowed_special=())
    with pytest.raises(errors.SpecialTokenError):
        GPT2.encode(text, dropout=0.9, seed=3, allowed_special=(), disallowed_special="all")
    assert small_tokenizer("gpt2", ["<|a|>"]).encode("<|a|>", dropout=1, seed=0) == [262]


def test_threads_and_processes_change_nothing():
    expected = [CL100K.encode(TEXT, dropout=0.2, seed=seed) for seed in range(40)]
    assert len({tuple(ids) for ids in expected}) > 30
    with ThreadPoolExecutor(8) as pool:
        found = pool.map(lambda seed: CL100K.encode(TEXT, dropout=0.2, seed=seed), range(40))
        assert list(found) == expected
    code = (
        "import bytepair, sys\n"
        "encoding = bytepair.get_encoding('cl100k_base')\n"
        "print(encoding.encode(sys.argv[1], dropout=0.2, seed=39))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, TEXT], capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout == f"{expected[39]}\n"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"dropout": 0.1}, "no seed"),
        ({"dropout": 1.5, "seed": 1}, "dropout is 1.5"),
        ({"dropout": -0.1, "seed": 1}, "dropout is -0.1"),
        ({"dropout": float("nan"), "seed": 1}, "dropout is NaN"),
        ({"dropout": 0.1, "seed": -1}, "seed is -1"),
        ({"dropout": 0.1, "seed": 2**64}, "seed is 18446744073709551616"),
        ({"dropout": 0.1, "seed": "x"}, "seed is x"),
    ],
)
def test_options_that_make_no_sense(options, says):
    with pytest.raises(errors.ArgumentError, match=says):
        GPT2.encode("x", **options)
    with pytest.raises(errors.ArgumentError, match=says):
        GPT2.encode_batch(["x"], **options)


def test_a_long_piece_takes_no_time():
    text = "ab" * 100_000
    for rate in (0.1, 1):
        assert GPT2.decode(GPT2.encode(text, dropout=rate, seed=1)) == text
    with pytest.raises(TypeError, match="text must be str, not bytes"):
        GPT2.encode(b"x", dropout=0.1, seed=1)
