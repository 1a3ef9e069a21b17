"""Counting for `train` and `pieces`: corpora, and counts made before, added up.

In: files, some of which may hold piece counts. Out: their counts in one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bytepair
from bytepair.counts import is_counts_file

__all__ = ["count_all"]


def count_all(corpus: Sequence[str], **options: Any) -> bytepair.PieceCounts:
    """The counts of all files; `options` are those of `count_pieces`.

    Files of counts bring their own rules, which must be those of the options where anything is
    counted here too.
    """
    saved = [path for path in corpus if is_counts_file(path)]
    rest = [path for path in corpus if path not in saved]
    loaded = [bytepair.PieceCounts.load(path) for path in saved]
    if rest or not loaded:
        loaded.insert(0, bytepair.count_pieces(rest or [""], **options))
    for counts in loaded:
        counts.check_rules(options["pattern"], options["special_tokens"])
    total, *others = loaded
    for counts in others:
        total = total + counts
    return total
