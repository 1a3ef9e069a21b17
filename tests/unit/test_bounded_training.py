"""Training within a memory limit, without rare pieces, and with checkpoints: the same result."""

from __future__ import annotations

import json
import os
import random
import resource
import sys
from pathlib import Path

import pytest

import bytepair
import bytepair.checkpoint
from bytepair import PieceCounts, count_pieces, train
from bytepair.bounds import parse_size
from bytepair.errors import ArgumentError, CorpusError

LEAST = 1_000_000


def words(number: int, seed: int = 1) -> str:
    """Words of which most are different, so that their counts take much memory."""
    source = random.Random(seed)
    letters = "abcdefghij中é"
    made = ("".join(source.choices(letters, k=source.randint(1, 9))) for _ in range(number))
    return " ".join(made)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> list[Path]:
    folder = tmp_path_factory.mktemp("corpus")
    paths = [folder / f"{n}.txt" for n in range(3)]
    for n, path in enumerate(paths):
        path.write_text(words(30_000, n) + "<|endoftext|>" + words(500, n), encoding="utf-8")
    return paths


@pytest.fixture(scope="module")
def unlimited(corpus):
    return train(corpus, 600, report=True)


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_a_limit_changes_nothing(corpus, threads, tmp_path):
    # Learning takes more memory than counting. Without rare pieces it takes less, and there is a
    # limit that makes counting spill and lets learning be.
    unlimited = train(corpus, 600, report=True, min_piece_count=2)
    seen = set()

    def hear(progress):
        seen.update(str(path) for path in tmp_path.glob("*/*.run"))

    limited = train(
        corpus,
        600,
        min_piece_count=2,
        memory_limit=5_000_000,
        temp_dir=tmp_path,
        threads=threads,
        report=True,
        progress=hear,
    )
    assert limited == unlimited
    assert list(limited.training_report) == list(unlimited.training_report)
    assert seen, "nothing was spilled"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_texts_within_a_limit(corpus, threads, tmp_path):
    texts = [path.read_text(encoding="utf-8") for path in corpus]
    parts = [text[start : start + 1000] for text in texts for start in range(0, len(text), 1000)]
    options = {"temp_dir": tmp_path, "threads": threads}
    limited = train(iter(parts), 500, memory_limit="5MB", min_piece_count=2, **options)
    assert limited == train(iter(parts), 500, min_piece_count=2)
    assert not list(tmp_path.iterdir())


def test_counts_within_a_limit(corpus, tmp_path):
    whole = count_pieces(corpus)
    assert count_pieces(corpus, memory_limit="20MB", temp_dir=tmp_path) == whole
    with pytest.raises(ArgumentError, match=r"memory_limit of 1 MB.*min_piece_count"):
        count_pieces(corpus, memory_limit=LEAST, temp_dir=tmp_path)
    few = count_pieces(corpus, memory_limit=LEAST, temp_dir=tmp_path, min_piece_count=20)
    assert dict(few) == {piece: n for piece, n in whole.items() if n >= 20}
    assert not list(tmp_path.iterdir())


def test_pieces_too_many_to_learn_from(corpus, tmp_path):
    with pytest.raises(ArgumentError, match=r"different pieces takes about \d+ MB, more") as error:
        train(corpus, 300, memory_limit=LEAST, temp_dir=tmp_path)
    assert "min_piece_count" in str(error.value)
    assert not list(tmp_path.iterdir())
    counts = count_pieces(corpus)
    with pytest.raises(ArgumentError, match="memory_limit of 1 MB"):
        train(counts, 300, memory_limit=LEAST)
    assert train(counts, 300, memory_limit="1GB") == train(corpus, 300)


def test_rare_pieces_left_out(corpus, tmp_path):
    counts = count_pieces(corpus)
    often = PieceCounts(
        {piece: n for piece, n in counts.items() if n >= 3},
        special_tokens=counts.special_tokens,
    )
    expected = train(often, 400)
    assert train(corpus, 400, min_piece_count=3) == expected
    assert train(counts, 400, min_piece_count=3) == expected
    assert dict(count_pieces(counts, min_piece_count=3)) == dict(often)
    limited = train(
        corpus, 400, min_piece_count=3, memory_limit="3MB", temp_dir=tmp_path, threads=3
    )
    assert limited == expected
    ordered = ["b b b a a a a c c c", "d"]
    kept = count_pieces(ordered, keep_order=True, min_piece_count=2, pattern=r"\w")
    assert list(kept) == [b" ", b"a", b"b", b"c"]
    first = train(ordered, 258, special_tokens=[], tie_break="first_seen", min_piece_count=1)
    assert len(first.merges) == 2


