"""Lesson 6: the tokenizer, which puts the lessons together.

In: a vocab and merges, from a trainer or from files. Out: an object that turns text into ids and
back.

    encode   text ─special→ spans ─pretokenize→ pieces ─merge→ ids
    decode   ids → bytes → text

Decoding what was encoded gives the text back, for every text. The other way round does not hold:
ids may end inside a character, so decoding is defined on bytes and only then turned into text.

Cost: encoding is a regular expression search plus one merge for each distinct piece; a bounded
cache remembers pieces, because most words of a text are repetitions; the last demonstration
measures both. The fast half of the package gives the same ids, and has batches, counting, threads
and more.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

from .bytemap import spell, unspell
from .merge import Pair, merge_by_pairs, merge_by_ranks
from .pretokenize import Engine, iter_pieces
from .special import check_special_tokens, check_text, split_on_special_tokens
from .stream import stream_pieces

MergeRule = Literal["pairs", "ranks"]


class BPETokenizer:
    """A byte-level BPE tokenizer.

    ``special_tokens`` is a list of texts or a mapping of texts to ids. A listed special token keeps
    its id from the vocab, or gets the next free id if it has none. ``merge_rule`` is explained in
    `merge`; with ``"ranks"`` an id is the rank and the merges are not used. If two ids have the
    same bytes, the lower one is used. The cache holds ``cache_size`` short pieces at most; 0 turns
    it off.

    >>> tokenizer = BPETokenizer(
    ...     {**{byte: bytes([byte]) for byte in range(256)}, 256: b"th", 257: b"the"},
    ...     [(b"t", b"h"), (b"th", b"e")],
    ...     ["<|end|>"],
    ... )
    >>> tokenizer.encode("the end<|end|>")
    [257, 32, 101, 110, 100, 258]
    >>> tokenizer.decode([257, 32, 101, 110, 100, 258])
    'the end<|end|>'
    """

    CACHED_BYTES = 64  # longer pieces are rare and would make the cache large

    def __init__(
        self,
        vocab: Mapping[int, bytes],
        merges: Iterable[Pair],
        special_tokens: Iterable[str] | Mapping[str, int] | None = None,
        *,
        pattern: str | None = "gpt2",
        merge_rule: MergeRule = "pairs",
        engine: Engine | None = None,
        cache_size: int = 50_000,
    ) -> None:
        if merge_rule not in ("pairs", "ranks"):
            raise ValueError(f"merge_rule is {merge_rule!r}; it must be 'pairs' or 'ranks'")
        if not isinstance(vocab, Mapping):
            raise TypeError(f"vocab must map ids to bytes, not be {type(vocab).__name__}")
        for id_, token in vocab.items():
            if not isinstance(token, bytes):
                raise TypeError(f"vocab must map ids to bytes; {id_!r}: {token!r} does not")
        if not isinstance(merges, Iterable):
            raise TypeError(f"merges must be a list of pairs, not {type(merges).__name__}")
        self.vocab = dict(vocab)
        self.merges = [(left, right) for left, right in merges]
        self.pattern = pattern
        self.merge_rule = merge_rule
        self.engine = engine
        self.cache_size = cache_size
        self._cache: dict[bytes, list[int]] = {}
        # From the highest id to the lowest, so that the lowest stays where two have the same bytes.
        self._ids = {self.vocab[id_]: id_ for id_ in sorted(self.vocab, reverse=True)}
        self._pair_ranks = {pair: rank for rank, pair in enumerate(self.merges)}
        self._check_merges()
        self.special_tokens = self._place_special_tokens(special_tokens or ())
        self._token_ranks = {
            token: id_
            for token, id_ in self._ids.items()
            if len(token) == 1 or id_ not in self.special_tokens.values()
        }

    def _check_merges(self) -> None:
        for rank, (left, right) in enumerate(self.merges):
            for token in (left, right, left + right):
                if token not in self._ids:
                    raise ValueError(
                        f"merge {rank} {(left, right)} needs {token!r}, not in the vocab"
                    )

    def _place_special_tokens(self, wanted: Iterable[str] | Mapping[str, int]) -> dict[str, int]:
        given = wanted if isinstance(wanted, Mapping) else {}
        placed: dict[str, int] = {}
        for token in check_special_tokens(wanted):
            next_free = max(self.vocab, default=-1) + 1
            id_ = given.get(token, self._ids.get(token.encode(), next_free))
            if id_ in placed.values() or self.vocab.get(id_, token.encode()) != token.encode():
                raise ValueError(f"special token {token!r} cannot have id {id_}: it is taken")
            placed[token] = id_
            self.vocab[id_] = token.encode()
            self._ids.setdefault(token.encode(), id_)
        return placed

    # --- encode -------------------------------------------------------------------------------

    def encode(self, text: str) -> list[int]:
        """The ids of a text; special tokens in it become their ids.

        A lone surrogate, which is no character, is a UnicodeEncodeError that names its position.
        """
        check_text(text)
        text.encode()  # raises here, where positions are those of the whole text
        ids: list[int] = []
        for part in split_on_special_tokens(text, self.special_tokens):
            if part in self.special_tokens:
                ids.append(self.special_tokens[part])
            else:
                ids += self.encode_ordinary(part)
        return ids

    def encode_ordinary(self, text: str) -> list[int]:
        """The ids of a text in which special tokens are text like any other, as from a stranger."""
        ids: list[int] = []
        for piece in iter_pieces(text, self.pattern, engine=self.engine):
            ids += self.encode_piece(piece.encode())
        return ids

    def encode_iterable(self, chunks: Iterable[str]) -> Iterator[int]:
        """The ids of a text that arrives in chunks: those of ``encode("".join(chunks))``.

        Ids come as soon as they are final; see `stream` for what has to be held back.

        >>> tokenizer = BPETokenizer({byte: bytes([byte]) for byte in range(256)}, [], ["<|end|>"])
        >>> list(tokenizer.encode_iterable(["a<|e", "nd|>b"]))
        [97, 256, 98]
        """
        special = list(self.special_tokens)
        for part, is_special in stream_pieces(chunks, special, self.pattern, engine=self.engine):
            if is_special:
                yield self.special_tokens[part]
            else:
                yield from self.encode_piece(part.encode())

    def encode_piece(self, piece: bytes) -> list[int]:
        """The ids of one piece: merge, then look up. This is what the cache remembers."""
        ids = self._cache.get(piece)
        if ids is None:
            ids = self._merge(piece)
            if len(piece) <= self.CACHED_BYTES and self.cache_size > 0:
                if len(self._cache) >= self.cache_size:
                    self._cache.clear()  # simpler than to drop the oldest, and almost as good
                self._cache[piece] = ids
        return ids

    def _merge(self, piece: bytes) -> list[int]:
        if self.merge_rule == "pairs":
            tokens = merge_by_pairs(piece, self._pair_ranks)
        else:
            tokens = merge_by_ranks(piece, self._token_ranks)
        try:
            return [self._ids[token] for token in tokens]
        except KeyError as error:
            raise ValueError(f"{error.args[0]!r} of piece {piece!r} is not in the vocab") from None

    # --- decode -------------------------------------------------------------------------------

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The bytes of a sequence of ids."""
        try:
            return b"".join([self.vocab[id_] for id_ in ids])
        except KeyError as error:
            raise ValueError(
                f"id {error.args[0]!r} is not in the vocab of {len(self.vocab)} tokens"
            ) from None

    def decode(self, ids: Iterable[int], *, errors: str = "replace") -> str:
        """The text of a sequence of ids.

        Bytes that are no UTF-8, such as half a character, become U+FFFD, or raise a
        UnicodeDecodeError with ``errors="strict"``.
        """
        return self.decode_bytes(ids).decode("utf-8", errors=errors)

    def token_strings(self, text: str) -> list[str]:
        """The tokens of a text, readable; parts of characters show as U+FFFD."""
        return [self.decode([id_]) for id_ in self.encode(text)]

    # --- files --------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything the ids depend on as one JSON file, tokens spelled as in `bytemap`."""
        content = {
            "format": "bytepair.reference",
            "version": 1,
            "pattern": self.pattern,
            "merge_rule": self.merge_rule,
            "special_tokens": self.special_tokens,
            "vocab": {id_: spell(token) for id_, token in self.vocab.items()},
            "merges": [[spell(left), spell(right)] for left, right in self.merges],
        }
        text = json.dumps(content, ensure_ascii=False, indent=1)
        Path(os.fsdecode(path)).write_text(text + "\n", encoding="utf-8", newline="\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> BPETokenizer:
        """Read what `save` wrote."""
        try:
            content = json.loads(Path(os.fsdecode(path)).read_text(encoding="utf-8"))
        except ValueError:  # neither UTF-8 nor JSON
            content = None
        if not isinstance(content, dict) or content.get("format") != "bytepair.reference":
            raise ValueError(f"{path}: not a file of bytepair.reference; see also from_files")
        if content["version"] != 1:
            raise ValueError(
                f"{path}: version {content['version']!r}; this program reads version 1"
            )
        return cls(
            {int(id_): unspell(token) for id_, token in content["vocab"].items()},
            [(unspell(left), unspell(right)) for left, right in content["merges"]],
            content["special_tokens"],
            pattern=content["pattern"],
            merge_rule=content["merge_rule"],
        )

    @classmethod
    def from_files(
        cls,
        vocab_path: str | os.PathLike[str],
        merges_path: str | os.PathLike[str],
        special_tokens: Iterable[str] | Mapping[str, int] | None = None,
        *,
        pattern: str | None = "gpt2",
    ) -> BPETokenizer:
        """Read OpenAI's ``encoder.json`` and ``vocab.bpe``.

        Elsewhere the two are called ``vocab.json`` and ``merges.txt``. Name the special tokens; the
        files do not say which they are. Nor do they hold the pattern.
        """
        special = (
            special_tokens if isinstance(special_tokens, Mapping) else [*(special_tokens or ())]
        )
        ids = json.loads(Path(os.fsdecode(vocab_path)).read_text(encoding="utf-8"))
        vocab = {
            id_: token.encode() if token in special else unspell(token)
            for token, id_ in ids.items()
        }
        lines = Path(os.fsdecode(merges_path)).read_text(encoding="utf-8").splitlines()
        merges = []
        # Only the first line can be a comment: "# a" in any other line is the merge of "#" and "a".
        first = 1 if lines and lines[0].startswith("#version") else 0
        for number, line in enumerate(lines[first:], first + 1):
            parts = line.split(" ")
            if line and len(parts) != 2:
                raise ValueError(
                    f"{merges_path}:{number}: {line!r} is not two tokens and one space"
                )
            if line:
                merges.append((unspell(parts[0]), unspell(parts[1])))
        return cls(vocab, merges, special, pattern=pattern)

    # --- the rest -----------------------------------------------------------------------------

    @property
    def vocab_size(self) -> int:
        """The number of tokens, special ones included."""
        return len(self.vocab)

    def __repr__(self) -> str:
        """The sizes at a glance."""
        return (
            f"BPETokenizer({self.vocab_size} tokens, {len(self.merges)} merges,"
            f" {len(self.special_tokens)} special, pattern={self.pattern!r})"
        )
