"""`bytepair inspect`, `convert` and `bench`."""

from __future__ import annotations

import builtins
import json

import pytest

import bytepair
from bytepair import Tokenizer, formats
from bytepair.cli import bench, probe
from bytepair.errors import FormatError
from bytepair.formats.native import unescape
from cli_support import SAMPLE, cli, ok


@pytest.fixture(scope="module")
def tokenizer():
    return bytepair.train(SAMPLE, 1000, special_tokens=["<|endoftext|>", "<|user|>"])


@pytest.fixture
def path(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "my.json")
    return tmp_path / "my.json"


# ── inspect ───────────────────────────────────────────────────────────────────────────────────────


def test_inspect_a_file(path, tokenizer):
    text = ok("inspect", path)
    assert f"{path} (native)" in text
    assert f"fingerprint   {tokenizer.fingerprint}" in text
    for line in (
        "vocab size    1,000",
        "merges        742",
        "special       2",
        "pattern       gpt2",
    ):
        assert f"  {line}\n" in text
    assert "257  '<|user|>'" in text
    left, right = tokenizer.merges[0]
    assert f"first merges\n  0  {left.decode()!r} + {right.decode()!r}\n" in text
    assert ok("inspect", "-t", path) == text


def test_inspect_added_tokens_and_normalizer(tmp_path):
    vocab = {id: bytes([id]) for id in range(256)}
    tokenizer = Tokenizer(vocab, [], added_tokens={"<think>": 256}, normalizer="NFC")
    tokenizer.save(tmp_path / "x.json")
    text = ok("inspect", tmp_path / "x.json")
    assert "  added         1\n  normalizer    NFC\n" in text
    facts = json.loads(ok("inspect", tmp_path / "x.json", "--json"))
    assert (facts["added_tokens"], facts["normalizer"]) == ({"<think>": 256}, "NFC")


def test_inspect_json(path, tokenizer):
    facts = json.loads(ok("inspect", path, "--json", "--top", 3))
    assert (facts["vocab_size"], facts["tokens"], facts["bytes"]) == (1000, 1000, 256)
    assert (facts["merges"], facts["merge_rule"], facts["format"]) == (742, "pairs", "native")
    assert facts["special_tokens"] == {"<|endoftext|>": 256, "<|user|>": 257}
    assert facts["regex"] == bytepair.patterns.regex("gpt2")
    assert facts["fingerprint"] == tokenizer.fingerprint
    assert [(unescape(a), unescape(b)) for a, b in facts["first_merges"]] == tokenizer.merges[:3]
    plain = [tokenizer.token_bytes(id) for id in range(258, 1000)]
    longest = [unescape(entry["token"]) for entry in facts["longest_tokens"]]
    assert longest == sorted(plain, key=lambda token: -len(token))[:3]
    for entry in facts["longest_tokens"]:
        assert tokenizer.token_bytes(entry["id"]) == unescape(entry["token"])


@pytest.mark.parametrize("name", bytepair.list_encodings())
def test_inspect_an_encoding(name):
    facts = json.loads(ok("inspect", "-e", name, "--json", "--top", 0))
    encoding = bytepair.get_encoding(name)
    assert facts["name"] == name
    assert facts["vocab_size"] == encoding.vocab_size
    assert facts["special_tokens"] == encoding.special_tokens
    assert (facts["longest_tokens"], facts["first_merges"]) == ([], [])
    assert name in ok("inspect", "-e", name)


def test_inspect_many_special_tokens_and_gaps():
    text = ok("inspect", "-m", "gpt-oss-120b")
    assert "and 1,081 more (--json lists all)" in text
    assert "ids unused)" in ok("inspect", "-e", "o200k_base")


def test_inspect_other_patterns(tmp_path):
    for number, (pattern, shown) in enumerate(
        [(None, "none"), (r"\d|\D+", r"\d|\D+"), ([r"\d", r"\s+"], r"\d then \s+")]
    ):
        path = tmp_path / f"{number}.json"
        bytepair.train(["low low 12"], 258, pattern=pattern).save(path)
        assert f"  pattern       {shown}\n" in ok("inspect", path)


