"""GGUF vocabs: read with the gguf package, read back, damaged."""

from __future__ import annotations

import contextlib
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bytepair
from bytepair import Tokenizer, formats
from bytepair.errors import ArgumentError, FormatError
from bytepair.formats import _gguf_file, gguf
from model_texts import NASTY

MODELS = {
    "llama3": ("hf/llama3", "llama-bpe"),
    "qwen3": ("hf/qwen3", "qwen2"),
    "deepseek_v3": ("hf/deepseek_v3", "deepseek-v3"),
    "tekken": ("mistral/tekken_240911.json", "tekken"),
    "mistral": ("mistral/tokenizer.model.v1", "default"),
}


def keys(path) -> dict:
    """The keys of a file as the gguf package reads them."""
    package = pytest.importorskip("gguf")
    reader = package.GGUFReader(str(path))
    assert not reader.tensors
    return {name: field.contents() for name, field in reader.fields.items()}


def assert_same_ids(ours: Tokenizer, again: Tokenizer) -> None:
    assert again.special_tokens == ours.special_tokens
    assert again.added_tokens == ours.added_tokens
    assert dict(again.vocab) == dict(ours.vocab)
    for text in NASTY:
        assert again.encode(text) == ours.encode(text)
        assert again.encode_ordinary(text) == ours.encode_ordinary(text)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_real_models_there_and_back(name, shared, tmp_path):
    file, pre = MODELS[name]
    ours = Tokenizer.load(shared / "data" / "vocabs" / file)
    ours.save(tmp_path / "x.gguf", format="gguf")
    assert formats.detect(tmp_path / "x.gguf") == "gguf"
    found = keys(tmp_path / "x.gguf")
    assert found["tokenizer.ggml.pre"] == pre
    assert len(found["tokenizer.ggml.tokens"]) == ours.vocab_size
    assert found["tokenizer.ggml.add_bos_token"] is False
    assert_same_ids(ours, Tokenizer.load(tmp_path / "x.gguf"))


@pytest.mark.parametrize("name", ["gpt2", "p50k_edit", "cl100k_base"])
def test_encodings_there_and_back(name, tmp_path):
    ours = bytepair.get_encoding(name)
    ours.save(tmp_path / "x.gguf", format="gguf")
    again = Tokenizer.load(tmp_path / "x.gguf")
    assert_same_ids(ours, again)
    assert again.merges == ours.merges


@pytest.mark.parametrize("pattern", gguf.WRITTEN)
def test_trained_here_it_has_the_keys_of_llama_cpp(pattern, tmp_path):
    ours = bytepair.train(
        bytepair.sample_corpus(), 600, pattern=pattern, special_tokens=["<|end|>", "<|pad|>"]
    )
    ours = ours.with_conventions(
        roles={"eos": "<|end|>", "bos": "<|end|>", "pad": "<|pad|>"},
        template=([256], []),
        chat_template="{{ messages }}",
    )
    ours.save(tmp_path / "x.gguf", format="gguf")
    found = keys(tmp_path / "x.gguf")
    assert found["general.architecture"] == "llama"
    assert found["tokenizer.ggml.model"] == "gpt2"
    assert found["tokenizer.ggml.pre"] == gguf.WRITTEN[pattern]
    tokens, types = found["tokenizer.ggml.tokens"], found["tokenizer.ggml.token_type"]
    assert (tokens[256], types[256], types[0]) == ("<|end|>", 3, 1)
    assert len(found["tokenizer.ggml.merges"]) == len(ours.merges)
    assert found["tokenizer.ggml.bos_token_id"] == found["tokenizer.ggml.eos_token_id"] == 256
    assert found["tokenizer.ggml.padding_token_id"] == 257
    assert found["tokenizer.ggml.add_bos_token"] is True
    assert found["tokenizer.chat_template"] == "{{ messages }}"
    again = Tokenizer.load(tmp_path / "x.gguf")
    assert again.conventions == ours.conventions
    assert_same_ids(ours, again)


def test_which_named_patterns_llama_cpp_lacks():
    assert set(bytepair.patterns.names()) - set(gguf.WRITTEN) == {"nanochat"}


def plain(**options) -> Tokenizer:
    vocab = {id: bytes([id]) for id in range(256)} | options.pop("more", {})
    merges = options.pop("merges", [])
    return Tokenizer(vocab, merges, **{"pattern": "gpt2", **options})


