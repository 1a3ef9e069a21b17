"""`bytepair encode`, `decode` and `count`: the library's ids, from files, globs and pipes."""

from __future__ import annotations

import json
import os
import random
import struct
import subprocess
from pathlib import Path

import pytest

import bytepair
from bytepair.cli.files import CHUNK
from cli_support import COMMAND, SAMPLE, SPECIAL_NOTE, Done, cli, ok, spawn

GPT2 = bytepair.get_encoding("gpt2")
O200K = bytepair.get_encoding("o200k_base")
NASTY = "\ufeffa\r\nb\rc\n\n  d\u00a0e\t\x00\x1f 你好🙂 e\u0301 <|endoftext|> \u2028 don't 12345  "


@pytest.fixture
def nasty(tmp_path):
    path = tmp_path / "nasty.txt"
    path.write_bytes(NASTY.encode())
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    path = tmp_path_factory.mktemp("trained") / "my.json"
    bytepair.train(SAMPLE, 1000).save(path)
    return path


def numbers(text: str) -> list[int]:
    return [int(word) for word in text.split()]


# ── encode ────────────────────────────────────────────────────────────────────────────────────────


def test_encode_a_file_and_standard_input(nasty):
    wanted = GPT2.encode_ordinary(NASTY)
    for text in (
        ok("encode", "-e", "gpt2", nasty),
        ok("encode", "-e", "gpt2", "-", stdin=NASTY.encode()),
        ok("encode", "-e", "gpt2", stdin=NASTY.encode()),
        spawn("encode", "-e", "gpt2", stdin=NASTY.encode()).text,
    ):
        assert text.strip("\r\n") == " ".join(map(str, wanted))


def test_encode_by_encoding_model_and_file(nasty, trained):
    assert numbers(ok("encode", "-m", "gpt-4o", nasty)) == O200K.encode_ordinary(NASTY)
    mine = bytepair.Tokenizer.load(trained)
    assert numbers(ok("encode", "-t", trained, nasty)) == mine.encode_ordinary(NASTY)


def test_special_tokens_only_when_allowed():
    # Case 84: a command that encodes the text of strangers, and a flag for one's own.
    text = b"<|endoftext|>"
    plain = numbers(ok("encode", "-e", "cl100k_base", "--quiet", stdin=text))
    assert plain == bytepair.get_encoding("cl100k_base").encode_ordinary("<|endoftext|>")
    assert 100257 not in plain
    assert ok("encode", "-e", "cl100k_base", "--allow-special", stdin=text) == "100257\n"
    assert ok("count", "-e", "cl100k_base", "--allow-special", stdin=text) == "1\n"
    assert int(ok("count", "-e", "cl100k_base", "--quiet", stdin=text)) == len(plain)


@pytest.mark.parametrize("command", ["encode", "count"])
@pytest.mark.parametrize("encoding", ["gpt2", "o200k_harmony"])
def test_special_tokens_taken_as_text_are_noted_once(command, encoding, tmp_path):
    path = tmp_path / "documents.txt"
    # Across the border between two chunks, and again in another file.
    path.write_text("x" * (CHUNK - 5) + "<|endoftext|>" + "y" * CHUNK)
    done = cli(command, "-e", encoding, path, path)
    assert done.code == 0
    assert done.error == (
        f"{SPECIAL_NOTE}, the first '<|endoftext|>' in {path}; --allow-special recognises them\n"
    )
    for option in ("--allow-special", "--quiet"):
        assert cli(command, "-e", encoding, option, path).error == ""
    path.write_text("<|endof text|>" * 9)
    assert cli(command, "-e", encoding, path).error == ""


@pytest.mark.parametrize("command", ["encode", "count"])
def test_a_tokenizer_without_special_tokens_has_none_to_note(command, tmp_path):
    path = tmp_path / "plain.json"
    bytepair.train(["a b c"], 256, special_tokens=[]).save(path)
    assert cli(command, "-t", path, stdin=b"<|endoftext|>").error == ""


def test_encode_gives_a_line_for_each_input(tmp_path, nasty):
    (tmp_path / "empty.txt").touch()
    text = ok("encode", "-e", "gpt2", nasty, tmp_path / "empty.txt", SAMPLE)
    lines = text.split("\n")
    assert len(lines) == 4
    assert numbers(lines[0]) == GPT2.encode_ordinary(NASTY)
    assert (lines[1], lines[3]) == ("", "")
    assert numbers(lines[2]) == GPT2.encode_ordinary(SAMPLE.read_bytes().decode())


