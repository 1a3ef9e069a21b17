"""How far the files of a corpus are read, in bytes as they are on disk.

In: the files in the order in which they are counted, and what their readers tell. Out: bytes done
of bytes known, for the progress of packed files and tables, of which nobody knows how much text
they hold before they are read. A reader is ahead of what is counted by a block at most. Where the
size of one file is not known (a pipe, a URL whose server does not say) the total is not either.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import accumulate

from bytepair.corpus.readers import Reader, position
from bytepair.corpus.remote import is_url, size

__all__ = ["Disk", "Place"]


class Disk:
    """The bytes of some files, and how many of them are done.

    Args:
        paths: the files, in the order in which they are counted.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        sizes = [_size(path) for path in paths]
        known = [size for size in sizes if size is not None]
        self.total: int | None = sum(known) if len(known) == len(sizes) else None
        """Bytes of all files; `None` if that is not known."""
        self._sizes = known
        self._starts = [0, *accumulate(known)]
        self._reading = False
        self._floor = 0
        self._counted = self._mark = 0
        self._done = 0

    def place(self, number: int) -> Place:
        """What hears of a file by its number how far it is read."""
        return Place(self, number)

    def _moved(self, number: int, share: float | None, read: int) -> None:
        if self.total is not None:
            size = self._sizes[number]
            self._reading = True
            here = min(read, size) if share is None else int(size * min(share, 1.0))
            self._floor = self._starts[number] + here

    def _passed(self, number: int) -> None:
        if self.total is not None:
            self._reading = False
            self._floor = self._starts[number + 1]
            self._mark = self._counted

    def done(self, counted: int) -> int:
        """Bytes on disk that are done when so many bytes of text are counted."""
        self._counted = counted
        plain = 0 if self._reading else max(0, counted - self._mark)
        done = min(self._floor + plain, self.total or 0)
        self._done = max(done, self._done)
        return self._done


class Place:
    """How far one file is read. All files before it are done."""

    def __init__(self, disk: Disk, number: int) -> None:
        self._disk, self._number = disk, number

    def read(self, count: int) -> None:
        """So many bytes of it are read."""
        self._disk._moved(self._number, None, count)

    def share(self, part: float) -> None:
        """So much of it is read, from 0 to 1."""
        self._disk._moved(self._number, part, 0)

    def passed(self) -> None:
        """It is read to its end. Files that the core reads itself may follow."""
        self._disk._passed(self._number)

    def follow(self, opens: Callable[[], Reader]) -> Callable[[], Reader]:
        """What opens the file, so that reading it is heard here."""
        return lambda: _Followed(opens(), self)


class _Followed:
    """A reader that tells a `Place` how far it is."""

    def __init__(self, inner: Reader, place: Place) -> None:
        self._inner, self._place = inner, place
        place.read(0)

    def read(self, size: int, /) -> bytes:
        data = self._inner.read(size)
        self._place.read(position(self._inner))
        return data

    def close(self) -> None:
        self._place.passed()
        self._inner.close()


def _size(path: str) -> int | None:
    """Bytes of a file; `None` if nobody knows. That it is missing is for its reader to say."""
    if is_url(path):
        try:
            return size(path)
        except (OSError, ImportError, ValueError):
            return None
    try:
        return os.path.getsize(path) if os.path.isfile(path) else None
    except OSError:
        return None
