"""Create a virtual environment and install dependency groups of pyproject.toml into it.

In: the folder of the environment, names of groups. Out: the environment, ready. Needs nothing but
the standard library, since it runs before anything is installed. It does not build bytepair.

    python3 scripts/setup_venv.py .venv demo
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST = (3, 10)


def check_tools() -> None:
    """Stop with a way out if this Python is too old or cargo is missing."""
    if sys.version_info < OLDEST:
        found = ".".join(map(str, sys.version_info[:3]))
        sys.exit(
            f"bytepair needs Python {OLDEST[0]}.{OLDEST[1]} or newer, and {sys.executable} is "
            f"{found}; name another: make PYTHON=python3.12"
        )
    if shutil.which("cargo") is None:
        sys.exit(
            "bytepair's core is written in Rust and cargo is not on the PATH; "
            "install Rust (https://rustup.rs) and try again"
        )


def python_of(folder: Path) -> Path:
    """Return the interpreter of an environment."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def works(python: Path) -> bool:
    """Tell whether an interpreter starts and has pip (one whose base was removed does not)."""
    if not python.exists():
        return False
    return subprocess.run([python, "-m", "pip", "--version"], capture_output=True).returncode == 0


def create(folder: Path) -> None:
    """Create the environment with pip in it, replacing a broken one."""
    print(f"creating {folder} with Python {sys.version.split()[0]}", flush=True)
    if importlib.util.find_spec("ensurepip"):
        venv.create(folder, clear=True, with_pip=True)
        return
    # Debian packs ensurepip apart from Python; a pip of the system can do its work.
    venv.create(folder, clear=True)
    pip = [sys.executable, "-m", "pip", "--python", python_of(folder), "install", "--quiet", "pip"]
    if subprocess.run(pip, capture_output=True).returncode:
        shutil.rmtree(folder)
        sys.exit(
            f"{sys.executable} cannot install pip into an environment: it has neither ensurepip "
            "nor pip\non Debian or Ubuntu: apt install python3-venv\n"
            "or name a complete Python: make PYTHON=/path/to/python3"
        )


def install(python: Path, groups: list[str]) -> None:
    """Install the groups; pip first, because older ones do not know dependency groups."""
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    print(f"installing {' and '.join(groups)} requirements", flush=True)
    for arguments in (["pip>=25.1"], [part for name in groups for part in ("--group", name)]):
        code = subprocess.run([*pip, *arguments], cwd=ROOT).returncode
        if code:
            sys.exit(f"pip failed (exit code {code}) on: {' '.join(arguments)}")


def main() -> None:
    """Parse the command line and do the work."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="the environment, created where it is missing")
    parser.add_argument("groups", nargs="+", help="dependency groups of pyproject.toml")
    arguments = parser.parse_args()
    check_tools()
    python = python_of(arguments.folder.absolute())
    if not works(python):
        create(arguments.folder)
    install(python, arguments.groups)


if __name__ == "__main__":
    main()
