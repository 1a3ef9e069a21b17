"""minbpe's .model files, in and out."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bytepair
from bytepair import Tokenizer, formats
from bytepair.errors import FormatError

TEXT = "It's 12345 — naïve café 日本語\r\n\n  \t two  spaces<|end|>."


def write(tmp_path, content: str | bytes):
    path = tmp_path / "some.model"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_small_file(tmp_path):
    path = write(tmp_path, "minbpe v1\n\n1\n<|end|> 258\n97 97\n256 98\n")
    assert formats.detect(path) == "minbpe"
    read = Tokenizer.load(path)
    assert read.pattern is None
    assert read.merges == [(b"a", b"a"), (b"aa", b"b")]
    assert read.encode("aaab<|end|>") == [256, 97, 98, 258]


def merge(ids: list[int], merges: dict[tuple[int, int], int]) -> list[int]:
    """Merge as minbpe does: the lowest pair, everywhere from the left, until there is none."""
    while True:
        known = [pair for pair in itertools.pairwise(ids) if pair in merges]
        if not known:
            return ids
        pair = min(known, key=merges.__getitem__)
        merged, at = [], 0
        while at < len(ids):
            if tuple(ids[at : at + 2]) == pair:
                merged.append(merges[pair])
                at += 2
            else:
                merged.append(ids[at])
                at += 1
        ids = merged


@given(st.text(alphabet="ab c", max_size=30))
def test_ids_are_those_of_the_rule(tmp_path_factory, text):
    path = write(tmp_path_factory.mktemp("x"), "minbpe v1\n\n0\n97 97\n256 98\n98 32\n257 256\n")
    merges = {(97, 97): 256, (256, 98): 257, (98, 32): 258, (257, 256): 259}
    assert Tokenizer.load(path).encode(text) == merge(list(text.encode()), merges)


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "llama3", None, r"\S+|\s+"])
def test_a_trained_tokenizer_comes_back(pattern, tmp_path):
    ours = bytepair.train(
        bytepair.sample_corpus(), 700, pattern=pattern, special_ids="last", special_tokens=["<|e|>"]
    )
    ours.save(tmp_path / "x.model", format="minbpe")
    again = Tokenizer.load(tmp_path / "x.model")
    assert again == ours
    assert again.encode(TEXT + "<|e|>") == ours.encode(TEXT + "<|e|>")


def test_a_file_with_crlf(tmp_path):
    path = write(tmp_path, "minbpe v1\r\n" + bytepair.patterns.regex("gpt2") + "\r\n0\r\n97 98\r\n")
    assert formats.detect(path) == "minbpe"
    assert Tokenizer.load(path).encode("ab") == [256]
    assert Tokenizer.load(path).pattern == "gpt2"


def plain(**options) -> Tokenizer:
    vocab = {id: bytes([id]) for id in range(256)} | options.pop("more", {})
    return Tokenizer(vocab, options.pop("merges", []), **{"pattern": None, **options})


@pytest.mark.parametrize(
    ("tokenizer", "message"),
    [
        (plain(more={300: b"ab"}, merges=[(b"a", b"b")]), r"merge n makes id 256 \+ n"),
        (bytepair.get_encoding("gpt2"), "byte b has id b there"),
        (plain(ignore_merges=True), "it cannot hold ignore_merges"),
        (plain(normalizer="NFC"), "a normalizer"),
        (plain(added_tokens={"<x>": 256}), "added tokens"),
        (plain(special_tokens=["a b"]), "'a b' has white space in it"),
        (plain(pattern="deepseek_v3"), "a sequence of 3 regular expressions"),
        (plain(pattern=r" \S+|\s+ "), "white space at its ends"),
        (plain(pattern="a\nb"), "a line break"),
    ],
)
def test_what_it_cannot_hold_is_refused(tokenizer, message, tmp_path):
    with pytest.raises(FormatError, match=message):
        tokenizer.save(tmp_path / "x.model", format="minbpe")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "not a minbpe model"),
        ("minbpe v2\n\n0\n", "not a minbpe model"),
        ("minbpe v1\n\nx\n", "not a minbpe model"),
        ("minbpe v1\n\n3\n<a> 1\n", "line 3: 3 special tokens are announced"),
        ("minbpe v1\n\n1\n<a> <b> 300\n", "line 4: '<a> <b> 300' is not a new special token"),
        ("minbpe v1\n\n2\n<a> 300\n<a> 301\n", "line 5: '<a> 301'"),
        ("minbpe v1\n\n1\n<a> 99999999999\n", "line 4"),
        ("minbpe v1\n\n1\n<a> 9999999999\n", "."),
        ("minbpe v1\n\n1\n<a> 65\n", "65"),
        ("minbpe v1\n\n0\n97 98 99\n", "line 4: '97 98 99' is not two ids below 256"),
        ("minbpe v1\n\n0\n97 256\n", "line 4: '97 256' is not two ids below 256"),
        ("minbpe v1\n\n0\n97 98\n-1 256\n", "line 5: '-1 256'"),
        ("minbpe v1\n\n0\n97 98\n97 98\n", "line 5: token 257 has the bytes of token 256"),
        ("minbpe v1\n(\n0\n", "pattern"),
        ("minbpe v1\n\n0\n97 97\n" + "".join(f"{i} {i}\n" for i in range(256, 300)), "take more"),
        (b"minbpe v1\n\xff\n0\n", "not valid UTF-8"),
    ],
)
def test_a_broken_file_is_named(content, message, tmp_path):
    path = write(tmp_path, content)
    with pytest.raises(FormatError, match=message) as caught:
        Tokenizer.load(path, format="minbpe")
    assert str(path) in str(caught.value)
