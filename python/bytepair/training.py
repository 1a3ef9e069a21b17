"""Training: corpus → piece counts → merges → tokenizer.

In: a corpus (files, texts, or counts made before) and options. Out: a `Tokenizer`, or its vocab and
merges. The corpus is read once, on all cores; only the different pieces stay in memory. The result
depends on corpus and options alone: not on threads, order of files or run.

Text files are cut at special tokens, so that merges never cross one and none is counted. Reading of
compressed files, JSON lines and tables is not done here.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from bytepair import _core
from bytepair.counts import PieceCounts
from bytepair.errors import ArgumentError, TrainingWarning
from bytepair.patterns import Pattern, regex
from bytepair.progress import ProgressOption, Stage
from bytepair.tokenizer import Tokenizer, _check_names

__all__ = ["count_pieces", "train", "train_bpe", "train_bpe_from_text"]

TieBreak = Literal["lexicographic", "lowest_ids", "huggingface", "first_seen"]
SpecialIds = Literal["after_bytes", "first", "last"]
Corpus = str | os.PathLike[str] | Iterable[str] | Iterable[os.PathLike[str]] | PieceCounts

TEXT_SUFFIXES = (".txt", ".md")
"""Files of a directory that are read; a file named itself may have any other name."""
_LATER_SUFFIXES = (".jsonl", ".ndjson", ".parquet", ".arrow", ".gz", ".zst", ".xz", ".bz2")

_BATCH_CHARACTERS = 1 << 22


def train(
    corpus: Corpus,
    vocab_size: int,
    *,
    special_tokens: Sequence[str] = ("<|endoftext|>",),
    pattern: Pattern = "gpt2",
    tie_break: TieBreak = "lexicographic",
    special_ids: SpecialIds = "after_bytes",
    min_count: int = 1,
    max_token_bytes: int | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
    name: str | None = None,
) -> Tokenizer:
    """Train a byte-level BPE tokenizer.

    Args:
        corpus: a path, a glob, a directory (its `.txt` and `.md` files, at any depth) or a list of
            those; an iterable of `str`, each a text of its own; or a `PieceCounts`. A `str` is a
            path: put a text into a list.
        vocab_size: how many tokens: the 256 bytes, the special tokens and the merges.
        special_tokens: texts that cut the corpus and have ids of their own.
        pattern: how text is cut into pieces, within which merges stay; see `bytepair.patterns`.
        tie_break: which of several pairs of equal count is merged: `"lexicographic"`, the greatest
            (left bytes, right bytes); `"lowest_ids"`, the smallest (left id, right id), ids of
            bytes being their values; `"huggingface"`, what the `tokenizers` trainer takes;
            `"first_seen"`, the pair that stands first in the corpus as it is merged by then
            (minbpe), for which the order of files and texts matters and one thread counts.
        special_ids: where special tokens have their ids: `"after_bytes"` (from 256 on), `"first"`
            or `"last"`.
        min_count: the least count of a pair that is merged.
        max_token_bytes: the longest token that is made, in bytes.
        threads: how many threads count; by default one for each core. Never changes the result.
        progress: a callable that hears `Progress`, or `True` for a bar on standard error.
        name: what to call the tokenizer.

    Returns:
        The tokenizer. Training ends early, with a `TrainingWarning`, when no pair is left to merge.

    Raises:
        ArgumentError: an option is out of range; for `vocab_size` the message says the least.
        CorpusError: a file is not UTF-8; the message says where.
        OSError: a file cannot be read.

    The algorithm is byte-pair encoding (Gage 1994; Sennrich, Haddow and Birch 2016) on bytes.

    >>> tokenizer = train(["low low low lower lower newest newest"], 260, special_tokens=[])
    >>> tokenizer.merges
    [(b'o', b'w'), (b'l', b'ow'), (b' ', b'low'), (b'w', b'e')]
    """
    if special_ids not in ("after_bytes", "first", "last"):
        message = f'special_ids is {special_ids!r}; it is "after_bytes", "first" or "last"'
        raise ArgumentError(message)
    if isinstance(corpus, PieceCounts):
        corpus.check_rules(pattern, special_tokens)
        pattern, special_tokens = corpus.pattern, corpus.special_tokens
    special = _special_list(special_tokens)
    wanted = _merges_wanted(vocab_size, special)
    if min_count < 1:
        message = f"min_count is {min_count}; the least is 1"
        raise ArgumentError(message)
    if max_token_bytes is not None and max_token_bytes < 1:
        message = f"max_token_bytes is {max_token_bytes}; the least is 1"
        raise ArgumentError(message)
    counts = count_pieces(
        corpus,
        pattern=pattern,
        special_tokens=special,
        threads=threads,
        progress=progress,
        keep_order=tie_break == "first_seen",
    )
    with Stage(progress, "learn", "merges") as stage:
        pairs, _ = _core.learn(
            counts._core, wanted, tie_break, min_count, max_token_bytes, stage.report
        )
        stage.finish(len(pairs), wanted)
    if len(pairs) < wanted:
        size = vocab_size - wanted + len(pairs)
        message = (
            f"no pair is left to merge: the vocab has {size} tokens, not {vocab_size}; "
            "give a larger corpus or a smaller vocab_size"
        )
        warnings.warn(message, TrainingWarning, stacklevel=2)
    tokens = _tokens(pairs)
    merges = [(tokens[left], tokens[right]) for left, right in pairs]
    vocab, special_of = _number(tokens, special, special_ids)
    return Tokenizer(vocab, merges, special_of, pattern=pattern, name=name)


def train_bpe(
    input_path: str | os.PathLike[str],
    vocab_size: int,
    special_tokens: Sequence[str] = (),
) -> tuple[dict[int, bytes], list[tuple[bytes, bytes]]]:
    """Train on one text file, as in the course assignment: GPT-2's pattern, greatest pair on ties.

    Returns the vocab (id → token bytes: the bytes, the special tokens, then the merges) and the
    merges in order. Raises as `train`.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "corpus.txt")
    ...     _ = path.write_text("low low low lower lower newest newest")
    ...     vocab, merges = train_bpe(path, 258)
    >>> merges
    [(b'o', b'w'), (b'l', b'ow')]
    """
    tokenizer = train(Path(input_path), vocab_size, special_tokens=special_tokens)
    return dict(tokenizer.vocab), tokenizer.merges


def train_bpe_from_text(
    text: str,
    vocab_size: int,
    special_tokens: Sequence[str] = (),
) -> tuple[dict[int, bytes], list[tuple[bytes, bytes]]]:
    """Train on a text; otherwise as `train_bpe`.

    >>> train_bpe_from_text("low low low lower lower newest newest", 257)[1]
    [(b'o', b'w')]
    """
    if not isinstance(text, str):
        message = f"text must be str, not {type(text).__name__}"
        raise TypeError(message)
    tokenizer = train([text], vocab_size, special_tokens=special_tokens)
    return dict(tokenizer.vocab), tokenizer.merges


def count_pieces(
    corpus: Corpus,
    *,
    pattern: Pattern = "gpt2",
    special_tokens: Sequence[str] = ("<|endoftext|>",),
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
    special = _special_list(special_tokens)
    compiled = regex(pattern)
    workers = threads or 0
    paths, texts = _sort_corpus(corpus)
    with Stage(progress, "count", "bytes") as stage:
        if paths is not None:
            core = _core.count_files(
                paths, compiled, special, workers, stage.report, keep_order
            )
            size = sum(os.path.getsize(path) for path in paths)
            stage.finish(size, size)
        else:
            core = _core.count_texts(
                _batches(texts), compiled, special, workers, stage.report, keep_order
            )
            stage.finish_all()
    return PieceCounts._of(core, pattern, special)


def _special_list(special_tokens: Sequence[str]) -> list[str]:
    if isinstance(special_tokens, str):
        message = f"special_tokens is a str; write [{special_tokens!r}] for one token"
        raise TypeError(message)
    names = list(special_tokens)
    _check_names(names)
    return names


def _merges_wanted(vocab_size: int, special: list[str]) -> int:
    # A special token of one byte is in the vocab already.
    new = sum(len(token.encode()) > 1 for token in special)
    least = 256 + new
    if vocab_size < least:
        message = (
            f"vocab_size is {vocab_size}; the least is {least}: "
            f"256 bytes and {new} special token{'s' * (new != 1)}"
        )
        raise ArgumentError(message)
    return vocab_size - least


def _tokens(pairs: list[tuple[int, int]]) -> list[bytes]:
    """Token bytes by the trainer's ids: the 256 bytes, then one token a merge."""
    tokens = [bytes([byte]) for byte in range(256)]
    for left, right in pairs:
        tokens.append(tokens[left] + tokens[right])
    return tokens


