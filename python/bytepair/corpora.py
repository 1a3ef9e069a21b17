"""The corpus that ships with the package.

In: nothing. Out: the path of a text file to train on without a network. About 75 kB of English and
Chinese documents of many kinds (stories, letters, explanations, code, tables, chat), written for
this package; documents are separated by `<|endoftext|>`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["sample_corpus"]


def sample_corpus() -> Path:
    """The path of the sample corpus.

    >>> sample_corpus().read_text(encoding="utf-8").count("<|endoftext|>")
    58
    """
    # Imported here: pathlib would be a third of what importing the package costs.
    from pathlib import Path

    return Path(__file__).parent / "data" / "sample_corpus.txt"
