"""Spans of tokens, and texts cut to a number of tokens.

In: a text, or ids, and a limit. Out: places in the text, or the part of it that fits. This class is
the part of `Tokenizer` that does so; the search is the core's. Only the text up to the limit is
encoded, and every result is checked by encoding it. Where the normalizer rewrites a text,
`truncate` and `chunk` find the cuts by counting (`_by_count.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bytepair import _core
from bytepair._breaks import KINDS
from bytepair._numbers import LIMITLESS, limit
from bytepair.errors import ArgumentError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytepair._types import Allowed, Prefer, Side, Unit
    from bytepair.results import Chunk
    from bytepair.tokenizer import Tokenizer

__all__ = ["Cutting"]


class Cutting(_core.Tokenizer):
    """The methods of `Tokenizer` that place and cut."""

    __slots__ = ()

    def encode_with_offsets(
        self,
        text: str,
        *,
        unit: Unit = "char",
        allowed_special: Allowed = "all",
        disallowed_special: Allowed = (),
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """The ids of `text` and, for each, the start and end of its token in the text.

        Args:
            text: the text.
            unit: what the places count: `"char"` (characters, as in `text[start:end]`), `"byte"`
                (of UTF-8) or `"utf16"` (units, as JavaScript counts).
            allowed_special: as in `encode`.
            disallowed_special: as in `encode`.

        A token that covers part of a character has the whole of it, so that its neighbour's span
        overlaps its own; in bytes each begins where the one before ends. Nothing is trimmed. Where
        the normalizer NFC joins characters, the first of them has the place. Raises `ArgumentError`
        where a normalizer rewrites the text in another way than this, or than by putting one
        character for another: then its tokens have no places in it.

        >>> from bytepair import get_encoding
        >>> get_encoding("gpt2").encode_with_offsets("hello world")
        ([31373, 995], [(0, 5), (5, 11)])
        """
        options = {
            "allowed_special": lasting(allowed_special),
            "disallowed_special": lasting(disallowed_special),
        }
        try:
            return _core.encode_with_offsets(self, text, unit, **options)
        except ArgumentError:
            from bytepair._places import places, rewriter

            rewrite = rewriter(self._around[0])
            if rewrite is None or unit not in ("char", "byte", "utf16"):
                raise
        tokenizer: Tokenizer = self  # type: ignore[assignment]
        return places(tokenizer, text, rewrite, unit, *options.values())

    def decode_with_offsets(
        self, ids: Iterable[int], *, errors: str = "replace"
    ) -> tuple[str, list[int]]:
        """The text of `ids` and, for each, the index of the character in which its token begins.

        `errors` is `"replace"`, `"ignore"` or `"strict"`; what is raised is as in `decode`.

        >>> from bytepair import get_encoding
        >>> get_encoding("gpt2").decode_with_offsets([31373, 995])
        ('hello world', [0, 5])
        """
        return _core.decode_with_offsets(self, ids, errors=errors)

    def fits(
        self,
        text: str | bytes,
        n: int,
        *,
        allowed_special: Allowed = "all",
        disallowed_special: Allowed = (),
        errors: str = "strict",
    ) -> bool:
        """Whether `text` has at most `n` tokens. Counting stops once there are more.

        The other arguments and what is raised are as in `encode`.

        >>> from bytepair import get_encoding
        >>> gpt2 = get_encoding("gpt2")
        >>> gpt2.fits("hello world", 2), gpt2.fits("hello world", 1)
        (True, False)
        """
        if type(n) is not int or n > LIMITLESS:
            n = limit(None, n=n)
        count = self.count(
            text,
            limit=max(n, 0),
            allowed_special=allowed_special,
            disallowed_special=disallowed_special,
            errors=errors,
        )
        return count <= n

    def truncate(
        self,
        text: str,
        max_tokens: int,
        *,
        side: Side = "right",
        allowed_special: Allowed = "all",
        disallowed_special: Allowed = (),
    ) -> str:
        """As much of `text` as has at most `max_tokens` tokens, in whole characters.

        Args:
            text: the text.
            max_tokens: the limit.
            side: where to cut. `"right"` keeps the longest start whose own encoding fits, `"left"`
                the longest end. `"middle"` keeps the longest start that fits in half of the limit
                (rounded up) and the longest end that fits in what it leaves, made shorter where the
                two joined have more tokens than apart.
            allowed_special: as in `encode`.
            disallowed_special: as in `encode`, for the whole text.

        Only the text near the limit is encoded more than once. Where no cut is known to be safe for
        more than 512 bytes (one word, or a regular expression of the caller's), the search encodes
        at most 16 MB in all, enough for what some thousands of tokens cover, or a hundred thousand
        without a pattern. Past that it starts from the tokens of the whole and takes more
        while more fits within the length of the longest token; what is kept then fits, and is the
        longest but for texts made to mislead it.

        >>> from bytepair import get_encoding
        >>> gpt2 = get_encoding("gpt2")
        >>> [gpt2.truncate("one two three", 2, side=s) for s in ("right", "left", "middle")]
        ['one two', ' two three', 'one three']
        """
        start, end = self._cut_out(text, max_tokens, side, allowed_special, disallowed_special)
        return text[:start] + text[end:]

    def truncate_with_span(
        self,
        text: str,
        max_tokens: int,
        *,
        side: Side = "right",
        allowed_special: Allowed = "all",
        disallowed_special: Allowed = (),
    ) -> tuple[str, list[int], tuple[int, int]]:
        """What `truncate` gives, its ids, and where it stands in `text`, as a start and an end.

        With `side="middle"` two parts are left, and the span is what was taken out between them.

        >>> from bytepair import get_encoding
        >>> get_encoding("gpt2").truncate_with_span("one two three", 2, side="left")
        (' two three', [734, 1115], (3, 13))
        """
        start, end = self._cut_out(text, max_tokens, side, allowed_special, disallowed_special)
        kept = text[:start] + text[end:]
        ids = self.encode(
            kept, allowed_special=allowed_special, disallowed_special=disallowed_special
        )
        if side == "right":
            return kept, ids, (0, start)
        return kept, ids, (end, len(text)) if side == "left" else (start, end)

    def chunk(
        self,
        text: str,
        max_tokens: int,
        *,
        overlap: int = 0,
        prefer: Prefer | Sequence[Prefer] = (),
        allowed_special: Allowed = "all",
        disallowed_special: Allowed = (),
    ) -> list[Chunk]:
        """Cuts `text` into chunks of at most `max_tokens` tokens, in whole characters.

        Each chunk is the longest that fits, or ends where `prefer` says. Without overlap the chunks
        joined are the text; `ids` are those of the chunk alone, so the last and first of neighbours
        may differ from the ids of the whole text there.

        Args:
            text: the text.
            max_tokens: the limit.
            overlap: a chunk begins with as much of the end of the one before as has at most this
                many tokens; with nothing of it where that leaves no room for one more character.
            prefer: where a chunk should end: behind a `"paragraph"` (a blank line), a `"line"` or a
                `"sentence"`, or several of these, the best first. The last such place in the chunk
                is taken, of the first kind of which it has one, and the longest chunk if it has
                none.
            allowed_special: as in `encode`.
            disallowed_special: as in `encode`, for the whole text.

        Raises `ArgumentError` when `overlap` is not less than `max_tokens`, or when a character
        alone has more than `max_tokens` tokens; says which and how many it takes.

        >>> from bytepair import get_encoding
        >>> [chunk.text for chunk in get_encoding("gpt2").chunk("one two three four", 3, overlap=1)]
        ['one two three', ' three four']
        >>> [chunk.text for chunk in get_encoding("gpt2").chunk("A b. C d e", 5, prefer="sentence")]
        ['A b.', ' C d e']
        """
        max_tokens, overlap = check_chunks(max_tokens, overlap)
        kinds = breaks(prefer)
        options = {
            "allowed_special": lasting(allowed_special),
            "disallowed_special": lasting(disallowed_special),
        }
        from bytepair.results import Chunk

        try:
            found = _core.chunks(self, text, max_tokens, overlap, kinds, **options)
        except ArgumentError:
            if not self._rewrites():
                raise
        else:
            return [Chunk(text[start:end], ids, start, end) for start, end, ids in found]
        from bytepair._by_count import Search

        search = Search(self, text, *options.values())
        return [
            Chunk(text[start:end], search.ids(start, end), start, end)
            for start, end in search.chunks(max_tokens, overlap, kinds)
        ]

    def _cut_out(
        self, text: str, max_tokens: int, side: Side, allowed: Allowed, disallowed: Allowed
    ) -> tuple[int, int]:
        max_tokens = check_truncate(max_tokens, side)
        options = {"allowed_special": lasting(allowed), "disallowed_special": lasting(disallowed)}
        try:
            return _core.cut_out(self, text, max_tokens, side, **options)
        except ArgumentError:
            if not self._rewrites():
                raise
        # Only here: most texts are not rewritten.
        from bytepair._by_count import Search

        return Search(self, text, *options.values()).cut_out(max_tokens, side)

    def _rewrites(self) -> bool:
        """Whether tokens may have no places in a text as given, for which the core refuses it."""
        return self._around[0] is not None or self._model.symbols is not None


def breaks(prefer: Prefer | Sequence[Prefer]) -> list[Prefer]:
    """The names of the breaks that a caller prefers."""
    if not isinstance(prefer, Iterable):
        message = f"prefer must be a str or a list of str, not {type(prefer).__name__}"
        raise TypeError(message)
    names: list[Prefer] = [prefer] if isinstance(prefer, str) else list(prefer)
    for name in names:
        if name not in KINDS:
            message = f"prefer has {name!r}; it takes {', '.join(map(repr, KINDS))}"
            raise ArgumentError(message)
    return names


def lasting(choice: Allowed) -> Allowed:
    """A choice of special tokens that can be read more than once."""
    return list(choice) if isinstance(choice, Iterator) else choice


def check_truncate(max_tokens: object, side: object) -> int:
    """The limit. Refuses what `truncate` cannot take, by its name."""
    most = limit(max_tokens=max_tokens)
    if side not in ("right", "left", "middle"):
        message = f'side is {side!r}; it is "right", "left" or "middle"'
        raise ArgumentError(message)
    return most


def check_chunks(max_tokens: object, overlap: object) -> tuple[int, int]:
    """The limit and the overlap. Refuses what `chunk` cannot take, by its name."""
    most, shared = limit(1, max_tokens=max_tokens), limit(overlap=overlap)
    if shared >= most:
        message = (
            f"overlap is {overlap} and max_tokens is {max_tokens}; overlap must be less, so that "
            "each chunk has something new"
        )
        raise ArgumentError(message)
    return most, shared
