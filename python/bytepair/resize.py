"""A smaller vocab from a larger one: the last merges are taken back.

In: a tokenizer and a size. Out: the tokenizer that training at that size would have given, for the
merges that come first do not depend on how many follow. Ids above a token taken away move down, so
special tokens at the end stay at the end.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import TYPE_CHECKING

from bytepair import _core
from bytepair._numbers import whole
from bytepair.errors import ArgumentError

if TYPE_CHECKING:
    from bytepair.tokenizer import Tokenizer

__all__ = ["resized", "with_vocab"]


def resized(tokenizer: Tokenizer, vocab_size: int) -> Tokenizer:
    """See `Tokenizer.resized`."""
    vocab_size = whole(None, vocab_size=vocab_size)
    excess = tokenizer.vocab_size - vocab_size
    if excess < 0:
        message = (
            f"vocab_size is {vocab_size}, but the tokenizer has {tokenizer.vocab_size} tokens; "
            "resized makes a vocab smaller, and train(..., base=tokenizer) makes it larger"
        )
        raise ArgumentError(message)
    merges = tokenizer.merges
    vocab = dict(tokenizer._model.items())
    special = tokenizer._special_names
    kept = set(special.values())
    made = {left + right for left, right in merges}
    if tokenizer.merge_rule == "ranks":
        # A token's id is its rank, so the greatest ids go.
        ids = [id for id, token in vocab.items() if len(token) > 1 and id not in kept]
        gone = sorted(ids)[max(len(ids) - excess, 0) :]
        parts = {vocab[id] for id in gone}
        merges = [pair for pair in merges if pair[0] + pair[1] not in parts]
    else:
        gone, merges = _last_made(tokenizer, merges, excess)
    if len(gone) < excess:
        least = tokenizer.vocab_size - len(gone)
        message = (
            f"vocab_size is {vocab_size}; the least is {least}: what is no merge "
            f"({least} ids of {tokenizer.vocab_size}; {len(made)} tokens are made by merges) stays"
        )
        raise ArgumentError(message)
    absent = set(gone)
    gone.sort()

    def moved(id: int) -> int:
        return id - bisect_left(gone, id)

    smaller = {moved(id): token for id, token in vocab.items() if id not in absent}
    names = {name: moved(id) for name, id in special.items()}
    aliases = {name: moved(id) for name, id in tokenizer._special_aliases.items()}
    added = {name: moved(id) for name, id in tokenizer.added_tokens.items()}
    return with_vocab(tokenizer, smaller, merges, names, aliases=aliases, added_tokens=added)


def _last_made(
    tokenizer: Tokenizer, merges: list[tuple[bytes, bytes]], excess: int
) -> tuple[list[int], list[tuple[bytes, bytes]]]:
    """The ids of the last `excess` tokens that merges made, and the merges before them."""
    # A token that two merges make stays as long as the first of them.
    first: dict[bytes, int] = {}
    for rank, (left, right) in enumerate(merges):
        first.setdefault(left + right, rank)
    special = set(tokenizer._special_names.values())
    gone: list[int] = []
    rank = len(merges)
    while rank and len(gone) < excess:
        rank -= 1
        token = merges[rank][0] + merges[rank][1]
        id = tokenizer._model.id(token)
        if first[token] == rank and id is not None and id not in special:
            gone.append(id)
    return gone, merges[:rank]


def with_vocab(
    tokenizer: Tokenizer,
    vocab: Mapping[int, bytes],
    merges: list[tuple[bytes, bytes]],
    special_tokens: Mapping[str, int],
    *,
    aliases: Mapping[str, int] | None = None,
    added_tokens: Mapping[str, int] | None = None,
    name: str | None = None,
) -> Tokenizer:
    """A tokenizer of the same rules with another vocab; one that merges by rank needs no merges."""
    symbols = tokenizer._model.symbols
    if symbols is not None:
        kept = [(id, rank) for id, rank in symbols.pop("ranks", []) if id in vocab]
        rule = {"ranks": kept} if tokenizer.merge_rule == "ranks" else {"merges": merges}
        model = _core.Model.from_symbols(vocab, **rule, **symbols)
    elif tokenizer.merge_rule == "ranks":
        model = _core.Model.from_ranks(vocab)
    else:
        model = _core.Model.from_merges(vocab, merges, whole_pieces=tokenizer.ignore_merges)
    return tokenizer._assemble(
        model,
        special_tokens,
        pattern=tokenizer._pattern,
        name=name,
        aliases=tokenizer._special_aliases if aliases is None else aliases,
        added_tokens=tokenizer.added_tokens if added_tokens is None else added_tokens,
        normalizer=tokenizer.normalizer,
        drops_space=tokenizer.drops_space,
        token_flags=tokenizer._token_flags,
    )
