"""The readable half and the fast half, side by side: the same merges, the same ids.

python examples/lesson_and_core.py
"""

from __future__ import annotations

import time

import bytepair
from bytepair import reference

text = bytepair.sample_corpus().read_text(encoding="utf-8")
SPECIAL = ["<|endoftext|>"]

start = time.perf_counter()
lesson_vocab, lesson_merges = reference.train_bpe_from_text(text, 1000, SPECIAL)
between = time.perf_counter()
vocab, merges = bytepair.train_bpe_from_text(text, 1000, SPECIAL)
end = time.perf_counter()
assert merges == lesson_merges
assert vocab == lesson_vocab
print(f"{len(merges)} merges; lesson {between - start:.2f} s, core {end - between:.3f} s")

slow = reference.BPETokenizer(lesson_vocab, lesson_merges, SPECIAL)
fast = bytepair.Tokenizer(vocab, merges, SPECIAL)
assert slow.encode(text) == fast.encode(text)
print(f"{len(fast.encode(text)):,} equal ids; the first: {fast.token_strings(text)[:8]}")
