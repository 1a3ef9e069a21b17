"""Training: corpus → piece counts → merges → tokenizer.

In: a corpus (files, texts, or counts made before) and options. Out: a `Tokenizer`, or its vocab and
merges. The corpus is read once, on all cores; only the different pieces stay in memory. The result
depends on corpus and options alone: not on threads, order of files or run (under
`tie_break="first_seen"` the order of files and texts matters).

Texts are cut at special tokens, so that merges never cross one and none is counted.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Literal

from bytepair import _core
from bytepair.corpus.readers import Errors
from bytepair.counting import Corpus, _special_list, count_pieces
from bytepair.counts import PieceCounts
from bytepair.errors import ArgumentError, TrainingWarning
from bytepair.patterns import Pattern, regex
from bytepair.progress import ProgressOption, Stage
from bytepair.report import TrainingReport
from bytepair.resize import with_vocab
from bytepair.tokenizer import Tokenizer

__all__ = ["train", "train_bpe", "train_bpe_from_text"]

TieBreak = Literal["lexicographic", "lowest_ids", "huggingface", "first_seen"]
SpecialIds = Literal["after_bytes", "first", "last"]
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
    threads: int | None = None,
    progress: ProgressOption = None,
    name: str | None = None,
) -> Tokenizer:
    """Train a byte-level BPE tokenizer.

    Args:
        corpus: a path, a glob, a directory (its corpus files, at any depth) or a list of those; an
            iterable of `str`, each a text of its own; or a `PieceCounts`. A `str` is a path: put a
            text into a list. Files are text (`.txt`, `.md`, any other name), `.jsonl`, `.ndjson`,
            or, with the extra `arrow`, `.parquet` and `.arrow`; each also `.gz`, `.bz2`, `.xz` or
            `.zst`.
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
        base: a tokenizer to go on from: its ids and merges are kept and new ones follow. Pattern
            and special tokens are its own.
        report: keep what each merge did, as the tokenizer's `training_report`.
        text_field: the field of JSON lines, the column of tables; a dotted path goes into objects.
        errors: what to do with bytes that are not UTF-8: `"strict"`, `"replace"` or `"ignore"`.
        threads: how many threads count; by default one for each core. Never changes the result.
        progress: a callable that hears `Progress`, or `True` for a bar on standard error.
        name: what to call the tokenizer.

    Returns:
        The tokenizer. Training ends early, with a `TrainingWarning`, when no pair is left to merge.

    Raises:
        ArgumentError: an option is out of range; for `vocab_size` the message says the least.
        CorpusError: a file is not UTF-8, damaged or without the text field; the message says where.
        OSError: a file cannot be read.
        ImportError: a table is to be read and pyarrow is not installed.

    The algorithm is byte-pair encoding (Gage 1994; Sennrich, Haddow and Birch 2016) on bytes.

    >>> tokenizer = train(["low low low lower lower newest newest"], 260, special_tokens=[])
    >>> tokenizer.merges
    [(b'o', b'w'), (b'l', b'ow'), (b' ', b'low'), (b'w', b'e')]
    """
    if special_ids not in ("after_bytes", "first", "last"):
        message = f'special_ids is {special_ids!r}; it is "after_bytes", "first" or "last"'
        raise ArgumentError(message)
    if base is not None:
        pattern, special_tokens = _rules_of(base, pattern, special_tokens, special_ids)
    if isinstance(corpus, PieceCounts):
        corpus.check_rules(pattern, special_tokens, exactly=base is not None)
        pattern, special_tokens = corpus.pattern, corpus.special_tokens
    special = _special_list(special_tokens)
    wanted = _merges_wanted(vocab_size, special) if base is None else _more(vocab_size, base)
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
        text_field=text_field,
        errors=errors,
        threads=threads,
        progress=progress,
        keep_order=tie_break == "first_seen",
    )
    learned = _Learned(base)
    with Stage(progress, "learn", "merges") as stage:
        learned.learn(counts, wanted, tie_break, min_count, max_token_bytes, stage)
    missing = wanted - learned.new
    if missing:
        message = (
            f"no pair is left to merge: the vocab has {vocab_size - missing} tokens, not "
            f"{vocab_size}; give a larger corpus or a smaller vocab_size"
        )
        warnings.warn(message, TrainingWarning, stacklevel=2)
    if base is None:
        vocab, special_of = _number(learned.tokens, special, special_ids)
        tokenizer = Tokenizer(vocab, learned.merges, special_of, pattern=pattern, name=name)
    else:
        tokenizer = _extended(base, learned, name)
    if report:
        tokenizer._report = learned.report(counts)
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


class _Learned:
    """Merges learned, in the numbers of the core: bytes, the base's other tokens, merges."""

    def __init__(self, base: Tokenizer | None) -> None:
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

    def learn(
        self,
        counts: PieceCounts,
        wanted: int,
        tie_break: TieBreak,
        min_count: int,
        max_token_bytes: int | None,
        stage: Stage,
    ) -> None:
        """Learn merges that make `wanted` new tokens, or as many as there are."""
        number = wanted
        while True:
            pairs, counted, ties, saved = _core.learn(
                counts._core, number, tie_break, min_count, max_token_bytes, stage.report,
                self._model,
            )  # fmt: skip
            self.tokens = list(self._start)
            for left, right in pairs:
                self.tokens.append(self.tokens[left] + self.tokens[right])
            self.merges = [(self.tokens[left], self.tokens[right]) for left, right in pairs]
            self._facts = (counted, ties, saved)
            # A merge may give a token that the base has but never makes; it is not new.
            if self.new == wanted or len(pairs) < number:
                stage.finish(len(pairs), number)
                return
            number += wanted - self.new

    def report(self, counts: PieceCounts) -> TrainingReport:
        """What each merge did."""
        size = counts._core.total_bytes()
        tokens = size if self._model is None else counts._core.total_tokens(self._model)
        return TrainingReport._of(self.merges, *self._facts, corpus_bytes=size, tokens=tokens)


def _rules_of(
    base: Tokenizer, pattern: Pattern, special_tokens: Sequence[str], special_ids: SpecialIds
) -> tuple[Pattern, list[str]]:
    """Pattern and special tokens of a base, from which the options may not differ."""
    for part, there in (("added tokens", base.added_tokens), ("a normalizer", base.normalizer)):
        if there:
            message = f"the base has {part} ({there}), which training does not apply to the corpus"
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
