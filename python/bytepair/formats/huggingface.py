"""Hugging Face's `tokenizer.json`, for BPE of bytes and of characters.

In: such a file, or a directory with it. Out: a `Tokenizer`, and back, with a
`tokenizer_config.json` beside it for transformers. The ids are those of `tokenizers` with
`add_special_tokens=False`. All that the ids depend on is taken over exactly, or refused by name;
truncation and padding are passed over.

Files of other models (WordPiece, Unigram) are refused. Tokens with `"special": false` in
`added_tokens` become added tokens. Reading is in `_hf_read` and `_hf_flow`, writing in `_hf_write`.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from bytepair.formats import _files, _hf_config, _hf_write
from bytepair.formats._hf_read import Reader
from bytepair.tokenizer import Tokenizer

if TYPE_CHECKING:
    import tokenizers

NAME = "huggingface"
OPTIONS: tuple[str, ...] = ()
FILE = "tokenizer.json"
_HEAD = re.compile(
    rb'\s*{.*?"(?:truncation|padding|added_tokens|normalizer|pre_tokenizer|post_processor)"\s*:',
    re.DOTALL,
)


def detect(path: str) -> bool:
    """Whether `path` is a `tokenizer.json`, or a directory with one."""
    if os.path.isdir(path):
        return os.path.isfile(os.path.join(path, FILE))
    return _HEAD.match(_files.head(path)) is not None


def load(path: str) -> Tokenizer:
    """Read a tokenizer. Raises `FormatError`, naming the file and what it cannot take over."""
    source = os.path.join(path, FILE) if os.path.isdir(path) else path
    folder = os.path.dirname(source) if os.path.isdir(path) else None
    return _read(source, _files.read_json(source), folder)


def loads(text: str) -> Tokenizer:
    """Read a tokenizer from the text of a file."""
    return _read("the text", _files.parse_json(text, "the text"), None)


def _read(source: str, data: Any, folder: str | None) -> Tokenizer:
    tokenizer = Reader(source).tokenizer(data)
    conventions = _hf_config.read(tokenizer, data, folder)
    return tokenizer._with_conventions(conventions) if conventions else tokenizer


def save(tokenizer: Tokenizer, path: str) -> None:
    """Write a tokenizer: to a file where `path` ends in `.json`, else to a directory."""
    text = _hf_write.dumps(tokenizer)
    if path.endswith(".json") and not os.path.isdir(path):
        _files.write_whole(path, text)
        return
    os.makedirs(path, exist_ok=True)
    _files.write_whole(os.path.join(path, FILE), text)
    _files.write_whole(os.path.join(path, "tokenizer_config.json"), _hf_write.config(tokenizer))


def to_object(tokenizer: Tokenizer) -> tokenizers.Tokenizer:
    """A tokenizer of the library's; see `Tokenizer.to_huggingface`."""
    try:
        import tokenizers
    except ImportError as error:
        message = "to_huggingface needs tokenizers; install it"
        raise ImportError(message) from error
    return tokenizers.Tokenizer.from_str(_hf_write.dumps(tokenizer))
