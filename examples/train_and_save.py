"""Train a tokenizer on your text files and save it.

    python examples/train_and_save.py [FILE ...]

Without files it trains on the sample corpus that comes with the package.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import bytepair

corpus = sys.argv[1:] or [bytepair.sample_corpus()]
for path in corpus:
    if not Path(path).is_file():
        sys.exit(f"error: {path}: no such file")
tokenizer = bytepair.train(corpus, vocab_size=2000, progress=True)

text = Path(corpus[0]).read_text(encoding="utf-8")
ids = tokenizer.encode(text)
assert tokenizer.decode(ids) == text
print(f"{len(text.encode()) / len(ids):.2f} bytes per token")
for token in sorted(dict(tokenizer.vocab).values(), key=len, reverse=True)[:8]:
    print(repr(token.decode(errors="replace")))

with tempfile.TemporaryDirectory() as folder:
    saved = Path(folder, "tokenizer.json")
    tokenizer.save(saved)
    assert bytepair.Tokenizer.load(saved) == tokenizer
    print(f"saved and loaded again: {saved.stat().st_size:,} bytes")
