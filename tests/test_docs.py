"""Runs what the documentation shows: the code blocks of every page, the examples, the docstrings.

A page's blocks run in order, in one temporary folder that holds `corpus.txt` (the sample corpus of
the package). The rules, for whoever writes a page:

- `python`: executed, all blocks of a page in one namespace. A line `expression  # -> value` is
  checked: the value's repr must be what the comment says (`...` stands for anything). A block with
  `>>>` runs as a doctest.
- `bash`, `sh`, `shell`: every line is a command. `bytepair` and `python` run for real; `make` must
  name a target; `git`, `cd`, `pip`, `cargo` and `source` are read as instructions to the reader.
- `console`: the same, commands being the lines after `$ `. Other lines are the output that the
  command before them must print (`...` stands for anything).
- `<!-- not run: reason -->` right before a block excuses it.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import io
import os
import pkgutil
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tokenize
from dataclasses import dataclass
from pathlib import Path

import pytest

import bytepair

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "README.zh-CN.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SHELL = {"bash", "sh", "shell", "console"}
READ_ONLY = {"cd", "git", "pip", "cargo", "source"}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>```+|~~~+) *(?P<info>[^`\n]*)$")
_EXCUSE = re.compile(r"<!-- not run: \S.* -->")


@dataclass
class Block:
    """One fenced block of a page: where it begins, its language, its text."""

    line: int
    language: str
    text: str


def blocks_of(page: str) -> list[Block]:
    """The blocks of a page that are to be run or checked."""
    found: list[Block] = []
    excused = False
    lines = iter(enumerate(page.splitlines(), start=1))
    for number, line in lines:
        opening = _FENCE.match(line)
        if opening is None:
            # The excuse holds for the next block, with nothing but blank lines between.
            excused = bool(_EXCUSE.search(line)) or (excused and not line.strip())
            continue
        body = []
        for _, inner in lines:
            if inner.strip() == opening["fence"]:
                break
            body.append(inner.removeprefix(opening["indent"]))
        else:
            pytest.fail(f"line {number}: the block is never closed")
        language = opening["info"].split(" ")[0].strip("{.}").lower()
        if not excused:
            found.append(Block(number, language, "\n".join(body) + "\n"))
        excused = False
    return found


def same_output(wanted: str, got: str) -> bool:
    """Compare like doctest: `...` stands for anything, runs of white space are equal."""
    ends = "\n" if wanted.strip() else ""
    return doctest.OutputChecker().check_output(wanted.strip() + ends, got.strip() + ends, FLAGS)


# --- python ---


def promised_values(source: str) -> dict[int, str]:
    """Line number -> what the comment `# -> value` at its end promises."""
    promises = {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and token.string.startswith("# -> "):
            promises[token.start[0]] = token.string.removeprefix("# -> ").strip()
    return promises


def run_python(block: Block, namespace: dict[str, object], page: str) -> None:
    if ">>> " in block.text:
        test = doctest.DocTestParser().get_doctest(block.text, namespace, page, page, block.line)
        runner = doctest.DocTestRunner(optionflags=FLAGS)
        report: list[str] = []
        failed = runner.run(test, out=report.append, clear_globs=False).failed
        namespace.update(test.globs)
        assert failed == 0, "".join(report)
        return
    promises = promised_values(block.text)
    # Blank lines in front, so that a traceback names the line of the page.
    tree = ast.parse("\n" * block.line + block.text, filename=page)
    for statement in tree.body:
        promise = promises.pop(statement.end_lineno - block.line, None)
        if promise is not None and isinstance(statement, ast.Expr):
            value = eval(compile(ast.Expression(statement.value), page, "eval"), namespace)
            assert same_output(promise, repr(value)), (
                f"line {statement.lineno}: {promise} is promised, {value!r} is the value"
            )
        else:
            assert promise is None, f"line {statement.lineno}: `# ->` follows no expression"
            exec(compile(ast.Module([statement], []), page, "exec"), namespace)
    assert not promises, f"`# ->` inside a statement cannot be checked: {promises}"


# --- shell ---


def commands_of(block: Block) -> list[tuple[str, str | None]]:
    """The commands of a block and the output shown for each (None: none is shown)."""
    text = block.text.replace("\\\n", " ")
    if block.language != "console":
        lines = [line.strip() for line in text.splitlines()]
        return [(line, None) for line in lines if line and not line.startswith("#")]
    found: list[tuple[str, str | None]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], None))
        elif found:
            command, output = found[-1]
            found[-1] = (command, f"{output or ''}{line}\n")
        else:
            pytest.fail(f"line {block.line}: output before the first `$ `: {line!r}")
    return found


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def first_words(command: str) -> list[str]:
    """The program of each part of a command line (`a | b && c` has three)."""
    words = shlex.shlex(command, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    programs, fresh = [], True
    for word in words:
        if fresh and not re.fullmatch(r"\w+=\S*", word):
            programs.append(word)
            fresh = False
        elif word in {"|", "&&", "||", ";"}:
            fresh = True
    return programs


def run_command(command: str, output: str | None, where: str) -> None:
    programs = first_words(command)
    if programs[0] == "make":
        targets = [word for word in shlex.split(command, comments=True)[1:] if "=" not in word]
        assert set(targets) <= make_targets(), f"{where}: no such target: {command}"
        return
    if programs[0] in READ_ONLY:
        return
    tools = {"bytepair", "python", "cat", "echo", "head", "printf", "tail", "wc", "ls", "rm"}
    assert set(programs) <= tools, f"{where}: there is no rule for running {command!r}"
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    done = subprocess.run(
        ["sh", "-ec", command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PATH": path, "PYTHONUTF8": "1", "COLUMNS": "100", "NO_COLOR": "1"},
    )
    assert done.returncode == 0, f"{where}: {command}\n{done.stdout}{done.stderr}"
    if output is not None:
        got = done.stdout + done.stderr
        assert same_output(output, got), f"{where}: {command}\nshown:\n{output}\nprinted:\n{got}"


# --- tests ---


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A folder with the sample corpus in it, as the current one."""
    sample = ROOT / "python" / "bytepair" / "data" / "sample_corpus.txt"
    shutil.copy(sample, tmp_path / "corpus.txt")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
