"""Byte-pair encoding: train, encode, decode, stream; exact and fast.

A tour in ten lines:

>>> import bytepair
>>> gpt2 = bytepair.get_encoding("gpt2")                    # OpenAI's encodings, offline
>>> gpt2.encode("hello world")
[31373, 995]
>>> gpt2.decode([31373, 995])
'hello world'
>>> tokenizer = bytepair.train(["low low low lower"], 260)  # a path, a list of paths, or texts
>>> tokenizer.token_strings("low lower")
['low', ' low', 'e', 'r']
>>> bytepair.list_encodings()[-1]
'o200k_harmony'

`bytepair.reference` is the same in plain Python, to be read. Nothing here uses the network.
"""

from __future__ import annotations

from bytepair import errors, patterns
from bytepair._core import Tokens, __version__
from bytepair.alignment import Alignment
from bytepair.encodings import encoding_for_model, get_encoding, list_encodings
from bytepair.streaming import ByteStreamDecoder, StreamDecoder, StreamEncoder
from bytepair.tokenizer import Tokenizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from bytepair.corpora import sample_corpus
    from bytepair.counting import count_pieces
    from bytepair.counts import PieceCounts
    from bytepair.progress import Progress
    from bytepair.report import MergeReport, TrainingReport
    from bytepair.results import Chunk, Healed
    from bytepair.training import train, train_bpe, train_bpe_from_text

__all__ = [
    "Alignment",
    "ByteStreamDecoder",
    "Chunk",
    "Healed",
    "MergeReport",
    "PieceCounts",
    "Progress",
    "StreamDecoder",
    "StreamEncoder",
    "Tokenizer",
    "Tokens",
    "TrainingReport",
    "__version__",
    "count_pieces",
    "encoding_for_model",
    "errors",
    "get_encoding",
    "list_encodings",
    "patterns",
    "sample_corpus",
    "train",
    "train_bpe",
    "train_bpe_from_text",
]

# What is not needed to encode is imported when it is first asked for: name → module.
_LATER = {
    "Chunk": "results",
    "Healed": "results",
    "MergeReport": "report",
    "PieceCounts": "counts",
    "Progress": "progress",
    "TrainingReport": "report",
    "count_pieces": "counting",
    "sample_corpus": "corpora",
    "train": "training",
    "train_bpe": "training",
    "train_bpe_from_text": "training",
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in _LATER:
        value = getattr(import_module(f"bytepair.{_LATER[name]}"), name)
        globals()[name] = value
        return value
    if name in _LATER.values():
        return import_module(f"bytepair.{name}")
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
