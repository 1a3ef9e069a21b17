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

    def __iter__(self) -> Iterator[Any]:
        worker = get_worker_info()
        if self._share is None:
            self._share = (
                self._rows if worker is None else self._rows.sharded(worker.id, worker.num_workers)
            )
        if self._state is not None:
            self._share.load_state_dict(self._state)
            self._state = None
        for row in self._share:
            yield torch.tensor(row, dtype=torch.int64)

    def state_dict(self) -> dict[str, Any]:
        """Where the share at work stands."""
        return (self._share or self._rows).state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on there, from the next iteration on."""
        self._state = dict(state)
