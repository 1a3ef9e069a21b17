"""Hugging Face's tokenizer.json, in and out, against the tokenizers library."""

from __future__ import annotations

import copy
import json
import random

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

import bytepair
from bytepair import Tokenizer, formats
from bytepair.errors import FormatError
from bytepair.formats import huggingface
from bytepair.formats.gpt2 import BYTE_TO_CHARACTER, spell
from model_texts import NASTY

MODELS = ["gpt2", "llama3", "deepseek_v3", "qwen3"]


def theirs_of(text: str) -> tokenizers.Tokenizer:
    return tokenizers.Tokenizer.from_str(text)


def assert_same(ours: Tokenizer, theirs: tokenizers.Tokenizer, text: str) -> None:
    wanted = theirs.encode(text, add_special_tokens=False).ids
    assert ours.encode(text) == wanted
    assert ours.decode(wanted) == theirs.decode(wanted, skip_special_tokens=False)


def small(**changes) -> dict:
    """The value of a small tokenizer.json, with changes to its parts and to its model."""
    vocab = {char: id for id, char in enumerate(BYTE_TO_CHARACTER.values())}
    vocab |= {"ab": 256, "Ġc": 257}
    data = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True},
        "post_processor": None,
        "decoder": {"type": "ByteLevel"} | {"add_prefix_space": True, "trim_offsets": True},
        "model": {"type": "BPE", "vocab": vocab, "merges": [["a", "b"], ["Ġ", "c"]]},
    }
    data["model"] |= {"dropout": None, "unk_token": None, "fuse_unk": False}
    data["model"] |= changes.pop("model", {})
    return data | changes


def added(content: str, id: int, **flags) -> dict:
    usual = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {"id": id, "content": content, **usual, "special": True, **flags}


def load(data: dict) -> Tokenizer:
    return huggingface.loads(json.dumps(data))


@pytest.fixture(scope="module")
def model(shared):
    """Return a function: name -> our tokenizer and the library's."""
    known = {}

    def get(name: str):
        if name not in known:
            folder = shared / "data" / "vocabs" / "hf" / name
            theirs = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
            known[name] = Tokenizer.load(folder), theirs
        return known[name]

    return get


# ── Real models ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", MODELS)
def test_nasty_texts(name, model):
    ours, theirs = model(name)
    for text in NASTY:
        assert_same(ours, theirs, text)
        chunks = [text[at : at + 3] for at in range(0, len(text), 3)]
        assert list(ours.encode_iterable(chunks)) == ours.encode(text)
    theirs.encode_special_tokens = True
    for text in NASTY:
        assert ours.encode_ordinary(text) == theirs.encode(text, add_special_tokens=False).ids
    theirs.encode_special_tokens = False


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_real_model_comes_back(name, model, tmp_path):
    ours, theirs = model(name)
    ours.save(tmp_path / "there", format="huggingface")
    assert formats.detect(tmp_path / "there") == "huggingface"
    assert Tokenizer.load(tmp_path / "there") == ours
    again = tokenizers.Tokenizer.from_file(str(tmp_path / "there" / "tokenizer.json"))
    for text in NASTY:
        wanted = theirs.encode(text, add_special_tokens=False).ids
        assert again.encode(text, add_special_tokens=False).ids == wanted
    assert again.get_vocab() == theirs.get_vocab()
    ours.save(tmp_path / "native.json")
    native = Tokenizer.load(tmp_path / "native.json")
    assert native == ours
    assert native.fingerprint == ours.fingerprint


def test_what_real_models_are(model):
    qwen, _ = model("qwen3")
    assert (qwen.pattern, qwen.normalizer) == ("qwen2", "NFC")
    assert qwen.added_tokens["<think>"] == 151667
    assert qwen.special_tokens["<|im_end|>"] == 151645
    assert not qwen.is_special(151667)
    assert qwen.encode_ordinary("<think><|im_end|>")[0] == 151667
    assert qwen.vocab[151667] == b"<think>"
    deepseek, _ = model("deepseek_v3")
    assert deepseek.pattern == "deepseek_v3"
    assert deepseek.special_tokens["<｜begin▁of▁sentence｜>"] == 0
    llama, _ = model("llama3")
    assert (llama.pattern, llama.ignore_merges) == ("llama3", True)


