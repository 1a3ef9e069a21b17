"""What may be wrong with the files of a corpus: one clear error that names them, nothing left."""

from __future__ import annotations

import os
import sys

import pytest

from bytepair import count_pieces, train
from bytepair.errors import ArgumentError, CorpusError

NAMES = [
    "a.txt",
    "a.md",
    "a.jsonl",
    "a.txt.gz",
    "a.jsonl.zst",
    "a.txt.xz",
    "a.txt.bz2",
    "a.parquet",
]


@pytest.fixture
def temp(tmp_path):
    folder = tmp_path / "temp"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("form", ["path", "str", "list", "list of str"])
@pytest.mark.parametrize("name", NAMES)
def test_a_missing_file(name, form, tmp_path, temp):
    path = tmp_path / name
    good = tmp_path / "good.txt"
    good.write_text("some text")
    corpus = {"path": path, "str": str(path), "list": [good, path]}.get(
        form, [str(good), str(path)]
    )
    with pytest.raises(FileNotFoundError, match=name.replace(".", r"\.")):
        train(corpus, 300, memory_limit="2MB", temp_dir=temp)
    assert list(temp.iterdir()) == []


def test_a_link_to_nothing(tmp_path):
    path = tmp_path / "a.txt"
    path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"a\.txt"):
        train([str(path)], 300)


def test_globs_without_a_match(tmp_path):
    for corpus in (tmp_path / "*.nope", str(tmp_path / "*.nope"), [str(tmp_path / "*.nope")]):
        with pytest.raises(ArgumentError, match="no file matches this glob"):
            train(corpus, 300)
    with pytest.raises(ArgumentError, match="no file matches this glob"):
        count_pieces(["part-*.jsonl.gz"])
    with pytest.raises(ArgumentError, match="has no corpus file"):
        train(tmp_path, 300)


def test_texts_in_a_list_are_texts():
    for texts in (
        ["see notes.txt", "b"],
        ["two * three", "4 * 5.0"],
        ["a.txt", "some text"],
        ["x"],
    ):
        assert sum(count_pieces(texts, pattern=None).values()) == len(texts)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("errors", ["strict", "replace"])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "a.parquet"])
def test_a_file_that_cannot_be_read(name, errors, tmp_path, temp):
    """Its first byte is an error of the system, also for root."""
    path = tmp_path / name
    path.symlink_to("/proc/self/mem")
    good = tmp_path / "good.txt"
    good.write_text("some text")
    with pytest.raises(OSError, match=name.replace(".", r"\.")) as error:
        train([good, path], 300, memory_limit="2MB", temp_dir=temp, errors=errors)
    assert error.value.errno is not None
    assert list(temp.iterdir()) == []


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("name", NAMES)
def test_a_file_without_permission(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(b"secret")
    path.chmod(0)
    with pytest.raises(PermissionError, match=name.replace(".", r"\.")):
        train(path, 300)


@pytest.mark.parametrize("limit", [None, "2MB"])
def test_invalid_bytes_leave_nothing(limit, tmp_path, temp):
    path = tmp_path / "bad.txt"
    path.write_bytes(b"good " * 300_000 + b"\xff\xfe")
    with pytest.raises(CorpusError, match=r"bad\.txt.*byte 1500000"):
        train(path, 300, memory_limit=limit, temp_dir=temp)
    assert list(temp.iterdir()) == []