def test_sizes():
    assert [parse_size(size) for size in ("1", "2k", "3 KB", "1.5MiB", "2g", 7)] == [
        1, 2000, 3000, 1_572_864, 2_000_000_000, 7,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"memory_limit": "lots"}, "memory_limit is 'lots'"),
        ({"memory_limit": 10}, "the least is 1000000 bytes"),
        ({"memory_limit": -1}, "the least is"),
        ({"temp_dir": "/no/such/folder"}, "temp_dir is '/no/such/folder', which is no directory"),
        ({"min_piece_count": 0}, "min_piece_count is 0; the least is 1"),
        ({"memory_limit": "1GB", "tie_break": "first_seen"}, "first_seen"),
        ({"checkpoint": "x", "tie_break": "first_seen"}, "first_seen"),
    ],
)
def test_bounds_that_cannot_be(options, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ArgumentError, match=says):
        train(["a b c"], 300, **options)


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_a_full_disk(corpus, tmp_path):
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, old[1]))
    try:
        with pytest.raises(OSError, match="temp_dir") as error:
            train(corpus, 300, memory_limit=LEAST * 2, temp_dir=tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
    assert error.value.errno is not None
    assert str(tmp_path) in error.value.filename
    assert not list(tmp_path.iterdir())


def test_an_error_in_the_corpus_leaves_nothing(corpus, tmp_path):
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"abc \xff")
    temp = tmp_path / "temp"
    temp.mkdir()
    with pytest.raises(CorpusError, match="byte 4"):
        train([*corpus, bad], 300, memory_limit=2 * LEAST, temp_dir=temp)
    assert not list(temp.iterdir())

    def texts():
        yield words(30_000)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as error:
        train(texts(), 300, memory_limit=2 * LEAST, temp_dir=temp)
    assert error.value is not None
    assert not list(temp.iterdir())


# --- checkpoints ------------------------------------------------------------------------------


class Stop(Exception):
    pass


def stopping(after: int):
    """A progress callback that ends the run at its so manieth call."""
    left = [after]

    def hear(progress):
        left[0] -= 1
        if left[0] < 0:
            raise Stop

    return hear


@pytest.fixture
def often(monkeypatch):
    monkeypatch.setattr(bytepair.checkpoint, "SECONDS", 0.0)


@pytest.mark.parametrize("kind", ["files", "texts", "packed", "counts"])
def test_a_run_that_was_stopped_goes_on(kind, corpus, unlimited, often, tmp_path):
    folder = tmp_path / "checkpoint"
    if kind == "packed":
        import gzip

        given = [tmp_path / f"{path.name}.gz" for path in corpus]
        for path, packed in zip(corpus, given, strict=True):
            packed.write_bytes(gzip.compress(path.read_bytes()))

    def material():
        if kind == "texts":
            return (path.read_text(encoding="utf-8") for path in corpus)
        if kind == "counts":
            return count_pieces(corpus)
        return given if kind == "packed" else corpus

    stops = 0
    for after in range(2000):
        try:
            options = {"memory_limit": "30MB"} if after % 2 and kind == "files" else {}
            done = train(
                material(),
                600,
                checkpoint=folder,
                progress=stopping(after),
                report=True,
                threads=1 + after % 3,
                **options,
            )
        except Stop:
            stops += 1
            continue
        break
    assert stops
    assert done == unlimited
    assert list(done.training_report) == list(unlimited.training_report)
    # Once more: everything is there.
    assert train(material(), 600, checkpoint=folder) == unlimited


def test_what_a_checkpoint_refuses(corpus, often, tmp_path):
    folder = tmp_path / "checkpoint"
    train(corpus, 300, checkpoint=folder)
    for options, says in [
        ({"vocab_size": 301}, "vocab_size=300, not 301"),
        ({"pattern": "o200k"}, "pattern="),
        ({"special_tokens": []}, "special_tokens="),
        ({"tie_break": "lowest_ids"}, "tie_break='lexicographic', not 'lowest_ids'"),
        ({"min_piece_count": 2}, "min_piece_count=1, not 2"),
        ({"max_token_bytes": 3}, "max_token_bytes=None, not 3"),
        ({"errors": "ignore"}, "errors='strict', not 'ignore'"),
        ({"base": train(["a b"], 257)}, "base=None, not"),
    ]:
        with pytest.raises(ArgumentError, match=says):
            train(corpus, **{"vocab_size": 300, "checkpoint": folder, **options})
    with pytest.raises(ArgumentError, match="another corpus"):
        train(corpus[:2], 300, checkpoint=folder)
    with pytest.raises(ArgumentError, match="another corpus"):
        train(["a b c"], 300, checkpoint=folder)
    # Threads, limits and the name decide nothing.
    again = train(
        corpus, 300, checkpoint=folder, threads=1, memory_limit="1GB", report=True, name="x"
    )
    assert again == train(corpus, 300)


