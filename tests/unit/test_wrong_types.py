"""What a newcomer gives by mistake is refused with the argument, the value and the way out."""

from __future__ import annotations

import os

import pytest

import bytepair
from bytepair import PieceCounts, Tokenizer, errors, formats, reference
from bytepair.chat import count_chat
from bytepair.data import Packed
from bytepair.templates import ChatTemplate

BYTES = {byte: bytes([byte]) for byte in range(256)}
GPT2 = bytepair.get_encoding("gpt2")
COUNTS = PieceCounts({b"ab": 2})


# ── Special tokens with ids, where training gives the ids ─────────────────────────────────────────

WITH_IDS = {"<x>": 3}


@pytest.mark.parametrize(
    "call",
    [
        lambda path: bytepair.train_bpe(path, 300, WITH_IDS),
        lambda path: bytepair.train(path, 300, special_tokens=WITH_IDS),
        lambda _: bytepair.train_bpe_from_text("abab", 300, WITH_IDS),
        lambda _: bytepair.train(["abab"], 300, special_tokens=WITH_IDS, base=GPT2),
        lambda _: bytepair.train(COUNTS, 300, special_tokens=WITH_IDS),
        lambda path: bytepair.count_pieces(path, special_tokens=WITH_IDS),
        lambda _: PieceCounts(special_tokens=WITH_IDS),
        lambda _: COUNTS.check_rules("gpt2", WITH_IDS),
        lambda path: reference.train_bpe(path, 300, WITH_IDS),
        lambda _: reference.train_bpe_from_text("abab", 300, WITH_IDS),
        lambda _: reference.train_bpe_reference("abab", 300, WITH_IDS),
    ],
)
def test_an_id_is_not_dropped_in_training(call, tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("low lower lowest")
    with pytest.raises(TypeError, match=r"special_tokens has ids \(\{'<x>': 3\}\)") as caught:
        call(path)
    assert str(caught.value).endswith("the names alone: ['<x>']")


def test_ids_are_kept_where_they_are_given():
    made = Tokenizer(BYTES, [], {"<x>": 300})
    assert made.special_tokens == {"<x>": 300}
    assert reference.BPETokenizer(BYTES, [], {"<x>": 300}).special_tokens == {"<x>": 300}
    assert GPT2.with_special_tokens({"<x>": 60000}).special_tokens["<x>"] == 60000
    names = made.special_tokens.keys()
    assert bytepair.count_pieces(["a<x>b"], special_tokens=names).special_tokens == ("<x>",)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: PieceCounts(special_tokens="<x>"), "write ['<x>'] for one token"),
        (lambda: COUNTS.check_rules("gpt2", "<x>"), "write ['<x>'] for one token"),
        (lambda: PieceCounts(special_tokens=None), "special_tokens must be a list of str"),
        (lambda: PieceCounts(special_tokens=[b"x"]), "a special token must be str, not bytes"),
        (lambda: bytepair.train(["a"], 300, special_tokens="<x>", base=GPT2), "write ['<x>']"),
        (
            lambda: Tokenizer(BYTES, [], added_tokens=["<x>"]),
            "added_tokens is a mapping from name to id, not list",
        ),
        (
            lambda: reference.train_bpe_from_text("a", 300, None),
            "special_tokens must be a list of str, not NoneType; pass [] for none",
        ),
        (
            lambda: reference.split_on_special_tokens("a", None),
            "special_tokens must be a list of str, not NoneType; pass [] for none",
        ),
        (
            lambda: reference.train_bpe_from_text("a", 300, [b"<x>"]),
            "special token 0 must be str, not b'<x>'",
        ),
        (
            lambda: reference.BPETokenizerSimple().train("a", 300, WITH_IDS),
            "allowed_special must be a set or list of str, not dict",
        ),
        (
            lambda: reference.BPETokenizerSimple().train("a", 300, "<x>"),
            "allowed_special must be a set or list of str, not str",
        ),
    ],
)
def test_special_tokens_of_another_type(call, words):
    with pytest.raises(TypeError) as caught:
        call()
    assert words in str(caught.value)


# ── Tokenizers and their files ────────────────────────────────────────────────────────────────────

