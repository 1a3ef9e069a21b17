"""More faults that users reported, by their numbers: threads, names, widths, chunks.

Those that `test_cases.py` has no room for. Where a case is about memory or speed alone, its test is
in `tests/limits/`.
"""

from __future__ import annotations

import importlib.metadata
import itertools
import json
import random
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor

import pytest

import bytepair
from bytepair import Tokenizer, errors
from patience_support import assert_lets_others_run

GPT2 = bytepair.get_encoding("gpt2")
CL100K = bytepair.get_encoding("cl100k_base")
BYTES = {byte: bytes([byte]) for byte in range(256)}
LONG = "".join(random.Random(8).choices("abcdef", k=500_000))


def test_case_96_a_single_word_is_one_alone(tmp_path):
    path = tmp_path / "tokenizer.json"
    Tokenizer(BYTES, [], added_tokens={"abcd": 256}).save(path, format="huggingface")
    facts = json.loads(path.read_text(encoding="utf-8"))
    facts["added_tokens"][-1]["single_word"] = True
    path.write_text(json.dumps(facts), encoding="utf-8")
    tokenizer = Tokenizer.load(path)
    text = "abcdgym gymabcd abcd"
    ids = tokenizer.encode(text)
    assert ids == [*b"abcdgym gymabcd ", 256]
    assert tokenizer.decode(ids) == text