def test_holes_and_normalizers_are_kept(tmp_path):
    ours = plain(special_tokens={"<s>": 300}, added_tokens={"<t>": 299}, normalizer="NFC")
    ours.save(tmp_path / "x.gguf", format="gguf")
    found = keys(tmp_path / "x.gguf")
    assert found["tokenizer.ggml.tokens"][298:] == ["[PAD298]", "<t>", "<s>"]
    assert found["tokenizer.ggml.token_type"][298:] == [5, 4, 3]
    assert Tokenizer.load(tmp_path / "x.gguf") == ours


@pytest.mark.parametrize(
    ("tokenizer", "message"),
    [
        (plain(pattern=r"\S+|\s+"), r"no pattern like '\\\\S\+\|\\\\s\+'"),
        (plain(pattern=None), "no pattern like None"),
        (plain(pattern="nanochat"), "no pattern like 'nanochat'"),
        (plain(special_tokens={"<x>": 10**9}), "GGUF leaves none out"),
        (plain(special_tokens={"Ġ": 300}), "'Ġ' has the ids 32 and 300"),
        (plain(more={300: b"ab"}, merges=[(b"a", b"b")], ignore_merges=True), "ignore_merges"),
        (
            plain(special_tokens={"<a>": 256, "<b>": 257}).with_conventions(
                roles={"bos": "<a>"}, template=([257], [])
            ),
            r"the template puts \[257\] before a text",
        ),
        (bytepair.get_encoding("o200k_harmony"), "has a second name"),
    ],
)
def test_what_llama_cpp_could_not_do_is_refused(tokenizer, message, tmp_path):
    with pytest.raises(FormatError, match=message):
        tokenizer.save(tmp_path / "x.gguf", format="gguf")
    assert list(tmp_path.iterdir()) == []


# ── Damaged and hostile files ─────────────────────────────────────────────────────────────────────

TOKENS = [*"abc", "ab", "<s>"]
USUAL = {
    "tokenizer.ggml.model": (8, "gpt2"),
    "tokenizer.ggml.pre": (8, "gpt-2"),
    "tokenizer.ggml.tokens": (8, TOKENS),
    "tokenizer.ggml.token_type": (5, [1, 1, 1, 1, 3]),
    "tokenizer.ggml.merges": (8, ["a b"]),
}
LLAMA = {
    "tokenizer.ggml.model": (8, "llama"),
    "tokenizer.ggml.tokens": (8, ["<unk>", "▁", "a", "▁a"]),
    "tokenizer.ggml.token_type": (5, [2, 1, 1, 1]),
    "tokenizer.ggml.scores": (6, [0.0, -2.0, -3.0, -1.0]),
}


def content(base: dict, **changes) -> bytes:
    values = {**base, **{f"tokenizer.ggml.{key}": value for key, value in changes.items()}}
    entries = [(key, *value) for key, value in values.items() if value is not None]
    return _gguf_file.dumps([("general.name", 8, "x"), ("a.list", 4, [1, 2]), *entries])


def load(data: bytes, tmp_path) -> Tokenizer:
    path = tmp_path / "x.gguf"
    path.write_bytes(data)
    return gguf.load(str(path))


