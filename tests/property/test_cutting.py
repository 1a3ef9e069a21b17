"""Cutting: what is kept is the longest that fits, by brute force; chunks tile the text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bytepair
from bytepair import Tokenizer
from text_support import PART, PATTERNS, SPECIAL, small_tokenizer

GPT2 = bytepair.get_encoding("gpt2")
O200K = bytepair.get_encoding("o200k_base")
# A merge that only the end of a text shows: "abcd" is one token, and "abcde" three.
TURNS = Tokenizer(
    {byte: bytes([byte]) for byte in range(256)}
    | dict(enumerate([b"de", b"cde", b"cd", b"bcd", b"abcd"], 256)),
    [(b"d", b"e"), (b"c", b"de"), (b"c", b"d"), (b"b", b"cd"), (b"a", b"bcd")],
)
TOKENIZERS = {
    **{kind: small_tokenizer(kind, SPECIAL) for kind in PATTERNS},
    "gpt2 itself": GPT2,
    "o200k itself": O200K,
    "turns": TURNS,
}
TEXT = st.lists(st.one_of(PART, st.text(max_size=3)), max_size=30).map("".join)


def longest(tokenizer: Tokenizer, text: str, most: int, cut: object) -> str:
    ends = range(len(text) + 1)
    parts = (text[:n] if cut == "right" else text[len(text) - n :] for n in reversed(ends))
    return next(part for part in parts if tokenizer.count(part) <= most)


@pytest.mark.parametrize("kind", TOKENIZERS)
@pytest.mark.parametrize("side", ["right", "left"])
@given(text=TEXT, most=st.integers(0, 25))
def test_what_is_kept_is_the_longest_that_fits(kind, side, text, most):
    tokenizer = TOKENIZERS[kind]
    kept = tokenizer.truncate(text, most, side=side)
    assert kept == longest(tokenizer, text, most, side)
    assert (kept == text) is tokenizer.fits(text, most)
    got, ids, (start, end) = tokenizer.truncate_with_span(text, most, side=side)
    assert got == kept == text[start:end]
    assert ids == tokenizer.encode(kept)


@given(count=st.integers(0, 9), most=st.integers(0, 9))
def test_more_text_may_be_fewer_tokens(count, most):
    text = "abcde" * count
    for side in ("right", "left"):
        assert TURNS.truncate(text, most, side=side) == longest(TURNS, text, most, side)


@pytest.mark.parametrize("kind", TOKENIZERS)
@given(text=TEXT, most=st.integers(0, 25))
def test_the_middle_goes(kind, text, most):
    tokenizer = TOKENIZERS[kind]
    kept, ids, (start, end) = tokenizer.truncate_with_span(text, most, side="middle")
    assert kept == text[:start] + text[end:] == tokenizer.truncate(text, most, side="middle")
    assert ids == tokenizer.encode(kept)
    assert len(ids) <= most
    if tokenizer.fits(text, most):
        assert kept == text
    else:
        assert (text[:start], text[end:]) == both_ends(tokenizer, text, most)


def both_ends(tokenizer: Tokenizer, text: str, most: int) -> tuple[str, str]:
    """The longest start for half of the limit, and the longest end that what it leaves allows."""
    head = longest(tokenizer, text, (most + 1) // 2, "right")
    tail = longest(tokenizer, text[len(head) :], most - tokenizer.count(head), "left")
    while not tokenizer.fits(head + tail, most) or joins_special(tokenizer, head, tail):
        tail = tail[1:]
    return head, tail


def joins_special(tokenizer: Tokenizer, head: str, tail: str) -> bool:
    """Whether the joined text has a special token of which a part is in each."""
    return any(
        (head + tail).startswith(token, at)
        for token in tokenizer.special_tokens
        for at in range(max(0, len(head) - len(token) + 1), len(head))
    )


@st.composite
def odd_tokenizers(draw: st.DrawFn) -> Tokenizer:
    """Merges that no training makes, in any order: one more letter may mean fewer tokens."""
    vocab = [bytes([byte]) for byte in range(256)]
    pairs: list[tuple[bytes, bytes]] = []
    made = [b"a", b"b", b"c", "\u00e9".encode()[:1], "\u00e9".encode()[1:]]
    choice = st.integers(0, 40)
    for left, right in draw(st.lists(st.tuples(choice, choice), max_size=12)):
        pair = made[left % len(made)], made[right % len(made)]
        if len(pair[0] + pair[1]) <= 8 and pair not in pairs:
            pairs.append(pair)
            made.append(pair[0] + pair[1])
    vocab += [token for token in dict.fromkeys(made) if token not in vocab]
    pairs = draw(st.permutations(pairs))
    special = draw(st.sets(st.sampled_from(["<s>", "ab", "b", "ca<s>"]), max_size=3))
    return Tokenizer(dict(enumerate(vocab)), pairs, sorted(special), pattern=None)


@given(
    tokenizer=odd_tokenizers(),
    text=st.lists(st.sampled_from(["a", "b", "c", "\u00e9", "<s>", "ab"]), max_size=24).map(
        "".join
    ),
    most=st.integers(0, 14),
)
def test_cuts_of_odd_tokenizers(tokenizer, text, most):
    for side in ("right", "left"):
        assert tokenizer.truncate(text, most, side=side) == longest(tokenizer, text, most, side)
    _, _, (start, end) = tokenizer.truncate_with_span(text, most, side="middle")
    if tokenizer.fits(text, most):
        assert start == end
    else:
        assert (text[:start], text[end:]) == both_ends(tokenizer, text, most)


@pytest.mark.parametrize("kind", TOKENIZERS)
@given(text=TEXT, most=st.integers(4, 25), overlap=st.integers(0, 3))
def test_chunks_tile_the_text(kind, text, most, overlap):
    tokenizer = TOKENIZERS[kind]
    chunks = tokenizer.chunk(text, most, overlap=overlap)
    done = 0
    for chunk in chunks:
        assert chunk.text == text[chunk.start : chunk.end]
        assert chunk.ids == tokenizer.encode(chunk.text)
        assert len(chunk.ids) <= most
        # Nothing is left out, and each has something new.
        assert chunk.start <= done < chunk.end
        assert tokenizer.count(text[chunk.start : done]) <= overlap
        assert chunk.text == longest(tokenizer, text[chunk.start :], most, "right")
        done = chunk.end
    assert done == len(text)
    if not overlap:
        assert "".join(chunk.text for chunk in chunks) == text


@pytest.mark.parametrize("kind", ["turns", "none", "custom", "gpt2 itself"])
@settings(max_examples=10)
@given(
    parts=st.lists(st.text("abcde\u00e9", min_size=1, max_size=6), min_size=1, max_size=6),
    times=st.integers(40, 120),
    most=st.integers(0, 300),
)
def test_what_is_kept_of_a_long_word_is_the_longest_that_fits(kind, parts, times, most):
    tokenizer = TOKENIZERS[kind]
    text = "".join(parts[n % len(parts)] for n in range(times * 6))[: 4 * times + 520]
    for side in ("right", "left"):
        assert tokenizer.truncate(text, most, side=side) == longest(tokenizer, text, most, side)


@pytest.mark.parametrize("kind", ["gpt2 itself", "o200k itself", "none", "turns"])
@settings(max_examples=8)
@given(
    parts=st.lists(st.text("abcde\u4e2d", min_size=1, max_size=5), min_size=1, max_size=4),
    less=st.integers(0, 60),
    tail=st.sampled_from(["", " and a few words behind it", "<|a|> x"]),
)
def test_very_long_words(kind, parts, less, tail):
    tokenizer, word = TOKENIZERS[kind], "".join(parts)
    text = word * (17_000 // len(word.encode()) + 1) + tail
    most = tokenizer.count(text) - less
    assert tokenizer.truncate(text, most) == longest(tokenizer, text, most, "right")


@pytest.mark.parametrize("kind", TOKENIZERS)
@given(
    text=st.lists(st.sampled_from(["A b", ". ", "\n", "\n\n", "\u3002", '?" ', " c"]), max_size=30),
    most=st.integers(4, 12),
    overlap=st.integers(0, 3),
    prefer=st.lists(st.sampled_from(["paragraph", "line", "sentence"]), max_size=3),
)
def test_chunks_end_where_it_is_preferred(kind, text, most, overlap, prefer):
    tokenizer, text = TOKENIZERS[kind], "".join(text)
    done = 0
    for chunk in tokenizer.chunk(text, most, overlap=overlap, prefer=prefer):
        full = longest(tokenizer, text[chunk.start :], most, "right")
        end = chunk.start + len(full)
        if end < len(text):
            places = [
                [at for at in range(done + 1, end + 1) if is_break(text, at, kind_of)]
                for kind_of in prefer
            ]
            end = next((max(found) for found in places if found), end)
        assert (chunk.end, chunk.text) == (end, text[chunk.start : end])
        assert chunk.start <= done
        done = chunk.end
    assert done == len(text)


def is_break(text: str, at: int, kind: str) -> bool:
    before = text[:at]
    if kind == "paragraph":
        return before.endswith("\n\n")
    if kind == "line":
        return before.endswith("\n")
    closed = before.rstrip('"')
    if closed.endswith("\u3002"):
        return not text[at:].startswith('"')
    return closed.endswith((".", "?")) and text[at : at + 1] in ("", " ", "\n")


@pytest.mark.parametrize("kind", ["gpt2", "o200k itself", "none"])
@given(texts=st.lists(TEXT, max_size=5), most=st.integers(4, 25), threads=st.integers(1, 4))
def test_batches_are_loops(kind, texts, most, threads):
    tokenizer = TOKENIZERS[kind]
    assert tokenizer.fits_batch(texts, most, threads=threads) == [
        tokenizer.fits(text, most) for text in texts
    ]
    assert tokenizer.count_batch(texts, limit=most, threads=threads) == [
        tokenizer.count(text, limit=most) for text in texts
    ]
    for side in ("right", "left", "middle"):
        assert tokenizer.truncate_batch(texts, most, side=side, threads=threads) == [
            tokenizer.truncate(text, most, side=side) for text in texts
        ]
    for overlap, prefer in [(0, ()), (2, "line")]:
        options = {"overlap": overlap, "prefer": prefer}
        assert tokenizer.chunk_batch(texts, most, threads=threads, **options) == [
            tokenizer.chunk(text, most, **options) for text in texts
        ]


@pytest.mark.parametrize("kind", ["gpt2", "o200k itself", "custom", "none"])
@given(piece=PART, times=st.integers(200, 1500), most=st.integers(0, 400), tail=PART)
def test_long_runs(kind, piece, times, most, tail):
    tokenizer, text = TOKENIZERS[kind], piece * times + tail
    for side in ("right", "left"):
        kept, ids, (start, end) = tokenizer.truncate_with_span(text, most, side=side)
        assert kept == text[start:end]
        assert len(ids) <= most
        # One character more does not fit.
        more = text[max(0, start - 1) : end] if side == "left" else text[: end + 1]
        assert kept == text or not tokenizer.fits(more, most)


@pytest.mark.parametrize("kind", ["english", "chinese", "code", "multilingual"])
def test_real_text(kind, corpus_text):
    text = corpus_text(kind, 60_000)
    for tokenizer in (GPT2, O200K):
        chunks = tokenizer.chunk(text, 500)
        assert "".join(chunk.text for chunk in chunks) == text
        assert max(len(chunk.ids) for chunk in chunks) <= 500
        for side in ("right", "left", "middle"):
            assert 2_990 <= len(tokenizer.truncate_with_span(text, 3_000, side=side)[1]) <= 3_000


# Long words of each sort, of which a part may have fewer tokens than a shorter one.
NASTY = ["a", "/", " ", "\n", "\0", "ab", "/*", " \t", " \n", "aB", "01", "e\u0301", "\u0301\u0327"]
NASTY += [
    "abcde",
    "\u4e00\u4e8c\u3042",
    "\U0001f468\u200d\u2764\ufe0f",
    "abcdefghijklmnopqrstuvwxyz",
]


@pytest.mark.parametrize("kind", ["gpt2 itself", "o200k itself", "turns", "none", "o200k"])
@given(data=st.data())
def test_chunks_of_nasty_words_are_the_longest(kind, data):
    tokenizer = TOKENIZERS[kind]
    size = data.draw(st.integers(1, 700))
    random = data.draw(st.randoms(use_true_random=False))
    text = "".join(random.choices(data.draw(st.sampled_from(NASTY)), k=size))
    most = data.draw(st.integers(4, 40))
    overlap = data.draw(st.integers(0, most - 1))
    chunks = tokenizer.chunk(text, most, overlap=overlap)
    start = done = 0
    for chunk in chunks[:3]:
        end = start + len(longest(tokenizer, text[start : start + 150 * most], most, "right"))
        if end <= done:
            start = done
            end = start + len(longest(tokenizer, text[start : start + 150 * most], most, "right"))
        assert (chunk.start, chunk.end) == (start, end)
        done = end
        start = end - len(longest(tokenizer, text[start:end], overlap, "left"))
    assert chunks[-1].end == len(text)
