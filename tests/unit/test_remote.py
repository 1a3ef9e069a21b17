"""Corpora behind URLs: what fsspec opens gives what the same files on disk give."""

from __future__ import annotations

import gzip
import json
import sys

import pytest

import bytepair.checkpoint
from bytepair import Tokenizer, count_pieces, train
from bytepair.corpus.files import sort_corpus
from bytepair.errors import ArgumentError, CorpusError
from cli_support import cli, ok

fsspec = pytest.importorskip("fsspec")

TEXTS = {f"{n}.txt": f"low lower lowest {n} 你好 été\n" * (n + 3) for n in range(3)}


@pytest.fixture
def memory():
    """Three files in fsspec's file system in memory."""
    system = fsspec.filesystem("memory")
    for name, text in TEXTS.items():
        system.pipe(f"/corpus/{name}", text.encode())
    yield system
    system.rm("/corpus", recursive=True)


def expected():
    return count_pieces(list(TEXTS.values()))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("corpus", ["memory://corpus/*.txt", "memory://corpus", "list"])
def test_files_a_glob_and_a_directory(memory, corpus, threads):
    memory.pipe("/corpus/notes.doc", b"not a corpus file \xff")
    if corpus == "list":
        corpus = [f"memory://corpus/{name}" for name in TEXTS]
    assert count_pieces(corpus, threads=threads) == expected()


def test_files_of_every_kind(memory):
    zstandard = pytest.importorskip("zstandard")
    memory.rm("/corpus", recursive=True)
    first, second, third = (text.encode() for text in TEXTS.values())
    memory.pipe("/corpus/a.txt.gz", gzip.compress(first))
    memory.pipe("/corpus/b.txt.zst", zstandard.compress(second))
    line = json.dumps({"text": third.decode()}).encode()
    memory.pipe("/corpus/c.jsonl", line)
    assert count_pieces("memory://corpus") == expected()


def test_tables(memory):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    with memory.open("/corpus/t.parquet", "wb") as file:
        pq.write_table(pa.table({"text": list(TEXTS.values())}), file)
    assert count_pieces("memory://corpus/t.parquet") == expected()


def test_the_file_system_and_chains(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("low low", encoding="utf-8")
    assert count_pieces(f"file://{path}")[b" low"] == 1
    assert count_pieces(f"simplecache::file://{path}")[b" low"] == 1
    assert count_pieces([f"file://{path}", path])[b" low"] == 2


def test_what_cannot_be_read(memory, monkeypatch):
    with pytest.raises(FileNotFoundError):
        count_pieces("memory://corpus/missing.txt")
    with pytest.raises(ArgumentError, match="no file matches this glob"):
        count_pieces("memory://corpus/*.nope")
    with pytest.raises(ArgumentError, match=r"nope://x/a\.txt: fsspec cannot open it"):
        count_pieces("nope://x/a.txt")
    memory.pipe("/corpus/bad.txt", b"abc\xff")
    with pytest.raises(CorpusError, match=r"memory://corpus/bad\.txt: byte 3 is not valid UTF-8"):
        count_pieces("memory://corpus/bad.txt")
    assert count_pieces("memory://corpus/bad.txt", errors="ignore")[b"abc"] == 1
    memory.pipe("/corpus/bad.txt.gz", gzip.compress(b"abc" * 100)[:-9])
    with pytest.raises(CorpusError, match=r"memory://corpus/bad\.txt\.gz: cannot be unpacked"):
        count_pieces("memory://corpus/bad.txt.gz")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(ImportError, match=r"bytepair\[remote\]"):
        count_pieces("memory://corpus/0.txt")


def test_a_url_may_be_a_text():
    """In a list a URL is a path only if it ends as one; a text is nothing to be opened."""
    texts = ["https://example.org/page", "s3://bucket/key and more"]
    assert sort_corpus(texts)[0] is None
    assert count_pieces(texts)[b"https"] == 1


def test_within_a_limit_and_with_a_checkpoint(memory, tmp_path, monkeypatch):
    monkeypatch.setattr(bytepair.checkpoint, "SECONDS", 0.0)
    options = {"special_tokens": [], "checkpoint": tmp_path / "checkpoint"}
    trained = train("memory://corpus", 270, memory_limit="10MB", **options)
    assert trained == train(list(TEXTS.values()), 270, special_tokens=[])
    memory.pipe("/corpus/1.txt", b"another")
    with pytest.raises(ArgumentError, match="another corpus"):
        train("memory://corpus", 270, **options)


def test_on_the_command_line(memory, tmp_path):
    out = tmp_path / "my.json"
    text = ok("train", "memory://corpus/*.txt", "-n", 270, "-o", out)
    assert Tokenizer.load(out) == train(list(TEXTS.values()), 270)
    assert "in 3 files" in text
    done = cli("train", "memory://corpus/*.nope", "-n", 270, "-o", out)
    assert (done.code, done.error) == (
        1, "error: memory://corpus/*.nope: no file matches this glob\n",
    )  # fmt: skip
    assert "3 files" in ok("pieces", "memory://corpus")


@pytest.mark.parametrize(
    "words", [["train", "-n", "300", "-o", "{out}"], ["pieces"], ["pieces", "-o", "{out}.parquet"]]
)
def test_without_fsspec_the_command_line_says_what_to_install(words, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    words = [word.format(out=tmp_path / "a") for word in words]
    done = cli(words[0], "https://x.y/z.txt", *words[1:])
    assert (done.code, done.out) == (1, b"")
    assert done.error == (
        'error: https://x.y/z.txt: reading it needs fsspec; pip install "bytepair[remote]"\n'
    )
