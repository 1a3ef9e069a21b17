"""Pieces with scores, as SentencePiece's models and llama.cpp's files have them, made a tokenizer.

In: the pieces and the rules for spaces. Out: a `Tokenizer`. Any two neighbours whose joined text is
a normal piece may merge; that of the best score goes first, the leftmost of equals. Control pieces
and the unknown piece become special tokens; user-defined ones are found before merging.
"""

from __future__ import annotations

import math
from base64 import b64encode
from typing import Any, NamedTuple

from bytepair import _core
from bytepair.errors import FormatError
from bytepair.formats._hf_flow import SPACE
from bytepair.tokenizer import Tokenizer

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
"""What pieces are, numbered as in the files."""


class Piece(NamedTuple):
    """An entry of the vocab."""

    text: str
    score: float
    kind: int


def build(
    pieces: list[Piece],
    source: str,
    *,
    escaped: bool,
    prefix: bool,
    extra: bool,
    fallback: bool,
    charsmap: bytes = b"",
) -> Tokenizer:
    """A tokenizer of these pieces; the id of a piece is its place.

    Args:
        pieces: the pieces.
        source: the file, for errors.
        escaped: whether pieces spell a space `▁`.
        prefix: whether a space is put before a text (and left out when decoding).
        extra: whether spaces at the ends, and all but one of several, are taken away.
        fallback: whether a character that is no piece becomes its bytes.
        charsmap: the character map that is applied first; user-defined pieces are left alone.

    Raises `FormatError` naming the piece that cannot be taken over.
    """
    builder = _Builder(pieces, source)
    builder.check()
    steps = _steps(escaped=escaped, prefix=prefix, extra=extra)
    if charsmap:
        if extra and b"  " in charsmap[4 + int.from_bytes(charsmap[:4], "little") :]:
            raise builder.error("the character map has a result with two spaces: not supported")
        kept = [piece.text for piece in pieces if piece.kind == USER_DEFINED]
        steps.insert(0, ["CharsMap", b64encode(charsmap).decode(), *kept])
    return Tokenizer._assemble(
        builder.model(escaped=escaped, fallback=fallback),
        {piece.text: id for id, piece in enumerate(pieces) if piece.kind in (CONTROL, UNKNOWN)},
        pattern=None,
        name=None,
        normalizer=steps or None,
        drops_space=prefix or extra,
    )


class _Builder:
    def __init__(self, pieces: list[Piece], source: str) -> None:
        self.pieces = pieces
        self.source = source

    def error(self, what: str) -> FormatError:
        return FormatError(f"{self.source}: {what}")

    def check(self) -> None:
        owner: dict[str, int] = {}
        for id, (text, score, kind) in enumerate(self.pieces):
            if not text or math.isnan(score) or not NORMAL <= kind <= BYTE:
                raise self.error(f"piece {id}: text {text!r:.80}, score {score}, type {kind}")
            if kind == UNUSED:
                raise self.error(f"piece {id} ({text!r:.80}) is unused, which is not supported")
            if owner.setdefault(text, id) != id:
                raise self.error(f"the piece {text!r:.80} is {owner[text]} and {id}")

    def model(self, *, escaped: bool, fallback: bool) -> _core.Model:
        vocab: dict[int, bytes] = {}
        byte_ids: dict[int, int] = {}
        for id, piece in enumerate(self.pieces):
            if piece.kind in (NORMAL, USER_DEFINED):
                vocab[id] = (piece.text.replace(SPACE, " ") if escaped else piece.text).encode()
            elif piece.kind == BYTE:
                byte = self.byte(piece.text, id)
                vocab[id], byte_ids[byte] = bytes([byte]), id
        if fallback and len(byte_ids) != 256:
            raise self.error(f"byte_fallback needs 256 pieces for bytes; there are {len(byte_ids)}")
        unknown = [id for id, piece in enumerate(self.pieces) if piece.kind == UNKNOWN]
        if len(unknown) != 1:
            raise self.error(f"there are {len(unknown)} unknown pieces; there must be one")
        return _core.Model.from_symbols(
            vocab,
            ranks=self.ranks(),
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

    def ranks(self) -> list[tuple[int, int]]:
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
