"""The command line's manners: help, usage, errors, pipes, Ctrl-C, start-up."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import bytepair
from bytepair.cli import meter
from bytepair.cli.app import COMMANDS
from bytepair.progress import Progress
from cli_support import COMMAND, SAMPLE, cli, ok, spawn
from patience_support import soon

POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")


def test_version():
    assert ok("--version") == f"bytepair {bytepair.__version__}\n"
    assert spawn("-V").text == f"bytepair {bytepair.__version__}{os.linesep}"


def test_no_arguments_show_the_help_and_are_an_error():
    done = cli()
    assert done.code == 2
    assert "Usage: bytepair" in done.text
    assert all(f" {name} " in done.text for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_each_command_has_examples(name):
    for option in ("--help", "-h"):
        text = ok(name, option)
        assert f"Usage: bytepair {name}" in text
        assert text.count(f"bytepair {name} ") >= 2


def test_commands_are_those_of_this_issue():
    assert list(COMMANDS) == [
        "train",
        "pieces",
        "encode",
        "decode",
        "count",
        "inspect",
        "convert",
        "bench",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nope"], "no such command 'nope'"),
        (["encode", "--nope"], "no such option: --nope"),
        (["train"], "missing argument 'corpus"),
        (["train", "x", "-n", "many", "-o", "y"], "'--vocab-size' / '-n': "),
        (["encode", "--format", "u8", "-e", "gpt2"], "u8"),
        (["encode", "x"], "no tokenizer is given: use one of -e NAME"),
        (["decode", "x"], "no tokenizer is given"),
        (["inspect"], "no tokenizer is given"),
        (["encode", "-e", "gpt2", "-m", "gpt-4o"], "more than one tokenizer is given"),
        (["encode", "-e", "gpt3"], "--encoding: unknown encoding 'gpt3'; the names are gpt2"),
        (["encode", "-m", "gpt-99"], "--model: no encoding is known for 'gpt-99'"),
        (["encode", "-e", "gpt2", "--json", "--format", "u16"], "exclude each other"),
        (["encode", "-e", "gpt2", "-", "-"], "standard input is named twice"),
        (["count", "-", "-"], "standard input is named twice"),
        (["inspect", "a", "-t", "b"], "name two tokenizers"),
        (["convert", "a", "--to", "native"], "1 paths are given; convert takes IN and OUT"),
        (["convert", "a", "b", "--to", "gguf2"], "--to: unknown format 'gguf2'"),
        (["convert", "-e", "gpt2", "a", "b", "--to", "native"], "OUT alone"),
    ],
)
def test_wrong_usage(arguments, message):
    done = cli(*arguments)
    assert (done.code, done.out) == (2, b"")
    first, second = done.error.splitlines()
    assert first.lower().startswith("error: ")
    assert message.lower() in first.lower()
    assert not first.endswith(".")
    assert re.fullmatch(r"see bytepair( \w+)? --help", second)


@pytest.mark.parametrize("command", ["encode -e gpt2", "decode -e gpt2", "count", "bench"])
def test_files_that_cannot_be_read(command, tmp_path):
    (tmp_path / "empty").mkdir()
    missing = tmp_path / "missing.txt"
    for path, reason in [
        (missing, "no such file"),
        (tmp_path / "*.nope", "no file matches"),
        (tmp_path / "empty", "directory"),
    ]:
        done = cli(*command.split(), path)
        assert done.code == 1
        assert done.error.startswith(f"error: {path}: ")
        assert reason in done.error
        assert done.error.count("\n") == 1


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="everything is readable for root"
)
def test_a_file_without_permission(tmp_path):
    path = tmp_path / "secret.txt"
    path.write_text("secret")
    path.chmod(0)
    done = cli("encode", "-e", "gpt2", path)
    assert (done.code, done.error) == (1, f"error: {path}: permission denied\n")


@pytest.mark.parametrize("command", ["encode -e gpt2", "count", "bench"])
@pytest.mark.parametrize("before", [b"abc", "€".encode() * 40_000, b""], ids=len)
def test_invalid_utf8_names_file_and_offset(command, before, tmp_path):
    path = tmp_path / "bad.txt"
    # The second is cut short by the end of the file, the third in the middle of a chunk.
    for bad in (b"\xff", b"\xe2\x82", b"\xe2\x82x"):
        path.write_bytes(before + bad)
        done = cli(*command.split(), path)
        assert done.code == 1
        message = f"{path}: byte {len(before)} is not valid UTF-8; convert the file to UTF-8 first"
        assert done.error == f"error: {message}\n"
    done = cli(*command.split(), "-", stdin=before + b"\xff")
    assert done.error.startswith(f"error: standard input: byte {len(before)} is not valid UTF-8")


@pytest.mark.parametrize("name", ["typer", "rich"])
def test_without_typer_or_rich(name):
    code = (
        f"import sys; sys.modules[{name!r}] = None\nfrom bytepair.cli import main; sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=300, text=True)
    message = f'error: the command line needs {name}; pip install "bytepair[cli]" brings it\n'
    assert (done.returncode, done.stdout, done.stderr) == (1, "", message)


@pytest.mark.parametrize("module", ["bytepair", "bytepair.cli"])
def test_runs_as_a_module(module):
    words = [sys.executable, "-m", module, "encode", "-e", "gpt2"]
    done = subprocess.run(words, input=b"hello world", capture_output=True, timeout=300)
    assert (done.returncode, done.stdout.split()) == (0, [b"31373", b"995"])


def test_start_up_imports_nothing_heavy():
    code = (
        "import sys; from bytepair.cli import main; main(['--version'])\n"
        "print(*{name.split('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=300, text=True)
    loaded = set(done.stdout.split())
    assert "typer" in loaded
    assert not loaded & {"numpy", "tiktoken", "tokenizers", "pydantic", "regex"}


@POSIX
def test_a_closed_pipe_is_silent():
    command = subprocess.list2cmdline(COMMAND)
    script = f"{command} encode -e gpt2 {SAMPLE} {SAMPLE} | head -c 10; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, timeout=300)
    assert done.stderr == b""
    assert done.stdout[-2:] == b"0\n"
    done = subprocess.run(
        ["bash", "-c", f"{command} inspect -e gpt2 | true"], capture_output=True, timeout=300
    )
    assert (done.stdout, done.stderr) == (b"", b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("command", [["encode", "-e", "gpt2", SAMPLE], ["inspect", "-e", "gpt2"]])
def test_a_full_disk_is_one_line(command):
    with Path("/dev/full").open("wb") as full:
        words = [*COMMAND, *map(str, command)]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, timeout=300)
    assert (done.returncode, done.stderr) == (
        1,
        b"error: standard output: no space left on device\n",
    )


def interrupt(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """Press Ctrl-C and measure how long the process takes to stop."""
    began = time.monotonic()
    spawn("--version")
    start_up = time.monotonic() - began
    assert process.poll() is None, "it was done too soon to be interrupted"
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert time.monotonic() - began < soon(start_up)
    return out, err


def start(*arguments: object) -> subprocess.Popen[bytes]:
    words = [*COMMAND, *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe)


@POSIX
def test_ctrl_c_while_waiting_for_input(tmp_path):
    process = start("encode", "-e", "gpt2", "-o", tmp_path / "ids.txt")
    # What is not flushed does not reach the command, so the write is one of the pipe's own size.
    process.stdin.write(b"low lower " * 6000)
    process.stdin.flush()
    wait_for(lambda: any(tmp_path.iterdir()))
    out, err = interrupt(process)
    assert (process.returncode, out, err) == (130, b"", b"interrupted\n")
    assert list(tmp_path.iterdir()) == []


def wait_for(condition):
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@POSIX
def test_ctrl_c_while_training_leaves_nothing(tmp_path):
    # Numbers make new pieces all the time, so that neither counting nor learning is soon done.
    numbers = " ".join(f"{number * 7919:x}g" for number in range(1_500_000))
    results = tmp_path / "results"
    results.mkdir()
    process = start("train", "-", "-n", 3_000_000, "-o", results / "my.json", "--threads", 1)
    # What it has read shows that it is at work.
    process.stdin.write(numbers.encode())
    process.stdin.close()
    process.stdin = None
    out, err = interrupt(process)
    assert (process.returncode, out, err) == (130, b"", b"interrupted\n")
    assert list(results.iterdir()) == []


def test_ctrl_c_in_this_process(monkeypatch, tmp_path):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(bytepair, "count_pieces", interrupted)
    done = cli("train", SAMPLE, "-n", 300, "-o", tmp_path / "x.json")
    assert (done.code, done.err) == (130, b"interrupted\n")


WITHOUT_PATIENCE = (
    "import sys; from bytepair.cli import main, meter; meter._PATIENCE = 0; sys.exit(main())"
)


def on_a_terminal(*arguments: object, **variables: str) -> bytes:
    """Run a command whose standard error is a terminal, and return what it showed there."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "100", **variables}
    words = [sys.executable, "-c", WITHOUT_PATIENCE, *map(str, arguments)]
    with subprocess.Popen(words, stderr=theirs, stdout=subprocess.DEVNULL, env=env) as process:
        os.close(theirs)
        shown = b""
        # Reading fails when the other end is closed: the process has ended.
        while True:
            try:
                shown += os.read(ours, 4096)
            except OSError:
                break
    os.close(ours)
    assert process.returncode == 0
    return shown


