"""The bundled encodings: complete, equal to the published files, found by model name, offline."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys

import pytest

import bytepair
from bytepair import encoding_for_model, get_encoding, list_encodings, reference

# name: (vocab size, rank entries, special tokens, sha256 of the published rank file)
R50K = "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930"
P50K = "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069"
CL100K = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
O200K = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
PUBLISHED = {
    "gpt2": (50257, 50256, 1, R50K),
    "r50k_base": (50257, 50256, 1, R50K),
    "p50k_base": (50281, 50280, 1, P50K),
    "p50k_edit": (50284, 50280, 4, P50K),
    "cl100k_base": (100277, 100256, 5, CL100K),
    "o200k_base": (200019, 199998, 2, O200K),
    "o200k_harmony": (201088, 199998, 1091, O200K),
}
PATTERNS = {"cl100k_base": "cl100k", "o200k_base": "o200k", "o200k_harmony": "o200k"}


def ordinary(name: str) -> dict[bytes, int]:
    """Token bytes -> id of an encoding, without its special tokens."""
    encoding = get_encoding(name)
    special = set(encoding.special_tokens.values())
    return {token: id_ for id_, token in encoding.vocab.items() if id_ not in special}


def test_the_list():
    assert sorted(list_encodings()) == sorted(PUBLISHED)


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_rank_table_is_the_published_one(name):
    """Written as a rank file, a bundled table must have the sha256 of OpenAI's file."""
    ranks = ordinary(name)
    lines = [
        base64.b64encode(token) + b" %d\n" % id_
        for token, id_ in sorted(ranks.items(), key=lambda item: item[1])
    ]
    assert hashlib.sha256(b"".join(lines)).hexdigest() == PUBLISHED[name][3]
    assert len(ranks) == PUBLISHED[name][1]


@pytest.mark.parametrize("name", PUBLISHED)
def test_properties(name):
    encoding = get_encoding(name)
    vocab_size, entries, special, _ = PUBLISHED[name]
    assert encoding.name == name
    assert encoding.vocab_size == vocab_size
    assert len(encoding.special_tokens) == special
    assert encoding.pattern == PATTERNS.get(name, "gpt2")
    assert len(encoding.vocab) == entries + len(set(encoding.special_tokens.values()))
    for token, id_ in encoding.special_tokens.items():
        assert encoding.is_special(id_)
        assert encoding.encode(token) == [id_]
        assert encoding.encode_ordinary(token) != [id_]


def test_special_tokens_have_their_published_ids():
    assert get_encoding("gpt2").special_tokens == {"<|endoftext|>": 50256}
    assert get_encoding("p50k_edit").special_tokens == {
        "<|endoftext|>": 50256,
        "<|fim_prefix|>": 50281,
        "<|fim_middle|>": 50282,
        "<|fim_suffix|>": 50283,
    }
    assert get_encoding("cl100k_base").special_tokens == {
        "<|endoftext|>": 100257,
        "<|fim_prefix|>": 100258,
        "<|fim_middle|>": 100259,
        "<|fim_suffix|>": 100260,
        "<|endofprompt|>": 100276,
    }
    assert get_encoding("o200k_base").special_tokens == {
        "<|endoftext|>": 199999,
        "<|endofprompt|>": 200018,
    }


def test_harmony():
    special = get_encoding("o200k_harmony").special_tokens
    named = {
        199998: "startoftext",
        199999: "endoftext",
        200002: "return",
        200003: "constrain",
        200005: "channel",
        200006: "start",
        200007: "end",
        200008: "message",
        200012: "call",
        200018: "endofprompt",
    }
    for id_ in range(199998, 201088):
        assert special[f"<|{named.get(id_, f'reserved_{id_}')}|>"] == id_
    # One id has two names; decoding gives the one with a meaning.
    assert special["<|reserved_200018|>"] == 200018
    assert get_encoding("o200k_harmony").decode([200018]) == "<|endofprompt|>"
    assert get_encoding("o200k_harmony").token_bytes(200018) == b"<|endofprompt|>"


def test_gpt2_and_r50k_base_give_the_same_ids():
    assert get_encoding("gpt2") == get_encoding("r50k_base")
    assert get_encoding("gpt2").name != get_encoding("r50k_base").name


def test_gpt2_has_its_published_merges(shared):
    folder = shared / "data" / "vocabs" / "gpt2"
    lines = (folder / "vocab.bpe").read_text(encoding="utf-8").splitlines()[1:]
    spelled = reference.bytes_to_unicode()
    merges = [
        "".join(spelled[byte] for byte in left) + " " + "".join(spelled[byte] for byte in right)
        for left, right in get_encoding("gpt2").merges
    ]
    assert merges == lines
    vocab = json.loads((folder / "encoder.json").read_text(encoding="utf-8"))
    assert vocab == {
        "<|endoftext|>" if id_ == 50256 else "".join(spelled[byte] for byte in token): id_
        for id_, token in get_encoding("gpt2").vocab.items()
    }


