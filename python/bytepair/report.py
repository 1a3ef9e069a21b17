"""What training did, merge by merge, and with it how compression grows with the vocab.

In: what the trainer counted. Out: a sequence of `MergeReport`. It costs nothing to make: the
trainer knows these numbers anyway. It describes the corpus that was trained on and is not saved
with the tokenizer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, overload

__all__ = ["MergeReport", "TrainingReport"]


@dataclass(frozen=True)
class MergeReport:
    """What one merge did to the corpus."""

    left: bytes
    right: bytes
    count: int
    """At how many places the pair stood; places in a run such as `aaa` overlap."""
    tie: bool
    """Whether another pair had the same count, so that the tie break decided."""
    saved: int
    """By how many tokens the corpus became shorter."""
    tokens: int
    """How many tokens the corpus has after it."""
    bytes_per_token: float
    """How many bytes of the corpus a token stands for after it."""


class TrainingReport(Sequence[MergeReport]):
    """All merges of a training run, in order: what `train(..., report=True)` keeps.

    >>> from bytepair import train
    >>> corpus = ["low low low lower lower newest newest"]
    >>> report = train(corpus, 259, special_tokens=[], report=True).training_report
    >>> report[0].left, report[0].right, report[0].count, report[0].tokens
    (b'o', b'w', 5, 32)
    >>> report.corpus_bytes, report.ties, [round(rate, 2) for _, rate in report.curve()]
    (37, 1, [1.0, 1.16, 1.37, 1.61])
    """

    __slots__ = (
        "_merges", "corpus_bytes", "corpus_tokens", "count_seconds", "learn_seconds", "pieces",
    )  # fmt: skip

    def __init__(
        self,
        merges: Sequence[MergeReport],
        *,
        corpus_bytes: int,
        corpus_tokens: int,
        pieces: int = 0,
        count_seconds: float = 0.0,
        learn_seconds: float = 0.0,
    ) -> None:
        self._merges = tuple(merges)
        self.corpus_bytes = corpus_bytes
        """Bytes of the corpus outside special tokens."""
        self.corpus_tokens = corpus_tokens
        """Tokens of the corpus before the first merge."""
        self.pieces = pieces
        """Different pieces of the corpus."""
        self.count_seconds = count_seconds
        """How long counting them took; next to nothing where they were counted before."""
        self.learn_seconds = learn_seconds
        """How long learning took."""

    @classmethod
    def _of(
        cls,
        merges: Sequence[tuple[bytes, bytes]],
        counts: Sequence[int],
        ties: Sequence[bool],
        saved: Sequence[int],
        *,
        corpus_bytes: int,
        tokens: int,
        **facts: Any,
    ) -> TrainingReport:
        left = list(accumulate(saved, lambda rest, gone: rest - gone, initial=tokens))[1:]
        rows = [
            MergeReport(*pair, count, tie, gone, rest, corpus_bytes / rest)
            for pair, count, tie, gone, rest in zip(merges, counts, ties, saved, left, strict=True)
        ]
        return cls(rows, corpus_bytes=corpus_bytes, corpus_tokens=tokens, **facts)

    @property
    def ties(self) -> int:
        """How many merges were decided by the tie break."""
        return sum(merge.tie for merge in self._merges)

    def curve(self) -> Iterator[tuple[int, float]]:
        """(merges made, bytes per token) from no merge on: compression against size."""
        if self.corpus_tokens:
            yield 0, self.corpus_bytes / self.corpus_tokens
        for number, merge in enumerate(self._merges, 1):
            yield number, merge.bytes_per_token

    def summary(self, points: int = 20) -> dict[str, Any]:
        """Totals and about `points` points of the curve, as JSON takes them."""
        curve = list(self.curve())
        step = max(1, -(-len(curve) // max(points, 1)))
        chosen = curve[::step]
        if curve and chosen[-1] != curve[-1]:
            chosen.append(curve[-1])
        return {
            "merges": len(self),
            "ties": self.ties,
            "corpus_bytes": self.corpus_bytes,
            "tokens_before": self.corpus_tokens,
            "tokens_after": self._merges[-1].tokens if self._merges else self.corpus_tokens,
            "last_count": self._merges[-1].count if self._merges else None,
            "curve": [{"merges": number, "bytes_per_token": rate} for number, rate in chosen],
        }

    @overload
    def __getitem__(self, at: int, /) -> MergeReport: ...
    @overload
    def __getitem__(self, at: slice, /) -> tuple[MergeReport, ...]: ...
    def __getitem__(self, at: int | slice, /) -> MergeReport | tuple[MergeReport, ...]:
        return self._merges[at]

    def __len__(self) -> int:
        return len(self._merges)

    def __repr__(self) -> str:
        return f"<TrainingReport {len(self)} merges, {self.ties} ties>"
