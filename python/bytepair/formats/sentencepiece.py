"""SentencePiece's `.model` files of type BPE (Llama 2, Mistral v1, the first Gemma).

In: such a file, a protocol buffer. Out: a `Tokenizer` that gives the ids of `sentencepiece`; there
is no way back. Control pieces and the unknown piece become special tokens, which sentencepiece
never finds in text, so its ids are those of `encode_ordinary`. Any two neighbours whose joined text
is a piece may merge; that of the best score goes first, the leftmost of equals.

Refused by name: the types unigram, word and char; a normalizer with a character map (`nmt_nfkc` and
the like; `identity` has none); unused pieces; spaces as suffixes. Training parameters, self tests
and the ids of padding are not kept.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from bytepair import _core
from bytepair.errors import BytepairError, FormatError
from bytepair.formats import _files
from bytepair.formats._protobuf import fields, floating, signed
from bytepair.tokenizer import Tokenizer

NAME = "sentencepiece"
OPTIONS: tuple[str, ...] = ()
SPACE = "▁"

_MOST_BYTES = 1 << 28
_MODEL_TYPES = {1: "unigram", 2: "bpe", 3: "word", 4: "char"}
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


class Piece(NamedTuple):
    """An entry of the vocab."""

    text: str
    score: float
    kind: int


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
            elif number in (3, 5):
                self.refuse_map(value, "normalizer" if number == 3 else "denormalizer")
                if number == 3:
                    self.normalizer.update(self.numbers(value))
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
        if not text or math.isnan(score) or not NORMAL <= kind <= BYTE:
            raise self.error(f"piece {at}: text {text!r:.80}, score {score}, type {kind}")
        if kind == UNUSED:
            raise self.error(f"piece {at} ({text!r:.80}) is unused, which is not supported")
        return Piece(text, score, kind)

    def numbers(self, data: memoryview) -> dict[int, int]:
        return {number: signed(value) for number, value in fields(data) if isinstance(value, int)}

    def refuse_map(self, data: memoryview, what: str) -> None:
        found = dict(fields(data))
        name = found.get(1, memoryview(b""))
        if found.get(2):
            shown = bytes(name).decode("utf-8", "replace") if isinstance(name, memoryview) else ""
            raise self.error(
                f"the {what} {shown!r} has a character map, which is not supported; only "
                "'identity' is"
            )

    # ── The tokenizer ─────────────────────────────────────────────────────────────────────────────

    def tokenizer(self) -> Tokenizer:
        kind = self.trainer.get(3, 1)
        if kind != 2:
            named = _MODEL_TYPES.get(kind, f"number {kind}")
            raise self.error(f"the model is of type {named}, which is not supported; only bpe is")
        if self.trainer.get(24):
            raise self.error("spaces are suffixes (treat_whitespace_as_suffix): not supported")
        escaped = bool(self.normalizer.get(5, 1))
        prefix, extra = bool(self.normalizer.get(3, 1)), bool(self.normalizer.get(4, 1))
        return Tokenizer._assemble(
            self.model(escaped=escaped),
            {
                piece.text: id
                for id, piece in enumerate(self.pieces)
                if piece.kind in (CONTROL, UNKNOWN)
            },
            pattern=None,
            name=None,
            normalizer=_steps(escaped=escaped, prefix=prefix, extra=extra) or None,
            drops_space=prefix or extra,
        )

    def model(self, *, escaped: bool) -> _core.Model:
        vocab: dict[int, bytes] = {}
        byte_ids: dict[int, int] = {}
        owner: dict[str, int] = {}
        for id, piece in enumerate(self.pieces):
            if owner.setdefault(piece.text, id) != id:
                raise self.error(f"the piece {piece.text!r:.80} is {owner[piece.text]} and {id}")
            if piece.kind in (NORMAL, USER_DEFINED):
                vocab[id] = (piece.text.replace(SPACE, " ") if escaped else piece.text).encode()
            elif piece.kind == BYTE:
                byte = self.byte(piece.text, id)
                vocab[id], byte_ids[byte] = bytes([byte]), id
        fallback = bool(self.trainer.get(35))
        if fallback and len(byte_ids) != 256:
            raise self.error(f"byte_fallback needs 256 pieces for bytes; there are {len(byte_ids)}")
        unknown = [id for id, piece in enumerate(self.pieces) if piece.kind == UNKNOWN]
        if len(unknown) != 1:
            raise self.error(f"there are {len(unknown)} unknown pieces; there must be one")
        return _core.Model.from_symbols(
            vocab,
            ranks=self.ranks(escaped=escaped),
            byte_ids=[byte_ids[byte] for byte in range(256)] if fallback else None,
            unknown=unknown[0],
            frozen=[
                id
                for id, piece in enumerate(self.pieces)
                # When they are looked for, there is no space any more.
                if piece.kind == USER_DEFINED and not (escaped and " " in piece.text)
            ],
        )

    def byte(self, text: str, id: int) -> int:
        byte = text[3:5]
        if text != f"<0x{byte}>" or byte.upper() != byte:
            raise self.error(f"piece {id} ({text!r:.80}) is of type byte, but is not <0xNN>")
        try:
            return bytes.fromhex(byte)[0]
        except ValueError as error:
            raise self.error(f"piece {id} ({text!r:.80}) is of type byte, not <0xNN>") from error

    def ranks(self, *, escaped: bool) -> list[tuple[int, int]]:
        """The rank of each normal piece, equal for equal scores; the best score is 0."""
        normal = [(id, piece) for id, piece in enumerate(self.pieces) if piece.kind == NORMAL]
        scores = sorted({piece.score for _, piece in normal}, reverse=True)
        rank = {score: at for at, score in enumerate(scores)}
        known = {piece.text for _, piece in normal}
        for id, piece in normal:
            for character in piece.text if len(piece.text) > 1 else "":
                if character not in known:
                    raise self.error(
                        f"piece {id} ({piece.text!r:.80}) has the character {character!r}, which "
                        "is no piece; this is not supported"
                    )
        return [(id, rank[piece.score]) for id, piece in normal]


def _steps(*, escaped: bool, prefix: bool, extra: bool) -> list[Any]:
    """What is done to a text first: SentencePiece's rules for spaces."""
    steps: list[Any] = []
    if extra:
        steps += [["ReplaceRegex", "^ +", ""], ["ReplaceRegex", " {2,}", " "]]
    if escaped:
        steps.append(["Replace", SPACE, " "])
    if prefix:
        steps.append(["Prepend", " "])
    if extra:
        steps.append(["ReplaceRegex", " +$", ""])
    return steps
