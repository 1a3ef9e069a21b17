"""Merging that begins with characters: SentencePiece's way (Llama 2, Mistral v1, Gemma).

In: a text whose spaces are spelled `▁`, and a vocabulary of texts. Out: its ids. GPT-2 begins with
bytes, so that nothing is ever unknown, and cuts words first. Here a whole text is one piece:

    "a lab"  →  ▁a▁lab  →  ▁ a ▁ l a b  →  ▁a ▁l ab  →  ▁a ▁lab

A character that is no token becomes the tokens of its bytes, `<0xE2>` and so on, or where there are
none the unknown token. There are two orders of merging: by *pair*, the one listed first goes first
(Hugging Face's files), and by *score*, where any two neighbours whose joined text is a token may
merge, that of the best score first (SentencePiece's files). In both the leftmost of equals wins.

Each merge looks at all pairs again: time grows with the square of the text. The core cuts the text
where no merge can join two characters and keeps a queue; here nothing is hidden.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

__all__ = ["merge_characters", "ranks_of_pairs", "ranks_of_scores"]

Ranks = dict[tuple[int, int], tuple[float, int]]
"""Pair of ids → (rank, the id it becomes); the lowest rank goes first."""


def ranks_of_pairs(merges: Iterable[tuple[str, str]], ids: Mapping[str, int]) -> Ranks:
    """Ranks of merges that are listed in order; of one listed twice the later place counts.

    >>> ranks_of_pairs([("a", "b")], {"a": 0, "b": 1, "ab": 2})
    {(0, 1): (0, 2)}
    """
    return {
        (ids[left], ids[right]): (rank, ids[left + right])
        for rank, (left, right) in enumerate(merges)
    }


def ranks_of_scores(scores: Mapping[str, float], ids: Mapping[str, int]) -> Ranks:
    """Ranks where the best score goes first: every way to make a token of two others.

    >>> ranks_of_scores({"a": -2, "b": -3, "ab": -1}, {"a": 0, "b": 1, "ab": 2})
    {(0, 1): (1, 2)}
    """
    ranks: Ranks = {}
    for token, score in scores.items():
        for middle in range(1, len(token)):
            left, right = token[:middle], token[middle:]
            if left in scores and right in scores:
                ranks[ids[left], ids[right]] = (-score, ids[token])
    return ranks


def merge_characters(
    text: str, ids: Mapping[str, int], ranks: Ranks, *, unknown: int | None = None
) -> list[int]:
    """The ids of a text that is one piece.

    Args:
        text: the text, its spaces spelled as the tokens spell them.
        ids: token → id; tokens for bytes are spelled `<0x00>` to `<0xFF>`.
        ranks: what `ranks_of_pairs` or `ranks_of_scores` gives.
        unknown: the id for a run of characters that have neither a token nor bytes.

    Raises `ValueError` for such a character without `unknown`.

    >>> ids = {"a": 0, "b": 1, "ab": 2, "<0xC3>": 3, "<0xA9>": 4}
    >>> merge_characters("abéa", ids, ranks_of_pairs([("a", "b")], ids))
    [2, 3, 4, 0]
    """
    parts = _symbols(text, ids, unknown)
    while True:
        best = None
        for place, pair in enumerate(pairwise(parts)):
            # Strictly less: of equals the leftmost stays.
            if pair in ranks and (best is None or ranks[pair][0] < best[0]):
                best = (*ranks[pair], place)
        if best is None:
            return parts
        _, id, place = best
        parts[place : place + 2] = [id]


def _symbols(text: str, ids: Mapping[str, int], unknown: int | None) -> list[int]:
    """What merging begins with."""
    parts: list[int] = []
    run = False
    for character in text:
        spelled = [f"<0x{byte:02X}>" for byte in character.encode()]
        known = character in ids or all(byte in ids for byte in spelled)
        if character in ids:
            parts.append(ids[character])
        elif known:
            parts += [ids[byte] for byte in spelled]
        elif unknown is None:
            message = f"{character!r} is no token, has no bytes, and nothing is unknown"
            raise ValueError(message)
        elif not run:
            parts.append(unknown)
        run = not known
    return parts
