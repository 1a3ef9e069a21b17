"""Check an installed bytepair from outside its repository; scripts/sdist_test.py runs it.

In: an empty current folder and an interpreter with bytepair[cli] installed. Out: a line for each
check, exit code 1 at the first that fails. Short on purpose: it asks whether everything was packed,
not whether everything is right.
"""

from __future__ import annotations

import importlib.metadata
import json
import pickle
import subprocess
import sys
import sysconfig
from importlib import resources
from pathlib import Path

import bytepair
from bytepair import reference

SAMPLE = Path(str(resources.files("bytepair") / "data" / "sample_corpus.txt"))
COMMAND = Path(sysconfig.get_path("scripts")) / "bytepair"


def check(what: str, *, holds: bool) -> None:
    """Print a line, or stop."""
    if not holds:
        sys.exit(f"installed package: failed: {what}")
    print(f"installed package: {what}")


def run(*arguments: str, text: str | None = None) -> str:
    """Run the installed command and return what it printed."""
    done = subprocess.run(
        [COMMAND, *arguments], input=text, capture_output=True, text=True, encoding="utf-8"
    )
    if done.returncode:
        sys.exit(f"bytepair {' '.join(arguments)}: exit code {done.returncode}: {done.stderr}")
    return done.stdout


def check_package() -> None:
    """The package is the installed one and whole."""
    folder = Path(bytepair.__file__).parent
    check("is imported from where it was installed", holds=Path(sys.prefix) in folder.parents)
    version = importlib.metadata.version("bytepair")
    check(f"has one version, {version}", holds=bytepair.__version__ == version)
    check("is typed", holds=(folder / "py.typed").exists() and (folder / "_core.pyi").exists())
    plugin = folder.parent / "tiktoken_ext"
    packed = sorted(path.name for path in plugin.glob("*") if path.name != "__pycache__")
    check("has the module for tiktoken", holds="bytepair.py" in packed)
    check("leaves tiktoken's namespace open", holds="__init__.py" not in packed)
    check("has the sample corpus", holds=SAMPLE.stat().st_size >= 60_000)
    licenses = importlib.metadata.metadata("bytepair").get_all("License-File") or []
    check("has its licence", holds={"LICENSE", "NOTICE"} <= set(licenses))
    needed = importlib.metadata.requires("bytepair") or []
    check("requires nothing", holds=all("extra ==" in line for line in needed))


def check_library() -> None:
    """Trains, encodes, decodes; OpenAI's vocabularies are inside."""
    text = "Hello, world! 你好 🙂<|endoftext|>"
    tokenizer = bytepair.train(SAMPLE, 1000)
    check("trains", holds=tokenizer.vocab_size == 1000)
    check("decodes what it encoded", holds=tokenizer.decode(tokenizer.encode(text)) == text)
    check("pickles", holds=pickle.loads(pickle.dumps(tokenizer)) == tokenizer)
    tokenizer.save("saved.json")
    check("saves and loads", holds=bytepair.Tokenizer.load("saved.json") == tokenizer)
    gpt2 = bytepair.get_encoding("gpt2")
    check("has gpt2", holds=gpt2.encode("hello world") == [31373, 995])
    ids = bytepair.get_encoding("o200k_base").encode("hello world")
    check("has o200k_base", holds=ids == [24912, 2375])
    expected = reference.train_bpe("saved.json", 300)
    check("equals its reference", holds=bytepair.train_bpe("saved.json", 300) == expected)


def check_command() -> None:
    """The command line is installed and thin."""
    check("prints its version", holds=bytepair.__version__ in run("--version"))
    run("train", str(SAMPLE), "--vocab-size", "500", "-o", "cli.json", "--quiet")
    check("trains by command", holds=bytepair.Tokenizer.load("cli.json").vocab_size == 500)
    ids = run("encode", "-e", "gpt2", "-", text="hello world")
    check("encodes by command", holds=ids.split() == ["31373", "995"])
    check("decodes by command", holds=run("decode", "-e", "gpt2", "-", text=ids) == "hello world")
    counted = json.loads(run("count", "-e", "gpt2", "--json", "cli.json"))
    check("counts by command", holds=bool(counted))


if __name__ == "__main__":
    check_package()
    check_library()
    check_command()
