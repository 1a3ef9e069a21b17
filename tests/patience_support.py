"""Time in tests, said so that neither a slow, a fast nor a busy machine changes the verdict.

Whether a call lets other threads run is no matter of how many turns they get, which depends on the
machine, but of the longest pause: while a call holds the interpreter, nobody else has a turn, so
the pause is as long as the call. Whether a signal is noticed at once is measured by what the same
machine needs at the same moment to start a Python.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from functools import partial

LONG = 0.3
"""Seconds that a call must take before its pauses say anything."""

TRIES = 6
"""How often a measurement is made before it counts against the code and not the machine."""


def assert_lets_others_run(
    call: Callable[[str], object],
    text: str,
    *,
    in_a_loop: bool = False,
    meanwhile: Callable[[], object] = lambda: None,
) -> None:
    """Fail if others stand still while `call` works on `text`, which is repeated as needed.

    The others are a Python thread that does `meanwhile` again and again, or tasks of the event loop
    that has `call` run in a thread.
    """
    measure = longest_pause_in_a_loop if in_a_loop else partial(longest_pause, meanwhile=meanwhile)
    seen: list[tuple[float, float]] = []
    while len(seen) < 8:
        pause, seconds = measure(partial(call, text))
        if seconds < LONG:
            assert len(text) < 1 << 30, "it is too fast to be measured"
            text += text
            continue
        # A busy machine lets this thread wait too, though seldom for half of the call, eight times.
        if pause < seconds / 2:
            return
        seen.append((round(pause, 3), round(seconds, 3)))
    raise AssertionError(f"others stood still: pauses and seconds of the calls are {seen}")


def longest_pause(
    call: Callable[[], object], meanwhile: Callable[[], object] = lambda: None
) -> tuple[float, float]:
    """The longest time in which this thread had no turn during a call, and what the call took."""
    span: list[float] = []
    failures: list[BaseException] = []

    def work() -> None:
        try:
            span.append(time.perf_counter())
            call()
            span.append(time.perf_counter())
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=work)
    pause, last = 0.0, time.perf_counter()
    thread.start()
    while thread.is_alive():
        time.sleep(0.001)
        meanwhile()
        now = time.perf_counter()
        pause, last = max(pause, now - last), now
    thread.join()
    if failures:
        raise failures[0]
    return pause, span[1] - span[0]


def longest_pause_in_a_loop(call: Callable[[], object]) -> tuple[float, float]:
    """The same of an event loop, while threads of it run the call four times at once."""

    async def both() -> tuple[float, float]:
        start = last = time.perf_counter()
        pause = 0.0
        calls = asyncio.gather(*(asyncio.to_thread(call) for _ in range(4)))
        while not calls.done():
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            pause, last = max(pause, now - last), now
        await calls
        return pause, last - start

    return asyncio.run(both())


def soon(start_up: float) -> float:
    """How long a program may take to notice Ctrl-C and end, if it took `start_up` seconds to start.

    A second is promised, and ending takes as long as starting or less; a busy machine gets more.
    """
    return 1 + 10 * start_up


def seconds(work: Callable[[], object], tries: int = 3) -> float:
    """The least processor time of some tries: what the machine does when nothing disturbs it."""
    times = []
    for _ in range(tries):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def assert_linear(work: Callable[[int], object], size: int, most: float) -> None:
    """Four times the size must take about four times as long; `most` seconds must do for `size`.

    They do for a machine that is several times as slow; what is not linear takes minutes.
    """
    small, large = size // 4, size
    for _ in range(TRIES):
        few, many = (seconds(partial(work, n)) for n in (small, large))
        # A heap that outgrows the caches of the machine makes it up to eight; the square is 16.
        if many < min(most, 10 * few + 0.02):
            return
    raise AssertionError(f"{few:.3f} s for {small}, {many:.3f} s for {large}")
