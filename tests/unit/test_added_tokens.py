"""Added tokens and the normalizer: what the other parts of the tokenizer make of them."""

from __future__ import annotations

import copy
import pickle
import unicodedata

import pytest

from bytepair import Tokenizer
from bytepair.errors import (
    ArgumentError,
    BytepairError,
    FormatError,
    PatternError,
    SpecialTokenError,
    VocabError,
)

BYTES = {id: bytes([id]) for id in range(256)}


@pytest.fixture
def tokenizer():
    return Tokenizer(
        BYTES | {256: b"ab"},
        [(b"a", b"b")],
        {"<s>": 257},
        pattern=None,
        added_tokens={"<think>": 258, "<s>x": 259},
        normalizer="NFC",
    )


def test_added_tokens_are_found_whatever_is_allowed(tokenizer):
    text = "ab<think><s>"
    plain = list(b"<s>")
    assert tokenizer.encode(text) == [256, 258, 257]
    assert tokenizer.encode_ordinary(text) == [256, 258, *plain]
    assert tokenizer.encode(text, allowed_special=()) == [256, 258, *plain]
    assert tokenizer.encode(text, allowed_special={"<s>"}) == [256, 258, 257]
    assert tokenizer.encode("<think>", disallowed_special="all", allowed_special=()) == [258]
    with pytest.raises(SpecialTokenError, match="<s>"):
        tokenizer.encode(text, disallowed_special={"<s>"})
    assert tokenizer.count(text) == 3
    assert tokenizer.encode_batch([text, "<think>"]) == [[256, 258, 257], [258]]
    assert list(tokenizer.encode_iterable(list(text))) == [256, 258, 257]
    assert list(tokenizer.encode_iterable(list(text), allowed_special=())) == [256, 258, *plain]


def test_the_longest_wins_among_special_and_added_ones(tokenizer):
    assert tokenizer.encode("<s>xy") == [259, ord("y")]
    assert tokenizer.encode("<s>y") == [257, ord("y")]


def test_added_tokens_are_vocabulary(tokenizer):
    assert tokenizer.added_tokens == {"<think>": 258, "<s>x": 259}
    assert tokenizer.special_tokens == {"<s>": 257}
    assert not tokenizer.is_special(258)
    assert tokenizer.is_special(257)
    assert tokenizer.vocab[258] == b"<think>"
    assert len(tokenizer.vocab) == 260
    assert list(tokenizer.vocab)[-3:] == [257, 258, 259]
    assert tokenizer.vocab_size == 260
    assert tokenizer.token_id("<think>") == 258
    assert tokenizer.decode([258, 256]) == "<think>ab"


def test_normalized_text(tokenizer):
    assert tokenizer.normalizer == "NFC"
    text = "cafe\u0301 e\u0323\u0302<think>\u1100\u1161"
    wanted = unicodedata.normalize("NFC", text)
    assert tokenizer.decode(tokenizer.encode(text)) == wanted
    for size in range(1, 6):
        chunks = [text[at : at + size] for at in range(0, len(text), size)]
        assert list(tokenizer.encode_iterable(chunks)) == tokenizer.encode(text)


@pytest.mark.parametrize("pattern", ["gpt2", "qwen2", r"\S+|\s+"])
def test_long_text_in_chunks(pattern):
    tokenizer = Tokenizer(BYTES, [], pattern=pattern, normalizer="NFC")
    text = "une e\u0301te\u0301 a\u0300 Paris, \u1112\u1161\u11ab\u1100\u1173\u11af 12\n" * 3000
    chunks = [text[at : at + 700] for at in range(0, len(text), 700)]
    assert list(tokenizer.encode_iterable(chunks)) == tokenizer.encode(text)
    assert tokenizer.decode(tokenizer.encode(text)) == unicodedata.normalize("NFC", text)


def test_they_are_part_of_what_it_is(tokenizer, tmp_path):
    plain = Tokenizer(BYTES | {256: b"ab"}, [(b"a", b"b")], {"<s>": 257}, pattern=None)
    added = Tokenizer(
        BYTES | {256: b"ab"}, [(b"a", b"b")], {"<s>": 257}, pattern=None, added_tokens={"<t>": 258}
    )
    special = plain.with_special_tokens({"<t>": 258})
    composed = Tokenizer(
        BYTES | {256: b"ab"}, [(b"a", b"b")], {"<s>": 257}, pattern=None, normalizer="NFC"
    )
    different = [plain, added, special, composed, tokenizer]
    for one in different:
        assert sum(one == other for other in different) == 1
        assert sum(one.fingerprint == other.fingerprint for other in different) == 1
        assert pickle.loads(pickle.dumps(one)) == one
        assert copy.deepcopy(one) == one
        one.save(tmp_path / "x.json")
        again = Tokenizer.load(tmp_path / "x.json")
        assert again == one
        assert again.added_tokens == one.added_tokens
        assert again.normalizer == one.normalizer


@pytest.mark.parametrize("options", [{"normalizer": "NFC"}, {"added_tokens": {"<x>": 256}}])
def test_gpt2_s_files_cannot_hold_them(options, tmp_path):
    with pytest.raises(FormatError, match="cannot hold added tokens, a normalizer"):
        Tokenizer(BYTES, [], **options).save(tmp_path / "x", format="gpt2")
    assert list(tmp_path.iterdir()) == []


def test_special_tokens_can_be_added_besides(tokenizer):
    more = tokenizer.with_special_tokens(["<new>"])
    assert more.encode("<new><think>e\u0301") == [260, 258, 0xC3, 0xA9]
    with pytest.raises(ArgumentError, match="'<think>' is an added token already, with id 258"):
        tokenizer.with_special_tokens(["<think>"])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"added_tokens": {"": 300}}, BytepairError, "empty"),
        ({"added_tokens": {"<x>": 97}}, VocabError, "id 97"),
        ({"added_tokens": {"<x>": 300, "<y>": 300}}, VocabError, "both have id 300"),
        ({"added_tokens": {"<s>": 257}}, VocabError, "both a special token and an added one"),
        ({"normalizer": "NFX"}, ArgumentError, 'unknown normalizer "NFX"; the steps are NFC'),
        ({"normalizer": ["NFC", ["Prepend"]]}, ArgumentError, 'unknown normalizer "Prepend"'),
        ({"normalizer": [["ReplaceRegex", "(", ""]]}, PatternError, "cannot be used"),
    ],
)
def test_what_does_not_fit_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        Tokenizer(BYTES, [], {"<s>": 257}, pattern=None, **options)


def test_places_in_a_text_that_is_rewritten_are_refused():
    tokenizer = Tokenizer({byte: bytes([byte]) for byte in range(256)}, [], normalizer="NFD")
    with pytest.raises(ValueError, match="NFD"):
        tokenizer.encode_with_offsets("\u00e9a")


def test_bytes_are_normalized_where_they_are_text():
    tokenizer = Tokenizer({byte: bytes([byte]) for byte in range(256)}, [], normalizer="NFC")
    ids = tokenizer.encode("e\u0301".encode() + b"\xff" + b"a")
    assert ids == [*"\u00e9".encode(), 0xFF, ord("a")]