def test_small_files(tmp_path):
    assert load(content(USUAL), tmp_path).encode("abc<s>") == [3, 2, 4]
    assert load(content(LLAMA), tmp_path).encode_ordinary("a ax") == [3, 3, 0]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (content({}), r"no key tokenizer\.ggml\.model"),
        (content(USUAL, model=(8, "bert")), "the model 'bert' is not supported"),
        (content(USUAL, model=(4, 1)), "model is 1, not str"),
        (content(USUAL, pre=(8, "superbpe")), "the pattern 'superbpe'"),
        (content(USUAL, pre=None), "the pattern None"),
        (content(USUAL, tokens=(4, [1])), "not a list of str"),
        (content(USUAL, tokens=(8, ["a", "a"]), token_type=None, merges=None), "the ids 0 and 1"),
        (content(USUAL, tokens=(8, [""]), token_type=None, merges=None), "token 0: ''"),
        (content(USUAL, token_type=(5, [1])), "has 1 items for 5 tokens"),
        (content(USUAL, token_type=(5, [1, 1, 1, 1, 6])), "of type 6"),
        (content(USUAL, merges=(8, ["ab"])), "merge 0: 'ab' is not two tokens"),
        (content(USUAL, merges=(8, ["a d"])), 'merge 0: b"d" is not in the vocab'),
        (content(LLAMA, scores=None), "there is no tokenizer.ggml.scores"),
        (content(LLAMA, scores=(6, [0.0])), "has 1 items for 4 tokens"),
        (content(LLAMA, scores=(6, [0.0, float("nan"), 0.0, 0.0])), "score nan"),
        (content(LLAMA, token_type=(5, [2, 1, 5, 1])), "is unused"),
        (content(LLAMA, token_type=(5, [2, 1, 6, 1])), "is of type byte"),
        (content(LLAMA, precompiled_charsmap=(0, [1, 2])), "there is a character map"),
        (b"GGUF", "has 4 bytes"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "version 1 of GGUF"),
        (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "version 50331648"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 60), "keys are announced"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1 << 62), "bytes are wanted"),
        (
            b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1) + b"a" + struct.pack("<IIQ", 9, 8, 1 << 60),
            "is longer than the file",
        ),
        (
            b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1) + b"a" + struct.pack("<I", 99),
            "the type 99 is not known",
        ),
        (
            b"GGUF"
            + struct.pack("<IQQQ", 3, 0, 1, 1)
            + b"a"
            + struct.pack("<I", 9)
            + struct.pack("<IQ", 9, 1) * 50,
            "too deep",
        ),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1) + b"\xff" + b"\0" * 9, "not UTF-8"),
        (content(USUAL)[:-3], "are left"),
    ],
)
def test_damaged_files(data, message, tmp_path):
    with pytest.raises(FormatError, match=rf"x\.gguf: .*{message}"):
        load(data, tmp_path)


@settings(max_examples=200)
@given(data=st.data())
def test_mutations_end_in_a_tokenizer_or_an_error(data, tmp_path_factory):
    file = bytearray(data.draw(st.sampled_from([content(USUAL), content(LLAMA)])))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(file) - 1))
        if data.draw(st.booleans()):
            file[at] = data.draw(st.integers(0, 255))
        else:
            del file[at : at + data.draw(st.integers(1, 9))]
        if not file:
            break
    with contextlib.suppress(bytepair.errors.BytepairError):
        load(bytes(file), tmp_path_factory.mktemp("m")).encode_ordinary("abc ▁a")


# ── Conventions ───────────────────────────────────────────────────────────────────────────────────


def test_conventions_change_no_id_and_stay():
    ours = plain(special_tokens={"<s>": 256, "</s>": 257})
    more = ours.with_conventions(roles={"bos": "<s>"}, template=([256], [257]))
    assert more == ours
    assert more.fingerprint == ours.fingerprint
    assert more.with_template([5]) == [256, 5, 257]
    assert ours.with_template([5]) == [5]
    again = more.with_conventions(roles={"eos": "</s>"}).with_special_tokens(["<new>"])
    assert again.conventions["roles"] == {"bos": "<s>", "eos": "</s>"}
    again.conventions["roles"].clear()
    assert again.conventions["roles"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"roles": {"boss": "<s>"}}, "roles: 'boss'"),
        ({"roles": {"bos": "<x>"}}, r"'<x>' \(bos\) is neither"),
        ({"template": ([999], [])}, "template: before: no token has the id 999"),
        ({"template": (["<s>"], [])}, "not a list of ids"),
        ({"chat_template": 5}, "chat_template is 5"),
    ],
)
def test_conventions_that_are_none(options, message):
    with pytest.raises(ArgumentError, match=message):
        plain(special_tokens={"<s>": 256}).with_conventions(**options)


def test_the_native_file_keeps_them(tmp_path):
    ours = plain(special_tokens={"<s>": 256}).with_conventions(
        roles={"bos": "<s>"}, template=([256], []), chat_template="x"
    )
    ours.save(tmp_path / "x.json")
    assert Tokenizer.load(tmp_path / "x.json").conventions == ours.conventions
    text = (tmp_path / "x.json").read_text(encoding="utf-8")
    (tmp_path / "x.json").write_text(text.replace('"bos"', '"boss"'), encoding="utf-8")
    with pytest.raises(FormatError, match=r"x\.json: roles: 'boss'"):
        Tokenizer.load(tmp_path / "x.json")