def _number(
    tokens: list[bytes], special: list[str], special_ids: SpecialIds
) -> tuple[dict[int, bytes], dict[str, int]]:
    """Ids for all tokens; returns the vocab, special tokens included, and the special tokens."""
    new = [token.encode() for token in special if len(token.encode()) > 1]
    order = {
        "after_bytes": tokens[:256] + new + tokens[256:],
        "first": new + tokens,
        "last": tokens + new,
    }[special_ids]
    vocab = dict(enumerate(order))
    first = {"after_bytes": 256, "first": 0, "last": len(tokens)}[special_ids]
    ids = {token: first + at for at, token in enumerate(new)}
    byte = len(new) if special_ids == "first" else 0
    return vocab, {name: ids.get(name.encode(), byte + name.encode()[0]) for name in special}


# ── Corpora ───────────────────────────────────────────────────────────────────────────────────────


def _sort_corpus(corpus: object) -> tuple[list[str] | None, Iterator[str]]:
    """The files of a corpus, or its texts."""
    if isinstance(corpus, (str, os.PathLike)):
        return _files(corpus), iter(())
    if isinstance(corpus, bytes):
        message = "corpus is bytes; decode it and put it into a list"
        raise TypeError(message)
    if isinstance(corpus, (list, tuple)) and corpus and all(_is_path(item) for item in corpus):
        return [path for item in corpus for path in _files(item)], iter(())
    if not isinstance(corpus, Iterable):
        message = (
            f"corpus is {type(corpus).__name__}; it is a path, a list of paths, an iterable of "
            "str, or PieceCounts"
        )
        raise TypeError(message)
    return None, iter(corpus)


