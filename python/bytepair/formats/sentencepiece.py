"""SentencePiece's `.model` files of type BPE (Llama 2, Mistral v1, the first Gemma).

In: such a file, a protocol buffer. Out: a `Tokenizer` that gives the ids of `sentencepiece`; there
is no way back. Control pieces and the unknown piece become special tokens, which sentencepiece
never finds in text, so its ids are those of `encode_ordinary`. Any two neighbours whose joined text
is a piece may merge; that of the best score goes first, the leftmost of equals.

Character maps (`nmt_nfkc` and the like; `identity` has none) become a step of the normalizer.
Refused by name: the types unigram, word and char; denormalizers; unused pieces; spaces as suffixes.
Training parameters, self tests and the ids of padding are not kept.
"""

from __future__ import annotations

from bytepair.errors import BytepairError, FormatError
from bytepair.formats import _files
from bytepair.formats._pieces import NORMAL, Piece, build
from bytepair.formats._protobuf import fields, floating, signed
from bytepair.tokenizer import Tokenizer

NAME = "sentencepiece"
OPTIONS: tuple[str, ...] = ()

_MOST_BYTES = 1 << 28
_MODEL_TYPES = {1: "unigram", 2: "bpe", 3: "word", 4: "char"}


def detect(path: str) -> bool:
    """Whether `path` begins as such a file does: with a piece and its score."""
    head = _files.head(path, 512)
    if head[:1] != b"\x0a" or len(head) < 8:
        return False
    # A message of a string (field 1) and a float (field 2).
    size = head[3]
    return head[2] == 0x0A and size < 128 and head[4 + size : 5 + size] == b"\x15"


def load(path: str) -> Tokenizer:
    """Read a tokenizer. Raises `FormatError`, naming the file and what it cannot take over."""
    content = _files.read_bytes(path, _MOST_BYTES)
    reader = _Reader(path)
    try:
        reader.read(memoryview(content))
        return reader.tokenizer()
    except FormatError:
        raise
    except (BytepairError, ValueError, OverflowError) as error:
        message = f"{path}: {error}"
        raise FormatError(message) from error


def save(tokenizer: Tokenizer, path: str) -> None:
    """Refuse: such files are read and not written."""
    message = (
        "SentencePiece's models are read and not written; save in the huggingface or the gguf "
        "format, which are read wherever they are"
    )
    raise FormatError(message)


class _Reader:
    """Collects what a file says and builds the tokenizer."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.pieces: list[Piece] = []
        self.trainer: dict[int, int] = {}
        self.normalizer: dict[int, int] = {}
        self.charsmap = b""

    def error(self, what: str) -> FormatError:
        return FormatError(f"{self.source}: {what}")

    def read(self, data: memoryview) -> None:
        for number, value in fields(data):
            if not isinstance(value, memoryview):
                continue
            if number == 1:
                self.pieces.append(self.piece(value, len(self.pieces)))
            elif number == 2:
                self.trainer.update(self.numbers(value))
            elif number == 3:
                self.normalizer.update(self.numbers(value))
                self.charsmap = self.map_of(value) or self.charsmap
            elif number == 5 and self.map_of(value):
                raise self.error("there is a denormalizer, which is not supported")
        if not self.pieces:
            raise self.error("there is no piece in it; the file is not whole")

    def piece(self, data: memoryview, at: int) -> Piece:
        text, score, kind = "", 0.0, NORMAL
        for number, value in fields(data):
            if number == 1 and isinstance(value, memoryview):
                try:
                    text = bytes(value).decode()
                except UnicodeDecodeError as error:
                    raise self.error(f"piece {at} is not UTF-8") from error
            elif number == 2 and isinstance(value, memoryview) and len(value) == 4:
                score = floating(value)
            elif number == 3 and isinstance(value, int):
                kind = value
        return Piece(text, score, kind)

    def numbers(self, data: memoryview) -> dict[int, int]:
        return {number: signed(value) for number, value in fields(data) if isinstance(value, int)}

    def map_of(self, data: memoryview) -> bytes:
        """The character map of a normalizer, empty where there is none."""
        found = dict(fields(data)).get(2, b"")
        return b"" if isinstance(found, int) else bytes(found)

    # ── The tokenizer ─────────────────────────────────────────────────────────────────────────────

    def tokenizer(self) -> Tokenizer:
        kind = self.trainer.get(3, 1)
        if kind != 2:
            named = _MODEL_TYPES.get(kind, f"number {kind}")
            raise self.error(f"the model is of type {named}, which is not supported; only bpe is")
        if self.trainer.get(24):
            raise self.error("spaces are suffixes (treat_whitespace_as_suffix): not supported")
        return build(
            self.pieces,
            self.source,
            escaped=bool(self.normalizer.get(5, 1)),
            prefix=bool(self.normalizer.get(3, 1)),
            extra=bool(self.normalizer.get(4, 1)),
            fallback=bool(self.trainer.get(35)),
            charsmap=self.charsmap,
        )
