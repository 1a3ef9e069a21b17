"""Training: corpus → piece counts → merges → tokenizer.

In: a corpus (files, texts, or counts made before) and options. Out: a `Tokenizer`, or its vocab and
merges. The corpus is read once, on all cores; only the different pieces stay in memory. The result
depends on corpus and options alone: not on threads, order of files or run (under
`tie_break="first_seen"` the order of files and texts matters).

Texts are cut at special tokens, so that merges never cross one and none is counted.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Literal

from bytepair import _core
from bytepair._numbers import LIMITLESS, limit, whole
from bytepair._parts import check_name, names_alone
from bytepair._types import Pattern
from bytepair.bounds import Bounds, MemoryLimit
from bytepair.corpus.readers import Errors
from bytepair.counting import Corpus, Rules
from bytepair.counts import PieceCounts
from bytepair.errors import ArgumentError, TrainingWarning
from bytepair.patterns import regex
from bytepair.progress import ProgressOption, Stage
from bytepair.report import TrainingReport
from bytepair.resize import with_vocab
from bytepair.tokenizer import Tokenizer

__all__ = ["train", "train_bpe", "train_bpe_from_text"]

TieBreak = Literal["lexicographic", "lowest_ids", "huggingface", "first_seen"]
SpecialIds = Literal["after_bytes", "first", "last"]
Counted = _core.PieceCounts | _core.StoredCounts
DEFAULT_SPECIAL_TOKENS = ("<|endoftext|>",)


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
    base: Tokenizer | None = None,
    report: bool = False,
    text_field: str = "text",
    errors: Errors = "strict",
    memory_limit: MemoryLimit = None,
    temp_dir: str | os.PathLike[str] | None = None,
    min_piece_count: int = 1,
    checkpoint: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
    name: str | None = None,
) -> Tokenizer:
    """Train a byte-level BPE tokenizer.

    Args:
        corpus: a path, a glob, a directory (its corpus files, at any depth) or a list of those; an
            iterable of `str` or UTF-8 `bytes`, each a text of its own; or a `PieceCounts`. A `str`
            is a path: put a text into a list. Files are text (`.txt`, `.md`, any other name),
            `.jsonl`, `.ndjson`, or, with the extra `arrow`, `.parquet` and `.arrow`; each also
            `.gz`, `.bz2`, `.xz` or `.zst`. With the extra `remote`, paths may be URLs (`s3://…`).
        vocab_size: how many tokens: the 256 bytes, the special tokens and the merges.
        special_tokens: texts that cut the corpus and have ids of their own, which `special_ids`
            places; a mapping to ids is a `TypeError`.
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
        base: a tokenizer to go on from: its ids and merges are kept and new ones follow. Pattern
            and special tokens are its own.
        report: keep what each merge did, as the tokenizer's `training_report`.
        text_field: the field of JSON lines, the column of tables; a dotted path goes into objects.
        errors: what to do with bytes that are not UTF-8: `"strict"`, `"replace"` or `"ignore"`.
        memory_limit: the most bytes that counting and learning hold, as a number or as `"2GB"`.
            Counts that have no room go to a temporary folder; the result is the same.
        temp_dir: where that folder is made, which is removed in any case.
        min_piece_count: pieces that occur more rarely are left out before learning, which needs
            less memory and time and may change the merges.
        checkpoint: a folder that keeps counts and merges as they are made. The same call goes on
            from there, with the same result; other options or another corpus are refused.
        threads: how many threads count; by default one for each core. Never changes the result.
        progress: a callable that hears `Progress`, or `True` for a bar on standard error.
        name: what to call the tokenizer.

    Returns:
        The tokenizer. Training ends early, with a `TrainingWarning`, when no pair is left to merge.

    Raises:
        ArgumentError: an option is out of range; for `vocab_size` the message says the least. The
            pieces are too many for `memory_limit`, or `checkpoint` is that of another run.
        CorpusError: a file is not UTF-8, damaged or without the text field; the message says where.
        OSError: a file cannot be read, or the disk is full.
        ImportError: a table or URL is to be read, and pyarrow or fsspec is not installed.

    The algorithm is byte-pair encoding (Gage 1994; Sennrich, Haddow and Birch 2016) on bytes.

    >>> tokenizer = train(["low low low lower lower newest newest"], 260, special_tokens=[])
    >>> tokenizer.merges
    [(b'o', b'w'), (b'l', b'ow'), (b' ', b'low'), (b'w', b'e')]
    """
    vocab_size = whole(None, vocab_size=vocab_size)
    min_count = limit(None, min_count=min_count)
    if max_token_bytes is not None:
        max_token_bytes = limit(None, max_token_bytes=max_token_bytes)
    if special_ids not in ("after_bytes", "first", "last"):
        message = f'special_ids is {special_ids!r}; it is "after_bytes", "first" or "last"'
        raise ArgumentError(message)
    check_name(name)
    special_tokens = names_alone(special_tokens)
    if base is not None:
        pattern, special_tokens = _rules_of(base, pattern, special_tokens, special_ids)
    if isinstance(corpus, PieceCounts):
        corpus.check_rules(pattern, special_tokens, exactly=base is not None)
        pattern, special_tokens = corpus.pattern, corpus.special_tokens
    special = list(special_tokens)
    wanted = _merges_wanted(vocab_size, special) if base is None else _more(vocab_size, base)
    if min_count < 1:
        message = f"min_count is {min_count}; the least is 1"
        raise ArgumentError(message)
    if max_token_bytes is not None and max_token_bytes < 1:
        message = f"max_token_bytes is {max_token_bytes}; the least is 1"
        raise ArgumentError(message)
    rules = Rules(
        pattern, special, text_field, errors, threads, progress, tie_break == "first_seen"
    )
    learned = _Learned(base, (wanted, tie_break, min_count, max_token_bytes))
    bounds = Bounds(memory_limit, temp_dir, min_piece_count)
    options = {"vocab_size": vocab_size, "special_ids": special_ids, "text_field": text_field}
    began = time.perf_counter()
    with _counted(corpus, rules, bounds, checkpoint, {**options, **learned.options}) as counts:
        counted = time.perf_counter()
        with Stage(progress, "learn", "merges") as stage:
            learned.learn(counts, bounds.checkpoint, stage)
        pieces = len(counts)
        seconds = (counted - began, time.perf_counter() - counted)
        facts = learned.report(counts, seconds) if report else None
    missing = wanted - learned.new
    if missing:
        empty = "" if pieces else " (the corpus has no text)"
        message = (
            f"no pair is left to merge{empty}: the vocab has {vocab_size - missing} tokens, not "
            f"{vocab_size}; give a larger corpus or a smaller vocab_size"
        )
        warnings.warn(message, TrainingWarning, stacklevel=2)
    if base is None:
        vocab, special_of = _number(learned.tokens, special, special_ids)
        tokenizer = Tokenizer(vocab, learned.merges, special_of, pattern=pattern, name=name)
    else:
        tokenizer = _extended(base, learned, name)
    if facts is not None:
        tokenizer._report = facts
    return tokenizer


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
    tokenizer = train(input_path, vocab_size, special_tokens=special_tokens)
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


@contextmanager
def _counted(
    corpus: Corpus,
    rules: Rules,
    bounds: Bounds,
    checkpoint: str | os.PathLike[str] | None,
    options: dict[str, object],
) -> Iterator[Counted]:
    """The counts of a corpus for the time of the context; sets the checkpoint of the bounds."""
    counts = corpus if isinstance(corpus, PieceCounts) else None
    files = rules.files([] if counts is not None else corpus)
    with ExitStack() as stack:
        if checkpoint is not None:
            from bytepair import checkpoint as checkpoints

            made_by = rules.options | options | {"min_piece_count": bounds.min_piece_count}
            what = checkpoints.identify(counts, files[0])
            folder = os.fspath(checkpoint)
            bounds.checkpoint = stack.enter_context(checkpoints.opened(folder, made_by, what))
        if counts is None:
            yield stack.enter_context(rules.to_learn(files, bounds))
            return
        core = counts._retained(bounds)
        if bounds.memory is not None:
            core.check_limit(bounds.memory)
        yield core


class _Learned:
    """Merges learned, in the numbers of the core: bytes, the base's other tokens, merges."""

    def __init__(
        self, base: Tokenizer | None, options: tuple[int, TieBreak, int, int | None]
    ) -> None:
        self._wanted = options[0]
        self._options = options[1:]
        self._base = base
        self._model = None if base is None else base._model
        self._start = [bytes([byte]) for byte in range(256)]
        if self._model is not None:
            model = self._model
            self._start += [
                token for id, token in model.items() if len(token) > 1 and model.id(token) == id
            ]
        self._known = set(self._start)
        self.tokens = self._start
        self.merges: list[tuple[bytes, bytes]] = []
        self._facts: tuple[list[int], list[bool], list[int]] = ([], [], [])

    @property
    def new(self) -> int:
        """How many tokens there are that the base did not have."""
        return sum(left + right not in self._known for left, right in self.merges)

    @property
    def options(self) -> dict[str, object]:
        """What decides the merges, beside the counts."""
        names = ("tie_break", "min_count", "max_token_bytes")
        base = None if self._base is None else self._base.fingerprint
        return {**dict(zip(names, self._options, strict=True)), "base": base}

    def learn(self, counts: Counted, checkpoint: tuple[str, float] | None, stage: Stage) -> None:
        """Learn merges that make as many new tokens as are wanted, or as many as there are."""
        number = self._wanted
        while True:
            tie_break, min_count, most = self._options
            pairs, counted, ties, saved = _core.learn(
                counts,
                min(number, LIMITLESS),
                tie_break,
                min_count,
                most,
                stage.report,
                self._model,
                checkpoint,
            )
            self.tokens = list(self._start)
            for left, right in pairs:
                self.tokens.append(self.tokens[left] + self.tokens[right])
            self.merges = [(self.tokens[left], self.tokens[right]) for left, right in pairs]
            self._facts = (counted, ties, saved)
            # A merge may give a token that the base has but never makes; it is not new.
            if self.new == self._wanted or len(pairs) < number:
                stage.finish(len(pairs), number)
                return
            number += self._wanted - self.new

    def report(self, counts: Counted, seconds: tuple[float, float]) -> TrainingReport:
        """What each merge did."""
        size = counts.total_bytes()
        tokens = size if self._model is None else counts.total_tokens(self._model)
        return TrainingReport._of(
            self.merges, *self._facts, corpus_bytes=size, tokens=tokens, pieces=len(counts),
            count_seconds=seconds[0], learn_seconds=seconds[1],
        )  # fmt: skip


