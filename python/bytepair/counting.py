"""Counting: corpus → piece counts, the first half of training.

In: a corpus (files, texts, or counts made before), pattern and special tokens. Out: `PieceCounts`.
The corpus is read once, on all cores, block by block; only its different pieces stay in memory, and
those that a limit leaves no room for go to a temporary folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from bytepair import _core
from bytepair._numbers import limit
from bytepair._parts import names_alone
from bytepair._types import Pattern
from bytepair.bounds import Bounds, MemoryLimit
from bytepair.corpus.disk import Disk
from bytepair.corpus.files import kind, packing, sort_corpus
from bytepair.corpus.readers import Errors, Reader, check_errors, text_source
from bytepair.corpus.remote import is_url
from bytepair.corpus.tables import texts as texts_of
from bytepair.counts import PieceCounts
from bytepair.errors import ArgumentError, CorpusError
from bytepair.patterns import regex
from bytepair.progress import ProgressOption, Stage

__all__ = ["Corpus", "count_pieces"]

Corpus = (
    str
    | os.PathLike[str]
    | Iterable[str]
    | Iterable[bytes]
    | Iterable[os.PathLike[str]]
    | PieceCounts
)

_BATCH_CHARACTERS = 1 << 22

Part = list[tuple[str, Callable[[], Reader] | None]] | Iterator[list[str]]
"""Files as the core takes them, or lists of texts."""


def count_pieces(
    corpus: Corpus,
    *,
    pattern: Pattern = "gpt2",
    special_tokens: Sequence[str] = ("<|endoftext|>",),
    text_field: str = "text",
    errors: Errors = "strict",
    threads: int | None = None,
    progress: ProgressOption = None,
    keep_order: bool = False,
    memory_limit: MemoryLimit = None,
    temp_dir: str | os.PathLike[str] | None = None,
    min_piece_count: int = 1,
) -> PieceCounts:
    """Count how often each piece occurs in a corpus: the first half of training.

    Arguments and errors are those of `train`. With `keep_order` the counts know in which order
    pieces first occur, as `tie_break="first_seen"` needs; one thread counts then. The counts must
    fit into the `memory_limit`; those that are only to be learned from need not (`train`).

    >>> count_pieces(["low low lower"])[b" low"]
    1
    """
    bounds = Bounds(memory_limit, temp_dir, min_piece_count)
    if isinstance(corpus, PieceCounts):
        return corpus if min_piece_count == 1 else corpus._with(corpus._retained(bounds))
    rules = Rules(pattern, special_tokens, text_field, errors, threads, progress, keep_order)
    core = rules.count(rules.files(corpus), bounds, to_learn=False)
    assert isinstance(core, _core.PieceCounts)
    return PieceCounts._of(core, pattern, rules.special)


class Rules:
    """How a corpus is counted: the options of `count_pieces` that decide the counts, and some."""

    def __init__(
        self,
        pattern: Pattern,
        special_tokens: Sequence[str],
        text_field: str,
        errors: Errors,
        threads: int | None,
        progress: ProgressOption,
        keep_order: bool,  # noqa: FBT001
    ) -> None:
        if threads is not None:
            threads = limit(None, threads=threads)
            if threads < 1:
                message = f"threads is {threads}; give at least 1, or None for one per core"
                raise ArgumentError(message)
        check_errors(errors)
        self.pattern = pattern
        self.special = names_alone(special_tokens)
        self._core_rules = (regex(pattern), self.special, threads or 0)
        self._field, self._errors = text_field, errors
        self._progress, self._keep_order = progress, keep_order

    @property
    def options(self) -> dict[str, object]:
        """What decides the counts, beside the corpus."""
        pattern, special, _ = self._core_rules
        rules = {"pattern": pattern, "special_tokens": special, "text_field": self._field}
        return {**rules, "errors": self._errors}

    def files(self, corpus: object) -> tuple[list[str] | None, Iterator[str]]:
        """The files of a corpus, or its texts; see `sort_corpus`."""
        return sort_corpus(corpus)

    def count(
        self, corpus: tuple[list[str] | None, Iterator[str]], bounds: Bounds, *, to_learn: bool
    ) -> _core.PieceCounts | _core.StoredCounts:
        """The counts of a corpus; on disk only if they are `to_learn` from."""
        paths, given = corpus
        files = [path for path in paths or () if not kind(path)]
        tables = [path for path in paths or () if kind(path)]
        if self._keep_order and files and tables:
            message = (
                f"the order of pieces over text files and tables together ({files[0]}, "
                f"{tables[0]}) is not kept; give files of one kind, or an iterable of their texts"
            )
            raise ArgumentError(message)
        # The core knows how far it is in text files that it reads itself.
        plain = paths is not None and self._plain(paths)
        disk = Disk(files + tables) if paths is not None and self._progress and not plain else None
        parts: list[Part] = []
        if files:
            parts.append([self._source(path, number, disk) for number, path in enumerate(files)])
        if paths is None:
            parts.append(_batches(given, bounds.memory, self._errors))
        elif tables:
            texts = self._table_texts(tables, len(files), disk)
            parts.append(_batches(texts, bounds.memory, self._errors))
        with Stage(self._progress, "count", "bytes", disk) as stage:
            core = _core.count(
                parts, *self._core_rules, stage.report, self._keep_order, bounds.for_core(),
                bounds.min_piece_count, to_learn,
            )  # fmt: skip
            if disk is not None and disk.total is not None:
                stage.finish(disk.total, disk.total)
            elif plain:
                size = sum(os.path.getsize(path) for path in files)
                stage.finish(size, size)
            else:
                stage.finish_all()
        return core

    def _plain(self, paths: Iterable[str]) -> bool:
        """Whether what is counted of files is what they hold."""
        packed = any(packing(path) or is_url(path) or kind(path) for path in paths)
        return not packed and self._errors == "strict"

    def _source(
        self, path: str, number: int, disk: Disk | None
    ) -> tuple[str, Callable[[], Reader] | None]:
        name, opens = text_source(path, self._errors)
        if disk is not None and opens is not None:
            opens = disk.place(number).follow(opens)
        return name, opens

    def _table_texts(self, paths: Iterable[str], first: int, disk: Disk | None) -> Iterator[str]:
        for number, path in enumerate(paths, first):
            place = disk.place(number) if disk is not None else None
            yield from texts_of(path, self._field, self._errors, place)

    @contextmanager
    def to_learn(
        self, corpus: tuple[list[str] | None, Iterator[str]], bounds: Bounds
    ) -> Iterator[_core.PieceCounts | _core.StoredCounts]:
        """The counts of a corpus for the time of the context."""
        core = self.count(corpus, bounds, to_learn=True)
        try:
            yield core
        finally:
            # Not when the last frame that knows them is gone: an exception keeps frames.
            if isinstance(core, _core.StoredCounts):
                core.close()


def _batches(texts: Iterator[object], memory: int | None, errors: Errors) -> Iterator[list[str]]:
    """Lists of texts of some millions of characters, checked one by one."""
    most = _BATCH_CHARACTERS if memory is None else min(_BATCH_CHARACTERS, memory // 64)
    batch: list[str] = []
    size = 0
    for index, text in enumerate(texts):
        if isinstance(text, bytes):
            text = _decoded(text, index, errors)
        if not isinstance(text, str):
            message = f"item {index} of the corpus is {type(text).__name__}; str or bytes is wanted"
            raise TypeError(message)
        batch.append(text)
        size += len(text)
        if size >= most:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _decoded(text: bytes, index: int, errors: Errors) -> str:
    try:
        return text.decode(errors=errors)
    except UnicodeDecodeError as error:
        message = (
            f"item {index} of the corpus: byte {error.start} is not valid UTF-8; "
            'repair it, or give errors="replace" or errors="ignore"'
        )
        raise CorpusError(message) from error