@POSIX
@pytest.mark.parametrize(
    ("command", "label"),
    [
        (["count", "-e", "gpt2", SAMPLE], b"counting"),
        (["encode", "-e", "gpt2", SAMPLE, "-o", os.devnull], b"encoding"),
        (["bench", SAMPLE, "-e", "gpt2", "--seconds", 0], b"measuring"),
    ],
)
def test_a_terminal_gets_a_progress_bar(command, label):
    shown = on_a_terminal(*command, NO_COLOR="")
    assert label in shown
    assert b"75.2 kB" in shown or b"operations" in shown
    assert b"/s" in shown
    assert b"left" in shown
    assert re.search(rb"\x1b\[[13]", shown)
    plain = on_a_terminal(*command, NO_COLOR="1")
    assert label in plain
    assert not re.search(rb"\x1b\[3\d", plain)
    assert on_a_terminal(*command, "--quiet") == b""


def test_training_shows_both_stages(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(meter, "_PATIENCE", 0)
    monkeypatch.setenv("COLUMNS", "120")
    with meter.Meter("counting", quiet=False) as bar:
        bar.hear(Progress("count", 2_000_000, 4_000_000, "bytes", 2.0))
        bar.hear(Progress("learn", 500, 2000, "merges", 2.0))
    shown = screen.getvalue()
    assert "counting" in shown
    assert "2.0 MB of 4.0 MB" in shown
    assert re.search(r"learning.*25%.*500 merges of 2,000 merges +2\d\d merges/s", shown)


def test_no_bar_where_there_is_no_terminal(monkeypatch):
    monkeypatch.setattr(meter, "_PATIENCE", 0)
    assert cli("count", "-e", "gpt2", "--allow-special", SAMPLE).err == b""
