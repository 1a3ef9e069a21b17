"""Progress: bytes done of bytes known for every kind of file, and an honest time left."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import random

import pytest

from bytepair import PieceCounts, Progress, count_pieces, train
from bytepair.corpus.disk import Disk
from bytepair.corpus.readers import open_bytes, text_source
from bytepair.estimate import Estimate
from bytepair.progress import Bar

TEXT = " ".join(f"{n:x}" for n in range(60_000))
PACK = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def last_of(corpus, **options):
    seen = []
    count_pieces(corpus, progress=seen.append, **options)
    done = [step.done for step in seen]
    assert done == sorted(done)
    assert all(step.done <= step.total for step in seen if step.total is not None)
    return seen[-1]


def size(*paths):
    return sum(os.path.getsize(path) for path in paths)


@pytest.mark.parametrize("packed", PACK)
@pytest.mark.parametrize("name", ["a.txt", "a.jsonl"])
def test_packed_files_have_a_total(packed, name, tmp_path):
    path, plain = tmp_path / (name + packed), tmp_path / "b.txt"
    lines = "".join(json.dumps({"text": TEXT[at : at + 99]}) + "\n" for at in range(0, 90_000, 99))
    path.write_bytes(PACK[packed]((lines if name == "a.jsonl" else TEXT).encode()))
    plain.write_text(TEXT)
    last = last_of(path)
    assert (last.done, last.total, last.left) == (size(path), size(path), 0.0)
    last = last_of([plain, path])
    assert last.done == last.total == size(path, plain)


def test_tables_have_a_total(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"text": [TEXT[at : at + 50] for at in range(0, 250_000, 10)]})
    paths = [tmp_path / name for name in ("a.parquet", "b.parquet.gz", "c.arrow")]
    pq.write_table(table, paths[0])
    paths[1].write_bytes(gzip.compress(paths[0].read_bytes(), 1))
    with pa.OSFile(str(paths[2]), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=1000)
    for path in paths:
        last = last_of(path)
        assert last.done == last.total == size(path)
    assert last_of(tmp_path).total == size(*paths)


def test_mended_files_have_a_total(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"one \xff two" * 1000)
    last = last_of(path, errors="replace")
    assert last.done == last.total == size(path)


def test_nobody_knows_how_long_an_iterable_is():
    last = last_of(iter(["some text", "more"]))
    assert (last.done, last.total) == (13, 13)


def test_a_reader_tells_how_far_it_is(tmp_path):
    noise = random.Random(1).randbytes(1_000_000).hex()
    first, second, third = (tmp_path / name for name in ("a.txt", "b.txt.gz", "c.txt"))
    first.write_text("x" * 1000)
    second.write_bytes(gzip.compress(noise.encode()))
    third.write_text("x" * 500)
    disk = Disk([str(first), str(second), str(third)])
    packed = size(second)
    assert disk.total == 1500 + packed
    assert disk.done(400) == 400
    _, opens = text_source(str(second), "strict")
    reader = disk.place(1).follow(opens)()
    # The first file is done although the core did not say so.
    assert disk.done(999) == 1000
    reader.read(len(noise) // 2)
    assert disk.done(1000) == pytest.approx(1000 + packed // 2, abs=300_000)
    half = disk.done(1000)
    while reader.read(1 << 18):
        assert disk.done(1000) >= half
    assert disk.done(1000 + len(noise)) == 1000 + packed
    reader.close()
    assert disk.done(1000 + len(noise) + 200) == 1000 + packed + 200
    assert disk.done(10**12) == disk.total


def test_a_pipe_has_no_total(tmp_path):
    path = tmp_path / "pipe.txt"
    os.mkfifo(path)
    assert Disk([str(path)]).total is None
    assert Disk([str(tmp_path / "missing")]).total is None


def test_a_position_is_on_disk(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"a" * 1_000_000))
    with open_bytes(str(path)) as file:
        assert isinstance(file, io.BufferedReader)
        assert file.read(1000) == b"a" * 1000


# --- the time left ----------------------------------------------------------------------------


def test_counting_goes_on_at_its_rate():
    estimate = Estimate("count")
    # An earlier process counted 500; this one has counted 100 in 2 s.
    assert estimate.left(500, 1000, 1.0) is None
    assert estimate.left(600, 1000, 3.0) == pytest.approx(8.0)
    assert estimate.left(1000, 1000, 9.0) == 0.0
    assert estimate.left(600, None, 3.0) is None


@pytest.mark.parametrize("known", [0, 5000])
def test_learning_becomes_faster(known):
    """Where costs fall as assumed the estimate is right, whatever came before the first merge."""
    seconds, total = 7.0, 30_000
    costs = [0.01 * merge**-0.7 for merge in range(1, total + 1)]
    estimate = Estimate("learn")
    assert estimate.left(known, total, 0.0) is None
    for done in range(known + 1, total + 1):
        seconds += costs[done - 1]
        if done % 50 == 0:
            left = estimate.left(done, total, seconds)
            if done > max(200, 1.3 * known):
                assert left == pytest.approx(sum(costs[done:]), rel=0.15, abs=0.001)


def test_what_is_remembered_is_little():
    estimate = Estimate("learn")
    for done in range(1, 200_000):
        estimate.left(done, 10**6, done / 1000)
    assert len(estimate._moments) < 1500


def test_merges_are_reported_with_the_time_left():
    source = random.Random(1)
    pieces = {bytes(source.choices(range(256), k=20)): n for n in range(50_000)}
    seen: list[Progress] = []
    train(PieceCounts(pieces), 3_000, special_tokens=[], progress=seen.append)
    assert all(step.left is None or step.left >= 0 for step in seen)


def test_the_bar_says_nothing_of_what_it_does_not_know(capsys):
    bar = Bar()
    bar(Progress("learn", 10, 100, "merges", 2.0))
    assert "left" not in capsys.readouterr().err
    bar(Progress("learn", 50, 100, "merges", 2.0, 3.4))
    assert "  3 s left" in capsys.readouterr().err
