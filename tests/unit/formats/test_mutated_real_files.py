"""Real files, damaged in the ways that files are: a tokenizer, or an error that names the file.

One mutation of each kind in a usual run; `BYTEPAIR_MUTATIONS` makes it more.
"""

from __future__ import annotations

import os
import random
import re
import shutil
from collections.abc import Callable

import pytest

import bytepair
from bytepair import Tokenizer, formats
from bytepair.errors import BytepairError

MUTATIONS = int(os.environ.get("BYTEPAIR_MUTATIONS", "1"))
REAL = {
    "gpt2 vocab": ("gpt2", "gpt2", "encoder.json"),
    "gpt2 merges": ("gpt2", "gpt2", "vocab.bpe"),
    "tokenizer.json": ("huggingface", "hf/gpt2", "tokenizer.json"),
    "tokenizer.json added": ("huggingface", "hf/qwen3", "tokenizer.json"),
    "tiktoken": ("tiktoken", "openai/r50k_base.tiktoken", None),
    "tekken": ("tekken", "mistral/tekken_240911.json", None),
    "sentencepiece": ("sentencepiece", "mistral/tokenizer.model.v1", None),
}
"""What is mutated: the format, the file or the directory, and there the file."""
MADE = ["native", "gguf", "minbpe", "reference", "cs336"]
"""Formats of which there is no real file: one trained here is written in them."""


def cut(data: bytearray, source: random.Random) -> None:
    del data[source.randrange(len(data)) :]


def flip(data: bytearray, source: random.Random) -> None:
    for _ in range(source.choice([1, 10, 1000])):
        at = source.randrange(len(data))
        data[at] ^= 1 << source.randrange(8)


def double(data: bytearray, source: random.Random) -> None:
    at = source.randrange(len(data))
    size = source.choice([1, 20, 1000, 1_000_000])
    data[at:at] = data[at : at + size]


def drop(data: bytearray, source: random.Random) -> None:
    at = source.randrange(len(data))
    del data[at : at + source.choice([1, 4, 100, 100_000])]


def line(data: bytearray, source: random.Random) -> None:
    """Another line, twice or in another place."""
    lines = data.split(b"\n")
    one = source.choice(lines)
    lines.insert(source.randrange(len(lines) + 1), one)
    data[:] = b"\n".join(lines)


def number(data: bytearray, source: random.Random) -> None:
    """A number becomes another one, small, negative, huge or none."""
    at = source.randrange(len(data))
    found = re.compile(rb"\d+").search(data, at)
    if found:
        other = [b"0", b"1", b"-1", b"4294967296", b"1" * 5000, b"1e400", b"0.5", b"null", b"[]"]
        data[found.start() : found.end()] = source.choice(other)


def deep(data: bytearray, source: random.Random) -> None:
    at = source.randrange(len(data))
    data[at:at] = source.choice([b"[", b'{"a":', b'{"type":"Sequence","normalizers":[']) * 100_000


def length(data: bytearray, source: random.Random) -> None:
    """Four or eight bytes that announce much, where they are a number."""
    at = source.randrange(min(len(data), source.choice([64, 4096, len(data)])))
    data[at : at + 4] = source.choice([b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\0"])


WAYS: list[Callable[[bytearray, random.Random], None]]
WAYS = [cut, flip, double, drop, line, number, deep, length]


def check(path: str, format: str) -> None:
    """Load what is at `path`, named and found out; encode with it if it is a tokenizer."""
    unsaid = {"pattern": "gpt2", "special_tokens": ()}
    options = {option: unsaid[option] for option in formats.options(format)}
    for named in (format, None):
        try:
            tokenizer = Tokenizer.load(path, format=named, **(options if named else {}))
            tokenizer.encode("It's a test 123 é日本")
        except BytepairError as error:
            # A vocab that lacks a byte says so when it meets it, and not where it came from.
            said = path in str(error) or not isinstance(error, bytepair.errors.FormatError)
            assert said, error  # noqa: PT017
            assert str(error).count(path) < 2  # noqa: PT017
            assert len(str(error)) < 1200  # noqa: PT017


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("name", [*REAL, *MADE])
def test_mutated(name, way, shared, tmp_path):
    path = tmp_path / "it"
    if name in MADE:
        format, inside = name, None
        bytepair.train(bytepair.sample_corpus(), 1000, special_ids="last").save(path, format=name)
    else:
        format, file, inside = REAL[name]
        from_ = shared / "data" / "vocabs" / file
        (shutil.copytree if from_.is_dir() else shutil.copy)(from_, path)
    target = path / inside if inside else path
    whole = target.read_bytes()
    source = random.Random(f"{name} {way.__name__}")
    for _ in range(MUTATIONS):
        data = bytearray(whole)
        way(data, source)
        target.unlink()
        target.write_bytes(data)
        check(str(path), format)
