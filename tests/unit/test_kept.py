"""What is kept for a tokenizer: made once, by identity, gone with it."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

import bytepair
from bytepair import Tokenizer
from bytepair._beginnings import beginnings
from bytepair._by_count import _longest_token
from bytepair._kept import kept
from bytepair._places import _plain
from text_support import small_tokenizer


class Made:
    """Something that can be watched."""


def test_it_is_made_once_for_each_object():
    calls = []

    @kept
    def make(tokenizer: Tokenizer) -> Made:
        calls.append(tokenizer)
        return Made()

    one, two = small_tokenizer("gpt2", []), small_tokenizer("gpt2", [])
    assert one == two
    assert make(one) is make(one)
    assert make(one) is not make(two)
    assert len(calls) == 2


def test_it_goes_with_the_object():
    make = kept(lambda _: Made())
    key = small_tokenizer("gpt2", [])
    gone = weakref.ref(make(key))
    assert gone() is not None
    del key
    gc.collect()
    assert gone() is None


def test_many_threads_ask_at_once():
    make = kept(lambda key: [id(key)])

    def ask(_: int) -> bool:
        key = Made()
        return make(key) == [id(key)] == make(key)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(2000)))


@pytest.mark.parametrize("made", [beginnings, _longest_token, _plain])
def test_no_tokenizer_outlives_its_name(made):
    tokenizer = Tokenizer({byte: bytes([byte]) for byte in range(256)}, [], normalizer="NFC")
    gone = weakref.ref(tokenizer)
    made(tokenizer)
    del tokenizer
    gc.collect()
    assert gone() is None


def test_an_error_is_not_kept():
    answers = iter([ValueError("once"), 7])

    def make(_: object) -> int:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    get, key = kept(make), bytepair.get_encoding("gpt2")
    with pytest.raises(ValueError, match="once"):
        get(key)
    assert get(key) == 7
