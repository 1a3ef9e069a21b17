"""The table of speeds in the README: bytepair and the libraries beside it, measured afresh.

    make bench
    python benchmarks/table.py --text english.txt --text code.txt --rounds 5

In: texts (the sample corpus of the package, repeated, if none is named). Out: a table in Markdown.
A cell is a figure of bytepair, or how many times as fast bytepair is as another library in this
run; a library that is not installed, cannot do the work or gives other ids has none. `make setup`
brings all but gigatoken and gigabpe: `.venv/bin/pip install gigatoken gigabpe`.

Every library runs in a process of its own, once a round and by turns, and medians are taken. All
get the same vocabulary and one thread. Warm means the best of the calls after the first.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import bytepair

ENCODING = "cl100k_base"
SHORT = (
    "Hello, world! The quick brown fox jumps over the lazy dog. "
    "It's 2026 and tokenizers are fast — 你好。"
)
SECONDS = 0.5
"""How long one figure is measured."""
MOST = 20_000_000
"""Bytes of a text that are used."""
TRAINED = 32_000
FASTER = {"MB/s"}
"""Units of which more is better."""

Encoders = tuple[Callable[[str], Any], Callable[[str], Any], Callable[[Any], Any]]
"""To an array, to a list, and back."""


def _bytepair() -> Encoders:
    tokenizer = bytepair.get_encoding(ENCODING)
    return (
        lambda text: tokenizer.encode_numpy(text, allowed_special=(), threads=1),
        lambda text: tokenizer.encode(text, allowed_special=(), threads=1),
        tokenizer.decode,
    )


def _tiktoken() -> Encoders:
    import tiktoken

    ours = bytepair.get_encoding(ENCODING)
    special = set(ours.special_tokens.values())
    ranks = {token: id for id, token in ours.vocab.items() if id not in special}
    regex = bytepair.patterns.regex("cl100k")
    theirs = tiktoken.Encoding("raced", pat_str=regex, mergeable_ranks=ranks, special_tokens={})
    return theirs.encode_to_numpy, theirs.encode_ordinary, theirs.decode


def _tokenizers() -> Encoders:
    theirs = bytepair.get_encoding(ENCODING).to_huggingface()

    def encode(text: str) -> Any:
        return theirs.encode(text, add_special_tokens=False).ids

    return encode, encode, theirs.decode


def _gigatoken() -> Encoders:
    import gigatoken

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{ENCODING}.tiktoken"
        bytepair.get_encoding(ENCODING).save(path, format="tiktoken")
        theirs = gigatoken.Tokenizer.from_tiktoken(path)
    return theirs.encode, lambda text: theirs.encode(text).tolist(), theirs.decode


def _train_bytepair(path: str) -> None:
    bytepair.train(path, TRAINED, special_tokens=["<|endoftext|>"], tie_break="huggingface")


def _train_gigabpe(path: str) -> None:
    import gigabpe

    special = ["<|endoftext|>"]
    gigabpe.train_bpe([path], vocab_size=TRAINED, pretokenizer="bytelevel", special_tokens=special)


def _train_rustbpe(path: str) -> None:
    import rustbpe

    documents = Path(path).read_text(encoding="utf-8").split("<|endoftext|>")
    pattern = bytepair.patterns.regex("gpt2")
    rustbpe.Tokenizer().train_from_iterator(iter(documents), TRAINED - 1, pattern=pattern)


LIBRARIES: dict[str, Callable[[], Encoders]] = {
    "bytepair": _bytepair,
    "gigatoken": _gigatoken,
    "tiktoken": _tiktoken,
    "tokenizers": _tokenizers,
}
TRAINERS: dict[str, Callable[[str], None]] = {
    "bytepair": _train_bytepair,
    "gigabpe": _train_gigabpe,
    "rustbpe": _train_rustbpe,
}


def best(work: Callable[[], Any], times: int = 1) -> float:
    """Seconds of one call: the best of as many runs of `times` calls as fit the time."""
    least, spent = float("inf"), 0.0
    while spent < SECONDS:
        start = time.perf_counter()
        for _ in range(times):
            work()
        took = time.perf_counter() - start
        least, spent = min(least, took / times), spent + took
    return least


def digest(ids: Any) -> str:
    """Short, and the same for the same ids, whatever holds them."""
    return hashlib.sha256(b" ".join(b"%d" % id for id in ids)).hexdigest()[:16]


def measure(library: str, texts: list[str]) -> dict[str, Any]:
    """The figures of one library, and a digest of its ids, by work."""
    figures: dict[str, Any] = {}
    if library in LIBRARIES:
        to_array, to_list, back = LIBRARIES[library]()
        for path in texts:
            text = read(path)
            size = len(text.encode()) / 1e6
            name = Path(path).stem
            ids = digest(to_list(text))
            for work, encode in (("an array", to_array), ("a list", to_list)):
                seconds = best(lambda encode=encode, text=text: encode(text))
                figures[f"encode {name} to {work}, MB/s"] = (size / seconds, ids)
        ids = to_list(SHORT)
        for work, encode in (("an array", to_array), ("a list", to_list)):
            seconds = best(lambda encode=encode: encode(SHORT), 1000)
            figures[f"encode 100 characters to {work}, us"] = (seconds * 1e6, digest(ids))
        figures["decode 30 ids, us"] = (best(lambda: back(ids), 1000) * 1e6, digest(ids))
    if library in TRAINERS:
        for path in texts:
            start = time.perf_counter()
            TRAINERS[library](path)
            work = f"train {TRAINED:,} tokens on {Path(path).stem}, s"
            figures[work] = (time.perf_counter() - start, None)
    return figures


def read(path: str) -> str:
    """The first `MOST` bytes, special tokens taken out."""
    text = Path(path).read_bytes()[:MOST].decode("utf-8", errors="ignore")
    return text.replace("<|endoftext|>", "\n")


def race(texts: list[str], rounds: int) -> dict[str, list[dict[str, Any]]]:
    """What each library measured in each round; nothing of those that are not here."""
    names = sorted({*LIBRARIES, *TRAINERS})
    results: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for turn in range(rounds):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            words = [sys.executable, __file__, "--child", name]
            words += [word for path in texts for word in ("--text", path)]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                results[name].append(json.loads(done.stdout))
            elif name == "bytepair":
                raise SystemExit(done.stderr)
            elif turn == 0:
                reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
                if reason.startswith("ModuleNotFoundError"):
                    reason += f"; {sys.executable} -m pip install {name}"
                print(f"{name} is left out: {reason}", file=sys.stderr)
    return {name: figures for name, figures in results.items() if figures}


def _figure(number: float) -> str:
    """Three digits, and no power of ten."""
    return f"{number:.3g}" if number < 1000 else f"{number:.0f}"


def table(results: dict[str, list[dict[str, Any]]]) -> str:
    """The table in Markdown."""
    others = [name for name in results if name != "bytepair"]
    lines = [
        "| | bytepair | " + " | ".join(f"of {name}" for name in others) + " |",
        "|---|" + "---|" * (len(others) + 1),
    ]
    for work, (_, ids) in results["bytepair"][0].items():
        unit = work.rsplit(", ", 1)[1]
        ours = statistics.median(figures[work][0] for figures in results["bytepair"])
        cells = [_figure(ours)]
        for name in others:
            theirs = [figures[work] for figures in results[name] if work in figures]
            if not theirs or theirs[0][1] != ids:
                cells.append("")
                continue
            figure = statistics.median(value for value, _ in theirs)
            cells.append(_figure(ours / figure if unit in FASTER else figure / ours) + "x")
        lines.append(f"| {work} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--text", action="append", default=[])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(measure(options.child, options.text)))
        return
    with contextlib.ExitStack() as stack:
        texts = [os.fspath(path) for path in options.text]
        if not texts:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            sample = resources.files("bytepair") / "data" / "sample_corpus.txt"
            texts = [os.fspath(Path(folder) / "sample.txt")]
            Path(texts[0]).write_bytes(sample.read_bytes() * 64)
        print(table(race(texts, options.rounds)))


if __name__ == "__main__":
    main()
