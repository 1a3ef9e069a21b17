"""`python -m bytepair.cli`: the command line."""

import sys

from bytepair.cli import main

if __name__ == "__main__":
    sys.exit(main())
