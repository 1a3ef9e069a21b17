"""tiktoken's interface, call by call against tiktoken: values, exceptions and their words."""

from __future__ import annotations

import array
import base64
import copy
import inspect
import pickle
import random
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files

import numpy as np
import pytest
import tiktoken
import tiktoken.load
import tiktoken.model
from hypothesis import given
from hypothesis import strategies as st

import bytepair
from bytepair.compat import tiktoken as compat
from bytepair.compat.tiktoken import _educational, load, registry
from bytepair.compat.tiktoken._merge import merged, merged_slowly

NAMES = bytepair.list_encodings()
TABLES = ["gpt2", "cl100k_base", "o200k_base"]
ENDOFTEXT = "<|endoftext|>"


@pytest.fixture(scope="module")
def both() -> Callable[[str], tuple[tiktoken.Encoding, compat.Encoding]]:
    """Return a function: name of an encoding -> tiktoken's and ours, over the same ranks."""
    known = {}

    def get(name: str):
        if name not in known:
            ours = compat.get_encoding(name)
            theirs = tiktoken.Encoding(
                name,
                pat_str=ours._pat_str,
                mergeable_ranks=ours._mergeable_ranks,
                special_tokens=ours._special_tokens,
            )
            known[name] = theirs, ours
        return known[name]

    return get


def outcome(call: Callable[[], object]) -> object:
    """What a call gives, or the exception that it raises."""
    try:
        value = call()
    except Exception as error:
        return error
    return value.tolist() if isinstance(value, np.ndarray) else value


OWN_WORDS = ("Encountered text", "Invalid token", "Unknown encoding", "Could not auto")
"""How messages begin that are tiktoken's own, and not of a library under it."""


def assert_same(theirs: object, ours: object) -> None:
    if not isinstance(theirs, Exception):
        assert ours == theirs
        assert type(ours) is type(theirs)
        return
    assert type(ours) is type(theirs), ours
    if str(theirs).strip("'\"").startswith(OWN_WORDS) or isinstance(theirs, KeyError):
        assert ours.args == theirs.args


NASTY = [
    "",
    " ",
    "hello world",
    "It's 12345 — naïve café 日本語\r\n\n  \t two  spaces",
    "👩‍👩‍👧 👍🏽 don'T I'LL",
    "\ud83d\udc4d",
    "\ud83d",
    "a\udc4d\ud83d b",
    "<|endoftext|> x <|fim_prefix|><|endofprompt|>",
    "<|endoftext<|endoftext|>|>",
    "x" * 3000,
    "\x00\x85\xa0\ufeff\U0010ffff",
]


@pytest.mark.parametrize("name", NAMES)
def test_encoding(both, name):
    theirs, ours = both(name)
    for text in NASTY:
        for options in (
            {},
            {"allowed_special": "all"},
            {"disallowed_special": ()},
            {"allowed_special": {ENDOFTEXT}},
            {"allowed_special": {ENDOFTEXT}, "disallowed_special": ()},
            {"allowed_special": frozenset({ENDOFTEXT, "no token"}), "disallowed_special": {"x"}},
            {"allowed_special": "all", "disallowed_special": "all"},
            {"disallowed_special": ["hello", "hello world", ENDOFTEXT]},
            {"disallowed_special": "lo"},
        ):
            for method in ("encode", "encode_to_numpy"):
                wanted = outcome(lambda: getattr(theirs, method)(text, **options))  # noqa: B023
                assert_same(wanted, outcome(lambda: getattr(ours, method)(text, **options)))  # noqa: B023
            for threads in (1, 8):
                given = [text, "other"], {"num_threads": threads, **options}
                wanted = outcome(lambda: theirs.encode_batch(given[0], **given[1]))  # noqa: B023
                assert_same(wanted, outcome(lambda: ours.encode_batch(given[0], **given[1])))  # noqa: B023
        assert ours.encode_ordinary(text) == theirs.encode_ordinary(text)
    assert ours.encode_ordinary_batch(NASTY) == theirs.encode_ordinary_batch(NASTY)
    assert ours.encode_batch([]) == ours.encode_ordinary_batch([]) == []


