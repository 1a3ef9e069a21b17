"""Who may use special tokens: any collection, per call, and an error that says what to do."""

from __future__ import annotations

import pytest

import bytepair
from bytepair import errors

GPT2 = bytepair.get_encoding("gpt2")
END = "<|endoftext|>"
TEXT = f"a {END}"
PLAIN = GPT2.encode_ordinary(TEXT)

ONE = [{END}, [END], (END,), frozenset({END}), {END: 1}, {END: 1}.keys(), iter([END]), "all"]
NONE = [set(), [], (), frozenset(), {}, iter(())]


@pytest.mark.parametrize("allowed", ONE, ids=lambda kind: type(kind).__name__)
def test_any_collection_allows(allowed):
    assert GPT2.encode(TEXT, allowed_special=allowed) == [64, 220, 50256]


@pytest.mark.parametrize("allowed", NONE, ids=lambda kind: type(kind).__name__)
def test_an_empty_collection_allows_nothing(allowed):
    assert GPT2.encode(TEXT, allowed_special=allowed) == PLAIN


@pytest.mark.parametrize("disallowed", [*ONE[:6], "all"], ids=lambda kind: type(kind).__name__)
def test_any_collection_disallows(disallowed):
    calls = [
        GPT2.encode,
        GPT2.count,
        GPT2.token_strings,
        GPT2.encode_with_offsets,
        GPT2.encode_with_unstable,
        lambda text, **options: GPT2.encode_batch([text], **options),
        lambda text, **options: GPT2.count_batch([text], **options),
        lambda text, **options: GPT2.fits_batch([text], 1, **options),
        lambda text, **options: GPT2.truncate_batch([text], 1, **options),
        lambda text, **options: GPT2.chunk_batch([text], 1, **options),
        lambda text, **options: list(GPT2.encode_iterable([text], **options)),
        lambda text, **options: GPT2.stream_encoder(**options).feed(text),
        lambda text, **options: GPT2.truncate(text, 1, **options),
        lambda text, **options: GPT2.chunk(text, 1, **options),
        lambda text, **options: GPT2.fits(text, 1, **options),
        lambda text, **options: GPT2.align(text, **options).ids,
        lambda text, **options: GPT2.encode(text, dropout=0.1, seed=1, **options),
    ]
    for call in calls:
        with pytest.raises(errors.SpecialTokenError):
            call(TEXT, allowed_special=(), disallowed_special=disallowed)


def test_the_error_says_which_where_and_the_three_ways():
    with pytest.raises(errors.SpecialTokenError) as caught:
        GPT2.encode(TEXT, allowed_special=(), disallowed_special="all")
    message = str(caught.value)
    for part in (END, "at byte 2", "allowed_special", "disallowed_special", "encode_ordinary"):
        assert part in message
    assert isinstance(caught.value, ValueError)


def test_what_is_no_collection():
    with pytest.raises(TypeError, match=r"write \{\"<\|endoftext\|>\"\} for one token"):
        GPT2.encode(TEXT, allowed_special=END)
    with pytest.raises(TypeError, match="a token in allowed_special must be str, not int"):
        GPT2.encode(TEXT, allowed_special=[50256])
    with pytest.raises(TypeError, match="disallowed_special"):
        GPT2.encode(TEXT, disallowed_special=5)
