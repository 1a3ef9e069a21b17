"""`bytepair train`: every option reaches the library; nothing is lost when something is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import bytepair
from bytepair import Tokenizer
from bytepair.cli.train import SpecialIds, TieBreak
from cli_support import COMMAND, SAMPLE, cli, ok, spawn

TEXT = "low low low lower lower newest newest <|user|> 123 你好 你好\n" * 3


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_bytes(TEXT.encode())
    return path


def test_trains_what_the_library_trains(tmp_path):
    out = tmp_path / "my.json"
    text = ok("train", SAMPLE, "--vocab-size", 1000, "-o", out)
    assert Tokenizer.load(out) == bytepair.train(SAMPLE, 1000)
    assert "1,000 (256 bytes, 1 special, 743 merges)" in text
    assert "75.2 kB in 1 file," in text
    assert "bytes/token" in text
    assert "longest" in text
    assert "MB/s" in text
    assert str(out) in text


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["--special", "<|user|>"], {"special_tokens": ["<|user|>"]}),
        (["--special", "<|user|>", "--special", "low"], {"special_tokens": ["<|user|>", "low"]}),
        (["--special", r"\n"], {"special_tokens": [r"\n"]}),
        (["--special=-x"], {"special_tokens": ["-x"]}),
        (["--special", "-x"], {"special_tokens": ["-x"]}),
        (["--special", " * [b]"], {"special_tokens": [" * [b]"]}),
        (["--no-special"], {"special_tokens": []}),
        (["--pattern", "o200k"], {"pattern": "o200k"}),
        (["--pattern", r"\d|\D+"], {"pattern": r"\d|\D+"}),
        (["--pattern", "none"], {"pattern": None}),
        (["--tie-break", "lowest_ids"], {"tie_break": "lowest_ids"}),
        (["--tie-break", "huggingface"], {"tie_break": "huggingface"}),
        (["--tie-break", "first_seen"], {"tie_break": "first_seen"}),
        (["--special-ids", "first"], {"special_ids": "first"}),
        (["--special-ids", "last"], {"special_ids": "last"}),
        (["--max-token-bytes", "3"], {"max_token_bytes": 3}),
        (["--threads", "2"], {"threads": 2}),
    ],
)
def test_options_reach_the_library(arguments, options, corpus, tmp_path):
    out = tmp_path / "my.json"
    assert ok("train", corpus, "-n", 264, "-o", out, "-q", *arguments) == ""
    tokenizer = Tokenizer.load(out)
    assert tokenizer == bytepair.train(corpus, 264, **options)
    if options.keys() - {"threads"}:
        # Each option makes a difference on this corpus; one that got lost would show.
        assert tokenizer != bytepair.train(corpus, 264)


def test_min_count_ends_early(corpus, tmp_path):
    out = tmp_path / "my.json"
    done = cli("train", corpus, "-n", 264, "-o", out, "-q", "--min-count", 7)
    assert (done.code, done.out) == (0, b"")
    assert done.error.startswith("warning: no pair is left to merge")
    size = Tokenizer.load(out).vocab_size
    assert 257 < size < 264
    assert Tokenizer.load(out) == bytepair.train(corpus, size, min_count=7)


def test_choices_are_those_of_the_library(corpus):
    for choice in TieBreak:
        bytepair.train(corpus, 260, tie_break=choice.value)
    for choice in SpecialIds:
        bytepair.train(corpus, 260, special_ids=choice.value)


def test_several_files_a_glob_and_a_directory_are_the_same_corpus(tmp_path):
    folder = tmp_path / "texts"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.txt").write_text("low lower lowest")
    (folder / "deep" / "b.md").write_text("new newer newest")
    (folder / "deep" / "c.bin").write_bytes(b"\xff")
    wanted = bytepair.train([folder / "a.txt", folder / "deep" / "b.md"], 266)
    out = tmp_path / "my.json"
    for corpus in (
        [folder],
        [folder / "a.txt", folder / "deep" / "b.md"],
        [folder / "*.txt", folder / "**" / "*.md"],
    ):
        ok("train", *corpus, "-n", 266, "-o", out, "-q")
        assert Tokenizer.load(out) == wanted


def test_standard_input_is_a_file_like_others(corpus, tmp_path):
    wanted = bytepair.train(corpus, 264)
    out = tmp_path / "my.json"
    ok("train", "-", "-n", 264, "-o", out, "-q", stdin=corpus.read_bytes())
    assert Tokenizer.load(out) == wanted
    done = spawn("train", "-", "-n", 264, "-o", out, stdin=corpus.read_bytes())
    assert done.code == 0
    assert "in 1 file," in done.text
    assert Tokenizer.load(out) == wanted
    done = cli("train", "-", "-n", 264, "-o", out, stdin=b"abc\xff")
    assert done.code == 1
    assert done.error.startswith("error: standard input: byte 3 is not valid UTF-8")


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no /dev/fd here")
def test_a_pipe_by_name(corpus, tmp_path):
    out = tmp_path / "my.json"
    command = subprocess.list2cmdline(COMMAND)
    script = f"{command} train <(cat {corpus}) -n 264 -q -o {out}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, b"")
    assert Tokenizer.load(out) == bytepair.train(corpus, 264)


def test_the_tokenizer_on_standard_output(corpus, tmp_path):
    done = cli("train", corpus, "-n", 264, "-o", "-")
    assert done.code == 0
    (tmp_path / "my.json").write_bytes(done.out)
    assert Tokenizer.load(tmp_path / "my.json") == bytepair.train(corpus, 264)
    assert done.error.startswith("trained\n")
    done = cli("train", corpus, "-n", 264, "-o", "-", "--format", "gpt2")
    assert done.code == 2
    assert "is a directory of files" in done.error
    assert cli("train", corpus, "-n", 264, "-o", "-", "--json").code == 2


def test_json_summary(corpus, tmp_path):
    out = tmp_path / "my.json"
    facts = json.loads(ok("train", corpus, "-n", 264, "-o", out, "--json"))
    tokenizer = Tokenizer.load(out)
    assert facts["vocab_size"] == 264
    assert facts["merges"] == 7
    assert facts["special_tokens"] == {"<|endoftext|>": 256}
    assert facts["fingerprint"] == tokenizer.fingerprint
    assert facts["corpus_bytes"] == len(TEXT.encode())
    assert facts["pieces"] == len(bytepair.count_pieces(corpus))
    assert facts["bytes_per_token"] == len(TEXT.encode()) / tokenizer.count(TEXT)
    assert facts["seconds"].keys() == {"count", "learn"}
    assert (facts["output"], facts["format"], facts["warnings"]) == (str(out), "native", [])


def test_running_out_of_pairs_is_a_warning(corpus, tmp_path):
    out = tmp_path / "my.json"
    done = cli("train", corpus, "-n", 5000, "-o", out)
    assert done.code == 0
    size = Tokenizer.load(out).vocab_size
    assert done.error.startswith(f"warning: no pair is left to merge: the vocab has {size} tokens")
    done = cli("train", corpus, "-n", 5000, "-o", out, "--json")
    assert len(json.loads(done.text)["warnings"]) == 1


def test_an_empty_corpus(tmp_path):
    empty = tmp_path / "empty.txt"
    empty.touch()
    done = cli("train", empty, "-n", 300, "-o", tmp_path / "my.json")
    assert done.code == 0
    assert "warning: no pair is left to merge" in done.error
    assert Tokenizer.load(tmp_path / "my.json").vocab_size == 257


def test_the_gpt2_format(corpus, tmp_path):
    out = tmp_path / "files"
    assert "(gpt2)" in ok("train", corpus, "-n", 264, "-o", out, "--format", "gpt2")
    assert Tokenizer.load(out) == bytepair.train(corpus, 264)
    # Once more, into the same directory.
    ok("train", corpus, "-n", 262, "-o", out, "--format", "gpt2")
    assert Tokenizer.load(out) == bytepair.train(corpus, 262)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus.txt", "files"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-n", "256"], 2, "--vocab-size is 256; the least is 257"),
        (["--special", ""], 2, "a special token is empty"),
        (["--special", "a", "--special", "a"], 2, "the special token 'a' is given twice"),
        (["--special", "a", "--no-special"], 2, "exclude each other"),
        (["--pattern", "gtp2"], 2, "unknown pattern 'gtp2'"),
        (["--pattern", "("], 2, "("),
        (["--format", "xml"], 2, "--format: unknown format 'xml'; the formats are native"),
        (["--format", "gpt2", "--pattern", "o200k"], 1, "'o200k'"),
        (["-o", "{tmp}/no/where/my.json"], 1, "where' does not exist"),
        (["-o", "{tmp}"], 1, "is a directory; name a file in it"),
        (["-o", "{tmp}/corpus.txt", "--format", "gpt2"], 2, "corpus.txt: the format 'gpt2' would"),
    ],
)
def test_what_is_wrong_is_said_before_the_corpus_is_read(
    arguments, code, message, corpus, tmp_path, monkeypatch
):
    read = []
    count = bytepair.count_pieces

    def count_pieces(corpus, **options):
        read.extend(text for text in corpus if text)
        return count(corpus, **options)

    monkeypatch.setattr(bytepair, "count_pieces", count_pieces)
    before = corpus.read_bytes()
    words = [argument.replace("{tmp}", str(tmp_path)) for argument in arguments]
    done = cli("train", corpus, "-n", 264, "-o", tmp_path / "my.json", *words)
    assert done.code == code
    assert message in done.error
    assert done.error.startswith("error: ")
    assert read == []
    assert corpus.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.txt"]


def test_a_file_is_no_directory(corpus, tmp_path):
    (tmp_path / "plain").touch()
    done = cli("train", corpus, "-n", 264, "-o", tmp_path / "plain", "--format", "gpt2")
    assert (done.code, "is a file; this format is a directory" in done.error) == (1, True)


@pytest.mark.parametrize("name", ["missing.txt", "*.nope", "data.jsonl"])
def test_a_corpus_that_is_not_there_or_not_text(name, tmp_path):
    (tmp_path / "data.jsonl").write_text("{}")
    done = cli("train", tmp_path / name, "-n", 264, "-o", tmp_path / "my.json")
    assert done.code == 1
    place = ", line 1" if name == "data.jsonl" else ""
    assert done.error.startswith(f"error: {tmp_path / name}{place}: ")
    assert not (tmp_path / "my.json").exists()


def test_a_directory_without_text(tmp_path):
    (tmp_path / "empty").mkdir()
    done = cli("train", tmp_path / "empty", "-n", 264, "-o", tmp_path / "my.json")
    assert (done.code, done.error) == (
        1,
        f"error: {tmp_path / 'empty'}: the directory has no text or table file\n",
    )


def test_a_corpus_that_is_not_utf8_leaves_the_old_file(corpus, tmp_path):
    out = tmp_path / "my.json"
    out.write_text("old")
    corpus.write_bytes(b"abc\xff")
    done = cli("train", corpus, "-n", 264, "-o", out)
    assert (done.code, done.error) == (
        1,
        f"error: {corpus}: byte 3 is not valid UTF-8; convert the file to UTF-8 first\n",
    )
    assert out.read_text() == "old"


@pytest.mark.skipif(os.name != "posix", reason="rights and links of POSIX")
def test_the_old_file_hands_on_its_rights_and_links(corpus, tmp_path):
    out, link = tmp_path / "my.json", tmp_path / "link.json"
    out.write_text("old")
    out.chmod(0o640)
    link.symlink_to(out)
    ok("train", corpus, "-n", 264, "-o", link, "-q")
    assert link.is_symlink()
    assert out.stat().st_mode & 0o777 == 0o640
    assert Tokenizer.load(out).vocab_size == 264
    done = cli("train", corpus, "-n", 264, "-o", os.devnull)
    assert done.code == 1
    assert "is neither a file nor a directory" in done.error


@pytest.mark.skipif(sys.platform != "linux", reason="names that are not UTF-8 are Linux's")
def test_a_name_that_is_not_utf8(corpus, tmp_path):
    out = os.fsencode(tmp_path) + b"/\xff.json"
    words = [*COMMAND, "train", str(corpus), "-n", "264", "-o", out]
    done = subprocess.run(words, capture_output=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, b"")
    assert Path(os.fsdecode(out)).exists()


HUGE = "99999999999999999999"


@pytest.mark.parametrize(
    "option", ["-n", "--min-count", "--max-token-bytes", "--threads", "--min-piece-count"]
)
def test_a_number_that_nothing_reaches(option, corpus, tmp_path):
    out = tmp_path / "my.json"
    done = cli("train", corpus, "-n", 260, "-o", out, "-q", option, HUGE)
    assert done.code == 0
    assert "error" not in done.error
    assert Tokenizer.load(out).vocab_size >= 257
    assert ok("pieces", corpus, "--min-piece-count", HUGE).startswith(
        "counted\n  pieces     0 diff"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--pattern", ""], "the --pattern is empty; give --pattern none"),
        (["--pattern", "gpt-2"], "unknown pattern 'gpt-2'"),
        (["--memory-limit", "5"], "--memory-limit is '5'; the least is"),
        (["--checkpoint", "{corpus}"], "--checkpoint is '{corpus}', which is no folder; name one"),
        (
            ["--text-field", "{lines}"],
            "there is no field 'body' (it has 'text'); name it with --te",
        ),
    ],
)
def test_messages_are_spelled_as_options(words, said, corpus, tmp_path):
    lines = tmp_path / "lines.jsonl"
    lines.write_text('{"text": "abab"}\n')
    source = lines if "{lines}" in words else corpus
    words = [word.format(corpus=corpus, lines="body") for word in words]
    done = cli("train", source, "-n", 260, "-o", tmp_path / "my.json", *words)
    assert (done.code, done.out) in ((1, b""), (2, b""))
    assert said.format(corpus=corpus) in done.error


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_place_that_is_full_is_named():
    done = cli("encode", "-e", "gpt2", SAMPLE, "-o", "/dev/full")
    assert (done.code, done.error) == (1, "error: /dev/full: no space left on device\n")
