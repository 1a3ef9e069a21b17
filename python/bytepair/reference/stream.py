"""Lesson 7: streaming, the pieces of a text that arrives in parts.

In: chunks of text, cut anywhere, even inside a word or a special token. Out: the same pieces as for
the whole text, each as soon as no later chunk can change it.

Two things may still change at the end of what has arrived:

- a special token may have begun: after ``<|endof`` we must wait. So text from the first place where
  the rest of the buffer could be the beginning of a special token is *held back*;
- the last pieces may grow or be cut differently: ``12`` may become ``123``, spaces depend on what
  follows them. But white space after other characters is a place that settles everything before it:
  in the three published patterns no word, number or contraction reaches across it, and what comes
  later is not looked at. (Punctuation may take line ends with it; that piece is settled at the next
  place.)

Memory: what lies between two such places, in prose a word. Two inputs have to be held in full: text
without any white space, and spans under a pattern other than the three, of which nothing is known,
up to the next special token. Time: the buffer is looked at again for every chunk, so very small
chunks of text without white space are slow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from .pretokenize import PATTERNS, Engine, iter_pieces, pattern_text
from .special import check_text, special_pattern, split_on_special_tokens


def held_back(text: str, special_tokens: Sequence[str]) -> int:
    """The first place at which the rest of the text could be the beginning of a special token.

    >>> held_back("ends with <|en", ["<|end|>"])
    10
    >>> held_back("ends with <|end|>", ["<|end|>"])
    17
    """
    longest = max(map(len, special_tokens), default=0)
    for start in range(max(0, len(text) - longest + 1), len(text)):
        rest = text[start:]
        if any(token.startswith(rest) and token != rest for token in special_tokens):
            return start
    return len(text)


def settled(text: str) -> int:
    """The last place where white space follows other characters; pieces up to it are final.

    >>> settled("it is  12")
    5
    """
    for place in range(len(text) - 1, 0, -1):
        if text[place] in " \t\r\n" and not text[place - 1].isspace():
            return place
    return 0


def stream_pieces(
    chunks: Iterable[str],
    special_tokens: Sequence[str] = (),
    pattern: str | None = "gpt2",
    *,
    engine: Engine | None = None,
) -> Iterator[tuple[str, bool]]:
    """The parts of a text that arrives in chunks: ``(piece, False)`` or ``(special token, True)``.

    >>> list(stream_pieces(["He", "llo wor", "ld<|e", "nd|>!"], ["<|end|>"]))
    [('Hello', False), (' world', False), ('<|end|>', True), ('!', False)]
    """
    special = special_pattern(special_tokens)
    known = pattern is not None and pattern_text(pattern) in PATTERNS.values()
    text = ""
    if not isinstance(chunks, Iterable):
        raise TypeError(f"chunks must be an iterable of str, not {type(chunks).__name__}")
    for chunk in chunks:
        check_text(chunk)
        text += chunk
        # A special token that begins before the held-back part cannot become a longer one.
        while (match := special.search(text)) and match.start() < held_back(text, special_tokens):
            for piece in iter_pieces(text[: match.start()], pattern, engine=engine):
                yield piece, False
            yield match.group(), True
            text = text[match.end() :]
        if known:
            ordinary = text[: held_back(text, special_tokens)]
            end, last = 0, settled(ordinary)
            for piece in iter_pieces(ordinary, pattern, engine=engine) if last else ():
                if end + len(piece) > last:
                    break
                yield piece, False
                end += len(piece)
            text = text[end:]
    # Nothing more comes: what was held back is what it is.
    for part in split_on_special_tokens(text, special_tokens):
        if part in special_tokens:
            yield part, True
        else:
            for piece in iter_pieces(part, pattern, engine=engine):
                yield piece, False
