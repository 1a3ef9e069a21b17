"""Checkpoints: what a training run was asked to do, beside what it has done.

In: a folder, options and corpus. Out: the folder, locked, if it is new or holds a checkpoint of the
same run; else an `ArgumentError` that says what differs. `checkpoint.json` holds options and
corpus; the core keeps `position`, `*.run` and `merges` there. All of them are replaced as wholes.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

from bytepair.corpus.remote import is_url, stamp
from bytepair.counts import PieceCounts
from bytepair.errors import ArgumentError
from bytepair.formats._files import read_json, write_whole

__all__ = ["SECONDS", "identify", "opened"]

SECONDS = 30.0
"""How often counts and merges are saved."""
NAME = "checkpoint.json"
_LOCK = "lock"
_END = 1 << 16


@contextmanager
def opened(folder: str, options: Mapping[str, Any], corpus: Any) -> Iterator[tuple[str, float]]:
    """The folder of a checkpoint, for this process alone, and how often to save there."""
    try:
        os.makedirs(folder, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        message = f"checkpoint is {folder!r}, which is no folder; name one, or a new one"
        raise ArgumentError(message) from None
    facts = json.loads(json.dumps({"version": 1, "options": dict(options), "corpus": corpus}))
    path = os.path.join(folder, NAME)
    with open(os.path.join(folder, _LOCK), "ab") as lock:
        _take(lock, folder)
        if os.path.exists(path):
            _compare(folder, read_json(path), facts)
        elif others := sorted(set(os.listdir(folder)) - {_LOCK}):
            message = f"{folder}: holds no checkpoint but other files ({others[0]}); name another"
            raise ArgumentError(message)
        else:
            write_whole(path, json.dumps(facts, ensure_ascii=False, indent=1))
        yield folder, SECONDS


def _take(lock: BinaryIO, folder: str) -> None:
    try:
        import fcntl
    except ImportError:  # a system without it goes without the lock
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        message = f"{folder}: another process uses this checkpoint; wait for it, or name another"
        raise ArgumentError(message) from None


def _compare(folder: str, there: Any, here: Mapping[str, Any]) -> None:
    if not isinstance(there, dict) or there.get("version") != here["version"]:
        message = f"{folder}: the checkpoint is of another version; name another folder"
        raise ArgumentError(message)
    for name, value in here["options"].items():
        before = there["options"].get(name)
        if before != value:
            message = (
                f"{folder}: the checkpoint was made with {name}={before!r}, not {value!r}; "
                "give the same options, or another folder"
            )
            raise ArgumentError(message)
    if there["corpus"] != here["corpus"]:
        message = f"{folder}: the checkpoint was made of another corpus"
        if isinstance(here["corpus"], list) and isinstance(there["corpus"], list):
            changed = [now["name"] for now in here["corpus"] if now not in there["corpus"]]
            if changed:
                message += f" (there is no {changed[0]!r} as it is now)"
        message += "; give that corpus, or another folder"
        raise ArgumentError(message)


def identify(corpus: PieceCounts | None, paths: Sequence[str] | None) -> Any:
    """What makes a corpus this one: sizes, times and ends of its files, or the counts.

    Texts from an iterable are known by nothing here; the core has a checksum of them.
    """
    if corpus is not None:
        digest = hashlib.sha256()
        for piece, count in corpus._core.items():
            digest.update(len(piece).to_bytes(8, "little") + piece + count.to_bytes(8, "little"))
        return {"counts": digest.hexdigest()}
    return "texts" if paths is None else [_identify(path) for path in paths]


def _identify(path: str) -> dict[str, Any]:
    if is_url(path):
        return {"name": path, "stamp": stamp(path)}
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        digest = hashlib.sha256(file.read(_END))
        if status.st_size > 2 * _END:
            file.seek(-_END, os.SEEK_END)
        digest.update(file.read(_END))
    return {
        "name": os.path.basename(path),
        "size": status.st_size,
        "modified": status.st_mtime_ns,
        "ends": digest.hexdigest(),
    }
