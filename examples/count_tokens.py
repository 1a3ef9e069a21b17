"""Count the tokens of a prompt, and cut what is too long, as an application would.

python examples/count_tokens.py [MODEL] < prompt.txt
"""

from __future__ import annotations

import sys

import bytepair

model = sys.argv[1] if len(sys.argv) > 1 else "gpt-4o"
try:
    encoding = bytepair.encoding_for_model(model)
except KeyError as error:
    sys.exit(f"error: {error}")
given = "" if sys.stdin.isatty() else sys.stdin.read()
prompt = given or "How many tokens is this? 这句话有多少个词元？"

# Text from strangers: special tokens in it are plain text.
ids = encoding.encode_ordinary(prompt)
print(f"{model} ({encoding.name}): {len(ids)} tokens")
assert encoding.count(prompt, allowed_special=()) == len(ids)

# With a limit, counting stops as soon as it is passed.
if encoding.count(prompt, limit=8, allowed_special=()) > 8:
    print("more than 8:", repr(encoding.decode(ids[:8])), "…")
