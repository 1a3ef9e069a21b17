"""Tokenizer files: one module for each format, behind one table.

In: a path. Out: a `Tokenizer`, and back. A format is a module with `NAME`, `detect`, `load` and
`save`; adding one means adding a file and a line in `FORMATS`. What a format cannot hold it
refuses, by name; nothing is guessed.
"""

from __future__ import annotations

import os
from typing import Protocol

from bytepair.errors import ArgumentError, FormatError
from bytepair.formats import gpt2, native
from bytepair.tokenizer import Tokenizer

__all__ = ["FORMATS", "detect", "load", "names", "save"]


class Format(Protocol):
    """What a module of this package offers."""

    NAME: str

    def detect(self, path: str) -> bool:
        """Whether the content at `path` is of this format; reads no more than it must."""

    def load(self, path: str) -> Tokenizer:
        """Read a tokenizer."""

    def save(self, tokenizer: Tokenizer, path: str) -> None:
        """Write a tokenizer, whole or not at all."""


FORMATS: dict[str, Format] = {module.NAME: module for module in (native, gpt2)}
"""The formats by name; `detect` asks them in this order."""


def names() -> list[str]:
    """The names of the formats.

    >>> names()
    ['native', 'gpt2']
    """
    return list(FORMATS)


def detect(path: str | os.PathLike[str]) -> str:
    """The name of the format of what is at `path`, judged by its content.

    Raises `FormatError` when no format knows it, `OSError` when it cannot be read.
    """
    name = os.fspath(path)
    for format in FORMATS.values():
        if format.detect(name):
            return format.NAME
    message = f"{name}: not a tokenizer of a known format ({', '.join(FORMATS)})"
    raise FormatError(message)


def load(path: str | os.PathLike[str], *, format: str | None = None) -> Tokenizer:
    """Read a tokenizer; see `Tokenizer.load`."""
    return _format(format or detect(path)).load(os.fspath(path))


def save(tokenizer: Tokenizer, path: str | os.PathLike[str], *, format: str | None = None) -> None:
    """Write a tokenizer; see `Tokenizer.save`."""
    _format(format or native.NAME).save(tokenizer, os.fspath(path))


def _format(name: str) -> Format:
    if name not in FORMATS:
        message = f"unknown format {name!r}: the formats are {', '.join(FORMATS)}"
        raise ArgumentError(message)
    return FORMATS[name]
