"""`Tokenizer`: encoding, decoding and look-ups, by hand-made vocabs and by the bundled ones."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator, Mapping

import pytest

import bytepair
from bytepair import Tokenizer
from bytepair.errors import ArgumentError, SpecialTokenError, UnknownTokenError
from patience_support import assert_lets_others_run

END = "<|endoftext|>"
BYTES = {byte: bytes([byte]) for byte in range(256)}
VOCAB = {**BYTES, 256: b"th", 257: b"the", 258: b" the"}
MERGES = [(b"t", b"h"), (b"th", b"e"), (b" ", b"the")]


@pytest.fixture(scope="module")
def tiny() -> Tokenizer:
    return Tokenizer(VOCAB, MERGES, ["<|a|>", "<|b|>"], name="tiny")


@pytest.fixture(scope="module")
def gpt2() -> Tokenizer:
    return bytepair.get_encoding("gpt2")


# --- building ---------------------------------------------------------------------------------


def test_special_tokens_get_the_next_free_ids(tiny):
    assert tiny.special_tokens == {"<|a|>": 259, "<|b|>": 260}
    assert tiny.vocab_size == 261


def test_a_special_token_in_the_vocab_keeps_its_id():
    tokenizer = Tokenizer({**BYTES, 300: b"<|a|>"}, [], ["<|a|>"])
    assert tokenizer.special_tokens == {"<|a|>": 300}
    assert tokenizer.encode("x<|a|>") == [120, 300]
    assert tokenizer.vocab_size == 301


def test_special_tokens_with_given_ids_leave_gaps():
    tokenizer = Tokenizer(BYTES, [], {"<|a|>": 1000, "<|b|>": 999})
    assert tokenizer.encode("<|b|><|a|>") == [999, 1000]
    assert tokenizer.vocab_size == 1001
    assert len(tokenizer.vocab) == 258


def test_no_special_tokens():
    assert Tokenizer(VOCAB, MERGES).special_tokens == {}
    assert Tokenizer(VOCAB, MERGES, []) == Tokenizer(VOCAB, MERGES, {}) == Tokenizer(VOCAB, MERGES)


def test_options_are_keyword_only():
    with pytest.raises(TypeError):
        Tokenizer(VOCAB, MERGES, [], "gpt2")
    with pytest.raises(TypeError):
        Tokenizer(VOCAB, MERGES).encode("x", "all")


def test_ids_up_to_32_bits():
    tokenizer = Tokenizer({0: b"a", 2**32 - 1: b"b"}, [])
    assert tokenizer.encode("ab") == [0, 2**32 - 1]
    assert tokenizer.decode([2**32 - 1, 0]) == "ba"
    assert tokenizer.vocab_size == 2**32


def test_merges_of_equal_bytes_use_the_lowest_id():
    vocab = dict(enumerate([b"a", b"b", b"c", b"ab", b"bc", b"abc", b"abc"]))
    merges = [(b"b", b"c"), (b"a", b"b"), (b"ab", b"c"), (b"a", b"bc")]
    tokenizer = Tokenizer(vocab, merges)
    assert tokenizer.encode("abc") == [5]
    assert tokenizer.decode([6]) == "abc"
    assert tokenizer.token_id(b"abc") == 5


def test_from_ranks_is_the_same_as_merge_rule_ranks():
    ranks = {token: id_ for id_, token in VOCAB.items()}
    tokenizer = Tokenizer.from_ranks(ranks, pattern="gpt2", special_tokens={END: 500})
    assert tokenizer == Tokenizer(VOCAB, None, {END: 500}, merge_rule="ranks")
    assert tokenizer.encode("the the" + END) == [257, 258, 500]
    # The merges are found again from the ranks.
    assert tokenizer.merges == MERGES


def test_from_ranks_never_guesses_a_pattern():
    with pytest.raises(TypeError, match="pattern"):
        Tokenizer.from_ranks({b"a": 0})


def test_merge_rules_are_told_apart():
    vocab = dict(enumerate([b"a", b"b", b"c", b"ab", b"bc", b"abc"]))
    merges = [(b"a", b"b"), (b"b", b"c"), (b"a", b"bc")]
    by_pairs = Tokenizer(vocab, merges)
    by_ranks = Tokenizer(vocab, None, merge_rule="ranks")
    whole = Tokenizer(vocab, merges, ignore_merges=True)
    assert (by_pairs.merge_rule, by_ranks.merge_rule) == ("pairs", "ranks")
    assert (by_pairs.ignore_merges, whole.ignore_merges) == (False, True)
    assert [t.encode("abc") for t in (by_pairs, by_ranks, whole)] == [[3, 2], [5], [5]]
    assert len({by_pairs, by_ranks, whole}) == 3
    assert len({t.fingerprint for t in (by_pairs, by_ranks, whole)}) == 3


def test_a_sequence_of_patterns():
    tokenizer = Tokenizer(BYTES, [], pattern=[r"\p{N}", r"\p{L}+"])
    assert tokenizer.pattern == [r"\p{N}", r"\p{L}+"]
    assert tokenizer.decode(tokenizer.encode("ab12 cd")) == "ab12 cd"


# --- encode -----------------------------------------------------------------------------------


def test_encode_recognises_special_tokens_by_default(tiny):
    assert tiny.encode("the<|a|> the") == [257, 259, 258]
    assert tiny.encode_ordinary("<|a|>") == list(b"<|a|>")


def test_encode_gives_a_list_of_ints(gpt2):
    ids = gpt2.encode("hello world")
    assert type(ids) is list
    assert all(type(id_) is int for id_ in ids)
    assert ids == [31373, 995]


@pytest.mark.parametrize("kind", [list, tuple, set, frozenset, iter, dict.fromkeys])
def test_allowed_special_takes_any_collection(tiny, kind):
    text = "<|a|><|b|>"
    assert tiny.encode(text, allowed_special=kind(["<|a|>"])) == [259, *b"<|b|>"]
    assert tiny.encode(text, disallowed_special=kind([])) == [259, 260]
    with pytest.raises(SpecialTokenError):
        tiny.encode(text, disallowed_special=kind(["<|b|>"]))


@pytest.mark.parametrize("option", ["allowed_special", "disallowed_special"])
@pytest.mark.parametrize("value", ["<|a|>", "ALL", "", 5, [1], [None]])
def test_policies_of_the_wrong_type(tiny, option, value):
    with pytest.raises(TypeError, match=option):
        tiny.encode("x", **{option: value})


@pytest.mark.parametrize(
    ("allowed", "disallowed", "expected"),
    [
        ("all", (), [259, 260]),
        ((), (), [*b"<|a|><|b|>"]),
        (("<|b|>",), (), [*b"<|a|>", 260]),
        ("all", "all", [259, 260]),
        (("<|a|>",), "all", "<|b|>"),
        ((), "all", "<|a|>"),
        ("all", ("<|b|>",), "<|b|>"),
    ],
)
def test_policies_mean_what_they_mean_in_tiktoken(tiny, allowed, disallowed, expected):
    options = {"allowed_special": allowed, "disallowed_special": disallowed}
    text = "<|a|><|b|>"
    calls = [
        lambda: tiny.encode(text, **options),
        lambda: tiny.encode_batch([text], **options)[0],
        lambda: list(tiny.encode_iterable([text], **options)),
        lambda: tiny.encode_numpy(text, **options).tolist(),
    ]
    for call in calls:
        if isinstance(expected, list):
            assert call() == expected
        else:
            with pytest.raises(SpecialTokenError, match=expected.replace("|", r"\|")):
                call()


def test_the_message_for_a_disallowed_token_says_what_to_do(tiny):
    with pytest.raises(ValueError, match="disallowed") as caught:
        tiny.encode("the <|a|>", disallowed_special=["<|a|>"])
    message = str(caught.value)
    assert "<|a|>" in message
    assert "4" in message  # where it stands
    assert "allowed_special" in message
    assert "encode_ordinary" in message


def test_a_call_leaves_no_policy_behind(tiny):
    assert tiny.encode("<|a|>", allowed_special=()) == list(b"<|a|>")
    assert tiny.encode("<|a|>") == [259]


@pytest.mark.parametrize("value", [None, bytearray(b"bytes"), 5, ["a"]])
def test_encode_takes_text_only(tiny, value):
    for call in (tiny.encode, tiny.encode_ordinary, tiny.count, tiny.encode_numpy):
        with pytest.raises(TypeError, match="str"):
            call(value)


def test_subclasses_of_str(tiny):
    class Name(str):
        __slots__ = ()

    assert tiny.encode(Name("the")) == [257]


# --- batches, counts, arrays ------------------------------------------------------------------


@pytest.mark.parametrize("threads", [None, 1, 2, 8])
def test_encode_batch_is_the_loop(gpt2, threads):
    texts = ["", "a", END, *(f"text number {n}, " * n for n in range(60))]
    assert gpt2.encode_batch(texts, threads=threads) == [gpt2.encode(text) for text in texts]


def test_encode_batch_takes_any_iterable_but_a_str(tiny):
    assert tiny.encode_batch(text for text in ("the", "th")) == [[257], [256]]
    assert tiny.encode_batch([]) == []
    with pytest.raises(TypeError, match=r"\[text\]"):
        tiny.encode_batch("the")
    with pytest.raises(TypeError, match="1"):
        tiny.encode_batch(["the", None])
    with pytest.raises(ArgumentError, match="threads is 0"):
        tiny.encode_batch(["the"], threads=0)


def test_the_error_of_a_batch_is_that_of_its_first_bad_text(tiny):
    texts = ["fine", "<|b|>", "<|a|>" * 30_000, "fine"]
    with pytest.raises(SpecialTokenError, match=r"<\|b\|>"):
        tiny.encode_batch(texts, allowed_special=(), disallowed_special="all", threads=2)


def test_count(tiny, gpt2):
    assert tiny.count("the the<|a|>") == 3
    assert tiny.count("") == 0
    text = "Counting is encoding without the ids. " * 300
    assert gpt2.count(text) == len(gpt2.encode(text))
    assert gpt2.count(END, allowed_special=()) == 7


def test_count_stops_at_a_limit(gpt2):
    text = "word " * 1000
    total = gpt2.count(text)
    assert gpt2.count(text, limit=10) == 11  # more than ten
    assert gpt2.count(text, limit=total) == total
    assert gpt2.count(text, limit=0) == 1


def test_encode_numpy(gpt2):
    numpy = pytest.importorskip("numpy")
    text = "hello world" + END
    ids = gpt2.encode_numpy(text)
    assert ids.dtype == numpy.uint32
    assert ids.tolist() == gpt2.encode(text)
    ids[0] = 1  # the caller's own
    assert gpt2.encode_numpy(text, dtype=numpy.uint16).dtype == numpy.uint16
    assert gpt2.encode_numpy(text, dtype="uint16").tolist() == gpt2.encode(text)
    assert gpt2.encode_numpy("").tolist() == []


def test_encode_numpy_into_an_array(gpt2):
    numpy = pytest.importorskip("numpy")
    out = numpy.zeros(5, dtype=numpy.uint16)
    filled = gpt2.encode_numpy("hello world", out=out)
    assert filled.base is out
    assert out.tolist() == [31373, 995, 0, 0, 0]
    with pytest.raises(ArgumentError, match="2"):
        gpt2.encode_numpy("hello world", out=out[:1])
    with pytest.raises(ArgumentError, match="dtype"):
        gpt2.encode_numpy("hello world", out=out, dtype=numpy.uint32)
    with pytest.raises(ArgumentError, match="int64"):
        gpt2.encode_numpy("hello world", dtype=numpy.int64)


def test_encode_numpy_refuses_ids_that_do_not_fit():
    numpy = pytest.importorskip("numpy")
    tokenizer = bytepair.get_encoding("cl100k_base")
    with pytest.raises(ArgumentError, match="70540"):
        tokenizer.encode_numpy("a" * 8, dtype=numpy.uint16)


# --- chunks -----------------------------------------------------------------------------------


def test_encode_iterable_is_lazy(gpt2):
    taken = []

    def chunks() -> Iterator[str]:
        for word in ["one ", "two ", "three ", "four"]:
            taken.append(word)
            yield word

    ids = gpt2.encode_iterable(chunks())
    assert iter(ids) is ids
    assert taken == []
    assert next(ids) == gpt2.encode("one")[0]
    assert len(taken) < 4
    assert [gpt2.encode("one")[0], *ids] == gpt2.encode("one two three four")
    assert list(ids) == []


def test_encode_iterable_takes_files(gpt2, tmp_path):
    text = "first line\nsecond  line\r\n\n  last" * 50
    path = tmp_path / "text.txt"
    path.write_bytes(text.encode())
    with path.open(encoding="utf-8", newline="") as file:
        assert list(gpt2.encode_iterable(file)) == gpt2.encode(text)


def test_encode_iterable_over_a_str_is_over_its_characters(gpt2):
    assert list(gpt2.encode_iterable("hello world")) == [31373, 995]


def test_encode_iterable_passes_errors_on(gpt2):
    def broken() -> Iterator[str]:
        yield "hello world "
        raise OSError("disk gone")

    ids = gpt2.encode_iterable(broken())
    with pytest.raises(OSError, match="disk gone"):
        list(ids)
    with pytest.raises(TypeError, match="chunk 1"):
        list(gpt2.encode_iterable(["a", b"b"]))
    with pytest.raises(TypeError):
        gpt2.encode_iterable(5)


# --- decode -----------------------------------------------------------------------------------


def test_decode(tiny, gpt2):
    assert tiny.decode([257, 259, 258]) == "the<|a|> the"
    assert tiny.decode([]) == ""
    assert gpt2.decode_bytes([8582]) == b"\xf0\x9f"
    assert gpt2.decode([8582]) == "\ufffd"
    assert gpt2.decode([8582], errors="ignore") == ""
    assert gpt2.decode([8582], errors="backslashreplace") == r"\xf0\x9f"
    with pytest.raises(UnicodeDecodeError):
        gpt2.decode([8582], errors="strict")
    with pytest.raises(ValueError, match=r"errors is .no such handler"):
        gpt2.decode([8582], errors="no such handler")


def test_decode_takes_any_iterable_of_ints(gpt2):
    numpy = pytest.importorskip("numpy")
    ids = [31373, 995]
    for form in (tuple(ids), iter(ids), numpy.array(ids), numpy.array(ids, dtype=numpy.uint16)):
        assert gpt2.decode(form) == "hello world"
    assert gpt2.decode(gpt2.encode_numpy("hello world")) == "hello world"


@pytest.mark.parametrize("value", ["ab", [1.5], [None], 5, ["1"]])
def test_decode_refuses_what_is_no_id(gpt2, value):
    with pytest.raises(TypeError):
        gpt2.decode(value)


def test_decode_batch(gpt2):
    assert gpt2.decode_batch([[31373], [], [995, 8582]]) == ["hello", "", " world\ufffd"]
    with pytest.raises(UnicodeDecodeError):
        gpt2.decode_batch([[31373], [8582]], errors="strict")
    with pytest.raises(UnknownTokenError):
        gpt2.decode_batch([[31373], [50257]])


# --- look-ups ---------------------------------------------------------------------------------


def test_token_bytes_and_token_id_are_inverse(tiny):
    for id_, token in tiny.vocab.items():
        assert tiny.token_bytes(id_) == token
        assert tiny.token_id(token) == id_
    assert tiny.token_id("the") == 257
    assert tiny.token_id("<|b|>") == 260


def test_single_bytes_that_are_no_text():
    tokenizer = bytepair.get_encoding("cl100k_base")
    assert tokenizer.token_id(b"\x80") == 222
    assert tokenizer.token_bytes(222) == b"\x80"


def test_look_ups_of_what_is_not_there(tiny):
    with pytest.raises(UnknownTokenError, match="xyz"):
        tiny.token_id(b"xyz")
    with pytest.raises(UnknownTokenError, match="261"):
        tiny.token_bytes(261)
    with pytest.raises(UnknownTokenError, match="261"):
        tiny.is_special(261)
    with pytest.raises(TypeError):
        tiny.token_bytes("a")


def test_token_strings(tiny, gpt2):
    assert tiny.token_strings("the<|a|>the") == ["the", "<|a|>", "the"]
    # A readable space, not the letter files write for it; parts of a character as U+FFFD.
    assert gpt2.token_strings("a b\U0001f642") == ["a", " b", "\ufffd", "\ufffd\ufffd"]


def test_is_special(tiny):
    assert [tiny.is_special(id_) for id_ in (0, 258, 259, 260)] == [False, False, True, True]


def test_vocab_is_a_read_only_mapping(tiny):
    vocab = tiny.vocab
    assert isinstance(vocab, Mapping)
    assert dict(vocab) == {**VOCAB, 259: b"<|a|>", 260: b"<|b|>"}
    assert list(vocab) == sorted(vocab)
    assert (257 in vocab, 261 in vocab, -1 in vocab, "a" in vocab) == (True, False, False, False)
    assert vocab.get(261) is None
    with pytest.raises(KeyError):
        vocab[261]
    with pytest.raises(TypeError):
        vocab[0] = b"x"


def test_vocab_with_gaps_and_specials_in_the_middle():
    tokenizer = Tokenizer({0: b"a", 7: b"b"}, [], {"<|a|>": 3})
    assert list(tokenizer.vocab.items()) == [(0, b"a"), (3, b"<|a|>"), (7, b"b")]
    assert tokenizer.vocab_size == 8
    with pytest.raises(UnknownTokenError, match=r"5.*8"):
        tokenizer.decode([5])


def test_properties(tiny):
    assert tiny.merges == MERGES
    assert tiny.pattern == "gpt2"
    assert tiny.name == "tiny"
    assert Tokenizer(VOCAB, MERGES, pattern=r"\S+|\s+").pattern == r"\S+|\s+"
    assert Tokenizer(VOCAB, MERGES, pattern=None).pattern is None
    assert Tokenizer(VOCAB, MERGES).name is None


# --- calls from async code and threads --------------------------------------------------------


LETTERS = "".join(random.Random(8).choices("abcdefgh", k=500_000))


def test_counting_lets_other_threads_run(gpt2):
    assert_lets_others_run(gpt2.count, LETTERS)


def test_counting_in_an_event_loop(gpt2):
    assert_lets_others_run(gpt2.count, LETTERS, in_a_loop=True)

    async def counted() -> int:
        return await asyncio.to_thread(gpt2.count, LETTERS)

    assert asyncio.run(counted()) == gpt2.count(LETTERS)
