"""The JSON file of bytepair.reference.BPETokenizer, in and out."""

from __future__ import annotations

import json

import pytest

import bytepair
from bytepair import Tokenizer, formats
from bytepair.errors import FormatError
from bytepair.reference import BPETokenizer

TEXT = "It's 12345 — naïve café 日本語\r\n\n  \t two  spaces<|endoftext|>."


@pytest.fixture(scope="module")
def ours():
    return bytepair.train(bytepair.sample_corpus(), 600)


def test_the_reference_reads_what_is_written(ours, tmp_path):
    path = tmp_path / "x.json"
    ours.save(path, format="reference")
    theirs = BPETokenizer.load(path)
    assert theirs.encode(TEXT) == ours.encode(TEXT)
    assert formats.detect(path) == "reference"
    assert Tokenizer.load(path) == ours


def test_what_the_reference_writes_is_read(ours, tmp_path):
    path = tmp_path / "x.json"
    theirs = BPETokenizer(dict(ours.vocab), ours.merges, ["<|endoftext|>"])
    theirs.save(path)
    assert Tokenizer.load(path) == ours


def test_ranks(tmp_path):
    ranked = Tokenizer.from_ranks({b"a": 0, b"b": 1, b"ab": 2}, pattern=None)
    ranked.save(tmp_path / "x.json", format="reference")
    assert Tokenizer.load(tmp_path / "x.json") == ranked
    assert BPETokenizer.load(tmp_path / "x.json").encode("abba") == ranked.encode("abba")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ignore_merges": True}, "does not know ignore_merges"),
        ({"normalizer": "NFC"}, "does not know a normalizer"),
        ({"added_tokens": {"<x>": 9}}, "does not know added tokens"),
        ({"pattern": ["a+", "b+"]}, "does not know a sequence of patterns"),
    ],
)
def test_what_it_cannot_hold_is_refused(options, message, tmp_path):
    tokenizer = Tokenizer({0: b"a"}, [], **{"pattern": None, **options})
    with pytest.raises(FormatError, match=message):
        tokenizer.save(tmp_path / "x.json", format="reference")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("version", 2, "not a file of bytepair.reference, version 1"),
        ("pattern", 5, "not a file of bytepair.reference"),
        ("pattern", "(", "pattern"),
        ("merge_rule", "x", "not a file of bytepair.reference"),
        ("vocab", [], "not a file of bytepair.reference"),
        ("vocab", {"x": "a"}, "vocab entry 'x': 'a' is not id → token"),
        ("vocab", {"1": ""}, "vocab entry '1': '' is not id → token"),
        ("vocab", {"1": 5}, "vocab entry '1': 5 is not id → token"),
        ("vocab", {"1": "a", "01": "b"}, "vocab entry '01': the id occurs twice"),
        ("vocab", {"9999999999": "a"}, "."),
        ("merges", ["ab"], "merge 0: 'ab' is not two tokens"),
        ("merges", [["a", "一"]], "merge 0"),
        ("merges", [["a", "x"]], "merge 0: .*x.* is not in the vocab"),
        ("special_tokens", {"<x>": "1"}, "special token '<x>': '1' is not an id"),
        ("special_tokens", {"": 1}, "empty"),
    ],
)
def test_a_broken_file_is_named(key, value, message, tmp_path):
    path = tmp_path / "x.json"
    Tokenizer({0: b"a", 1: b"b"}, [], pattern=None).save(path, format="reference")
    data = json.loads(path.read_text(encoding="utf-8"))
    data[key] = value
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(FormatError, match=message) as caught:
        Tokenizer.load(path)
    assert str(path) in str(caught.value)
