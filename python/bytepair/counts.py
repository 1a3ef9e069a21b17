"""Piece counts: how often each piece occurs, the half-way house of training.

In: counts of one corpus, or of many, made under the same rules (pattern and special tokens). Out: a
read-only mapping from piece to count that can be added to others and weighted. Counts are 64-bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from bytepair import _core
from bytepair.errors import ArgumentError
from bytepair.patterns import Pattern, regex

__all__ = ["PieceCounts"]


class PieceCounts(Mapping[bytes, int]):
    """How often each piece occurs: a read-only mapping from piece bytes to count.

    Args:
        counts: piece → count, or pairs of them; counts of the same piece are added up.
        pattern: the pattern the pieces were cut by.
        special_tokens: the special tokens the corpus was cut at.
        keep_order: remember the order in which pieces come, for `tie_break="first_seen"`. Sums
            of counts have no order.

    Raises `OverflowError` for a count that is negative or above 2**64 - 1, `ArgumentError` when a
    sum passes that.

    >>> counts = PieceCounts({b"low": 5, b"lower": 2})
    >>> counts[b"low"], counts[b"high"], (counts + counts)[b"low"]
    (5, 0, 10)
    """

    __slots__ = ("_core", "_pattern", "_special_tokens")

    def __init__(
        self,
        counts: Mapping[bytes, int] | Iterable[tuple[bytes, int]] = (),
        *,
        pattern: Pattern = "gpt2",
        special_tokens: Sequence[str] = (),
        keep_order: bool = False,
    ) -> None:
        items = counts.items() if isinstance(counts, Mapping) else counts
        regex(pattern)
        self._core = _core.PieceCounts(items, keep_order)
        self._pattern = pattern
        self._special_tokens = tuple(special_tokens)

    @classmethod
    def _of(
        cls, core: _core.PieceCounts, pattern: Pattern, special_tokens: Sequence[str]
    ) -> PieceCounts:
        counts = cls(pattern=pattern, special_tokens=special_tokens)
        counts._core = core
        return counts

    @property
    def pattern(self) -> Pattern:
        """The pattern the pieces were cut by."""
        return self._pattern

    @property
    def special_tokens(self) -> tuple[str, ...]:
        """The special tokens the corpus was cut at."""
        return self._special_tokens

    def __getitem__(self, piece: bytes, /) -> int:
        """The count of a piece; 0 for one that does not occur."""
        return self._core.get(piece)

    def __contains__(self, piece: object, /) -> bool:
        return isinstance(piece, bytes) and self._core.get(piece) > 0

    def __iter__(self) -> Iterator[bytes]:
        return (piece for piece, _ in self._core.items())

    def __len__(self) -> int:
        return len(self._core)

    def __repr__(self) -> str:
        return f"<PieceCounts {len(self)} different pieces, {self.total()} in all>"

    def total(self) -> int:
        """The sum of all counts.

        >>> PieceCounts({b"low": 5, b"lower": 2}).total()
        7
        """
        return self._core.total()

    def most_common(self, n: int | None = None) -> list[tuple[bytes, int]]:
        """The `n` (or all) most frequent pieces with their counts; equal ones in order of bytes.

        >>> PieceCounts({b"b": 1, b"a": 1, b"c": 2}).most_common(2)
        [(b'c', 2), (b'a', 1)]
        """
        return self._core.items(n)

    def scale(self, n: int) -> PieceCounts:
        """These counts times `n`: the weight of this corpus among others.

        Raises `ArgumentError` when a count would pass 2**64 - 1.

        >>> PieceCounts({b"low": 5}).scale(3)[b"low"]
        15
        """
        return self._of(self._core.scaled(n), self._pattern, self._special_tokens)

    def __add__(self, other: PieceCounts) -> PieceCounts:
        if not isinstance(other, PieceCounts):
            return NotImplemented
        other.check_rules(self._pattern, self._special_tokens)
        return self._of(self._core.merged(other._core), self._pattern, self._special_tokens)

    def check_rules(self, pattern: Pattern, special_tokens: Sequence[str]) -> None:
        """Raise `ArgumentError` unless these counts were made under the given rules.

        The defaults of `train` stand for "whatever the counts were made under".
        """
        if pattern != "gpt2" and regex(pattern) != regex(self._pattern):
            message = f"the counts were made with pattern {self._pattern!r}, not {pattern!r}"
            raise ArgumentError(message)
        given = tuple(special_tokens)
        if given != ("<|endoftext|>",) and set(given) != set(self._special_tokens):
            message = (
                f"the counts were made with special tokens {list(self._special_tokens)}, "
                f"not {list(given)}"
            )
            raise ArgumentError(message)
