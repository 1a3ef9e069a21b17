"""What a tokenizer.json does around its model, against the tokenizers library.

Normalizers, flags of added tokens, added spaces, and files whose merging begins with characters.
"""

from __future__ import annotations

import json
import pickle

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from bytepair import Tokenizer
from bytepair.errors import BytepairError, FormatError
from bytepair.formats import huggingface
from bytepair.formats.gpt2 import BYTE_TO_CHARACTER
from model_texts import NASTY


def both(data: dict) -> tuple[Tokenizer, tokenizers.Tokenizer]:
    text = json.dumps(data)
    return huggingface.loads(text), tokenizers.Tokenizer.from_str(text)


def assert_same(ours: Tokenizer, theirs: tokenizers.Tokenizer, text: str) -> None:
    wanted = theirs.encode(text, add_special_tokens=False).ids
    assert ours.encode(text) == wanted, text[:80]
    assert ours.decode(wanted) == theirs.decode(wanted, skip_special_tokens=False), text[:80]


def assert_everywhere(ours: Tokenizer, theirs: tokenizers.Tokenizer, text: str, size: int) -> None:
    """The same ids whole, in chunks, unpickled and written again."""
    ids = theirs.encode(text, add_special_tokens=False).ids
    assert ours.encode(text) == ids
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    assert list(ours.encode_iterable(chunks)) == ids
    assert ours.count(text) == len(ids)
    decoder = ours.stream_decoder()
    assert "".join(decoder.feed(id) for id in ids) + decoder.finish() == ours.decode(ids)


def written(ours: Tokenizer, tmp_path) -> tokenizers.Tokenizer:
    """What the library makes of the file that we write, which is also read back."""
    ours.save(tmp_path / "x.json", format="huggingface")
    assert Tokenizer.load(tmp_path / "x.json") == ours
    assert pickle.loads(pickle.dumps(ours)) == ours
    return tokenizers.Tokenizer.from_file(str(tmp_path / "x.json"))


# ── Gemma 3 ───────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def gemma(shared):
    folder = shared / "data" / "vocabs" / "hf" / "gemma3"
    theirs = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    return Tokenizer.load(folder), theirs


@pytest.mark.slow
def test_nasty_texts_of_gemma(gemma):
    ours, theirs = gemma
    for text in NASTY:
        assert_same(ours, theirs, text)
        assert_everywhere(ours, theirs, text, 3)
    theirs.encode_special_tokens = True
    for text in NASTY:
        wanted = theirs.encode(text, add_special_tokens=False).ids
        assert ours.encode_ordinary(text) == wanted
    theirs.encode_special_tokens = False


@pytest.mark.slow
def test_places_in_gemma_s_texts(gemma):
    ours, theirs = gemma
    text = "The quick brown fox, 日本語 \U0001f469\u200d\U0001f467 " * 40
    ids, spans = ours.encode_with_offsets(text)
    assert ids == ours.encode(text)
    joined = "".join(text[start:end] for start, end in spans[:10])
    assert joined == text[: spans[9][1]]
    cut = ours.truncate(text, 50)
    assert text.startswith(cut)
    assert len(ours.encode(cut)) <= 50 < len(ours.encode(text[: len(cut) + 1]))
    assert ours.truncate("a ▁ b" * 9, 3) == "a ▁ ba"
    text = "a ▁ b" * 9
    spans = theirs.encode(text, add_special_tokens=False).offsets
    assert ours.encode_with_offsets(text)[1] == spans


@pytest.mark.slow
def test_gemma_comes_back(gemma, tmp_path):
    ours, theirs = gemma
    there = written(ours, tmp_path)
    assert there.get_vocab() == theirs.get_vocab()
    ours.save(tmp_path / "native.json")
    assert Tokenizer.load(tmp_path / "native.json") == ours


# ── Files whose merging begins with characters ────────────────────────────────────────────────────

REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
PREPEND = {"type": "Prepend", "prepend": "▁"}
BACK = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
FALLBACK, FUSE = {"type": "ByteFallback"}, {"type": "Fuse"}
STRIP = {"type": "Strip", "content": " ", "start": 1, "stop": 0}


def sequence(key: str, *steps: dict) -> dict:
    return {"type": "Sequence", key: list(steps)}


def metaspace(scheme: str, *, split: bool) -> dict:
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split}


def added(content: str, id: int, **flags) -> dict:
    usual = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {"id": id, "content": content, **usual, "special": True, **flags}


MERGES = [
    *(("▁", "▁"), ("▁", "a"), ("a", "b"), ("b", "a"), ("▁a", "b"), ("a", "a"), ("▁▁", "▁▁")),
    *(("aa", "a"), ("a", "aa"), ("é", "a"), ("1", "2"), ("b", "▁"), ("ba", "b")),
]


