"""The parts that a tokenizer is built from, put in order.

In: a vocab, merges and special tokens as a user gives them. Out: the ids of the
special tokens, and the vocab without them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import index

from bytepair.errors import ArgumentError, VocabError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from bytepair._types import SpecialTokens

__all__ = [
    "check_ids",
    "check_kind",
    "check_name",
    "check_names",
    "encoded",
    "listed",
    "names_alone",
    "special_ids",
    "without_special",
]


def check_names(names: list[str]) -> None:
    """Refuse names of special tokens that are no text, empty or given twice."""
    seen: set[str] = set()
    for token in names:
        if not isinstance(token, str):
            message = f"a special token must be str, not {type(token).__name__} ({token!r})"
            raise TypeError(message)
        if not token:
            message = "a special token is empty; it would match everywhere"
            raise ArgumentError(message)
        if token in seen:
            message = f"the special token {token!r} is given twice"
            raise ArgumentError(message)
        seen.add(token)


def check_ids(special_tokens: Mapping[str, int]) -> None:
    """Refuse ids of special tokens that are no ids."""
    for name, id in special_tokens.items():
        try:
            number = index(id)
        except TypeError:
            kind = type(id).__name__
            message = f"special token {name!r} has id {id!r}; an id must be int, not {kind}"
            raise TypeError(message) from None
        if not 0 <= number < 1 << 32:
            message = f"special token {name!r} has id {number}; ids are from 0 to 4294967295"
            raise VocabError(message)


def check_name(name: object) -> None:
    """Refuse the name of a tokenizer that is neither `str` nor `None`."""
    if not (name is None or isinstance(name, str)):
        message = f"name must be str or None, not {type(name).__name__} ({name!r:.40})"
        raise TypeError(message)


def listed(special_tokens: object) -> list[str]:
    """The names given as special tokens. Raises `TypeError` for what is no collection."""
    if not isinstance(special_tokens, Iterable):
        kind = type(special_tokens).__name__
        message = f"special_tokens must be a list of str, not {kind}; give [] for none"
        raise TypeError(message)
    return list(special_tokens)


def names_alone(special_tokens: object) -> list[str]:
    """The special tokens of a corpus: names, which training numbers later.

    Raises `TypeError` for a mapping, whose ids would be lost, and for what is no list of names.
    """
    check_kind(special_tokens)
    if isinstance(special_tokens, Mapping):
        message = (
            f"special_tokens has ids ({dict(special_tokens)!r:.80}), and training gives the ids "
            f"itself, as special_ids says; give the names alone: {list(special_tokens)!r:.80}"
        )
        raise TypeError(message)
    names = listed(special_tokens)
    check_names(names)
    return names


def check_kind(special_tokens: object) -> None:
    """Refuse a `str`, which is a collection of characters."""
    if isinstance(special_tokens, str):
        message = f"special_tokens is a str; write [{special_tokens!r}] for one token"
        raise TypeError(message)


def special_ids(vocab: Mapping[int, bytes], special_tokens: SpecialTokens | None) -> dict[str, int]:
    """The ids of the special tokens: the vocab's where it has them, else the next free ones."""
    if special_tokens is None:
        return {}
    check_kind(special_tokens)
    names = listed(special_tokens)
    check_names(names)
    wanted = {token.encode(): token for token in names}
    known: dict[str, int] = {}
    for id, token in vocab.items():
        name = wanted.get(token)
        if name is not None:
            known[name] = min(id, known.get(name, id))
    if isinstance(special_tokens, Mapping):
        for name, id in special_tokens.items():
            if name in known and known[name] != id:
                message = (
                    f"special token {name!r} is given id {id}, but the vocab has it as "
                    f"{known[name]}; give that id or take it out of the vocab"
                )
                raise VocabError(message)
        return dict(special_tokens)
    free = max(vocab, default=-1) + 1
    for name in names:
        if name not in known:
            known[name] = free
            free += 1
    return {name: known[name] for name in names}


def encoded(added_tokens: Mapping[str, int]) -> dict[int, bytes]:
    """Added tokens as a vocab has them."""
    return {id: token.encode() for token, id in added_tokens.items()}


def without_special(
    vocab: Mapping[int, bytes],
    special_tokens: Iterable[str],
    merges: Iterable[tuple[bytes, bytes]],
) -> dict[int, bytes]:
    """The vocab without the special tokens, which no merge may make by accident.

    One that is a single byte, or that the merges make too, is an ordinary token besides.
    """
    names = {token.encode() for token in special_tokens}
    names = {token for token in names if len(token) > 1}
    lengths = {len(token) for token in names}
    made = {left + right for left, right in merges if len(left) + len(right) in lengths}
    names -= made
    return {id: token for id, token in vocab.items() if token not in names}
