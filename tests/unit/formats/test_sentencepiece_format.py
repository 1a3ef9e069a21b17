"""SentencePiece models against the sentencepiece library."""

from __future__ import annotations

import contextlib
import io
import pickle
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bytepair
from bytepair import Tokenizer, formats
from bytepair.errors import FormatError
from bytepair.formats import sentencepiece as format
from cli_support import ok
from model_texts import NASTY

sentencepiece = pytest.importorskip("sentencepiece")


@pytest.fixture(scope="module")
def mistral(shared):
    path = shared / "data" / "vocabs" / "mistral" / "tokenizer.model.v1"
    return Tokenizer.load(path), sentencepiece.SentencePieceProcessor(model_file=str(path))


def assert_same(ours: Tokenizer, theirs, text: str) -> None:
    ids = theirs.encode(text)
    assert ours.encode_ordinary(text) == ids, text[:80]
    assert ours.decode(ids) == theirs.decode(ids), text[:80]


def test_nasty_texts(mistral):
    ours, theirs = mistral
    for text in NASTY:
        assert_same(ours, theirs, text)
        ids = ours.encode_ordinary(text)
        assert ours.count(text, allowed_special=()) == len(ids)
        for size in (1, 3):
            chunks = [text[at : at + size] for at in range(0, len(text), size)]
            assert list(ours.encode_iterable(chunks, allowed_special=())) == ids
        decoder = ours.stream_decoder()
        assert "".join(decoder.feed(id) for id in ids) + decoder.finish() == ours.decode(ids)


def test_what_it_is(mistral, tmp_path):
    ours, theirs = mistral
    assert ours.special_tokens == {"<unk>": 0, "<s>": 1, "</s>": 2}
    assert ours.vocab_size == theirs.get_piece_size()
    assert ours.token_bytes(264) == b" the".replace(b"the", theirs.id_to_piece(264)[1:].encode())
    assert ours.token_id("a") == theirs.piece_to_id("a")
    assert ours.token_strings("hello") == [" hell", "o"]
    assert ours.decode_bytes([3 + 0xE2]) == b"\xe2"
    assert pickle.loads(pickle.dumps(ours)) == ours
    ours.save(tmp_path / "x.json")
    again = Tokenizer.load(tmp_path / "x.json")
    assert (again == ours, again.fingerprint == ours.fingerprint) == (True, True)


def test_it_goes_to_huggingface(mistral, tmp_path, corpus_text):
    tokenizers = pytest.importorskip("tokenizers")
    ours, theirs = mistral
    ours.save(tmp_path / "x", format="huggingface")
    there = tokenizers.Tokenizer.from_file(str(tmp_path / "x" / "tokenizer.json"))
    back = Tokenizer.load(tmp_path / "x")
    assert dict(back.vocab) == dict(ours.vocab)
    for text in [*NASTY, corpus_text("multilingual", 60_000), corpus_text("code", 60_000)]:
        assert back.encode(text) == ours.encode(text)
        assert there.encode(text, add_special_tokens=False).ids == back.encode(text)
        assert back.encode_ordinary(text) == theirs.encode(text)


@pytest.mark.parametrize("name", ["gpt2", "tiktoken", "minbpe", "reference", "sentencepiece"])
def test_what_cannot_hold_it_refuses(name, mistral, tmp_path):
    with pytest.raises(FormatError, match="save in the"):
        mistral[0].save(tmp_path / "x", format=name)
    assert list(tmp_path.iterdir()) == []


# ── Models of every kind, trained here ────────────────────────────────────────────────────────────


SAMPLE = bytepair.sample_corpus().read_text(encoding="utf-8")


def trained(**options) -> bytes:
    """The model that sentencepiece makes of the sample corpus."""
    out = io.BytesIO()
    lines = [line for line in SAMPLE.splitlines() if line.isascii()]
    lines += ["中é ▁ 中 中é é\u0301 x"] * 9
    usual = {"vocab_size": 600, "model_type": "bpe", "normalization_rule_name": "identity"}
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([line for line in lines if line]),
        model_writer=out,
        minloglevel=2,
        **{**usual, **options},
    )
    return out.getvalue()


