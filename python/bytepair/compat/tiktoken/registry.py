"""Encodings by name: OpenAI's, which are in the package, and those of plugins.

In: a name. Out: an `Encoding`, made once. A plugin is a module of the namespace package
`tiktoken_ext` with `ENCODING_CONSTRUCTORS`, a table of names and of functions that give the
arguments of `Encoding`, as for tiktoken; its own module of OpenAI's encodings is not asked.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

from bytepair import encodings
from bytepair.compat.tiktoken.core import Encoding

__all__ = ["ENCODINGS", "ENCODING_CONSTRUCTORS", "get_encoding", "list_encoding_names"]

ENCODINGS: dict[str, Encoding] = {}
"""The encodings that were asked for."""

ENCODING_CONSTRUCTORS: dict[str, Callable[[], dict[str, Any]]] | None = None
"""Name → function that gives the arguments of `Encoding`; `None` until a name is looked for."""


class _Bundled:
    """Gives the arguments for an encoding of the package."""

    def __init__(self, name: str) -> None:
        self.name = name

    def encoding(self) -> Encoding:
        return Encoding._of(encodings.get_encoding(self.name), self.name)

    def __call__(self) -> dict[str, Any]:
        encoding = self.encoding()
        return {
            "name": self.name,
            "pat_str": encoding._pat_str,
            "mergeable_ranks": encoding._mergeable_ranks,
            "special_tokens": encoding._special_tokens,
        }


def _plugins() -> list[str]:
    """The names of the modules in `tiktoken_ext`."""
    try:
        package = importlib.import_module("tiktoken_ext")
    except ImportError:
        return []
    return [found.name for found in pkgutil.iter_modules(package.__path__, "tiktoken_ext.")]


def _constructors() -> dict[str, Callable[[], dict[str, Any]]]:
    global ENCODING_CONSTRUCTORS
    if ENCODING_CONSTRUCTORS is not None:
        return ENCODING_CONSTRUCTORS
    found: dict[str, Callable[[], dict[str, Any]]] = {
        name: _Bundled(name) for name in encodings.list_encodings()
    }
    for plugin in _plugins():
        if plugin == "tiktoken_ext.openai_public":
            continue
        table = getattr(importlib.import_module(plugin), "ENCODING_CONSTRUCTORS", None)
        if table is None:
            message = f"tiktoken plugin {plugin} does not define ENCODING_CONSTRUCTORS"
            raise ValueError(message)
        for name, constructor in table.items():
            if name in found:
                message = f"Duplicate encoding name {name} in tiktoken plugin {plugin}"
                raise ValueError(message)
            found[name] = constructor
    ENCODING_CONSTRUCTORS = found
    return found


def get_encoding(encoding_name: str) -> Encoding:
    """The encoding of this name; the same object every time.

    Raises `ValueError` for an unknown name.

    >>> get_encoding("gpt2").encode("hello world")
    [31373, 995]
    """
    if not isinstance(encoding_name, str):
        message = f"Expected a string in get_encoding, got {type(encoding_name)}"
        raise ValueError(message)  # noqa: TRY004 - this is what tiktoken raises
    encoding = ENCODINGS.get(encoding_name)
    if encoding is not None:
        return encoding
    constructor = _constructors().get(encoding_name)
    if constructor is None:
        from bytepair.compat.tiktoken import __version__

        message = (
            f"Unknown encoding {encoding_name}.\n"
            f"Plugins found: {_plugins()}\n"
            f"tiktoken version: {__version__} (are you on latest?)"
        )
        raise ValueError(message)
    made = (
        constructor.encoding() if isinstance(constructor, _Bundled) else Encoding(**constructor())
    )
    # Of several threads the first one's is kept, without a lock that a fork could leave held.
    return ENCODINGS.setdefault(encoding_name, made)


def list_encoding_names() -> list[str]:
    """The names that `get_encoding` knows.

    >>> "o200k_base" in list_encoding_names()
    True
    """
    return list(_constructors())
