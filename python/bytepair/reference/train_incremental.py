"""Lesson 5: training, the same result in a fraction of the time.

In and out: as in lesson 4. A merge changes few pieces, so two things are kept up to date instead of
being counted anew:

- ``counts``: how often each pair occurs;
- ``words_with``: the *inverted index*, for each pair the words that contain it.

To apply a merge, only the words that contain the pair are touched: the word is taken out of both
tables, changed, and put back in. Cost: a step takes time proportional to the length of the touched
words and to the number of distinct pairs (the search for the maximum, which runs at C speed).
A megabyte and some thousand merges take seconds to minutes: most for a text without spaces, whose
pieces are long. For more, use the fast half of the package, which does the same with a queue in
place of the search and with several threads.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path

from .merge import Pair, Word, merge_word, single_bytes
from .pretokenize import GPT2
from .rules import Rules, SpecialIds, TieBreak
from .train import Trained, train_with


class PairTable:
    """The words of a corpus with the counts of their pairs, kept up to date.

    >>> table = PairTable({b"hug": 3, b"hugs": 2})
    >>> table.merge((b"u", b"g"))
    >>> table.counts
    {(b'h', b'ug'): 5, (b'ug', b's'): 2}
    """

    def __init__(self, counts: Mapping[bytes, int]) -> None:
        self.words: list[Word] = [single_bytes(piece) for piece in counts]
        self.weights = list(counts.values())
        self.counts: dict[Pair, int] = {}
        self.words_with: dict[Pair, set[int]] = {}
        for index in range(len(self.words)):
            self._put_in(index)

    def merge(self, pair: Pair) -> None:
        """Merge one pair in all words."""
        for index in tuple(self.words_with[pair]):  # a copy: the set changes on the way
            self._take_out(index)
            self.words[index] = merge_word(self.words[index], pair)
            self._put_in(index)

    def first_occurrence(self, pair: Pair) -> tuple[int, int]:
        """The first word that contains the pair, and the place in it."""
        index = min(self.words_with[pair])
        return index, list(pairwise(self.words[index])).index(pair)

    def _put_in(self, index: int) -> None:
        for pair in pairwise(self.words[index]):
            self.counts[pair] = self.counts.get(pair, 0) + self.weights[index]
            self.words_with.setdefault(pair, set()).add(index)

    def _take_out(self, index: int) -> None:
        for pair in pairwise(self.words[index]):
            self.counts[pair] -= self.weights[index]
            self.words_with[pair].discard(index)
        for pair in pairwise(self.words[index]):
            if pair in self.words_with and not self.words_with[pair]:
                del self.counts[pair], self.words_with[pair]  # else both would only ever grow


def learn_merges(counts: Mapping[bytes, int], wanted: int, rules: Rules) -> list[Pair]:
    """Learn up to ``wanted`` merges from piece counts.

    >>> learn_merges({b"low": 5, b"lower": 2, b"widest": 3, b"newest": 6}, 3, Rules())
    [(b's', b't'), (b'e', b'st'), (b'o', b'w')]
    """
    table = PairTable(counts)
    order = rules.first_order()
    merges: list[Pair] = []
    while len(merges) < wanted:
        tied = rules.most_frequent(table.counts)
        if not tied:
            break
        if rules.tie_break == "first_seen":
            tied.sort(key=table.first_occurrence)  # the table's own order is that of the updates
        pair = rules.break_tie(tied, order)
        table.merge(pair)
        order[pair[0] + pair[1]] = len(order)
        merges.append(pair)
    return merges


def train_bpe_from_text(
    text: str,
    vocab_size: int,
    special_tokens: Iterable[str] = (),
    *,
    pattern: str | None = GPT2,
    tie_break: TieBreak = "lexicographic",
    special_ids: SpecialIds = "after_bytes",
    min_count: int = 1,
    max_token_bytes: int | None = None,
) -> Trained:
    """Train on a text; the options and the result are those of `train.train_bpe_reference`.

    >>> train_bpe_from_text("low low lower lowest", 260)[1]
    [(b'o', b'w'), (b'l', b'ow'), (b' ', b'low'), (b' low', b'e')]
    """
    rules = Rules(tie_break, min_count, max_token_bytes)
    return train_with(learn_merges, text, vocab_size, special_tokens, pattern, special_ids, rules)


def train_bpe(
    input_path: str | os.PathLike[str],
    vocab_size: int,
    special_tokens: Iterable[str] = (),
    *,
    pattern: str | None = GPT2,
    tie_break: TieBreak = "lexicographic",
    special_ids: SpecialIds = "after_bytes",
    min_count: int = 1,
    max_token_bytes: int | None = None,
) -> Trained:
    r"""Train on a UTF-8 text file, read as it is (``\r\n`` stays ``\r\n``).

    Returns ``(vocab, merges)``: ``dict[int, bytes]`` and ``list[tuple[bytes, bytes]]``, as the
    CS336 course asks. The options are those of `train.train_bpe_reference`.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "corpus.txt"
    >>> _ = path.write_text("low low<|end|>low", encoding="utf-8")
    >>> vocab, merges = train_bpe(path, 259, ["<|end|>"])
    >>> vocab[256], merges
    (b'<|end|>', [(b'o', b'w'), (b'l', b'ow')])
    """
    text = Path(input_path).read_bytes().decode("utf-8")
    rules = Rules(tie_break, min_count, max_token_bytes)
    return train_with(learn_merges, text, vocab_size, special_tokens, pattern, special_ids, rules)
