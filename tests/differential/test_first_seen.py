"""`tie_break="first_seen"`: the rule of minbpe, under which the order of the corpus decides."""

from __future__ import annotations

import itertools
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bytepair import PieceCounts, Tokenizer, count_pieces, errors, reference, train

WORD = st.text("ab", min_size=1, max_size=12) | st.text("ab \n!é", min_size=1, max_size=10)
COUNTS = st.dictionaries(WORD.map(str.encode), st.integers(1, 4), max_size=8)
PART = st.sampled_from([*"aab \n!é", "<|", "<|e|>", "ab", "aaaa"])
TEXT = st.lists(PART, max_size=60).map("".join)


def learn(corpus, vocab_size: int, **options) -> Tokenizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return train(corpus, vocab_size, tie_break="first_seen", **options)


@settings(max_examples=10 * settings.default.max_examples)
@given(
    counts=COUNTS,
    wanted=st.integers(0, 40),
    min_count=st.integers(1, 3),
    most=st.none() | st.integers(1, 6),
)
def test_counts(counts, wanted, min_count, most):
    rules = reference.Rules("first_seen", min_count, most)
    expected = reference.learn_merges_slowly(counts, wanted, rules)
    ours = learn(
        PieceCounts(counts, keep_order=True),
        256 + wanted,
        special_tokens=[],
        min_count=min_count,
        max_token_bytes=most,
    )
    assert ours.merges == expected


@given(text=TEXT, pattern=st.sampled_from(["gpt2", "cl100k", None]), wanted=st.integers(0, 40))
def test_texts(text, pattern, wanted):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        vocab, merges = reference.train_bpe_reference(
            text, 257 + wanted, ["<|e|>"], pattern=pattern, tie_break="first_seen"
        )
    ours = learn(iter([text]), 257 + wanted, special_tokens=["<|e|>"], pattern=pattern)
    assert ours.merges == merges
    assert dict(ours.vocab) == vocab


def minbpe(text: str, wanted: int) -> list[tuple[int, int]]:
    """The rule as minbpe and tiktoken's lesson have it: the first of a dict's greatest values."""
    ids = list(text.encode())
    merges = []
    for new in range(256, 256 + wanted):
        stats: dict[tuple[int, int], int] = {}
        for pair in itertools.pairwise(ids):
            stats[pair] = stats.get(pair, 0) + 1
        if not stats:
            break
        best = max(stats, key=stats.__getitem__)
        merged, at = [], 0
        while at < len(ids):
            if tuple(ids[at : at + 2]) == best:
                merged.append(new)
                at += 2
            else:
                merged.append(ids[at])
                at += 1
        ids = merged
        merges.append(best)
    return merges


@given(text=TEXT, wanted=st.integers(0, 40))
def test_minbpe_without_a_pattern(text, wanted):
    tokens = [bytes([byte]) for byte in range(256)]
    expected = []
    for left, right in minbpe(text, wanted):
        expected.append((tokens[left], tokens[right]))
        tokens.append(tokens[left] + tokens[right])
    assert learn([text], 256 + wanted, special_tokens=[], pattern=None).merges == expected


def test_the_sample_corpus_and_files(sample, tmp_path):
    text = sample[:200_000]
    expected = reference.train_bpe_from_text(text, 800, tie_break="first_seen")[1]
    path = tmp_path / "corpus.txt"
    path.write_bytes(text.encode())
    for corpus, threads in (([text], 1), (path, 1), (path, 7)):
        ours = train(corpus, 800, special_tokens=[], tie_break="first_seen", threads=threads)
        assert ours.merges == expected
    other = train(path, 800, special_tokens=[]).merges
    assert other != expected


def test_the_order_of_texts_and_files_decides(tmp_path):
    (tmp_path / "a.txt").write_text("ab")
    (tmp_path / "b.txt").write_text("cd")
    a, b = tmp_path / "a.txt", tmp_path / "b.txt"
    for corpus, pair in (([a, b], (b"a", b"b")), ([b, a], (b"c", b"d")), (["cd", "ab"], None)):
        merges = train(corpus, 257, special_tokens=[], tie_break="first_seen").merges
        assert merges == [pair or (b"c", b"d")]


def test_counts_without_an_order_are_refused():
    kept = count_pieces(iter(["ab cd"]), special_tokens=[], keep_order=True)
    assert train(kept, 257, special_tokens=[], tie_break="first_seen").merges == [(b"a", b"b")]
    assert train(kept.scale(3), 257, special_tokens=[], tie_break="first_seen").vocab_size == 257
    for counts in (kept + kept, count_pieces(iter(["ab"]), special_tokens=[])):
        with pytest.raises(errors.ArgumentError, match="keep_order=True"):
            train(counts, 257, special_tokens=[], tie_break="first_seen")
