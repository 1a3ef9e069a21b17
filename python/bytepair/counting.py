"""Counting: corpus → piece counts, the first half of training.

In: a corpus (files, texts, or counts made before), pattern and special tokens. Out: `PieceCounts`.
The corpus is read once, on all cores, block by block; only its different pieces stay in memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence

from bytepair import _core
from bytepair._parts import check_names
from bytepair.corpus.files import kind, packing, sort_corpus
from bytepair.corpus.readers import Errors, check_errors, text_source
from bytepair.corpus.tables import texts as texts_of
from bytepair.counts import PieceCounts
from bytepair.errors import ArgumentError
from bytepair.patterns import Pattern, regex
from bytepair.progress import ProgressOption, Stage

__all__ = ["Corpus", "count_pieces"]

Corpus = str | os.PathLike[str] | Iterable[str] | Iterable[os.PathLike[str]] | PieceCounts

_BATCH_CHARACTERS = 1 << 22

# A core's function that counts, with all but what it reports to.
_Count = Callable[[Callable[[int, int], None] | None], _core.PieceCounts]


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
) -> PieceCounts:
    """Count how often each piece occurs in a corpus: the first half of training.

    Arguments and errors are those of `train`. With `keep_order` the counts know in which order
    pieces first occur, as `tie_break="first_seen"` needs; one thread counts then.

    >>> count_pieces(["low low lower"])[b" low"]
    1
    """
    if isinstance(corpus, PieceCounts):
        return corpus
    if threads is not None and threads < 1:
        message = f"threads is {threads}; give at least 1, or None for one per core"
        raise ArgumentError(message)
    check_errors(errors)
    special = _special_list(special_tokens)
    rules = (regex(pattern), special, threads or 0)
    paths, given = sort_corpus(corpus)
    jobs: list[_Count] = []
    files = [path for path in paths or () if not kind(path)]
    tables = [path for path in paths or () if kind(path)]
    if keep_order and files and tables:
        message = (
            f"the order of pieces over text files and tables together ({files[0]}, {tables[0]}) is "
            "not kept; give files of one kind, or an iterable of their texts"
        )
        raise ArgumentError(message)
    if files:
        sources = [text_source(path, errors) for path in files]
        jobs.append(lambda report: _core.count_files(sources, *rules, report, keep_order))
    if paths is None or tables:
        texts = given if paths is None else _table_texts(tables, text_field, errors)
        jobs.append(lambda report: _core.count_texts(_batches(texts), *rules, report, keep_order))
    plain = not tables and not any(map(packing, files)) and errors == "strict"
    size = sum(os.path.getsize(path) for path in files) if files and plain else None
    return PieceCounts._of(_run(jobs, size, progress), pattern, special)


def _run(jobs: list[_Count], size: int | None, progress: ProgressOption) -> _core.PieceCounts:
    """Run the jobs one after the other and add up what they counted."""
    with Stage(progress, "count", "bytes") as stage:
        core: _core.PieceCounts | None = None
        for job in jobs:
            found = job(stage.report)
            core = found if core is None else core.merged(found)
            stage.go_on()
        if size is not None:
            stage.finish(size, size)
        else:
            stage.finish_all()
    return core if core is not None else _core.PieceCounts(())


def _table_texts(paths: Iterable[str], field: str, errors: Errors) -> Iterator[str]:
    for path in paths:
        yield from texts_of(path, field, errors)


def _special_list(special_tokens: Sequence[str]) -> list[str]:
    if isinstance(special_tokens, str):
        message = f"special_tokens is a str; write [{special_tokens!r}] for one token"
        raise TypeError(message)
    names = list(special_tokens)
    check_names(names)
    return names


def _batches(texts: Iterator[str]) -> Iterator[list[str]]:
    """Lists of texts of some millions of characters, checked one by one."""
    batch: list[str] = []
    size = 0
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            message = f"item {index} of the corpus is {type(text).__name__}; str is wanted"
            raise TypeError(message)
        batch.append(text)
        size += len(text)
        if size >= _BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
