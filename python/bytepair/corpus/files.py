"""Which files a corpus has, and what is in each of them by its name.

In: a path, a URL, a directory, a glob, or a list of them. Out: paths in a fixed order. A name has a
kind (`.txt`, `.jsonl`, …; any other is text) and may be packed (`.gz`, …). Contents are not looked
at.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Iterator, Mapping

from bytepair.corpus.remote import expand_url, is_url
from bytepair.errors import ArgumentError

__all__ = [
    "CORPUS_SUFFIXES",
    "LINES",
    "PACKED",
    "TABLES",
    "TEXT_SUFFIXES",
    "expand",
    "kind",
    "packing",
    "sort_corpus",
]

TEXT_SUFFIXES = (".txt", ".md")
"""Files of a directory that are read as text; a file named itself may have any other name."""
LINES = (".jsonl", ".ndjson")
TABLES = (".parquet", ".arrow")
PACKED = (".gz", ".bz2", ".xz", ".zst")

_SUFFIX = "|".join(map(re.escape, (*TEXT_SUFFIXES, *LINES, *TABLES)))
_NAME = re.compile(
    rf"\S+(?:{_SUFFIX})(?:{'|'.join(map(re.escape, PACKED))})?|\S*\*\S*\.\w{{1,8}}", re.IGNORECASE
)
"""The name of a corpus file, or a glob with a suffix."""

CORPUS_SUFFIXES = tuple(
    suffix + packed for suffix in (*TEXT_SUFFIXES, *LINES, *TABLES) for packed in ("", *PACKED)
)
"""Files of a directory that belong to a corpus."""


def packing(path: str) -> str:
    """How a file is packed: one of `PACKED`, or nothing.

    >>> packing("a.txt.gz"), packing("a.txt")
    ('.gz', '')
    """
    return next((suffix for suffix in PACKED if path.lower().endswith(suffix)), "")


def kind(path: str) -> str:
    """What is in a file: one of `LINES` or `TABLES`, or nothing, which is text.

    >>> kind("a.jsonl.zst"), kind("a.parquet"), kind("a.txt"), kind("README")
    ('.jsonl', '.parquet', '', '')
    """
    name = path.lower()
    name = name[: len(name) - len(packing(name))]
    return next((suffix for suffix in (*LINES, *TABLES) if name.endswith(suffix)), "")


def sort_corpus(corpus: object) -> tuple[list[str] | None, Iterator[str]]:
    """The files of a corpus, or its texts."""
    if isinstance(corpus, (str, os.PathLike)):
        return expand(corpus), iter(())
    if isinstance(corpus, bytes):
        message = "corpus is bytes; decode it and put it into a list"
        raise TypeError(message)
    if isinstance(corpus, Mapping):
        message = (
            f"corpus is {type(corpus).__name__}; for counts of pieces give "
            "PieceCounts({b'ab': 1000}), with bytes, and for texts a list of them"
        )
        raise TypeError(message)
    if isinstance(corpus, (list, tuple)) and corpus and all(_is_path(item) for item in corpus):
        return [path for item in corpus for path in expand(item)], iter(())
    if not isinstance(corpus, Iterable):
        message = (
            f"corpus is {type(corpus).__name__}; it is a path, a list of paths, an iterable of "
            "str, or PieceCounts"
        )
        raise TypeError(message)
    return None, iter(corpus)


def _is_path(item: object) -> bool:
    """Whether an item of a list is a file, not a text: a `Path`, or a `str` that names one.

    So is one that is written like a file's name, though there is none: learning from the name of a
    missing file would be no help. A text may be a URL, so one in a list is a path only if it ends
    as a corpus file or is a glob.
    """
    if isinstance(item, os.PathLike):
        return True
    if not isinstance(item, str) or not item or len(item) > 4096 or "\n" in item or "\0" in item:
        return False
    if is_url(item) and " " not in item:
        return item.lower().endswith(CORPUS_SUFFIXES) or "*" in item
    return os.path.exists(item) or _NAME.fullmatch(item) is not None or _is_glob(item)


def _is_glob(item: str) -> bool:
    import glob

    return glob.has_magic(item) and bool(glob.glob(item, recursive=True))


def expand(corpus: str | os.PathLike[str]) -> list[str]:
    """The files behind a path, a URL, a directory or a glob, sorted by name."""
    import glob
    from pathlib import Path

    name = os.fspath(corpus)
    if is_url(name):
        return expand_url(name, CORPUS_SUFFIXES)
    if os.path.isdir(name):
        found = sorted(
            str(path)
            for path in Path(name).rglob("*")
            if path.name.lower().endswith(CORPUS_SUFFIXES) and path.is_file()
        )
        if not found:
            kinds = " ".join((*TEXT_SUFFIXES, *LINES, *TABLES))
            message = f"{name}: the directory has no corpus file ({kinds}, packed or not)"
            raise ArgumentError(message)
        return found
    if not os.path.exists(name) and glob.has_magic(name):
        found = sorted(path for path in glob.glob(name, recursive=True) if os.path.isfile(path))
        if not found:
            message = f"{_shortened(name)}: no file matches this glob{_meant(name)}"
            raise ArgumentError(message)
        return found
    if _meant(name) and not os.path.lexists(name):
        reason = f"No such file or directory{_meant(name)}"
        raise FileNotFoundError(errno.ENOENT, reason, _shortened(name))
    return [name]


def _meant(name: str) -> str:
    """What to say of a name without a file that looks like a text."""
    named = "\n" not in name and name.lower().endswith(CORPUS_SUFFIXES)
    if len(name) < 256 and (named or not re.search(r"\s|\0|^[^./\\]*$", name)):
        return ""
    return " (a str is a path: for a text give [text], or use train_bpe_from_text)"


def _shortened(name: str) -> str:
    return name if len(name) <= 300 else f"{name[:60]}… ({len(name)} characters)"
