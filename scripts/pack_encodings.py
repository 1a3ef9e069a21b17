"""Pack OpenAI's published rank files into the form the package ships.

    python scripts/pack_encodings.py RANK_FOLDER

RANK_FOLDER holds `r50k_base.tiktoken`, `p50k_base.tiktoken`, `cl100k_base.tiktoken` and
`o200k_base.tiktoken` as OpenAI publishes them. Each is checked against its published SHA-256 first.
"""

from __future__ import annotations

import base64
import hashlib
import sys
from pathlib import Path

from bytepair import _core

# Published in tiktoken's list of encodings.
SHA256 = {
    "r50k_base": "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    "p50k_base": "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}
DATA = Path(__file__).resolve().parent.parent / "python" / "bytepair" / "data"


def main(folder: Path) -> None:
    """Pack every table of `folder`."""
    for name, published in SHA256.items():
        content = (folder / f"{name}.tiktoken").read_bytes()
        if hashlib.sha256(content).hexdigest() != published:
            sys.exit(f"{name}.tiktoken is not the published file: its SHA-256 is another")
        lines = (line.split() for line in content.splitlines())
        vocab = {int(rank): base64.b64decode(token) for token, rank in lines}
        packed = _core.Model.from_ranks(vocab).pack()
        (DATA / f"{name}.bpranks").write_bytes(packed)
        print(f"{name}: {len(vocab)} tokens, {len(packed)} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