def test_encode_json(nasty, tmp_path):
    (tmp_path / "empty.txt").touch()
    text = ok("encode", "-e", "gpt2", "--json", nasty, tmp_path / "empty.txt")
    first, second = text.splitlines()
    assert json.loads(first) == GPT2.encode_ordinary(NASTY)
    assert json.loads(second) == []


@pytest.mark.parametrize(("name", "code"), [("u16", "H"), ("u32", "I")])
def test_encode_raw(name, code, nasty, tmp_path):
    wanted = GPT2.encode_ordinary(NASTY) * 2
    out = tmp_path / "ids.bin"
    assert ok("encode", "-e", "gpt2", "--format", name, "-o", out, nasty, nasty) == ""
    assert out.read_bytes() == struct.pack(f"<{len(wanted)}{code}", *wanted)
    done = cli("encode", "-e", "gpt2", "--format", name, nasty, nasty)
    assert done.out == out.read_bytes()
    assert ok("decode", "-e", "gpt2", "--format", name, out) == NASTY * 2


def test_u16_where_ids_do_not_fit(nasty):
    done = cli("encode", "-e", "o200k_base", "--format", "u16", nasty)
    assert done.code == 2
    assert "ids of o200k_base go up to 200018, and u16 holds 65535 at most" in done.error


def test_globs_that_the_shell_left(tmp_path):
    for name in ("b.txt", "a.txt", "[c].txt"):
        (tmp_path / name).write_text(name)
    text = ok("encode", "-e", "gpt2", tmp_path / "*.txt")
    wanted = [GPT2.encode(name) for name in ("[c].txt", "a.txt", "b.txt")]
    assert [numbers(line) for line in text.splitlines()] == wanted
    # A file of that very name is no glob.
    assert numbers(ok("encode", "-e", "gpt2", tmp_path / "[c].txt")) == wanted[0]


def test_large_files_are_streamed_exactly(tmp_path):
    # Chunks of 64 KiB are cut within characters, pieces and special tokens.
    random.seed(7)
    parts = ["€", "🙂", "word ", "<|endoftext|>", "    ", "\n\n", "12345678", "é", "好好"]
    text = "".join(random.choices(parts, k=120_000))
    path = tmp_path / "large.txt"
    path.write_bytes(text.encode())
    for options, ids in (
        ([], GPT2.encode_ordinary(text)),
        (["--allow-special"], GPT2.encode(text)),
    ):
        done = cli("encode", "-e", "gpt2", path, *options)
        assert numbers(done.text) == ids
        assert cli("decode", "-e", "gpt2", stdin=done.out).out == text.encode()
        assert int(ok("count", "-e", "gpt2", "-", *options, stdin=text.encode())) == len(ids)


def test_encode_into_a_file(nasty, tmp_path):
    out = tmp_path / "ids.txt"
    out.write_text("old")
    ok("encode", "-e", "gpt2", nasty, "-o", out)
    assert numbers(out.read_text()) == GPT2.encode_ordinary(NASTY)
    assert ok("encode", "-e", "gpt2", nasty, "-o", "-") == out.read_text()
    # Onto itself, under whatever name: the text would be lost.
    link = tmp_path / "link.txt"
    link.symlink_to(nasty)
    for target in (nasty, link):
        done = cli("encode", "-e", "gpt2", nasty, "-o", target)
        assert (done.code, done.out) == (1, b"")
        assert "would be lost; name another" in done.error
    assert nasty.read_bytes() == NASTY.encode()


def test_an_error_on_the_way_leaves_the_old_file(nasty, tmp_path):
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"a" * 200_000 + b"\xff")
    out = tmp_path / "ids.txt"
    out.write_text("old")
    done = cli("encode", "-e", "gpt2", nasty, bad, "-o", out)
    assert done.code == 1
    assert out.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.txt", "ids.txt", "nasty.txt"]
    done = cli("encode", "-e", "gpt2", nasty, "-o", tmp_path / "no" / "ids.txt")
    assert done.code == 1
    assert "does not exist" in done.error


@pytest.mark.skipif(os.name != "posix", reason="devices of POSIX")
def test_a_device_stays_a_device(nasty):
    ok("encode", "-e", "gpt2", nasty, "-o", "/dev/null")
    assert not Path("/dev/null").is_file()


# ── decode ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "ids",
    ["31373 995", "31373\n995\n", "[31373, 995]", "[31373]\n[995]", "31373,995", "\t31373\r\n995"],
)
def test_decode_takes_words_and_json(ids, tmp_path):
    assert ok("decode", "-e", "gpt2", stdin=ids.encode()) == "hello world"
    path = tmp_path / "ids.txt"
    path.write_text(ids)
    assert ok("decode", "-e", "gpt2", path) == "hello world"
    assert ok("decode", "-e", "gpt2", path, path) == "hello worldhello world"


