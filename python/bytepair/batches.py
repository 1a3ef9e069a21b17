"""Counting and cutting for many texts at once.

In: texts and a limit. Out: for each text, in order, what the method for one text gives. This class
is the part of `Tokenizer` that does so, on several threads where that pays; the number of threads
never changes a result. `encode_batch` and `count_batch` are the core's.
"""

from __future__ import annotations

from collections.abc import Iterable

from bytepair import _core
from bytepair._numbers import limit
from bytepair.cutting import Cutting, breaks, check_chunks, check_truncate, lasting
from bytepair.errors import ArgumentError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytepair._types import Allowed, Prefer, Side
    from bytepair.results import Chunk

__all__ = ["Batches"]


class Batches(Cutting):
    """The methods of `Tokenizer` that take many texts and a limit."""

    __slots__ = ()

    def fits_batch(
        self,
        texts: Iterable[str],
        n: int,
        *,
        threads: int | None = None,
        allowed_special: Allowed = "all",
        disallowed_special: Allowed = (),
        errors: str = "strict",
    ) -> list[bool]:
        """Whether each text has at most `n` tokens.

        `threads` is how many at most (by default one for each core); the other arguments and what
        is raised are as in `encode`.

        >>> from bytepair import get_encoding
        >>> get_encoding("gpt2").fits_batch(["hello", "hello world"], 1)
        [True, False]
        """
        n = limit(None, n=n)
        counts = self.count_batch(
            texts,
            limit=max(n, 0),
            threads=threads,
            allowed_special=allowed_special,
            disallowed_special=disallowed_special,
            errors=errors,
        )
        return [count <= n for count in counts]

    def truncate_batch(
        self,
        texts: Iterable[str],
        max_tokens: int,
        *,
        side: Side = "right",
        threads: int | None = None,
        allowed_special: Allowed = "all",
        disallowed_special: Allowed = (),
    ) -> list[str]:
        """What `truncate` gives for each text.

        `threads` is how many at most (by default one for each core); the other arguments and what
        is raised are as in `truncate`.

        >>> from bytepair import get_encoding
        >>> get_encoding("gpt2").truncate_batch(["one two three", "four"], 2)
        ['one two', 'four']
        """
        max_tokens = check_truncate(max_tokens, side)
        given = _held(texts)
        options = {
            "allowed_special": lasting(allowed_special),
            "disallowed_special": lasting(disallowed_special),
        }
        try:
            spans = _core.cut_out_many(self, given, max_tokens, side, threads=threads, **options)
        except ArgumentError:
            if not self._rewrites():
                raise
            return [self.truncate(text, max_tokens, side=side, **options) for text in given]
        return [text[:start] + text[end:] for text, (start, end) in zip(given, spans, strict=True)]

    def chunk_batch(
        self,
        texts: Iterable[str],
        max_tokens: int,
        *,
        overlap: int = 0,
        prefer: Prefer | Sequence[Prefer] = (),
        threads: int | None = None,
        allowed_special: Allowed = "all",
        disallowed_special: Allowed = (),
    ) -> list[list[Chunk]]:
        """What `chunk` gives for each text; places are in that text.

        `threads` is how many at most (by default one for each core); the other arguments and what
        is raised are as in `chunk`.

        >>> from bytepair import get_encoding
        >>> [len(chunks) for chunks in get_encoding("gpt2").chunk_batch(["one two three", ""], 2)]
        [2, 0]
        """
        max_tokens, overlap = check_chunks(max_tokens, overlap)
        kinds = breaks(prefer)
        given = _held(texts)
        options = {
            "allowed_special": lasting(allowed_special),
            "disallowed_special": lasting(disallowed_special),
        }
        try:
            found = _core.chunks_many(
                self, given, max_tokens, overlap, kinds, threads=threads, **options
            )
        except ArgumentError:
            if not self._rewrites():
                raise
            return [
                self.chunk(text, max_tokens, overlap=overlap, prefer=kinds, **options)
                for text in given
            ]
        from bytepair.results import Chunk

        return [
            [Chunk(text[start:end], ids, start, end) for start, end, ids in chunks]
            for text, chunks in zip(given, found, strict=True)
        ]


def _held(texts: Iterable[str]) -> Iterable[str]:
    """The texts, to be gone through twice; the core refuses what is no list of them."""
    refused = isinstance(texts, (str, bytes)) or not isinstance(texts, Iterable)
    return texts if refused else list(texts)