ALIGNED = GPT2.align("abc")
TOKENS = GPT2.encode_ragged(["a", "b c"])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: Tokenizer(BYTES, [], name=5), TypeError, "name must be str or None, not int (5)"),
        (lambda: bytepair.train(["a"], 300, name=b"x"), TypeError, "name must be str or None"),
        (lambda: GPT2.save("x", format=5), TypeError, "format must be str or None, not int (5)"),
        (lambda: GPT2.save("x", format=["gguf"]), TypeError, "format must be str or None, not l"),
        (lambda: Tokenizer.load("x", format=0), TypeError, "format must be str or None, not int"),
        (lambda: Tokenizer.load("x", format=""), errors.ArgumentError, "unknown format ''"),
        (lambda: formats.options(None), TypeError, "format must be str or None, not NoneType"),
        (lambda: GPT2.stream_decoder(errors=None), TypeError, 'such as "replace", not NoneType'),
        (lambda: GPT2.decode_iterable([], errors=5), TypeError, "errors must be str, "),
        (lambda: GPT2.stream_encoder(errors=None), TypeError, "errors must be str, "),
        (lambda: GPT2.align(None), TypeError, "text must be str, not NoneType"),
        (lambda: GPT2.align(b"abc"), TypeError, "text must be str, not bytes; decode it first"),
        (lambda: ALIGNED.char_to_token("a"), TypeError, "place must be int, not str ('a')"),
        (lambda: ALIGNED.char_to_tokens(None), TypeError, "place must be int, not NoneType"),
        (lambda: ALIGNED.token_to_chars("a"), TypeError, "token must be int, not str ('a')"),
        (lambda: ALIGNED.token_to_chars(99), IndexError, "token 99 is not in the text, which has"),
        (lambda: ALIGNED.token_to_bytes(-9), IndexError, "token -9 is not in the text, which has"),
        (lambda: ALIGNED.token_to_utf16(2**80), IndexError, f"token {2**80} is not in the text"),
        (lambda: TOKENS[0:1], TypeError, "must be int, not slice; to_lists() gives a list"),
        (lambda: TOKENS["x"], TypeError, "the index of a text must be int, not str"),
        (lambda: TOKENS[1.0], TypeError, "the index of a text must be int, not float"),
        (lambda: TOKENS[2**80], IndexError, f"index {2**80} is out of range: there are 2 texts"),
        (lambda: Packed(None, GPT2, 8), TypeError, "documents must be a list of str, or a func"),
        (lambda: Packed(["a"], None, 8), TypeError, "tokenizer must be a bytepair.Tokenizer"),
        (lambda: Packed(["a"], "gpt2", 8), TypeError, "as get_encoding gives, not str"),
        (
            lambda: Packed(["a"], GPT2, 8, rank=4, world_size=2),
            errors.ArgumentError,
            "rank is 4 and world_size is 2; give a rank from 0 to 1",
        ),
        (lambda: Packed(["a"], GPT2, 8, rank="0"), TypeError, "rank must be int, not str ('0')"),
        (
            lambda: Packed(["a"], GPT2, 8, world_size=0),
            errors.ArgumentError,
            "world_size is 0; give 1 or more",
        ),
    ],
)
def test_an_argument_of_another_type_is_named(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)


def test_what_is_right_is_still_taken():
    numpy = pytest.importorskip("numpy")
    assert ALIGNED.token_to_chars(numpy.int64(-1)) == ALIGNED.spans()[-1]
    assert ALIGNED.char_to_token(numpy.uint8(0)) == 0
    assert TOKENS[numpy.int64(0)].tolist() == TOKENS.to_lists()[0]

    class Old:
        """Gone through by its indices alone, as datasets of PyTorch are."""

        def __getitem__(self, index: int) -> str:
            return ["one two", "three"][index]

    assert list(Packed(Old(), GPT2, 3)) == list(Packed(["one two", "three"], GPT2, 3))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ChatTemplate(None), "source must be str, the text of a template, not NoneType"),
        (lambda: ChatTemplate("a").render(None), "messages must be a list of messages, not None"),
        (lambda: ChatTemplate("a").render("hi"), "messages must be a list of messages, not str"),
        (lambda: ChatTemplate("a").render([], tools="x"), "tools must be a list of tools, not str"),
        (lambda: ChatTemplate("a").count(GPT2, {}), "messages must be a list of messages, not d"),
        (lambda: count_chat([], "gpt-4o", tools=None), "tools must be a list of tools, not None"),
        (lambda: count_chat(b"hi", "gpt-4o"), "messages must be a list of messages, not bytes"),
    ],
)
def test_messages_and_templates_of_another_type(call, words):
    pytest.importorskip("jinja2")
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value).startswith(words)