CALLS = {
    "not a text": lambda e: e.encode(None),
    "bytes": lambda e: e.encode(b"x"),
    "a number, nothing disallowed": lambda e: e.encode(5, disallowed_special=()),
    "ordinary, of bytes": lambda e: e.encode_ordinary(b"x"),
    "ordinary, of nothing": lambda e: e.encode_ordinary(None),
    "a list allowed": lambda e: e.encode("x", allowed_special=["a"]),
    "a list allowed, nothing disallowed": lambda e: e.encode(
        "x", allowed_special=["a"], disallowed_special=()
    ),
    "keys allowed": lambda e: e.encode("x", allowed_special={ENDOFTEXT: 1}.keys()),
    "a string allowed": lambda e: e.encode("x", allowed_special=ENDOFTEXT),
    "nothing allowed": lambda e: e.encode("x", allowed_special=None),
    "nothing allowed or disallowed": lambda e: e.encode(
        "x", allowed_special=None, disallowed_special=()
    ),
    "None disallowed": lambda e: e.encode(ENDOFTEXT, disallowed_special=None),
    "a number disallowed": lambda e: e.encode("x", disallowed_special=5),
    "numbers disallowed": lambda e: e.encode("x", disallowed_special={5}),
    "numbers allowed": lambda e: e.encode("x", allowed_special={5}, disallowed_special=()),
    "an empty string disallowed": lambda e: e.encode("x", disallowed_special={""}),
    "a batch that is none": lambda e: e.encode_batch(5),
    "a batch of numbers": lambda e: e.encode_batch([5]),
    "an ordinary batch of numbers": lambda e: e.encode_ordinary_batch([5]),
    "a batch that is a str": lambda e: e.encode_batch("ab"),
    "a batch that is an iterator": lambda e: e.encode_batch(iter(["a"])),
    "a batch, a list allowed": lambda e: e.encode_batch(["a"], allowed_special=["a"]),
    "a batch, a list allowed, nothing disallowed": lambda e: e.encode_batch(
        ["a"], allowed_special=["a"], disallowed_special=()
    ),
    "an empty batch, a list allowed": lambda e: e.encode_batch(
        [], allowed_special=["a"], disallowed_special=()
    ),
    "a batch in no threads": lambda e: e.encode_batch(["a"], num_threads=0),
    "a batch in minus one": lambda e: e.encode_ordinary_batch(["a"], num_threads=-1),
    "a batch in any": lambda e: e.encode_batch(["a"], num_threads=None),
    "a batch in a half": lambda e: e.encode_batch(["a"], num_threads=1.5),
    "a batch in words": lambda e: e.encode_batch(["a"], num_threads="x"),
    "an array of a surrogate": lambda e: e.encode_to_numpy("\ud83d"),
    "unstable, a surrogate": lambda e: e.encode_with_unstable("\ud83d"),
    "unstable, a special token": lambda e: e.encode_with_unstable(ENDOFTEXT),
    "unstable, none": lambda e: e.encode_with_unstable(None),
    "a token": lambda e: e.encode_single_token("hello"),
    "a token in bytes": lambda e: e.encode_single_token(b" world"),
    "a special token": lambda e: e.encode_single_token(ENDOFTEXT),
    "no token": lambda e: e.encode_single_token("hello world"),
    "no token in bytes": lambda e: e.encode_single_token(b"\xff\xff\xfe"),
    "an empty token": lambda e: e.encode_single_token(""),
    "a token that is a number": lambda e: e.encode_single_token(5),
    "a token in a bytearray": lambda e: e.encode_single_token(bytearray(b"a")),
    "a token of a surrogate": lambda e: e.encode_single_token("\ud83d"),
    "nothing to decode": lambda e: e.decode([]),
    "a tuple": lambda e: e.decode_bytes((1, 2)),
    "a range": lambda e: e.decode_bytes(range(3)),
    "bytes to decode": lambda e: e.decode_bytes(b"ab"),
    "an array": lambda e: e.decode_bytes(array.array("I", [1, 2])),
    "a NumPy array": lambda e: e.decode(np.array([31, 5])),
    "an array of two dimensions": lambda e: e.decode(np.array([[31], [5]])),
    "floats": lambda e: e.decode(np.array([1.0])),
    "truth": lambda e: e.decode_bytes([True]),
    "an unknown id": lambda e: e.decode([31, 10**6]),
    "an unknown id in bytes": lambda e: e.decode_bytes([10**6, -1]),
    "a negative id": lambda e: e.decode_bytes([-1]),
    "an id too large": lambda e: e.decode_bytes([2**32]),
    "a str": lambda e: e.decode("ab"),
    "a number": lambda e: e.decode(5),
    "None": lambda e: e.decode(None),
    "a set": lambda e: e.decode({1, 2}),
    "a dict": lambda e: e.decode({1: 2}),
    "an iterator": lambda e: e.decode(iter([1])),
    "strings": lambda e: e.decode(["a"]),
    "a float": lambda e: e.decode([1.5]),
    "errors strict": lambda e: e.decode([128, 237][:1], errors="strict"),
    "errors ignored": lambda e: e.decode([187], "ignore"),
    "errors unknown": lambda e: e.decode([187], errors="zzz"),
    "errors unknown, none there": lambda e: e.decode([15], errors="zzz"),
    "errors None": lambda e: e.decode([15], errors=None),
    "one id": lambda e: e.decode_single_token_bytes(15),
    "one id of NumPy": lambda e: e.decode_single_token_bytes(np.int64(15)),
    "one special id": lambda e: e.decode_single_token_bytes(e.eot_token),
    "one unknown id": lambda e: e.decode_single_token_bytes(10**6),
    "one negative id": lambda e: e.decode_single_token_bytes(-1),
    "one str": lambda e: e.decode_single_token_bytes("a"),
    "one float": lambda e: e.decode_single_token_bytes(1.0),
    "one None": lambda e: e.decode_single_token_bytes(None),
    "each id": lambda e: e.decode_tokens_bytes([1, 2, e.eot_token]),
    "each of an iterator": lambda e: e.decode_tokens_bytes(iter([1])),
    "each, one unknown": lambda e: e.decode_tokens_bytes([1, 10**6]),
    "each of a number": lambda e: e.decode_tokens_bytes(5),
    "offsets of nothing": lambda e: e.decode_with_offsets([]),
    "offsets of bad bytes": lambda e: e.decode_with_offsets([187]),
    "offsets of a number": lambda e: e.decode_with_offsets(5),
    "texts": lambda e: e.decode_batch([[1], [2, 3]], errors="ignore", num_threads=2),
    "texts, one unknown": lambda e: e.decode_batch([[1], [10**6]]),
    "texts of numbers": lambda e: e.decode_batch([5]),
    "texts in no threads": lambda e: e.decode_batch([[1]], num_threads=0),
    "bytes of each": lambda e: e.decode_bytes_batch([[1], (2,)]),
    "n_vocab": lambda e: e.n_vocab,
    "max_token_value": lambda e: e.max_token_value,
    "eot_token": lambda e: e.eot_token,
    "special_tokens_set": lambda e: e.special_tokens_set,
    "name": lambda e: e.name,
    "repr": repr,
    "special": lambda e: [e.is_special_token(id) for id in (0, 5, 10**6, -1, e.eot_token)],
    "special, a str": lambda e: e.is_special_token("a"),
    "token_byte_values": lambda e: e.token_byte_values(),
    "piece": lambda e: e._encode_single_piece("helloqqqq"),
    "piece of bytes": lambda e: e._encode_single_piece(b"hell\xff"),
    "piece of a number": lambda e: e._encode_single_piece(5),
    "native": lambda e: e._encode_only_native_bpe("hello  world's 日本語"),
    "bytes of a str": lambda e: e._encode_bytes("a"),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_every_call(both, call):
    for name in ("gpt2", "cl100k_base"):
        theirs, ours = both(name)
        assert_same(outcome(lambda: call(theirs)), outcome(lambda: call(ours)))  # noqa: B023


def test_an_array_is_read_only(both):
    theirs, ours = both("gpt2")
    for encoding in (theirs, ours):
        ids = encoding.encode_to_numpy("hello world")
        assert ids.dtype == np.uint32
        assert not ids.flags.writeable


PARTS = [
    *"aAbZé日本語 の,.", *(" ", "\n", "  ", "\t", "\r\n", "\u3000", "\u2028", "\x1c", "\x85"),
    *("hello", " world", " fant", "12", "'s", "👍", ENDOFTEXT, "the", " the", "\ufffd"),
]  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_unstable_ids(both, name):
    theirs, ours = both(name)
    chooser = random.Random(7)
    # Every completion is tried, and the larger tables have thousands.
    for _ in range({"gpt2": 200, "cl100k_base": 100, "o200k_base": 50}[name]):
        text = "".join(chooser.choices(PARTS, k=chooser.randint(0, 8)))
        stable, completions = ours.encode_with_unstable(text, allowed_special="all")
        wanted = theirs.encode_with_unstable(text, allowed_special="all")
        assert (stable, completions) == (wanted[0], sorted(wanted[1])), ascii(text)
        for sequence in completions[:3]:
            whole = ours.decode_bytes(stable + sequence)
            assert whole.startswith(ours.decode_bytes(stable))


@pytest.mark.parametrize("name", TABLES)
def test_any_bytes(both, name):
    theirs, ours = both(name)
    chooser = random.Random(8)
    for size in (*range(12), 40, 500) * 40:
        text = bytes(chooser.choices(b"ab \n\xe6\x97\xa5\xff\x80\xf0\x9f", k=size))
        assert ours._encode_bytes(text) == theirs._encode_bytes(text), text
        if text:
            assert ours._encode_single_piece(text) == theirs._encode_single_piece(text), text


@given(st.binary(max_size=60))
def test_both_ways_of_merging_agree(piece):
    id_of = bytepair.get_encoding("cl100k_base")._model.id
    assert merged(piece, id_of) == merged_slowly(piece, id_of)


def test_merging_is_not_quadratic(both):
    _, ours = both("gpt2")
    piece = b"\xff" + b"ab" * 30_000
    assert ours.decode_bytes(ours._encode_bytes(piece)) == piece


@pytest.mark.parametrize("name", ["gpt2", "o200k_base"])
def test_offsets(both, name, corpus_text):
    theirs, ours = both(name)
    for kind in ("english", "chinese", "multilingual"):
        ids = ours.encode_ordinary(corpus_text(kind, 20_000))
        assert ours.decode_with_offsets(ids) == theirs.decode_with_offsets(ids)


@pytest.mark.parametrize("name", NAMES)
def test_every_token(both, name):
    theirs, ours = both(name)
    for id in range(0, ours.n_vocab, 1 if ours.n_vocab < 60_000 else 7):
        wanted = outcome(lambda: theirs.decode_single_token_bytes(id))  # noqa: B023
        found = outcome(lambda: ours.decode_single_token_bytes(id))  # noqa: B023
        if isinstance(wanted, bytes) and name == "o200k_harmony" and id == 200018:
            # tiktoken decodes this one to either of its two names.
            continue
        assert_same(wanted, found)
        if isinstance(found, bytes):
            assert ours.encode_single_token(found) == theirs.encode_single_token(found)
    assert ours.special_tokens_set == theirs.special_tokens_set


# ── The module ────────────────────────────────────────────────────────────────────────────────────


PUBLIC = [
    *(("Encoding", name) for name in vars(tiktoken.Encoding) if not name.startswith("_")),
    *((None, name) for name in vars(tiktoken) if not name.startswith("_")),
]


@pytest.mark.parametrize(("owner", "name"), PUBLIC)
def test_every_public_name_is_there(owner, name):
    if inspect.ismodule(getattr(tiktoken, name, None)) and owner is None:
        assert inspect.ismodule(getattr(compat, name, None))
        return
    theirs = getattr(getattr(tiktoken, owner) if owner else tiktoken, name)
    ours = getattr(getattr(compat, owner) if owner else compat, name)
    if not callable(theirs):
        assert not callable(ours)
        return
    wanted = inspect.signature(theirs).parameters
    found = inspect.signature(ours).parameters
    assert list(found) == list(wanted)
    for key, parameter in wanted.items():
        assert (found[key].kind, found[key].default) == (parameter.kind, parameter.default)


def test_the_other_modules_have_their_names():
    for theirs, ours in ((tiktoken.load, load), (tiktoken.registry, registry)):
        for name, value in vars(theirs).items():
            if inspect.isfunction(value) and value.__module__ == theirs.__name__:
                if name.startswith("_"):
                    continue
                wanted = inspect.signature(value).parameters
                found = inspect.signature(getattr(ours, name)).parameters
                assert [(p.name, p.kind, p.default) for p in found.values()] == [
                    (p.name, p.kind, p.default) for p in wanted.values()
                ]
    assert registry.ENCODINGS is compat.registry.ENCODINGS
    assert compat.__version__ == tiktoken.__version__


def test_models():
    assert compat.model.MODEL_TO_ENCODING == tiktoken.model.MODEL_TO_ENCODING
    assert compat.model.MODEL_PREFIX_TO_ENCODING == tiktoken.model.MODEL_PREFIX_TO_ENCODING
    names = [
        *tiktoken.model.MODEL_TO_ENCODING,
        *(f"{prefix}x" for prefix in tiktoken.model.MODEL_PREFIX_TO_ENCODING),
        *("gpt-4.5", "gpt-5.1-mini", "gpt-5x", "o1", "o1mini", "", "zz", "GPT-4", "ft:gpt-4o:x"),
    ]
    for name in [*names, 5, []]:
        wanted = outcome(lambda: tiktoken.encoding_name_for_model(name))  # noqa: B023
        assert_same(wanted, outcome(lambda: compat.encoding_name_for_model(name)))  # noqa: B023
        if isinstance(wanted, str):
            assert compat.encoding_for_model(name).name == wanted


def test_names():
    assert set(compat.list_encoding_names()) == set(tiktoken.list_encoding_names())
    for name in (5, "zz", None):
        wanted = outcome(lambda: tiktoken.get_encoding(name))  # noqa: B023
        assert_same(wanted, outcome(lambda: compat.get_encoding(name)))  # noqa: B023
    assert compat.get_encoding("gpt2") is compat.get_encoding("gpt2")
    constructor = registry.ENCODING_CONSTRUCTORS["r50k_base"]
    assert compat.Encoding(**constructor()).encode("hello world") == [31373, 995]


# ── Encodings of one's own ────────────────────────────────────────────────────────────────────────


def ranks(*more: bytes) -> dict[bytes, int]:
    return {token: id for id, token in enumerate([*(bytes([b]) for b in range(256)), *more])}


GOOD = {
    "pat_str": r"\S+|\s+",
    "mergeable_ranks": ranks(b"ab", b"abc"),
    "special_tokens": {"<s>": 258},
}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"explicit_n_vocab": 259},
        {"explicit_n_vocab": 300},
        {"special_tokens": {"<s>": 300}, "explicit_n_vocab": 259},
        {"special_tokens": {}},
        {"special_tokens": {"<s>": 258, "<t>": 258}},
        {"special_tokens": {"<s>": 258, "a": 259}},
        {"special_tokens": ["<s>"]},
        {"mergeable_ranks": {}},
        {"mergeable_ranks": [(b"a", 0)]},
        {"mergeable_ranks": {b"a": "0"}},
        {"mergeable_ranks": {b"a": -1, b"b": 0}},
        {"mergeable_ranks": {b"a": 2**32}},
        {"mergeable_ranks": {"a": 0}},
        {"pat_str": 5},
    ],
)
def test_an_encoding_of_ones_own(changes):
    def make(cls):
        encoding = cls("own", **GOOD | changes)
        texts = ("abc ab <s> xabcabc", "", "日本")
        ids = [
            encoding.encode(text, allowed_special="all", disallowed_special=()) for text in texts
        ]
        return encoding.n_vocab, ids, [encoding.decode(row) for row in ids[:1]]

    assert_same(outcome(lambda: make(tiktoken.Encoding)), outcome(lambda: make(compat.Encoding)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pat_str": "("}, "Opening parenthesis without closing"),
        ({"mergeable_ranks": {b"a": 0, b"b": 0}}, "ranks must be unique"),
        ({"special_tokens": {"": 258}}, "a special token is empty"),
        ({"special_tokens": {"<s>": 65}}, 'special token "<s>" has id 65'),
    ],
)
def test_what_tiktoken_panics_at_or_lets_pass(changes, message):
    with pytest.raises(ValueError, match=message):
        compat.Encoding("own", **GOOD | changes)


def test_a_byte_that_no_token_covers():
    encoding = compat.Encoding("a", pat_str=".", mergeable_ranks={b"a": 0}, special_tokens={})
    assert encoding.encode("aa") == [0, 0]
    for call in (encoding.encode, encoding._encode_single_piece):
        with pytest.raises(ValueError, match=r"no token"):
            call("ab")
    with pytest.raises(KeyError):
        _ = encoding.eot_token


def test_no_text_is_dropped():
    encoding = compat.Encoding("own", **GOOD | {"pat_str": "abc"})
    assert encoding.decode(encoding.encode("xx abc yy")) == "xx abc yy"


def test_the_longest_special_token():
    tokens = {"<a>": 300, "<a><b>": 301}
    encoding = compat.Encoding("own", **GOOD | {"special_tokens": tokens})
    assert encoding.encode("<a><b><a>", allowed_special="all") == [301, 300]
    with pytest.raises(ValueError, match="special token '<a><b>'"):
        encoding.encode("x<a><b>")


def test_tokens_that_no_merge_makes():
    # b"xyz" is found as a whole piece alone, as in Llama 3.
    table = ranks(b"xyz", b"ab")
    theirs, ours = (
        cls("own", **GOOD | {"mergeable_ranks": table, "special_tokens": {}})
        for cls in (tiktoken.Encoding, compat.Encoding)
    )
    for text in ("xyz", "xyzab", "axyz xyz ab", "xyz "):
        assert ours.encode(text) == theirs.encode(text)
        stable, completions = ours.encode_with_unstable(text)
        wanted = theirs.encode_with_unstable(text)
        assert (stable, completions) == (wanted[0], sorted(wanted[1]))


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))]
)
def test_copies(copied):
    for encoding in (compat.get_encoding("cl100k_base"), compat.Encoding("own", **GOOD)):
        again = copied(encoding)
        assert again.name == encoding.name
        assert again.encode("abc hello") == encoding.encode("abc hello")
        assert again.special_tokens_set == encoding.special_tokens_set
    assert len(pickle.dumps(compat.get_encoding("cl100k_base"))) < 200


