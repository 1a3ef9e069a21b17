"""Real vocabularies against the library each comes from, on a mix of real text and nasty strings.

With and without special tokens, and decoded. `BYTEPAIR_MIX=10000000` makes the mix the 10 MB that a
release is checked with; else it is small. mistral-common is asked where it is installed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import NamedTuple

import pytest
import tokenizers

from bytepair import Tokenizer
from model_texts import KINDS, MIX, NASTY

MISTRAL = (
    "mistral-common is not installed; it is no development dependency, because it needs Python "
    "3.11 and brings some 60 MB"
)
OPENAI = {
    "gpt2": "gpt2",
    "r50k_base": "openai/r50k_base.tiktoken",
    "p50k_base": "openai/p50k_base.tiktoken",
    "cl100k_base": "openai/cl100k_base.tiktoken",
    "o200k_base": "openai/o200k_base.tiktoken",
}
HUGGINGFACE = ["gpt2", "llama3", "qwen3", "deepseek_v3", "gemma3"]
TEKKEN = "mistral/tekken_240911.json"
PIECES = "mistral/tokenizer.model.v1"
MODELS = [
    *(f"tiktoken {name}" for name in OPENAI),
    *(f"tokenizers {name}" for name in HUGGINGFACE),
    *("sentencepiece v1", "mistral-common tekken", "mistral-common v1"),
]


class Pair(NamedTuple):
    """A tokenizer of ours, and what the native library does with the same file."""

    ours: Tokenizer
    ordinary: Callable[[str], list[int]]
    special: Callable[[str], list[int]]
    decode: Callable[[list[int]], str]


@pytest.fixture(scope="module", params=MODELS)
def pair(request, shared, tiktoken_encoding) -> Pair:
    library, name = request.param.split()
    vocabs = shared / "data" / "vocabs"
    if library == "tiktoken":
        return of_tiktoken(Tokenizer.load(vocabs / OPENAI[name]), tiktoken_encoding(name))
    if library == "tokenizers":
        folder = vocabs / "hf" / name
        theirs = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        return of_tokenizers(Tokenizer.load(folder), theirs)
    if library == "sentencepiece":
        sentencepiece = pytest.importorskip("sentencepiece")
        model = sentencepiece.SentencePieceProcessor(model_file=str(vocabs / PIECES))
        # It has no names for special tokens in text, and nothing to decode them to.
        return of_spans(Tokenizer.load(vocabs / PIECES), model.encode, model.decode)
    pytest.importorskip("mistral_common", reason=MISTRAL)
    from mistral_common.tokens.tokenizers import sentencepiece, tekken

    if name == "tekken":
        theirs = tekken.Tekkenizer.from_file(str(vocabs / TEKKEN))
    else:
        theirs = sentencepiece.SentencePieceTokenizer(str(vocabs / PIECES))
    ours = Tokenizer.load(vocabs / (TEKKEN if name == "tekken" else PIECES))
    return of_spans(ours, lambda text: theirs.encode(text, bos=False, eos=False), theirs.decode)


def of_tiktoken(ours: Tokenizer, theirs) -> Pair:
    return Pair(
        ours,
        theirs.encode_ordinary,
        lambda text: theirs.encode(text, allowed_special="all"),
        theirs.decode,
    )


def of_tokenizers(ours: Tokenizer, theirs: tokenizers.Tokenizer) -> Pair:
    def encode(text: str, *, ordinary: bool) -> list[int]:
        theirs.encode_special_tokens = ordinary
        return theirs.encode(text, add_special_tokens=False).ids

    return Pair(
        ours,
        lambda text: encode(text, ordinary=True),
        lambda text: encode(text, ordinary=False),
        lambda ids: theirs.decode(ids, skip_special_tokens=False),
    )


def of_spans(ours: Tokenizer, encode: Callable, decode: Callable) -> Pair:
    """For a library that finds no special token in text: it is asked for each span."""
    special = ours.special_tokens
    cut = re.compile(f"({'|'.join(map(re.escape, sorted(special, key=len, reverse=True)))})")

    def spans(text: str) -> list[int]:
        ids: list[int] = []
        for part in cut.split(text):
            ids += [special[part]] if part in special else encode(part) if part else []
        return ids

    return Pair(ours, encode, spans, decode)


def sown(text: str, names: list[str]) -> str:
    """A text with special tokens in it, every thousand characters or so, the same in every run."""
    source = random.Random(5)
    parts = []
    at = 0
    while at < len(text):
        step = source.randrange(2000)
        parts += [text[at : at + step], source.choice(names)]
        at += step
    return "".join(parts)


def assert_same(ours: list[int], theirs: list[int], decode: Callable[[list[int]], str]) -> None:
    if ours == theirs:
        return
    place = next((n for n, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), -1)
    where = decode(theirs[max(0, place - 10) : place + 10])
    pytest.fail(f"first difference at id {place} of {len(theirs)}, in {where!r}")


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("kind", KINDS)
def test_real_text(kind, pair, corpus_text):
    text = corpus_text(kind, MIX // len(KINDS))
    ids = pair.ordinary(text)
    assert_same(pair.ours.encode_ordinary(text), ids, pair.decode)
    assert pair.ours.decode(ids) == pair.decode(ids)
    text = sown(text, list(pair.ours.special_tokens)[:300])
    assert_same(pair.ours.encode(text), pair.special(text), pair.decode)


def test_nasty_strings(pair):
    names = list(pair.ours.special_tokens)
    for text in [*NASTY, *(f"a{name}b {name} {name[:-1]}" for name in names[:100])]:
        ids = pair.ordinary(text)
        assert pair.ours.encode_ordinary(text) == ids, ascii(text)
        assert pair.ours.encode(text) == pair.special(text), ascii(text)
        assert pair.ours.decode(ids) == pair.decode(ids), ascii(text)
