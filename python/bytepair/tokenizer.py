"""The tokenizer: text to ids and back.

In: a vocab with its merges, special tokens and a pattern. Out: `Tokenizer`, which encodes, decodes
and counts. The work is done by the core (`bytepair._core.Tokenizer`), whose methods this class
inherits, so a call costs no detour through Python; streams, cuts, alignment and healing come from
the modules of those names. This module builds tokenizers and names them.

It does not read or write files (`bytepair.formats` does) and does not train (`bytepair.training`).
"""

from __future__ import annotations

from collections.abc import Mapping

from bytepair import _checks, _core
from bytepair._parts import (
    check_ids,
    check_kind,
    check_name,
    check_names,
    encoded,
    listed,
    special_ids,
    without_special,
)
from bytepair.alignment import Aligning
from bytepair.batches import Batches
from bytepair.conventions import Conventions
from bytepair.deploying import Deploying
from bytepair.errors import ArgumentError, VocabError
from bytepair.healing import Healing
from bytepair.hub import Hub
from bytepair.patterns import regex
from bytepair.rewriting import Rewriting
from bytepair.streaming import Streaming
from bytepair.vocab import VocabView

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable
    from typing import Any, Literal

    import tiktoken
    import tokenizers
    from typing_extensions import Self, Unpack

    from bytepair._types import Normalizer, Pattern, SpecialTokens
    from bytepair.formats import LoadOptions
    from bytepair.report import TrainingReport

__all__ = ["Tokenizer"]


