"""Characters to tokens and back: by the definition, in every unit, computed when asked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bytepair
from bytepair import Alignment, errors
from text_support import PART, SPECIAL, small_tokenizer

GPT2 = bytepair.get_encoding("gpt2")
TOKENIZERS = {
    "gpt2": GPT2,
    **{kind: small_tokenizer(kind, SPECIAL) for kind in ("o200k", "none")},
}


@pytest.mark.parametrize("kind", TOKENIZERS)
@pytest.mark.parametrize("unit", ["char", "byte", "utf16"])
@given(text=st.lists(st.one_of(PART, st.text(max_size=3)), max_size=15).map("".join))
def test_look_ups_are_their_definition(kind, unit, text):
    tokenizer = TOKENIZERS[kind]
    alignment = tokenizer.align(text)
    ids, spans = tokenizer.encode_with_offsets(text, unit=unit)
    assert (alignment.ids, alignment.spans(unit=unit)) == (ids, spans)
    sizes = {"char": len(text), "byte": len(text.encode())}
    size = sizes.get(unit, len(text.encode("utf-16-le")) // 2)
    for place in range(size):
        covering = [at for at, (start, end) in enumerate(spans) if start <= place < end]
        assert list(alignment.char_to_tokens(place, unit=unit)) == covering
        assert alignment.char_to_token(place, unit=unit) == covering[0]
    for place in (-1, size):
        with pytest.raises(IndexError, match=f"place {place} "):
            alignment.char_to_token(place, unit=unit)


def test_case_70_repeated_characters():
    alignment = GPT2.align("\U0001f4a9" * 4)
    assert [alignment.char_to_token(at) for at in range(4)] == [0, 3, 6, 9]


def test_case_72_spaces_belong_to_tokens():
    alignment = GPT2.align("a  b")
    assert [alignment.char_to_token(at) for at in range(4)] == [0, 1, 2, 2]


def test_case_73_special_tokens_are_their_literal():
    tokenizer = GPT2.with_special_tokens(["<mask>"])
    alignment = tokenizer.align("A, <mask> B")
    token = alignment.char_to_token(5)
    assert alignment.token_to_chars(token) == (3, 9)
    assert alignment.ids[token] == tokenizer.special_tokens["<mask>"]
    assert all(
        alignment.text[start:end] == tokenizer.decode([id])
        for id, (start, end) in zip(alignment.ids, alignment.spans(), strict=True)
    )
    plain = tokenizer.align("A, <mask> B", allowed_special=())
    assert len(plain) > len(alignment)


def test_one_alignment_has_every_unit():
    alignment = GPT2.align("\u00e9\N{ELEPHANT} x")
    assert isinstance(alignment, Alignment)
    last = len(alignment) - 1
    assert alignment.token_to_chars(last) == (2, 4)
    assert alignment.token_to_bytes(last) == (6, 8)
    assert alignment.token_to_utf16(last) == (3, 5)
    with pytest.raises(IndexError):
        alignment.token_to_chars(len(alignment))
    assert repr(alignment) == f"<Alignment of 4 characters and {last + 1} tokens>"


def test_nothing_is_computed_before_it_is_asked_for():
    alignment = GPT2.align("\ud800")  # encoding it would fail
    assert alignment.text == "\ud800"
    with pytest.raises(UnicodeEncodeError):
        _ = alignment.ids
    with pytest.raises(errors.ArgumentError, match="unit"):
        GPT2.align("x").spans(unit="word")


def test_a_normalizer_that_rewrites_the_text_is_refused_by_name():
    tokenizer = bytepair.Tokenizer({b: bytes([b]) for b in range(256)}, [], normalizer="NFC")
    assert tokenizer.align("x").spans() == [(0, 1)]
    text = "e\u0301x"
    assert tokenizer.align(text).spans() == [(0, 1), (0, 1), (2, 3)]
    assert tokenizer.truncate(text, 1) == tokenizer.truncate_batch([text], 1)[0] == "e"
    with pytest.raises(errors.ArgumentError, match=r"normalizer \(NFC\)"):
        tokenizer.encode_with_unstable(text)
    lower = bytepair.Tokenizer({b: bytes([b]) for b in range(256)}, [], normalizer="Lowercase")
    for call in (
        lambda: lower.align("Ax").spans(),
        lambda: lower.encode_with_offsets("Ax", unit="byte"),
        lambda: lower.encode_with_unstable("Ax"),
    ):
        with pytest.raises(errors.ArgumentError, match=r"normalizer \(Lowercase\)"):
            call()
