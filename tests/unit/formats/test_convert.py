"""`bytepair convert` with every format: what is written gives the same ids."""

from __future__ import annotations

import pytest

import bytepair
from bytepair import Tokenizer, formats
from cli_support import SAMPLE, cli, ok


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """A tokenizer that each format can hold: its file."""
    folder = tmp_path_factory.mktemp("sources")
    for place, pattern in (("last", "gpt2"), ("first", "tekken")):
        bytepair.train(SAMPLE, 600, special_ids=place, pattern=pattern).save(
            folder / f"{place}.json"
        )
    return folder


@pytest.mark.parametrize("format", [name for name in formats.names() if name != "sentencepiece"])
def test_there_and_back(format, sources, tmp_path):
    source = sources / ("first.json" if format == "tekken" else "last.json")
    there = tmp_path / ("folder" if format in ("gpt2", "huggingface") else "file.json")
    out = ok("convert", source, there, "--to", format)
    assert out.endswith(f"({format}); read back, it gives the same ids\n")
    options = []
    if formats.options(format):
        options = ["--pattern", "gpt2", "--special", "<|endoftext|>=599"]
    ok("convert", there, tmp_path / "back.json", "--to", "native", *options)
    before, after = Tokenizer.load(source), Tokenizer.load(tmp_path / "back.json")
    text = "It's 12 o'clock<|endoftext|>\n\n  日本"
    assert after.encode(text) == before.encode(text)
    assert after.special_tokens == before.special_tokens


def test_what_the_file_does_not_say_is_asked_for(sources, tmp_path):
    ranks, out = tmp_path / "x.tiktoken", tmp_path / "x.json"
    ok("convert", sources / "last.json", ranks, "--to", "tiktoken")
    done = cli("convert", ranks, out, "--to", "native")
    assert done.code == 1
    assert "a rank file does not hold pattern and special_tokens" in done.error
    ok("convert", ranks, out, "--to", "native", "--pattern", "none", "--no-special")
    read = Tokenizer.load(out)
    assert (read.pattern, read.special_tokens) == (None, {})
    ok("convert", ranks, out, "--to", "native", "--pattern", "gpt2", "--special", "<|x|>")
    assert Tokenizer.load(out).special_tokens == {"<|x|>": 599}


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--special", "a", "--no-special"], 2, "exclude each other"),
        (["--special", "a=1", "--special", "b"], 2, "give all or none"),
        (["--pattern", "gpt2"], 1, "pattern is given, but the format 'native' says it"),
    ],
)
def test_options_that_make_no_sense(options, code, message, sources, tmp_path):
    done = cli("convert", sources / "last.json", tmp_path / "x", "--to", "native", *options)
    assert (done.code, message in done.error) == (code, True), done.error


def test_options_for_a_bundled_encoding_are_refused(tmp_path):
    done = cli("convert", "-e", "gpt2", tmp_path / "x", "--to", "native", "--pattern", "gpt2")
    assert (done.code, "for a file that does not hold them" in done.error) == (2, True)
