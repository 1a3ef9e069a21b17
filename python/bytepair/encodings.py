"""OpenAI's encodings by name, offline: the rank tables are in the package.

In: the name of an encoding or of a model. Out: a `Tokenizer`. Loading takes milliseconds and is
done once for each name in a process. The tables are OpenAI's (MIT licence, see NOTICE), packed by
`scripts/pack_encodings.py`; a test proves that they unpack to the published files.
"""

from __future__ import annotations

import os
from _thread import allocate_lock

from bytepair import _core
from bytepair._names import did_you_mean
from bytepair.errors import ArgumentError, UnknownModelError
from bytepair.tokenizer import Tokenizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["MODELS", "MODEL_PREFIXES", "encoding_for_model", "get_encoding", "list_encodings"]

END_OF_TEXT = "<|endoftext|>"
FILL_IN = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
END_OF_PROMPT = "<|endofprompt|>"


class _Encoding:
    def __init__(
        self,
        table: str,
        pattern: str,
        special_tokens: dict[str, int],
        aliases: dict[str, int] | None = None,
    ) -> None:
        self.table = table
        """File of the packed rank table."""
        self.pattern = pattern
        self.special_tokens = special_tokens
        self.aliases = aliases or {}


def _numbered(names: tuple[str, ...], first: int) -> dict[str, int]:
    return {name: first + at for at, name in enumerate(names)}


_HARMONY = {
    "startoftext": 199998,
    "endoftext": 199999,
    "return": 200002,
    "constrain": 200003,
    "channel": 200005,
    "start": 200006,
    "end": 200007,
    "message": 200008,
    "call": 200012,
    "endofprompt": 200018,
}
_HARMONY_RESERVED = [
    id for id in range(200000, 201088) if id not in set(_HARMONY.values()) - {200018}
]

_ENCODINGS = {
    "gpt2": _Encoding("r50k_base", "gpt2", {END_OF_TEXT: 50256}),
    "r50k_base": _Encoding("r50k_base", "gpt2", {END_OF_TEXT: 50256}),
    "p50k_base": _Encoding("p50k_base", "gpt2", {END_OF_TEXT: 50256}),
    "p50k_edit": _Encoding("p50k_base", "gpt2", {END_OF_TEXT: 50256, **_numbered(FILL_IN, 50281)}),
    "cl100k_base": _Encoding(
        "cl100k_base",
        "cl100k",
        {END_OF_TEXT: 100257, **_numbered(FILL_IN, 100258), END_OF_PROMPT: 100276},
    ),
    "o200k_base": _Encoding("o200k_base", "o200k", {END_OF_TEXT: 199999, END_OF_PROMPT: 200018}),
    "o200k_harmony": _Encoding(
        "o200k_base",
        "o200k",
        {
            **{f"<|{name}|>": id for name, id in _HARMONY.items()},
            **{f"<|reserved_{id}|>": id for id in _HARMONY_RESERVED if id != 200018},
        },
        # OpenAI's table has two names for this id; it decodes to the other one.
        {"<|reserved_200018|>": 200018},
    ),
}

MODELS: dict[str, str] = {
    "o1": "o200k_base",
    "o3": "o200k_base",
    "o4-mini": "o200k_base",
    "gpt-5": "o200k_base",
    "gpt-4.5": "o200k_base",
    "gpt-4.1": "o200k_base",
    "gpt-4o": "o200k_base",
    "gpt-4": "cl100k_base",
    "gpt-3.5-turbo": "cl100k_base",
    "gpt-3.5": "cl100k_base",
    "gpt-35-turbo": "cl100k_base",
    "davinci-002": "cl100k_base",
    "babbage-002": "cl100k_base",
    "text-embedding-ada-002": "cl100k_base",
    "text-embedding-3-small": "cl100k_base",
    "text-embedding-3-large": "cl100k_base",
    "text-davinci-003": "p50k_base",
    "text-davinci-002": "p50k_base",
    "text-davinci-001": "r50k_base",
    "text-curie-001": "r50k_base",
    "text-babbage-001": "r50k_base",
    "text-ada-001": "r50k_base",
    "davinci": "r50k_base",
    "curie": "r50k_base",
    "babbage": "r50k_base",
    "ada": "r50k_base",
    "code-davinci-002": "p50k_base",
    "code-davinci-001": "p50k_base",
    "code-cushman-002": "p50k_base",
    "code-cushman-001": "p50k_base",
    "davinci-codex": "p50k_base",
    "cushman-codex": "p50k_base",
    "text-davinci-edit-001": "p50k_edit",
    "code-davinci-edit-001": "p50k_edit",
    "text-similarity-davinci-001": "r50k_base",
    "text-similarity-curie-001": "r50k_base",
    "text-similarity-babbage-001": "r50k_base",
    "text-similarity-ada-001": "r50k_base",
    "text-search-davinci-doc-001": "r50k_base",
    "text-search-curie-doc-001": "r50k_base",
    "text-search-babbage-doc-001": "r50k_base",
    "text-search-ada-doc-001": "r50k_base",
    "code-search-babbage-code-001": "r50k_base",
    "code-search-ada-code-001": "r50k_base",
    "gpt2": "gpt2",
    "gpt-2": "gpt2",
}
"""Model name → encoding. Add your own names to it."""