@settings(max_examples=30)
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=60), st.data())
def test_nfc_in_any_chunks(model, text, data):
    ours, _ = model("qwen3")
    size = data.draw(st.integers(1, 9))
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    assert list(ours.encode_iterable(chunks)) == ours.encode(text)
    assert ours.count(text) == len(ours.encode(text))


# ── What we write ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.parametrize("name", bytepair.list_encodings()[:-1])
def test_encodings_keep_their_ids_in_tokenizers(name, tmp_path, corpus_text):
    ours = bytepair.get_encoding(name)
    ours.save(tmp_path / "x", format="huggingface")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "x" / "tokenizer.json"))
    texts = [*NASTY, corpus_text("multilingual", 100_000), corpus_text("code", 100_000)]
    texts += [f"a{special}b" for special in ours.special_tokens]
    for text in texts:
        assert_same(ours, theirs, text)
    assert theirs.get_vocab_size() == ours.vocab_size
    again = Tokenizer.load(tmp_path / "x")
    assert again.special_tokens == ours.special_tokens
    assert dict(again.vocab) == dict(ours.vocab)
    assert again.merges == ours.merges
    config = json.loads((tmp_path / "x" / "tokenizer_config.json").read_text())
    assert config["tokenizer_class"] == "PreTrainedTokenizerFast"
    assert config["clean_up_tokenization_spaces"] is False


def test_two_names_for_one_id_are_refused(tmp_path):
    with pytest.raises(FormatError, match=r"id 200018 has a second name, '<\|reserved_200018\|>'"):
        bytepair.get_encoding("o200k_harmony").save(tmp_path / "x", format="huggingface")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("pattern", [*bytepair.patterns.names(), None, r"\s+|\S+", [r"\d", r"\S+"]])
@pytest.mark.parametrize("place", ["after_bytes", "first", "last"])
def test_trained_here_works_there(pattern, place, tmp_path):
    corpus = bytepair.sample_corpus()
    ours = bytepair.train(
        corpus, 700, pattern=pattern, special_ids=place, special_tokens=["<|endoftext|>", "<|u|>"]
    )
    path = tmp_path / "x.json"
    ours.save(path, format="huggingface")
    assert Tokenizer.load(path) == ours
    theirs = tokenizers.Tokenizer.from_file(str(path))
    for text in [*NASTY, corpus.read_text(encoding="utf-8")[:20_000], "a<|u|>b<|endoftext|>"]:
        assert_same(ours, theirs, text)


def test_objects_of_the_library():
    ours = bytepair.train(bytepair.sample_corpus(), 400, pattern="qwen2")
    theirs = ours.to_huggingface()
    assert_same(ours, theirs, NASTY[3])
    assert Tokenizer.from_huggingface(theirs) == ours


def test_holes_are_kept(tmp_path):
    vocab = {id: bytes([id]) for id in range(256)} | {300: b"ab"}
    ours = Tokenizer(vocab, [(b"a", b"b")], {"<x>": 260, "<y>": 400}, pattern=None)
    ours.save(tmp_path / "x.json", format="huggingface")
    assert Tokenizer.load(tmp_path / "x.json") == ours
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "x.json"))
    assert theirs.encode("ab<x>a<y>").ids == [300, 260, 97, 400]
    assert theirs.get_vocab_size() == 401


def test_unreachable_tokens_keep_every_split(tmp_path):
    # By rank "abc" is whole; no two lower tokens below its rank make it, for "bc" comes later.
    vocab = {id: bytes([id]) for id in range(256)} | {256: b"abc", 257: b"bc", 258: b"xabc"}
    ours = Tokenizer(vocab, None, pattern=None, merge_rule="ranks")
    ours.save(tmp_path / "x.json", format="huggingface")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "x.json"))
    for text in ("abc", "xabc", "abcabc", "xxabc", "bcabc"):
        assert_same(ours, theirs, text)
        assert Tokenizer.load(tmp_path / "x.json").encode(text) == ours.encode(text)


