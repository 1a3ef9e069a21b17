"""Memory: streams need next to none, caches are bounded, what was used is given back."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from array import array

import pytest

from bytepair import get_encoding

pytestmark = [
    pytest.mark.serial,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc, sets RLIMIT_AS"),
]

START = """
import gc, random, resource, sys
import bytepair

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

def limit(extra):
    old = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (resident() + extra, old[1]))
    return old
"""


def run(code: str, *arguments: object) -> str:
    """The output of a program in a process of its own."""
    command = [sys.executable, "-c", START + textwrap.dedent(code), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def five_megabytes(tmp_path_factory, sample_words):
    path = tmp_path_factory.mktemp("memory") / "five_megabytes.txt"
    path.write_text(sample_words, encoding="utf-8")
    assert 5_000_000 < path.stat().st_size < 6_000_000
    return path


@pytest.fixture(scope="module")
def sample_words() -> str:
    """Five megabytes of many different words, numbers and signs, in lines and documents."""
    import random

    source = random.Random(5)
    syllables = ["ka", "lo", "mi", "ster", "ung", "the", "pré", "ция", "中", "é", "ing", "tion"]
    lines = []
    size = 0
    while size < 5_050_000:
        words = ["".join(source.choices(syllables, k=source.randint(1, 5))) for _ in range(12)]
        lines.append(" ".join([*words, str(source.random()), source.choice(["!", "\n", "<|x|>"])]))
        size += len(lines[-1].encode()) + 1
        if source.random() < 0.01:
            lines.append("<|endoftext|>")
    return "\n".join(lines)


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
def test_encode_iterable_under_a_limit_of_one_megabyte(five_megabytes, name):
    """No new mapping of memory may happen: the limit is below what is mapped already."""
    code = """
        encoding = bytepair.get_encoding(sys.argv[2])
        count = 0
        with open(sys.argv[1], encoding="utf-8") as file:
            old = limit(1_000_000)
            for id_ in encoding.encode_iterable(file):
                count += 1
        resource.setrlimit(resource.RLIMIT_AS, old)
        with open(sys.argv[1], encoding="utf-8") as file:
            assert count == encoding.count(file.read())
        """
    run(code, five_megabytes, name)


def test_encode_iterable_of_one_large_chunk_under_the_limit(five_megabytes):
    code = """
        encoding = bytepair.get_encoding("gpt2")
        text = open(sys.argv[1], encoding="utf-8").read()
        text.encode()  # a str of several kinds of letters makes its UTF-8 once; not ours to avoid
        expected, count = encoding.count(text), 0
        list(encoding.encode_iterable([text]))  # makes what the str itself keeps
        old = limit(1_000_000)
        for id_ in encoding.encode_iterable([text]):
            count += 1
        resource.setrlimit(resource.RLIMIT_AS, old)
        assert count == expected
        """
    run(code, five_megabytes)


@pytest.mark.parametrize("name", ["gpt2", "o200k_base"])
def test_encode_iterable_grows_the_process_by_less_than_a_megabyte(five_megabytes, name):
    code = """
        encoding = bytepair.get_encoding(sys.argv[2])
        with open(sys.argv[1], encoding="utf-8") as file:
            gc.collect()
            before = resident()
            for id_ in encoding.encode_iterable(file):
                pass
            print(resident() - before)
        """
    assert int(run(code, five_megabytes, name)) < 1_000_000


def test_caches_are_bounded():
    code = """
        encoding = bytepair.get_encoding("o200k_base")
        source = random.Random(6)
        encoding.encode("warm up " * 1000)
        gc.collect()
        before = resident()
        for _ in range(300_000):
            encoding.count(" " + "".join(chr(source.randint(0x4e00, 0x9fff)) for _ in range(6)))
        print(resident() - before)
        """
    assert int(run(code)) < 64_000_000


def test_far_more_pieces_than_the_caches_hold():
    """Two million different words, as lists and as arrays, on several threads."""
    code = """
        encoding = bytepair.get_encoding("cl100k_base")
        def words(first, count):
            return " ".join(f"w{n * 2654435761 % 2**32:x}" for n in range(first, first + count))
        seen = []
        for turn in range(12):
            texts = [words((turn * 20 + part) * 10_000, 10_000) for part in range(20)]
            for text in texts[:2]:
                assert encoding.decode(encoding.encode(text)) == text
            encoding.encode_ragged(texts, threads=3)
            encoding.count("".join(texts), threads=2)
            del texts
            gc.collect()
            seen.append(resident())
        # What the caches of all threads and shared integers may take is taken in the first turns.
        print(seen[-1] - seen[8], seen[-1])
        """
    growth, total = map(int, run(code).split())
    assert growth < 12_000_000
    assert total < 200_000_000


def test_a_long_piece_takes_little_memory():
    code = """
        encoding = bytepair.get_encoding("cl100k_base")
        text = "".join(random.Random(7).choices("abcdefghij", k=8_000_000))
        encoding.count(text[:2_000_000], threads=1)
        gc.collect()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        encoding.count(text, threads=1)
        print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
        """
    # The ids of the piece, at two or three bytes each, and room for them to grow.
    assert int(run(code)) < 40_000_000


def test_long_pieces_do_not_stay_in_memory():
    code = """
        encoding = bytepair.get_encoding("gpt2")
        encoding.count("a long text has the larger cache " * 100_000)
        gc.collect()
        before = resident()
        for letter in "abcdef":
            encoding.count(letter * 2_000_000)
        gc.collect()
        print(resident() - before)
        """
    assert int(run(code)) < 16_000_000


def test_threads_do_not_leave_memory_behind():
    code = """
        from concurrent.futures import ThreadPoolExecutor
        encoding = bytepair.get_encoding("cl100k_base")
        texts = ["some words and more of them, " * 5_000] * 64
        encoding.encode_batch(texts, threads=8)
        gc.collect()
        before = resident()
        for _ in range(10):
            encoding.encode_batch(texts, threads=8)
            with ThreadPoolExecutor(8) as pool:
                list(pool.map(encoding.count, texts))
        gc.collect()
        print(resident() - before)
        """
    assert int(run(code)) < 30_000_000


def test_a_tokenizer_is_freed():
    code = """
        ranks = {b"%d" % n: n + 256 for n in range(100_000) if n > 9}
        ranks |= {bytes([n]): n for n in range(256)}
        def use():
            tokenizer = bytepair.Tokenizer.from_ranks(ranks, pattern="gpt2")
            assert tokenizer.decode(tokenizer.encode("12345")) == "12345"
        seen = []
        for _ in range(30):
            use()
            gc.collect()
            seen.append(resident())
        # At first the allocator spreads out; then each takes the place of the one before.
        print(max(seen[20:]) - max(seen[:20]))
        """
    assert int(run(code)) < 8_000_000


def test_o200k_takes_little_memory():
    code = """
        before = resident()
        encoding = bytepair.get_encoding("o200k_base")
        encoding.encode("hello")
        print(resident() - before)
        """
    assert int(run(code)) < 40_000_000


def test_counting_keeps_different_pieces_only():
    """A corpus of a hundred megabytes from a generator: one part is in memory at a time."""
    code = """
        part = "the cat in the hat and the bat " * 32_768  # a megabyte
        bytepair.count_pieces(part for _ in range(8))
        before = resident()
        counts = bytepair.count_pieces(part for _ in range(100))
        print(resident() - before)
        assert counts[b" the"] == 100 * (3 * 32_768 - 1)
        """
    assert int(run(code)) < 40_000_000


def test_case_168_a_file_is_encoded_in_memory_that_does_not_grow(tmp_path):
    pytest.importorskip("typer")
    code = """
        from bytepair.cli import main
        options = ["-e", "gpt2", "--quiet", "--format", "u16"]
        sys.argv = ["bytepair", "encode", *options, "-o", *sys.argv[1:]]
        try:
            main()
        finally:
            with open("/proc/self/status") as file:
                lines = [line.split() for line in file]
            print(next(int(line[1]) for line in lines if line[0] == "VmHWM:"))
        """
    text = "one line of some words, and the next one\n" * 25_000
    peaks = []
    for times in (1, 24):
        source, out = tmp_path / f"{times}.txt", tmp_path / f"{times}.bin"
        source.write_text(text * times, encoding="utf-8")
        peaks.append(int(run(code, out, source)))
        ids = array("H", out.read_bytes())
        if sys.byteorder == "big":
            ids.byteswap()
        assert ids.tolist() == get_encoding("gpt2").encode(text * times)
    # In KB: the larger file has 24 MB more.
    assert peaks[1] - peaks[0] < 8_000
