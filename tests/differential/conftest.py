"""Rivals to compare with: tiktoken over our tables, proven to be OpenAI's, and real text."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import bytepair

if TYPE_CHECKING:
    import tiktoken

DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"


@pytest.fixture(scope="session")
def deep() -> bool:
    """Whether this is the long run: `HYPOTHESIS_PROFILE=deep`."""
    return DEEP


@pytest.fixture(scope="session")
def rival() -> Callable[[str], tiktoken.Encoding]:
    """Return `tiktoken.get_encoding` over the bundled rank tables, without a network.

    tiktoken checks the sha256 of every rank file it is given, so a bundled table that is not
    OpenAI's fails here. Its gpt2 comes from other files with the same content as r50k_base.
    """
    tiktoken = pytest.importorskip("tiktoken")
    load = pytest.importorskip("tiktoken.load")

    def read(url: str, expected_hash: str | None = None) -> bytes:
        name = url.rpartition("/")[2].removesuffix(".tiktoken")
        encoding = bytepair.get_encoding(name)
        data = b"".join(
            base64.b64encode(token) + b" %d\n" % id_
            for id_, token in encoding.vocab.items()
            if not encoding.is_special(id_)
        )
        assert expected_hash is not None
        assert load.check_hash(data, expected_hash), name
        return data

    def encoding(name: str) -> tiktoken.Encoding:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(load, "read_file_cached", read)
            return tiktoken.get_encoding("r50k_base" if name == "gpt2" else name)

    return encoding


@pytest.fixture(scope="session")
def sample() -> str:
    """Return text that every machine has: the sample corpus and Python's own sources, 1 MB."""
    text = files("bytepair").joinpath("data", "sample_corpus.txt").read_text(encoding="utf-8")
    sources = sorted(Path(os.__file__).parent.glob("*.py"))
    for path in sources:
        text += path.read_bytes().decode("utf-8", errors="ignore")
    return text[:1_000_000]
