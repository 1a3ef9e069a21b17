"""Build the source distribution, install it into a new environment and test that.

In: a cargo profile. Out: exit code 0, or the failing command. A user without a ready wheel builds
from this archive, so a file missing from it is found here. Cargo's target folder is shared with the
other builds, which saves compiling the dependencies again.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEEDED = (
    *("LICENSE", "NOTICE", "README.md", "Cargo.lock"),
    *("python/bytepair/data/sample_corpus.txt", "python/tiktoken_ext/bytepair.py"),
)
UNWANTED = re.compile(r"^(target|tests|docs|site|\.venv)/|_core\.abi3\.so|__pycache__")


def run(command: list[str | Path], *, cwd: Path, extra: dict[str, str] | None = None) -> None:
    """Run a command and stop if it fails."""
    code = subprocess.run(command, cwd=cwd, env={**os.environ, **(extra or {})}).returncode
    if code:
        sys.exit(f"exit code {code}: {' '.join(map(str, command))}")


def check_names(archive: Path) -> None:
    """Stop if the archive lacks a needed file or holds one that has no place in it."""
    with tarfile.open(archive) as file:
        names = [name.partition("/")[2] for name in file.getnames()]
    missing = [name for name in NEEDED if name not in names]
    unwanted = [name for name in names if UNWANTED.search(name)]
    if missing or unwanted:
        sys.exit(f"{archive.name} lacks {missing} and should not hold {unwanted}")


def main() -> None:
    """Build, look inside, install, test."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", default="release", help="the cargo profile to build with")
    profile = parser.parse_args().profile
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run([sys.executable, "-m", "maturin", "sdist", "--out", folder], cwd=ROOT)
        (archive,) = folder.glob("*.tar.gz")
        check_names(archive)
        venv.create(folder / "venv", with_pip=True)
        python = folder / "venv" / "bin" / "python"
        pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        run(
            [*pip, f"{archive}[cli]", "regex"],
            cwd=folder,
            extra={
                "CARGO_TARGET_DIR": os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target")),
                "MATURIN_PEP517_ARGS": f"--profile {profile}",
            },
        )
        empty = folder / "elsewhere"
        empty.mkdir()
        run([python, ROOT / "scripts" / "installed_test.py"], cwd=empty)


if __name__ == "__main__":
    main()
