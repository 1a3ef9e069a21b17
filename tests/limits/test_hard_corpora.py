"""Corpora that are hard to train on: the right result, or one clear error, in bounded memory."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import subprocess
import sys
import warnings

import pytest

from bytepair import PieceCounts, count_pieces, reference, train
from bytepair.corpus import readers, tables
from bytepair.errors import ArgumentError, CorpusError

pytestmark = pytest.mark.serial


def learn(corpus, size=280, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return train(corpus, size, special_tokens=[], **options)


LONG = """
import sys, warnings
import bytepair
warnings.simplefilter("ignore")
least = int(sys.argv[2])
tokenizer = bytepair.train(sys.argv[1], 320, special_tokens=[], threads=2, min_count=least)
with open("/proc/self/status") as file:
    peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
print(len(tokenizer.merges), peak // 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_one_word_of_a_hundred_megabytes(tmp_path):
    letters = os.urandom(50_000_000).hex().translate(str.maketrans("0123456789", "ghijklmnop"))
    path = tmp_path / "word.txt"
    path.write_text(letters)
    merges, peak = learn_long(path, least=1)
    assert merges == 64
    assert peak < 1300


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_one_word_of_one_letter(tmp_path):
    """Each merge is made at every other place, so it changes as much as there is."""
    path = tmp_path / "word.txt"
    path.write_text("a" * 40_000_000)
    # A merge of count 1 would make a token of up to 40 MB, and each is part of the result.
    merges, peak = learn_long(path, least=2)
    assert merges == 24
    assert peak < 540


def learn_long(path, least):
    """How many merges, and the peak of memory in MiB."""
    command = [sys.executable, "-c", LONG, str(path), str(least)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    merges, peak = map(int, done.stdout.split())
    return merges, peak


@pytest.mark.parametrize(
    "data",
    [b"", b"w", b"word", b"a\r\nb\r\n" * 9, b"\0" * 99, b"\0a\0b" * 9, b"\xef\xbb\xbfabc abc"],
)
@pytest.mark.parametrize("limit", [None, "1MB"])
def test_odd_bytes_are_the_reference_s(data, limit, tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    ours = learn(path, memory_limit=limit, temp_dir=tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        vocab, merges = reference.train_bpe_from_text(data.decode(), 280, [])
    assert ours.merges == merges
    assert dict(ours.vocab) == vocab
    assert list(tmp_path.iterdir()) == [path]


def test_counts_beyond_32_and_near_64_bits():
    for count in (2**31 + 1, 2**32 + 7, 2**60):
        counts = PieceCounts({b"ab": count, b"abc": 1, b"cd": count - 1})
        trained = learn(counts, 258, report=True)
        assert trained.merges == [(b"a", b"b"), (b"c", b"d")]
        assert [merge.count for merge in trained.training_report] == [count + 1, count - 1]
    with pytest.raises(ArgumentError, match=r"2\*\*64"):
        learn(PieceCounts({b"abcd": 2**63}))


def test_a_packed_file_that_grows_without_end(tmp_path):
    """A megabyte that unpacks to a gigabyte without a place to cut it."""
    path = tmp_path / "bomb.txt.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(60):
            file.write(b"\0" * (1 << 20))
    with pytest.raises(ArgumentError, match=r"bomb\.txt\.gz: from byte 0 on there is no place"):
        learn(path, memory_limit="20MB", temp_dir=tmp_path)
    assert list(tmp_path.iterdir()) == [path]


def test_a_line_that_grows_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_LINE", 1 << 20)
    path = tmp_path / "bomb.jsonl.gz"
    text = json.dumps({"text": "a" * (1 << 20)})
    path.write_bytes(gzip.compress(b'{"text": "fits"}\n' + text.encode()))
    with pytest.raises(CorpusError, match=r"bomb\.jsonl\.gz, line 2: more than 1 MiB"):
        count_pieces(path)


def test_an_xz_file_that_asks_for_much_memory(tmp_path, monkeypatch):
    path = tmp_path / "a.txt.xz"
    path.write_bytes(lzma.compress(b"low low") + b"\0" * 8 + lzma.compress(b" low"))
    assert count_pieces(path)[b" low"] == 2
    path.write_bytes(lzma.compress(b"low low" * 100, preset=9))
    monkeypatch.setattr(readers._Xz, "MEMORY", 1 << 20)
    with pytest.raises(CorpusError, match=r"a\.txt\.xz: cannot be unpacked"):
        count_pieces(path)
