"""Progress of long work: what a callback hears, and the bar that `progress=True` draws.

In: `progress=` as the user gave it. Out: a callable for the core, which calls it with (done, total)
at most about every 50 ms. The bar goes to standard error, and only to a terminal. How the time left
is estimated is in `estimate.py`, how far packed files are read in `corpus/disk.py`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol

from bytepair.estimate import Estimate

__all__ = ["Progress", "ProgressOption"]


class Progress(NamedTuple):
    """How far a long call is.

    `unit` says what `done` and `total` count; `total` is `None` when it is not known. Bytes are
    those of the files on disk, packed as they are; of texts from an iterable, those of the texts.
    """

    stage: Literal["count", "learn"]
    """`"count"` while pieces are counted, `"learn"` while merges are learned."""
    done: int
    total: int | None
    unit: Literal["bytes", "merges"]
    seconds: float
    """Seconds since the stage began."""
    left: float | None = None
    """Seconds until the stage ends, an estimate; `None` while too little is known. Of counting it
    is what the rate so far says. Of learning, which becomes faster, it is right within a factor of
    3 most of the time. What a stage still to come will take is not part of it."""


ProgressOption = Callable[[Progress], object] | bool | None
"""A callable that hears `Progress`, `True` for a bar on standard error, `None` for silence."""

Report = Callable[[int, int], None]


class Bar:
    """A progress bar of one line on standard error: share, rate and time left."""

    WIDTH = 24

    def __init__(self) -> None:
        self._drawn = 0

    def __call__(self, progress: Progress) -> None:
        line = self._line(progress)
        sys.stderr.write("\r" + line.ljust(self._drawn))
        sys.stderr.flush()
        self._drawn = len(line)

    def _line(self, progress: Progress) -> str:
        name = {"count": "counting", "learn": "learning"}[progress.stage]
        scale, unit = (1e6, " MB") if progress.unit == "bytes" else (1, " merges")
        rate = progress.done / scale / max(progress.seconds, 1e-9)
        left = "" if progress.left is None else f"  {progress.left:,.0f} s left"
        done = f"{progress.done / scale:,.0f}"
        if not progress.total:
            return f"{name}  {done}{unit}  {rate:,.0f}{unit}/s"
        share = min(progress.done / progress.total, 1.0)
        filled = round(share * self.WIDTH)
        bar = "█" * filled + "░" * (self.WIDTH - filled)
        total = f"{progress.total / scale:,.0f}"
        return f"{name}  {bar} {share:4.0%}  {done}/{total}{unit}  {rate:,.0f}{unit}/s{left}"

    def end(self) -> None:
        """End the line."""
        if self._drawn:
            sys.stderr.write("\n")
            self._drawn = 0


class Disk(Protocol):
    """What knows how far files are read; see `corpus/disk.py`."""

    total: int | None

    def done(self, counted: int) -> int:
        """Bytes on disk that are done when so many bytes of text are counted."""
        ...


class Stage:
    """One stage of a long call: a context whose `report` the core calls.

    With a `disk` whose total is known, bytes are reported as it knows them.
    """

    def __init__(
        self,
        option: ProgressOption,
        stage: Literal["count", "learn"],
        unit: Literal["bytes", "merges"],
        disk: Disk | None = None,
    ) -> None:
        self._stage: Literal["count", "learn"] = stage
        self._unit: Literal["bytes", "merges"] = unit
        self._began = time.perf_counter()
        self._bar: Bar | None = None
        self._disk = disk
        self._estimate = Estimate(stage)
        self._last: tuple[int, int] | None = None
        self._hear: Callable[[Progress], object] | None = None
        if option is True:
            if sys.stderr.isatty():
                self._hear = self._bar = Bar()
        elif option is not None and option is not False:
            self._hear = option

    @property
    def report(self) -> Report | None:
        """What the core calls, or `None` when nobody listens."""
        return self._report if self._hear is not None else None

    def _report(self, done: int, total: int) -> None:
        if self._disk is not None and self._disk.total is not None:
            done, total = self._disk.done(done), self._disk.total
        self._say(done, total)

    def _say(self, done: int, total: int) -> None:
        self._last = (done, total)
        if self._hear is not None:
            seconds = time.perf_counter() - self._began
            left = self._estimate.left(done, total or None, seconds)
            self._hear(Progress(self._stage, done, total or None, self._unit, seconds, left))

    def finish(self, done: int, total: int) -> None:
        """The stage is complete: the last report, however short the stage was."""
        if self._last != (done, total):
            self._say(done, total)

    def finish_all(self) -> None:
        """The stage is complete and had no total: what was done is all."""
        if self._last is not None:
            self.finish(self._last[0], self._last[0])

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.end()