class Tokenizer(Streaming, Aligning, Batches, Healing, Deploying, Rewriting, Conventions, Hub):
    """Turns text into ids and back.

    Instances are immutable, comparable, hashable and picklable, and safe to use from many threads
    at once and after a fork. Memory for caches is bounded (1.3 MB for each thread at work; more
    where texts are long, at most 60 MB in a process).

    Args:
        vocab: id → token bytes. Ids are in [0, 2**32) and may have gaps.
        merges: (left bytes, right bytes) in rank order; `None` where `merge_rule` is `"ranks"`.
        special_tokens: names, or name → id. One whose bytes are in the vocab has that id; another
            gets the next free id. Where they overlap in a text, the longest wins.
        pattern: a name of `bytepair.patterns.names()`, a regular expression, a sequence of them, or
            `None` for no pretokenization.
        name: what to call it.
        merge_rule: `"pairs"`, merge the pair learned first (GPT-2, Hugging Face); or `"ranks"`,
            take a piece that is a token whole, else merge the pair whose joined bytes have the
            lowest id (tiktoken).
        ignore_merges: look a whole piece up before merging, under `"pairs"` too (Llama 3).
        added_tokens: name → id of tokens that are found in any text like special tokens, but are
            vocabulary, so `encode_ordinary` finds them too (Hugging Face's `special: false`).
        normalizer: what rewrites text before it is cut into pieces: `None`, the name of a step
            (`"NFC"`, `"NFD"`, `"NFKC"`, `"NFKD"`, `"Lowercase"`, `"Strip"`, `"StripLeft"`,
            `"StripRight"`), or a list of steps, among them `["Replace", old, new]`,
            `["ReplaceRegex", pattern, new]`, `["Prepend", text]`, `["Prefix", text]` (unless it
            is there), `["PrefixFirst", text]` (that, at the beginning of the text alone) and
            `["CharsMap", base64, *kept]` (SentencePiece's `precompiled_charsmap`, and texts that it
            leaves alone).

    Raises:
        VocabError: a merge's parts or result are not in the vocab, or two tokens share an id.
        ArgumentError: a special token is empty or given twice, or an option has no such value.
        PatternError: the regular expression cannot be used.

    A byte that no token covers is an error (`VocabError`) when a text holds it, not before.

    >>> tokenizer = Tokenizer({0: b"a", 1: b"b", 2: b"ab"}, [(b"a", b"b")])
    >>> tokenizer.encode("abba")
    [2, 1, 0]
    >>> tokenizer.decode([2, 1, 0])
    'abba'
    """

    __slots__ = ("__weakref__", "_conventions", "_fingerprint", "_report")
    _conventions: Mapping[str, Any]
    _fingerprint: str
    _report: TrainingReport

    def __new__(
        cls,
        vocab: Mapping[int, bytes],
        merges: Iterable[tuple[bytes, bytes]] | None,
        special_tokens: SpecialTokens | None = None,
        *,
        pattern: Pattern = "gpt2",
        name: str | None = None,
        merge_rule: Literal["pairs", "ranks"] = "pairs",
        ignore_merges: bool = False,
        added_tokens: Mapping[str, int] | None = None,
        normalizer: Normalizer = None,
    ) -> Self:
        """Build a tokenizer; see the class."""
        if merge_rule not in ("pairs", "ranks"):
            message = f'merge_rule is {merge_rule!r}; it is "pairs" or "ranks"'
            raise ArgumentError(message)
        if merge_rule == "pairs" and merges is None:
            message = 'merges is None; merge_rule="pairs" needs the list of merges'
            raise ArgumentError(message)
        if merge_rule == "ranks" and merges is not None:
            message = 'merges are given; merge_rule="ranks" has them from the ids, so give None'
            raise ArgumentError(message)
        if not isinstance(vocab, Mapping):
            message = f"vocab is a mapping from id to token bytes, not {type(vocab).__name__}"
            raise TypeError(message)
        _checks.check_way(vocab)
        check_name(name)
        if not (added_tokens is None or isinstance(added_tokens, Mapping)):
            kind = type(added_tokens).__name__
            message = f"added_tokens is a mapping from name to id, not {kind}"
            raise TypeError(message)
        pairs = list(merges or ())
        added = dict(added_tokens or {})
        special = special_ids({**vocab, **encoded(added)} if added else vocab, special_tokens)
        try:
            plain = without_special(vocab, [*special, *added], pairs)
            if merge_rule == "pairs":
                model = _core.Model.from_merges(plain, pairs, whole_pieces=ignore_merges)
            else:
                model = _core.Model.from_ranks(plain)
            return super().__new__(
                cls, model, special, regex(pattern), name, None, added, normalizer
            )
        except (TypeError, ValueError, OverflowError) as error:
            fault = _checks.explain(vocab, pairs, {**special, **added})
            raise (fault or error) from None

    @classmethod
    def _assemble(
        cls,
        model: _core.Model,
        special_tokens: Mapping[str, int],
        *,
        pattern: Pattern,
        name: str | None,
        aliases: Mapping[str, int] | None = None,
        added_tokens: Mapping[str, int] | None = None,
        normalizer: Normalizer = None,
        drops_space: bool = False,
        token_flags: Mapping[str, tuple[bool, bool, bool]] | None = None,
        conventions: Mapping[str, Any] | None = None,
    ) -> Self:
        """A tokenizer from a model that is already built."""
        made = _core.Tokenizer.__new__(
            cls,
            model,
            dict(special_tokens),
            regex(pattern),
            name,
            dict(aliases or {}),
            dict(added_tokens or {}),
            normalizer,
            drops_space,
            dict(token_flags or {}),
        )
        if conventions:
            made._conventions = conventions
        return made

    @classmethod
    def from_ranks(
        cls,
        ranks: Mapping[bytes, int],
        *,
        pattern: Pattern,
        special_tokens: SpecialTokens | None = None,
        name: str | None = None,
    ) -> Self:
        """A tokenizer from a rank table: token bytes → id, which is also its rank (tiktoken).

        Raises `VocabError` when two tokens share a rank.

        >>> ranks = {b"a": 0, b"b": 1, b"ab": 2}
        >>> Tokenizer.from_ranks(ranks, pattern=None).encode("abba")
        [2, 1, 0]
        """
        vocab: dict[int, bytes] = {}
        for token, rank in ranks.items():
            if vocab.setdefault(rank, token) != token:
                message = (
                    f"rank {rank} is given to {vocab[rank]!r} and to {token!r}; "
                    "ranks must be unique"
                )
                raise VocabError(message)
        return cls(vocab, None, special_tokens, pattern=pattern, name=name, merge_rule="ranks")

    @classmethod
    def from_tiktoken(cls, encoding: tiktoken.Encoding) -> Tokenizer:
        """A tokenizer from one of tiktoken's encodings, with its pattern and special tokens.

        What is passed over by tiktoken, because the pattern does not match it, is a piece here.
        """
        from bytepair.formats import tiktoken

        return tiktoken.from_encoding(encoding)

    def to_tiktoken(self) -> tiktoken.Encoding:
        """One of tiktoken's encodings, which gives the same ids.

        Raises `FormatError` when merge order is not id order, `ImportError` without tiktoken.
        """
        from bytepair.formats import tiktoken

        return tiktoken.to_encoding(self)

    @classmethod
    def from_huggingface(cls, tokenizer: tokenizers.Tokenizer) -> Tokenizer:
        """A tokenizer from one of the `tokenizers` library's, for BPE.

        The ids are those of `add_special_tokens=False`. Raises `FormatError` naming the part that
        is not supported.
        """
        from bytepair.formats import huggingface

        return huggingface.loads(tokenizer.to_str())

    def to_huggingface(self) -> tokenizers.Tokenizer:
        """One of the `tokenizers` library's tokenizers, which gives the same ids.

        Raises `FormatError` when it cannot, `ImportError` without the library.
        """
        from bytepair.formats import huggingface

        return huggingface.to_object(self)

    # ── What it is made of ────────────────────────────────────────────────────────────────────────

    @property
    def vocab(self) -> VocabView:
        """The vocab as a read-only mapping from id to token bytes, special tokens included."""
        return VocabView(self)

    @property
    def pattern(self) -> str | list[str] | None:
        """The pattern: its name if it has one, else the regular expression(s), or `None`."""
        return _core.pattern_name(self._pattern) or self._pattern

    @property
    def merge_rule(self) -> Literal["pairs", "ranks"]:
        """How pairs are chosen: `"pairs"` (learned first) or `"ranks"` (lowest resulting id)."""
        return "ranks" if self._model.by_rank else "pairs"

    @property
    def ignore_merges(self) -> bool:
        """Whether a whole piece is looked up before any merge."""
        return self._model.whole_pieces

    @property
    def training_report(self) -> TrainingReport | None:
        """What each merge did, for one trained with `report=True`; not saved or pickled."""
        return getattr(self, "_report", None)

    @property
    def fingerprint(self) -> str:
        """A SHA-256, in hex, of all that the ids depend on; the name is not part of it.

        Equal tokenizers have equal fingerprints, in every process and version.
        """
        try:
            return self._fingerprint
        except AttributeError:
            import hashlib

            digest = hashlib.sha256(self._canonical()).hexdigest()
            self._fingerprint = digest
            return digest

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tokenizer):
            return NotImplemented
        return self._equal(other)

    def __hash__(self) -> int:
        # Equal tokenizers agree on these; hashing the whole vocab would cost milliseconds.
        return hash((self.vocab_size, len(self._model), tuple(self.special_tokens.items())))

    def __repr__(self) -> str:
        name = f"{self.name!r}, " if self.name else ""
        pattern = self.pattern
        shown = pattern if isinstance(pattern, str) and len(pattern) <= 20 else None
        described = f", pattern {shown!r}" if shown else ""
        special = f", {len(self.special_tokens)} special" if self.special_tokens else ""
        tokens = len(self.vocab)
        gaps = f" in {self.vocab_size} ids" if tokens != self.vocab_size else ""
        return f"<Tokenizer {name}{tokens} tokens{gaps}{special}{described}>"

    def __reduce__(self) -> tuple[Any, ...]:
        from bytepair import encodings

        if self.name is not None and encodings.is_bundled(self):
            return encodings.get_encoding, (self.name,)
        table = encodings.table_of(self._model)
        if table is not None:
            parts = {
                "pattern": self._pattern,
                "name": self.name,
                "aliases": self._special_aliases,
                "added_tokens": self.added_tokens,
                "normalizer": self.normalizer,
            }
            return encodings.from_table, (table, self._special_names, parts)
        from bytepair import pickled

        return pickled.parts(self)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def _remade(self, **changes: Any) -> Self:
        """The same tokenizer with some arguments of `_assemble` changed."""
        parts: dict[str, Any] = {
            "special_tokens": self._special_names,
            "pattern": self._pattern,
            "name": self.name,
            "aliases": self._special_aliases,
            "added_tokens": self.added_tokens,
            "normalizer": self.normalizer,
            "drops_space": self.drops_space,
            "token_flags": self._token_flags,
            "conventions": getattr(self, "_conventions", None),
        }
        return self._assemble(self._model, **{**parts, **changes})

    # ── Variants ──────────────────────────────────────────────────────────────────────────────────

    def with_special_tokens(self, special_tokens: SpecialTokens) -> Self:
        """The same tokenizer with these special tokens besides the ones it has.

        Names get the next free ids, in order; a mapping gives the ids. Raises `VocabError` when an
        id is taken, `ArgumentError` when a name is empty or already a special token.

        >>> from bytepair import get_encoding
        >>> chat = get_encoding("gpt2").with_special_tokens(["<|user|>"])
        >>> chat.encode("<|user|>hello")
        [50257, 31373]
        """
        check_kind(special_tokens)
        taken = self.special_tokens
        names = listed(special_tokens)
        for token in names:
            if token in self.added_tokens:
                message = f"{token!r} is an added token already, with id {self.added_tokens[token]}"
                raise ArgumentError(message)
            if token in taken:
                message = f"{token!r} is already a special token, with id {taken[token]}"
                raise ArgumentError(message)
        if isinstance(special_tokens, Mapping):
            check_names(names)
            check_ids(special_tokens)
            added = dict(special_tokens)
        else:
            check_names(names)
            added = {token: self.vocab_size + at for at, token in enumerate(names)}
        return self._remade(special_tokens={**self._special_names, **added}, name=None)

    def resized(self, vocab_size: int) -> Tokenizer:
        """The same tokenizer with the last merges taken back, so that it has `vocab_size` tokens.

        Trained at N and cut to M, it equals one trained at M. Ids above a token taken away move
        down. Raises `ArgumentError`, naming the least size, when what is no merge takes more.

        >>> from bytepair import train
        >>> corpus = ["low low low lower lower newest newest"]
        >>> train(corpus, 262).resized(259) == train(corpus, 259)
        True
        """
        from bytepair.resize import resized

        return resized(self, vocab_size)

    # ── Files ─────────────────────────────────────────────────────────────────────────────────────

    def save(self, path: str | os.PathLike[str], *, format: str | None = None) -> None:
        """Write the tokenizer to `path`, whole or not at all.

        Args:
            path: the file (or, for formats of several files, the directory).
            format: a name of `bytepair.formats.names()`; by default the native JSON.

        Raises `FormatError` when the format cannot hold this tokenizer, and says why.
        """
        from bytepair import formats

        formats.save(self, path, format=format)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,
        **options: Unpack[LoadOptions],
    ) -> Tokenizer:
        """Read a tokenizer from `path`.

        Args:
            path: the file or directory.
            format: a name of `bytepair.formats.names()`; by default what the content shows.
            options: `pattern` and `special_tokens`, for the formats that do not hold them
                (`bytepair.formats.options` tells which they are).

        Raises `FormatError`, naming the file and the place, when it is not a tokenizer;
        `ArgumentError` when an option is missing, or given for a format that holds it itself.
        """
        from bytepair import formats

        return formats.load(path, format=format, **options)

    @classmethod
    def from_files(
        cls,
        vocab_path: str | os.PathLike[str],
        merges_path: str | os.PathLike[str],
        special_tokens: SpecialTokens | None = None,
    ) -> Tokenizer:
        """Read GPT-2's two files: `encoder.json` and `vocab.bpe` (or `vocab.json`, `merges.txt`).

        The files do not say which tokens are special: those given here are, and no others. The
        pattern is GPT-2's. Raises `FormatError` naming file and place.
        """
        from bytepair.formats import gpt2

        return gpt2.load_files(vocab_path, merges_path, special_tokens)

    def save_files(
        self, vocab_path: str | os.PathLike[str], merges_path: str | os.PathLike[str]
    ) -> None:
        """Write GPT-2's two files, the counterpart of `from_files`.

        Raises `FormatError` when they cannot hold this tokenizer.
        """
        from bytepair.formats import gpt2

        gpt2.save_files(self, vocab_path, merges_path)