@pytest.mark.usefixtures("workplace")
def test_a_page_tells_the_truth(path):
    page = path.relative_to(ROOT).as_posix()
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks_of(path.read_text(encoding="utf-8")):
        if block.language in {"python", "py", "pycon"}:
            run_python(block, namespace, page)
        elif block.language in SHELL:
            for command, output in commands_of(block):
                run_command(command, output, f"{page}, line {block.line}")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
@pytest.mark.usefixtures("workplace")
def test_an_example_runs(path):
    done = subprocess.run(
        [sys.executable, "-W", "error", path], stdin=subprocess.DEVNULL, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout, "an example shows something"


@pytest.mark.parametrize("name", ["stream_a_file.py", "train_and_save.py"])
@pytest.mark.usefixtures("workplace")
def test_an_example_without_its_file_says_so_in_a_line(name):
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / name, "none.txt"], capture_output=True
    )
    assert done.returncode == 1
    assert done.stderr.decode().splitlines() == ["error: none.txt: no such file"]


def package_modules() -> list[str]:
    """Every module of the package but those that run when imported."""
    folder = str(ROOT / "python" / "bytepair")
    names = [info.name for info in pkgutil.walk_packages([folder], "bytepair.")]
    return ["bytepair", *(n for n in names if not n.endswith((".__main__", "._core")))]


@pytest.mark.parametrize("module", package_modules())
@pytest.mark.usefixtures("workplace")
def test_docstring_examples_run(module):
    if module == "bytepair._torch_data":
        pytest.importorskip("torch", reason="torch is not installed here")
    imported = importlib.import_module(module)
    report = doctest.testmod(
        imported, optionflags=FLAGS, extraglobs={"bytepair": sys.modules["bytepair"]}
    )
    assert report.failed == 0, f"{report.failed} of {report.attempted} examples failed"


CORE_CLASSES = ("Tokenizer", "StreamDecoder", "StreamEncoder")
CORE_METHODS = [
    f"{owner}.{name}"
    for owner in CORE_CLASSES
    for name in sorted(vars(getattr(bytepair._core, owner)))
    if not name.startswith("_")
]


@pytest.mark.parametrize("name", CORE_METHODS)
def test_core_docstring_examples_run(name):
    """What comes from the core is documented in the core, out of testmod's sight."""
    owner, _, method = name.partition(".")
    text = getattr(getattr(bytepair._core, owner), method).__doc__
    assert text, f"{name} has no docstring"
    test = doctest.DocTestParser().get_doctest(text, {"bytepair": bytepair}, name, name, 0)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(test)
    assert runner.failures == 0
    assert test.examples or method == "name", f"{name} has no example"


# --- the rules above are themselves tested ---


def test_pages_exist():
    assert [path for path in PAGES if not path.is_file()] == []


def test_blocks_are_found():
    page = (
        "text\n```python\nx = 1\n```\n\n<!-- not run: needs a network -->\n\n```python\ny\n```\n"
        "1. item\n\n    ```console\n    $ bytepair --version\n    ```\n"
    )
    assert blocks_of(page) == [
        Block(2, "python", "x = 1\n"),
        Block(13, "console", "$ bytepair --version\n"),
    ]


def test_an_excuse_needs_a_reason():
    assert len(blocks_of("<!-- not run: -->\n```python\nx\n```\n")) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 + 1  # -> 3\n", "3 is promised, 2 is the value"),
        ("x = 2  # -> 2\n", "follows no expression"),
        ("f(\n    1,  # -> 2\n)\n", "inside a statement"),
        (">>> 1 + 1\n3\n", "Expected:"),
    ],
)
def test_a_false_python_block_fails(text, message):
    with pytest.raises(AssertionError, match=re.escape(message)):
        run_python(Block(1, "python", text), {"f": lambda x: x}, "page")


def test_a_true_python_block_passes():
    namespace: dict[str, object] = {}
    run_python(Block(1, "python", "x = [1, 2]\nx  # -> [1, ...]\n"), namespace, "page")
    run_python(Block(5, "python", ">>> x + [3]\n[1, 2, 3]\n>>> y = 1\n"), namespace, "page")
    assert namespace["y"] == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("$ echo one\ntwo\n", "printed:"),
        ("$ python -c 'raise SystemExit(3)'\n", "SystemExit(3)"),
        ("$ make everything\n", "no such target"),
        ("$ curl example\n", "there is no rule"),
    ],
)
def test_a_false_console_block_fails(text, message):
    ((command, output),) = commands_of(Block(1, "console", text))
    with pytest.raises(AssertionError, match=re.escape(message)):
        run_command(command, output, "page")


def test_a_true_console_block_passes():
    block = Block(1, "console", "$ echo one \\\n   two\none ...\n$ make demo\n$ git clone x\n")
    commands = commands_of(block)
    assert [output for _, output in commands] == ["one ...\n", None, None]
    for command, output in commands:
        run_command(command, output, "page")