@pytest.mark.parametrize("content", [b"", b"{}", b'{"format": "bytepair"', b"\xff\xfe"])
def test_inspect_what_is_no_tokenizer(content, tmp_path):
    path = tmp_path / "no.json"
    path.write_bytes(content)
    done = cli("inspect", path)
    assert (done.code, done.out) == (1, b"")
    assert done.error.startswith(f"error: {path}")
    assert done.error.count("\n") == 1
    done = cli("inspect", tmp_path / "missing.json")
    assert (done.code, done.error) == (
        1,
        f"error: {tmp_path / 'missing.json'}: no such file or directory\n",
    )


# ── convert ───────────────────────────────────────────────────────────────────────────────────────


def test_convert_there_and_back(path, tokenizer, tmp_path):
    there, back = tmp_path / "gpt2", tmp_path / "back.json"
    assert "read back, it gives the same ids" in ok("convert", path, there, "--to", "gpt2")
    assert sorted(file.name for file in there.iterdir()) == ["encoder.json", "vocab.bpe"]
    assert ok("convert", there, back, "--to", "native", "--from", "gpt2", "--quiet") == ""
    assert Tokenizer.load(back) == tokenizer
    assert back.read_bytes() == path.read_bytes()
    assert len(list(tmp_path.iterdir())) == 3


def test_convert_an_encoding(tmp_path):
    out = tmp_path / "gpt2.json"
    facts = json.loads(ok("convert", "-e", "gpt2", out, "--to", "native", "--json"))
    assert facts == {
        "source": "gpt2",
        "output": str(out),
        "format": "native",
        "vocab_size": 50257,
        "same_ids": True,
    }
    assert Tokenizer.load(out) == bytepair.get_encoding("gpt2")


def test_convert_with_an_option_for_the_source(path, tmp_path):
    ok("convert", "-t", path, tmp_path / "a.json", "--to", "native")
    ok("convert", "-t", path, tmp_path / "b.json", "--to", "native", "--from", "native")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_convert_refuses_what_the_format_cannot_hold(tmp_path):
    out = tmp_path / "out"
    done = cli("convert", "-e", "o200k_base", out, "--to", "gpt2")
    assert done.code == 1
    assert "GPT-2's files imply GPT-2's pattern, not 'o200k'" in done.error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"pattern": "cl100k"}, "gives other ids"),
        ({"special_tokens": {}}, "special tokens {} instead of"),
        ({"special_tokens": {"<|endoftext|>": 256, "<|user|>": 999}}, "special tokens"),
    ],
)
def test_convert_finds_what_a_format_loses(change, what, path, tokenizer, tmp_path, monkeypatch):
    parts = {"special_tokens": tokenizer.special_tokens, "pattern": "gpt2", **change}
    vocab = {id: token for id, token in tokenizer.vocab.items() if id not in (256, 257)}
    if what == "special tokens":
        del vocab[999]
    merges = tokenizer.merges[: len(vocab) - 256]
    broken = Tokenizer(vocab, merges, **parts)
    out = tmp_path / "out.json"
    out.write_text("old")
    save = formats.save
    monkeypatch.setattr(formats, "save", lambda _, path, format: save(broken, path, format=format))
    done = cli("convert", path, out, "--to", "native")
    assert (done.code, done.out) == (1, b"")
    assert done.error.startswith("error: native does not keep this tokenizer: ")
    assert what in done.error
    assert done.error.endswith("; nothing was written\n")
    assert out.read_text() == "old"


def test_the_probe_tells_tokenizers_apart(tokenizer):
    assert probe.difference(tokenizer, tokenizer) is None
    plain = Tokenizer({0: b"a", 1: b"b", 2: b"ab"}, [(b"a", b"b")])
    other = Tokenizer({0: b"a", 1: b"b", 3: b"ab"}, [(b"a", b"b")])
    assert probe.difference(plain, other) == "id 2 is missing instead of 'ab'"
    gpt2 = bytepair.get_encoding("gpt2")
    for pattern in bytepair.patterns.names():
        ranks = {token: id for id, token in gpt2.vocab.items() if id != 50256}
        changed = Tokenizer.from_ranks(ranks, pattern=pattern, special_tokens=gpt2.special_tokens)
        same = bytepair.patterns.regex(pattern) == bytepair.patterns.regex("gpt2")
        assert (probe.difference(gpt2, changed) is None) is same, pattern