def plain(**options) -> Tokenizer:
    vocab = {id: bytes([id]) for id in range(256)} | options.pop("more", {})
    return Tokenizer(vocab, options.pop("merges", []), **{"pattern": None, **options})


@pytest.mark.parametrize(
    ("tokenizer", "message"),
    [
        (plain(pattern=r"\w+$"), r"has \\w or \\b"),
        (plain(pattern=r"\S+$"), "has \\^ or \\$"),
        (plain(pattern=r"\p{N}{1,3}+|\s"), "does not read as possessive"),
        (plain(pattern=r"(?i:ss)|\s"), "ignores case"),
        (plain(pattern=[r"\d", r"a&&b|[a&&b]"]), "set operation"),
        (plain(more={300: b"a"}), "'a' has the ids 97 and 300"),
        (plain(special_tokens={"Ġ": 300}), r"'Ġ' \(id 300\) is spelled like token 32"),
        (plain(special_tokens={"<x>": 10**9}), "ids have no token"),
        (plain(special_tokens={"<|unassigned_256|>": 300}), "the name that id 256 would get"),
    ],
)
def test_what_tokenizers_would_read_otherwise_is_refused(tokenizer, message, tmp_path):
    with pytest.raises(FormatError, match=message):
        tokenizer.save(tmp_path / "x.json", format="huggingface")
    assert list(tmp_path.iterdir()) == []


# ── What we read ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"model": {"merges": ["a b", "Ġ c"]}},
        {"model": {"ignore_merges": True, "merges": []}},
        {"model": {"merges": [["a", "b"], ["Ġ", "c"], ["a", "b"]]}},
        {"model": {"continuing_subword_prefix": "", "end_of_word_suffix": "", "dropout": 0.0}},
        {"normalizer": {"type": "Sequence", "normalizers": []}},
        {"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}]}},
        {"added_tokens": [added("<x>", 258), added("<y> z", 259, special=False)]},
        {"added_tokens": [added("ab", 256, special=False), added("日", 258)]},
        {"added_tokens": [added("<x>", 258), added("[y]", 259, normalized=True, special=False)]},
        {"decoder": None},
    ],
)
def test_spellings_of_a_file(changes):
    data = small(**copy.deepcopy(changes))
    ours, theirs = load(data), theirs_of(json.dumps(data))
    for text in ("ab c", "abab abc", "e\u0301<x>ab<y> z日", "x [y]<x>y"):
        wanted = theirs.encode(text, add_special_tokens=False).ids
        assert ours.encode(text) == wanted


def split(pattern: dict, behavior: str = "Isolated", *, invert: bool = False) -> dict:
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
LLAMA3 = bytepair.patterns.regex("llama3")


