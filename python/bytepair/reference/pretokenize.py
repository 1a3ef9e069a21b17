r"""Lesson 2: pretokenization, cutting text into pieces before any merging.

In: a span of text. Out: *pieces* (others say pre-tokens), roughly words with the space before them.

    >>> pretokenize("Hello, world!  It's 2026")
    ['Hello', ',', ' world', '!', ' ', ' It', "'s", ' 2026']

Tokens never reach across a piece. That keeps ``dog``, ``dog.`` and ``dog!`` from becoming three
unrelated tokens, and it makes training cheap: a word seen a million times is one piece with a
count.

Nothing is lost: the pieces, joined, are the text. What a pattern does not match stays a piece of
its own. Cost: one regular expression search over the text.

The published patterns need ``\p{L}`` (any letter) and ``\p{N}`` (any number), which the third-party
package ``regex`` has and the standard library's ``re`` has not. Without ``regex`` the patterns gpt2
and cl100k are approximated for ``re``. The approximation is lossless too and differs in two things:

- numbers that are not decimal digits (the Unicode categories No and Nl: ``²``, ``½``, ``Ⅷ``, ``①``)
  count as letters: ``x²`` is one piece and not two;
- letters and numbers younger than the Unicode tables of the running Python, and letters younger
  than those of ``regex``, are not known as such.

White space is the same in both. Everything that is trained or encoded should use one engine only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Literal, cast

from .special import check_text

Engine = Literal["regex", "re"]

#: GPT-2, GPT-3 and the pattern of the CS336 course: contractions, words, numbers, the rest, spaces.
#: The lookahead gives the last space of a run to the word after it: "a  b" is "a", " ", " b".
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

#: GPT-4: contractions in any case, numbers in threes, line ends kept together. White space that
#: ends the text is one piece (in Llama 3, otherwise the same, only up to its last line end).
CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+(?![\s\S])|\s*[\r\n]|\s+(?!\S)|\s"
)

#: GPT-4o: words also end where lower case turns into upper case, contractions stay on their word.
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

PATTERNS = {"gpt2": GPT2, "cl100k": CL100K, "o200k": O200K}

# The parts of the approximation. `\w` is letters, numbers and "_"; `\d` is decimal digits.
_LETTER = r"[^\W\d_]"
_SPACE = r"[^\S\x1c-\x1f]"  # `re` counts four control characters as white space, Unicode does not
_NOT_SPACE = r"[\S\x1c-\x1f]"
_OTHER = r"(?:[^\w\s]|[_\x1c-\x1f])"  # neither letter nor number nor white space

APPROXIMATIONS = {
    GPT2: (
        rf"'s|'t|'re|'ve|'m|'ll|'d| ?{_LETTER}+| ?\d+| ?{_OTHER}+"
        rf"|{_SPACE}+(?!{_NOT_SPACE})|{_SPACE}+"
    ),
    CL100K: (
        rf"(?i:'s|'t|'re|'ve|'m|'ll|'d)|(?:{_OTHER}|(?![\r\n]){_SPACE})?{_LETTER}+|\d{{1,3}}"
        rf"| ?{_OTHER}+[\r\n]*|{_SPACE}+(?![\s\S])|{_SPACE}*[\r\n]"
        rf"|{_SPACE}+(?!{_NOT_SPACE})|{_SPACE}"
    ),
}


@cache
def default_engine() -> Engine:
    """``"regex"`` where that package is installed, otherwise the standard library's ``"re"``."""
    return "regex" if find_spec("regex") else "re"


def pattern_text(pattern: str) -> str:
    r"""The regular expression of a named pattern; any other string is one already.

    >>> pattern_text("gpt2") == GPT2 and pattern_text(r"\S+") == r"\S+"
    True
    """
    return PATTERNS.get(pattern, pattern)


def compile_pattern(pattern: str, engine: Engine | None = None) -> re.Pattern[str]:
    """Compile a named pattern or a regular expression for one of the two engines."""
    text = pattern_text(pattern)
    engine = engine or default_engine()
    if engine == "regex":
        # Its compiled patterns behave like those of `re`; both keep what they compiled in a cache.
        return cast("re.Pattern[str]", import_module("regex").compile(text))
    if engine != "re":
        raise ValueError(f"engine is {engine!r}; it must be 'regex' or 're'")
    text = APPROXIMATIONS.get(text, text)
    if r"\p{" in text:
        raise ValueError(f"pattern {pattern!r} uses \\p{{…}}, which needs: pip install regex")
    return re.compile(text)


def iter_pieces(
    text: str, pattern: str | None = GPT2, *, engine: Engine | None = None
) -> Iterator[str]:
    """The pieces of a span one by one; see `pretokenize`."""
    check_text(text)
    end = 0
    if pattern is not None:
        for match in compile_pattern(pattern, engine).finditer(text):
            if end < match.start():
                yield text[end : match.start()]  # not matched, but not lost
            if match.start() < match.end():  # an empty match only cuts
                yield match.group()
            end = match.end()
    if end < len(text):
        yield text[end:]


def pretokenize(
    text: str, pattern: str | None = GPT2, *, engine: Engine | None = None
) -> list[str]:
    r"""Cut a span into pieces. Joined, they are the span again, whatever the pattern.

    ``pattern`` is a name from `PATTERNS`, any regular expression, or None: the span is one piece.
    ``engine`` chooses between the package ``regex`` and the approximation in ``re``; by default
    ``regex`` is used where it is installed.

    >>> pretokenize("x² costs 1000", engine="re")
    ['x²', ' costs', ' 1000']
    >>> pretokenize("a-b", r"\w")
    ['a', '-', 'b']
    """
    return list(iter_pieces(text, pattern, engine=engine))
