"""A small byte-pair encoder with pictures, as in `tiktoken._educational`.

In: a text. Out: ids, with every merge on the way printed. It is to be watched, not used: each merge
looks at the whole word again. `bytepair.reference` explains the same in more steps.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

from bytepair.corpora import sample_corpus
from bytepair.patterns import pretokenize

_COLOURS = (167, 179, 185, 77, 80, 68, 134)


class SimpleBytePairEncoding:
    """A byte-pair encoder.

    Args:
        pat_str: the pattern that cuts a text into words.
        mergeable_ranks: token bytes → rank.
    """

    def __init__(self, *, pat_str: str, mergeable_ranks: dict[bytes, int]) -> None:
        """Build an encoder; see the class."""
        self.pat_str = pat_str
        self.mergeable_ranks = mergeable_ranks
        self._decoder = {rank: token for token, rank in mergeable_ranks.items()}

    def encode(self, text: str, visualise: str | None = "colour") -> list[int]:
        """The ids of `text`; `visualise` is `"colour"`, `"simple"` or `None`.

        >>> encoder = SimpleBytePairEncoding.from_tiktoken("gpt2")
        >>> encoder.encode("hi hi", visualise="simple")
        [b'h', b'i']
        [b'hi']
        <BLANKLINE>
        [b' ', b'h', b'i']
        [b' h', b'i']
        [b' hi']
        <BLANKLINE>
        [5303, 23105]
        """
        ids = []
        for word in pretokenize(text, self.pat_str):
            ids.extend(bpe_encode(self.mergeable_ranks, word.encode(), visualise=visualise))
        return ids

    def decode_bytes(self, tokens: list[int]) -> bytes:
        """The bytes of ids."""
        return b"".join(self.decode_tokens_bytes(tokens))

    def decode(self, tokens: list[int]) -> str:
        """The text of ids; bytes that are not UTF-8 become U+FFFD."""
        return self.decode_bytes(tokens).decode(errors="replace")

    def decode_tokens_bytes(self, tokens: list[int]) -> list[bytes]:
        """The bytes of each id."""
        return [self._decoder[token] for token in tokens]

    @staticmethod
    def train(training_data: str, vocab_size: int, pat_str: str) -> SimpleBytePairEncoding:
        """Train an encoder on a text, showing each step."""
        ranks = bpe_train(training_data, vocab_size, pat_str)
        return SimpleBytePairEncoding(pat_str=pat_str, mergeable_ranks=ranks)

    @staticmethod
    def from_tiktoken(encoding: Any) -> SimpleBytePairEncoding:
        """The encoder of an `Encoding`, or of the name of one."""
        if isinstance(encoding, str):
            from bytepair.compat.tiktoken.registry import get_encoding

            encoding = get_encoding(encoding)
        return SimpleBytePairEncoding(
            pat_str=encoding._pat_str, mergeable_ranks=encoding._mergeable_ranks
        )


def bpe_encode(
    mergeable_ranks: dict[bytes, int], input: bytes, visualise: str | None = "colour"
) -> list[int]:
    """The ids of one word: its bytes, the pair of the lowest rank joined until there is none."""
    parts = [input[at : at + 1] for at in range(len(input))]
    while True:
        _show(parts, visualise)
        ranks = [
            (mergeable_ranks[left + right], at)
            for at, (left, right) in enumerate(pairwise(parts))
            if left + right in mergeable_ranks
        ]
        if not ranks:
            break
        _, at = min(ranks)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    if visualise:
        print()  # noqa: T201 - showing is its purpose
    return [mergeable_ranks[part] for part in parts]


def bpe_train(
    data: str, vocab_size: int, pat_str: str, visualise: str | None = "colour"
) -> dict[bytes, int]:
    r"""Learn ranks: of all pairs the most frequent becomes a token, again and again.

    Of pairs of equal count the one met first is taken. Raises `ValueError` when `vocab_size` is
    less than the 256 bytes.

    >>> ranks = bpe_train("low low lower", 258, r"[a-z]+|\s", visualise=None)
    >>> list(ranks)[256:]
    [b'lo', b'low']
    """
    if vocab_size < 256:
        message = "vocab_size must be at least 256, so we can encode all bytes"
        raise ValueError(message)
    ranks = {bytes([byte]): byte for byte in range(256)}
    words = [[bytes([byte]) for byte in word.encode()] for word in pretokenize(data, pat_str)]
    while len(ranks) < vocab_size:
        counts = Counter(pair for word in words for pair in pairwise(word))
        best = max(counts, key=lambda pair: counts[pair])
        ranks[best[0] + best[1]] = len(ranks)
        words = [_joined(word, best) for word in words]
        if visualise:
            print(f"{best[0]!r} and {best[1]!r} make token {len(ranks) - 1}")  # noqa: T201
            _show([part for word in words[:50] for part in word], visualise)
    return ranks


def _joined(word: list[bytes], pair: tuple[bytes, bytes]) -> list[bytes]:
    """A word in which a pair is one token, from left to right."""
    joined = []
    rest = iter(range(len(word)))
    for at in rest:
        if (word[at], *word[at + 1 : at + 2]) == pair:
            joined.append(pair[0] + pair[1])
            next(rest)
        else:
            joined.append(word[at])
    return joined


def _show(parts: list[bytes], visualise: str | None) -> None:
    if visualise in ("colour", "color"):
        visualise_tokens(parts)
    elif visualise == "simple":
        print(parts)  # noqa: T201


def visualise_tokens(token_values: list[bytes]) -> None:
    """Print tokens side by side, each with another background than its neighbours."""
    shown = []
    width = 0
    before = None
    for token in token_values:
        text = token.decode(errors="replace")
        colour = _COLOURS[width % len(_COLOURS)]
        if colour == before:
            colour = _COLOURS[(width + 1) % len(_COLOURS)]
        shown.append(f"\x1b[48;5;{colour}m{text}")
        width += len(text)
        before = colour
    print("".join(shown) + "\x1b[0m")  # noqa: T201


def train_simple_encoding() -> SimpleBytePairEncoding:
    """Train a small encoder on the sample corpus and show how it encodes two words."""
    with open(sample_corpus(), encoding="utf-8") as file:
        text = file.read(20_000)
    encoder = SimpleBytePairEncoding.train(text, 600, "gpt2")
    encoder.encode("hello world")
    return encoder