def _rules_of(
    base: Tokenizer, pattern: Pattern, special_tokens: Sequence[str], special_ids: SpecialIds
) -> tuple[Pattern, list[str]]:
    """Pattern and special tokens of a base, from which the options may not differ."""
    characters = "merging that begins with characters"
    for part, there in (
        ("added tokens", base.added_tokens),
        ("a normalizer", base.normalizer),
        (characters, "as SentencePiece's" if base._model.symbols else None),
    ):
        if there:
            message = (
                f"the base has {part} ({there!s:.200}), which training does not apply to the corpus"
            )
            raise ArgumentError(message)
    own = list(base.special_tokens)
    if pattern != "gpt2" and regex(pattern) != base._pattern:
        message = f"pattern is {pattern!r}, but that of the base is {base.pattern!r}; leave it out"
        raise ArgumentError(message)
    if tuple(special_tokens) != DEFAULT_SPECIAL_TOKENS and set(special_tokens) != set(own):
        message = (
            f"special_tokens are {list(special_tokens)}, but the base has {own}; leave them out, "
            "or add some with base.with_special_tokens first"
        )
        raise ArgumentError(message)
    if special_ids != "after_bytes":
        message = f"special_ids is {special_ids!r}, but a base keeps its ids; leave it out"
        raise ArgumentError(message)
    return base.pattern, own


def _more(vocab_size: int, base: Tokenizer) -> int:
    if vocab_size < base.vocab_size:
        message = (
            f"vocab_size is {vocab_size}, but the base has {base.vocab_size} tokens already; "
            "give more, or cut it down with base.resized"
        )
        raise ArgumentError(message)
    return vocab_size - base.vocab_size


def _extended(base: Tokenizer, learned: _Learned, name: str | None) -> Tokenizer:
    """The base with the merges learned; new tokens have the next ids."""
    vocab = dict(base._model.items())
    known = set(vocab.values())
    free = base.vocab_size
    for left, right in learned.merges:
        if left + right not in known:
            vocab[free] = left + right
            free += 1
    merges = [*base.merges, *learned.merges]
    return with_vocab(base, vocab, merges, base._special_names, name=name)


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
