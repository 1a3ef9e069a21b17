"""Token healing: what holds, and what may come, against brute force and tiktoken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bytepair
from bytepair import Healed, Tokenizer, errors

GPT2 = bytepair.get_encoding("gpt2")
CL100K = bytepair.get_encoding("cl100k_base")
TEXTS = ["hello fanta", "http:", "def f(", "a  ", "x\n\n", "caf\u00e9", "\u4e2d", "12", "it'", ""]
TEXTS += ["<|endoftext|>", "hello <|endoftext|> wor", " ", "ab \n ", "foo.ba"]


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base"])
@pytest.mark.parametrize("text", TEXTS)
def test_unstable_tokens_are_those_of_tiktoken(name, text, tiktoken_encoding):
    ours, theirs = bytepair.get_encoding(name), tiktoken_encoding(name)
    for allowed in ("all", set()):
        expected = theirs.encode_with_unstable(text, allowed_special=allowed, disallowed_special=())
        stable, rows = ours.encode_with_unstable(text, allowed_special=allowed)
        assert stable == expected[0]
        assert rows == sorted(map(list, expected[1]))


def test_case_181():
    stable, rows = CL100K.encode_with_unstable("hello fanta")
    assert stable == [15339]
    begins = [
        id for id, token in CL100K.vocab.items() if token.startswith(b" fanta") and id < 100256
    ]
    assert begins
    assert all([id] in rows for id in begins)


# Merges that make tokens which straddle most ends.
SMALL = Tokenizer(
    {byte: bytes([byte]) for byte in range(256)}
    | dict(enumerate([b"ab", b"abc", b"bc", b"bcd", b"://"], 256))
    | {261: b":/"},
    [(b"a", b"b"), (b"ab", b"c"), (b"b", b"c"), (b"bc", b"d"), (b":", b"/"), (b":/", b"/")],
    {"<s>": 300},
    pattern=None,
)


@given(text=st.text("abcd:/", min_size=1, max_size=6), more=st.text("abcd:/", max_size=6))
def test_what_follows_begins_with_a_row(text, more):
    """Whatever comes, the ids of the whole are the stable ones and one of the rows."""
    stable, rows = SMALL.encode_with_unstable(text)
    ids = SMALL.encode(text + more)
    assert ids[: len(stable)] == stable
    rest = ids[len(stable) :]
    assert any(rest[: len(row)] == row for row in rows)


@given(ids=st.lists(st.integers(97, 261), max_size=8))
def test_healing_takes_back_the_longest_beginning_of_a_token(ids):
    healed = SMALL.heal(ids)
    tokens = [token for id, token in SMALL.vocab.items() if id != 300]
    ends = [b"".join(SMALL.token_bytes(id) for id in ids[at:]) for at in range(len(ids))]
    open_ends = [
        end for end in ends if any(len(t) > len(end) and t.startswith(end) for t in tokens)
    ]
    assert healed.tail == (open_ends[0] if open_ends else b"")
    assert healed.stable == ids[: len(healed.stable)]
    assert SMALL.decode_bytes(ids) == SMALL.decode_bytes(healed.stable) + healed.tail
    for row in healed.completions:
        assert SMALL.decode_bytes(row).startswith(healed.tail)
        assert len(SMALL.decode_bytes(row[:-1])) < len(healed.tail)


def test_a_prompt_that_ends_with_a_colon():
    healed = GPT2.heal(GPT2.encode("see https:"))
    assert healed.stable == GPT2.encode("see https")
    assert healed.tail == b":"
    assert GPT2.encode("://") in healed.completions


def test_what_needs_no_healing():
    assert GPT2.heal([]) == Healed([], b"", [])
    assert GPT2.heal([31373, 50256]) == Healed([31373, 50256], b"", [])
    assert GPT2.encode_with_unstable("") == ([], [])
    assert SMALL.heal([300]).tail == b""


def test_what_is_refused():
    with pytest.raises(errors.UnknownTokenError, match="60000 at position 1"):
        GPT2.heal([1, 60000])
    with pytest.raises(errors.ArgumentError, match="2000 bytes"):
        GPT2.encode_with_unstable("a" * 2_000)
    with pytest.raises(errors.SpecialTokenError):
        GPT2.encode_with_unstable("<|endoftext|>", allowed_special=(), disallowed_special="all")


def test_special_tokens_of_white_space_hold():
    chat = GPT2.with_special_tokens(["\n\n"])
    stable, rows = chat.encode_with_unstable("a\n\n ")
    assert stable == [64, 50257]
    assert [220] in rows
