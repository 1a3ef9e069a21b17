"""`bytepair train` and `pieces` within bounds: the options reach the library."""

from __future__ import annotations

import json
import random

import pytest

from bytepair import PieceCounts, Tokenizer, count_pieces, train
from cli_support import cli, ok


@pytest.fixture
def corpus(tmp_path):
    source = random.Random(4)
    words = ("".join(source.choices("abcdefgh", k=source.randint(1, 6))) for _ in range(150_000))
    path = tmp_path / "corpus.txt"
    path.write_text(" ".join(words))
    return path


def test_train_within_bounds(corpus, tmp_path):
    out, temp = tmp_path / "my.json", tmp_path / "temp"
    temp.mkdir()
    text = ok(
        *("train", corpus, "-n", 400, "-o", out, "--memory-limit", "6MB", "--temp-dir", temp),
        *("--min-piece-count", 2, "--json"),
    )
    expected = train(corpus, 400, min_piece_count=2, report=True)
    assert Tokenizer.load(out) == expected
    report = json.loads(text)
    assert report["pieces"] == expected.training_report.pieces
    assert report["seconds"]["count"] > 0
    assert not list(temp.iterdir())


def test_train_with_a_checkpoint(corpus, tmp_path):
    out, folder = tmp_path / "my.json", tmp_path / "checkpoint"
    for _ in range(2):
        ok("train", corpus, "-n", 400, "-o", out, "-q", "--checkpoint", folder)
        assert Tokenizer.load(out) == train(corpus, 400)
    done = cli("train", corpus, "-n", 401, "-o", out, "-q", "--checkpoint", folder)
    assert done.code == 1
    assert "--vocab-size=400, not 401" in done.error


def test_pieces_within_bounds(corpus, tmp_path):
    out = tmp_path / "counts.parquet"
    ok("pieces", corpus, "-o", out, "-q", "--memory-limit", "10MB", "--min-piece-count", 3)
    assert PieceCounts.load(out) == count_pieces(corpus, min_piece_count=3)
    done = cli("pieces", corpus, "--memory-limit", "1MB", "--temp-dir", tmp_path)
    assert done.code == 1
    assert "--min-piece-count" in done.error
    ok("train", out, corpus, "-n", 400, "-o", tmp_path / "my.json", "-q", "--memory-limit", "1GB")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--memory-limit", "lots"], "--memory-limit is 'lots'"),
        (["--temp-dir", "nowhere"], "--temp-dir is 'nowhere'"),
        (["--memory-limit", "1GB", "--tie-break", "first_seen"], "first_seen"),
    ],
)
def test_wrong_usage(arguments, says, corpus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = cli("train", corpus, "-n", 400, "-o", "my.json", *arguments)
    assert done.code == 2
    assert says in done.error
