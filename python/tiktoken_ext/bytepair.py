"""Makes tokenizers of `bytepair` known to tiktoken by name.

In: the folder that `bytepair.compat.tiktoken_plugin.register` writes to. Out:
`ENCODING_CONSTRUCTORS`, which tiktoken reads from every module of this namespace package when it is
asked for a name that it has not met. Listing the folder is all that happens then: a tokenizer is
read, and `bytepair` imported, when its name is asked for.

The folder is `BYTEPAIR_TIKTOKEN_FOLDER` where that is set, else one in the user's data. Each
`NAME.json` in it is a tokenizer. What cannot be used is passed over with a warning, since an error
here would keep tiktoken from loading any encoding.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

VARIABLE = "BYTEPAIR_TIKTOKEN_FOLDER"
ENDING = ".json"
TAKEN = frozenset(
    ("gpt2", "r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony")
)
"""The names that tiktoken has itself, and refuses from anybody else."""


class Saved:
    """A tokenizer in a file, which gives the arguments of `tiktoken.Encoding` when called."""

    def __init__(self, name: str, path: str) -> None:
        """Remember where it is."""
        self.name = name
        self.path = path

    def __call__(self) -> dict[str, Any]:
        """Read it. Raises `bytepair.errors.FormatError` when it is damaged."""
        from bytepair.compat.tiktoken_plugin import arguments

        return arguments(self.path, self.name)


def folder() -> str:
    """The folder of the registered tokenizers; it may not exist."""
    named = os.environ.get(VARIABLE)
    if named:
        return named
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Application Support")
    else:
        base = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return os.path.join(base, "bytepair", "tiktoken")


def find() -> dict[str, Saved]:
    """The tokenizers that are in the folder now, by name."""
    own = folder()
    try:
        files = sorted(os.listdir(own))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        _warn(f"{own}: tokenizers for tiktoken cannot be looked up: {error.strerror}")
        return {}
    found: dict[str, Saved] = {}
    for file in files:
        name, ending = os.path.splitext(file)
        path = os.path.join(own, file)
        if ending != ENDING or name.startswith("."):
            continue
        if name in TAKEN:
            _warn(f"{path} is passed over: {name!r} is an encoding of tiktoken's own")
            continue
        found[name] = Saved(name, path)
    return found


def _warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=2)


ENCODING_CONSTRUCTORS = find()
