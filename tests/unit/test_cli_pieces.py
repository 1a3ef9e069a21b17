"""`bytepair pieces`, and `train` on files of counts, on every kind of corpus, and from a base."""

from __future__ import annotations

import gzip
import json

import pytest

import bytepair
from bytepair import PieceCounts, Tokenizer
from cli_support import SAMPLE, cli, ok

TEXT = "low low low lower lower newest newest <|user|> 123 你好 你好\n" * 3


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_bytes(TEXT.encode())
    return path


def test_counts_are_saved_added_and_trained_on(corpus, tmp_path):
    one, two, out = tmp_path / "one.parquet", tmp_path / "two.parquet", tmp_path / "my.json"
    text = ok("pieces", corpus, "-o", one)
    counts = bytepair.count_pieces(corpus)
    assert PieceCounts.load(one) == counts
    assert f"{len(counts):,} different, {counts.total():,} in all" in text
    assert "1 file, 0 of counts" in text
    assert str(one) in text
    facts = json.loads(ok("pieces", one, corpus, one, "-o", two, "--json", "--top", 1))
    assert PieceCounts.load(two) == counts.scale(3)
    assert (facts["pieces"], facts["total"]) == (len(counts), 3 * counts.total())
    assert (facts["pattern"], facts["special_tokens"]) == ("gpt2", ["<|endoftext|>"])
    assert facts["top"] == [[" low", 6 * 3]]
    ok("train", two, "-n", 264, "-o", out, "-q")
    assert Tokenizer.load(out) == bytepair.train(corpus, 264)
    ok("train", one, SAMPLE, "-n", 400, "-o", out, "-q")
    assert Tokenizer.load(out) == bytepair.train([corpus, SAMPLE], 400)


def test_pieces_of_standard_input_and_without_a_file():
    facts = json.loads(ok("pieces", "-", "--json", "--no-special", stdin=b"low low"))
    assert (facts["pieces"], facts["output"], facts["special_tokens"]) == (2, None, [])
    done = cli("pieces", "-", stdin=b"low \xff")
    assert (done.code, done.out) == (1, b"")
    assert "standard input: byte 4 is not valid UTF-8" in done.error


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-o", "{tmp}/counts.json"], 2, "ends in .parquet"),
        (["-o", "{tmp}/no/where.parquet"], 1, "no' does not exist"),
        (["--pattern", "gtp2"], 2, "unknown pattern 'gtp2'"),
        (["--special", "a", "--no-special"], 2, "exclude each other"),
        (["{tmp}/other.parquet"], 1, "special tokens"),
        (["--pattern", "o200k", "{tmp}/other.parquet"], 1, "pattern"),
    ],
)
def test_pieces_that_cannot_be(arguments, code, message, corpus, tmp_path):
    bytepair.count_pieces(["low"], special_tokens=["<x>"]).save(tmp_path / "other.parquet")
    words = [argument.replace("{tmp}", str(tmp_path)) for argument in arguments]
    done = cli("pieces", corpus, *words)
    assert (done.code, done.out) == (code, b"")
    assert message in done.error


def test_train_reads_every_kind(corpus, tmp_path):
    out = tmp_path / "my.json"
    lines = tmp_path / "a.jsonl.gz"
    lines.write_bytes(gzip.compress(json.dumps({"doc": {"body": TEXT}}).encode()))
    facts = json.loads(
        ok("train", lines, "-n", 264, "-o", out, "--text-field", "doc.body", "--json")
    )
    assert Tokenizer.load(out) == bytepair.train(corpus, 264)
    report = facts["report"]
    assert report["merges"] == 7
    assert report["corpus_bytes"] == len(TEXT.encode())
    assert facts["bytes_per_token"] == report["curve"][-1]["bytes_per_token"]
    done = cli("train", lines, "-n", 264, "-o", out)
    assert done.code == 1
    assert done.error.startswith(f"error: {lines}, line 1: there is no field 'text'")
    corpus.write_bytes(TEXT.encode() + b"\xff")
    ok("train", corpus, "-n", 264, "-o", out, "-q", "--errors", "ignore")
    assert Tokenizer.load(out) == bytepair.train([TEXT], 264)


def test_train_goes_on_from_a_base(corpus, tmp_path):
    base, out = tmp_path / "base.json", tmp_path / "my.json"
    bytepair.train(corpus, 260, special_tokens=["<|user|>"], pattern="o200k").save(base)
    ok("train", corpus, "-n", 264, "-o", out, "-q", "--base", base)
    options = {"special_tokens": ["<|user|>"], "pattern": "o200k"}
    assert Tokenizer.load(out) == bytepair.train(corpus, 264, **options)
    done = cli("train", corpus, "-n", 259, "-o", out, "--base", base)
    assert done.code == 2
    assert "the base has 260 tokens already" in done.error


def test_pieces_of_nothing(tmp_path):
    path = tmp_path / "empty.txt"
    path.write_text("")
    lines = [line.split(maxsplit=1) for line in ok("pieces", path).splitlines()[1:]]
    assert lines[2] == ["commonest", "none"]
    assert json.loads(ok("pieces", path, "--json"))["top"] == []