def _is_path(item: object) -> bool:
    """Whether an item of a list is a file, not a text: a `Path`, or a `str` that names one."""
    if isinstance(item, os.PathLike):
        return True
    if not isinstance(item, str) or not item or len(item) > 4096 or "\n" in item or "\0" in item:
        return False
    return os.path.exists(item) or _is_glob(item)


def _is_glob(item: str) -> bool:
    import glob

    return glob.has_magic(item) and bool(glob.glob(item, recursive=True))


def _files(corpus: str | os.PathLike[str]) -> list[str]:
    """The text files behind a path, a directory or a glob, sorted by name."""
    import glob

    name = os.fspath(corpus)
    if os.path.isdir(name):
        found = sorted(
            str(path)
            for path in Path(name).rglob("*")
            if path.suffix.lower() in TEXT_SUFFIXES and path.is_file()
        )
        if not found:
            message = f"{name}: the directory has no {' or '.join(TEXT_SUFFIXES)} file"
            raise ArgumentError(message)
    elif not os.path.exists(name) and glob.has_magic(name):
        found = sorted(path for path in glob.glob(name, recursive=True) if os.path.isfile(path))
        if not found:
            message = f"{name}: no file matches this glob"
            raise ArgumentError(message)
    else:
        found = [name]
    for path in found:
        if path.lower().endswith(_LATER_SUFFIXES):
            message = (
                f"{path}: files of this kind are not read yet; give plain text files, "
                "or an iterable of their texts"
            )
            raise ArgumentError(message)
    return found


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