@pytest.mark.parametrize(
    ("steps", "pattern"),
    [
        ([BYTE_LEVEL], "gpt2"),
        ([BYTE_LEVEL | {"use_regex": False}], None),
        ([{"type": "Digits", "individual_digits": True}, BYTE_LEVEL], "starcoder"),
        ([{"type": "Digits", "individual_digits": False}, BYTE_LEVEL | {"use_regex": False}], "r"),
        ([split({"String": "a.b"}), BYTE_LEVEL], "r"),
        ([split({"Regex": LLAMA3}), BYTE_LEVEL | {"use_regex": False}], "llama3"),
        (
            [split({"Regex": LLAMA3}, "Removed", invert=True), BYTE_LEVEL | {"use_regex": False}],
            "llama3",
        ),
        ([split({"Regex": r"[^\s$]+|\s+(?!\S)|[a-c]{2}"}), BYTE_LEVEL], "r"),
        (
            [
                {
                    "type": "Sequence",
                    "pretokenizers": [split({"Regex": r"\d{1,2}"}), split({"String": "b"})],
                },
                BYTE_LEVEL | {"use_regex": False},
            ],
            "r",
        ),
    ],
)
def test_pre_tokenizers(steps, pattern):
    data = small(pre_tokenizer={"type": "Sequence", "pretokenizers": steps})
    # Merges over every kind of edge, so that a cut elsewhere shows.
    pairs = [("a", "b"), ("1", "2"), ("Ġ", "1"), ("b", "c"), ("2", "a"), (".", "b"), ("Ġ", "Ġ")]
    data["model"]["merges"] = pairs
    for left, right in pairs:
        data["model"]["vocab"].setdefault(left + right, len(data["model"]["vocab"]))
    ours, theirs = load(data), theirs_of(json.dumps(data))
    if pattern != "r":
        assert ours.pattern == pattern
    chooser = random.Random(1)
    for _ in range(300):
        assert_same(ours, theirs, "".join(chooser.choices("ab12c. \n'$日", k=12)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": "2.0"}, "version '2.0' is not known"),
        ({"model": {"type": "WordPiece"}}, "the model 'WordPiece' is not supported: only BPE is"),
        ({"model": {"dropout": 0.1}}, r"the model's dropout 0\.1 is not supported"),
        ({"model": {"end_of_word_suffix": "</w>"}}, "end_of_word_suffix '</w>'"),
        ({"model": {"byte_fallback": True}}, "byte_fallback True"),
        ({"model": {"merges": [["a", "b"], ["a", "zz"]]}}, "merge 1: 'zz' is not in the vocab"),
        (
            {"model": {"merges": [["b", "a"]]}},
            r"merge 0: .* gives a token that is not in the vocab",
        ),
        ({"model": {"merges": ["a  b"]}}, "merge 0: 'a  b' is not two tokens"),
        ({"model": {"merges": ["ab"]}}, "merge 0: 'ab' is not two tokens"),
        ({"model": {"merges": [["a", 1]]}}, "merge 0:"),
        ({"model": {"merges": [None]}}, "merge 0: None"),
        ({"model": {"merges": None}}, "no list of merges"),
        ({"model": {"vocab": []}}, "no vocab"),
        ({"model": {"vocab": {"a": -1}}}, "token 'a' has the id -1"),
        ({"model": {"vocab": {"a": 1 << 32}}}, "token 'a' has the id 4294967296"),
        ({"model": {"vocab": {"a": 1.5}}}, "token 'a' has the id 1.5"),
        ({"model": {"vocab": {"a": True}}}, "token 'a' has the id True"),
        ({"model": {"vocab": {"a": 1, "b": 1}}}, "id 1 is given to 'a' and to 'b'"),
        ({"model": {"vocab": {"": 1}, "merges": []}}, "an empty token"),
        ({"model": {"vocab": {"一": 1, "ä¸Ģ": 2}, "merges": []}}, "have the same bytes"),
        ({"normalizer": {"type": "StripAccents"}}, "the normalizer 'StripAccents' is not supp"),
        ({"normalizer": {"type": "Replace", "pattern": {"String": ""}, "content": "a"}}, "Replace"),
        (
            {"normalizer": {"type": "Replace", "pattern": {"Regex": r"\w"}, "content": "a"}},
            r"the normalizer's pattern .* has \\w",
        ),
        ({"normalizer": 5}, "the normalizer is 5, not an object"),
        ({"pre_tokenizer": None}, "the decoder 'ByteLevel' is not supported"),
        ({"pre_tokenizer": {"type": "Metaspace", "replacement": "_"}}, "its replacement is '_'"),
        (
            {
                "pre_tokenizer": {
                    "type": "Sequence",
                    "pretokenizers": [{"type": "BertPreTokenizer"}],
                }
            },
            "the pre_tokenizer 'BertPreTokenizer'",
        ),
        (
            {
                "pre_tokenizer": {
                    "type": "Sequence",
                    "pretokenizers": [{"type": "Punctuation"}, BYTE_LEVEL],
                }
            },
            "the pre_tokenizer 'Punctuation' is not supported",
        ),
        ({"pre_tokenizer": {"type": "Sequence"}}, "no list 'pretokenizers'"),
        (
            {
                "pre_tokenizer": {
                    "type": "Sequence",
                    "pretokenizers": [
                        split({"String": "a"}),
                        BYTE_LEVEL | {"add_prefix_space": True},
                    ],
                }
            },
            "add_prefix_space",
        ),
        (
            {
                "pre_tokenizer": {
                    "type": "Sequence",
                    "pretokenizers": [split({"String": "a"}, "MergedWithNext"), BYTE_LEVEL],
                }
            },
            "its behavior is 'MergedWithNext'",
        ),
        (
            {
                "pre_tokenizer": {
                    "type": "Sequence",
                    "pretokenizers": [split({"Regex": r"a{1,2}+"}), BYTE_LEVEL],
                }
            },
            "does not read as possessive",
        ),
        ({"decoder": {"type": "WordPiece"}}, "the decoder 'WordPiece' is not supported"),
        (
            {"added_tokens": [added("<x>", 300)]},
            "has id 300 in the file, but tokenizers gives it 258",
        ),
        ({"added_tokens": [added("<x>", 258), added("<x>", 259)]}, "is listed twice"),
        ({"added_tokens": [added("", 258)]}, "has no id and content"),
        ({"added_tokens": [7]}, "added token 0: 7"),
        ({"added_tokens": {}}, None),
        ({"added_tokens": {"a": 1}}, "added_tokens is not a list"),
        (
            {"added_tokens": [added("<x>", 258), added("x>y", 259, normalized=True)]},
            "can overlap in a text",
        ),
        (
            {
                "added_tokens": [
                    added(f"<{at}>", 258 + at, normalized=at % 2 == 0) for at in range(3000)
                ]
            },
            "1500 added tokens are normalized and 1500 are not",
        ),
        (
            {"normalizer": {"type": "NFC"}, "added_tokens": [added("<x>", 258, normalized=True)]},
            "is normalized, which is not supported with the normalizer",
        ),
    ],
)
def test_what_is_not_taken_over_is_named(changes, message):
    if message is None:
        load(small(**changes))
        return
    with pytest.raises(FormatError, match=message):
        load(small(**copy.deepcopy(changes)))


