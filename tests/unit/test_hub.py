"""Tokenizers by name: a cache as huggingface_hub keeps it, and no network."""

from __future__ import annotations

import json
import sys

import pytest

import bytepair
from bytepair import Tokenizer, hub
from bytepair.errors import ArgumentError, FormatError

huggingface_hub = pytest.importorskip("huggingface_hub")
constants = pytest.importorskip("huggingface_hub.constants")


@pytest.fixture(scope="module")
def small():
    tokenizer = bytepair.train(bytepair.sample_corpus(), 400, special_ids="last")
    return tokenizer.with_conventions(roles={"eos": "<|endoftext|>"})


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Return a function that puts the files of a repository into the cache; the network is cut."""
    hub = tmp_path / "hub"
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(hub))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    download = huggingface_hub.hf_hub_download

    def local(*arguments, **options):
        return download(*arguments, **{**options, "cache_dir": str(hub)})

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", local)

    def put(name: str):
        commit = "0123456789abcdef0123456789abcdef01234567"
        folder = hub / f"models--{name.replace('/', '--')}"
        (folder / "refs").mkdir(parents=True)
        (folder / "refs" / "main").write_text(commit)
        snapshot = folder / "snapshots" / commit
        snapshot.mkdir(parents=True)
        return snapshot

    return put


@pytest.mark.parametrize("local_files_only", [True, False])
def test_a_repository_with_tokenizer_json(cache, small, local_files_only):
    small.save(cache("org/small"), format="huggingface")
    found = Tokenizer.from_pretrained("org/small", local_files_only=local_files_only)
    assert found == small
    assert found.conventions == small.conventions


def test_other_files(cache, small, shared):
    small.save(cache("org/two"), format="gpt2")
    assert Tokenizer.from_pretrained("org/two").encode("hello") == small.encode("hello")
    model = shared / "data" / "vocabs" / "mistral" / "tokenizer.model.v1"
    (cache("org/model") / "tokenizer.model").write_bytes(model.read_bytes())
    assert Tokenizer.from_pretrained("org/model").vocab_size == 32000


def test_a_directory_is_taken_as_it_is(small, tmp_path):
    small.save(tmp_path / "here", format="huggingface")
    assert Tokenizer.from_pretrained(str(tmp_path / "here")) == small


def test_what_is_not_there(cache, monkeypatch):
    (cache("org/empty") / "config.json").write_text(json.dumps({}))
    with pytest.raises(FormatError, match=r"org/empty: no tokenizer in the cache: none of token"):
        Tokenizer.from_pretrained("org/empty", local_files_only=True)
    with pytest.raises(ArgumentError, match="'a/b/c' is neither a directory on this machine nor"):
        Tokenizer.from_pretrained("a/b/c")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ImportError, match=r"install bytepair\[hf\]"):
        Tokenizer.from_pretrained("org/small")


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have no notes before 3.11")
def test_a_hub_out_of_reach_is_said_to_have_been_asked(monkeypatch):
    def fetch(file):
        message = "no route to host"
        raise ConnectionError(message)

    monkeypatch.setattr(hub, "_fetcher", lambda name, options: fetch)
    with pytest.raises(ConnectionError) as caught:
        Tokenizer.from_pretrained("nothing/here")
    assert caught.value.__notes__ == [
        "there is no directory 'nothing/here' on this machine, so the Hub was asked"
    ]
