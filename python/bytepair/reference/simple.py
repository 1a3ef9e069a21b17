"""Lesson 8: a second, simpler tokenizer, and what its simplicity costs.

In: text. Out: ids. `BPETokenizerSimple` works on characters, not bytes, and writes a space as
``Ġ``. It behaves like the tokenizer of the book chapter that builds BPE from scratch, so that the
ids printed there can be reproduced and studied; the code is our own. Read it beside `tokenizer`,
which is the cure for each of its oddities:

- A character that is neither in Latin-1 nor in the training text cannot be encoded: ValueError.
- `encode` splits lines at white space, so tabs, double spaces and spaces at the ends of lines are
  lost, and the first word of every line but the first is given a space.
- `decode` puts a space before a line end and shows a ``Ġ`` inside a token as ``Ġ``.
- `train` merges over the whole text, so tokens may reach across words (``eĠ``), which `encode` can
  never use; and a special token in the training text is text there like any other.
- `encode` merges any learned pair from left to right, pass by pass, not the earliest learned first
  (unless OpenAI's files are loaded), so it can miss tokens that training made.
- GPT-2's files have no line feed but ``Ċ``. After loading them, a line feed is encoded as
  ``<|endoftext|>``, and ``<|endoftext|>`` is decoded as a line feed.

Cost: training counts the whole text anew for every merge; a short story takes seconds.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal

from .special import check_text

END_OF_TEXT = "<|endoftext|>"


class BPETokenizerSimple:
    """A character-level BPE tokenizer with ``Ġ`` for spaces.

    ``vocab`` maps ids to tokens, ``inverse_vocab`` tokens to ids, ``bpe_merges`` pairs of ids to
    ids; ``bpe_ranks`` maps pairs of tokens to ranks and is filled only from OpenAI's files.

    >>> tokenizer = BPETokenizerSimple()
    >>> tokenizer.train("the cat in the hat", 260)
    >>> tokenizer.vocab[258], tokenizer.vocab[259]
    ('th', 'the')
    >>> tokenizer.encode("the hat")
    [259, 256, 104, 97, 116]
    """

    def __init__(self) -> None:
        self.vocab: dict[int, str] = {}
        self.inverse_vocab: dict[str, int] = {}
        self.bpe_merges: dict[tuple[int, int], int] = {}
        self.bpe_ranks: dict[tuple[str, str], int] = {}

    # --- train --------------------------------------------------------------------------------

    def train(
        self,
        text: str,
        vocab_size: int,
        allowed_special: Iterable[str] | None = frozenset({END_OF_TEXT}),
    ) -> None:
        """Learn merges until the vocab has ``vocab_size`` tokens or no pair is left.

        The first ids are the 256 characters of Latin-1; then come the other characters of the text,
        ``Ġ`` among them, in the order of their code points, the special tokens, and the merges.
        All that is before the merges is there for any ``vocab_size``, as in the chapter.
        """
        check_text(text)
        # A space at the very start of the text is dropped, not written as Ġ.
        marked = text.removeprefix(" ").replace(" ", "Ġ")
        tokens = [chr(code) for code in range(256)]
        tokens += sorted(set(marked) - set(tokens))
        if "Ġ" not in tokens:
            tokens.append("Ġ")
        if isinstance(allowed_special, (str, Mapping)):
            kind = type(allowed_special).__name__
            raise TypeError(f"allowed_special must be a set or list of str, not {kind}")
        special = list(dict.fromkeys(allowed_special or ()))
        if isinstance(allowed_special, (set, frozenset)):
            special.sort()  # the order of a set differs from run to run; ids must not
        tokens += [token for token in special if token not in tokens]

        self.vocab = dict(enumerate(tokens))
        self.inverse_vocab = {token: id_ for id_, token in self.vocab.items()}
        self.bpe_merges, self.bpe_ranks = {}, {}

        ids = [self.inverse_vocab[char] for char in marked]
        for new_id in range(len(self.vocab), vocab_size):
            pair = self.find_freq_pair(ids)
            if pair is None:
                break
            ids = self.replace_pair(ids, pair, new_id)
            self.bpe_merges[pair] = new_id
            self.vocab[new_id] = self.vocab[pair[0]] + self.vocab[pair[1]]
            self.inverse_vocab[self.vocab[new_id]] = new_id

    @staticmethod
    def find_freq_pair(
        token_ids: Sequence[int], mode: Literal["most", "least"] = "most"
    ) -> tuple[int, int] | None:
        """The pair of neighbours that occurs most (or least) often; of several, the first seen.

        >>> BPETokenizerSimple.find_freq_pair([1, 2, 3, 1, 2])
        (1, 2)
        """
        if mode not in ("most", "least"):
            raise ValueError(f"mode is {mode!r}; it must be 'most' or 'least'")
        counts = Counter(pairwise(token_ids))
        if not counts:
            return None
        choose = max if mode == "most" else min
        return choose(counts, key=lambda pair: counts[pair])  # both return the first of equals

    @staticmethod
    def replace_pair(token_ids: Sequence[int], pair_id: tuple[int, int], new_id: int) -> list[int]:
        """Replace every occurrence of a pair by one id, from left to right.

        >>> BPETokenizerSimple.replace_pair([1, 1, 1, 2], (1, 1), 9)
        [9, 1, 2]
        """
        replaced: list[int] = []
        position = 0
        while position < len(token_ids):
            if tuple(token_ids[position : position + 2]) == pair_id:
                replaced.append(new_id)
                position += 2
            else:
                replaced.append(token_ids[position])
                position += 1
        return replaced

    # --- encode and decode --------------------------------------------------------------------

    def encode(self, text: str, allowed_special: Iterable[str] | None = None) -> list[int]:
        """The ids of a text. Special tokens are text unless they are in ``allowed_special``.

        If some are allowed, another ``<|…|>`` of the vocab after the last of them is an error.
        """
        allowed = sorted(allowed_special or (), key=len, reverse=True)  # the longest goes first
        ids: list[int] = []
        if allowed:
            *parts, text = re.split("(" + "|".join(map(re.escape, allowed)) + ")", text)
            for span, token in zip(parts[::2], parts[1::2], strict=True):
                ids += self._encode_span(span)
                if token not in self.inverse_vocab:
                    raise ValueError(f"special token {token!r} is not in the vocab")
                ids.append(self.inverse_vocab[token])
            for token in self.inverse_vocab:
                if token.startswith("<|") and token.endswith("|>") and token in text:
                    raise ValueError(f"special token {token!r} is in the text but not allowed")
        return ids + self._encode_span(text)

    def _encode_span(self, span: str) -> list[int]:
        ids: list[int] = []
        for number, line in enumerate(span.split("\n")):
            words = line.split()  # here tabs, double spaces and spaces at line ends are lost
            tokens = ["Ġ" + word for word in words]
            if number == 0:
                tokens[:1] = words[:1]  # only the first word of a span goes without a space
            else:
                tokens.insert(0, "\n")
            for token in tokens:
                if token in self.inverse_vocab:
                    ids.append(self.inverse_vocab[token])
                else:
                    ids += self.tokenize_with_bpe(token)
        return ids

    def tokenize_with_bpe(self, token: str) -> list[int]:
        """The ids of one word, merged from its characters."""
        unknown = [char for char in token if char not in self.inverse_vocab]
        if unknown:
            raise ValueError(f"characters not in the vocab: {unknown}; bytes would cover them all")
        if self.bpe_ranks:
            return self._merge_by_rank(token)
        return self._merge_in_passes([self.inverse_vocab[char] for char in token])

    def _merge_in_passes(self, ids: list[int]) -> list[int]:
        """Merge whatever can be, from left to right; repeat until nothing can.

        This is not the order of training. With the merges (b,c), (a,b), training makes ``abc`` into
        ``a bc``, this method into ``ab c``. `merge.merge_lowest_first` does it right.
        """
        while True:
            merged: list[int] = []
            position = 0
            while position < len(ids):
                new_id = None
                if position + 1 < len(ids):
                    new_id = self.bpe_merges.get((ids[position], ids[position + 1]))
                merged.append(ids[position] if new_id is None else new_id)
                position += 1 if new_id is None else 2
            if len(merged) == len(ids):
                return ids
            ids = merged

    def _merge_by_rank(self, token: str) -> list[int]:
        """Merge all occurrences of the pair of lowest rank; repeat until no pair has a rank."""
        symbols = list(token)
        while pairs := [pair for pair in pairwise(symbols) if pair in self.bpe_ranks]:
            left, right = min(pairs, key=lambda pair: self.bpe_ranks[pair])
            position = 0
            while position < len(symbols) - 1:
                if (symbols[position], symbols[position + 1]) == (left, right):
                    symbols[position : position + 2] = [left + right]
                position += 1
        return [self.inverse_vocab[symbol] for symbol in symbols]

    def decode(self, token_ids: Iterable[int]) -> str:
        """The text of a sequence of ids, as far as `encode` kept it."""
        text = ""
        for id_ in token_ids:
            if id_ not in self.vocab:
                raise ValueError(f"id {id_} is not in the vocab of {len(self.vocab)} tokens")
            token = self.vocab[id_]
            if token == "\n":
                if text and not text.endswith(" "):
                    text += " "  # the chapter does so; a line end gains a space
                text += token
            elif token.startswith("Ġ"):
                text += " " + token[1:]
            else:
                text += token
        return text

    def get_special_token_id(self, token: str) -> int | None:
        """The id of a token, or None if it is not in the vocab."""
        return self.inverse_vocab.get(token)

    # --- files --------------------------------------------------------------------------------

    def save_vocab_and_merges(
        self, vocab_path: str | os.PathLike[str], bpe_merges_path: str | os.PathLike[str]
    ) -> None:
        """Write the vocab and the merges as two JSON files."""
        merges = [
            {"pair": list(pair), "new_id": new_id} for pair, new_id in self.bpe_merges.items()
        ]
        for path, content in ((vocab_path, self.vocab), (bpe_merges_path, merges)):
            text = json.dumps(content, ensure_ascii=False, indent=2)
            Path(os.fsdecode(path)).write_text(text, encoding="utf-8", newline="\n")

    def load_vocab_and_merges(
        self, vocab_path: str | os.PathLike[str], bpe_merges_path: str | os.PathLike[str]
    ) -> None:
        """Read what `save_vocab_and_merges` wrote."""
        vocab = json.loads(Path(os.fsdecode(vocab_path)).read_text(encoding="utf-8"))
        merges = json.loads(Path(os.fsdecode(bpe_merges_path)).read_text(encoding="utf-8"))
        self.vocab = {int(id_): token for id_, token in vocab.items()}
        self.inverse_vocab = {token: id_ for id_, token in self.vocab.items()}
        self.bpe_merges = {(m["pair"][0], m["pair"][1]): m["new_id"] for m in merges}
        self.bpe_ranks = {}

    def load_vocab_and_merges_from_openai(
        self, vocab_path: str | os.PathLike[str], bpe_merges_path: str | os.PathLike[str]
    ) -> None:
        """Read GPT-2's ``encoder.json`` and ``vocab.bpe``; words are then merged by rank.

        The files spell bytes as in `bytemap`, so only text of visible ASCII characters gets GPT-2's
        ids: the line feed takes the place of another token, and ``é`` is taken for the byte 0xE9.
        """
        vocab = json.loads(Path(os.fsdecode(vocab_path)).read_text(encoding="utf-8"))
        self.vocab = {id_: token for token, id_ in vocab.items()}
        self.inverse_vocab = dict(vocab)
        if "\n" not in self.inverse_vocab:
            stand_in = next((t for t in (END_OF_TEXT, "Ġ", "") if t in self.inverse_vocab), None)
            if stand_in is None:
                raise KeyError(f"{vocab_path}: no token could stand for a line feed")
            self.inverse_vocab["\n"] = self.inverse_vocab[stand_in]
            self.vocab[self.inverse_vocab["\n"]] = "\n"
        self.bpe_merges, self.bpe_ranks = {}, {}
        lines = Path(os.fsdecode(bpe_merges_path)).read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            pair = tuple(line.split())
            if len(pair) == 2 and not (number == 1 and line.startswith("#")):
                if not self.inverse_vocab.keys() >= set(pair):
                    raise ValueError(f"{bpe_merges_path}:{number}: {pair} is not in {vocab_path}")
                self.bpe_ranks[(pair[0], pair[1])] = len(self.bpe_ranks)
