"""Tokenizer files: one module for each format, behind one table.

In: a path. Out: a `Tokenizer`, and back. A format is a module with `NAME`, `OPTIONS`, `detect`,
`load` and `save`; adding one means adding a file and a line in `FORMATS`. What a format cannot hold
it refuses, by name; nothing is guessed: what a file does not say, `OPTIONS` names, and the caller
does.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

from bytepair._names import did_you_mean
from bytepair._types import Pattern, SpecialTokens
from bytepair.errors import ArgumentError, FormatError
from bytepair.formats import (
    _files,
    cs336,
    gguf,
    gpt2,
    huggingface,
    minbpe,
    native,
    reference,
    sentencepiece,
    tekken,
    tiktoken,
)
from bytepair.tokenizer import Tokenizer

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["FORMATS", "LoadOptions", "detect", "load", "names", "options", "save"]


_PARTS = frozenset(name for pair in gpt2.PAIRS for name in pair) | {
    *("config.json", "generation_config.json", "tokenizer_config.json"),
    *("added_tokens.json", "special_tokens_map.json", "chat_template.jinja"),
}
"""Files that are a tokenizer only together with others."""

_MOST_WORDS = 1000
"""The length of an error about a file, in characters; a longer one loses its middle."""


class LoadOptions(TypedDict, total=False):
    """What a caller may say about a file that does not say it itself."""

    pattern: Pattern
    special_tokens: SpecialTokens


class Format(Protocol):
    """What a module of this package offers."""

    NAME: str
    OPTIONS: tuple[str, ...]
    """What `load` takes besides the path."""

    def detect(self, path: str) -> bool:
        """Whether the content at `path` is of this format; reads no more than it must."""

    @property
    def load(self) -> Callable[..., Tokenizer]:
        """Read a tokenizer from a path, with the options."""

    def save(self, tokenizer: Tokenizer, path: str) -> None:
        """Write a tokenizer, whole or not at all."""


FORMATS: dict[str, Format] = {
    module.NAME: module
    for module in (
        native,
        huggingface,
        gpt2,
        sentencepiece,
        gguf,
        tiktoken,
        tekken,
        minbpe,
        reference,
        cs336,
    )
}
"""The formats by name; `detect` asks them in this order."""


def names() -> list[str]:
    """The names of the formats.

    >>> names()[:5]
    ['native', 'huggingface', 'gpt2', 'sentencepiece', 'gguf']
    """
    return list(FORMATS)


def options(format: str) -> tuple[str, ...]:
    """What `load` takes for files of this format, because they do not hold it.

    >>> options("tiktoken"), options("native")
    (('pattern', 'special_tokens'), ())
    """
    return _format(format).OPTIONS


def detect(path: str | os.PathLike[str]) -> str:
    """The name of the format of what is at `path`, judged by its content.

    Raises `FormatError` when no format knows it, `OSError` when it cannot be read.
    """
    name = os.fspath(path)
    for format in FORMATS.values():
        if format.detect(name):
            return format.NAME
    _files.refuse_pointer(_files.head(name), name)
    if os.path.basename(name) in _PARTS:
        message = (
            f"{name}: is one of the files of a tokenizer, and not all of it; load the directory "
            "that they are in"
        )
        raise FormatError(message)
    if _files.head(name, 2)[:1] == b"\x80":
        message = f"{name}: looks like a pickle, which is never loaded: it can run any code"
        raise FormatError(message)
    message = f"{name}: {_seen(name)}not a tokenizer of a known format ({', '.join(FORMATS)})"
    raise FormatError(message)


def _seen(path: str) -> str:
    """What is to be seen of something that is no tokenizer, for the middle of a message."""
    if os.path.isdir(path):
        found = sorted(
            name
            for name in os.listdir(path)
            if os.path.isfile(os.path.join(path, name)) and not name.startswith(".")
        )
        if not found:
            return "is a folder without files, so "
        more = f" and {len(found) - 3} more" if len(found) > 3 else ""
        return f"is a folder with {', '.join(found[:3])}{more}: name one of them; as a whole it is "
    start = _files.head(path)
    if not start.strip():
        return "is empty, so " if not start else "is blank, so "
    if start.lstrip()[:1] in (b"{", b"["):
        _files.read_json(path)
    return ""


def load(
    path: str | os.PathLike[str], *, format: str | None = None, **options: Unpack[LoadOptions]
) -> Tokenizer:
    """Read a tokenizer; see `Tokenizer.load`."""
    found = _format(detect(path) if format is None else format)
    given: dict[str, Any] = dict(options)
    for option in given:
        if option not in LoadOptions.__annotations__:
            message = f"load() got an unexpected keyword argument {option!r}"
            raise TypeError(message)
        if option not in found.OPTIONS:
            message = f"{os.fspath(path)}: {option} is given, but the format {found.NAME!r} says it"
            raise ArgumentError(message)
    try:
        with _files.uncollected():
            return found.load(os.fspath(path), **given)
    except FormatError as error:
        message = str(error)
        if len(message) <= _MOST_WORDS:
            raise
        # A damaged file may have a token of any length.
        half = _MOST_WORDS // 2
        message = f"{message[:half]} … {message[-half:]}"
        raise FormatError(message) from None
    except UnicodeEncodeError as error:
        message = (
            f"{os.fspath(path)}: {error.object!r:.80} has half a surrogate pair, so is no text"
        )
        raise FormatError(message) from error


def save(tokenizer: Tokenizer, path: str | os.PathLike[str], *, format: str | None = None) -> None:
    """Write a tokenizer; see `Tokenizer.save`."""
    name = os.fspath(path)
    chosen = _format(native.NAME if format is None else format)
    _check_suffix(name, format)
    chosen.save(tokenizer, name)


_SUFFIXES = {".tiktoken": "tiktoken", ".gguf": "gguf", ".model": "sentencepiece"}
"""Endings that say what is in a file, and a format of theirs."""
_FILES = (*_SUFFIXES, ".txt", ".bpe")
"""Endings of files, under which no directory is made."""


def _check_suffix(path: str, format: str | None) -> None:
    """Refuse a name that says the file is of another format than the one it would be written in."""
    suffix = os.path.splitext(path)[1].lower()
    if format is None and suffix in _SUFFIXES:
        message = (
            f"{path}: no format is given, so the file would be of the native one, and its name "
            f'ends in {suffix}; give format="{_SUFFIXES[suffix]}" (or another), or a name in .json'
        )
        raise ArgumentError(message)
    directory = format in (huggingface.NAME, gpt2.NAME)
    if directory and suffix in _FILES and not os.path.isdir(path):
        message = (
            f"{path}: the format {format!r} would make a directory of that name; leave out {suffix}"
        )
        raise ArgumentError(message)


def _format(name: str) -> Format:
    if not isinstance(name, str):
        message = f"format must be str or None, not {type(name).__name__} ({name!r:.40})"
        raise TypeError(message)
    if name not in FORMATS:
        hint = did_you_mean(name, FORMATS)
        message = f"unknown format {name!r}: the formats are {', '.join(FORMATS)}{hint}"
        raise ArgumentError(message)
    return FORMATS[name]
