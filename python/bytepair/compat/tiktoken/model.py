"""Models and their encodings, with tiktoken's names for them.

In: the name of a model. Out: the name of its encoding, or the encoding. What the tables say is
tiktoken's, also where `bytepair.encoding_for_model` knows more.
"""

from __future__ import annotations

from bytepair.compat.tiktoken.core import Encoding
from bytepair.compat.tiktoken.registry import get_encoding
from bytepair.encodings import MODEL_PREFIXES, MODELS

__all__ = [
    "MODEL_PREFIX_TO_ENCODING",
    "MODEL_TO_ENCODING",
    "encoding_for_model",
    "encoding_name_for_model",
]

MODEL_TO_ENCODING: dict[str, str] = {
    name: encoding for name, encoding in MODELS.items() if name != "gpt-4.5"
}
"""Model → encoding."""

MODEL_PREFIX_TO_ENCODING: dict[str, str] = {
    # Every name that begins with gpt-5 is one of that model's.
    **{p: e for p, e in MODEL_PREFIXES.items() if not p.startswith("gpt-5")},
    "gpt-5": "o200k_base",
    "ft:gpt-4o": "o200k_base",
    "ft:gpt-4": "cl100k_base",
    "ft:gpt-3.5-turbo": "cl100k_base",
    "ft:davinci-002": "cl100k_base",
    "ft:babbage-002": "cl100k_base",
}
"""Beginning of a model's name → encoding; the first that fits counts."""


def encoding_name_for_model(model_name: str) -> str:
    """The name of the encoding of a model. Raises `KeyError` for an unknown one.

    >>> encoding_name_for_model("gpt-4o-2024-05-13")
    'o200k_base'
    """
    if model_name in MODEL_TO_ENCODING:
        return MODEL_TO_ENCODING[model_name]
    for prefix, encoding in MODEL_PREFIX_TO_ENCODING.items():
        if model_name.startswith(prefix):
            return encoding
    message = (
        f"Could not automatically map {model_name} to a tokeniser. "
        "Please use `tiktoken.get_encoding` to explicitly get the tokeniser you expect."
    )
    raise KeyError(message)


def encoding_for_model(model_name: str) -> Encoding:
    """The encoding of a model. Raises `KeyError` for an unknown one.

    >>> encoding_for_model("gpt-4").name
    'cl100k_base'
    """
    return get_encoding(encoding_name_for_model(model_name))