def test_convert_errors(path, tmp_path):
    assert cli("convert", tmp_path / "no.json", tmp_path / "x", "--to", "native").code == 1
    done = cli("convert", path, tmp_path / "no" / "x.json", "--to", "native")
    assert done.code == 1
    assert "does not exist" in done.error
    done = cli("convert", path, tmp_path / "x.json", "--to", "native", "--from", "gpt2")
    assert done.code == 1
    with pytest.raises(FormatError):
        Tokenizer.load(path, format="gpt2")


# ── bench ─────────────────────────────────────────────────────────────────────────────────────────


def test_bench_on_the_sample():
    text = ok("bench", "--seconds", 0)
    tokens = bytepair.get_encoding("o200k_base").count(
        SAMPLE.read_bytes().decode(), allowed_special=()
    )
    size = SAMPLE.stat().st_size
    first, *rows = text.splitlines()
    assert first.startswith(f"the sample corpus: {size:,} bytes, {tokens:,} tokens of o200k_base")
    assert [row.split()[0] for row in rows] == ["encode", "encode_numpy", "count", "decode"]
    assert all(row.endswith("M tokens/s") and "MB/s" in row for row in rows)


def test_bench_json_of_a_file(path, tmp_path):
    corpus = tmp_path / "text.txt"
    corpus.write_text("low lower lowest " * 50)
    facts = json.loads(ok("bench", corpus, "-t", path, "--seconds", 0, "--json"))
    assert (facts["source"], facts["bytes"], facts["tokenizer"]) == (str(corpus), 850, str(path))
    assert facts["tokens"] == Tokenizer.load(path).count(corpus.read_text())
    for result in facts["results"]:
        assert result["seconds"] > 0
        assert result["mb_per_second"] == pytest.approx(850 / result["seconds"] / 1e6)
    assert facts["skipped"] == {}
    text = corpus.read_bytes()
    facts = json.loads(ok("bench", "-", "-t", path, "--seconds", 0, "--json", stdin=text))
    assert (facts["source"], facts["bytes"]) == ("standard input", 850)


def test_bench_uses_the_beginning_of_a_large_file(path, tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "_LONGEST", 200_000)
    corpus = tmp_path / "text.txt"
    corpus.write_bytes("low €".encode() * 100_000)
    facts = json.loads(ok("bench", corpus, "-t", path, "--seconds", 0, "--json"))
    assert 200_000 - 2 <= facts["bytes"] < 200_000 + (1 << 16)


def test_bench_compares(path):
    pytest.importorskip("tiktoken")
    pytest.importorskip("tokenizers")
    for choice in (["-e", "gpt2"], ["-e", "cl100k_base"], ["-t", path]):
        facts = json.loads(ok("bench", *choice, "--seconds", 0, "--compare", "--json"))
        names = [result["name"] for result in facts["results"]]
        assert names[4:] == ["tiktoken encode", "tokenizers encode"]
        assert facts["skipped"] == {}


def test_bench_says_what_it_leaves_out(tmp_path, monkeypatch):
    pytest.importorskip("tiktoken")
    pytest.importorskip("tokenizers")
    path = tmp_path / "two.json"
    bytepair.train(["low 12"], 258, pattern=[r"\d", r"\s+"]).save(path)
    text = ok("bench", "-t", path, "--seconds", 0, "--compare")
    assert "tiktoken is left out: needs one regular expression" in text
    Tokenizer({0: b"a", 1: b"b"}, []).save(path)
    corpus = tmp_path / "ab.txt"
    corpus.write_text("abba")
    text = ok("bench", corpus, "-t", path, "--seconds", 0, "--compare")
    assert "tokenizers is left out: needs all 256 bytes" in text

    real = builtins.__import__

    def without(name, *arguments, **options):
        if name.split(".")[0] in ("numpy", "tiktoken", "tokenizers"):
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    text = ok("bench", "-e", "gpt2", "--seconds", 0, "--compare")
    assert "encode_numpy is left out: NumPy is not installed" in text
    assert "tiktoken is left out: not installed" in text
    assert "tokenizers is left out: not installed" in text


