"""Errors: their classes, and that a message names the value, the place and the way out."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import bytepair
from bytepair import Tokenizer, errors, get_encoding

BYTES = {byte: bytes([byte]) for byte in range(256)}


def classes() -> list[type]:
    return [
        value
        for _, value in inspect.getmembers(errors, inspect.isclass)
        if issubclass(value, errors.BytepairError)
    ]


@pytest.mark.parametrize("error", classes(), ids=lambda error: error.__name__)
def test_each_error_is_also_a_built_in(error):
    if error is errors.BytepairError:
        assert error.__bases__ == (Exception,)
        return
    builtin = [base for base in error.__mro__ if base.__module__ == "builtins"]
    assert {ValueError, KeyError, OSError, TypeError, UserWarning} & set(builtin)


def test_unknown_token_error_is_a_value_error_and_a_key_error():
    assert issubclass(errors.UnknownTokenError, ValueError)
    assert issubclass(errors.UnknownTokenError, KeyError)
    gpt2 = get_encoding("gpt2")
    for call in (
        lambda: gpt2.decode([1, 50257]),
        lambda: gpt2.decode_bytes([1, 50257]),
        lambda: gpt2.decode_batch([[1, 50257]]),
    ):
        with pytest.raises(errors.UnknownTokenError) as caught:
            call()
        message = str(caught.value)
        assert "50257" in message  # the id, which is also the vocab size here
        assert "position 1" in message
        assert "vocab size" in message
        assert not message.startswith(("'", '"'))  # KeyError would show a repr


@pytest.mark.parametrize("id_", [-1, 2**32, 2**64, 10**30, -(2**40)])
def test_ids_outside_32_bits(id_):
    gpt2 = get_encoding("gpt2")
    with pytest.raises(errors.UnknownTokenError, match=f"{id_}.*position 2"):
        gpt2.decode([1, 2, id_])
    with pytest.raises(errors.UnknownTokenError, match=str(id_)):
        gpt2.token_bytes(id_)


# --- lone surrogates --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "position"),
    [("\udbc0", 0), ("a\udcffb", 1), ("hello \ud800 world", 6), ("\ud83d\udc4d", 0)],
)
def test_a_lone_surrogate_is_named_with_its_position(text, position):
    gpt2 = get_encoding("gpt2")
    for call in (
        lambda: gpt2.encode(text),
        lambda: gpt2.encode_ordinary(text),
        lambda: gpt2.count(text),
        lambda: gpt2.encode_batch(["fine", text]),
        lambda: gpt2.encode_numpy(text),
        lambda: list(gpt2.encode_iterable([text])),
        lambda: gpt2.token_strings(text),
    ):
        with pytest.raises(UnicodeEncodeError) as caught:
            call()
        assert caught.value.start == position


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("\udbc0", [5809]),
        ("a\udcffb", [64, 5809, 65]),
        ("\ud83d\udc4d", [9468, 239, 235]),
        ("<|endoftext|>\ud800", [100257, 5809]),
    ],
)
def test_errors_replace_gives_tiktoken_s_ids(text, ids):
    cl100k = get_encoding("cl100k_base")
    assert cl100k.encode(text, errors="replace") == ids
    assert cl100k.encode_batch([text], errors="replace") == [ids]
    assert cl100k.encode_numpy(text, errors="replace").tolist() == ids
    assert cl100k.count(text, errors="replace") == len(ids)
    assert list(cl100k.encode_iterable([text], errors="replace")) == ids
    # A pair whose halves are in two chunks is one character too.
    assert list(cl100k.encode_iterable(list(text), errors="replace")) == ids


def test_errors_takes_strict_or_replace():
    gpt2 = get_encoding("gpt2")
    assert gpt2.encode("fine", errors="strict") == gpt2.encode("fine", errors="replace")
    with pytest.raises(ValueError, match=r"ignore.*replace"):
        gpt2.encode("fine", errors="ignore")


# --- vocabs that do not fit together ----------------------------------------------------------


@pytest.mark.parametrize(
    ("vocab", "merges", "says"),
    [
        ({0: b"a", 1: b"b"}, [(b"a", b"b")], ["merge 0"]),
        ({0: b"a", 1: b"b", 2: b"ab"}, [(b"a", b"b"), (b"ab", b"b")], ["merge 1"]),
        ({0: b"a", 1: b"ax"}, [(b"a", b"x")], ["merge 0", "x"]),
        ({0: b"a", 1: b""}, [], ["1", "empty"]),
    ],
)
def test_vocab_error_at_construction(vocab, merges, says):
    with pytest.raises(errors.VocabError) as caught:
        Tokenizer(vocab, merges)
    assert all(part in str(caught.value) for part in says)


def test_two_tokens_with_one_rank():
    with pytest.raises(errors.VocabError, match=r"rank 5.*b'x'.*b'y'"):
        Tokenizer.from_ranks({b"x": 5, b"y": 5}, pattern=None)


@pytest.mark.parametrize("id_", [-1, 2**32])
def test_ids_of_a_vocab_are_32_bits(id_):
    with pytest.raises((ValueError, OverflowError)):
        Tokenizer({id_: b"a"}, [])
    with pytest.raises((ValueError, OverflowError)):
        Tokenizer(BYTES, [], {"<a>": id_})


@pytest.mark.parametrize(
    ("special", "error", "says"),
    [
        ([""], errors.ArgumentError, "empty"),
        ({"": 300}, errors.ArgumentError, "empty"),
        (["<a>", "<a>"], errors.ArgumentError, "twice"),
        ({"<s>": 65}, errors.VocabError, "65"),
        ({"<a>": 300, "<b>": 300}, errors.VocabError, "300"),
        ("<a>", TypeError, r"\['<a>'\]"),
        ([b"<a>"], TypeError, "bytes"),
        ([None], TypeError, "NoneType"),
    ],
)
def test_special_tokens_that_cannot_be(special, error, says):
    with pytest.raises(error, match=says):
        Tokenizer(BYTES, [], special)


def test_a_special_token_with_two_ids():
    with pytest.raises(errors.VocabError, match="300"):
        Tokenizer({**BYTES, 256: b"<a>"}, [], {"<a>": 300})


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"merge_rule": "other"}, "other"),
        ({"merges": None}, "merges"),
        ({"merge_rule": "ranks"}, "merges"),
        ({"pattern": "gpt3"}, "gpt3"),
        ({"pattern": "("}, r"\("),
        ({"pattern": r"\p{Nope}"}, "Nope"),
        ({"pattern": [r"a+", "["]}, r"\["),
    ],
)
def test_options_that_cannot_be(options, says):
    arguments = {"vocab": BYTES, "merges": [], **options}
    with pytest.raises(ValueError, match=says):
        Tokenizer(**arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"vocab": [b"a"]},
        {"vocab": {0: "a"}},
        {"vocab": {"a": 0}},
        {"merges": ["a b"]},
        {"merges": [("a", "b")]},
        {"merges": [(b"a", b"b", b"c")]},
        {"pattern": 5},
        {"pattern": [None]},
        {"name": 5},
    ],
)
def test_arguments_of_the_wrong_type(arguments):
    with pytest.raises((TypeError, ValueError)) as caught:
        Tokenizer(**{"vocab": BYTES, "merges": [], **arguments})
    assert not isinstance(caught.value, AssertionError)


def test_a_byte_no_token_covers():
    tokenizer = Tokenizer({0: b"\xe2\x80\x9c", 1: b"a"}, [])
    assert tokenizer.encode("aa") == [1, 1]
    with pytest.raises(errors.VocabError, match="0x62"):
        tokenizer.encode("ab")
    # The tokenizer is as good as before.
    assert tokenizer.encode("aa") == [1, 1]
    assert tokenizer.decode([0]) == "\u201c"


def test_a_hostile_pattern_gives_up_and_keeps_the_process_alive():
    tokenizer = Tokenizer(BYTES, [], pattern=r"(a|aa)+(?=b)\1c")
    with pytest.raises(errors.PatternError):
        tokenizer.encode("a" * 5_000)
    assert tokenizer.encode("x") == [120]


# --- nothing but Exceptions, and prose --------------------------------------------------------

WRONG = [
    lambda: get_encoding("no such"),
    lambda: get_encoding("gpt2").decode([-1]),
    lambda: get_encoding("gpt2").token_id(b"no such token"),
    lambda: get_encoding("gpt2").encode("<|endoftext|>", disallowed_special=["<|endoftext|>"]),
    lambda: get_encoding("gpt2").encode_batch([], threads=0),
    lambda: Tokenizer(BYTES, [], [""]),
    lambda: Tokenizer({0: b"a"}, [(b"a", b"b")]),
    lambda: Tokenizer(BYTES, [], pattern="("),
    lambda: bytepair.encoding_for_model("no such"),
    lambda: bytepair.train(iter(["a"]), 10),
    lambda: bytepair.train(iter(["a"]), 300, tie_break="no such"),
]


@pytest.mark.parametrize("call", WRONG)
def test_messages_are_prose(call):
    with pytest.raises(errors.BytepairError) as caught:
        call()
    message = str(caught.value)
    assert message[0].islower() or not message[0].isalpha()
    assert not message.endswith(".")
    assert 20 < len(message) < 600
    assert "\n" not in message


def test_importing_loads_no_table_and_no_network():
    code = """
