"""``python -m bytepair.reference [--lang en|zh]``: the seven demonstrations of `demo`."""

from __future__ import annotations

import argparse
import os
import sys

from .demo import Demo
from .demo_texts import LANGUAGES


def main() -> None:
    """Read the language from the command line and run."""
    parser = argparse.ArgumentParser(
        prog="python -m bytepair.reference", description="Seven demonstrations of BPE tokenization."
    )
    parser.add_argument("--lang", choices=sorted(LANGUAGES), default="en", help="language (en)")
    if hasattr(sys.stdout, "reconfigure"):
        # A terminal's encoding may not have every character.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        Demo(parser.parse_args().lang).run()
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has had enough. What is still buffered must go nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