@pytest.mark.parametrize("ids", ["", "\n", "[]", "[] []"])
def test_decode_nothing(ids):
    assert ok("decode", "-e", "gpt2", stdin=ids.encode()) == ""


def test_decode_gives_the_exact_bytes(tmp_path):
    out = tmp_path / "out.bin"
    ids = " ".join(str(GPT2.token_id(bytes([byte]))) for byte in range(256))
    assert cli("decode", "-e", "gpt2", stdin=ids.encode()).out == bytes(range(256))
    ok("decode", "-e", "gpt2", "-o", out, stdin=ids.encode())
    assert out.read_bytes() == bytes(range(256))
    assert spawn("decode", "-e", "gpt2", stdin=ids.encode()).out == bytes(range(256))


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_round_trip_of_the_sample(options, trained):
    done = cli("encode", "-t", trained, SAMPLE, *options)
    assert cli("decode", "-t", trained, stdin=done.out).out == SAMPLE.read_bytes()


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ("1 x2 3", "'x2' at position 1 is not an id"),
        ("1 2 -3", "'-3' at position 2 is not an id"),
        ("1_0", "'1_0' at position 0 is not an id"),
        ("1.5", "'1.5' at position 0 is not an id"),
        ("1 +2", "'+2' at position 1 is not an id"),
        ("1 ٣", "'٣' at position 1 is not an id"),
        ("1 50257", "unknown id 50257 at position 1: the vocab size is 50257"),
        ("1 2 99999999999", "unknown id 99999999999 at position 2"),
        ("1 " * 70_000 + "50257", "unknown id 50257 at position 70000"),
        ("1 " * 70_000 + "x", "'x' at position 70000 is not an id"),
        ("1 " + "9" * 65 + " 1", "at position 1 is not an id"),
        ("1 " + "9" * 200_000, "at position 1 is not an id"),
        ("[1, 2", "the JSON array is not complete; the file may be cut short"),
        ("[1, 2]]", "there is a ] without a [; the start of the file may be missing"),
    ],
    ids=lambda value: value[:12],
)
def test_what_is_not_an_id(ids, message, tmp_path):
    path = tmp_path / "ids.txt"
    path.write_bytes(ids.encode())
    done = cli("decode", "-e", "gpt2", path, "-o", tmp_path / "out.txt")
    assert done.code == 1
    assert done.error.startswith(f"error: {path}: ")
    assert message in done.error
    assert done.error.count("\n") == 1
    assert len(done.error) < 400
    assert not (tmp_path / "out.txt").exists()


@pytest.mark.parametrize("text", ["hello world", "hello", "how are you?", "one.two three"])
def test_a_text_in_place_of_a_file(text):
    for command in ("encode", "decode", "count"):
        done = cli(command, "-e", "gpt2", text)
        assert done.code == 1
        assert done.error.startswith(f"error: {text}: no ")
        assert "; text and ids come from a file, or from standard input: echo" in done.error
    assert len(cli("encode", "-e", "gpt2", "hello world " * 1000).error) < 400


def test_a_wrong_choice_is_said_once():
    done = cli("encode", "-e", "gpt2", "--format", "u8", "x")
    line = done.error.splitlines()[0]
    assert (done.code, line.count("u8")) == (2, 1)
    assert line.endswith("'u8' is not one of 'u16', 'u32'")


def test_raw_ids_cut_short():
    done = cli("decode", "-e", "gpt2", "--format", "u32", stdin=b"\x01\x00\x00\x00\x02")
    assert done.code == 1
    assert "standard input: 5 bytes are no whole number of u32 integers" in done.error


# ── count ─────────────────────────────────────────────────────────────────────────────────────────


def test_count_like_wc(nasty):
    small, large = (
        len(O200K.encode_ordinary(NASTY)),
        O200K.count(SAMPLE.read_bytes().decode(), allowed_special=()),
    )
    width = len(str(small + large))
    wanted = [
        f"{small:>{width}}  {nasty}",
        f"{large:>{width}}  {SAMPLE}",
        f"{small + large:>{width}}  total",
    ]
    assert ok("count", "-e", "o200k_base", nasty, SAMPLE).splitlines() == wanted
    # The default, as the help says.
    assert ok("count", nasty, SAMPLE).splitlines() == wanted
    assert "default encoding is o200k_base" in " ".join(ok("count", "--help").split())
    assert ok("count", nasty) == f"{small}  {nasty}\n"
    assert ok("count", stdin=NASTY.encode()) == f"{small}\n"


