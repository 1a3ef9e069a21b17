"""Documents encoded on the fly and packed to rows of one length, for data loaders.

In: documents, a tokenizer and a length. Out: rows of ids, each document's after the other's, cut to
that length. `Packed` needs nothing but this package; `PackedDataset` is the same as a PyTorch
`IterableDataset`, and PyTorch is imported when it is asked for, not before.

Where a run was stopped is a small dict: `state_dict` gives it after any row and `load_state_dict`
goes on with the next. It names the document and the place in it, so it does not grow with either;
to go on, the documents before are read again, but not encoded. Rows are not shuffled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from bytepair import _core
from bytepair._numbers import whole
from bytepair._types import Allowed
from bytepair.errors import ArgumentError

if TYPE_CHECKING:
    from bytepair._torch_data import PackedDataset as PackedDataset
    from bytepair.tokenizer import Tokenizer

__all__ = ["Packed", "PackedDataset"]

Documents = Iterable[str] | Callable[[], Iterable[str]]


class Packed:
    """Rows of ids of one length, from documents.

    Args:
        documents: texts that can be gone through again: a list, a dataset, or a function that
            gives a fresh iterator (a generator function that reads files, say).
        tokenizer: encodes them.
        length: how many ids a row has.
        end: an id to put behind each document, such as that of `<|endoftext|>`; `None` for none.
        rank: which of the `world_size` processes this is; each has every `world_size`-th document.
        world_size: how many processes share the documents.
        keep_last: whether the last ids, too few for a row, are given as a shorter one.
        allowed_special: as in `encode`; by default special tokens in documents are plain text.
        dropout: as in `encode`; each document and epoch has another seed.
        seed: as in `encode`.

    Iterating goes on where the last iteration was stopped, or where `load_state_dict` says; after
    the last row the next iteration begins again, in the next epoch.

    >>> from bytepair import get_encoding
    >>> rows = Packed(["one two", "three four five"], get_encoding("gpt2"), 3, end=50256)
    >>> list(rows)
    [[505, 734, 50256], [15542, 1440, 1936]]
    """

    def __init__(
        self,
        documents: Documents,
        tokenizer: Tokenizer,
        length: int,
        *,
        end: int | None = None,
        rank: int = 0,
        world_size: int = 1,
        keep_last: bool = False,
        allowed_special: Allowed = (),
        dropout: float | None = None,
        seed: int | None = None,
    ) -> None:
        if isinstance(documents, (str, bytes, Iterator)):
            message = (
                f"documents is {type(documents).__name__}, which cannot be gone through again; "
                "give a list of str, or a function that gives a fresh iterator"
            )
            raise TypeError(message)
        if not (
            callable(documents)
            or hasattr(documents, "__iter__")
            or hasattr(documents, "__getitem__")
        ):
            kind = type(documents).__name__
            message = f"documents must be a list of str, or a function that gives one, not {kind}"
            raise TypeError(message)
        if not isinstance(tokenizer, _core.Tokenizer):
            kind = type(tokenizer).__name__
            message = f"tokenizer must be a bytepair.Tokenizer, as get_encoding gives, not {kind}"
            raise TypeError(message)
        if whole(None, length=length) < 1:
            message = f"length is {length}; a row has at least 1 id"
            raise ArgumentError(message)
        rank, world_size = whole(None, rank=rank), whole(1, world_size=world_size)
        if not 0 <= rank < world_size:
            message = (
                f"rank is {rank} and world_size is {world_size}; give a rank from 0 to "
                f"{world_size - 1}"
            )
            raise ArgumentError(message)
        if end is not None:
            tokenizer.token_bytes(end)
        self._documents = documents
        self.tokenizer = tokenizer
        """What encodes the documents."""
        self.length = length
        """How many ids a row has."""
        self._end = [] if end is None else [end]
        self._keep_last = keep_last
        self._options: dict[str, Any] = {"allowed_special": allowed_special}
        self._dropout, self._seed = dropout, seed
        self._shard, self._shards = rank, world_size
        self._restart(epoch=0)
        self._encode("", 0)  # refuses options that make no sense now, not in a worker

    def __repr__(self) -> str:
        share = f", share {self._shard} of {self._shards}" if self._shards > 1 else ""
        return f"<Packed rows of {self.length} ids{share}, by {self.tokenizer!r}>"

    def _restart(self, epoch: int) -> None:
        self._epoch = epoch
        # The next document, how many of its ids are used, and ids of those before that wait.
        self._document, self._used = 0, 0
        self._waiting: list[int] = []

    def sharded(self, index: int, count: int) -> Packed:
        """A copy for one of `count` workers, which shares this one's documents with the others.

        >>> from bytepair import get_encoding
        >>> rows = Packed(["a", "b", "c", "d"], get_encoding("gpt2"), 1)
        >>> [list(rows.sharded(worker, 2)) for worker in range(2)]
        [[[64], [66]], [[65], [67]]]
        """
        if not 0 <= index < count:
            message = f"worker {index} of {count} does not exist"
            raise ArgumentError(message)
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy._shard, copy._shards = self._shard * count + index, self._shards * count
        copy._restart(self._epoch)
        return copy

    def _encode(self, document: str, index: int) -> list[int]:
        if self._dropout is None and self._seed is None:
            return self.tokenizer.encode(document, **self._options) + self._end
        seed = self._seed
        if seed is not None:
            seed = (seed + index + (self._epoch << 40)) % (1 << 64)
        ids = self.tokenizer.encode(document, dropout=self._dropout, seed=seed, **self._options)
        return ids + self._end

    def __iter__(self) -> Iterator[list[int]]:
        documents = self._documents() if callable(self._documents) else self._documents
        skipped = self._document
        for index, document in enumerate(documents):
            if index < skipped or index % self._shards != self._shard:
                continue
            if not isinstance(document, str):
                message = f"document {index} must be str, not {type(document).__name__}"
                raise TypeError(message)
            yield from self._rows_of(self._encode(document, index), index)
        rest, epoch = self._waiting, self._epoch + 1
        self._restart(epoch)
        if rest and self._keep_last:
            yield rest

    def _rows_of(self, ids: list[int], index: int) -> Iterator[list[int]]:
        """The rows that a document makes full; the state is right before each is given."""
        self._document = index
        while len(self._waiting) + len(ids) - self._used >= self.length:
            start = self._used
            self._used += self.length - len(self._waiting)
            row = self._waiting + ids[start : self._used]
            self._waiting = []
            yield row
        self._waiting = self._waiting + ids[self._used :]
        self._document, self._used = index + 1, 0

    def state_dict(self) -> dict[str, Any]:
        """Where the iteration stands, as numbers, text and a list: JSON can hold it.

        >>> from bytepair import get_encoding
        >>> rows = Packed(["one two three four"], get_encoding("gpt2"), 2)
        >>> next(iter(rows))
        [505, 734]
        >>> rows.state_dict()["document"], rows.state_dict()["used"]
        (0, 2)
        """
        return {
            "version": 1,
            "fingerprint": self.tokenizer.fingerprint,
            "length": self.length,
            "shard": self._shard,
            "shards": self._shards,
            "epoch": self._epoch,
            "document": self._document,
            "used": self._used,
            "waiting": list(self._waiting),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was taken.

        Raises `ArgumentError` when it was taken with another tokenizer, length or share of the
        documents, naming which; the documents and options must be the same, too.

        >>> from bytepair import get_encoding
        >>> rows = Packed(["one two three four"], get_encoding("gpt2"), 2)
        >>> state = rows.state_dict()
        >>> first = next(iter(rows))
        >>> rows.load_state_dict(state)
        >>> next(iter(rows)) == first
        True
        """
        own = self.state_dict()
        for key in ("version", "fingerprint", "length", "shard", "shards"):
            if state.get(key) != own[key]:
                message = f"the state has {key} {state.get(key)!r}, and this is {own[key]!r}"
                raise ArgumentError(message)
        try:
            epoch, document, used = (int(state[key]) for key in ("epoch", "document", "used"))
            waiting = [int(id) for id in state["waiting"]]
        except (KeyError, TypeError, ValueError) as error:
            message = f"the state is not one that state_dict gave ({error!r})"
            raise ArgumentError(message) from error
        whole(epoch=epoch)
        whole(document=document)
        whole(used=used)
        self._epoch, self._document, self._used, self._waiting = epoch, document, used, waiting


def __getattr__(name: str) -> Any:
    if name != "PackedDataset":
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    try:
        from bytepair._torch_data import PackedDataset
    except ImportError as error:
        message = "PackedDataset needs PyTorch; install torch, or use Packed, which needs nothing"
        raise ImportError(message) from error
    return PackedDataset
