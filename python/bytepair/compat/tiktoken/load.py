"""Rank files, read and written as by `tiktoken.load`, without a network.

In: a path, or one of the addresses that OpenAI publishes its tables at. Out: token bytes → rank.
What an address of OpenAI's holds is made from the tables in the package, byte for byte; any other
address is looked up in tiktoken's cache directory, and not fetched when it is not there.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping

from bytepair.encodings import get_encoding
from bytepair.formats import _files, gpt2

__all__ = [
    "check_hash",
    "data_gym_to_mergeable_bpe_ranks",
    "dump_tiktoken_bpe",
    "load_tiktoken_bpe",
    "read_file",
    "read_file_cached",
]

_ADDRESS = "https://openaipublic.blob.core.windows.net/"
_TABLES = {
    f"{_ADDRESS}encodings/{name}.tiktoken": name
    for name in ("r50k_base", "p50k_base", "cl100k_base", "o200k_base")
}
_GPT2 = f"{_ADDRESS}gpt-2/encodings/main/"


def read_file(blobpath: str) -> bytes:
    """The content of a file, or of one of OpenAI's addresses.

    Raises `OSError` for another address: nothing is fetched from a network.

    >>> address = "https://openaipublic.blob.core.windows.net/encodings/r50k_base.tiktoken"
    >>> read_file(address).splitlines()[262]
    b'IHRoZQ== 262'
    """
    if "://" not in blobpath:
        with open(blobpath, "rb") as file:
            return file.read()
    if blobpath in _TABLES:
        return _rank_file(_ranks(_TABLES[blobpath]))
    if blobpath == f"{_GPT2}vocab.bpe":
        return _vocab_bpe()
    if blobpath == f"{_GPT2}encoder.json":
        return _encoder_json()
    message = (
        f"{blobpath} is not fetched: bytepair uses no network; fetch it yourself and give its path"
    )
    raise OSError(message)


def check_hash(data: bytes, expected_hash: str) -> bool:
    """Whether the SHA-256 of `data`, in hex, is `expected_hash`.

    >>> check_hash(b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    True
    """
    return hashlib.sha256(data).hexdigest() == expected_hash


def read_file_cached(blobpath: str, expected_hash: str | None = None) -> bytes:
    """What `read_file` gives, or what tiktoken left in its cache directory.

    Raises `ValueError` when the content does not have the SHA-256 `expected_hash`.
    """
    cached = _cached(blobpath)
    if cached is not None and (expected_hash is None or check_hash(cached, expected_hash)):
        return cached
    content = read_file(blobpath)
    if expected_hash and not check_hash(content, expected_hash):
        message = (
            f"Hash mismatch for data downloaded from {blobpath} (expected {expected_hash}). "
            "This may indicate a corrupted download. Please try again."
        )
        raise ValueError(message)
    return content


def _cached(blobpath: str) -> bytes | None:
    """The content that tiktoken keeps for an address."""
    if "://" not in blobpath or blobpath.startswith(_ADDRESS):
        return None
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    if folder is None:
        folder = os.path.join(tempfile.gettempdir(), "data-gym-cache")
    if not folder:
        return None
    name = hashlib.sha1(blobpath.encode(), usedforsecurity=False).hexdigest()
    try:
        with open(os.path.join(folder, name), "rb") as file:
            return file.read()
    except OSError:
        return None


def load_tiktoken_bpe(tiktoken_bpe_file: str, expected_hash: str | None = None) -> dict[bytes, int]:
    """Read a rank file: token bytes → rank.

    Raises `ValueError` for a line that is not a token and its rank, or for another SHA-256.

    >>> ranks = {b"a": 0, b"b": 1, b"ab": 2}
    >>> dump_tiktoken_bpe(ranks, "ab.tiktoken")
    >>> load_tiktoken_bpe("ab.tiktoken") == ranks
    True
    """
    ranks = {}
    for line in read_file_cached(tiktoken_bpe_file, expected_hash).splitlines():
        if not line:
            continue
        try:
            token, rank = line.split()
            ranks[base64.b64decode(token)] = int(rank)
        except ValueError as error:
            message = f"Error parsing line {line!r} in {tiktoken_bpe_file}"
            raise ValueError(message) from error
    return ranks


def dump_tiktoken_bpe(bpe_ranks: dict[bytes, int], tiktoken_bpe_file: str) -> None:
    """Write a rank file, by rank; whole or not at all."""
    _files.write_whole(tiktoken_bpe_file, _rank_file(bpe_ranks).decode())


def data_gym_to_mergeable_bpe_ranks(
    vocab_bpe_file: str,
    encoder_json_file: str,
    vocab_bpe_hash: str | None = None,
    encoder_json_hash: str | None = None,
    clobber_one_byte_tokens: bool = False,  # noqa: FBT001 - as in tiktoken
) -> dict[bytes, int]:
    """Read GPT-2's two files: token bytes → rank.

    `clobber_one_byte_tokens` takes the ids of single bytes from `encoder_json_file`. Raises
    `AssertionError` when the files do not agree, `ValueError` for another SHA-256.
    """
    lines = read_file_cached(vocab_bpe_file, vocab_bpe_hash).decode().split("\n")[1:-1]
    spelled = json.loads(read_file_cached(encoder_json_file, encoder_json_hash))
    wanted = {_unspelled(text): id for text, id in spelled.items()}
    for special in (b"<|endoftext|>", b"<|startoftext|>"):
        wanted.pop(special, None)
    ranks = {bytes([byte]): rank for rank, byte in enumerate(gpt2.BYTE_TO_CHARACTER)}
    ranks.update((b"".join(merge), 256 + at) for at, merge in enumerate(_merges(lines)))
    if clobber_one_byte_tokens:
        ranks.update((token, id) for token, id in wanted.items() if len(token) == 1)
    if ranks != wanted:
        raise AssertionError
    return ranks


def _merges(lines: list[str]) -> Iterator[tuple[bytes, bytes]]:
    for line in lines:
        left, right = line.split()
        yield _unspelled(left), _unspelled(right)


def _unspelled(text: str) -> bytes:
    token = gpt2.unspell(text)
    if token is None:
        raise KeyError(text)
    return token


# ── OpenAI's files, from the tables of the package ────────────────────────────────────────────────


def _ranks(name: str) -> dict[bytes, int]:
    return {token: id for id, token in get_encoding(name)._model.items()}


def _rank_file(ranks: Mapping[bytes, int]) -> bytes:
    by_rank = sorted(ranks.items(), key=lambda item: item[1])
    return b"".join(b"%s %d\n" % (base64.b64encode(token), rank) for token, rank in by_rank)


def _vocab_bpe() -> bytes:
    merges = get_encoding("gpt2").merges
    lines = (f"{gpt2.spell(left)} {gpt2.spell(right)}\n" for left, right in merges)
    return ("#version: 0.2\n" + "".join(lines)).encode()


def _encoder_json() -> bytes:
    tokens = {gpt2.spell(token): id for token, id in _ranks("gpt2").items()}
    return json.dumps({**tokens, "<|endoftext|>": 50256}).encode()
