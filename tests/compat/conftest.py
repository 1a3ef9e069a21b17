"""The libraries that are stood in for, over real vocabularies."""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bytepair.compat import tiktoken as compat

MODELS = ["gpt2", "llama3", "qwen3", "deepseek_v3"]

NASTY = [
    "",
    " ",
    "\n",
    "Hello, world!",
    "  two  spaces \t and a tab \n\n  \r\n end  ",
    "It's 12345 — naïve café 日本語 「かな」\r\n",
    "e\u0301 a\u0323\u0307 \u1100\u1161\u11a8 \u212b \ufb01 \u0958",
    "👩‍👩‍👧 🏳️‍🌈 👍🏽 ẞ ǅ İ ſ don'T I'LL",
    "\x00\x01\x7f\x80\x85\xa0\xad\ufeff\ufffd\U0010ffff",
    "<|endoftext|><|im_start|>user<think>\n</think> x<|eot_id|>",
    "<｜begin▁of▁sentence｜>a<｜tool▁sep｜><｜User｜> b <|endoftext",
    "ا العربية हिन्दी ไทย " * 3,
]


@pytest.fixture(scope="session")
def transformers():
    """Return the library, which says on import that it finds no PyTorch."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("transformers", reason="transformers is not installed")


@pytest.fixture(scope="session")
def folder(shared: Path) -> Callable[[str], Path]:
    """Return a function: name of a model -> its directory of files."""
    return lambda name: shared / "data" / "vocabs" / "hf" / name


@pytest.fixture(scope="session")
def fast(transformers, folder):
    """Return a function: name of a model -> transformers' tokenizer and ours, for one directory."""
    from bytepair.compat.huggingface import FastTokenizer

    known = {}

    def get(name: str):
        if name not in known:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs = transformers.AutoTokenizer.from_pretrained(str(folder(name)))
            known[name] = theirs, FastTokenizer.from_pretrained(folder(name))
        return known[name]

    return get


@pytest.fixture
def changed(transformers, folder, tmp_path):
    """Return a function: model, changes to its tokenizer.json -> both tokenizers of the result."""
    from bytepair.compat.huggingface import FastTokenizer

    def get(name: str, config: dict | None = None, **changes):
        data = json.loads((folder(name) / "tokenizer.json").read_text(encoding="utf-8"))
        data |= changes
        (tmp_path / "tokenizer.json").write_text(json.dumps(data), encoding="utf-8")
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(config or {}), encoding="utf-8")
        theirs = transformers.AutoTokenizer.from_pretrained(str(tmp_path))
        return theirs, FastTokenizer.from_pretrained(tmp_path)

    return get


@pytest.fixture(scope="session")
def texts(corpus_text) -> list[str]:
    """Return real text of every kind, in pieces of up to 400 characters, and nasty strings."""
    chooser = random.Random(5)
    found = list(NASTY)
    for kind in ("english", "chinese", "code", "multilingual"):
        text = corpus_text(kind, 60_000)
        starts = [chooser.randrange(len(text)) for _ in range(12)]
        found += [text[start : start + chooser.randrange(400)] for start in starts]
    return found


@pytest.fixture(scope="session")
def both() -> Callable[[str], tuple[object, object]]:
    """Return a function: name of an encoding -> tiktoken's and ours, over the same ranks."""
    known = {}

    def get(name: str):
        if name not in known:
            import tiktoken

            ours = compat.get_encoding(name)
            theirs = tiktoken.Encoding(
                name,
                pat_str=ours._pat_str,
                mergeable_ranks=ours._mergeable_ranks,
                special_tokens=ours._special_tokens,
            )
            known[name] = theirs, ours
        return known[name]

    return get


def outcome(call: Callable[[], object]) -> object:
    """What a call gives, or the exception that it raises."""
    try:
        value = call()
    except Exception as error:
        return error
    return value.tolist() if isinstance(value, np.ndarray) else value


OWN_WORDS = ("Encountered text", "Invalid token", "Unknown encoding", "Could not auto")
"""How messages begin that are tiktoken's own, and not of a library under it."""


def assert_same(theirs: object, ours: object) -> None:
    if not isinstance(theirs, Exception):
        assert ours == theirs
        assert type(ours) is type(theirs)
        return
    assert type(ours) is type(theirs), ours
    if str(theirs).strip("'\"").startswith(OWN_WORDS) or isinstance(theirs, KeyError):
        assert ours.args == theirs.args
