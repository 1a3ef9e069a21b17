"""Which token a character belongs to, and which characters a token covers.

In: a text. Out: an `Alignment`: its ids, and places asked for one by one. Nothing is computed
before it is asked for: the ids once, the places once for each unit. A look-up takes O(log n).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from bytepair._numbers import whole
from bytepair.cutting import Cutting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from bytepair._types import Allowed, Span, Unit

__all__ = ["Aligning", "Alignment"]


class Alignment:
    """A text with its tokens; `Tokenizer.align` makes one.

    A character may be made of several tokens: each of them covers it, and it belongs to the first.

    >>> from bytepair import get_encoding
    >>> alignment = get_encoding("gpt2").align("hi 🐘!")
    >>> alignment.char_to_token(3), alignment.char_to_tokens(3)
    (1, range(1, 4))
    >>> alignment.token_to_chars(1), alignment.token_to_bytes(1)
    ((2, 4), (2, 5))
    """

    def __init__(
        self, tokenizer: Cutting, text: str, allowed: Allowed = "all", disallowed: Allowed = ()
    ) -> None:
        if not isinstance(text, str):
            hint = "; decode it first" if isinstance(text, bytes) else ""
            message = f"text must be str, not {type(text).__name__}{hint}"
            raise TypeError(message)
        self.text = text
        """The text."""
        self._tokenizer = tokenizer
        self._special = (allowed, disallowed)
        self._ids: list[int] | None = None
        self._spans: dict[Unit, list[Span]] = {}
        self._starts: dict[Unit, list[int]] = {}
        self._ends: dict[Unit, list[int]] = {}

    @property
    def ids(self) -> list[int]:
        """The ids of the text.

        >>> from bytepair import get_encoding
        >>> get_encoding("gpt2").align("hello world").ids
        [31373, 995]
        """
        if self._ids is None:
            allowed, disallowed = self._special
            self._ids = self._tokenizer.encode(
                self.text, allowed_special=allowed, disallowed_special=disallowed
            )
        return self._ids

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<Alignment of {len(self.text)} characters and {len(self)} tokens>"

    def spans(self, *, unit: Unit = "char") -> list[Span]:
        """The start and end of each token, as `encode_with_offsets` gives them.

        >>> from bytepair import get_encoding
        >>> get_encoding("gpt2").align("hello world").spans()
        [(0, 5), (5, 11)]
        """
        found = self._spans.get(unit)
        if found is None:
            allowed, disallowed = self._special
            self._ids, found = self._tokenizer.encode_with_offsets(
                self.text, unit=unit, allowed_special=allowed, disallowed_special=disallowed
            )
            self._spans[unit] = found
        return found

    def token_to_chars(self, token: int) -> Span:
        """The start and end, in characters, of the token at position `token`.

        Raises `IndexError` when there is no such position.

        >>> from bytepair import get_encoding
        >>> get_encoding("gpt2").align("hello world").token_to_chars(1)
        (5, 11)
        """
        return self._span(token, "char")

    def token_to_bytes(self, token: int) -> Span:
        """The start and end, in bytes of UTF-8, of the token at position `token`.

        >>> from bytepair import get_encoding
        >>> get_encoding("gpt2").align("été bleu").token_to_bytes(1)
        (3, 5)
        """
        return self._span(token, "byte")

    def token_to_utf16(self, token: int) -> Span:
        """The start and end, in UTF-16 units, of the token at position `token`.

        >>> from bytepair import get_encoding
        >>> get_encoding("gpt2").align("🐘 x").token_to_utf16(3)
        (2, 4)
        """
        return self._span(token, "utf16")

    def _span(self, token: int, unit: Unit) -> Span:
        token, spans = whole(None, token=token), self.spans(unit=unit)
        if not -len(spans) <= token < len(spans):
            message = f"token {token} is not in the text, which has {len(spans)}, counted from 0"
            raise IndexError(message)
        return spans[token]

    def char_to_token(self, place: int, *, unit: Unit = "char") -> int:
        """The position of the first token that covers the character (byte, unit) at `place`.

        Raises `IndexError` when the text has no such place.

        >>> from bytepair import get_encoding
        >>> get_encoding("gpt2").align("hello world").char_to_token(5)
        1
        """
        return self.char_to_tokens(place, unit=unit).start

    def char_to_tokens(self, place: int, *, unit: Unit = "char") -> range:
        """The positions of all tokens that cover the character (byte, unit) at `place`.

        Raises `IndexError` when the text has no such place.

        >>> from bytepair import get_encoding
        >>> get_encoding("gpt2").align("🐘 x").char_to_tokens(0)
        range(0, 3)
        """
        place = whole(None, place=place)
        if unit not in self._ends:
            spans = self.spans(unit=unit)
            self._starts[unit] = [start for start, _ in spans]
            self._ends[unit] = [end for _, end in spans]
        starts, ends = self._starts[unit], self._ends[unit]
        length = ends[-1] if ends else 0
        if not 0 <= place < length:
            message = f"place {place} ({unit}) is not in the text, which has {length}"
            raise IndexError(message)
        first = bisect_right(ends, place)
        return range(first, bisect_left(starts, place + 1, lo=first))


class Aligning(Cutting):
    """The method of `Tokenizer` that aligns."""

    __slots__ = ()

    def align(
        self, text: str, *, allowed_special: Allowed = "all", disallowed_special: Allowed = ()
    ) -> Alignment:
        """The text with its tokens, to be asked which covers what.

        The options and what is raised are as in `encode_with_offsets`, once something is asked.

        >>> from bytepair import get_encoding
        >>> alignment = get_encoding("gpt2").align("hello world")
        >>> alignment.token_to_chars(alignment.char_to_token(7))
        (5, 11)
        """
        return Alignment(self, text, allowed_special, disallowed_special)
