"""The shape of the project: sizes, who may import what, one version, nothing local in the tree."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "bytepair"
FILE_LINES = 500
FUNCTION_LINES = 60

# Made by tools or by a build, never committed.
_SKIPPED = {
    ".git",
    ".venv",
    "target",
    "site",
    "dist",
    "node_modules",
    "__pycache__",
    ".hypothesis",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".benchmarks",
}
_TEXT = {
    *(".cfg", ".css", ".html", ".js", ".json", ".md", ".py", ".pyi", ".rs", ".sh", ".toml"),
    *(".txt", ".yaml", ".yml"),
}


def files(*suffixes: str) -> Iterator[Path]:
    """Every file of the project with one of the suffixes, wherever it lies."""
    stack = [ROOT]
    while stack:
        for path in sorted(stack.pop().iterdir()):
            if path.is_dir() and path.name not in _SKIPPED:
                stack.append(path)
            elif path.is_file() and path.suffix in suffixes:
                yield path


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def is_generated(path: Path) -> bool:
    """Tables that a script of the repository writes say so at their top."""
    with path.open(encoding="utf-8") as file:
        return any("@generated" in line for _, line in zip(range(10), file, strict=False))


def test_there_are_sources_to_check():
    found = {name(path) for path in files(".py", ".rs")}
    assert {"tests/test_architecture.py", "crates/bytepair/src/lib.rs"} <= found
    assert "python/bytepair/__init__.py" in found


@pytest.mark.parametrize("path", sorted(files(".rs", ".py", ".pyi", ".sh")), ids=name)
def test_a_source_file_is_short(path):
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= FILE_LINES or is_generated(path), f"{lines} lines; split it along the flow"


def test_architecture_is_one_sitting():
    lines = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 150


def code_lines(source: str) -> set[int]:
    """The numbers of the lines that hold code: no blank ones and no comments."""
    silent = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in silent:
            lines.update(range(token.start[0], token.end[0] + 1))
    return lines


def docstring_lines(node: ast.AST) -> set[int]:
    first = node.body[0] if node.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return set(range(first.lineno, first.end_lineno + 1))
    return set()


def long_functions(source: str) -> list[str]:
    """The functions with more code than allowed, as clippy counts: the body, without docs."""
    code = code_lines(source)
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = set(range(node.body[0].lineno, node.end_lineno + 1))
            own = code & body - docstring_lines(node)
            if len(own) > FUNCTION_LINES:
                found.append(f"{node.name} (line {node.lineno}): {len(own)} lines of code")
    return found


@pytest.mark.parametrize("path", sorted(files(".py")), ids=name)
def test_a_python_function_is_short(path):
    assert long_functions(path.read_text(encoding="utf-8")) == []


def test_long_functions_are_found():
    def source(lines: int) -> str:
        return 'def f():\n    """Docs."""\n\n    # why\n' + "    x = 1\n" * lines

    assert long_functions(source(FUNCTION_LINES)) == []
    assert long_functions(source(FUNCTION_LINES + 1)) == ["f (line 1): 61 lines of code"]


def test_rust_function_length_is_linted():
    # Clippy counts the Rust functions; this is the number it counts to.
    assert f"too-many-lines-threshold = {FUNCTION_LINES}" in (ROOT / "clippy.toml").read_text()


def test_only_the_binding_knows_python():
    core = ROOT / "crates" / "bytepair"
    assert "pyo3" not in (core / "Cargo.toml").read_text(encoding="utf-8")
    guilty = [name(p) for p in core.rglob("*.rs") if re.search(r"\bpyo3\b", p.read_text("utf-8"))]
    assert guilty == []
    assert "pyo3" in (ROOT / "crates" / "bytepair-py" / "Cargo.toml").read_text(encoding="utf-8")


def imported_modules(path: Path) -> Iterator[str]:
    """The absolute names of the modules that a file of the package imports, anywhere in it."""
    package = ["bytepair", *path.relative_to(PACKAGE).parent.parts]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield module
            # `from bytepair import _core` imports a module too.
            yield from (f"{module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", sorted((PACKAGE / "reference").rglob("*.py")), ids=name)
def test_the_reference_stands_alone(path):
    allowed = {*sys.stdlib_module_names, "regex"}
    strangers = {
        module
        for module in imported_modules(path)
        if module.split(".")[0] not in allowed
        and module.split(".")[:2] != ["bytepair", "reference"]
    }
    assert strangers == set()


def test_importing_the_package_needs_nothing_else():
    code = (
        "import sys; before = set(sys.modules); import bytepair, bytepair.reference\n"
        "print(*{name.split('.')[0] for name in set(sys.modules) - before})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "bytepair" in loaded
    # `regex` is the one library that the reference uses where it is installed.
    assert loaded - set(sys.stdlib_module_names) <= {"bytepair", "regex", "_regex", "_regex_core"}


def test_the_core_is_used_through_the_documented_modules():
    """Formats, readers and commands are written over the public API."""
    for folder in ("cli", "reference", "show"):
        for path in (PACKAGE / folder).rglob("*.py"):
            modules = set(imported_modules(path))
            assert not any(m.startswith("bytepair._core") for m in modules), name(path)


def test_one_version():
    import bytepair

    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    top = re.search(r"^## \[?v?(\d+\.\d+\.\d+[^\]\s]*)", changelog, re.MULTILINE)
    assert top is not None, "CHANGELOG.md has no entry that begins with `## <version>`"
    assert top[1] == bytepair.__version__
    cargo = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    assert f'\nversion = "{bytepair.__version__}"\n' in cargo


# Put together here, so that this file does not hold what it looks for.
_LOCAL = re.compile(
    "|".join(
        [
            r"(?<![\w./~-])/(?:" + "|".join(["work", "root", "home", "Users"]) + r")/\w",
            r"\b(?:" + "|".join(["py" + "pi", "pythonhosted", "npm" + "js"]) + r")\.(?:org|com)\b",
            r"\bcrates\." + "io\\b",
            "index-" + "url",
        ]
    )
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see /" + "work/main/x.py", True),
        ('cd "/' + 'root/x"', True),
        ("files.pythonhosted" + ".org", True),
        ("https://py" + "pi.org/simple", True),
        ("the network/" + "work/load", False),
        ("docs/home/index.md", False),
        ("crates/bytepair/src", False),
    ],
)
def test_local_names_are_found(text, found):
    assert bool(_LOCAL.search(text)) is found


def test_nothing_local_is_in_the_tree():
    found = []
    for path in files(*_TEXT, "", ".lock"):
        if path.name == "Cargo.lock":  # cargo writes the source of each crate into it
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{name(path)}: {hit[0]}" for hit in _LOCAL.finditer(text)]
    assert found == []