def characters(*, bytes: bool = True, special: tuple = (), **changes) -> dict:
    """A small file in the style of SentencePiece, with changes to its parts and its model."""
    texts = ["<unk>", "<s>", "</s>"]
    texts += [f"<0x{byte:02X}>" for byte in range(256)] if bytes else []
    texts += [*"▁abcé12\n", *dict.fromkeys(left + right for left, right in MERGES)]
    vocab = {text: id for id, text in enumerate(texts)}
    model = {
        "type": "BPE",
        "dropout": None,
        "unk_token": "<unk>",
        "fuse_unk": True,
        "byte_fallback": bytes,
        "vocab": vocab,
        "merges": [list(pair) for pair in MERGES if pair != ("b", "▁")],
    }
    tokens = [added("<unk>", 0), added("<s>", 1), added("</s>", 2)]
    tokens += [
        token | {"id": vocab.get(token["content"], len(vocab) + at)}
        for at, token in enumerate(special)
    ]
    data = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": tokens,
        "normalizer": sequence("normalizers", PREPEND, REPLACE),
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": sequence("decoders", BACK, FALLBACK, FUSE, STRIP),
        "model": model | changes.pop("model", {}),
    }
    return data | changes


FILES = [
    {},
    {"bytes": False},
    {"bytes": False, "model": {"fuse_unk": False}},
    {"normalizer": REPLACE, "decoder": sequence("decoders", BACK, FALLBACK, FUSE)},
    {"normalizer": sequence("normalizers", {"type": "NFKC"}, REPLACE, PREPEND)},
    {
        "normalizer": REPLACE,
        "decoder": sequence("decoders", BACK, FALLBACK, FUSE),
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"String": " "},
            "behavior": "MergedWithPrevious",
            "invert": False,
        },
    },
    {"normalizer": None, "pre_tokenizer": metaspace("first", split=False)},
    {"normalizer": None, "pre_tokenizer": metaspace("first", split=True)},
    {"normalizer": None, "pre_tokenizer": metaspace("always", split=False)},
    {"normalizer": {"type": "NFC"}, "pre_tokenizer": metaspace("always", split=True)},
    {
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": metaspace("never", split=True),
        "decoder": sequence("decoders", BACK, FALLBACK, FUSE),
    },
    {
        "special": (
            added("<l>", 0, lstrip=True),
            added("<r>", 0, rstrip=True, special=False),
            added("ab", 0, single_word=True),
        )
    },
    {"model": {"merges": [list(pair) for pair in MERGES]}},
]
ALPHABET = "aaab é12▁\n X\u0301\u2167\U0001f600"


@pytest.fixture(scope="module", params=range(len(FILES)))
def pair(request):
    return both(characters(**FILES[request.param]))


@settings(max_examples=60)
@given(
    parts=st.lists(
        st.one_of(
            st.text(alphabet=ALPHABET, max_size=12), st.sampled_from(["<s>", "<l>", "<r>", " ab "])
        ),
        max_size=6,
    ),
    size=st.integers(1, 7),
)
def test_files_of_characters(pair, parts, size):
    ours, theirs = pair
    text = "".join(parts)
    assert_everywhere(ours, theirs, text, size)
    ids = ours.encode(text)
    if "�" not in theirs.decode(ids) and not text.startswith(" "):
        assert ours.decode(ids) == theirs.decode(ids, skip_special_tokens=False)


def test_what_is_written_is_read_alike(pair, tmp_path):
    ours, theirs = pair
    there = written(ours, tmp_path)
    for text in [*NASTY, "  aab <s> ab<l>  aé1212 <r>  ab", "ab aaab\n ba  aab"]:
        wanted = theirs.encode(text, add_special_tokens=False).ids
        assert there.encode(text, add_special_tokens=False).ids == wanted
        assert ours.encode(text) == wanted


def test_a_text_of_no_words_takes_no_square_time():
    ours, _ = both(characters())
    assert len(ours.encode("a" * 1_000_000)) < 600_000
    assert len(ours.encode("▁ab" * 300_000)) > 300_000


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": {"ignore_merges": True}}, "ignore_merges True is not supported"),
        ({"model": {"unk_token": "<x>"}, "bytes": False}, "unk_token '<x>' is not in the vocab"),
        ({"model": {"byte_fallback": True}, "bytes": False}, "<0x00> is not in the vocab"),
        ({"model": {"merges": [["<0x0A>", "a"]]}}, "'<0x0A>' is not in the vocab"),
        ({"decoder": None}, "no decoder turns '▁' into a space"),
        ({"decoder": sequence("decoders", BACK, STRIP)}, "the decoder 'Strip'"),
        ({"decoder": {"type": "WordPiece"}}, "the decoder 'WordPiece'"),
        ({"normalizer": sequence("normalizers", REPLACE, {"type": "Strip"})}, "'Strip'"),
        (
            {"normalizer": sequence("normalizers", REPLACE, {"type": "NFC"})},
            "the normalizer 'NFC' is not supported: it comes after",
        ),
        ({"pre_tokenizer": {"type": "Whitespace"}}, "the pre_tokenizer 'Whitespace'"),
        (
            {"pre_tokenizer": metaspace("sometimes", split=False)},
            "its prepend_scheme is 'sometimes'",
        ),
    ],
)
def test_what_is_refused(changes, message):
    with pytest.raises(FormatError, match=message):
        huggingface.loads(json.dumps(characters(**changes)))


