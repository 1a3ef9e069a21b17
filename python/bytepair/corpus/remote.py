"""Corpora elsewhere: URLs that fsspec opens (`s3://`, `gs://`, `https://`, `memory://`, …).

In: a URL, which may be a glob or a directory. Out: URLs of files, and what reads them. Needs the
extra `remote`, and the package that fsspec names for the protocol. Nothing is opened that was not
named as a path.
"""

from __future__ import annotations

import re
from typing import Any, BinaryIO, cast

from bytepair.errors import ArgumentError

__all__ = ["expand_url", "is_url", "open_url", "size", "stamp"]

_URL = re.compile(r"[a-z][a-z0-9+.-]+(?:://|::)\S", re.ASCII)


def is_url(path: str) -> bool:
    """Whether a path is for fsspec.

    >>> is_url("s3://bucket/a.txt"), is_url("a.txt"), is_url("C:/a.txt")
    (True, False, False)
    """
    return _URL.match(path) is not None


def _filesystem(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path there."""
    try:
        import fsspec
    except ImportError as error:
        message = f'{url}: reading it needs fsspec; pip install "bytepair[remote]"'
        raise ImportError(message) from error
    try:
        system, path = fsspec.core.url_to_fs(url)
    except ValueError as error:
        message = f"{url}: fsspec cannot open it ({error})"
        raise ArgumentError(message) from error
    return system, path


def expand_url(url: str, suffixes: tuple[str, ...]) -> list[str]:
    """The files behind a URL: itself, those of a glob, or those of a directory with a suffix."""
    system, path = _filesystem(url)
    # A question mark begins the query of an address.
    magic = "*[" if url.startswith("http") else "*?["
    if any(sign in path for sign in magic):
        found = [name for name in system.glob(path) if system.isfile(name)]
        missing = "no file matches this glob"
    elif not url.startswith("http") and system.isdir(path):
        found = [name for name in system.find(path) if name.lower().endswith(suffixes)]
        missing = "the directory has no corpus file"
    else:
        return [url]
    if not found:
        message = f"{url}: {missing}"
        raise ArgumentError(message)
    return sorted(system.unstrip_protocol(name) for name in found)


def open_url(url: str) -> BinaryIO:
    """The bytes behind a URL."""
    system, path = _filesystem(url)
    return cast("BinaryIO", system.open(path, "rb"))


def size(url: str) -> int | None:
    """How many bytes there are, where that is known."""
    system, path = _filesystem(url)
    found = system.size(path)
    return int(found) if found is not None else None


def stamp(url: str) -> str:
    """What changes when the bytes behind a URL do, as far as its file system knows."""
    system, path = _filesystem(url)
    return str(system.checksum(path))
