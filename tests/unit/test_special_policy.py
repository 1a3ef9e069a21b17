"""Who may use special tokens: any collection, per call, and an error that says what to do."""

from __future__ import annotations

import json

import pytest

import bytepair
from bytepair import errors
from patience_support import assert_linear, seconds

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
    for part in (END, "at character 2", "allowed_special", "disallowed_special", "encode_ordinary"):
        assert part in message
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("call", "place"),
    [
        (GPT2.encode, "character 1 (byte 2),"),
        (GPT2.count, "character 1 (byte 2),"),
        (lambda text, **options: GPT2.encode(b"\xff" + text.encode(), **options), "byte 3,"),
        (
            lambda text, **options: GPT2.encode_batch(["a", text], **options),
            "character 1 (byte 2) of text 1,",
        ),
        (
            lambda text, **options: GPT2.count_batch([text], **options),
            "character 1 (byte 2) of text 0,",
        ),
        (
            lambda text, **options: GPT2.fits_batch(["", text], 1, **options),
            "character 1 (byte 2) of text 1,",
        ),
        (
            lambda text, **options: GPT2.encode("é " * 10**6 + text, threads=2, **options),
            "character 2000001 (byte 3000002),",
        ),
        (
            lambda text, **options: list(GPT2.encode_iterable(["é " * 9000, text], **options)),
            "character 18001 (byte 27002),",
        ),
    ],
)
def test_places_are_characters_of_a_str(call, place):
    with pytest.raises(errors.SpecialTokenError) as caught:
        call(f"é{END}", allowed_special=(), disallowed_special="all")
    assert f" at {place}" in str(caught.value)


def test_a_long_special_token_that_repeats_itself_costs_no_square(tmp_path):
    def work(size: int) -> None:
        name = "a" * size
        longer = GPT2.with_special_tokens([name, f"<{'ab' * size}>"])
        assert longer.encode(f"b{name * 2}") == [*GPT2.encode("b"), 50257, 50257]
        assert list(longer.encode_iterable([f"b{name}", name])) == [*GPT2.encode("b"), 50257, 50257]
        assert longer.encode(name[1:]) == GPT2.encode(name[1:])

    assert_linear(work, 100_000, 2)
    name = "a" * 100_000
    added = tmp_path / "tokenizer.json"
    GPT2.save(tmp_path, format="huggingface")
    content = json.loads(added.read_text())
    content["added_tokens"].append({**content["added_tokens"][0], "id": 50257, "content": name})
    added.write_text(json.dumps(content))
    loaded = []
    assert seconds(lambda: loaded.append(bytepair.Tokenizer.load(added)), tries=1) < 10
    assert loaded[0].encode(name) == [50257]


def test_what_is_no_collection():
    with pytest.raises(TypeError, match=r"write \{\"<\|endoftext\|>\"\} for one token"):
        GPT2.encode(TEXT, allowed_special=END)
    with pytest.raises(TypeError, match="a token in allowed_special must be str, not int"):
        GPT2.encode(TEXT, allowed_special=[50256])
    with pytest.raises(TypeError, match="disallowed_special"):
        GPT2.encode(TEXT, disallowed_special=5)
