"""Parts of text, patterns and a small vocab: pieces, merges and special tokens in every order."""

from __future__ import annotations

from hypothesis import strategies as st

from bytepair import Tokenizer

SPECIAL = ["<|a|>", "<|a|><|a|>", "<|a|>b<|", "  ", "\n\n", "'s x"]
BYTES = {byte: bytes([byte]) for byte in range(256)}
VOCAB = {**BYTES, 256: b"th", 257: b"the", 258: b"  ", 259: b"   ", 260: b"\n\n", 261: b" \n"}
MERGES = [(b"t", b"h"), (b"th", b"e"), (b" ", b" "), (b"  ", b" "), (b"\n", b"\n"), (b" ", b"\n")]
PATTERNS = {
    "gpt2": "gpt2",
    "cl100k": "cl100k",
    "o200k": "o200k",
    "llama3": "llama3",
    "nanochat": "nanochat",
    "deepseek_v3": "deepseek_v3",
    "none": None,
    "custom": r"\s+(?!\S)|\p{L}{1,20}(?=\s)|\d{1,3}|.",
    "look-behind": r"(?<=a)b+|a+|\s+",
    "sequence": [r"\p{N}{1,2}", r" ?\p{L}+|\s+$"],
}
PART = st.sampled_from(
    [
        *["a", "b", "s", "x", "S", "L", "é", "\u0301", "中", "🙂", "1", "12", "1234", "'ll", "’"],
        *[" ", "  ", "   ", "\n", "\n\n", "\r", "\r\n", "\t", "\u00a0", "\u2028", "/", ".", "'"],
        *["<", "<|", "|>", "<|a", "a|>", "<|a|>", "<|a|><|a|>", "the", " the", "HTTPServer"],
    ]
)


def small_tokenizer(kind: str, special: list[str]) -> Tokenizer:
    return Tokenizer(VOCAB, MERGES, special, pattern=PATTERNS[kind])
