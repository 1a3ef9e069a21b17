"""Signals: Ctrl-C ends training within a second and leaves nothing, and a kill loses nothing.

Real processes, real signals. `INTERRUPTS` in the environment asks for more moments.
"""

from __future__ import annotations

import os
import pickle
import random
import signal
import subprocess
import sys
import time

import pytest

from bytepair import train
from patience_support import soon

pytestmark = [
    pytest.mark.serial,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="signals of POSIX"),
]

MOMENTS = int(os.environ.get("INTERRUPTS", "6"))

WORDS = """
import random, signal, sys
import bytepair
# Children of what a shell started in the background are deaf to Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
print("ready", flush=True)
def words(number, seed=1):
    source = random.Random(seed)
    return ["".join(source.choices("abcdefghijklmnop", k=10)) for _ in range(number)]
"""
PROGRAM = """
print("start", flush=True)
try:
    {work}
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(7)
"""
# Each takes some seconds, most of them in the step that its name says.
SPILL = "while True: bytepair.train(texts, 400, memory_limit='3MB', temp_dir=sys.argv[1], {})"
WORK = {
    "counting within a limit": (
        "texts = [' '.join(words(400_000))]",
        SPILL.format("min_piece_count=2, special_tokens=[]"),
    ),
    "counting within a limit, on many threads": (
        "texts = [' '.join(words(400_000))] * 3",
        SPILL.format("min_piece_count=4, threads=8"),
    ),
    "laying out words": (
        "counts = bytepair.PieceCounts({b'%x' % n: 1 for n in range(1_500_000)})",
        "while True: bytepair.train(counts, 258, special_tokens=[])",
    ),
    "going through counts": (
        "counts = bytepair.PieceCounts({b'%x' % n: 1 for n in range(1_500_000)})",
        "while True: list(counts)",
    ),
    "making and adding counts": (
        "items = {b'%x' % n: 1 for n in range(1_000_000)}",
        "while True: bytepair.PieceCounts(items) + bytepair.PieceCounts(items)",
    ),
    "learning from one long piece": (
        "text = ''.join(words(300_000))",
        "while True: bytepair.train([text], 100_000, pattern=None, special_tokens=[])",
    ),
    "the first seen": (
        "texts = [' '.join(words(200_000))]",
        "while True: bytepair.train(texts, 100_000, tie_break='first_seen')",
    ),
    "a checkpoint": (
        "texts = [' '.join(words(300_000))]; import bytepair.checkpoint as c; c.SECONDS = 0.01",
        "[bytepair.train(texts, 5_000 + n, checkpoint=sys.argv[2] + str(n)) for n in range(99)]",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WORK)
def test_ctrl_c_at_any_moment(name, tmp_path):
    temp = tmp_path / "temp"
    temp.mkdir()
    before, work = WORK[name]
    code = WORDS + before + "\n" + PROGRAM.format(work=work)
    source = random.Random(name)
    for _ in range(max(1, MOMENTS // 3)):
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(temp), str(tmp_path / "kept")],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stdout.readline() == "ready\n"
            start_up = time.perf_counter() - began
            assert process.stdout.readline() == "start\n"
            time.sleep(source.uniform(0.05, 2.5))
            assert process.poll() is None, "it was done too soon to be interrupted"
            start = time.perf_counter()
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=120)
            seconds = time.perf_counter() - start
            assert output == "interrupted\n"
            assert process.returncode == 7
            assert seconds < soon(start_up)
        finally:
            process.kill()
            process.wait()
        assert list(temp.iterdir()) == []


RESUMED = """
import pickle, sys
import bytepair, bytepair.checkpoint
bytepair.checkpoint.SECONDS = 0.02
limit = sys.argv[4] or None
trained = bytepair.train(
    sys.argv[1], 3_000, checkpoint=sys.argv[2], memory_limit=limit, report=True, threads=2
)
with open(sys.argv[3], "wb") as file:
    pickle.dump((trained, list(trained.training_report)), file)
"""


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["", "60MB"])
def test_a_run_killed_at_random_moments_gives_the_same(limit, tmp_path):
    source = random.Random(limit)
    letters = "abcdefghijkl"
    corpus = tmp_path / "corpus.txt"
    with corpus.open("w") as file:
        for _ in range(60_000):
            file.write(" ".join("".join(source.choices(letters, k=5)) for _ in range(15)) + "\n")
    folder, out = tmp_path / "checkpoint", tmp_path / "out"
    killed = 0
    command = [sys.executable, "-c", RESUMED, str(corpus), str(folder), str(out), limit]
    while True:
        process = subprocess.Popen(command)
        try:
            # Short at first, so that the fastest machine is not done, then longer and longer.
            process.wait(timeout=source.uniform(0.05, 0.25) * 1.2**killed)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            killed += 1
            continue
        assert process.returncode == 0
        break
    assert killed, "it was never killed"
    with out.open("rb") as file:
        trained, report = pickle.load(file)
    expected = train(corpus, 3_000, report=True)
    assert trained == expected
    assert report == list(expected.training_report)
