"""Mistral's tekken.json, in and out."""

from __future__ import annotations

import base64
import copy
import json

import pytest
import tiktoken

import bytepair
from bytepair import Tokenizer, formats
from bytepair.errors import FormatError

TEXT = "It's 12345 — naïve café 日本語\r\n\n  \t two  spaces</s>end CamelCase/x"


def small() -> dict:
    tokens = [bytes([byte]) for byte in range(256)] + [b"ab", b"abc", b"too far"]
    config = {"pattern": bytepair.patterns.regex("tekken"), "num_vocab_tokens": 259}
    config |= {"default_vocab_size": 262, "default_num_special_tokens": 4, "version": "v11"}
    return {
        "config": config,
        "vocab": [
            {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
            for rank, token in enumerate(tokens)
        ],
        "special_tokens": [
            {"rank": 0, "token_str": "<unk>", "is_control": True},
            {"rank": 2, "token_str": "</s>", "is_control": True},
        ],
    }


def load(data: object, tmp_path) -> Tokenizer:
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return Tokenizer.load(path, format="tekken")


def test_a_small_file(tmp_path):
    read = load(small(), tmp_path)
    assert formats.detect(tmp_path / "tekken.json") == "tekken"
    assert read.pattern == "tekken"
    special = {"<unk>": 0, "<SPECIAL_1>": 1, "</s>": 2, "<SPECIAL_3>": 3}
    assert read.special_tokens == special
    assert read.vocab_size == 262
    assert read.encode("abab</s>abc") == [260, 260, 2, 261]
    assert read.encode_ordinary("</s>") == [4 + byte for byte in b"</s>"]


def test_the_real_file(shared, corpus_text):
    path = shared / "data" / "vocabs" / "mistral" / "tekken_240911.json"
    assert formats.detect(path) == "tekken"
    ours = Tokenizer.load(path)
    assert (ours.vocab_size, len(ours.special_tokens)) == (131072, 1000)
    assert ours.special_tokens["[INST]"] == 3
    assert ours.special_tokens["<SPECIAL_999>"] == 999
    data = json.loads(path.read_text(encoding="utf-8"))
    # As mistral-common does it: an encoding of tiktoken's, whose ids are moved up.
    theirs = tiktoken.Encoding(
        "tekken",
        pat_str=data["config"]["pattern"],
        mergeable_ranks={
            base64.b64decode(entry["token_bytes"]): entry["rank"]
            for entry in data["vocab"][: 131072 - 1000]
        },
        special_tokens={},
    )
    for text in (TEXT, corpus_text("multilingual", 200_000), corpus_text("code", 200_000)):
        wanted = [id + 1000 for id in theirs.encode_ordinary(text)]
        assert ours.encode_ordinary(text) == wanted
        assert ours.decode(wanted) == text


def test_a_trained_tokenizer_comes_back(tmp_path):
    ours = bytepair.train(
        bytepair.sample_corpus(),
        900,
        pattern="tekken",
        special_ids="first",
        special_tokens=["<unk>", "<s>", "</s>"],
    )
    ours.save(tmp_path / "tekken.json", format="tekken")
    again = Tokenizer.load(tmp_path / "tekken.json")
    assert formats.detect(tmp_path / "tekken.json") == "tekken"
    assert again.encode(TEXT) == ours.encode(TEXT)
    assert dict(again.vocab) == dict(ours.vocab)
    again.save(tmp_path / "again.json", format="tekken")
    assert Tokenizer.load(tmp_path / "again.json") == again


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"special_ids": "last"}, "the special tokens come first"),
        ({"pattern": r"\S+|\s+"}, "only a named pattern of one regular expression"),
        ({"pattern": "deepseek_v3"}, "only a named pattern of one regular expression"),
        ({"pattern": None}, "only a named pattern of one regular expression"),
    ],
)
def test_what_it_cannot_hold_is_refused(options, message, tmp_path):
    options = {"special_ids": "first", "pattern": "tekken"} | options
    tokenizer = bytepair.train(bytepair.sample_corpus(), 300, **options)
    with pytest.raises(FormatError, match=message):
        tokenizer.save(tmp_path / "tekken.json", format="tekken")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (["config"], None, "not a tekken.json"),
        (["config", "pattern"], 1, "not a tekken.json"),
        (["config", "pattern"], "(", "pattern"),
        (["config", "default_vocab_size"], 1, "not a tekken.json"),
        (["config", "default_num_special_tokens"], -1, "not a tekken.json"),
        (["vocab"], {}, "not a tekken.json"),
        (["vocab", 3], None, "vocab entry 3: None is not rank 3"),
        (["vocab", 3, "rank"], 5, "vocab entry 3: .* is not rank 3"),
        (["vocab", 3, "token_bytes"], "*", "vocab entry 3: token_bytes '.' is not base64"),
        (["vocab", 3, "token_bytes"], "", "is empty"),
        (["special_tokens"], None, "version 'v11' has no special_tokens"),
        (["special_tokens"], 5, "special_tokens is not a list"),
        (["special_tokens", 1], {"rank": 4, "token_str": "x"}, "special token 1: .* below 4"),
        (["special_tokens", 1, "rank"], 0, "rank 0 or name '</s>' occurs twice"),
        (["special_tokens", 1, "token_str"], "", "empty"),
    ],
)
def test_a_broken_file_is_named(place, value, message, tmp_path):
    data = copy.deepcopy(small())
    *above, key = place
    target = data
    for step in above:
        target = target[step]
    target[key] = value
    with pytest.raises(FormatError, match=message) as caught:
        load(data, tmp_path)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b'{"config": []}'])
def test_garbage_is_a_format_error(content, tmp_path):
    path = tmp_path / "tekken.json"
    path.write_bytes(content)
    with pytest.raises(FormatError):
        Tokenizer.load(path, format="tekken")
