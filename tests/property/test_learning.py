"""Training gives what the definition gives, under every rule, on corpora full of ties and runs."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bytepair import PieceCounts, Tokenizer, reference, train

RULES = ["lexicographic", "lowest_ids", "huggingface"]
# Few letters and many repetitions, so that almost every step is a tie; a space and a newline, which
# the rules order differently; a letter of two bytes.
WORD = st.text("ab", min_size=1, max_size=12) | st.text("ab \n!é", min_size=1, max_size=10)
COUNTS = st.dictionaries(WORD.map(str.encode), st.integers(1, 4), max_size=8)
PART = st.sampled_from([*"aab \n!é", "<|", "<|e|>", "ab", "aaaa"])
TEXT = st.lists(PART, max_size=60).map("".join)


def learn(corpus, vocab_size: int, **options) -> Tokenizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return train(corpus, vocab_size, **options)


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=5 * settings.default.max_examples)  # cheap, and the heart of it
@given(
    counts=COUNTS,
    wanted=st.integers(0, 40),
    min_count=st.integers(1, 3),
    most=st.none() | st.integers(1, 6),
)
def test_counts(rule, counts, wanted, min_count, most):
    expected = reference.learn_merges_slowly(counts, wanted, reference.Rules(rule, min_count, most))
    ours = learn(
        PieceCounts(counts),
        256 + wanted,
        special_tokens=[],
        tie_break=rule,
        min_count=min_count,
        max_token_bytes=most,
    )
    assert ours.merges == expected


@pytest.mark.parametrize("rule", RULES)
@given(text=TEXT, pattern=st.sampled_from(["gpt2", "cl100k", None]), wanted=st.integers(0, 40))
def test_texts(rule, text, pattern, wanted):
    special, size = ["<|e|>"], 257 + wanted
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        vocab, merges = reference.train_bpe_reference(
            text, size, special, pattern=pattern, tie_break=rule
        )
    ours = learn(iter([text]), size, special_tokens=special, pattern=pattern, tie_break=rule)
    assert ours.merges == merges
    assert dict(ours.vocab) == vocab
    assert ours.decode(ours.encode(text)) == text


@pytest.mark.parametrize("rule", RULES)
@given(texts=st.lists(TEXT, max_size=6), data=st.data())
def test_the_order_of_texts_does_not_matter(rule, texts, data):
    shuffled = data.draw(st.permutations(texts))
    options = {"special_tokens": ["<|e|>"], "tie_break": rule}
    assert learn(iter(texts), 290, **options) == learn(iter(shuffled), 290, **options)


@given(text=TEXT, wanted=st.integers(0, 40), less=st.integers(0, 40))
def test_a_smaller_vocab_is_a_prefix(text, wanted, less):
    merges = learn(iter([text]), 256 + wanted, special_tokens=[]).merges
    fewer = learn(iter([text]), 256 + min(less, wanted), special_tokens=[]).merges
    assert fewer == merges[: len(fewer)]
    assert len(fewer) == min(less, wanted, len(merges))


@given(text=TEXT)
def test_each_merge_makes_a_new_token_that_is_used(text):
    tokenizer = learn(iter([text]), 320, special_tokens=["<|e|>"])
    made = [left + right for left, right in tokenizer.merges]
    assert len(set(made)) == len(made)
    # Trained to the end, every piece is one token.
    if len(made) < 320 - 257:
        for piece in reference.count_pretokens(text, ["<|e|>"]):
            assert len(tokenizer.encode_ordinary(piece.decode())) == 1


@given(text=TEXT)
def test_encoding_replays_training(text):
    """A merge learned is a merge made: encoding by pairs and by ranks gives the same."""
    tokenizer = learn(iter([text]), 300, special_tokens=["<|e|>"])
    by_ranks = Tokenizer(dict(tokenizer.vocab), None, ["<|e|>"], merge_rule="ranks")
    assert by_ranks.encode(text) == tokenizer.encode(text)
    assert by_ranks.merges == tokenizer.merges
