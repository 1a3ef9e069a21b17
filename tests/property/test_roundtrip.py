"""What holds for every text: decoding gives it back, and all ways to encode agree."""

from __future__ import annotations

import functools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bytepair
from bytepair import Tokenizer, reference

ENCODINGS = ["gpt2", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony"]
SPECIAL = ["<|a|>", "<|a|><|a|>", "<|", " the", "a\n"]
BYTES = {byte: bytes([byte]) for byte in range(256)}
CORPUS = "the cat and the hat, the bat and the rat: 1234 1234 中文中文 été \n\n\n    x  "

# Any text, and text of the few characters that patterns care about.
SPICY = st.sampled_from(
    [*" \t\n\r'aAsStT1é\u0301中Ω\u00a0\u2028\u3000_-/🙂", "'ll", "<|a|>", "<|", "|>", "  ", "the"]
)
TEXT = st.text(max_size=60) | st.lists(SPICY, max_size=40).map("".join)


@functools.cache
def tokenizer(name: str) -> Tokenizer:
    if name in ENCODINGS:
        return bytepair.get_encoding(name)
    own = {"none": None, "words": r"\w+|\W", "sequence": [r"\p{N}", r" ?\p{L}+"]}
    pattern = own.get(name, name)
    with pytest.warns(bytepair.errors.TrainingWarning):
        return bytepair.train(iter([CORPUS]), 2_000, special_tokens=SPECIAL, pattern=pattern)


KINDS = [*ENCODINGS, "llama3", "tekken", "deepseek_v3", "none", "words", "sequence"]


@pytest.mark.parametrize("kind", KINDS)
@given(text=TEXT)
def test_decode_gives_the_text_back(kind, text):
    encoding = tokenizer(kind)
    for ids in (encoding.encode(text), encoding.encode_ordinary(text)):
        assert encoding.decode(ids) == text
        assert encoding.decode(ids, errors="strict") == text
        assert encoding.decode_bytes(ids) == text.encode()
        assert b"".join(map(encoding.token_bytes, ids)) == text.encode()


@pytest.mark.parametrize("kind", KINDS)
@given(text=TEXT)
def test_all_ways_to_encode_agree(kind, text):
    encoding = tokenizer(kind)
    ids = encoding.encode(text)
    assert encoding.count(text) == len(ids)
    assert encoding.count(text, limit=3) == min(len(ids), 4)
    assert encoding.encode_batch([text, "x", text]) == [ids, encoding.encode("x"), ids]
    assert list(encoding.encode_iterable([text])) == ids
    assert encoding.encode_ordinary(text) == encoding.encode(text, allowed_special=())
    assert len(encoding.token_strings(text)) == len(ids)


@pytest.mark.parametrize("kind", KINDS)
@given(text=TEXT)
def test_pieces_are_the_text(kind, text):
    pieces = bytepair.patterns.pretokenize(text, tokenizer(kind).pattern)
    assert "".join(pieces) == text
    assert "" not in pieces
    encoding = tokenizer(kind)
    by_piece = [id_ for piece in pieces for id_ in encoding_of_piece(encoding, piece)]
    assert by_piece == encoding.encode_ordinary(text)


@functools.cache
def whole(encoding: Tokenizer) -> Tokenizer:
    """The same tokenizer without a pattern: its pieces are whole texts."""
    special = set(encoding.special_tokens.values())
    vocab = {id_: token for id_, token in encoding.vocab.items() if id_ not in special}
    if encoding.merge_rule == "ranks":
        return Tokenizer(vocab, None, pattern=None, merge_rule="ranks")
    return Tokenizer(vocab, encoding.merges, pattern=None)


def encoding_of_piece(encoding: Tokenizer, piece: str) -> list[int]:
    return whole(encoding).encode_ordinary(piece)


@given(text=TEXT, ids=st.lists(st.integers(0, 50256), max_size=20))
def test_decoding_any_ids(text, ids):
    """Ids that no text gives decode too, and as their bytes say."""
    gpt2 = bytepair.get_encoding("gpt2")
    raw = b"".join(map(gpt2.token_bytes, ids))
    assert gpt2.decode_bytes(ids) == raw
    assert gpt2.decode(ids) == raw.decode("utf-8", errors="replace")
    assert gpt2.decode_batch([ids, []]) == [gpt2.decode(ids), ""]


@functools.cache
def slow(name: str) -> reference.BPETokenizer:
    encoding = tokenizer(name)
    return reference.BPETokenizer(
        dict(encoding.vocab),
        encoding.merges,
        encoding.special_tokens,
        pattern=encoding.pattern,
        merge_rule=encoding.merge_rule,
    )


@pytest.mark.parametrize("kind", ["gpt2", "o200k_base", "none", "words"])
@given(text=TEXT)
def test_the_reference_gives_the_same_ids(kind, text):
    assert tokenizer(kind).encode(text) == slow(kind).encode(text)
    assert tokenizer(kind).encode_ordinary(text) == slow(kind).encode_ordinary(text)


TOKENS = st.text("ab", min_size=1, max_size=4).map(str.encode)


@given(tokens=st.lists(TOKENS, unique=True, max_size=20), text=st.text("ab", max_size=60))
def test_ranks_of_any_table(tokens, text):
    """Tables that no training makes: tokens that merges do not reach, several splits of a token."""
    ranks = {token: rank for rank, token in enumerate([b"a", b"b", *tokens])}
    ranks = {token: rank for rank, token in enumerate(dict.fromkeys(ranks))}
    ours = Tokenizer.from_ranks(ranks, pattern=None)
    expected = reference.merge_by_ranks(text.encode(), ranks) if text else ()
    assert ours.encode(text) == [ranks[token] for token in expected]


@given(
    parts=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=15),
    text=st.text("abc", max_size=60),
    data=st.data(),
)
def test_pairs_in_any_order(parts, text, data):
    """Merges that no training makes: a merge may come before those that make its parts."""
    vocab = [b"a", b"b", b"c"]
    pairs = []
    for left, right in parts:
        pair = vocab[left % len(vocab)], vocab[right % len(vocab)]
        if len(pair[0] + pair[1]) <= 8 and pair not in pairs:
            pairs.append(pair)
            vocab.append(pair[0] + pair[1])
    pairs = data.draw(st.permutations(pairs))
    ours = Tokenizer(dict(enumerate(vocab)), pairs, pattern=None)
    ranks = {pair: rank for rank, pair in enumerate(pairs)}
    tokens = reference.merge_by_pairs(text.encode(), ranks)
    assert ours.encode(text) == [vocab.index(token) for token in tokens]
