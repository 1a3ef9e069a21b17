"""Lesson 4, first part: the rules of training that must be fixed before it starts.

In: the options of a trainer. Out: which pair is merged next, and which id every token gets.

"Merge the most frequent pair" is not yet a rule: in a text of ordinary size, several pairs are
often equally frequent (in the CS336 course corpus this decides 80 of 243 merges). Published
trainers break such ties differently and so learn different vocabularies from one text. Each order
here is total: the result depends on the text and the options and on nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from .bytemap import BYTE_TO_CHAR
from .merge import Pair
from .special import check_special_tokens

TieBreak = Literal["lexicographic", "lowest_ids", "huggingface", "first_seen"]
SpecialIds = Literal["after_bytes", "first", "last"]


@dataclass(frozen=True)
class Rules:
    """How a trainer chooses the next pair.

    ``tie_break`` decides among pairs of equal count:

    - ``"lexicographic"`` (CS336): the greatest ``(left bytes, right bytes)``: the left tokens are
      compared first, as bytes, and the right tokens only if the left ones are equal;
    - ``"lowest_ids"`` (rustbpe): the smallest ``(left id, right id)``, where a byte's id is its
      value and merge number k makes id 256 + k. Special tokens do not count here, wherever their
      ids are;
    - ``"huggingface"`` (the BpeTrainer of ``tokenizers``): the same, but the 256 bytes are numbered
      by the code point of the character that stands for them in `bytemap`: ``!`` is 0, and the
      space, which is spelled ``Ġ``, comes late;
    - ``"first_seen"`` (minbpe): the pair that occurs first in the corpus as it is merged by then.

    A pair that occurs less often than ``min_count`` is never merged, nor is one that would make a
    token of more than ``max_token_bytes`` bytes. Both only remove candidates; what is merged is
    merged in every piece.
    """

    tie_break: TieBreak = "lexicographic"
    min_count: int = 1
    max_token_bytes: int | None = None

    def __post_init__(self) -> None:
        known = ("lexicographic", "lowest_ids", "huggingface", "first_seen")
        if self.tie_break not in known:
            raise ValueError(f"tie_break is {self.tie_break!r}; it must be one of {known}")
        if self.min_count < 1:
            raise ValueError(f"min_count is {self.min_count}; it must be at least 1")
        if self.max_token_bytes is not None and self.max_token_bytes < 1:
            raise ValueError(f"max_token_bytes is {self.max_token_bytes}; it must be at least 1")

    def most_frequent(self, pair_counts: Mapping[Pair, int]) -> list[Pair]:
        """All pairs that share the highest count, in the order of ``pair_counts``; [] if none is.

        >>> Rules().most_frequent({(b"a", b"b"): 2, (b"b", b"c"): 1, (b"c", b"d"): 2})
        [(b'a', b'b'), (b'c', b'd')]
        """
        if self.max_token_bytes is not None:
            pair_counts = {
                pair: count
                for pair, count in pair_counts.items()
                if len(pair[0]) + len(pair[1]) <= self.max_token_bytes
            }
        highest = max(pair_counts.values(), default=0)
        if highest < self.min_count:
            return []
        return [pair for pair, count in pair_counts.items() if count == highest]

    def first_order(self) -> dict[bytes, int]:
        """The number of each single byte for the two tie breaks that compare ids."""
        singles = list(range(256))
        if self.tie_break == "huggingface":
            singles.sort(key=lambda byte: BYTE_TO_CHAR[byte])
        return {bytes([byte]): number for number, byte in enumerate(singles)}

    def break_tie(self, tied: Sequence[Pair], order: Mapping[bytes, int]) -> Pair:
        """Choose one of the pairs in ``tied``, which are in the order of their first occurrence.

        ``order`` is `first_order` plus every token merged since, each with the next number.
        """
        if self.tie_break == "lexicographic":
            return max(tied)
        if self.tie_break == "first_seen":
            return tied[0]
        return min(tied, key=lambda pair: (order[pair[0]], order[pair[1]]))


def new_special_tokens(special_tokens: Iterable[str]) -> list[bytes]:
    r"""The special tokens that need an id of their own, as bytes.

    A special token of one byte, such as ``"\n"``, is in the vocab already: it keeps that byte's
    id.

    >>> new_special_tokens(["<|end|>", "|"])
    [b'<|end|>']
    """
    tokens = [token.encode() for token in check_special_tokens(special_tokens)]
    return [token for token in tokens if len(token) > 1]


def merges_wanted(vocab_size: int, special_tokens: Iterable[str]) -> int:
    """How many merges fill a vocab of this size: what the bytes and the special tokens leave.

    >>> merges_wanted(300, ["<|end|>"])
    43
    """
    if not hasattr(vocab_size, "__index__"):
        raise TypeError(f"vocab_size must be int, not {type(vocab_size).__name__} ({vocab_size!r})")
    special = len(new_special_tokens(special_tokens))
    if vocab_size < 256 + special:
        raise ValueError(
            f"vocab_size is {vocab_size}; the least is {256 + special}"
            f" (256 bytes and {special} special tokens)"
        )
    return vocab_size - 256 - special


def build_vocab(
    merges: Iterable[Pair],
    special_tokens: Iterable[str] = (),
    special_ids: SpecialIds = "after_bytes",
) -> dict[int, bytes]:
    """Give every token its id: the 256 bytes by their values, the merges in their order.

    The special tokens come after the bytes (CS336), first (Hugging Face) or last (tiktoken).

    >>> build_vocab([(b"a", b"b")], ["<|end|>"])[256], build_vocab([(b"a", b"b")], ["<|end|>"])[257]
    (b'<|end|>', b'ab')
    """
    singles = [bytes([byte]) for byte in range(256)]
    special = new_special_tokens(special_tokens)
    merged = [left + right for left, right in merges]
    if special_ids == "after_bytes":
        tokens = [*singles, *special, *merged]
    elif special_ids == "first":
        tokens = [*special, *singles, *merged]
    elif special_ids == "last":
        tokens = [*singles, *merged, *special]
    else:
        raise ValueError(
            f"special_ids is {special_ids!r}; it must be 'after_bytes', 'first' or 'last'"
        )
    return dict(enumerate(tokens))
