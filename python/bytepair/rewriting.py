"""What happens to a text besides merging: the properties of a tokenizer that say so.

In: nothing; the core does it. Out: the normalizer, what decoding leaves out, and what special and
added tokens take or ask for around them.
"""

from __future__ import annotations

from bytepair import _core

__all__ = ["Rewriting"]


class Rewriting(_core.Tokenizer):
    """The properties of `Tokenizer` that tell how it rewrites text."""

    __slots__ = ()

    @property
    def normalizer(self) -> str | list[str | list[str]] | None:
        """What rewrites text before it is cut into pieces.

        `None`, the name of a step, or a list of steps, each of them a name or a list of a name and
        its arguments; which there are, the class says.

        >>> from bytepair import get_encoding
        >>> print(get_encoding("gpt2").normalizer)
        None
        """
        return self._around[0]

    @property
    def drops_space(self) -> bool:
        """Whether decoding leaves out one space at the beginning, which the normalizer put there.

        >>> from bytepair import get_encoding
        >>> get_encoding("gpt2").drops_space
        False
        """
        return self._around[1]

    @property
    def _token_flags(self) -> dict[str, tuple[bool, bool, bool]]:
        return self._around[2]
