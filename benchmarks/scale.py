"""Training on gigabytes: does memory stay within the limit, and does time grow with the corpus?

    python benchmarks/scale.py --from english.txt --from code.txt --gigabytes 1 2 4 --limit 1GB

In: texts. Out: for each size a line with seconds, megabytes a second, the peak of memory and what
of it training added. The corpus is written to a temporary folder as variations of the texts:
paragraphs in another order, and in some of them letters exchanged, so that new pieces keep coming
as they do in real text. Each size runs in a process of its own. Memory is read from /proc (Linux).
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHILD = """
import sys, time
import bytepair
def peak_of_memory():
    # What `getrusage` says includes the process that this one was forked from.
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))
before = peak_of_memory()
began = time.perf_counter()
limit, folder, least, size, *files = sys.argv[1:]
trained = bytepair.train(
    files, int(size), memory_limit=limit or None, temp_dir=folder, min_piece_count=int(least),
    report=True,
)
seconds = time.perf_counter() - began
peak = peak_of_memory()
report = trained.training_report
print(seconds, report.count_seconds, report.learn_seconds, report.pieces, before, peak)
"""
_PART = 100_000_000
_RARE = 0.05
"""The share of paragraphs in which letters are exchanged."""


def variations(texts: list[str], size: int, folder: Path) -> list[Path]:
    """Files of about `size` bytes together."""
    source = random.Random(size)
    paragraphs = [text.split("\n\n") for text in texts]
    letters = "abcdefghijklmnopqrstuvwxyz"
    paths: list[Path] = []
    written = 0
    while written < size:
        path = folder / f"{len(paths):04}.txt"
        wanted = min(_PART, size - written)
        here = 0
        with path.open("wb") as file:
            while here < wanted:
                chosen = source.choices(source.choice(paragraphs), k=200)
                if source.random() < _RARE * 20:
                    table = str.maketrans(letters, "".join(source.sample(letters, 26)))
                    for at in range(0, 200, 20):
                        chosen[at] = chosen[at].translate(table)
                here += file.write(("\n\n".join(chosen) + "<|endoftext|>").encode())
        written += here
        paths.append(path)
    return paths


def megabytes(size: float) -> str:
    """A size for the table."""
    return f"{size / 1e6:,.0f}"


def run(options: argparse.Namespace, gigabytes: float, texts: list[str]) -> None:
    """One size: write it, train on it, print the line."""
    with tempfile.TemporaryDirectory(prefix="bytepair-scale-", dir=options.folder) as name:
        folder = Path(name)
        files = variations(texts, int(gigabytes * 1e9), folder)
        size = sum(path.stat().st_size for path in files)
        # From the disk, not from what writing left in memory, as far as the system lets us.
        time.sleep(1)
        command = [
            sys.executable, "-c", CHILD, options.limit, name, str(options.min_piece_count),
            str(options.vocab_size), *map(str, files),
        ]  # fmt: skip
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        seconds, counting, learning, pieces, before, peak = map(float, done.stdout.split())
        left = [path for path in folder.iterdir() if path not in files]
        assert not left, left
    print(
        f"{gigabytes:>5} GB  {seconds:8.1f} s  (count {counting:.1f}, learn {learning:.1f})  "
        f"{size / counting / 1e6:6.0f} MB/s counted  {pieces:12,.0f} pieces  "
        f"peak {megabytes(peak)} MB, {megabytes(peak - before)} of them for training"
    )


def main() -> None:
    """Run all sizes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="sources", action="append", required=True, type=Path)
    parser.add_argument("--gigabytes", nargs="+", type=float, default=[1.0, 2.0, 4.0])
    parser.add_argument("--limit", default="1GB", help="memory_limit; empty for none")
    parser.add_argument("--min-piece-count", type=int, default=1)
    parser.add_argument("--vocab-size", type=int, default=32_000)
    parser.add_argument("--folder", help="where the corpora are written")
    options = parser.parse_args()
    texts = [path.read_text(encoding="utf-8") for path in options.sources]
    for gigabytes in options.gigabytes:
        run(options, gigabytes, texts)


if __name__ == "__main__":
    main()
