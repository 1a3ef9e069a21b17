"""How much memory training may take, and where it keeps what has no room.

In: `memory_limit`, `temp_dir`, `min_piece_count` as the user gave them. Out: numbers and folders
that the core takes, or an `ArgumentError`.
"""

from __future__ import annotations

import os
import re
import tempfile

from bytepair._numbers import limit
from bytepair.errors import ArgumentError

__all__ = ["Bounds", "MemoryLimit", "parse_size"]

MemoryLimit = int | str | None
"""Bytes, or a number with a unit: `"500MB"`, `"2GB"`, `"1.5GiB"`."""

LEAST = 1_000_000
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(?:([kmgt])(i?))?b?\s*", re.IGNORECASE | re.ASCII)


def parse_size(size: int | str, option: str = "memory_limit") -> int:
    """A number of bytes from a number or a text.

    >>> parse_size("1.5 GB"), parse_size("2GiB"), parse_size(4096)
    (1500000000, 2147483648, 4096)
    """
    if not isinstance(size, str):
        return limit(None, **{option: size})
    found = _SIZE.fullmatch(size)
    if found is None:
        message = f'{option} is {size!r}; give bytes, or a number and a unit such as "2GB"'
        raise ArgumentError(message)
    number, unit, binary = found.groups()
    power = " kmgt".index(unit.lower()) if unit else 0
    return int(min(float(number) * (1024 if binary else 1000) ** power, float(1 << 62)))


class Bounds:
    """Limits of one training or counting.

    Args:
        memory_limit: the most bytes that counting and learning may hold, or `None`.
        temp_dir: where a temporary folder is made for counts that have no room.
        min_piece_count: pieces that occur more rarely are left out.
        checkpoint: a folder that keeps what was done, and how often in seconds.
    """

    def __init__(
        self,
        memory_limit: MemoryLimit = None,
        temp_dir: str | os.PathLike[str] | None = None,
        min_piece_count: int = 1,
        checkpoint: tuple[str, float] | None = None,
    ) -> None:
        self.memory = None if memory_limit is None else parse_size(memory_limit)
        if self.memory is not None and self.memory < LEAST:
            message = f"memory_limit is {memory_limit!r}; the least is {LEAST} bytes"
            raise ArgumentError(message)
        self.temp_dir = os.fspath(temp_dir) if temp_dir is not None else None
        if self.temp_dir is not None and not os.path.isdir(self.temp_dir):
            message = f"temp_dir is {self.temp_dir!r}, which is no directory"
            raise ArgumentError(message)
        min_piece_count = limit(None, min_piece_count=min_piece_count)
        if min_piece_count < 1:
            message = f"min_piece_count is {min_piece_count}; the least is 1"
            raise ArgumentError(message)
        self.min_piece_count = min_piece_count
        self.checkpoint = checkpoint

    def for_core(self) -> tuple[int | None, str, tuple[str, float] | None]:
        """Limit, folder for what spills, checkpoint."""
        spills = self.memory is not None and self.checkpoint is None
        folder = self.temp_dir or (tempfile.gettempdir() if spills else "")
        return self.memory, folder, self.checkpoint
