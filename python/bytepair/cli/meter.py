"""Progress bars: on standard error, where it is a terminal, for work that takes a while.

In: a total and steps. Out: a bar with rate and time left, gone when the work is done. rich is
imported when the first bar is drawn, so short work does not pay for it.
"""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

from bytepair.cli.show import quantity
from bytepair.estimate import Estimate
from bytepair.progress import Progress as Report

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["Meter"]

_PATIENCE = 0.5
"""Seconds of work before a bar is drawn."""


class Meter:
    """A context that shows how far the work is.

    Args:
        label: what is being done.
        total: how many units there are, if known.
        quiet: show nothing.
        unit: `"bytes"`, or the plural of what is counted.
    """

    def __init__(
        self, label: str, total: int | None = None, *, quiet: bool, unit: str = "bytes"
    ) -> None:
        self._label, self._total, self._unit = label, total, unit
        self._shown = not quiet and sys.stderr.isatty()
        self._began = time.monotonic()
        self._done = 0
        self._left: float | None = None
        self._estimate = Estimate("count")
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Meter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, units: int) -> None:
        """So many units more are done."""
        self._done += units
        seconds = time.monotonic() - self._began
        self._left = self._estimate.left(self._done, self._total, seconds)
        self._draw()

    def hear(self, report: Report) -> None:
        """What the library says of a long call."""
        label = {"count": "counting", "learn": "learning"}[report.stage]
        if label != self._label:
            self._label, self._began = label, time.monotonic() - report.seconds
            if self._bar is not None and self._task is not None:
                self._bar.remove_task(self._task)
                self._task = None
        self._done, self._total, self._unit = report.done, report.total, report.unit
        self._left = report.left
        self._draw()

    def _draw(self) -> None:
        if not self._shown:
            return
        seconds = time.monotonic() - self._began
        if self._bar is None and seconds < _PATIENCE:
            return
        amount = quantity(self._done, self._unit)
        if self._total is not None:
            amount += f" of {quantity(self._total, self._unit)}"
        rate = f"{quantity(self._done / max(seconds, 1e-9), self._unit)}/s"
        fields: dict[str, Any] = {"amount": amount, "rate": rate, "left": remaining(self._left)}
        bar = self._bar or _bar()
        if self._task is None:
            self._task = bar.add_task(self._label, total=self._total, **fields)
        bar.update(self._task, completed=self._done, total=self._total, **fields)
        if self._bar is None:
            self._bar = bar
            bar.start()


def remaining(seconds: float | None) -> str:
    """Seconds as a clock shows them.

    >>> remaining(61.4), remaining(7200), remaining(None)
    ('1:01', '2:00:00', '-:--')
    """
    if seconds is None:
        return "-:--"
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TextColumn("{task.fields[amount]}"),
        TextColumn("{task.fields[rate]}"),
        TextColumn("{task.fields[left]} left"),
        console=Console(stderr=True),
        transient=True,
    )
