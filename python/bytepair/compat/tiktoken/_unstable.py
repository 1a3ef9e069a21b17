"""What an unfinished text may still become: tiktoken's `encode_with_unstable`.

In: a text that may go on. Out: the ids that stay whatever follows, and the sequences of ids that
may cover the rest. The last piece is not certain: a token may begin anywhere in it and reach beyond
it. So every token that goes on from a suffix of the piece is tried in its place, and the whole is
encoded again. That is what tiktoken calls completions; like there it is brute force, since
thousands of tokens go on from one letter. What is certain is judged by the same rules of thumb.

Bytes that are not UTF-8 are encoded by the same means: what follows the last valid character is
merged with the last piece before it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Literal

from bytepair.compat.tiktoken._merge import known_id, merged
from bytepair.patterns import pretokenize
from bytepair.tokenizer import Tokenizer

_SPACES = frozenset(b" \n\t")
# Python's isspace() takes four control characters for white space, which Unicode does not.
_NOT_SPACES = frozenset("\x1c\x1d\x1e\x1f")


class Unstable:
    """The tables that completions are looked up in, for one tokenizer."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        # The same tokens where all bytes are one piece.
        self.whole = Tokenizer._assemble(tokenizer._model, {}, pattern=None, name=None)

    @cached_property
    def tokens(self) -> list[bytes]:
        """The tokens that are not special, sorted."""
        return sorted(token for _, token in self.tokenizer._model.items())

    @cached_property
    def longest(self) -> int:
        """The bytes of the longest token."""
        return max(map(len, self.tokens))

    def encode(
        self, text: str, allowed: AbstractSet[str] | Literal["all"]
    ) -> tuple[list[int], list[list[int]]]:
        """The certain ids of `text`, and the completions of the rest, sorted."""
        ids, unstable = self.split(text, allowed)
        if not unstable:
            return ids, []
        rest = b"".join(self.tokenizer.token_bytes(id) for id in ids[-unstable:])
        return ids[:-unstable], [list(found) for found in sorted(self.completions(rest))]

    def split(self, text: str, allowed: AbstractSet[str] | Literal["all"]) -> tuple[list[int], int]:
        """The ids of `text`, and how many at the end are not certain."""
        ids = self.tokenizer.encode(text, allowed_special=allowed)
        special = 0
        while special < len(ids) and self.tokenizer._model.token(ids[-1 - special]) is not None:
            special += 1
        # What is after the last special token; a token of its own never has a special one's id.
        tail = self.tokenizer.decode_bytes(ids[len(ids) - special :]).decode()
        pieces = pretokenize(tail, self.tokenizer.pattern)
        if not pieces:
            return ids, 0
        unstable = len(self.piece(pieces[-1].encode()))
        # A line break can draw the white space before it into its piece.
        if self._is_space(ids[-unstable]):
            while unstable < len(ids) and self._is_space(ids[-unstable - 1]):
                unstable += 1
        return ids, unstable

    def completions(self, rest: bytes) -> set[tuple[int, ...]]:
        """The sequences of ids that begin with `rest`, the bytes of whole pieces."""
        id_of = self.tokenizer._model.id
        found: set[tuple[int, ...]] = {(known_id(id_of(token)),) for token in self.going_on(rest)}
        # No token goes on from more than the longest one has.
        for middle in range(max(1, len(rest) - self.longest), len(rest)):
            for token in self.going_on(rest[middle:]):
                found.add(self.covering(rest[:middle] + token, len(rest)))
        # White space at the end can fall apart from what is before it.
        last = rest.decode()[-1]
        before = rest[: -len(last.encode())]
        if before and last.isspace() and last not in _NOT_SPACES:
            found.add((*self.merged(before), *self.merged(last.encode())))
        return found

    def going_on(self, start: bytes) -> Iterator[bytes]:
        """The tokens that begin with `start`."""
        at = bisect_left(self.tokens, start)
        while at < len(self.tokens) and self.tokens[at].startswith(start):
            yield self.tokens[at]
            at += 1

    def covering(self, text: bytes, size: int) -> tuple[int, ...]:
        """The first ids of `text`, as many as cover `size` bytes."""
        try:
            ids = self.tokenizer.encode_ordinary(text.decode())
        except UnicodeDecodeError:
            ids = self.merged(text)
        covered = 0
        for count, id in enumerate(ids, 1):
            covered += len(self.tokenizer.token_bytes(id))
            if covered >= size:
                return tuple(ids[:count])
        return tuple(ids)

    def piece(self, piece: bytes) -> list[int]:
        """The ids of bytes that are one piece."""
        id = self.tokenizer._model.id(piece) if piece else None
        return [id] if id is not None else self.merged(piece)

    def merged(self, piece: bytes) -> list[int]:
        """The ids that merging gives for a piece, even if the whole piece is a token."""
        rank = self.tokenizer._model.id
        try:
            text = piece.decode()
        except UnicodeDecodeError:
            return merged(piece, rank)
        # The core takes a piece that is a token whole.
        return self.whole.encode_ordinary(text) if rank(piece) is None else merged(piece, rank)

    def encode_bytes(self, text: bytes) -> list[int]:
        """The ids of any bytes."""
        try:
            return self.tokenizer.encode_ordinary(text.decode())
        except UnicodeDecodeError as error:
            valid = error.start
        ids, unstable = self.split(text[:valid].decode(), frozenset())
        rest = b"".join(self.tokenizer.token_bytes(id) for id in ids[len(ids) - unstable :])
        return ids[: len(ids) - unstable] + self.piece(rest + text[valid:])

    def _is_space(self, id: int) -> bool:
        token = self.tokenizer._model.token(id)
        return token is not None and _SPACES.issuperset(token)
