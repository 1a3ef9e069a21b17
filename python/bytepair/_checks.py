"""Says what is wrong with a vocab, merges or special tokens that the core could not take.

In: arguments whose conversion failed. Out: an exception that names the value, its place and the way
out. Called only after a failure, so that a good vocab of 200,000 tokens is not looked at twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bytepair.errors import VocabError


def check_way(vocab: Mapping[int, bytes]) -> None:
    """Refuse a vocab from token to id, as far as its first entry tells."""
    for id, token in vocab.items():
        if isinstance(id, (bytes, str)) and isinstance(token, int):
            message = (
                f"the vocab has {id!r}: {token!r}, the wrong way round; it goes from id to token "
                "bytes: {id: token for token, id in vocab.items()}"
            )
            raise TypeError(message)
        return


def explain(
    vocab: Mapping[int, bytes],
    merges: Iterable[object],
    special_tokens: Mapping[str, int],
) -> Exception | None:
    """The fault in these arguments, or `None` if each is of its type and in its range."""
    for id, token in vocab.items():
        if not isinstance(token, bytes):
            kind = type(token).__name__
            return TypeError(f"the token of id {id!r} must be bytes, not {kind} ({token!r})")
        fault = _fault_of_id(id, f"token {token!r}")
        if fault is not None:
            return fault
    for rank, merge in enumerate(merges):
        match merge:
            case [bytes(), bytes()]:
                continue
        return TypeError(f"merge {rank} must be (left bytes, right bytes), not {merge!r}")
    for name, id in special_tokens.items():
        fault = _fault_of_id(id, f"special token {name!r}")
        if fault is not None:
            return fault
    return None


def _fault_of_id(id: object, what: str) -> Exception | None:
    if not isinstance(id, int):
        return TypeError(f"{what} has id {id!r}; an id must be int, not {type(id).__name__}")
    if not 0 <= id < 1 << 32:
        return VocabError(f"{what} has id {id}; ids are from 0 to 4294967295")
    return None