def test_count_json(nasty, trained):
    facts = json.loads(ok("count", "-e", "gpt2", "-t", trained, nasty, "-", "--json", stdin=b"hi"))
    mine = bytepair.Tokenizer.load(trained)
    first = {
        "gpt2": len(GPT2.encode_ordinary(NASTY)),
        str(trained): len(mine.encode_ordinary(NASTY)),
    }
    second = {"gpt2": 1, str(trained): mine.count("hi")}
    assert facts["files"] == [
        {"path": str(nasty), "bytes": len(NASTY.encode()), "tokens": first},
        {"path": "-", "bytes": 2, "tokens": second},
    ]
    total = {name: first[name] + second[name] for name in first}
    assert facts["total"] == {"bytes": len(NASTY.encode()) + 2, "tokens": total}


def test_count_in_columns(nasty):
    text = ok("count", "-e", "gpt2", "-e", "gpt2", "-m", "gpt-4", nasty)
    header, row = text.splitlines()
    assert header.split("  ") == ["gpt2", "gpt2 (2)", "cl100k_base"]
    cl100k = bytepair.get_encoding("cl100k_base")
    ours = [GPT2.count(NASTY, allowed_special=())] * 2 + [cl100k.count(NASTY, allowed_special=())]
    assert row.split()[:3] == [str(number) for number in ours]
    assert row.endswith(f"  {nasty}")


def test_count_of_a_directory(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.md").write_text("hello world")
    (tmp_path / "a.txt").write_text("hello")
    (tmp_path / "c.bin").write_bytes(b"\xff")
    lines = ok("count", "-e", "gpt2", tmp_path).splitlines()
    assert lines == [
        f"1  {tmp_path / 'a.txt'}",
        f"2  {tmp_path / 'deep' / 'b.md'}",
        "3  total",
    ]


def check_partial(done: Done, path: object) -> None:
    assert done.code == 1
    assert done.text.splitlines() == [f"1  {path}", "1  total"]


def test_count_goes_on_after_an_error(tmp_path):
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_text("hello")
    bad.write_bytes(b"\xff")
    done = cli("count", "-e", "gpt2", tmp_path / "missing.txt", good)
    assert done.error == f"error: {tmp_path / 'missing.txt'}: no such file\n"
    check_partial(done, good)
    done = cli("count", "-e", "gpt2", bad, good)
    assert done.error.startswith(f"error: {bad}: byte 0 is not valid UTF-8")
    check_partial(done, good)
    done = cli("count", "-e", "gpt2", bad)
    assert (done.code, done.out) == (1, b"")


def test_files_above_the_streaming_limit_count_the_same(tmp_path):
    text = SAMPLE.read_bytes().decode() * 120
    path = tmp_path / "large.txt"
    path.write_bytes(text.encode())
    assert path.stat().st_size > 1 << 23
    assert int(ok("count", "-e", "gpt2", path).split()[0]) == GPT2.count(text, allowed_special=())


@pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")
@pytest.mark.parametrize(
    ("ids", "piped"), [(b"31373 995", b"hello world"), (b"31373 198", b"hello\n"), (b"", b"")]
)
def test_a_terminal_gets_a_line_end_after_text_that_has_none(ids, piped):
    pty = pytest.importorskip("pty")
    assert spawn("decode", "-e", "gpt2", stdin=ids).out == piped
    ours, theirs = pty.openpty()
    words = [*COMMAND, "decode", "-e", "gpt2"]
    subprocess.run(words, input=ids, stdout=theirs, check=True, timeout=300)
    os.write(theirs, b"$")
    shown = piped if not piped or piped.endswith(b"\n") else piped + b"\n"
    found = b""
    while not found.endswith(b"$"):
        found += os.read(ours, 4096)
    assert found == shown.replace(b"\n", b"\r\n") + b"$"
    os.close(theirs)
    os.close(ours)


@pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")
@pytest.mark.parametrize("ended", [False, True])
def test_an_error_on_a_terminal_begins_on_a_line_of_its_own(ended, tmp_path):
    pty = pytest.importorskip("pty")
    for name, ids in (("a.txt", "31373 198" if ended else "31373"), ("b.txt", "99999999")):
        (tmp_path / name).write_text(ids)
    ours, theirs = pty.openpty()
    words = [*COMMAND, "decode", "-e", "gpt2", "a.txt", "b.txt"]
    done = subprocess.run(words, stdout=theirs, stderr=theirs, cwd=tmp_path, timeout=300)
    os.write(theirs, b"$")
    found = b""
    while not found.endswith(b"$"):
        found += os.read(ours, 4096)
    assert done.returncode == 1
    assert found.startswith(b"hello\r\nerror: b.txt: unknown id 99999999 at position 0")
    os.close(theirs)
    os.close(ours)
