"""The tokens of a tokenizer in order of their bytes, 4 bytes each, kept as long as it lives."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from bytepair import _core

_kept: WeakKeyDictionary[_core.Tokenizer, _core.Beginnings] = WeakKeyDictionary()


def beginnings(tokenizer: _core.Tokenizer) -> _core.Beginnings:
    """The order, made when it is first asked for."""
    found = _kept.get(tokenizer)
    if found is None:
        found = _kept[tokenizer] = _core.Beginnings(tokenizer)
    return found