def test_bench_finds_a_rival_with_other_ids(monkeypatch):
    from bytepair.cli import rivals

    monkeypatch.setitem(rivals.RIVALS, "tiktoken", lambda _: lambda text: [len(text)])
    text = ok("bench", "-e", "gpt2", "--seconds", 0, "--compare")
    assert "tiktoken is left out: gives other ids for this tokenizer" in text


def test_bench_errors(tmp_path):
    (tmp_path / "a.txt").touch()
    (tmp_path / "b.txt").write_text("b")
    done = cli("bench", tmp_path / "a.txt")
    assert (done.code, done.error) == (
        1,
        f"error: {tmp_path / 'a.txt'}: is empty; there is nothing to measure\n",
    )
    done = cli("bench", tmp_path / "*.txt")
    assert done.code == 1
    assert "matches 2 files; bench measures one" in done.error


# ── Dashes, and places that cannot be ─────────────────────────────────────────────────────────────


def test_convert_to_standard_output(path, tokenizer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = cli("convert", path, "-", "--to", "native")
    assert done.code == 0
    assert done.out == path.read_bytes()
    assert done.error == f"{path} → - (native); read back, it gives the same ids\n"
    (tmp_path / "my.tiktoken").write_bytes(cli("convert", path, "-", "--to", "tiktoken").out)
    special = tokenizer.special_tokens
    loaded = Tokenizer.load(tmp_path / "my.tiktoken", pattern="gpt2", special_tokens=special)
    assert loaded.encode("low <|user|>") == tokenizer.encode("low <|user|>")
    for words, said in (
        (["--to", "huggingface"], "-: the format huggingface has several files; name a place"),
        (["--to", "gpt2"], "-: the format gpt2 has several files; name a place"),
        (["--to", "native", "--json"], "--json and OUT - both want standard output"),
    ):
        done = cli("convert", path, "-", *words)
        assert (done.code, done.out) == (2, b"")
        assert said in done.error
    assert not (tmp_path / "-").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["encode", "-t", "-", SAMPLE],
        ["inspect", "-"],
        ["count", "-t", "-", SAMPLE],
        ["convert", "-", "out.json", "--to", "native"],
        ["convert", "-t", "-", "out.json", "--to", "native"],
        ["train", SAMPLE, "--base", "-", "-n", "300", "-o", "out.json"],
    ],
)
def test_a_tokenizer_is_not_read_from_standard_input(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = cli(*words, stdin=b"{}")
    assert (done.code, done.out) == (2, b"")
    assert "a tokenizer is not read from standard input; save it to a file" in done.error


@pytest.mark.parametrize(
    "words",
    [
        ["encode", "-e", "gpt2", "{in}", "-o", "{out}"],
        ["encode", "-t", "{in}", SAMPLE, "-o", "{out}"],
        ["decode", "-e", "gpt2", "{in}", "-o", "{out}"],
        ["train", "{in}", "-n", "300", "-o", "{out}"],
        ["train", SAMPLE, "--base", "{in}", "-n", "1100", "-o", "{out}"],
        ["convert", "{in}", "{out}", "--to", "native"],
        ["convert", "-t", "{in}", "{out}", "--to", "native"],
        ["pieces", "{in}", "-o", "{out}"],
    ],
)
@pytest.mark.parametrize("linked", [False, True])
def test_an_input_is_not_written_over(words, linked, path, tmp_path):
    source, target = tmp_path / "in.parquet", tmp_path / "in.parquet"
    if words[0] == "pieces":
        bytepair.count_pieces(SAMPLE).save(source)
    else:
        path.rename(source)
    before = source.read_bytes()
    if linked:
        target = tmp_path / "out.parquet"
        target.symlink_to(source)
    named = [str(word).replace("{in}", str(source)).replace("{out}", str(target)) for word in words]
    done = cli(*named)
    assert (done.code, done.out) == (1, b"")
    assert done.error == (
        f"error: {target}: is the input {source} too, which would be lost; name another\n"
    )
    assert source.read_bytes() == before


@pytest.mark.parametrize(
    ("special", "said"),
    [
        ("<|endoftext|>=abc", "--special <|endoftext|>=abc: 'abc' is no id; give a whole number"),
        ("<|endoftext|>=-1", "'-1' is no id"),
        ("<|endoftext|>=99999999999", "'99999999999' is no id"),
        ("<|endoftext|>=", "'' is no id"),
        ("<|endoftext|>=5", 'special token "<|endoftext|>" has id 5, which is b"\\x05"'),
    ],
)
def test_convert_with_a_wrong_id(special, said, path, tmp_path):
    ok("convert", path, tmp_path / "my.tiktoken", "--to", "tiktoken")
    words = ["--to", "native", "--pattern", "gpt2", "--special", special]
    done = cli("convert", tmp_path / "my.tiktoken", tmp_path / "out.json", *words)
    assert done.code in (1, 2)
    assert said in done.error
    assert not (tmp_path / "out.json").exists()


def test_convert_says_which_id_a_special_token_got(path, tmp_path):
    ok("convert", path, tmp_path / "my.tiktoken", "--to", "tiktoken")
    words = [tmp_path / "my.tiktoken", tmp_path / "out.json", "--to", "native", "--pattern", "gpt2"]
    text = ok("convert", *words, "--special", "<|a|>", "--special", "<a=b>")
    loaded = Tokenizer.load(tmp_path / "out.json")
    for name in ("<|a|>", "<a=b>"):
        assert f"special token {name!r} has id {loaded.special_tokens[name]};" in text
    done = cli("convert", tmp_path / "my.tiktoken", tmp_path / "out.json", "--to", "native")
    assert "give --pattern (a name" in done.error
    assert "and --special TOKEN=ID (or --no-special)" in done.error


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.json", "", "is empty, so not a tokenizer of a known format"),
        ("blank.json", " \n", "is blank, so not a tokenizer"),
        ("cut.json", '{"a": [1,\n', "its JSON ends too early, in line 2, column 1"),
        ("wrong.json", '{"a": 1,\n "b" 2}', "line 2, column 6: not JSON"),
        ("other.json", '{"a": 1}', "other.json: not a tokenizer of a known format"),
    ],
)
def test_what_is_no_tokenizer(name, content, said, tmp_path):
    (tmp_path / name).write_text(content)
    done = cli("inspect", tmp_path / name)
    assert (done.code, done.out) == (1, b"")
    assert said in done.error
    with pytest.raises(FormatError):
        Tokenizer.load(tmp_path / name)


def test_a_folder_or_an_encoding_given_as_a_tokenizer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder" / "empty").mkdir(parents=True)
    for name in ("d", "c", "b", "a"):
        (tmp_path / "folder" / name).write_text("x")
    for words, said in (
        (["inspect", "folder"], "folder: is a folder with a, b, c and 1 more: name one of them"),
        (["inspect", "folder/empty"], "is a folder without files"),
        (["inspect", "gpt2"], "gpt2: there is no file of this name; -e gpt2 is the bundled"),
        (["train", SAMPLE, "--base", "gpt2", "-n", 300, "-o", "x"], "`bytepair convert -e gpt2 "),
        (["encode", "-e", "gpt2", SAMPLE, "-o", "."], "error: .: is a directory; name a file"),
        (["train", SAMPLE, "-n", 300, "-o", "."], "error: .: is a directory; name a file"),
    ):
        done = cli(*words)
        assert (done.code, done.out) in ((1, b""), (2, b""))
        assert said in done.error