def test_a_model_that_takes_no_tokens():
    pytest.importorskip("transformers")
    for length in (-1, 0):
        with pytest.raises(errors.ArgumentError, match=f"model_max_length is {length}; give 1"):
            GPT2.to_transformers(model_max_length=length)
    with pytest.raises(TypeError, match="model_max_length must be int, not str"):
        GPT2.to_transformers(model_max_length="5")
    assert GPT2.to_transformers(model_max_length=20).model_max_length == 20


# ── The readable half ─────────────────────────────────────────────────────────────────────────────

READABLE = reference.BPETokenizer(BYTES, [])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: reference.train_bpe_from_text(b"ab", 300), "text must be str, not bytes; decode"),
        (lambda: reference.train_bpe_reference(None, 300), "text must be str, not NoneType"),
        (lambda: reference.pretokenize(b"ab"), "text must be str, not bytes; decode it first"),
        (lambda: reference.pretokenize(None, None), "text must be str, not NoneType"),
        (lambda: reference.count_pretokens(None), "text must be str, not NoneType"),
        (lambda: reference.split_on_special_tokens(b"a", []), "text must be str, not bytes; dec"),
        (lambda: READABLE.encode(b"a"), "text must be str, not bytes; decode it first"),
        (lambda: READABLE.encode_ordinary(5), "text must be str, not int"),
        (lambda: list(READABLE.encode_iterable([b"a"])), "text must be str, not bytes; decode"),
        (lambda: list(READABLE.encode_iterable(["a", None])), "text must be str, not NoneType"),
        (lambda: list(READABLE.encode_iterable(None)), "chunks must be an iterable of str, not N"),
        (
            lambda: reference.BPETokenizer({"a": 1}, []),
            "vocab must map ids to bytes; 'a': 1 does not",
        ),
        (lambda: reference.BPETokenizer(None, None), "vocab must map ids to bytes, not be NoneT"),
        (lambda: reference.BPETokenizer(BYTES, None), "merges must be a list of pairs, not NoneT"),
    ],
)
def test_the_readable_half_names_the_argument(call, words):
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value).startswith(words)


def test_a_lone_surrogate_is_named_with_its_place_in_the_training_text():
    for train in (reference.train_bpe_from_text, bytepair.train_bpe_from_text):
        with pytest.raises(UnicodeEncodeError) as caught:
            train("some words and \ud800", 300)
        assert caught.value.start == 15


def test_the_readable_half_takes_paths_of_bytes(tmp_path):
    def path(name: str) -> bytes:
        return os.fsencode(tmp_path / name)

    made = reference.BPETokenizer(*reference.train_bpe_from_text("low lower lowest", 260))
    made.save(path("made.json"))
    assert reference.BPETokenizer.load(path("made.json")).encode("lower") == made.encode("lower")
    simple = reference.BPETokenizerSimple()
    simple.train("low lower lowest", 262)
    simple.save_vocab_and_merges(path("vocab"), path("merges"))
    again = reference.BPETokenizerSimple()
    again.load_vocab_and_merges(path("vocab"), path("merges"))
    assert again.encode("lower") == simple.encode("lower")
    GPT2.save(tmp_path / "gpt2", format="gpt2")
    files = [path("gpt2/encoder.json"), path("gpt2/vocab.bpe")]
    read = reference.BPETokenizer.from_files(*files, ["<|endoftext|>"])
    assert read.encode("hello world") == [31373, 995]
    again.load_vocab_and_merges_from_openai(*files)
    assert again.encode("hello world") == [31373, 995]


# ── Patterns that match no characters ─────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("pattern", "pieces"),
    [
        (r"\b", ["ab", " ", "ac"]),
        ("(?=a)", ["ab ", "ac"]),
        ("(?:)", ["a", "b", " ", "a", "c"]),
        ("()", ["a", "b", " ", "a", "c"]),
        ("^", ["ab ac"]),
        ("$", ["ab ac"]),
    ],
)
def test_a_match_of_no_characters_cuts_where_it_is(pattern, pieces):
    """So does the readable half, and so does Hugging Face's library."""
    assert bytepair.patterns.pretokenize("ab ac", pattern) == pieces
    assert reference.pretokenize("ab ac", pattern) == pieces
    made = Tokenizer({**BYTES, 256: b"ab"}, [(b"a", b"b")], pattern=pattern)
    assert made.encode("ab ac") == [
        id
        for piece in pieces
        for id in Tokenizer({**BYTES, 256: b"ab"}, [(b"a", b"b")], pattern=None).encode(piece)
    ]
    tokenizers = pytest.importorskip("tokenizers")
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")
    assert [piece for piece, _ in split.pre_tokenize_str("ab ac") if piece] == pieces
