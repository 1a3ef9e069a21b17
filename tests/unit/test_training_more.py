"""One run, every size: `resized`, `report=True`, and going on from a base."""

from __future__ import annotations

import pickle
import warnings
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bytepair
from bytepair import PieceCounts, Tokenizer, count_pieces, errors, train
from bytepair.reference.merge import merge_word
from bytepair.reference.rules import Rules
from bytepair.reference.train import count_pairs

RULES = ["lexicographic", "lowest_ids", "huggingface"]
WORD = st.text("ab", min_size=1, max_size=12) | st.text("ab \n!é", min_size=1, max_size=10)
COUNTS = st.dictionaries(WORD.map(str.encode), st.integers(1, 4), max_size=8)
TEXTS = ["low low low lower lower newest newest widest aaaa aaaaaa", "好的 好的 好", "<x>low<y>"]


def learn(corpus, vocab_size: int, **options) -> Tokenizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return train(corpus, vocab_size, **options)


# --- resized ----------------------------------------------------------------------------------


@pytest.mark.parametrize("special_ids", ["after_bytes", "first", "last"])
@pytest.mark.parametrize("rule", [*RULES, "first_seen"])
def test_cut_down_is_trained_smaller(special_ids, rule):
    options = {"special_ids": special_ids, "tie_break": rule, "special_tokens": ["<x>", "<y>", "l"]}
    large = train(TEXTS, 275, **options)
    for size in range(258, 276):
        cut = large.resized(size)
        assert cut == train(TEXTS, size, **options)
        assert cut.fingerprint == train(TEXTS, size, **options).fingerprint
        assert cut.vocab_size == size
        assert cut.encode("low <x>lower") == train(TEXTS, size, **options).encode("low <x>lower")


def test_sizes_that_cannot_be():
    tokenizer = train(TEXTS, 270, special_tokens=["<x>", "<y>"])
    for size in (257, 0, -5):
        with pytest.raises(errors.ArgumentError, match=rf"vocab_size is {size}; the least is 258"):
            tokenizer.resized(size)
    with pytest.raises(errors.ArgumentError, match=r"has 270 tokens.*base=tokenizer"):
        tokenizer.resized(271)


@pytest.mark.parametrize("name", ["gpt2", "p50k_base", "o200k_harmony"])
def test_a_bundled_encoding_is_cut_by_rank(name):
    whole = bytepair.get_encoding(name)
    cut = whole.resized(whole.vocab_size - 20_000)
    assert cut.vocab_size == whole.vocab_size - 20_000
    assert cut.special_tokens.keys() == whole.special_tokens.keys()
    ids = sorted(id for id in whole.vocab if not whole.is_special(id))
    kept = [id for id in cut.vocab if not cut.is_special(id)]
    assert [cut.token_bytes(id) for id in kept] == [whole.token_bytes(id) for id in ids[:-20_000]]
    text = "The ferryman rows; 12345 的时候 <|endoftext|>"
    assert cut.decode(cut.encode(text)) == text
    assert cut.name is None
    assert pickle.loads(pickle.dumps(cut)) == cut


def test_two_merges_of_one_token():
    vocab = {0: b"a", 1: b"b", 2: b"c", 3: b"ab", 4: b"bc", 5: b"abc"}
    merges = [(b"a", b"b"), (b"b", b"c"), (b"ab", b"c"), (b"a", b"bc")]
    cut = Tokenizer(vocab, merges, pattern=None).resized(5)
    assert dict(cut.vocab) == {0: b"a", 1: b"b", 2: b"c", 3: b"ab", 4: b"bc"}
    assert cut.merges == merges[:2]


