"""`bytepair.data.Packed` as a PyTorch dataset. Imported when it is asked for, since it needs torch.

In: a `Packed`. Out: rows as tensors of int64, in each worker of a `DataLoader` those of its share
of the documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.utils.data import IterableDataset, get_worker_info

from bytepair.data import Packed

__all__ = ["PackedDataset"]


class PackedDataset(IterableDataset):  # type: ignore[misc]
    """Rows of ids for a `DataLoader`, with any number of workers.

    Each worker has its share of this process's documents, so with another number of workers the
    rows are others. `state_dict` and `load_state_dict` are those of the share at work: without
    workers any loader resumes exactly, with them one that keeps the state of its workers
    (torchdata's `StatefulDataLoader`).
    """

    def __init__(self, rows: Packed) -> None:
        super().__init__()
        self._rows = rows
        self._state: Mapping[str, Any] | None = None
        self._share: Packed | None = None
        self._ended = False

    def _at_work(self) -> Packed:
        """The share of this worker, which is asked for its state before it iterates."""
        worker = get_worker_info()
        if self._share is None and worker is not None:
            self._share = self._rows.sharded(worker.id, worker.num_workers)
        return self._share or self._rows

    def __iter__(self) -> Iterator[Any]:
        # Not at the first row: a loader may begin twice, and what was loaded is for the first time.
        share, state = self._at_work(), self._state
        self._state = None
        if state is not None:
            share.load_state_dict(state)
        self._ended = state is not None and bool(state.get("ended"))
        return iter(()) if self._ended else self._tensors(share)

    def _tensors(self, share: Packed) -> Iterator[Any]:
        for row in share:
            yield torch.tensor(row, dtype=torch.int64)
        # A worker may be done before the others: what goes on from there gives nothing until they
        # are done, too.
        self._ended = get_worker_info() is not None

    def state_dict(self) -> dict[str, Any]:
        """Where the share at work stands."""
        if self._state is not None:
            return dict(self._state)
        return {**self._at_work().state_dict(), "ended": self._ended}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on there, from the next iteration on."""
        self._state = dict(state)