def test_case_37_a_split_that_is_not_known_is_refused(tmp_path):
    """Falcon's: pieces are cut before the bytes are mapped, and again behind."""
    path = tmp_path / "tokenizer.json"
    GPT2.save(path, format="huggingface")
    facts = json.loads(path.read_text(encoding="utf-8"))
    steps = [{"type": "Punctuation", "behavior": "Contiguous"}, facts["pre_tokenizer"]]
    steps += [{"type": "Digits", "individual_digits": False}]
    facts["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}
    path.write_text(json.dumps(facts), encoding="utf-8")
    with pytest.raises(errors.FormatError, match="the pre_tokenizer 'Digits' is not supported"):
        Tokenizer.load(path)


TAKES_TEXT = {
    "encode": GPT2.encode,
    "encode_ordinary": GPT2.encode_ordinary,
    "encode_numpy": GPT2.encode_numpy,
    "encode_batch": lambda text: GPT2.encode_batch([text]),
    "encode_ragged": lambda text: GPT2.encode_ragged([text]),
    "encode_iterable": lambda text: list(GPT2.encode_iterable([text])),
    "stream_encoder": lambda text: GPT2.stream_encoder().feed(text),
    "encode_with_offsets": GPT2.encode_with_offsets,
    "encode_with_unstable": GPT2.encode_with_unstable,
    "align": lambda text: GPT2.align(text).ids,
    "token_strings": GPT2.token_strings,
    "count": GPT2.count,
    "count_batch": lambda text: GPT2.count_batch([text]),
    "fits": lambda text: GPT2.fits(text, 2),
    "truncate": lambda text: GPT2.truncate(text, 2),
    "truncate_batch": lambda text: GPT2.truncate_batch([text], 2),
    "chunk": lambda text: GPT2.chunk(text, 2),
    "chunk_batch": lambda text: GPT2.chunk_batch([text], 2),
}


@pytest.mark.parametrize("name", TAKES_TEXT)
def test_case_100_a_lone_surrogate_has_its_place(name):
    pytest.importorskip("numpy")
    with pytest.raises(UnicodeEncodeError) as caught:
        TAKES_TEXT[name]("hello \ud800 world")
    assert (caught.value.start, caught.value.end) == (6, 7)


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has a GIL")
def test_case_114_a_free_threaded_python_stays_so():
    assert not sys._is_gil_enabled()
    texts = [f"Some words {n}, \u4e2d\u6587 and {'a' * n}. " * 50 for n in range(64)]
    expected = [CL100K.encode(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(20):
            assert list(pool.map(CL100K.encode, texts)) == expected
    assert not sys._is_gil_enabled()


@pytest.mark.parametrize("text", ["some words", "some words " * 20_000], ids=["short", "long"])
def test_case_117_and_118_a_call_waits_for_no_other(text):
    """A lock that a long call holds would make every other call as long."""
    expected = CL100K.encode(text)

    def meanwhile() -> None:
        assert CL100K.count(text, threads=1) == len(expected)

    assert_lets_others_run(CL100K.count, LONG, meanwhile=meanwhile)


def test_case_122_a_batch_may_be_one_array():
    texts = [f"document {n}" for n in range(1_000)]
    tokens = GPT2.encode_ragged(texts)
    assert tokens.to_lists() == GPT2.encode_batch(texts) == [GPT2.encode(text) for text in texts]
    assert tokens.offsets[0] == 0
    assert tokens.offsets[-1] == len(tokens.ids)
    assert tokens.ids.itemsize == 4


def test_case_129_an_encoding_is_no_name():
    with pytest.raises(TypeError, match="the name of an encoding, not Tokenizer"):
        bytepair.get_encoding(GPT2)


def test_case_130_models_by_other_names():
    for name in ("openai/gpt-4o", "gpt-4.5", "azure/gpt-4o-mini", "ft:gpt-4o:acme::x", "o1"):
        assert bytepair.encoding_for_model(name).name == "o200k_base"


def test_case_134_two_tokens_of_one_rank():
    ranks = {token: id for id, token in BYTES.items()} | {b"ab": 256, b"cd": 256}
    with pytest.raises(errors.VocabError, match="rank 256 is given to b'ab' and to b'cd'"):
        Tokenizer.from_ranks(ranks, pattern=None)


def test_case_169_ids_that_a_dtype_does_not_hold():
    numpy = pytest.importorskip("numpy")
    text = "".join(CL100K.token_bytes(id).decode() for id in (65_535, 65_536))
    assert max(CL100K.encode(text)) >= 65_536
    assert GPT2.encode_numpy(text, dtype="uint16").dtype == numpy.uint16
    with pytest.raises(errors.ArgumentError, match="uint16"):
        CL100K.encode_numpy(text, dtype="uint16")
    with pytest.raises(errors.ArgumentError, match="dtype is uint8"):
        GPT2.encode_numpy("a", dtype="uint8")


def test_case_176_chunks_of_a_limit_with_overlap():
    text = "one two three four five six seven eight nine ten " * 60
    chunks = CL100K.chunk(text, 64, overlap=8)
    assert chunks[0].start == 0
    assert chunks[-1].end == len(text)
    for before, chunk in itertools.pairwise(chunks):
        assert chunk.text == text[chunk.start : chunk.end]
        assert before.start < chunk.start <= before.end < chunk.end
        assert CL100K.count(text[chunk.start : before.end]) == 8
    assert max(len(chunk.ids) for chunk in chunks) == 64


def test_case_38_the_pattern_goes_with_the_model(tmp_path):
    """Numbers of two digits in training are numbers of two digits wherever the file is loaded."""
    path = tmp_path / "model.json"
    trained = bytepair.train(["1234 1234 12 34"], 258, pattern=r"\p{N}{1,2}|.", special_tokens=[])
    trained.save(path)
    loaded = Tokenizer.load(path)
    assert loaded.pattern == trained.pattern == r"\p{N}{1,2}|."
    assert (
        loaded.encode("1234")
        == trained.encode("1234")
        == [*trained.encode("12"), *trained.encode("34")]
    )


def test_case_144_two_ids_of_the_same_bytes(tmp_path):
    """The lower one encodes, both decode, and no format that holds one id of each is written."""
    twice = Tokenizer({**BYTES, 300: b"a"}, [])
    assert (twice.encode("a"), twice.token_id(b"a"), twice.decode([97, 300])) == ([97], 97, "aa")
    for format in ("tiktoken", "huggingface", "gpt2", "tekken"):
        with pytest.raises(errors.FormatError, match=r"the ids 97 and 300|the same bytes"):
            twice.save(tmp_path / format, format=format)
        assert not (tmp_path / format).exists()
    twice.save(tmp_path / "own", format="native")
    assert Tokenizer.load(tmp_path / "own") == twice


def test_case_189_nothing_else_is_installed_with_it():
    requires = importlib.metadata.requires("bytepair") or []
    assert [line for line in requires if "extra ==" not in line] == []