# --- report -----------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [*RULES, "first_seen"])
@given(counts=COUNTS, wanted=st.integers(0, 30), min_count=st.integers(1, 3))
def test_a_report_is_what_a_recount_says(rule, counts, wanted, min_count):
    options = {"special_tokens": [], "tie_break": rule, "min_count": min_count}
    made = PieceCounts(counts, pattern=None, keep_order=rule == "first_seen")
    tokenizer = learn(made, 256 + wanted, report=True, **options)
    report = tokenizer.training_report
    words = [(tuple(bytes([byte]) for byte in piece), n) for piece, n in counts.items()]
    tokens = sum(len(word) * n for word, n in words)
    assert (report.corpus_bytes, report.corpus_tokens) == (tokens, tokens)
    assert [(row.left, row.right) for row in report] == tokenizer.merges
    for row in report:
        pairs = count_pairs(words)
        assert row.count == pairs[row.left, row.right] == max(pairs.values())
        assert row.tie == (list(pairs.values()).count(row.count) > 1)
        words = [(merge_word(word, (row.left, row.right)), n) for word, n in words]
        after = sum(len(word) * n for word, n in words)
        assert (row.tokens, row.saved) == (after, tokens - after)
        assert row.bytes_per_token == report.corpus_bytes / after
        tokens = after
    assert tokens == sum(n * len(tokenizer.encode(piece.decode())) for piece, n in counts.items())
    assert report.ties == sum(row.tie for row in report)


def test_a_report_is_kept_apart():
    plain = train(TEXTS, 270)
    assert plain.training_report is None
    told = train(TEXTS, 270, report=True)
    assert told == plain
    assert pickle.loads(pickle.dumps(told)).training_report is None
    report = told.training_report
    assert [number for number, _ in report.curve()] == list(range(14))
    assert all(a < b for (_, a), (_, b) in pairwise(report.curve()))
    assert report[-1] == report[12] == report[5:][-1]
    facts = report.summary(points=3)
    assert [point["merges"] for point in facts["curve"]] == [0, 5, 10, 13]
    assert facts["tokens_after"] == report[-1].tokens
    empty = learn([""], 257, report=True).training_report
    assert (len(empty), list(empty.curve()), empty.summary()["curve"]) == (0, [], [])


# --- base -------------------------------------------------------------------------------------


def slowly(base: Tokenizer, counts, wanted: int, rules: Rules) -> list[tuple[bytes, bytes]]:
    """Go on by the definition: encode the pieces, then recount for every merge."""
    encode = base.encode_ordinary
    words = [
        (tuple(base.token_bytes(id) for id in encode(piece.decode())), n)
        for piece, n in counts.items()
    ]
    order = rules.first_order()
    for _, token in sorted(base.vocab.items()):
        order.setdefault(token, len(order))
    merges = []
    while len(merges) < wanted and (tied := rules.most_frequent(count_pairs(words))):
        pair = rules.break_tie(tied, order)
        words = [(merge_word(word, pair), n) for word, n in words]
        order[pair[0] + pair[1]] = len(order)
        merges.append(pair)
    return merges


@pytest.mark.parametrize("rule", RULES)
@given(
    first=COUNTS,
    counts=COUNTS,
    start=st.integers(0, 15),
    wanted=st.integers(0, 30),
    most=st.none() | st.integers(1, 6),
)
def test_going_on_is_the_definition(rule, first, counts, start, wanted, most):
    base = learn(PieceCounts(first, pattern=None), 256 + start, special_tokens=[], tie_break=rule)
    ours = learn(
        PieceCounts(counts, pattern=None),
        base.vocab_size + wanted,
        base=base,
        tie_break=rule,
        max_token_bytes=most,
        report=True,
    )
    new = slowly(base, counts, wanted, Rules(rule, 1, most))
    assert ours.merges == [*base.merges, *new]
    assert all(ours.token_bytes(id) == token for id, token in base.vocab.items())
    made = [ours.token_bytes(id) for id in range(base.vocab_size, ours.vocab_size)]
    assert made == [left + right for left, right in new]
    tokens = sum(n * len(ours.encode(piece.decode())) for piece, n in counts.items())
    report = ours.training_report
    assert (report[-1].tokens if len(report) else report.corpus_tokens) == tokens


