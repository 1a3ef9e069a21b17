"""Calls made wrongly: the error names the argument and the way out, and is short."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import bytepair
from bytepair import Tokenizer, errors, reference
from bytepair._names import did_you_mean
from bytepair.chat import count_chat
from bytepair.compat.huggingface import FastTokenizer
from bytepair.reference import BPETokenizer, BPETokenizerSimple
from cli_support import cli

GPT2 = bytepair.get_encoding("gpt2")
FAST = FastTokenizer(GPT2)
SMALL = Tokenizer({0: b"a"}, [], pattern=None)
BYTES = {byte: bytes([byte]) for byte in range(256)}
HELLO = [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: GPT2.truncate("s", "2"), "max_tokens must be int, not str ('2')"),
        (lambda: GPT2.truncate_batch(["s"], None), "max_tokens must be int, not NoneType (None)"),
        (lambda: GPT2.chunk("s", "5"), "max_tokens must be int, not str ('5')"),
        (lambda: GPT2.chunk("s", 5, overlap=1.5), "overlap must be int, not float (1.5)"),
        (lambda: GPT2.chunk("s", 5, prefer=5), "prefer must be a str or a list of str, not int"),
        (lambda: GPT2.fits("s", "5"), "n must be int, not str ('5')"),
        (lambda: GPT2.fits_batch(["s"], None), "n must be int, not NoneType (None)"),
        (lambda: GPT2.resized("5"), "vocab_size must be int, not str ('5')"),
        (lambda: bytepair.train(["abc"], "1000"), "vocab_size must be int, not str ('1000')"),
        (lambda: bytepair.train(["abc"], 300, min_count="2"), "min_count must be int, not str"),
        (lambda: bytepair.train(["abc"], 300, max_token_bytes="2"), "max_token_bytes must be int"),
        (lambda: bytepair.train(["abc"], 300, threads="2"), "threads must be int, not str ('2')"),
        (
            lambda: bytepair.train_bpe("x", 300, None),
            "special_tokens must be a list of str, not NoneType; give [] for none",
        ),
        (lambda: GPT2.with_special_tokens(5), "special_tokens must be a list of str, not int"),
        (lambda: Tokenizer({}, [], 5), "special_tokens must be a list of str, not int"),
        (lambda: Tokenizer({}, [], pattern=5), "a pattern is str, a sequence of str, or None"),
        (lambda: Tokenizer({}, [], normalizer=5), "normalizer must be a step, a list of steps"),
        (lambda: GPT2.decode(5), "ids must be an iterable of int, not int"),
        (lambda: GPT2.decode_bytes(None), "ids must be an iterable of int, not NoneType"),
        (lambda: GPT2.decode_with_offsets(5), "ids must be an iterable of int, not int"),
        (lambda: GPT2.decode_iterable(None), "ids must be an iterable of int, not NoneType"),
        (lambda: GPT2.decode_batch(5), "batch must be an iterable of lists of ids, not int"),
        (lambda: GPT2.heal(5), "ids must be an iterable of int, not int"),
        (lambda: GPT2.encode_batch(None), "texts must be an iterable of str, not NoneType"),
        (lambda: GPT2.count_batch(5), "texts must be an iterable of str, not int"),
        (lambda: GPT2.chunk_batch(None, 5), "texts must be an iterable of str, not NoneType"),
        (lambda: GPT2.encode_iterable(None), "chunks must be an iterable of str, not NoneType"),
        (lambda: GPT2.encode_batch([b"a"]), "text 0 must be str, not bytes; decode it first"),
        (lambda: GPT2.encode_batch(b"a"), "texts must be a list of str, not bytes"),
        (lambda: GPT2.chunk(b"a", 5), "text must be str, not bytes; decode it first"),
        (
            lambda: GPT2.encode(bytearray(b"hi")),
            "text must be str or bytes, not bytearray; bytes(...) makes it that",
        ),
        (lambda: GPT2.count(5), "text must be str or bytes, not int"),
        (lambda: GPT2.token_id(5), "token must be str or bytes, not int"),
        (lambda: BPETokenizerSimple().train(None, 300), "text must be str, not NoneType"),
    ],
)
def test_what_is_of_the_wrong_type_is_named(call, words):
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value).startswith(words)


def test_numbers_out_of_range():
    for call, words in (
        (lambda: GPT2.chunk("a b", 0), "max_tokens is 0; give 1 or more"),
        (lambda: GPT2.truncate("a b", -1), "max_tokens is -1; give 0 or more"),
        (lambda: GPT2.chunk("a b", 2, overlap=-1), "overlap is -1; give 0 or more"),
        (lambda: GPT2.chunk("a b", 2, overlap=2), "overlap is 2 and max_tokens is 2; overlap"),
    ):
        with pytest.raises(errors.ArgumentError) as caught:
            call()
        assert str(caught.value).startswith(words)


# ── Names ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        (lambda: bytepair.get_encoding("cl100k_bsae"), "cl100k_base"),
        (lambda: bytepair.get_encoding("o200k"), "o200k_base"),
        (lambda: bytepair.encoding_for_model("gpt4o"), "gpt-4o"),
        (lambda: bytepair.train(["a"], 300, pattern="cl100k_base"), "cl100k"),
        (lambda: bytepair.patterns.regex("GTP2"), "gpt2"),
        (lambda: GPT2.save("x", format="natve"), "native"),
        (lambda: Tokenizer.load("x", format="hugging_face"), "huggingface"),
        (lambda: count_chat(HELLO, "gpt4o"), "gpt-4o"),
    ],
)
def test_the_name_that_was_meant(call, meant):
    with pytest.raises(errors.ArgumentError) as caught:
        call()
    assert str(caught.value).endswith(f"; did you mean {meant!r}?")


def test_no_name_is_guessed_where_none_is_near():
    assert did_you_mean("zzz", ["gpt2", "cl100k"]) == ""
    assert did_you_mean("", ["gpt2"]) == ""
    with pytest.raises(errors.UnknownModelError, match=r"one of gpt2, .*o200k_harmony$"):
        bytepair.encoding_for_model("claude-3")
    with pytest.raises(errors.UnknownModelError, match=r"use get_encoding\('r50k_base'\)$"):
        bytepair.encoding_for_model("r50k_base")
    with pytest.raises(errors.UnknownModelError) as caught:
        count_chat(HELLO, "claude")
    assert "tokenizer=..." in str(caught.value)
    assert "rules=ChatRules(...)" in str(caught.value)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["count", "-e", "o200k_bas"], "o200k_base"),
        (["count", "-m", "gpt4o"], "gpt-4o"),
        (["convert", "a", "b", "--to", "tictoken"], "tiktoken"),
        (["train", "a", "-n", "300", "-o", "b", "--pattern", "o200k_base"], "o200k"),
    ],
)
def test_the_command_line_says_what_was_meant(words, meant):
    done = cli(*words)
    assert done.code == 2
    assert done.error.splitlines()[0].endswith(f"; did you mean {meant!r}?")


def test_the_command_line_on_values():
    for words, said in (
        (["train", "a", "-n", "abc", "-o", "b"], "it must be a whole number, not 'abc'"),
        (["train", "a", "-n", "0", "-o", "b"], "must be greater than or equal to 1, not '0'"),
        (["convert", "a", "b"], "--to is missing; the formats are native, "),
        (["train", "a", "-n", "300", "-o", "b.tiktoken"], "give --format tiktoken (or"),
    ):
        done = cli(*words)
        assert done.code == 2
        line = done.error.splitlines()[0]
        assert said in line or "0 is not in the range" in line or "'abc' is not a valid" in line


# ── Texts and paths ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text", ["hello world " * 1000, "hello world this is text", "word", "how are you?", "a\0b c"]
)
def test_a_text_given_as_a_path(text):
    for call in (bytepair.train, bytepair.train_bpe):
        with pytest.raises((OSError, errors.ArgumentError)) as caught:
            call(text, 300)
        assert "a str is a path: for a text give [text], or use train_bpe_from_text" in str(
            caught.value
        )
        assert len(str(caught.value)) < 250


@pytest.mark.parametrize("path", ["nothing.txt", "no/such", "data/no such.jsonl", "x.parquet"])
def test_a_missing_file_is_no_text(path):
    with pytest.raises(FileNotFoundError) as caught:
        bytepair.train(path, 300)
    assert str(caught.value) == f"[Errno 2] No such file or directory: {path!r}"


def test_an_empty_corpus_is_said():
    with pytest.warns(errors.TrainingWarning, match=r"merge \(the corpus has no text\): the"):
        bytepair.train([], 300)
    with pytest.warns(errors.TrainingWarning, match="^no pair is left to merge: the"):
        bytepair.train(["a"], 300)


def test_a_directory_is_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    for path in (".", "there"):
        with pytest.raises(IsADirectoryError) as caught:
            GPT2.save(path)
        assert str(caught.value) == (
            f"[Errno 21] Is a directory; give the name of a file: {path!r}"
        )
    assert os.listdir(tmp_path) == ["there"]


def test_an_ending_that_names_another_format(tmp_path):
    for name, format in (("q.tiktoken", None), ("q.GGUF", None), ("q.model", None)):
        with pytest.raises(errors.ArgumentError, match="no format is given"):
            GPT2.save(tmp_path / name, format=format)
    for name, format in (("x.txt", "huggingface"), ("x.bpe", "gpt2")):
        with pytest.raises(errors.ArgumentError, match="would make a directory of that name"):
            GPT2.save(tmp_path / name, format=format)
    assert list(tmp_path.iterdir()) == []
    GPT2.save(tmp_path / "q.tiktoken", format="tiktoken")
    GPT2.save(tmp_path / "q.tiktoken", format="native")
    assert Tokenizer.load(tmp_path / "q.tiktoken") == GPT2


def test_a_pointer_of_git_lfs(tmp_path):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 11421896\n"
    (tmp_path / "tokenizer.json").write_text(pointer)
    for path in (tmp_path, tmp_path / "tokenizer.json"):
        with pytest.raises(errors.FormatError, match=r"tokenizer\.json: is a pointer of Git LFS"):
            Tokenizer.load(path)


@pytest.mark.parametrize("name", ["vocab.bpe", "merges.txt", "vocab.json", "config.json"])
def test_a_part_of_a_tokenizer(tmp_path, name):
    GPT2.save(tmp_path / "whole", format="gpt2")
    (tmp_path / name).write_bytes((tmp_path / "whole" / "vocab.bpe").read_bytes())
    with pytest.raises(errors.FormatError, match="load the directory that they are in"):
        Tokenizer.load(tmp_path / name)


@pytest.mark.parametrize("name", ["/no/such", "./nothing", "../nothing", "nothing/tokenizer.json"])
def test_a_path_with_nothing_is_not_asked_for_on_the_hub(name):
    with pytest.raises(FileNotFoundError) as caught:
        Tokenizer.from_pretrained(name)
    assert caught.value.filename == name


def test_from_pretrained_takes_a_file(tmp_path):
    GPT2.save(tmp_path / "tokenizer.json", format="huggingface")
    found = Tokenizer.from_pretrained(tmp_path / "tokenizer.json")
    assert found.encode("hello world") == [31373, 995]


# ── Readers that have had enough ──────────────────────────────────────────────────────────────────


@pytest.mark.skipif(os.name != "posix", reason="the shell of POSIX is wanted")
@pytest.mark.parametrize("module", ["bytepair.reference", "bytepair bench --help"])
def test_a_reader_that_has_had_enough(module):
    # Nobody reads: the other end of the pipe is closed before anything is written.
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run(
        [sys.executable, "-m", *module.split()], stdout=theirs, stderr=subprocess.PIPE, timeout=120
    )
    os.close(theirs)
    assert (done.returncode, done.stderr) == (0, b"")


# ── Values that cannot be ─────────────────────────────────────────────────────────────────────────

HUGE = 10**20


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: GPT2.encode("a", threads=-HUGE), errors.ArgumentError, f"threads is -{HUGE};"),
        (lambda: GPT2.encode("a", threads="5"), TypeError, "threads must be int or None, not str"),
        (lambda: bytepair.PieceCounts({b"a": 1}).scale(HUGE), errors.ArgumentError, f"n is {HUGE}"),
        (
            lambda: bytepair.count_pieces(["a"], memory_limit=1e9),
            TypeError,
            "memory_limit must be int, not float",
        ),
        (lambda: bytepair.train({"ab": 1000}, 257), TypeError, "give PieceCounts({b'ab': 1000})"),
        (lambda: bytepair.count_pieces({"ab": 1}), TypeError, "corpus is dict; for counts"),
        (lambda: bytepair.PieceCounts({"ab": 1}), TypeError, "a piece must be bytes; 'ab' is not"),
        (
            lambda: bytepair.PieceCounts({b"ab": "5"}),
            TypeError,
            "the count of b'ab' must be int, not str",
        ),
        (lambda: bytepair.PieceCounts({b"ab": -1}), OverflowError, "the count of b'ab' is -1"),
        (lambda: bytepair.PieceCounts({b"": 3}), errors.ArgumentError, "a piece is empty"),
        (lambda: bytepair.PieceCounts([(b"a", 1), 5]), TypeError, "item 1 of the counts is no"),
        (
            lambda: GPT2.with_special_tokens({"<|x|>": "5"}),
            TypeError,
            "special token '<|x|>' has id '5'; an id must be int, not str",
        ),
        (
            lambda: GPT2.with_special_tokens({"<|x|>": HUGE}),
            errors.VocabError,
            f"special token '<|x|>' has id {HUGE}",
        ),
        (lambda: count_chat(None, "gpt-4o"), TypeError, "messages must be a list of messages"),
        (
            lambda: Tokenizer({b"a": 0, b"b": 1}, [], ["x"]),
            TypeError,
            "{id: token for token, id in vocab.items()}",
        ),
        (lambda: GPT2.decode([0], errors="foo"), errors.ArgumentError, 'errors is "foo"; decoding'),
        (lambda: GPT2.decode([], errors="f\0"), errors.ArgumentError, "errors is "),
        (lambda: GPT2.decode_batch([[0], [60000]]), errors.UnknownTokenError, "row 1: unknown id"),
        (lambda: GPT2.decode_batch([[0], ["a"]]), TypeError, "row 1: ids must be int, not str"),
        (
            lambda: GPT2.decode_batch([[0], [447]], errors="strict"),
            UnicodeDecodeError,
            "(row 1)",
        ),
        (lambda: GPT2.encode_batch(["a", "\ud800"]), UnicodeEncodeError, "(text 1)"),
        (lambda: SMALL.encode_batch(["a", "b"]), errors.VocabError, "text 1: byte 0x62 is in no"),
        (lambda: SMALL.count_batch(["b"] * 9999), errors.VocabError, "text 0: byte 0x62 is in no"),
        (lambda: SMALL.fits_batch(["", "b"], 5), errors.VocabError, "text 1: byte 0x62 is in no"),
        (lambda: SMALL.encode("b"), errors.VocabError, "byte 0x62 is in no token"),
        (lambda: FAST(["a", None]), TypeError, "a text must be str, not NoneType (text 1)"),
        (lambda: FAST([None]), TypeError, "a text must be str, not NoneType (text 0)"),
        (lambda: FAST([["a"], None], is_split_into_words=True), TypeError, "None (text 1)"),
        (lambda: FAST("a", max_length="5"), TypeError, "max_length must be int, not str ('5')"),
        (lambda: FAST.batch_decode(5), TypeError, "sequences must be a list of lists of ids"),
        (lambda: FAST.apply_chat_template(None), TypeError, "must be a list of messages, not None"),
        (lambda: FAST.apply_chat_template("hi"), TypeError, "must be a list of messages, not str"),
    ],
)
def test_a_wrong_value_is_named(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)


@pytest.mark.parametrize("call", [GPT2.token_bytes, GPT2.is_special])
@pytest.mark.parametrize("id", [60000, HUGE, -1])
def test_a_single_id_has_no_position(call, id):
    with pytest.raises(errors.UnknownTokenError, match=f"unknown id {id}: ") as caught:
        call(id)
    assert "position" not in str(caught.value)


def test_a_number_that_nothing_reaches_is_no_limit():
    assert GPT2.encode("a", threads=HUGE) == GPT2.encode("a")
    assert GPT2.encode_batch(["a b"] * 9, threads=HUGE) == [GPT2.encode("a b")] * 9
    assert bytepair.count_pieces(["a"], memory_limit="9" * 400, threads=HUGE)[b"a"] == 1
    assert bytepair.count_pieces(["a"]).most_common(HUGE) == [(b"a", 1)]
    assert len(bytepair.count_pieces(["a"], min_piece_count=HUGE)) == 0
    for options in ({"min_count": HUGE}, {"max_token_bytes": HUGE}, {}):
        with pytest.warns(errors.TrainingWarning, match=f"not {HUGE};"):
            trained = bytepair.train(["abab"], HUGE, **options)
        assert trained.vocab_size == (257 if "min_count" in options else 259)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("gpt-2", "gpt2"),
        ("gpt-4", "gpt2"),
        ("GPT-2", "gpt2"),
        ("gpt2 ", "gpt2"),
        ("llama-3", "llama3"),
        ("qwen2.5", "qwen2"),
        ("qwen3.5", "qwen3_5"),
        ("cl100k-base", "cl100k"),
        ("o200k base", "o200k"),
        ("deepseek-v3", "deepseek_v3"),
    ],
)
def test_a_misspelt_pattern_is_no_regular_expression(name, meant):
    with pytest.raises(errors.ArgumentError, match=f"did you mean '{meant}'") as caught:
        bytepair.patterns.regex(name)
    assert repr(name) in str(caught.value)
    assert bytepair.patterns.regex(f"(?:{name})") == f"(?:{name})"


@pytest.mark.parametrize(
    "pattern", [r"\w+", "a b", ".", " ", "-", "hello world.", "a.b", "gpt[24]"]
)
def test_a_regular_expression_stays_one(pattern):
    assert bytepair.patterns.regex(pattern) == pattern


@pytest.mark.parametrize("pattern", ["", [""], [r"\w+", ""]])
def test_an_empty_pattern(pattern):
    with pytest.raises(errors.ArgumentError, match=r"the pattern is empty.*give pattern=None"):
        bytepair.train(["abab"], 257, pattern=pattern)
    with pytest.raises(errors.ArgumentError, match="the pattern is empty"):
        Tokenizer({97: b"a"}, [], pattern=pattern)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda path: BPETokenizer.load(path), ValueError, "not a file of bytepair.reference"),
        (lambda _: BPETokenizer(BYTES, []).encode(5), TypeError, "text must be str, not int"),
        (lambda path: reference.train_bpe(path, "500", []), TypeError, "not str ('500')"),
        (lambda path: reference.train_bpe(path, 500.0, []), TypeError, "not float (500.0)"),
    ],
)
def test_the_readable_half_says_what_is_wrong(call, error, words, tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("low lower lowest")
    with pytest.raises(error) as caught:
        call(path)
    assert words in str(caught.value)


@pytest.mark.skipif(os.name != "posix", reason="locales of POSIX")
def test_the_demonstrations_run_where_the_terminal_has_ascii_alone():
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    words = [sys.executable, "-m", "bytepair.reference", "--lang", "zh"]
    done = subprocess.run(words, capture_output=True, env={**os.environ, **plain})
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii()