def test_a_file_that_changed_is_named(corpus, often, tmp_path):
    paths = [tmp_path / path.name for path in corpus]
    for path, source in zip(paths, corpus, strict=True):
        path.write_bytes(source.read_bytes())
    folder = tmp_path / "checkpoint"
    train(paths, 300, checkpoint=folder)
    status = paths[1].stat()
    data = bytearray(paths[1].read_bytes())
    data[10] = ord("x") if data[10] != ord("x") else ord("y")
    paths[1].write_bytes(data)
    os.utime(paths[1], ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(ArgumentError, match=r"another corpus \(there is no '1.txt' as it is now\)"):
        train(paths, 300, checkpoint=folder)


def test_other_texts_are_refused(often, tmp_path):
    texts = [words(3000, seed) for seed in range(5)]
    folder = tmp_path / "checkpoint"

    def failing():
        for text in texts * 40:  # some batches
            yield text * 20
        raise Stop

    with pytest.raises(Stop):
        train(failing(), 300, checkpoint=folder)
    assert (folder / "position").exists()
    with pytest.raises(ArgumentError, match="another corpus"):
        train((text * 20 for text in texts[::-1] * 50), 300, checkpoint=folder)
    with pytest.raises(ArgumentError, match="another corpus"):
        train(iter(texts), 300, checkpoint=folder)
    more = [text * 20 for text in texts * 41]
    assert train(iter(more), 300, checkpoint=folder) == train(iter(more), 300)


def test_folders_that_are_no_checkpoint(corpus, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ArgumentError, match=r"holds no checkpoint but other files \(mine.txt\)"):
        train(corpus, 300, checkpoint=tmp_path)
    folder = tmp_path / "checkpoint"
    train(["a b c"], 258, special_tokens=[], checkpoint=folder)
    facts = json.loads((folder / "checkpoint.json").read_text())
    (folder / "checkpoint.json").write_text(json.dumps({**facts, "version": 99}))
    with pytest.raises(ArgumentError, match="another version"):
        train(["a b c"], 258, special_tokens=[], checkpoint=folder)


def test_one_process_at_a_time(tmp_path):
    pytest.importorskip("fcntl")
    folder = tmp_path / "checkpoint"
    seen = []

    def texts():
        yield "a b c"
        with pytest.raises(ArgumentError, match="another process uses this checkpoint") as error:
            train(["a b c"], 258, special_tokens=[], checkpoint=folder)
        seen.append(error)

    train(texts(), 258, special_tokens=[], checkpoint=folder)
    assert seen


def test_damage_is_named(corpus, often, tmp_path):
    folder = tmp_path / "checkpoint"
    train(corpus, 300, checkpoint=folder)
    merges = folder / "merges"
    whole = merges.read_bytes()
    merges.write_bytes(whole[:-1])
    with pytest.raises(bytepair.errors.FormatError, match=r"merges.*damaged"):
        train(corpus, 300, checkpoint=folder)
    merges.unlink()
    assert train(corpus, 300, checkpoint=folder) == train(corpus, 300)
    counts = folder / "counts.run"
    data = counts.read_bytes()
    counts.write_bytes(data[:1000] + bytes([data[1000] ^ 1]) + data[1001:])
    merges.unlink()
    with pytest.raises(bytepair.errors.FormatError, match=r"counts\.run.*damaged"):
        train(corpus, 300, checkpoint=folder)


def test_a_base_goes_on_too(corpus, often, tmp_path):
    base = train(corpus[:1], 400)
    expected = train(corpus, 500, base=base)
    folder = tmp_path / "checkpoint"
    for after in range(2000):
        try:
            done = train(corpus, 500, base=base, checkpoint=folder, progress=stopping(after))
        except Stop:
            continue
        break
    assert done == expected
