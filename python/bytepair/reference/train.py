"""Lesson 4, second part: training, slow and obviously right.

In: a text. Out: the vocab (id → bytes) and the merges in the order in which they were learned.

    text ─special→ spans ─pretokenize→ pieces ─count→ piece counts ─learn→ merges → vocab

1. Cut the text at its special tokens and drop them, so that no merge crosses one.
2. Cut the spans into pieces and count each distinct piece. From here on the text is not needed.
3. Count the pairs of neighbours in all pieces. Pairs may overlap: ``aaa`` holds (a,a) twice.
4. Merge the most frequent pair, everywhere. Back to 3 until the vocab is full.

Two merges never make the same token. Let some bytes stand in two pieces, and in both let no merge
so far have crossed their ends. Then both have been merged alike: a merge of two different tokens
takes every occurrence, and in a run such as ``aaaa``, merged in twos from its left end, an even
number of tokens must lie before our bytes, or a merge would have crossed their start. So in the
step in which the bytes become one token in one place they become one token in all places, and no
later merge can make them again. Hence every merge adds one entry to the vocab, and a token is known
by its bytes: words here are tuples of bytes. Nor can a merge make the text of a special token, for
no piece contains it.

Cost: every step looks at every distinct piece again. A novel and some hundreds of merges take
seconds.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise

from .merge import Pair, Word, merge_word, single_bytes
from .pretokenize import GPT2, iter_pieces
from .rules import Rules, SpecialIds, TieBreak, build_vocab, merges_wanted
from .special import check_special_tokens, check_text, split_on_special_tokens

Trained = tuple[dict[int, bytes], list[Pair]]
Learner = Callable[[Mapping[bytes, int], int, Rules], list[Pair]]


def count_pretokens(
    text: str, special_tokens: Iterable[str] = (), pattern: str | None = GPT2
) -> dict[bytes, int]:
    """How often each piece occurs outside special tokens, in the order of first occurrence.

    >>> count_pretokens("low low<|end|>lower low", ["<|end|>"])
    {b'low': 1, b' low': 2, b'lower': 1}
    """
    check_text(text)
    text.encode()  # a lone surrogate raises here, where its position is that in the whole text
    special_tokens = check_special_tokens(special_tokens)
    counts: dict[bytes, int] = {}
    for part in split_on_special_tokens(text, special_tokens):
        if part not in special_tokens:
            for piece in iter_pieces(part, pattern):
                key = piece.encode()
                counts[key] = counts.get(key, 0) + 1
    return counts


def count_pairs(words: Iterable[tuple[Word, int]]) -> dict[Pair, int]:
    """How often each pair of neighbours occurs, in the order of first occurrence.

    >>> count_pairs([((b"a", b"a", b"a"), 10)])
    {(b'a', b'a'): 20}
    """
    pair_counts: dict[Pair, int] = {}
    for word, count in words:
        for pair in pairwise(word):
            pair_counts[pair] = pair_counts.get(pair, 0) + count
    return pair_counts


def learn_merges_slowly(counts: Mapping[bytes, int], wanted: int, rules: Rules) -> list[Pair]:
    """Learn up to ``wanted`` merges from piece counts, counting all pairs anew at each step.

    >>> learn_merges_slowly({b"low": 5, b"lower": 2, b"widest": 3, b"newest": 6}, 3, Rules())
    [(b's', b't'), (b'e', b'st'), (b'o', b'w')]
    """
    words = [(single_bytes(piece), count) for piece, count in counts.items()]
    order = rules.first_order()
    merges: list[Pair] = []
    while len(merges) < wanted:
        tied = rules.most_frequent(count_pairs(words))
        if not tied:
            break
        pair = rules.break_tie(tied, order)
        words = [(merge_word(word, pair), count) for word, count in words]
        order[pair[0] + pair[1]] = len(order)
        merges.append(pair)
    return merges


def train_with(
    learner: Learner,
    text: str,
    vocab_size: int,
    special_tokens: Iterable[str],
    pattern: str | None,
    special_ids: SpecialIds,
    rules: Rules,
) -> Trained:
    """Count, learn, number: the frame around both learners, the slow one and that of lesson 5."""
    if isinstance(special_tokens, Mapping):
        raise TypeError(
            f"special_tokens has ids ({special_tokens!r}), and training gives the ids itself;"
            f" pass the names alone: {list(special_tokens)!r}"
        )
    special_tokens = check_special_tokens(special_tokens)
    wanted = merges_wanted(vocab_size, special_tokens)
    merges = learner(count_pretokens(text, special_tokens, pattern), wanted, rules)
    vocab = build_vocab(merges, special_tokens, special_ids)
    if len(merges) < wanted:
        warnings.warn(
            f"no pair is left to merge: the vocab has {len(vocab)} tokens, not {vocab_size};"
            " give more text or ask for fewer",
            stacklevel=3,
        )
    return vocab, merges


def train_bpe_reference(
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
    """Train on a text, slowly; every other trainer must give the same.

    ``vocab_size`` counts the 256 bytes, the special tokens and the merges. See `rules.Rules` for
    the options. When no pair is left, training ends early with a warning.

    >>> vocab, merges = train_bpe_reference("the cat in the hat", 258)
    >>> merges, vocab[257]
    ([(b't', b'h'), (b'th', b'e')], b'the')
    """
    rules = Rules(tie_break, min_count, max_token_bytes)
    return train_with(
        learn_merges_slowly, text, vocab_size, special_tokens, pattern, special_ids, rules
    )