def test_a_character_that_nothing_stands_for_is_an_error():
    ours, _ = both(characters(bytes=False, model={"unk_token": None}))
    with pytest.raises(BytepairError, match="no token has the character 'x'"):
        ours.encode("axb")


# ── Byte-level files ──────────────────────────────────────────────────────────────────────────────


def byte_level(**changes) -> dict:
    vocab = {char: id for id, char in enumerate(BYTE_TO_CHARACTER.values())}
    vocab |= {"ab": 256, "Ġa": 257}
    data = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True},
        "post_processor": None,
        "decoder": {"type": "ByteLevel"} | {"add_prefix_space": True, "trim_offsets": True},
        "model": {"type": "BPE", "vocab": vocab, "merges": [["a", "b"], ["Ġ", "a"]]},
    }
    return data | changes


def flag(**flags) -> dict:
    return added("<m>", 258, **flags)


BYTE_FILES = [
    {"normalizer": {"type": name}} for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase")
] + [
    {"normalizer": {"type": "Strip", "strip_left": True, "strip_right": False}},
    {"normalizer": {"type": "Strip", "strip_left": True, "strip_right": True}},
    {"normalizer": {"type": "Replace", "pattern": {"String": "aa"}, "content": "b"}},
    {"normalizer": {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}},
    {"normalizer": {"type": "Prepend", "prepend": "ab"}},
    {
        "normalizer": sequence(
            "normalizers", {"type": "NFKC"}, {"type": "Lowercase"}, {"type": "NFD"}
        )
    },
    {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True}},
    {"added_tokens": [flag(lstrip=True)]},
    {"added_tokens": [flag(rstrip=True), added("<n>", 259, lstrip=True, rstrip=True)]},
    {"added_tokens": [flag(single_word=True), added("ab ", 259, single_word=True, special=False)]},
    {"added_tokens": [flag(lstrip=True, single_word=True)], "normalizer": {"type": "NFC"}},
    {
        "normalizer": {"type": "NFC"},
        "added_tokens": [
            flag(),
            added("  ", 259, normalized=True, special=False),
            added("   ", 260, normalized=True, special=False),
            added("a 1", 261, normalized=True),
        ],
    },
]


@pytest.fixture(scope="module", params=range(len(BYTE_FILES)))
def byte_pair(request):
    return both(byte_level(**BYTE_FILES[request.param]))


@settings(max_examples=60)
@given(
    parts=st.lists(
        st.one_of(
            st.text(alphabet="ab A1\u0301é\u212b\ufb01\u3000\u2000\n_İ", max_size=6),
            st.sampled_from(["<m>", "<n>", "ab ", " <m> ", "   ", "a 1"]),
        ),
        max_size=8,
    ),
    size=st.integers(1, 7),
)
def test_byte_level_files(byte_pair, parts, size):
    assert_everywhere(*byte_pair, "".join(parts), size)


def test_byte_level_files_are_written_alike(byte_pair, tmp_path):
    ours, theirs = byte_pair
    there = written(ours, tmp_path)
    for text in [*NASTY, "a <m>  <n> ab ab b", " A\u0301 \u212b\ufb01"]:
        wanted = theirs.encode(text, add_special_tokens=False).ids
        assert there.encode(text, add_special_tokens=False).ids == wanted
        assert ours.encode(text) == wanted


def test_cuts_with_flags():
    ours, _ = both(byte_level(added_tokens=[flag(lstrip=True, rstrip=True)]))
    text = "ab  <m>  ab " * 30
    for most in range(1, 30):
        cut = ours.truncate(text, most)
        assert text.startswith(cut)
        assert len(ours.encode(cut)) <= most
    chunks = ours.chunk(text, 7)
    assert "".join(chunk.text for chunk in chunks) == text
    assert all(len(ours.encode(chunk.text)) <= 7 for chunk in chunks)
    ids, spans = ours.encode_with_offsets("ab  <m>  ab")
    assert (ids, spans) == ([256, 258, 256], [(0, 2), (2, 9), (9, 11)])