# ── Files ─────────────────────────────────────────────────────────────────────────────────────────

OPENAI = "https://openaipublic.blob.core.windows.net/"


def test_openai_addresses_without_a_network(both):
    hashes = {
        "r50k_base": "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
        "p50k_base": "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
        "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    }
    for name, hash in hashes.items():
        found = load.load_tiktoken_bpe(f"{OPENAI}encodings/{name}.tiktoken", hash)
        assert found == compat.get_encoding(name)._mergeable_ranks
    files_of_gpt2 = load.data_gym_to_mergeable_bpe_ranks(
        f"{OPENAI}gpt-2/encodings/main/vocab.bpe",
        f"{OPENAI}gpt-2/encodings/main/encoder.json",
        "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
        "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
    )
    assert files_of_gpt2 == compat.get_encoding("gpt2")._mergeable_ranks
    with pytest.raises(OSError, match="is not fetched: bytepair uses no network"):
        load.read_file("https://example.org/x.tiktoken")


def test_tiktokens_cache_is_read(tmp_path, monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    address = "https://example.org/x.tiktoken"
    with monkeypatch.context() as patch:
        patch.setattr(tiktoken.load, "read_file", lambda _: b"YQ== 0\n")
        tiktoken.load.read_file_cached(address)
    assert load.load_tiktoken_bpe(address) == {b"a": 0}
    wrong = "0" * 64
    with pytest.raises(OSError, match="not fetched"):
        load.load_tiktoken_bpe(address, wrong)
    assert list(tmp_path.iterdir()) != []


def test_rank_files(tmp_path, monkeypatch):
    # tiktoken keeps what it has read by its path.
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    table = ranks(b"ab", b"\xff\xfe\n")
    path = tmp_path / "own.tiktoken"
    load.dump_tiktoken_bpe(dict(reversed(table.items())), str(path))
    assert load.load_tiktoken_bpe(str(path)) == tiktoken.load.load_tiktoken_bpe(str(path)) == table
    for content in (b"YQ==\n", b"a b c\n", b"YQ== x\n", b"!!! 0\n", b"\n\nYQ== 0\n\n"):
        path.write_bytes(content)
        wanted = outcome(lambda: tiktoken.load.load_tiktoken_bpe(str(path)))
        found = outcome(lambda: load.load_tiktoken_bpe(str(path)))
        assert_same(wanted, found)
        if isinstance(wanted, Exception):
            assert str(found) == str(wanted)
    assert base64.b64encode(b"a") == b"YQ=="


def test_another_hash(tmp_path, monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "own.tiktoken"
    path.write_bytes(b"YQ== 0\n")
    for module in (tiktoken.load, load):
        with pytest.raises(ValueError, match="Hash mismatch for data downloaded from"):
            module.load_tiktoken_bpe(str(path), "0" * 64)


def test_files_that_do_not_agree(tmp_path):
    vocab, encoder = tmp_path / "vocab.bpe", tmp_path / "encoder.json"
    vocab.write_text("#version: 0.2\na b\n", encoding="utf-8")
    encoder.write_text('{"a": 0}', encoding="utf-8")
    for module in (tiktoken.load, load):
        with pytest.raises(AssertionError):
            module.data_gym_to_mergeable_bpe_ranks(str(vocab), str(encoder))


def test_nothing_else_is_imported():
    code = (
        "import sys; before = set(sys.modules)\n"
        "from bytepair.compat import tiktoken\n"
        "tiktoken.get_encoding('gpt2').encode('hello')\n"
        "print(*{name.split('.')[0] for name in set(sys.modules) - before})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    strangers = set(done.stdout.split()) - set(sys.stdlib_module_names)
    assert strangers <= {"bytepair", "tiktoken_ext"}


# ── The one to be watched ─────────────────────────────────────────────────────────────────────────


def test_the_educational_encoder(capsys):
    from tiktoken import _educational as theirs

    text = "hello world, 日本語 the the"
    ours = _educational.SimpleBytePairEncoding.from_tiktoken("gpt2")
    own = theirs.SimpleBytePairEncoding(pat_str=ours.pat_str, mergeable_ranks=ours.mergeable_ranks)
    for visualise in (None, "colour", "simple"):
        wanted = own.encode(text, visualise)
        shown = capsys.readouterr().out
        assert ours.encode(text, visualise) == wanted
        assert capsys.readouterr().out == shown
    assert ours.decode(wanted) == text
    assert ours.decode_tokens_bytes(wanted) == own.decode_tokens_bytes(wanted)


def test_educational_training(capsys):
    from tiktoken import _educational as theirs

    corpus = files("bytepair").joinpath("data", "sample_corpus.txt").read_text("utf-8")[:8000]
    pattern = bytepair.patterns.regex("gpt2")
    wanted = theirs.bpe_train(corpus, 300, pattern, visualise=None)
    assert _educational.bpe_train(corpus, 300, pattern, visualise=None) == wanted
    made = _educational.SimpleBytePairEncoding.train(corpus, 260, pattern)
    assert made.mergeable_ranks == dict(list(wanted.items())[:260])
    assert "make token 259" in capsys.readouterr().out
    with pytest.raises(ValueError, match="at least 256"):
        _educational.bpe_train(corpus, 5, pattern)
