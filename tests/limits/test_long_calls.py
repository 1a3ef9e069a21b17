"""Calls on one long word, and on much prose: a signal ends each at once, and time is in proportion.

A signal that comes early in a call must not wait for its end. How long a call takes is up to the
machine, so the text grows until it takes long enough, and what is compared is the wait with the
rest of the same call.
"""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable
from functools import partial
from types import FrameType

import pytest

from bytepair import Tokenizer, get_encoding
from patience_support import assert_linear

pytestmark = [
    pytest.mark.serial,
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="timers of POSIX"),
]

GPT2 = get_encoding("gpt2")
WORD = "".join(random.Random(1).choices("abcdefghij", k=1 << 18))
PROSE = " ".join(WORD[at : at + 1 + at % 11] for at in range(0, len(WORD), 6))
LONG = 0.5
MOST = 1 << 27

CALLS: dict[str, Callable[[Tokenizer, str], object]] = {
    "encode": lambda t, text: t.encode(text, threads=1),
    "encode_batch": lambda t, text: t.encode_batch([text, "a"], threads=2),
    "count": lambda t, text: t.count(text, threads=1),
    "count_batch": lambda t, text: t.count_batch([text, "a"], limit=len(text), threads=2),
    "encode_with_offsets": lambda t, text: t.encode_with_offsets(text, unit="utf16"),
    "align": lambda t, text: t.align(text).char_to_token(len(text) - 1),
    "token_strings": lambda t, text: t.token_strings(text),
    "truncate": lambda t, text: t.truncate(text, len(text) // 16),
    "truncate, left": lambda t, text: t.truncate(text, len(text) // 16, side="left"),
    "truncate, middle": lambda t, text: t.truncate(text, len(text) // 16, side="middle"),
    "truncate_batch": lambda t, text: t.truncate_batch([text, "a"], len(text) // 16, threads=2),
    "chunk": lambda t, text: t.chunk(text, 512, overlap=64, prefer="sentence"),
    "chunk_batch": lambda t, text: t.chunk_batch(["a", text], 512, threads=2),
    "dropout": lambda t, text: t.encode(text, dropout=0.1, seed=1),
    "dropout in a batch": lambda t, text: t.encode_batch([text], dropout=0.1, seed=1),
    "encode_with_unstable": lambda t, text: t.encode_with_unstable(text + " end"),
    "bytes": lambda t, text: t.encode(text.encode() + b"\xff"),
    "stream_encoder": lambda t, text: feed_all(t, text),
    "encode_iterable": lambda t, text: sum(1 for _ in t.encode_iterable([text])),
    "decode_with_offsets": lambda t, text: t.decode_with_offsets(t.encode(text)),
}


class Called(Exception):
    """What the signal raises."""


def feed_all(tokenizer: Tokenizer, text: str) -> None:
    stream = tokenizer.stream_encoder()
    stream.feed(text)
    stream.finish()


def wait(call: Callable[[], object], delay: float) -> float:
    """The seconds from a signal, `delay` seconds after the start, to the end of the call."""

    def raise_it(number: int, frame: FrameType | None) -> None:
        raise Called

    before = signal.signal(signal.SIGALRM, raise_it)
    try:
        start = time.perf_counter()
        try:
            signal.setitimer(signal.ITIMER_REAL, delay)
            call()
        except Called:
            pass
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        return time.perf_counter() - start - delay
    finally:
        signal.signal(signal.SIGALRM, before)


def assert_hears(call: Callable[[str], object], text: str) -> None:
    """Fail if `call` on `text`, repeated as needed, does not end soon after a signal."""
    seen: list[tuple[float, float]] = []
    while len(seen) < 6:
        start = time.perf_counter()
        call(text)
        seconds = time.perf_counter() - start
        if seconds < LONG and len(text) < MOST:
            text += text
            continue
        # What takes less for a hundred megabytes needs no more than to end.
        if seconds < LONG:
            return
        # To wait for the end would be 0.9 of the call. To free what was made takes its time too.
        late = wait(partial(call, text), seconds / 10)
        if late < max(seconds / 2, 0.2):
            return
        seen.append((round(late, 3), round(seconds, 3)))
    raise AssertionError(f"a signal waited: seconds of waiting and of the calls are {seen}")


@pytest.mark.slow
@pytest.mark.parametrize("text", ["word", "prose"])
@pytest.mark.parametrize("name", CALLS)
def test_a_signal_ends_a_long_call(name, text):
    assert_hears(lambda text: CALLS[name](GPT2, text), WORD if text == "word" else PROSE)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["encode", "count", "bytes", "stream_encoder", "token_strings"])
@pytest.mark.parametrize("text", ["word", "prose"])
def test_also_where_merging_begins_with_characters(name, text, shared):
    tokenizer = Tokenizer.load(shared / "data" / "vocabs" / "mistral" / "tokenizer.model.v1")
    assert_hears(lambda text: CALLS[name](tokenizer, text), WORD if text == "word" else PROSE)


NORMALIZERS: dict[str, tuple[list[list[str]], str]] = {
    "NFC": ([["NFC"]], "cafe\u0301 au lait "),
    "NFD": ([["NFD"]], "caf\u00e9 au lait "),
    "NFKC": ([["NFKC"]], "\ufb01ne \u2460 e\u0301 "),
    "NFKC, marks alone": ([["NFKC"]], "\u0301\u0316"),
    "Lowercase": ([["Lowercase"]], "Some Words \u00c9 "),
    "Replace": ([["Replace", " ", "\u2581"]], "a b "),
    "ReplaceRegex": ([["ReplaceRegex", r"\s+", " "]], "a  b "),
    "ReplaceRegex, looking": ([["ReplaceRegex", r"(?<=a)\s+(?!\s)", " "]], "a  b "),
    "ReplaceRegex, in vain": ([["ReplaceRegex", r"(?<=a)\s+(?!\s)", " "]], "b  b "),
}


@pytest.mark.slow
@pytest.mark.parametrize("call", ["count", "encode_batch", "bytes", "dropout"])
@pytest.mark.parametrize("kind", NORMALIZERS)
def test_a_signal_ends_the_work_of_a_normalizer(kind, call):
    """A normalizer goes over the whole text before the first piece is cut."""
    normalizer, part = NORMALIZERS[kind]
    tokenizer = Tokenizer(dict(GPT2.vocab), GPT2.merges, normalizer=normalizer)
    assert_hears(lambda text: CALLS[call](tokenizer, text), part * (1 << 14))


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_time_is_in_proportion_to_one_word(name):
    # Up to some hundred kilobytes the longest part is searched without regard to time.
    size = 1 << 22 if name.startswith("truncate") else 1 << 19
    assert_linear(lambda size: CALLS[name](GPT2, (WORD * 16)[:size]), size, 60)


@pytest.mark.parametrize("side", ["right", "left"])
def test_a_small_part_of_one_word_takes_no_time_for_the_rest(side):
    """What is far from the kept end is not encoded at all."""
    few, many = WORD[: 1 << 17], WORD * 32
    for text in (few, many):
        assert GPT2.count(GPT2.truncate(text, 100, side=side)) <= 100

    def seconds(text: str) -> float:
        start = time.process_time()
        GPT2.truncate(text, 100, side=side)
        return time.process_time() - start

    # Encoding all of the long one takes thirty times as long as this.
    assert min(seconds(many) for _ in range(6)) < 0.01 + 20 * min(seconds(few) for _ in range(6))


@pytest.mark.parametrize("side", ["right", "left"])
def test_large_parts_of_one_word_take_a_few_times_as_long_as_its_ids(side):
    """Its end is found from the last tokens alone; encoding each start anew took 100 times."""
    text = WORD * 4
    most = GPT2.count(text) // 5

    def seconds(call: Callable[[], object]) -> float:
        start = time.process_time()
        call()
        return time.process_time() - start

    ids = min(seconds(lambda: GPT2.encode(text, threads=1)) for _ in range(3))
    assert min(seconds(lambda: GPT2.truncate(text, most, side=side)) for _ in range(3)) < 8 * ids
    assert min(seconds(lambda: GPT2.chunk(text, most)) for _ in range(3)) < 20 * ids


def test_a_break_is_looked_for_in_its_chunk_alone():
    """To look through all of the text before took ten times as long as to cut it."""

    def seconds(**options: str) -> float:
        start = time.process_time()
        GPT2.chunk(PROSE, 100, **options)
        return time.process_time() - start

    plain = min(seconds() for _ in range(3))
    assert min(seconds(prefer="paragraph") for _ in range(3)) < 3 * plain + 0.01


def test_a_limit_is_passed_by_length_alone():
    """No token covers more than the longest, so a long word is known not to fit at once."""
    text = WORD * 64

    def seconds(limit: int) -> float:
        start = time.process_time()
        assert GPT2.count(text, limit=limit) == limit + 1
        assert not GPT2.fits(text, limit)
        return time.process_time() - start

    longest = max(map(len, GPT2.vocab.values()))
    assert (
        min(seconds(1_000) for _ in range(3))
        < min(seconds(len(text) // longest + 1) for _ in range(3)) / 4
    )
