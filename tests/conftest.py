"""What every test may use: Hypothesis profiles, the shared data, tiktoken without a network.

Profiles are chosen by `HYPOTHESIS_PROFILE`: `dev` (50 examples, the default), `ci` (200, the same
ones in every run) and `deep` (5,000).

The shared data (real vocabularies and corpora) is no part of the repository. Its folder is
`$BYTEPAIR_SHARED`, else `../shared` beside the repository; where it is absent, tests that ask for
it skip and say so.
"""

from __future__ import annotations

import lzma
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    import tiktoken

ROOT = Path(__file__).resolve().parent.parent

# No deadline: the first example may load a vocabulary, and machines are busy.
_base = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.register_profile("dev", _base, max_examples=50)
settings.register_profile("ci", _base, max_examples=200, derandomize=True)
settings.register_profile("deep", _base, max_examples=5000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.fixture(scope="session", autouse=True)
def _no_user_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Register tokenizers for tiktoken in a folder of the tests, not in the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BYTEPAIR_TIKTOKEN_FOLDER", str(tmp_path_factory.mktemp("tiktoken") / "own"))
        yield


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the root of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of shared data, or skip the test."""
    folder = Path(os.environ.get("BYTEPAIR_SHARED") or ROOT.parent / "shared")
    if not (folder / "data").is_dir():
        pytest.skip(f"no shared data at {folder}; set BYTEPAIR_SHARED to its folder")
    return folder


@pytest.fixture(scope="session")
def corpus_text(shared: Path) -> Callable[[str, int], str]:
    """Return a function: kind of corpus (`english`, `code`, …) and bytes wanted -> text.

    The text is the beginning of the corpus, at most so many bytes long, cut between characters.
    """

    def text(kind: str, size: int) -> str:
        with lzma.open(shared / "data" / "corpora" / f"{kind}.txt.xz") as file:
            return file.read(size).decode("utf-8", errors="ignore")

    return text


@pytest.fixture(scope="session")
def tiktoken_encoding(shared: Path) -> Callable[[str], tiktoken.Encoding]:
    """Return `tiktoken.get_encoding`, reading the shared rank files instead of the network.

    The definitions (patterns, special tokens, hashes of the files) stay tiktoken's own.
    """
    tiktoken = pytest.importorskip("tiktoken")
    load = pytest.importorskip("tiktoken.load")
    vocabs = shared / "data" / "vocabs"

    def read(url: str, expected_hash: str | None = None) -> bytes:
        name = url.rpartition("/")[2]
        folder = "openai" if name.endswith(".tiktoken") else "gpt2"
        data = (vocabs / folder / name).read_bytes()
        assert expected_hash is None or load.check_hash(data, expected_hash), name
        return data

    def encoding(name: str) -> tiktoken.Encoding:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(load, "read_file_cached", read)
            return tiktoken.get_encoding(name)

    return encoding