@pytest.mark.parametrize("name", ["r50k_base", "p50k_base", "cl100k_base", "o200k_base"])
def test_the_tables_are_the_shared_ones(name, shared):
    path = shared / "data" / "vocabs" / "openai" / f"{name}.tiktoken"
    published = {}
    for line in path.read_bytes().splitlines():
        token, rank = line.split()
        published[base64.b64decode(token)] = int(rank)
    assert ordinary(name) == published


def test_merges_are_true_merges():
    """Every token of two or more bytes is made by exactly one merge, of tokens of lower rank."""
    for name in ("p50k_base", "cl100k_base", "o200k_base"):
        ids = ordinary(name)
        merges = get_encoding(name).merges
        made = [ids[left + right] for left, right in merges]
        assert made == sorted(id_ for token, id_ in ids.items() if len(token) > 1)
        assert all(
            max(ids[left], ids[right]) < id_
            for (left, right), id_ in zip(merges, made, strict=True)
        )


def test_true_merges_of_tokens_that_a_naive_split_gets_wrong():
    merges = set(get_encoding("gpt2").merges)
    assert (b"res", b"s") in merges
    assert (b"r", b"ess") not in merges


def test_an_encoding_is_loaded_once():
    assert get_encoding("gpt2") is get_encoding("gpt2")


def test_unknown_names():
    with pytest.raises(ValueError, match="cl100k_base") as caught:
        get_encoding("cl100k")
    assert "'cl100k'" in str(caught.value)
    with pytest.raises(ValueError, match="o200k_base"):
        get_encoding("")
    with pytest.raises(TypeError, match="Tokenizer"):
        get_encoding(get_encoding("gpt2"))
    with pytest.raises(TypeError, match="NoneType"):
        get_encoding(None)


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("gpt-4o", "o200k_base"),
        ("gpt-4o-mini", "o200k_base"),
        ("gpt-4o-2024-08-06", "o200k_base"),
        ("chatgpt-4o-latest", "o200k_base"),
        ("gpt-4.1", "o200k_base"),
        ("gpt-4.1-mini-2025-04-14", "o200k_base"),
        ("gpt-4.5-preview", "o200k_base"),
        ("gpt-5", "o200k_base"),
        ("gpt-5-mini", "o200k_base"),
        ("o1", "o200k_base"),
        ("o1-mini", "o200k_base"),
        ("o3", "o200k_base"),
        ("o4-mini", "o200k_base"),
        ("gpt-oss-120b", "o200k_harmony"),
        ("gpt-oss-20b", "o200k_harmony"),
        ("gpt-4", "cl100k_base"),
        ("gpt-4-0613", "cl100k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("gpt-3.5-turbo-0125", "cl100k_base"),
        ("text-embedding-3-small", "cl100k_base"),
        ("text-embedding-ada-002", "cl100k_base"),
        ("text-davinci-003", "p50k_base"),
        ("code-davinci-002", "p50k_base"),
        ("text-davinci-edit-001", "p50k_edit"),
        ("davinci", "r50k_base"),
        ("text-ada-001", "r50k_base"),
        ("gpt2", "gpt2"),
        ("openai/gpt-4o", "o200k_base"),
        ("ft:gpt-4o:org::id", "o200k_base"),
        ("ft:gpt-3.5-turbo:org::id", "cl100k_base"),
    ],
)
def test_encoding_for_model(model, encoding):
    assert encoding_for_model(model).name == encoding


def test_tiktoken_s_models_are_known():
    model = pytest.importorskip("tiktoken.model")
    for name, encoding in model.MODEL_TO_ENCODING.items():
        assert encoding_for_model(name).name == encoding, name
    for prefix, encoding in model.MODEL_PREFIX_TO_ENCODING.items():
        end = "x" if prefix.endswith("-") else ":x" if prefix.startswith("ft:") else "-x"
        assert encoding_for_model(prefix + end).name == encoding, prefix


@pytest.mark.parametrize("model", ["llama-3", "gpt-9", "", "claude", "gpt-4o|x"])
def test_unknown_models_fail_helpfully(model):
    with pytest.raises((ValueError, KeyError), match="get_encoding") as caught:
        encoding_for_model(model)
    assert repr(model) in str(caught.value)
    assert isinstance(caught.value, bytepair.errors.BytepairError)


def test_no_network_and_no_files_outside_the_package():
    """All encodings load in a process that may neither open a socket nor write a file."""
    code = """
import sys
def watch(event, arguments):
    if event.startswith("socket.") or event == "open" and isinstance(arguments[1], str) and (
        set(arguments[1]) & set("wax+")
    ):
        raise SystemExit(f"{event}: {arguments}")
sys.addaudithook(watch)
import bytepair
for name in bytepair.list_encodings():
    encoding = bytepair.get_encoding(name)
    assert encoding.decode(encoding.encode("hello")) == "hello"
"""
    subprocess.run([sys.executable, "-B", "-c", code], check=True)
