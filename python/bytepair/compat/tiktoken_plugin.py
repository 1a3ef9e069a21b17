"""Registers a tokenizer of this package with tiktoken, where it then loads by name.

In: a tokenizer, or its file. Out: a file in a folder of the user's data, which the plugin in
`tiktoken_ext` shows to tiktoken: `tiktoken.get_encoding(name)` works in this process and in every
later one of the same user, with this package installed beside tiktoken. The environment variable
`BYTEPAIR_TIKTOKEN_FOLDER` names another folder, for a server or for all users of a machine.

A tokenizer that tiktoken would encode otherwise is refused with the reason: tiktoken merges in the
order of the ids, and knows no normalizer, no added tokens and no sequence of patterns.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Any

from bytepair.errors import ArgumentError, FormatError
from bytepair.formats import tiktoken as ranks_format
from bytepair.tokenizer import Tokenizer
from tiktoken_ext import bytepair as plugin

__all__ = ["arguments", "folder", "register", "registered", "unregister"]

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def register(
    tokenizer: Tokenizer | str | os.PathLike[str], name: str | None = None, *, replace: bool = False
) -> str:
    """Make a tokenizer known to tiktoken; gives the path of the file that holds it now.

    Args:
        tokenizer: the tokenizer, or a file or directory that `Tokenizer.load` reads.
        name: what to ask tiktoken for; by default the tokenizer's name, or its file's.
        replace: whether another tokenizer may be registered by the name.

    Raises:
        ArgumentError: there is no name, it is not made of letters, digits, `_`, `.` and `-`, or it
            is taken.
        FormatError: tiktoken would give other ids; says why.

    >>> import bytepair
    >>> words = bytepair.train(["low low lower lowest"] * 9, 262, special_ids="last")
    >>> path = register(words, "my-words")
    >>> list(registered())
    ['my-words']
    >>> unregister("my-words")
    """
    if not isinstance(tokenizer, Tokenizer):
        path = os.path.abspath(os.fspath(tokenizer))
        tokenizer = Tokenizer.load(path)
        name = name or tokenizer.name or os.path.splitext(os.path.basename(path))[0]
    name = name or tokenizer.name
    if name is None:
        message = "the tokenizer has no name; give one, as in register(tokenizer, 'my-words')"
        raise ArgumentError(message)
    if not _NAME.fullmatch(name):
        message = f"{name!r} is no name for an encoding; use letters, digits, '_', '.' and '-'"
        raise ArgumentError(message)
    _check_free(name, replace=replace)
    _arguments(tokenizer, name)
    path = _path(name)
    os.makedirs(folder(), exist_ok=True)
    tokenizer.save(path, format="native")
    _announce(name, plugin.Saved(name, path))
    return path


def unregister(name: str) -> None:
    """Take back what `register` did. Raises `ArgumentError` when no tokenizer has the name."""
    try:
        os.remove(_path(name))
    except FileNotFoundError:
        known = ", ".join(registered()) or "none"
        message = f"no tokenizer is registered as {name!r}; those that are: {known}"
        raise ArgumentError(message) from None
    _announce(name, None)


def registered() -> dict[str, str]:
    """The registered tokenizers: name → path of the file."""
    return {name: saved.path for name, saved in plugin.find().items()}


def folder() -> str:
    """The folder that `register` writes to; it may not exist yet.

    >>> folder() == os.path.dirname(register(bytepair.get_encoding("r50k_base"), "my-r50k"))
    True
    >>> unregister("my-r50k")
    """
    return plugin.folder()


def arguments(path: str | os.PathLike[str], name: str) -> dict[str, Any]:
    """The arguments of `tiktoken.Encoding` for the tokenizer in a file.

    Raises `FormatError`, naming the file, when it is damaged or tiktoken would give other ids.
    """
    tokenizer = Tokenizer.load(path)
    try:
        return _arguments(tokenizer, name)
    except FormatError as error:
        message = f"{os.fspath(path)}: {error}"
        raise FormatError(message) from error


def _arguments(tokenizer: Tokenizer, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "pat_str": ranks_format._one_regex(tokenizer),
        "mergeable_ranks": ranks_format.ranks(tokenizer),
        "special_tokens": tokenizer.special_tokens,
    }


def _path(name: str) -> str:
    return os.path.join(folder(), name + plugin.ENDING)


def _check_free(name: str, *, replace: bool) -> None:
    if name in plugin.TAKEN:
        message = f"{name!r} is an encoding of tiktoken's own; give another name"
        raise ArgumentError(message)
    if os.path.exists(_path(name)):
        if not replace:
            message = f"a tokenizer is registered as {name!r}; give replace=True or another name"
            raise ArgumentError(message)
        return
    for table in _tables():
        if name in table and not isinstance(table[name], plugin.Saved):
            message = f"another plugin of tiktoken's has an encoding {name!r}; give another name"
            raise ArgumentError(message)


def _tables() -> list[dict[str, Any]]:
    """The tables of constructors that have been read in this process."""
    modules = ("tiktoken.registry", "bytepair.compat.tiktoken.registry")
    tables = [getattr(sys.modules.get(name), "ENCODING_CONSTRUCTORS", None) for name in modules]
    return [plugin.ENCODING_CONSTRUCTORS, *(table for table in tables if table is not None)]


def _announce(name: str, saved: plugin.Saved | None) -> None:
    """Tell a tiktoken that has looked for plugins already."""
    for table in _tables():
        table.pop(name, None)
        if saved is not None:
            table[name] = saved
    for module in ("tiktoken.registry", "bytepair.compat.tiktoken.registry"):
        encodings = getattr(sys.modules.get(module), "ENCODINGS", {})
        encodings.pop(name, None)
