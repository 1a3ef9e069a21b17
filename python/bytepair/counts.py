"""Piece counts: how often each piece occurs, the half-way house of training.

In: counts of one corpus, or of many, made under the same rules (pattern and special tokens). Out: a
read-only mapping from piece to count that can be added to others and weighted. Counts are 64-bit.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bytepair import _core, parquet
from bytepair._numbers import limit, whole
from bytepair._parts import names_alone
from bytepair._types import Pattern
from bytepair.bounds import Bounds
from bytepair.corpus.tables import COUNTS_KEY
from bytepair.errors import ArgumentError, FormatError
from bytepair.patterns import regex

__all__ = ["PieceCounts", "is_counts_file"]

_COLUMNS = ("piece", "count")


class PieceCounts(Mapping[bytes, int]):
    """How often each piece occurs: a read-only mapping from piece bytes to count.

    Args:
        counts: piece → count, or pairs of them; counts of the same piece are added up.
        pattern: the pattern the pieces were cut by.
        special_tokens: the special tokens the corpus was cut at.
        keep_order: remember the order in which pieces come, for `tie_break="first_seen"`. Sums
            of counts have no order.

    Raises `TypeError` for a piece that is no bytes, a count that is no int, naming it, and for
    special tokens with ids; `OverflowError` for a count that is negative or above 2**64 - 1,
    `ArgumentError` for an empty piece and when a sum passes that.

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
        self._special_tokens = tuple(names_alone(special_tokens))

    @classmethod
    def _of(
        cls, core: _core.PieceCounts, pattern: Pattern, special_tokens: Sequence[str]
    ) -> PieceCounts:
        counts = cls(pattern=pattern, special_tokens=special_tokens)
        counts._core = core
        return counts

    def _with(self, core: _core.PieceCounts) -> PieceCounts:
        return self._of(core, self._pattern, self._special_tokens)

    def _retained(self, bounds: Bounds) -> _core.PieceCounts:
        least = bounds.min_piece_count
        return self._core.retained(least) if least > 1 else self._core

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
        return self._core.items(None if n is None else limit(n=n))

    def scale(self, n: int) -> PieceCounts:
        """These counts times `n`: the weight of this corpus among others.

        Raises `ArgumentError` when a count would pass 2**64 - 1.

        >>> PieceCounts({b"low": 5}).scale(3)[b"low"]
        15
        """
        n = whole(n=n)
        if n >= 1 << 64:
            message = f"n is {n}; counts are below 2**64"
            raise ArgumentError(message)
        return self._with(self._core.scaled(n))

    def __add__(self, other: PieceCounts) -> PieceCounts:
        if not isinstance(other, PieceCounts):
            return NotImplemented
        other.check_rules(self._pattern, self._special_tokens, exactly=True)
        return self._of(self._core.merged(other._core), self._pattern, self._special_tokens)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to a Parquet file, whole or not at all.

        Columns: `piece`, binary, and `count`, uint64, the most frequent piece first. The rules are
        in its metadata. The order of `keep_order` is not kept.

        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "counts.parquet")
        ...     PieceCounts({b"low": 5}).save(path)
        ...     PieceCounts.load(path)[b"low"]
        5
        """
        from bytepair.formats._files import replacing

        with replacing(os.fspath(path)) as file:
            parquet.write(file, self.most_common(), _COLUMNS, self._metadata())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PieceCounts:
        """Read what `save` wrote.

        Raises `FormatError` when the file holds something else or is damaged.
        """
        name = os.fspath(path)
        try:
            with open(name, "rb") as file:
                rules = _rules(parquet.read_metadata(file))
                return cls(parquet.read(file, _COLUMNS), **rules)
        except FormatError as error:
            message = f"{name}: {error}"
            raise FormatError(message) from error

    def _metadata(self) -> dict[str, str]:
        rules = {
            "bytepair.pattern": json.dumps(regex(self._pattern)),
            "bytepair.special_tokens": json.dumps(list(self._special_tokens)),
        }
        return {COUNTS_KEY: "1", **rules, "bytepair.rules_sha256": _hash(rules)}

    def check_rules(
        self, pattern: Pattern, special_tokens: Sequence[str], *, exactly: bool = False
    ) -> None:
        """Raise `ArgumentError` unless these counts were made under the given rules.

        Unless `exactly`, the defaults of `train` stand for "whatever the counts were made under".
        """
        if (exactly or pattern != "gpt2") and regex(pattern) != regex(self._pattern):
            message = f"the counts were made with pattern {self._pattern!r}, not {pattern!r}"
            raise ArgumentError(message)
        given = tuple(names_alone(special_tokens))
        if (exactly or given != ("<|endoftext|>",)) and set(given) != set(self._special_tokens):
            message = (
                f"the counts were made with special tokens {list(self._special_tokens)}, "
                f"not {list(given)}"
            )
            raise ArgumentError(message)


def _hash(rules: Mapping[str, str]) -> str:
    text = "\n".join(f"{key}={value}" for key, value in sorted(rules.items()))
    return hashlib.sha256(text.encode()).hexdigest()


def _rules(metadata: Mapping[str, str]) -> dict[str, Any]:
    """Pattern and special tokens that the metadata of a file hold."""
    if metadata.get(COUNTS_KEY) != "1":
        found = metadata.get(COUNTS_KEY)
        what = "holds no piece counts" if found is None else f"is of version {found!r}, not '1'"
        message = f"the Parquet file {what}; PieceCounts.save writes one"
        raise FormatError(message)
    rules = {key: metadata.get(key, "") for key in ("bytepair.pattern", "bytepair.special_tokens")}
    if _hash(rules) != metadata.get("bytepair.rules_sha256"):
        message = "the rules in its metadata do not have the hash that stands there"
        raise FormatError(message)
    pattern = json.loads(rules["bytepair.pattern"])
    return {
        "pattern": _core.pattern_name(pattern) or pattern,
        "special_tokens": json.loads(rules["bytepair.special_tokens"]),
    }


def is_counts_file(path: str | os.PathLike[str]) -> bool:
    """Whether a file is one that `PieceCounts.save` wrote, by its name's end and its metadata."""
    if not os.fspath(path).lower().endswith(".parquet"):
        return False
    try:
        with open(path, "rb") as file:
            return COUNTS_KEY in parquet.read_metadata(file)
    except (OSError, FormatError):
        return False