OPTIONS = [
    {},
    {"byte_fallback": True, "character_coverage": 0.98, "vocab_size": 800},
    {"character_coverage": 0.98, "vocab_size": 500},
    {"add_dummy_prefix": False, "remove_extra_whitespaces": False},
    {"remove_extra_whitespaces": False, "allow_whitespace_only_pieces": True, "split_digits": True},
    {"split_by_whitespace": False, "split_by_unicode_script": False},
    {"user_defined_symbols": ["ing", "tion s", "ings", "▁▁", "▁th"], "control_symbols": ["<c>"]},
    {"normalization_rule_name": "nmt_nfkc", "byte_fallback": True, "vocab_size": 800},
    {
        "normalization_rule_name": "nmt_nfkc_cf",
        "add_dummy_prefix": False,
        "user_defined_symbols": ["ing", "①", "ﬁx", "e\u0301", "ＡＢ"],
    },
    {"normalization_rule_name": "nfkc", "remove_extra_whitespaces": False},
]


@pytest.fixture(scope="module", params=range(len(OPTIONS)))
def pair(request, tmp_path_factory):
    model = trained(**OPTIONS[request.param])
    path = tmp_path_factory.mktemp("models") / "x.model"
    path.write_bytes(model)
    assert formats.detect(path) == "sentencepiece"
    return Tokenizer.load(path), sentencepiece.SentencePieceProcessor(model_proto=model)


def test_trained_models(pair):
    ours, theirs = pair
    for text in [*NASTY, "things tion s  sing ings thing", SAMPLE]:
        assert ours.encode_ordinary(text) == theirs.encode(text), text[:60]


@settings(max_examples=60)
@given(
    text=st.text(alphabet="aehinostgr ▁\n.1é中ＡＢﬁ①ｶﾞ¨ﷺ\u0301\u3000\u200b", max_size=80),
    size=st.integers(1, 9),
)
def test_texts_whole_and_in_chunks(pair, text, size):
    ours, theirs = pair
    ids = theirs.encode(text)
    assert ours.encode_ordinary(text) == ids
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    assert list(ours.encode_iterable(chunks, allowed_special=())) == ids
    again = pickle.loads(pickle.dumps(ours))
    assert (again, again.encode_ordinary(text)) == (ours, ids)


# ── What is refused ───────────────────────────────────────────────────────────────────────────────


def load(model: bytes, tmp_path) -> Tokenizer:
    path = tmp_path / "x.model"
    path.write_bytes(model)
    return format.load(str(path))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model_type": "unigram", "vocab_size": 200}, "of type unigram, which is not supported"),
        ({"model_type": "char"}, "of type char"),
        ({"treat_whitespace_as_suffix": True}, "spaces are suffixes"),
    ],
)
def test_other_models_are_refused_by_name(options, message, tmp_path):
    with pytest.raises(FormatError, match=rf"x\.model: .*{message}"):
        load(trained(**options), tmp_path)


def field(number: int, value: bytes) -> bytes:
    assert len(value) < 128
    return bytes([number << 3 | 2, len(value)]) + value


def piece(text: bytes, kind: int | None = None, score: bytes = b"\x00\x00\x80\xbf") -> bytes:
    inner = field(1, text) + b"\x15" + score
    return field(1, inner if kind is None else inner + bytes([0x18, kind]))


BPE = field(2, b"\x18\x02")
UNK = piece(b"<unk>", 2)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (b"", "there is no piece in it"),
        (UNK + b"\x0a\xff\xff\xff\xff\x0f", "a field has 4294967295 bytes"),
        (UNK + b"\x0a", "a number does not end"),
        (UNK + b"\xff" * 20, "a number does not end"),
        (UNK + b"\x0b", "wire type 3"),
        (UNK + b"\x00\x00", "a field has the number 0"),
        (UNK + BPE + piece(b"\xff"), "piece 1 is not UTF-8"),
        (UNK + BPE + piece(b""), "piece 1: text ''"),
        (UNK + BPE + piece(b"a", 9), "type 9"),
        (UNK + BPE + piece(b"a", 5), "is unused, which is not supported"),
        (UNK + BPE + piece(b"a", 1, b"\x00\x00\xc0\x7f"), "score nan"),
        (UNK + BPE + piece(b"a") + piece(b"a"), "the piece 'a' is 1 and 2"),
        (UNK + BPE + piece(b"a") + piece(b"ab"), "has the character 'b', which is no piece"),
        (UNK + BPE + piece(b" ") + piece("▁".encode()), None),
        (BPE + piece(b"a"), "there are 0 unknown pieces"),
        (UNK + UNK.replace(b"unk", b"unq") + BPE, "there are 2 unknown pieces"),
        (UNK + BPE + piece(b"<0x0g>", 6), "not <0xNN>"),
        (UNK + BPE + piece(b"byte", 6), "not <0xNN>"),
        (UNK + field(2, b"\x18\x02\x98\x02\x01") + piece(b"<0x00>", 6), "there are 1"),
    ],
)
def test_damaged_models(model, message, tmp_path):
    if message is None:
        assert load(model, tmp_path).vocab_size == 3
        return
    with pytest.raises(FormatError, match=rf"x\.model: .*{message}"):
        load(model, tmp_path)