import sys
opened, before = [], set(sys.modules)
sys.addaudithook(lambda event, arguments: event == "open" and opened.append(str(arguments[0])))
import bytepair
assert not [name for name in opened if name.endswith(".bpranks")], opened
loaded = set(sys.modules) - before
assert not {"numpy", "tiktoken", "regex", "socket", "ssl", "urllib.request"} & loaded, loaded
# They take as long as all else that is imported.
assert not {"typing", "re", "enum", "threading", "dataclasses"} & loaded, loaded
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Tokenizer({-1: b"a"}, []), ValueError, ["-1", "4294967295"]),
        (lambda: Tokenizer({2**32: b"a"}, []), ValueError, ["4294967296", "b'a'"]),
        (lambda: Tokenizer({"0": b"a"}, []), TypeError, ["'0'", "int"]),
        (lambda: Tokenizer({0: "a"}, []), TypeError, ["id 0", "bytes", "'a'"]),
        (lambda: Tokenizer(BYTES, [(b"a",)]), TypeError, ["merge 0", "(b'a',)"]),
        (lambda: Tokenizer(BYTES, [("a", "b")]), TypeError, ["merge 0", "bytes"]),
        (lambda: Tokenizer(BYTES, [], {"<x>": -1}), ValueError, ["<x>", "-1"]),
        (lambda: Tokenizer(BYTES, [], {"<x>": 65}), ValueError, ["<x>", "65"]),
        (lambda: Tokenizer(BYTES, []).count("a", limit=-1), ValueError, ["limit", "-1"]),
        (lambda: Tokenizer(BYTES, []).encode_batch(["a"], threads=-1), ValueError, ["threads"]),
        (lambda: Tokenizer(BYTES, []).save("/nowhere/x.json"), OSError, ["/nowhere/x.json"]),
    ],
)
def test_a_bad_argument_is_named(make, error, words):
    with pytest.raises(error) as caught:
        make()
    assert [word for word in words if word not in str(caught.value)] == []


def test_a_million_threads_are_not_started():
    tokenizer = Tokenizer(BYTES, [])
    texts = ["a" * 70_000] * 300
    assert tokenizer.encode_batch(texts, threads=10**6) == [[97] * 70_000] * 300
