"""Faults that users of other tokenizers reported, each with the right value.

The numbers are those of the collected reports. Here are the ones that are no entry of `spec/`,
because they are about threads, arguments or speed, or need a tokenizer of their own.
"""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import random
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import bytepair
from bytepair import Tokenizer, errors
from patience_support import assert_lets_others_run

GPT2 = bytepair.get_encoding("gpt2")
CL100K = bytepair.get_encoding("cl100k_base")
O200K = bytepair.get_encoding("o200k_base")
SINGLE = {byte: bytes([byte]) for byte in range(256)}


def test_case_8_counting_lets_other_threads_run():
    assert CL100K.count("x" * 500_000) == 62_500
    assert_lets_others_run(CL100K.count, "".join(random.Random(8).choices("abcdef", k=500_000)))


def test_case_20_and_21_thousands_of_special_tokens():
    names = [f"<|reserved_{n}|>" for n in range(20_000)]
    many = GPT2.with_special_tokens(names)
    text = "a <|reserved_19999|> b <|reserved_20000|>"
    ids = many.encode(text)
    assert ids.count(50257 + 19_999) == 1
    assert many.decode(ids) == text
    assert many.encode(text, allowed_special=frozenset(names[:5])) == GPT2.encode(text)
    with pytest.raises(errors.SpecialTokenError, match="reserved_19999"):
        many.encode(text, allowed_special=(), disallowed_special="all")


def test_case_57_bytes_and_errors():
    data = GPT2.decode_bytes(GPT2.encode("\U0001f642")[:1])
    assert data == b"\xf0\x9f\x99"[: len(data)]
    with pytest.raises(UnicodeDecodeError):
        GPT2.decode(GPT2.encode("\U0001f642")[:1], errors="strict")
    assert GPT2.decode(GPT2.encode("\U0001f642")[:1], errors="replace") == "\ufffd"


