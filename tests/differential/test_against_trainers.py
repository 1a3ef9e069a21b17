"""The same merges as other trainers under their rules of ties: tokenizers, rustbpe."""

from __future__ import annotations

import json

import pytest

from bytepair import patterns, reference, train

VOCAB_SIZE = 5_000


@pytest.fixture(scope="module")
def texts(request, sample) -> dict[str, str]:
    """A megabyte of what every machine has, and where it is to be had one of the four corpora."""
    found = {"sample": sample}
    try:
        corpus_text = request.getfixturevalue("corpus_text")
    except pytest.skip.Exception:
        return found
    kinds = ["english", "chinese", "code", "multilingual"]
    found["mixed"] = "".join(corpus_text(kind, 250_000) for kind in kinds)
    return found


def text_of(texts: dict[str, str], kind: str) -> str:
    if kind not in texts:
        pytest.skip("no shared corpora")
    # Special tokens are cut out here and are text there.
    return texts[kind].replace("<|endoftext|>", "\n")


def huggingface_merges(text: str, pattern: str | None) -> list[tuple[bytes, bytes]]:
    """What tokenizers' BpeTrainer learns from one text."""
    tokenizers = pytest.importorskip("tokenizers")
    pre = tokenizers.pre_tokenizers
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    if pattern is None:
        tokenizer.pre_tokenizer = pre.ByteLevel(add_prefix_space=False)
    else:
        split = pre.Split(tokenizers.Regex(pattern), "isolated")
        byte_level = pre.ByteLevel(add_prefix_space=False, use_regex=False)
        tokenizer.pre_tokenizer = pre.Sequence([split, byte_level])
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=VOCAB_SIZE, initial_alphabet=pre.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator([text], trainer)
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    byte_of = {char: byte for byte, char in reference.bytes_to_unicode().items()}
    return [
        (bytes(byte_of[char] for char in left), bytes(byte_of[char] for char in right))
        for left, right in merges
    ]


@pytest.mark.parametrize("kind", ["sample", "mixed"])
@pytest.mark.parametrize("pattern", ["gpt2", "llama3", "o200k"])
def test_huggingface(texts, kind, pattern):
    text = text_of(texts, kind)
    ours = train(
        iter([text]), VOCAB_SIZE, special_tokens=[], pattern=pattern, tie_break="huggingface"
    )
    regex = None if pattern == "gpt2" else patterns.regex(pattern)
    assert ours.merges == huggingface_merges(text, regex)
    assert len(ours.merges) == VOCAB_SIZE - 256


@pytest.mark.parametrize("kind", ["sample", "mixed"])
@pytest.mark.parametrize("pattern", ["gpt2", "llama3"])
def test_rustbpe(texts, kind, pattern):
    rustbpe = pytest.importorskip("rustbpe")
    text = text_of(texts, kind)
    theirs = rustbpe.Tokenizer()
    theirs.train_from_iterator(iter([text]), VOCAB_SIZE, pattern=patterns.regex(pattern))
    ours = train(
        iter([text]), VOCAB_SIZE, special_tokens=[], pattern=pattern, tie_break="lowest_ids"
    )
    expected = {bytes(token): rank for token, rank in theirs.get_mergeable_ranks()}
    assert {token: id_ for id_, token in ours.vocab.items()} == expected


@pytest.mark.parametrize("rule", ["lexicographic", "lowest_ids", "huggingface"])
def test_the_incremental_reference(sample, rule):
    text = sample[:200_000]
    ours = train(iter([text]), 800, special_tokens=["<|endoftext|>"], tie_break=rule)
    vocab, merges = reference.train_bpe_from_text(text, 800, ["<|endoftext|>"], tie_break=rule)
    assert ours.merges == merges
    assert dict(ours.vocab) == vocab


def test_rules_differ_where_they_should(sample):
    """Else the comparisons above would prove little."""
    results = [
        train(iter([sample]), 1_000, special_tokens=[], tie_break=rule).merges
        for rule in ("lexicographic", "lowest_ids", "huggingface")
    ]
    assert len({tuple(merges) for merges in results}) == 3
