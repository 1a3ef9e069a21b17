"""Training side by side with other libraries, under each tie rule and each pattern.

    python benchmarks/train.py english.txt code.txt --peers gigabpe,tokenizers --rules --patterns

In: texts. Out: for each text and contender a line with seconds and how many times those of the
first, which is bytepair, with the peak of memory and the first's part of it, and with the merges.
Every run has a process of its own, contenders by turns, and of several rounds the median counts.
All learn with GPT-2's pattern; `--rules` and `--patterns` add bytepair's own runs under the other
tie rules and named patterns. The merges of tokenizers, which has the tie rule of the first, are
compared with it: it gets the texts between the special tokens, since it cuts files at their lines,
which gives other merges. gigabpe begins with the bytes that occur, so it makes more merges. Memory
is read from /proc (Linux).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
END = "<|endoftext|>"
RULES = ("huggingface", "lexicographic", "lowest_ids", "first_seen")
PATTERNS = ("gpt2", "cl100k", "o200k", "llama3", "qwen2", "deepseek_v3", "tekken", "starcoder")
PEERS = ("gigabpe", "rustbpe", "tokenizers")


def bytepair_run(path: str, size: int, rule: str, pattern: str) -> Any:
    """Our run."""
    import bytepair

    return bytepair.train(
        path, size, special_tokens=[END], tie_break=rule, special_ids="first", pattern=pattern
    ).merges


def gigabpe_run(path: str, size: int) -> Any:
    """A run of gigabpe."""
    import gigabpe

    _, merges = gigabpe.train_bpe(
        [path], vocab_size=size, pretokenizer="bytelevel", special_tokens=[END]
    )
    return [_bytes(merge) for merge in merges]


def rustbpe_run(path: str, size: int) -> Any:
    """A run of rustbpe, which knows no special tokens: the text is split for it."""
    import rustbpe

    tokenizer = rustbpe.Tokenizer()
    texts = Path(path).read_text(encoding="utf-8").split(END)
    tokenizer.train_from_iterator(iter(texts), size - 1, pattern=GPT2)
    ranks = sorted(tokenizer.get_mergeable_ranks(), key=lambda entry: entry[1])
    # It tells what merges made, not of what.
    return [(bytes(token), b"") for token, _ in ranks[256:]]


def tokenizers_run(path: str, size: int) -> Any:
    """A run of Hugging Face's tokenizers."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=[END], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(Path(path).read_text(encoding="utf-8").split(END), trainer)
    return [_bytes(merge) for merge in json.loads(tokenizer.to_str())["model"]["merges"]]


def _bytes(merge: Any) -> tuple[bytes, bytes]:
    """The bytes of a merge written in GPT-2's characters."""
    left, right = (bytes(_BYTES[sign] for sign in part) for part in merge)
    return left, right


_PRINTABLE = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
_OTHERS = iter(range(256, 512))
_BYTES = {chr(byte if byte in _PRINTABLE else next(_OTHERS)): byte for byte in range(256)}
"""The byte of each of GPT-2's characters."""


def child(name: str, path: str, size: int) -> None:
    """One run, in this process; its figures as JSON on standard output."""
    began = time.perf_counter()
    if name.startswith("bytepair"):
        _, rule, pattern = name.split(":")
        merges = bytepair_run(path, size, rule, pattern)
    else:
        merges = {"gigabpe": gigabpe_run, "rustbpe": rustbpe_run, "tokenizers": tokenizers_run}[
            name
        ](path, size)
    seconds = time.perf_counter() - began
    with Path("/proc/self/status").open(encoding="ascii") as status:
        peak = next(int(line.split()[1]) / 1000 for line in status if line.startswith("VmHWM"))
    plain = [[part.hex() for part in merge] for merge in merges]
    digest = hashlib.sha256(json.dumps(plain).encode()).hexdigest()
    figures = {"seconds": seconds, "peak": peak, "merges": len(merges), "digest": digest}
    print(json.dumps(figures))


def run(name: str, path: str, size: int) -> dict[str, Any]:
    """One run in a process of its own; its last words if it failed."""
    command = [sys.executable, __file__, path, "--vocab-size", str(size), "--child", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["no message"])[-1][:120]}
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def race(path: str, names: list[str], size: int, rounds: int) -> None:
    """All contenders on one text."""
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for number in range(rounds):
        for at in range(len(names)):
            name = names[(at + number) % len(names)]
            runs[name].append(run(name, path, size))
    print(f"\n{path}, {Path(path).stat().st_size / 1e6:,.0f} MB, vocab {size:,}")
    first = None
    for name in names:
        failed = next((figures["failed"] for figures in runs[name] if "failed" in figures), None)
        if failed is not None:
            print(f"  {name:32} failed: {failed}")
            continue
        seconds = statistics.median(figures["seconds"] for figures in runs[name])
        peak = statistics.median(figures["peak"] for figures in runs[name])
        first = first or (seconds, peak, runs[name][0]["digest"])
        same = f"{runs[name][0]['merges']:,} merges"
        if name == "tokenizers":
            same += ", the same" if runs[name][0]["digest"] == first[2] else ", others"
        print(
            f"  {name:32} {seconds:8.2f} s  {seconds / first[0]:6.2f}x   "
            f"{peak:7,.0f} MB  {first[1] / peak:5.2f}   {same}"
        )


def main() -> None:
    """Race on all texts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("texts", nargs="+")
    parser.add_argument("--vocab-size", type=int, default=32_000)
    parser.add_argument("--peers", default=",".join(PEERS), help="names with commas; empty: none")
    parser.add_argument("--rules", action="store_true", help="bytepair under each tie rule too")
    parser.add_argument("--patterns", action="store_true", help="and with each named pattern")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.texts[0], options.vocab_size)
        return
    names = [f"bytepair:{RULES[0]}:{PATTERNS[0]}"]
    names += [name for name in options.peers.split(",") if name]
    if options.rules:
        names += [f"bytepair:{rule}:{PATTERNS[0]}" for rule in RULES[1:]]
    if options.patterns:
        names += [f"bytepair:{RULES[0]}:{pattern}" for pattern in PATTERNS[1:]]
    for path in options.texts:
        race(path, names, options.vocab_size, options.rounds)


if __name__ == "__main__":
    main()