MODEL_PREFIXES: dict[str, str] = {
    "o1-": "o200k_base",
    "o3-": "o200k_base",
    "o4-mini-": "o200k_base",
    "gpt-5-": "o200k_base",
    "gpt-5.": "o200k_base",
    "gpt-4.5-": "o200k_base",
    "gpt-4.1-": "o200k_base",
    "chatgpt-4o-": "o200k_base",
    "gpt-4o-": "o200k_base",
    "gpt-4-": "cl100k_base",
    "gpt-3.5-turbo-": "cl100k_base",
    "gpt-35-turbo-": "cl100k_base",
    "gpt-oss-": "o200k_harmony",
}
"""Beginning of a model's name → encoding, for dated and sized versions."""

_loaded: dict[str, Tokenizer] = {}
_models: dict[str, _core.Model] = {}
_lock = allocate_lock()


def _renew_lock() -> None:
    """A forked child has no thread that could release a lock held at the fork."""
    global _lock
    _lock = allocate_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def list_encodings() -> list[str]:
    """The names that `get_encoding` knows.

    >>> list_encodings()[:2]
    ['gpt2', 'r50k_base']
    """
    return list(_ENCODINGS)


def get_encoding(name: str) -> Tokenizer:
    """The OpenAI encoding of this name. Works offline.

    Raises `ArgumentError` (a `ValueError`) for an unknown name, `TypeError` for what is no name.

    >>> get_encoding("o200k_base").encode("hello world")
    [24912, 2375]
    """
    if not isinstance(name, str):
        message = f"get_encoding takes the name of an encoding, not {type(name).__name__}"
        raise TypeError(message)
    tokenizer = _loaded.get(name)
    return tokenizer if tokenizer is not None else _load(name)


def _load(name: str) -> Tokenizer:
    encoding = _ENCODINGS.get(name)
    if encoding is None:
        hint = (
            f"; for the model {name!r} use encoding_for_model"
            if _find_model(name)
            else did_you_mean(name, _ENCODINGS)
        )
        message = f"unknown encoding {name!r:.80}: the names are {', '.join(_ENCODINGS)}{hint}"
        raise ArgumentError(message)
    with _lock:
        if name not in _loaded:
            _loaded[name] = Tokenizer._assemble(
                _model(encoding.table),
                encoding.special_tokens,
                pattern=encoding.pattern,
                name=name,
                aliases=encoding.aliases,
            )
        return _loaded[name]


def _model(table: str) -> _core.Model:
    """The model of a packed table, shared by the encodings that have the same one."""
    if table not in _models:
        # Not importlib.resources: to import it takes as long as to unpack the table.
        path = os.path.join(os.path.dirname(__file__), "data", f"{table}.bpranks")
        with open(path, "rb") as file:
            _models[table] = _core.Model.unpack(file.read())
    return _models[table]


def table_of(model: _core.Model) -> str | None:
    """The packed table that this very model is, for tokenizers built upon a bundled encoding."""
    return next((table for table, known in _models.items() if known is model), None)


def from_table(table: str, special_tokens: dict[str, int], parts: dict[str, Any]) -> Tokenizer:
    """A tokenizer of a packed table, from its other parts: how such a one is unpickled."""
    return Tokenizer._assemble(_model(table), special_tokens, **parts)


def is_bundled(tokenizer: Tokenizer) -> bool:
    """Whether `get_encoding(tokenizer.name)` is this very tokenizer."""
    return tokenizer.name in _loaded and _loaded[tokenizer.name] is tokenizer


def encoding_for_model(model: str) -> Tokenizer:
    """The encoding of an OpenAI model, by the model's name.

    Dated versions, fine-tunes (`ft:…`) and names with a provider before them (`openai/…`,
    `azure/…`) are understood. Add to `MODELS` or `MODEL_PREFIXES` what is missing.

    Raises `ArgumentError` and `KeyError` in one (`UnknownModelError`) for an unknown model.

    >>> encoding_for_model("gpt-4o").name
    'o200k_base'
    >>> encoding_for_model("ft:gpt-3.5-turbo:acme::abc").name
    'cl100k_base'
    """
    if not isinstance(model, str):
        message = f"encoding_for_model takes the name of a model, not {type(model).__name__}"
        raise TypeError(message)
    name = _find_model(model)
    if name is None:
        message = f"no encoding is known for the model {model!r:.80}"
        if model in _ENCODINGS:
            message += f"; it is the name of an encoding: use get_encoding({model!r})"
        else:
            message += f"; if you know it, use get_encoding with one of {', '.join(_ENCODINGS)}"
            message += did_you_mean(model, MODELS)
        raise UnknownModelError(message)
    return get_encoding(name)


def _find_model(model: str) -> str | None:
    name = model.rsplit("/", 1)[-1]
    if name.startswith("ft:"):
        name = name.split(":")[1]
    if name in MODELS:
        return MODELS[name]
    fitting = [prefix for prefix in MODEL_PREFIXES if name.startswith(prefix)]
    return MODEL_PREFIXES[max(fitting, key=len)] if fitting else None
