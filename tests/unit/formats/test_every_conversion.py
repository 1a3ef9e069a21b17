"""Real vocabularies in every format that can hold them: read back, the same ids."""

from __future__ import annotations

import pytest

import bytepair
from bytepair import Tokenizer, formats
from bytepair.errors import FormatError
from model_texts import NASTY

MODELS = {
    "llama3": "hf/llama3",
    "qwen3": "hf/qwen3",
    "deepseek_v3": "hf/deepseek_v3",
    "gemma3": "hf/gemma3",
    "tekken": "mistral/tekken_240911.json",
    "mistral": "mistral/tokenizer.model.v1",
}
HOLDS = {
    "gpt2": {"native", "huggingface", "gpt2", "gguf", "tiktoken", "reference", "cs336"},
    "p50k_edit": {"native", "huggingface", "gpt2", "gguf", "tiktoken", "reference", "cs336"},
    "cl100k_base": {"native", "huggingface", "gguf", "tiktoken", "reference"},
    "o200k_base": {"native", "huggingface", "gguf", "tiktoken", "reference"},
    "o200k_harmony": {"native", "tiktoken"},
    "llama3": {"native", "huggingface", "gguf"},
    "qwen3": {"native", "huggingface", "gguf"},
    "deepseek_v3": {"native", "huggingface", "gguf"},
    "gemma3": {"native", "huggingface"},
    "tekken": {"native", "huggingface", "gguf", "tiktoken", "tekken", "reference"},
    "mistral": {"native", "huggingface", "gguf"},
}
"""The formats that hold each model; the others refuse it."""


@pytest.mark.slow
@pytest.mark.parametrize("name", HOLDS)
def test_conversions_keep_ids(name, shared, tmp_path):
    if name in MODELS:
        ours = Tokenizer.load(shared / "data" / "vocabs" / MODELS[name])
    else:
        ours = bytepair.get_encoding(name)
    held = set()
    for format in formats.names():
        path = tmp_path / format
        try:
            ours.save(path, format=format)
        except FormatError as error:
            assert str(error), format  # noqa: PT017
            assert not path.exists()
            continue
        held.add(format)
        unsaid = {"pattern": ours.pattern, "special_tokens": ours._special_names}
        options = {option: unsaid[option] for option in formats.options(format)}
        again = Tokenizer.load(path, format=format, **options)
        if not options:
            assert again.special_tokens == ours.special_tokens, format
        texts = [*NASTY, *(f"a{token}b {token}" for token in list(ours._special_names)[:40])]
        for text in texts:
            assert again.encode(text) == ours.encode(text), (format, text[:60])
            assert again.encode_ordinary(text) == ours.encode_ordinary(text), (format, text[:60])
            assert again.decode(ours.encode(text)) == ours.decode(ours.encode(text)), format
    assert held == HOLDS[name]
