"""The same ids as tiktoken: on real text, on shared values, on strings of nasty characters.

`HYPOTHESIS_PROFILE=deep` makes it 20 MB of each corpus and a million strings.
"""

from __future__ import annotations

import hashlib
import json
import random
from array import array

import pytest

from bytepair import get_encoding

ENCODINGS = [
    "gpt2",
    "r50k_base",
    "p50k_base",
    "p50k_edit",
    "cl100k_base",
    "o200k_base",
    "o200k_harmony",
]
KINDS = ["english", "chinese", "code", "multilingual"]
TABLES = {"gpt2", "p50k_base", "cl100k_base", "o200k_base"}  # the others differ in special tokens

# What patterns tell apart, and what they are apt to get wrong.
NASTY = [
    *"aAbZzéÉßſKİıǅʰªºא中あ가ñ",
    *"0123456789²½Ⅷ٣①",
    *"''''´’\"_-–/\\.,:;!?#$%&()[]{}<|>@^~`+=*",
    *(" " * 6),
    *"\t\n\n\n\r\x0b\x0c\x1c\x1f\x85\xa0\u1680\u2003\u2009\u2028\u2029\u202f\u205f\u3000",
    *"\0\x01\x7f\x80\xad\u180e\u200b\u200c\u200d\u2060\ufeff\ufffd\ufffe\uffff\ue000",
    *"\u0300\u0301\u0338\u0483\u0591\u064b\u093e\u094d\u0e31\u20e3\ufe0f",
    *"नकаЖωΩกعשΐᾈ",
    *"🙂👨👩🏽🇺🇸𝕏𐐀𐐨𞤀𞤢𠀀😀\U0010ffff\U000e0067",
    *["'s", "'S", "'ll", "'LL", "'Re", "'ve", "'d", "'M", "'t", "'ſ", "\r\n", "  ", "    "],
    *["the", " The", "ing", "HTTP", "iPhone", "don't", "été", "//", "...", "<|", "|>", "\n\n "],
]
SPECIAL = ["<|endoftext|>", "<|fim_prefix|>", "<|endofprompt|>", "<|start|>", "<|endof", "text|>"]


def nasty_strings(count: int, seed: int, parts: list[str]) -> list[str]:
    """Strings of one to twelve parts, the same in every run."""
    source = random.Random(seed)
    return ["".join(source.choices(parts, k=source.randint(1, 12))) for _ in range(count)]


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", ENCODINGS)
def test_random_strings_of_nasty_characters(rival, deep, name):
    count = 1_000_000 if deep else 30_000 if name in TABLES else 3_000
    ours, theirs = get_encoding(name), rival(name)
    for text in nasty_strings(count, 20, NASTY):
        assert ours.encode_ordinary(text) == theirs.encode_ordinary(text), ascii(text)


@pytest.mark.parametrize("name", ENCODINGS)
def test_random_strings_with_special_tokens(rival, deep, name):
    ours, theirs = get_encoding(name), rival(name)
    for text in nasty_strings(50_000 if deep else 3_000, 21, NASTY + SPECIAL * 8):
        assert ours.encode(text) == theirs.encode(text, allowed_special="all"), ascii(text)
        assert ours.encode(text, allowed_special=()) == theirs.encode_ordinary(text)


@pytest.mark.parametrize("name", sorted(TABLES))
def test_every_character_between_letters_and_alone(rival, name):
    """Each code point of the first planes, so that a wrong character class cannot hide."""
    ours, theirs = get_encoding(name), rival(name)
    points = [*range(0xD800), *range(0xE000, 0x10000), *range(0x10000, 0x20000, 7)]
    for start in range(0, len(points), 64):
        chars = [chr(point) for point in points[start : start + 64]]
        for text in (
            "".join(f"a{char}b" for char in chars),
            "".join(f" {char}" for char in chars),
            "".join(f"1{char}{char}'" for char in chars),
        ):
            assert ours.encode_ordinary(text) == theirs.encode_ordinary(text), ascii(text)


@pytest.mark.parametrize("name", ENCODINGS)
def test_lone_surrogates(rival, name):
    ours, theirs = get_encoding(name), rival(name)
    source = random.Random(22)
    parts = ["\ud800", "\udbff", "\udc00", "\udfff", "a", " ", "é", "\n"]
    for _ in range(1_000):
        text = "".join(source.choices(parts, k=source.randint(1, 8)))
        ids = theirs.encode(text)
        assert ours.encode(text, errors="replace") == ids
        assert list(ours.encode_iterable(list(text), errors="replace")) == ids


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ENCODINGS)
def test_corpora(rival, corpus_text, deep, kind, name):
    size = 20_000_000 if deep else 1_500_000 if name in TABLES else 200_000
    text = corpus_text(kind, size)
    ids = get_encoding(name).encode(text)
    expected = rival(name).encode(text, allowed_special="all")
    if ids != expected:
        place = next(n for n, (a, b) in enumerate(zip(ids, expected, strict=False)) if a != b)
        where = rival(name).decode(expected[max(0, place - 10) : place + 10])
        pytest.fail(f"first difference at id {place}, in {where!r}")
    assert get_encoding(name).decode(ids) == text


def test_text_that_every_machine_has(rival, sample):
    for name in ENCODINGS:
        expected = rival(name).encode(sample, allowed_special="all")
        assert get_encoding(name).encode(sample) == expected


@pytest.mark.parametrize("name", sorted(TABLES))
def test_shared_values(shared, name):
    values = json.loads((shared / "cases" / "expected_ids.json").read_text(encoding="utf-8"))
    key = "r50k_base" if name == "gpt2" else name
    encoding = get_encoding(name)
    for case in values["cases"]:
        assert encoding.encode_ordinary(case["text"]) == case["ids"][key], ascii(case["text"])
    for run in values["runs"]:
        ids = encoding.encode_ordinary(run["unit"] * run["times"] + run["suffix"])
        expected = run["by"][key]
        assert len(ids) == expected["n"]
        assert hashlib.sha256(array("I", ids).tobytes()).hexdigest() == expected["sha256_u32le"]


@pytest.mark.parametrize("name", ENCODINGS)
def test_look_ups(rival, name):
    ours, theirs = get_encoding(name), rival(name)
    assert ours.vocab_size == theirs.n_vocab
    assert set(ours.special_tokens) == theirs.special_tokens_set
    source = random.Random(23)
    for id_ in source.sample(sorted(ours.vocab), 2_000):
        token = theirs.decode_single_token_bytes(id_)
        assert ours.token_bytes(id_) == token
        assert ours.token_id(token) == theirs.encode_single_token(token)
        assert ours.is_special(id_) == theirs.is_special_token(id_)
    ids = source.choices(sorted(ours.vocab), k=5_000)
    assert ours.decode_bytes(ids) == theirs.decode_bytes(ids)
    assert ours.decode(ids) == theirs.decode(ids)
