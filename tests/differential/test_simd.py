"""Every instruction set gives tiktoken's ids: each is forced in a process of its own."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable

import pytest
import tiktoken

import bytepair

NAMES = ["gpt2", "cl100k_base", "o200k_base"]

CODE = """
import hashlib, json, sys
import bytepair

texts = json.load(sys.stdin)
digests = {}
for name in json.loads(sys.argv[1]):
    encoding = bytepair.get_encoding(name)
    digests[name] = [
        hashlib.sha256(repr(encoding.encode_ordinary(text)).encode()).hexdigest() for text in texts
    ]
print(json.dumps(digests))
"""

NASTY = (
    "It's 12345 o'clock, don't'll; x\u2019s   \n \n\t(foo)BarBAZqux...\r\n\r\n/a//b\n/\n"
    "caf\u00e9 e\u0301 \u0e44\u0e17\u0e22 \u4e2d\u6587ABC\u4e2d\u6587Abc \u3053\u3093 "
    "\u0939\u093f\u0928\u094d\u0926\u0940 \u00b2\u00bd\u0663\u0664\u0665\u0666 "
    "\U0001f469\u200d\U0001f4bb\u00a0\u3000\u2028 \u017f'\u017f's _x_ 0x1F"
)


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Long enough for blocks, chunks and cuts, and shifted so that edges fall everywhere."""
    sample = bytepair.sample_corpus().read_text(encoding="utf-8")
    mixed = "".join("x" * (shift % 7) + NASTY for shift in range(900))
    return [sample, mixed, NASTY, "", " " * 9000 + "a"]


@pytest.mark.parametrize("level", ["portable", "avx2", "avx512"])
def test_every_level_gives_the_ids_of_tiktoken(
    level: str, texts: list[str], rival: Callable[[str], tiktoken.Encoding]
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE, json.dumps(NAMES)],
        input=json.dumps(texts),
        env={**os.environ, "BYTEPAIR_SIMD": level},
        capture_output=True,
        text=True,
        check=True,
    )
    digests = json.loads(done.stdout)
    for name in NAMES:
        for text, digest in zip(texts, digests[name], strict=True):
            ids = rival(name).encode_ordinary(text)
            assert digest == hashlib.sha256(repr(ids).encode()).hexdigest(), (name, text[:40])
