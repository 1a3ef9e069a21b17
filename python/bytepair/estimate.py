"""How long a stage of training still takes, estimated from how far it was when.

In: what was done of a total, and the seconds since the stage began. Out: seconds left, or `None`
while too little is known. Counting goes on at the rate it had since it was first heard of. Learning
becomes faster: the first merges are made in many pieces, later ones in few, so the rate of the past
says little. Its cost by merge is taken to fall as the number of the merge to the power -0.7.
"""

from __future__ import annotations

import math
from typing import Literal

__all__ = ["Estimate"]

_POWER = 0.7
"""Of 0, 0.25, 0.5, 0.6, 0.7, 0.8, 0.9 and 1 the one that was right most often, on nine runs with 1
to 12 s of learning: half of the estimates within a factor of 1.6, nine of ten within 3. What was
done divided by the seconds since the beginning was off by factors of 11 and 460."""
_WINDOW = 4
"""The speed of learning is measured from a quarter of the merges on."""
_LEAST = 1.2
"""Merges must have grown by this factor before anything is said."""
_KEPT = 1.01
"""A moment is remembered if so many times more was done than at the one before."""


class Estimate:
    """The seconds left of one stage.

    >>> estimate = Estimate("count")
    >>> estimate.left(0, 100, 0.0), estimate.left(25, 100, 1.0)
    (None, 3.0)
    """

    def __init__(self, stage: Literal["count", "learn"]) -> None:
        self._stage = stage
        self._first: int | None = None
        self._moments: list[tuple[int, float]] = []

    def left(self, done: int, total: int | None, seconds: float) -> float | None:
        """Seconds until `total` is done, of which `done` is after `seconds`."""
        if total is None or done > total:
            return None
        if done == total:
            return 0.0
        if self._stage == "count":
            return self._steady(done, total, seconds)
        return self._falling(done, total, seconds)

    def _steady(self, done: int, total: int, seconds: float) -> float | None:
        # What is done when it begins is an earlier process's, of which a checkpoint tells.
        if not self._moments:
            self._moments.append((done, seconds))
        first, began = self._moments[0]
        if done <= first or seconds <= began:
            return None
        return (total - done) * (seconds - began) / (done - first)

    def _falling(self, done: int, total: int, seconds: float) -> float | None:
        # Until the first merge, or the first after those of a checkpoint, pieces are laid out.
        if self._first is None:
            self._first = done
        if done == self._first:
            return None
        moments = self._moments
        if not moments or done >= moments[-1][0] * _KEPT:
            moments.append((done, seconds))
        before = [moment for moment in moments if moment[0] * _WINDOW <= done]
        start, began = before[-1] if before else moments[0]
        if done < start * _LEAST:
            return None
        begin, here, end = (math.pow(merges, 1 - _POWER) for merges in (start, done, total))
        return (seconds - began) * (end - here) / (here - begin)