@settings(max_examples=150)
@given(data=st.data())
def test_mutations_end_in_a_tokenizer_or_an_error(data, tmp_path_factory):
    rule = data.draw(st.sampled_from(["identity", "nmt_nfkc"]))
    if rule not in _MODELS:
        _MODELS[rule] = trained(vocab_size=300, normalization_rule_name=rule)
    model = bytearray(_MODELS[rule])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(model) - 1))
        match data.draw(st.sampled_from(["set", "cut", "drop", "repeat"])):
            case "set":
                model[at] = data.draw(st.integers(0, 255))
            case "cut":
                del model[at + 1 :]
            case "drop":
                del model[at : at + data.draw(st.integers(1, 8))]
            case _:
                model[at:at] = model[at : at + data.draw(st.integers(1, 40))]
        if not model:
            break
    folder = tmp_path_factory.mktemp("m")
    try:
        load(bytes(model), folder).encode_ordinary("the thing  ▁ é中 ＡＢﬁ①ｶﾞ")
    except bytepair.errors.BytepairError as error:
        assert not isinstance(error, FormatError) or str(folder) in str(error)  # noqa: PT017


_MODELS: dict[str, bytes] = {}


# ── Character maps ────────────────────────────────────────────────────────────────────────────────


def test_a_map_goes_into_the_native_file_alone(tmp_path):
    ours = load(trained(normalization_rule_name="nmt_nfkc"), tmp_path)
    assert ours.normalizer[0][0] == "CharsMap"
    assert ours.decode(ours.encode_ordinary("ｓｔ\u200bａ  ①")) == "st a 1"
    ours.save(tmp_path / "x.json")
    again = Tokenizer.load(tmp_path / "x.json")
    assert (again, pickle.loads(pickle.dumps(ours))) == (ours, ours)
    assert again.fingerprint == ours.fingerprint
    # The map is not shown, only that it is there.
    assert "CharsMap" in ok("inspect", tmp_path / "x.json")
    assert len(ok("inspect", tmp_path / "x.json")) < 5000
    with pytest.raises(bytepair.errors.ArgumentError, match="the base has a normalizer"):
        bytepair.train(["x"], 2000, base=ours, special_tokens=list(ours.special_tokens))
    options = {"normalization_rule_name": "nmt_nfkc", "remove_extra_whitespaces": False}
    ours = load(trained(**options), tmp_path)
    for name, message in (("huggingface", "no normalizer like CharsMap"), ("gguf", "no place for")):
        with pytest.raises(FormatError, match=message):
            ours.save(tmp_path / "there", format=name)


@settings(max_examples=100)
@given(seed=st.integers(0, 2**32), count=st.sampled_from([1, 3, 30, 300]))
def test_damaged_maps_end_in_a_text_or_an_error(seed, count, tmp_path_factory):
    if "nmt_nfkc" not in _MODELS:
        _MODELS["nmt_nfkc"] = trained(vocab_size=300, normalization_rule_name="nmt_nfkc")
    model = bytearray(_MODELS["nmt_nfkc"])
    begin = model.index(b"nmt_nfkc") + 16
    source = random.Random(seed)
    for _ in range(count):
        # The units near the root decide about most texts.
        last = source.choice([begin + 2000, begin + 200_000])
        model[source.randrange(begin, last)] = source.randrange(256)
    with contextlib.suppress(bytepair.errors.BytepairError):
        ours = load(bytes(model), tmp_path_factory.mktemp("m"))
        ours.encode_ordinary("the thing  ▁ é中 ＡＢﬁ①ｶﾞ" * 5)