@pytest.mark.parametrize("special_ids", ["after_bytes", "first"])
@pytest.mark.parametrize("pattern", ["gpt2", "o200k", None])
def test_in_two_steps_as_in_one(special_ids, pattern):
    options = {"pattern": pattern, "special_tokens": ["<x>", "<y>"]}
    whole = train(TEXTS, 280, special_ids=special_ids, **options)
    for size in (258, 265, 280):
        base = train(TEXTS, size, special_ids=special_ids, **options)
        assert train(TEXTS, 280, base=base) == whole


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base"])
def test_a_bundled_encoding_goes_on(name):
    base = bytepair.get_encoding(name)
    text = "the zyxwvut zyxwvut zyxwvut<|endoftext|>qqqqzzzz qqqqzzzz 的时候好的"
    ours = train([text], base.vocab_size + 5, base=base)
    assert ours.vocab_size == base.vocab_size + 5
    assert ours.special_tokens == base.special_tokens
    assert (ours.merge_rule, ours.pattern) == (base.merge_rule, base.pattern)
    assert all(ours.token_bytes(id) == token for id, token in base.vocab.items())
    assert ours.decode(ours.encode(text)) == text
    assert len(ours.encode(text)) < len(base.encode(text))
    counts = count_pieces([text], pattern=base.pattern, special_tokens=list(base.special_tokens))
    new = slowly(base, dict(counts), 5, Rules())
    made = [ours.token_bytes(id) for id in range(base.vocab_size, ours.vocab_size)]
    assert made == [left + right for left, right in new]
    assert train(counts, base.vocab_size + 5, base=base) == ours


def test_a_token_that_the_base_has_and_never_makes():
    """It is merged where pairs are learned, but it is no new token."""
    vocab = {**{byte: bytes([byte]) for byte in range(256)}, 256: b"ab"}
    base = Tokenizer(vocab, [], pattern=None)
    ours = train(["abcabcabcxx"], 258, base=base)
    assert ours.merges == [(b"b", b"c"), (b"a", b"bc")][: len(ours.merges)]
    assert ours.vocab_size == 258
    ours = train(["ababab-"], 258, base=base)
    assert ours.merges == [(b"a", b"b"), (b"ab", b"ab")]
    assert (ours.token_id(b"ab"), ours.token_id(b"abab")) == (256, 257)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"vocab_size": 259}, "vocab_size is 259, but the base has 260"),
        ({"pattern": "o200k"}, "pattern is 'o200k', but that of the base is 'gpt2'"),
        ({"special_tokens": ["<y>"]}, r"the base has \['<x>'\].*with_special_tokens"),
        ({"special_ids": "last"}, "a base keeps its ids"),
        ({"tie_break": "first_seen"}, "no base can be continued"),
        ({"corpus": PieceCounts({b"ab": 1}, special_tokens=["<y>"])}, "special tokens"),
        ({"corpus": PieceCounts({b"ab": 1}, pattern=None, special_tokens=["<x>"])}, "pattern"),
    ],
)
def test_what_a_base_refuses(options, says):
    base = train(TEXTS, 260, special_tokens=["<x>"])
    corpus = options.pop("corpus", TEXTS)
    with pytest.raises(errors.ArgumentError, match=says):
        train(corpus, options.pop("vocab_size", 265), base=base, **options)


def test_a_base_that_rewrites_text_is_refused_by_name():
    base = Tokenizer({byte: bytes([byte]) for byte in range(256)}, [], normalizer="NFC")
    with pytest.raises(ValueError, match="normalizer"):
        train(["abab"], 300, base=base)
    base = Tokenizer({byte: bytes([byte]) for byte in range(256)}, [], added_tokens={"<x>": 256})
    with pytest.raises(ValueError, match="added tokens"):
        train(["abab"], 300, base=base)


def test_resized_keeps_added_tokens_and_the_normalizer():
    trained = train(["low low lower lowest newest"], 262, special_tokens=[])
    vocab = dict(trained.vocab)
    whole = Tokenizer(vocab, trained.merges, added_tokens={"<x>": 262}, normalizer="NFC")
    smaller = whole.resized(260)
    assert (smaller.added_tokens, smaller.normalizer) == ({"<x>": 259}, "NFC")
    assert smaller.encode("<x>low") == [259, *trained.resized(259).encode("low")]
