"""What can go wrong: one base class and a few subclasses, each also a built-in exception.

In: nothing; the core and the package raise these. A message names the value, the place (file, line,
position) and the way out. Catch `BytepairError` for all of them, or the built-in you know.

>>> from bytepair import get_encoding
>>> try:
...     get_encoding("gpt2").decode([50257])
... except KeyError as error:
...     print(error)
unknown id 50257 at position 0: the vocab size is 50257 and no token has this id
"""

from __future__ import annotations

__all__ = [
    "ArgumentError",
    "BytepairError",
    "CorpusError",
    "FormatError",
    "PatternError",
    "SpecialTokenError",
    "TrainingWarning",
    "UnknownModelError",
    "UnknownTokenError",
    "VocabError",
]


class BytepairError(Exception):
    """The base of all errors of this package."""

    # `KeyError` shows the repr of its message; here every message is prose.
    __str__ = Exception.__str__


class ArgumentError(BytepairError, ValueError):
    """An option or argument is out of its range."""


class VocabError(BytepairError, ValueError):
    """A vocab, merges and special tokens that do not fit together, or a byte no token covers."""


class UnknownTokenError(BytepairError, ValueError, KeyError):
    """An id (or token) that the vocab does not have."""


class UnknownModelError(ArgumentError, KeyError):
    """A model whose encoding is not known."""


class PatternError(BytepairError, ValueError):
    """A regular expression that cannot be used, or that gave up on a text."""


class SpecialTokenError(BytepairError, ValueError):
    """A text that holds a special token which the caller disallowed."""


class FormatError(BytepairError, ValueError):
    """A file that is not what its format says, or a format that cannot hold the tokenizer."""


class CorpusError(BytepairError, ValueError):
    """A corpus that cannot be read as text."""


class TrainingWarning(UserWarning):
    """Training ended before the vocab size asked for was reached."""