@pytest.mark.parametrize("text", ["[]", "{}", '{"model": 1}', "{", "", "\x00", '{"model": {}}'])
def test_what_is_no_tokenizer_json(text):
    with pytest.raises(FormatError):
        huggingface.loads(text)


def test_detection(tmp_path):
    path = tmp_path / "any.name"
    path.write_text("\ufeff" + json.dumps(small()), encoding="utf-8")
    assert formats.detect(path) == "huggingface"
    assert Tokenizer.load(path).encode("ab") == [256]
    path.write_text('{"format": "other"}', encoding="utf-8")
    with pytest.raises(FormatError, match="not a tokenizer of a known format"):
        formats.detect(path)
    path.write_bytes(b"\x80\x04\x95garbage")
    with pytest.raises(FormatError, match="looks like a pickle, which is never loaded"):
        formats.detect(path)


def values(data: object, path: tuple = ()):
    """Every place in a JSON value."""
    yield path
    items = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in items:
        if isinstance(value, dict | list) and len(value) < 100:
            yield from values(value, (*path, key))
        else:
            yield (*path, key)


@settings(max_examples=200)
@given(st.data())
def test_a_mutated_file_loads_or_is_a_format_error(data):
    steps = [split({"Regex": r"\d+"}), dict(BYTE_LEVEL)]
    file = small(
        added_tokens=[added("<x>", 258)],
        pre_tokenizer={"type": "Sequence", "pretokenizers": steps},
        normalizer={"type": "NFC"},
    )
    places = [place for place in values(file) if place]
    *above, key = data.draw(st.sampled_from(places))
    value = file
    for step in above:
        value = value[step]
    junk = [None, True, -1, 1 << 40, 1.5, "", "x", [], {}, [[]], {"type": "Split"}, ["a b"]]
    value[key] = data.draw(st.sampled_from(junk))
    try:
        tokenizer = load(file)
    except FormatError:
        return
    assert tokenizer.decode(tokenizer.encode("ab c 12")) == "ab c 12"


def test_a_token_that_no_text_can_be(tmp_path):
    # "一" is not of the byte alphabet: no text becomes it, but it decodes.
    data = small()
    data["model"]["vocab"]["一二"] = 258
    ours, theirs = load(data), theirs_of(json.dumps(data))
    assert ours.encode("一二") == theirs.encode("一二").ids
    assert ours.decode([258]) == theirs.decode([258]) == "一二"
    assert spell("一二".encode()) not in data["model"]["vocab"]
