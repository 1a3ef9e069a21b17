"""Encode a file of any size in little memory, and write its ids as 16-bit integers.

    python examples/stream_a_file.py [IN [OUT]]

The ids are those of the whole text, though it is read line by line. GPT-2's ids fit in 16 bits.
"""

from __future__ import annotations

import sys
import tempfile
from array import array
from itertools import islice
from pathlib import Path

import bytepair

source = Path(sys.argv[1]) if len(sys.argv) > 1 else bytepair.sample_corpus()
target = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(tempfile.mkdtemp(), "ids.bin")
if not source.is_file():
    sys.exit(f"error: {source}: no such file")
gpt2 = bytepair.get_encoding("gpt2")

with source.open(encoding="utf-8", newline="") as lines, target.open("wb") as out:
    ids = gpt2.encode_iterable(lines)
    count = 0
    while block := array("H", islice(ids, 65536)):
        block.tofile(out)
        count += len(block)

read = array("H", target.read_bytes())
assert gpt2.decode(read) == source.read_bytes().decode()
print(
    f"{count:,} ids, {target.stat().st_size:,} bytes, from {source.stat().st_size:,} bytes of text"
)