def test_case_58_a_step_of_a_stream_takes_the_same_time():
    ids = GPT2.encode("some words of a long answer. \U0001f642 " * 3_000)
    stream, times = GPT2.stream_decoder(), []
    for start in range(0, len(ids), len(ids) // 4):
        begin = time.process_time()
        for id in ids[start : start + len(ids) // 4]:
            stream.feed(id)
        times.append(time.process_time() - begin)
    assert min(times[2:4]) < 5 * min(times[:2]) + 0.01
    assert "".join(GPT2.decode_iterable(ids)) == GPT2.decode(ids)


def test_case_64_characters_of_single_bytes_after_a_long_prompt():
    tokenizer = Tokenizer(SINGLE, [], pattern=None)
    prompt = list(("word " * 500).encode())
    stream = tokenizer.stream_decoder(prompt)
    text = "\U0001f642\U0001f643"
    assert "".join(map(stream.feed, text.encode())) == text


def test_case_65_a_stream_does_not_fall_silent():
    words = " word" * 100
    ids = GPT2.encode("\U0001f642")[:1] + GPT2.encode(words)
    parts = list(GPT2.decode_iterable(ids))
    assert "".join(parts) == "\ufffd" + words
    assert len(parts) == 100


def test_case_76_and_77_chunks_tile_and_count_characters():
    text = "xx \U0001f642 yy"
    chunks = GPT2.chunk(text, 3, overlap=1)
    assert GPT2.chunk_batch([text, text], 3, overlap=1) == [chunks, chunks]
    for chunk in chunks:
        assert chunk.text == text[chunk.start : chunk.end]
        assert chunk.text
        assert chunk.start >= 0
    assert "".join(chunk.text for chunk in GPT2.chunk(text, 3)) == text


def test_case_78_a_character_of_three_tokens():
    assert [chunk.text for chunk in CL100K.chunk("\u732b\u732b", 3)] == ["\u732b", "\u732b"]
    for most in (1, 2):
        with pytest.raises(errors.ArgumentError, match="takes 3 tokens"):
            CL100K.chunk("\u732b", most)


def test_case_85_and_112_options_are_arguments_of_a_call():
    def work(n: int) -> tuple[int, bool]:
        kept = GPT2.truncate_with_span("a b c d e f g", n % 7)[1]
        policy = {"allowed_special": ()} if n % 2 else {}
        return len(kept), 50256 in GPT2.encode("<|endoftext|>", **policy)

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(work, range(400))) == [(n % 7, n % 2 == 0) for n in range(400)]
    with pytest.raises(AttributeError):
        GPT2.truncation = 5


def test_case_94_added_spaces_keep_their_number():
    tokenizer = GPT2.with_special_tokens(["  ", "    "])
    for count in range(1, 100):
        text = "hello" + " " * count + "world"
        assert tokenizer.decode(tokenizer.encode(text)) == text


def test_case_98_and_100_lone_surrogates():
    for text, ids in [
        ("\udbc0", [5809]),
        ("a\udcffb", [64, 5809, 65]),
        ("\ud83d\udc4d", [9468, 239, 235]),
    ]:
        assert CL100K.encode(text, errors="replace") == ids
        assert CL100K.count(text, errors="replace") == len(ids)
    with pytest.raises(UnicodeEncodeError) as caught:
        CL100K.encode("hello \ud800 world")
    assert caught.value.start == 6


def test_case_101_and_102_any_bytes():
    assert CL100K.encode(b"\x80") == [222]
    assert CL100K.token_id(b"\x80") == 222
    source = random.Random(101)
    for size in range(60):
        data = source.randbytes(size)
        assert CL100K.decode_bytes(CL100K.encode(data)) == data
    assert CL100K.decode_bytes(CL100K.encode(b"hi \xff\xfe there you")) == b"hi \xff\xfe there you"


@pytest.mark.parametrize("tokenizer", [CL100K, GPT2.with_special_tokens(["<x>"])], ids=repr)
def test_case_110_and_116_pickles(tokenizer):
    before = pickle.dumps(tokenizer)
    tokenizer.encode("some words that were not there before")
    assert pickle.dumps(tokenizer) == before
    for other in (pickle.loads(before), copy.copy(tokenizer), copy.deepcopy(tokenizer)):
        assert other == tokenizer
        assert hash(other) == hash(tokenizer)
        assert other.fingerprint == tokenizer.fingerprint
        assert other.encode("a b") == tokenizer.encode("a b")


def test_pickles_of_bundled_encodings_are_small():
    for name in bytepair.list_encodings():
        encoding = bytepair.get_encoding(name)
        assert len(pickle.dumps(encoding)) < 100
        chat = encoding.with_special_tokens(["<|user|>"])
        data = pickle.dumps(chat)
        assert len(data) < 1_000 + 40 * len(encoding.special_tokens)
        assert pickle.loads(data) == chat
        assert pickle.loads(data).fingerprint == chat.fingerprint


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_case_113_batches_before_and_after_a_fork():
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("no fork here")
    texts = ["some words " * 2_000] * 16
    expected = GPT2.encode_batch(texts, threads=4)
    queue = multiprocessing.get_context("fork").SimpleQueue()
    child = multiprocessing.get_context("fork").Process(
        target=lambda: queue.put(GPT2.encode_batch(texts, threads=4) == expected)
    )
    child.start()
    assert queue.get() is True
    child.join()


def test_case_146_ids_that_are_none():
    for ids, says in [
        ([-1], "unknown id -1 at position 0"),
        ([0, 2**32], "unknown id 4294967296 at position 1"),
        ([0] * 1_100_000 + [60_000], "unknown id 60000 at position 1100000"),
    ]:
        with pytest.raises(errors.UnknownTokenError, match=says):
            GPT2.decode(ids)
    with pytest.raises(TypeError, match="ids must be int, not str"):
        GPT2.decode(["a"])


def test_case_142_145_and_178_the_vocab_is_bytes():
    for encoding, size in [(CL100K, 100_277), (O200K, 200_019), (GPT2, 50_257)]:
        assert encoding.vocab_size == size
        vocab = dict(encoding.vocab)
        assert all(isinstance(token, bytes) for token in vocab.values())
        for id in (0, 255, 1_000, size - 1):
            assert encoding.token_bytes(id) == vocab[id]
            assert encoding.token_id(vocab[id]) == id


def test_case_173_and_174_counts_stop_at_a_limit():
    text = "word " * 200_000
    assert GPT2.count(text) == len(GPT2.encode_ordinary(text))
    early, whole = [], []
    for _ in range(5):
        begin = time.process_time()
        for _ in range(100):
            assert GPT2.count(text, limit=10) == 11
            assert not GPT2.fits(text, 10)
        early.append(time.process_time() - begin)
        begin = time.process_time()
        GPT2.count(text, threads=1)
        whole.append(time.process_time() - begin)
    assert min(early) < 100 * min(whole)
    assert GPT2.count("a b c", limit=3) == 3


def test_case_180_the_split_alone():
    assert bytepair.patterns.pretokenize("a  b", "gpt2") == ["a", " ", " b"]
    counts = bytepair.count_pieces(["a  b a"], special_tokens=())
    assert (counts[b" b"], counts[b" a"], counts[b" "]) == (1, 1, 1)


def test_case_182_dropout_has_a_seed():
    text = "unrelated sentences about tokens"
    assert GPT2.encode(text, dropout=0.1, seed=7) == GPT2.encode(text, dropout=0.1, seed=7)
    assert len({tuple(GPT2.encode(text, dropout=0.3, seed=n)) for n in range(20)}) > 5
