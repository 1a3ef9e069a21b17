"""Eight threads at once doing everything, for a while: no wrong id, no growth, no hang.

A few seconds in every run; `BYTEPAIR_SOAK=60` makes it a minute.
"""

from __future__ import annotations

import gc
import os
import pickle
import random
import resource
import sys
import sysconfig
import threading

import pytest

import bytepair
from patience_support import assert_lets_others_run

pytestmark = [
    pytest.mark.serial,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc"),
]

SECONDS = float(os.environ.get("BYTEPAIR_SOAK", "4"))
WARM = 100
"""Operations of each thread before its memory counts: by then it has done each of the twelve."""
WINDOWS = 4
MOST = 40_000_000
GPT2 = bytepair.get_encoding("gpt2")
O200K = bytepair.get_encoding("o200k_base")
TEXTS = [
    "Threads and more threads: 12345 times, \u4e2d\u6587 and \u00e9t\u00e9.\n\n  It's fine. " * 40,
    "short",
    "a" * 3_000,
    "caf\u00e9 \U0001f642 <|endoftext|> tail " * 9,
    "\u4e2d\u6587\u6ca1\u6709\u7a7a\u683c" * 300,
    "random words: " + " ".join(f"w{n * n}" for n in range(900)),
]


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


class Expected:
    """What each operation gives for a text, computed by one thread before the others start."""

    def __init__(self, tokenizer: bytepair.Tokenizer, text: str) -> None:
        self.tokenizer, self.text = tokenizer, text
        self.ids = tokenizer.encode(text)
        self.plain = tokenizer.encode_ordinary(text)
        self.cut = tokenizer.truncate(text, 50)
        self.chunks = tokenizer.chunk(text, 64, overlap=3, prefer="sentence")
        self.spans = tokenizer.encode_with_offsets(text)
        self.dropped = tokenizer.encode(text, dropout=0.2, seed=5)

    def check(self, operation: int) -> None:
        tokenizer, text, ids = self.tokenizer, self.text, self.ids
        match operation:
            case 0:
                assert tokenizer.encode(text) == ids
                assert tokenizer.encode_ordinary(text) == self.plain
            case 1:
                assert tokenizer.decode(ids) == text
            case 2:
                assert tokenizer.count(text) == len(ids)
                assert tokenizer.fits(text, len(ids))
            case 3:
                assert list(tokenizer.encode_iterable([text[:7], text[7:]])) == ids
            case 4:
                assert "".join(tokenizer.decode_iterable(ids)) == text
            case 5:
                assert tokenizer.truncate(text, 50) == self.cut
            case 6:
                assert tokenizer.chunk(text, 64, overlap=3, prefer="sentence") == self.chunks
            case 7:
                assert tokenizer.encode_with_offsets(text) == self.spans
            case 8:
                assert tokenizer.encode(text, dropout=0.2, seed=5) == self.dropped
            case 9:
                assert tokenizer.encode_batch([text] * 3, threads=2) == [ids] * 3
            case 10:
                assert pickle.loads(pickle.dumps(tokenizer)).encode(text) == ids
            case _:
                assert tokenizer.heal(ids[:5]).stable == ids[: len(tokenizer.heal(ids[:5]).stable)]


@pytest.mark.timeout(SECONDS * WINDOWS + 600)
def test_eight_threads_of_mixed_operations():
    expected = [Expected(tokenizer, text) for tokenizer in (GPT2, O200K) for text in TEXTS]
    failures: list[BaseException] = []
    stop = threading.Event()
    done = [0] * 8

    def work(number: int) -> None:
        source = random.Random(number)
        try:
            while not stop.is_set():
                source.choice(expected).check(source.randrange(12))
                done[number] += 1
        except BaseException as error:
            failures.append(error)
            stop.set()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    while min(done) < WARM and not stop.wait(0.05):
        pass
    growth = []
    # Eight threads may at one moment hold more than at another; what leaks grows every time.
    while len(growth) < WINDOWS and min(growth, default=MOST) >= MOST and not stop.is_set():
        gc.collect()
        before = resident()
        stop.wait(SECONDS)
        growth.append(resident() - before)
        print(
            f"{before / 1e6:.0f} MB, then {growth[-1] / 1e6:+.1f} MB after {sum(done):,} operations"
        )
    stop.set()
    for thread in threads:
        thread.join(300)
    assert failures == []
    assert not any(thread.is_alive() for thread in threads)
    assert min(growth) < MOST


def test_thousands_of_streams_at_once():
    ids = GPT2.encode("caf\u00e9 \U0001f642 and more words " * 4)
    text = GPT2.decode(ids)
    for make, most in [
        (GPT2.stream_decoder, 1_000),
        (lambda: GPT2.stream_decoder(bytes_mode=True), 500),
    ]:
        gc.collect()
        before = resident()
        streams = [make() for _ in range(10_000)]
        parts = [[stream.feed(id) for stream in streams] for id in ids]
        assert resident() - before < 10_000 * (most + 300 * len(ids))
        joined = type(parts[0][0])().join
        ends = [stream.finish() for stream in streams]
        for at in (0, 4_999, 9_999):
            found = joined([*(row[at] for row in parts), ends[at]])
            assert found in (text, text.encode())


@pytest.mark.skipif(
    bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    reason="there is no GIL to release: threads of pure Python stop a loop as long",
)
def test_asyncio_goes_on_while_threads_encode():
    """Long text releases the GIL, so `to_thread` keeps an event loop free."""
    text = "some words of a long document. " * 60_000
    assert_lets_others_run(O200K.count, text, in_a_loop=True)
    assert_lets_others_run(O200K.encode_numpy, text, in_a_loop=True)
