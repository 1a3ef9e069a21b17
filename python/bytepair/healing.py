"""Text that ends inside a word: which tokens hold, and how it may go on.

In: a text that a model is to go on with, or its ids. Out: the ids that hold whatever follows, and
the rows of ids that may come in place of the others. This class is the part of `Tokenizer` that
does so; the search is the core's. It does not run a model: let one choose among the rows.

A prompt that ends with `http:` has a token for the colon, but a model has mostly seen `://` there,
which is another token, and so goes on badly. Healing takes the colon back and says what may come.
"""

from __future__ import annotations

from bytepair import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from bytepair._types import Allowed
    from bytepair.results import Healed

__all__ = ["Healing"]


class Healing(_core.Tokenizer):
    """The methods of `Tokenizer` for text that may go on inside a token."""

    __slots__ = ()

    def heal(self, ids: Iterable[int]) -> Healed:
        """Take back the last ids of a prompt if they are the beginning of a longer token.

        The longest end of `ids` whose bytes are the beginning of a longer token is taken back, and
        `completions` are the rows of ids that spell its bytes and may go on behind them: first
        tokens that begin with all of it, and rows whose last token reaches over its end. A special
        token is never taken back. Where there is no such end, all hold, and anything may follow.

        Raises `UnknownTokenError`.

        >>> from bytepair import get_encoding
        >>> gpt2 = get_encoding("gpt2")
        >>> healed = gpt2.heal(gpt2.encode("https:"))
        >>> healed.stable == gpt2.encode("https"), healed.tail
        (True, b':')
        >>> gpt2.encode("://") in healed.completions
        True
        """
        from bytepair._beginnings import beginnings
        from bytepair.results import Healed

        return Healed(*beginnings(self).heal(self, ids))

    def encode_with_unstable(
        self,
        text: str,
        *,
        allowed_special: Allowed = "all",
        disallowed_special: Allowed = (),
        errors: str = "strict",
    ) -> tuple[list[int], list[list[int]]]:
        """The ids of `text` that hold if it goes on, and the rows of ids that may follow them.

        With the meaning it has in tiktoken: the tokens of the last piece do not hold (nor white
        space before them), and the rows are what the text may begin with there, found by trying
        every token that may straddle its end. The rows are in order of their ids. The options are
        those of `encode`.

        Raises `ArgumentError` when the last piece has more than 1,024 bytes, or the tokenizer has a
        normalizer; else as `encode`.

        >>> from bytepair import get_encoding
        >>> stable, rows = get_encoding("cl100k_base").encode_with_unstable("hello fanta")
        >>> stable, get_encoding("cl100k_base").encode(" fantastic") in rows
        ([15339], True)
        """
        from bytepair._beginnings import beginnings

        stable, _, rows = beginnings(self).encode(
            self,
            text,
            allowed_special=allowed_special,
            disallowed_special=disallowed_special,
            errors=errors,
        )
        return stable, rows
