# Types of the compiled half of the package. Its documented face is the package itself; stubtest
# keeps this file true to the built module.

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, final

import numpy as np
import numpy.typing as npt
from typing_extensions import Self, disjoint_base

__all__ = [
    "Beginnings",
    "ByteStreamDecoder",
    "EncodeIterator",
    "Model",
    "PieceCounts",
    "StoredCounts",
    "StreamDecoder",
    "StreamEncoder",
    "Tokenizer",
    "Tokens",
    "ZstdReader",
    "__version__",
    "chunks",
    "chunks_many",
    "count",
    "cut_out",
    "cut_out_many",
    "decode_with_offsets",
    "encode_with_offsets",
    "flatten",
    "learn",
    "merge_piece",
    "pattern_name",
    "pattern_names",
    "pretokenize",
    "resolve_pattern",
    "split_unstable",
    "unflatten",
]

__version__: str

_Allowed: TypeAlias = Iterable[str] | Literal["all"]
_Pattern: TypeAlias = str | Sequence[str] | None
_Normalizer: TypeAlias = str | Sequence[str | Sequence[str]] | None
_Report: TypeAlias = Callable[[int, int], object]

class _ArrowColumn(Protocol):
    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple[object, object]: ...

class _ArrowChunks(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

_Texts: TypeAlias = Iterable[str] | _ArrowColumn | _ArrowChunks

class _Reader(Protocol):
    def read(self, size: int, /) -> bytes: ...
    def close(self) -> object: ...

@final
class Model:
    @staticmethod
    def from_merges(
        vocab: Mapping[int, bytes],
        merges: Sequence[tuple[bytes, bytes]],
        *,
        whole_pieces: bool = False,
    ) -> Model: ...
    @staticmethod
    def from_ranks(vocab: Mapping[int, bytes]) -> Model: ...
    @staticmethod
    def from_symbols(
        vocab: Mapping[int, bytes],
        *,
        merges: Sequence[tuple[bytes, bytes]] | None = None,
        ranks: Sequence[tuple[int, int]] | None = None,
        byte_ids: Sequence[int] | None = None,
        unknown: int | None = None,
        fuse_unknown: bool = True,
        frozen: Sequence[int] | None = None,
    ) -> Model: ...
    @property
    def symbols(self) -> dict[str, Any] | None: ...
    @staticmethod
    def unpack(packed: bytes) -> Model: ...
    def pack(self) -> bytes: ...
    @property
    def by_rank(self) -> bool: ...
    @property
    def whole_pieces(self) -> bool: ...
    def __len__(self) -> int: ...
    def ids(self) -> list[int]: ...
    def items(self) -> list[tuple[int, bytes]]: ...
    def token(self, id: int) -> bytes | None: ...
    def id(self, token: bytes) -> int | None: ...
    def merges(self) -> list[tuple[bytes, bytes]]: ...

@final
class EncodeIterator(Iterator[int]):
    def __iter__(self) -> Self: ...
    def __next__(self) -> int: ...

@final
class ByteStreamDecoder:
    def __new__(cls, tokenizer: Tokenizer, prompt_ids: Iterable[int] | None = None) -> Self: ...
    def feed(self, ids: int | Iterable[int]) -> bytes: ...
    def finish(self) -> bytes: ...

@final
class Beginnings:
    def __new__(cls, tokenizer: Tokenizer) -> Self: ...
    def of(self, tokenizer: Tokenizer, bytes: bytes) -> list[int]: ...
    def encode(
        self,
        tokenizer: Tokenizer,
        text: str,
        *,
        allowed_special: _Allowed | None = None,
        disallowed_special: _Allowed | None = None,
        errors: str = "strict",
        most: int = ...,
    ) -> tuple[list[int], bytes, list[list[int]]]: ...
    def heal(
        self, tokenizer: Tokenizer, ids: Iterable[int]
    ) -> tuple[list[int], bytes, list[list[int]]]: ...

@final
class StreamDecoder:
    def __new__(
        cls,
        tokenizer: Tokenizer,
        prompt_ids: Iterable[int] | None = None,
        *,
        errors: str = "replace",
    ) -> Self: ...
    def feed(self, ids: int | Iterable[int]) -> str: ...
    def finish(self) -> str: ...

@final
class StreamEncoder:
    def __new__(
        cls,
        tokenizer: Tokenizer,
        *,
        allowed_special: _Allowed = "all",
        disallowed_special: _Allowed = (),
        errors: str = "strict",
    ) -> Self: ...
    def feed(self, text: str) -> list[int]: ...
    def finish(self) -> list[int]: ...

@final
class Tokens:
    @property
    def ids(self) -> npt.NDArray[np.uint32]: ...
    @property
    def offsets(self) -> npt.NDArray[np.int64]: ...
    def to_lists(self) -> list[list[int]]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> npt.NDArray[np.uint32]: ...
    def __iter__(self) -> Iterator[npt.NDArray[np.uint32]]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple[object, object]: ...

@disjoint_base
class Tokenizer:
    def __new__(
        cls,
        model: Model,
        special_tokens: Mapping[str, int],
        pattern: _Pattern,
        name: str | None = None,
        aliases: Mapping[str, int] | None = None,
        added: Mapping[str, int] | None = None,
        normalizer: _Normalizer = None,
        drops_space: bool = False,
        flags: Mapping[str, tuple[bool, bool, bool]] | None = None,
    ) -> Self: ...
    def encode(
        self,
        text: str | bytes,
        *,
        threads: int | None = None,
        allowed_special: _Allowed = "all",
        disallowed_special: _Allowed = (),
        errors: str = "strict",
        dropout: float | None = None,
        seed: int | None = None,
    ) -> list[int]: ...
    def encode_ordinary(self, text: str | bytes, *, errors: str = "strict") -> list[int]: ...
    def encode_numpy(
        self,
        text: str | bytes,
        *,
        dtype: npt.DTypeLike | None = None,
        out: npt.NDArray[Any] | None = None,
        threads: int | None = None,
        allowed_special: _Allowed = "all",
        disallowed_special: _Allowed = (),
        errors: str = "strict",
    ) -> npt.NDArray[np.uint32] | npt.NDArray[np.uint16]: ...
    def encode_batch(
        self,
        texts: _Texts,
        *,
        threads: int | None = None,
        allowed_special: _Allowed = "all",
        disallowed_special: _Allowed = (),
        errors: str = "strict",
        dropout: float | None = None,
        seed: int | None = None,
    ) -> list[list[int]]: ...
    def encode_ragged(
        self,
        texts: _Texts,
        *,
        threads: int | None = None,
        allowed_special: _Allowed = "all",
        disallowed_special: _Allowed = (),
        errors: str = "strict",
    ) -> Tokens: ...
    def encode_iterable(
        self,
        chunks: Iterable[str],
        *,
        allowed_special: _Allowed = "all",
        disallowed_special: _Allowed = (),
        errors: str = "strict",
    ) -> EncodeIterator: ...
    def count(
        self,
        text: str | bytes,
        *,
        limit: int | None = None,
        threads: int | None = None,
        allowed_special: _Allowed = "all",
        disallowed_special: _Allowed = (),
        errors: str = "strict",
    ) -> int: ...
    def count_batch(
        self,
        texts: _Texts,
        *,
        limit: int | None = None,
        threads: int | None = None,
        allowed_special: _Allowed = "all",
        disallowed_special: _Allowed = (),
        errors: str = "strict",
    ) -> list[int]: ...
    def decode(self, ids: Iterable[int], *, errors: str = "replace") -> str: ...
    def decode_bytes(self, ids: Iterable[int]) -> bytes: ...
    def decode_batch(
        self, batch: Iterable[Iterable[int]], *, errors: str = "replace"
    ) -> list[str]: ...
    def token_bytes(self, id: int) -> bytes: ...
    def token_id(self, token: str | bytes) -> int: ...
    def token_strings(
        self,
        text: str,
        *,
        allowed_special: _Allowed = "all",
        disallowed_special: _Allowed = (),
        errors: str = "strict",
    ) -> list[str]: ...
    def is_special(self, id: int) -> bool: ...
    @property
    def special_tokens(self) -> dict[str, int]: ...
    @property
    def added_tokens(self) -> dict[str, int]: ...
    @property
    def _around(
        self,
    ) -> tuple[str | list[str | list[str]] | None, bool, dict[str, tuple[bool, bool, bool]]]: ...
    @property
    def merges(self) -> list[tuple[bytes, bytes]]: ...
    @property
    def vocab_size(self) -> int: ...
    @property
    def name(self) -> str | None: ...
    @property
    def _special_names(self) -> dict[str, int]: ...
    @property
    def _special_aliases(self) -> dict[str, int]: ...
    @property
    def _pattern(self) -> str | list[str] | None: ...
    @property
    def _model(self) -> Model: ...
    def _canonical(self) -> bytes: ...
    def _equal(self, other: Tokenizer) -> bool: ...

@final
class PieceCounts:
    def __new__(cls, items: Iterable[tuple[bytes, int]], keep_order: bool = False) -> Self: ...
    def get(self, piece: bytes) -> int: ...
    def __len__(self) -> int: ...
    def total(self) -> int: ...
    def total_bytes(self) -> int: ...
    def total_tokens(self, model: Model) -> int: ...
    def items(self, most: int | None = None) -> list[tuple[bytes, int]]: ...
    def merged(self, other: PieceCounts) -> PieceCounts: ...
    def scaled(self, n: int) -> PieceCounts: ...
    def retained(self, least: int) -> PieceCounts: ...
    def check_limit(self, limit: int) -> None: ...

@final
class StoredCounts:
    def __len__(self) -> int: ...
    def total_bytes(self) -> int: ...
    def total_tokens(self, model: Model) -> int: ...
    def close(self) -> None: ...

@final
class ZstdReader:
    def __new__(cls, file: _Reader) -> Self: ...
    def read(self, size: int) -> bytes: ...
    def close(self) -> None: ...

def encode_with_offsets(
    tokenizer: Tokenizer,
    text: str,
    unit: str,
    *,
    allowed_special: _Allowed | None = None,
    disallowed_special: _Allowed | None = None,
) -> tuple[list[int], list[tuple[int, int]]]: ...
def decode_with_offsets(
    tokenizer: Tokenizer, ids: Iterable[int], *, errors: str = "replace"
) -> tuple[str, list[int]]: ...
def cut_out(
    tokenizer: Tokenizer,
    text: str,
    max_tokens: int,
    side: str,
    *,
    allowed_special: _Allowed | None = None,
    disallowed_special: _Allowed | None = None,
) -> tuple[int, int]: ...
def chunks(
    tokenizer: Tokenizer,
    text: str,
    max_tokens: int,
    overlap: int,
    prefer: Sequence[str],
    *,
    allowed_special: _Allowed | None = None,
    disallowed_special: _Allowed | None = None,
) -> list[tuple[int, int, list[int]]]: ...
def cut_out_many(
    tokenizer: Tokenizer,
    texts: Iterable[str],
    max_tokens: int,
    side: str,
    *,
    threads: int | None = None,
    allowed_special: _Allowed | None = None,
    disallowed_special: _Allowed | None = None,
) -> list[tuple[int, int]]: ...
def chunks_many(
    tokenizer: Tokenizer,
    texts: Iterable[str],
    max_tokens: int,
    overlap: int,
    prefer: Sequence[str],
    *,
    threads: int | None = None,
    allowed_special: _Allowed | None = None,
    disallowed_special: _Allowed | None = None,
) -> list[list[tuple[int, int, list[int]]]]: ...
def flatten(model: Model) -> bytes: ...
def unflatten(flat: bytes) -> Model: ...
def split_unstable(tokenizer: Tokenizer, text: str) -> tuple[list[int], int]: ...
def merge_piece(tokenizer: Tokenizer, piece: bytes) -> list[int]: ...
def count(
    parts: Sequence[Sequence[tuple[str, Callable[[], _Reader] | None]] | Iterable[list[str]]],
    pattern: _Pattern,
    special_tokens: Sequence[str],
    threads: int,
    callback: _Report | None,
    keep_order: bool,
    bounds: tuple[int | None, str, tuple[str, float] | None],
    least: int,
    to_learn: bool,
) -> PieceCounts | StoredCounts: ...
def learn(
    counts: PieceCounts | StoredCounts,
    merges: int,
    tie_break: str,
    min_count: int,
    max_token_bytes: int | None,
    callback: _Report | None,
    base: Model | None = None,
    checkpoint: tuple[str | os.PathLike[str], float] | None = None,
) -> tuple[list[tuple[int, int]], list[int], list[bool], list[int]]: ...
def pattern_names() -> list[str]: ...
def resolve_pattern(name: str) -> str | list[str] | None: ...
def pattern_name(pattern: _Pattern) -> str | None: ...
def pretokenize(text: str, pattern: _Pattern, *, general: bool = False) -> list[str]: ...
