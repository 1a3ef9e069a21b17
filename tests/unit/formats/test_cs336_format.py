"""A dict and a list, as a course keeps them."""

from __future__ import annotations

import json

import pytest

import bytepair
from bytepair import Tokenizer, formats
from bytepair.errors import FormatError
from bytepair.formats import cs336
from bytepair.formats.gpt2 import spell


@pytest.fixture(scope="module")
def tokenizer():
    return bytepair.train(bytepair.sample_corpus(), 400)


def test_there_and_back(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "x.json", format="cs336")
    assert formats.detect(tmp_path / "x.json") == "cs336"
    assert Tokenizer.load(tmp_path / "x.json") == tokenizer


def test_what_train_bpe_gives(tmp_path):
    vocab, merges = bytepair.train_bpe(bytepair.sample_corpus(), 400, ["<|endoftext|>"])
    wanted = Tokenizer(vocab, merges, ["<|endoftext|>"])
    pairs = [[spell(left), spell(right)] for left, right in merges]
    spellings = [
        ({str(id): list(token) for id, token in vocab.items()}, [[*map(list, m)] for m in merges]),
        ({spell(token): id for id, token in vocab.items()}, pairs),
        ({id: spell(token) for id, token in vocab.items()}, [" ".join(pair) for pair in pairs]),
    ]
    for one, other in spellings:
        values = {"vocab": one, "merges": other, "special_tokens": ["<|endoftext|>"]}
        (tmp_path / "x.json").write_text(json.dumps(values), encoding="utf-8")
        assert Tokenizer.load(tmp_path / "x.json") == wanted
    for name, value in zip(cs336.PAIR, spellings[1], strict=True):
        (tmp_path / name).write_text(json.dumps(value), encoding="utf-8")
    assert formats.detect(tmp_path) == "cs336"
    assert Tokenizer.load(tmp_path) == wanted


def test_what_it_cannot_hold(tmp_path):
    with pytest.raises(FormatError, match="imply GPT-2's pattern"):
        bytepair.get_encoding("cl100k_base").save(tmp_path / "x", format="cs336")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "not an object of vocab"),
        ({"vocab": {}}, "not an object of vocab"),
        ({"vocab": {}, "merges": [], "more": 1}, "not an object of vocab"),
        ({"vocab": [], "merges": []}, "vocab is not an object"),
        ({"vocab": {"a": -1}, "merges": []}, "-1 is not an id"),
        ({"vocab": {"a": "b"}, "merges": []}, "'a' is not an id"),
        ({"vocab": {"0": "a", "00": "b"}, "merges": []}, "the id 0 occurs twice"),
        ({"vocab": {"0": [256]}, "merges": []}, r"\[256\] is not a token"),
        ({"vocab": {"0": ""}, "merges": []}, "'' is not a token"),
        ({"vocab": {"0": None}, "merges": []}, "None is not a token"),
        ({"vocab": {"0": "a"}, "merges": {}}, "merges is not a list"),
        ({"vocab": {"0": "a"}, "merges": [["a"]]}, "merge 0: .* is not two tokens"),
        ({"vocab": {"0": "a"}, "merges": [3]}, "merge 0: 3 is not two tokens"),
        ({"vocab": {"0": "a"}, "merges": [["a", "a"]]}, "not in the vocab"),
        ({"vocab": {"0": "a"}, "merges": [], "special_tokens": "a"}, "not a list of str"),
        ({"vocab": {"0": "a"}, "merges": [], "special_tokens": [""]}, "empty"),
    ],
)
def test_damaged_files(values, message, tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(FormatError, match=rf"x\.json: .*{message}"):
        cs336.load(str(path))
