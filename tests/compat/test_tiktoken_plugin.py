"""Tokenizers by name in tiktoken itself, in processes of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import bytepair
from bytepair import Tokenizer
from bytepair.compat import tiktoken as compat
from bytepair.compat import tiktoken_plugin as plugin
from bytepair.errors import ArgumentError, FormatError

pytest.importorskip("tiktoken")

TEXT = "Hello  world's 12345 日本語 <|endoftext|>\n\n x"


@pytest.fixture
def own(tmp_path, monkeypatch) -> Path:
    """A folder of registered tokenizers for this test."""
    monkeypatch.setenv("BYTEPAIR_TIKTOKEN_FOLDER", str(tmp_path / "own"))
    return tmp_path / "own"


@pytest.fixture(scope="module")
def trained() -> Tokenizer:
    return bytepair.train(bytepair.sample_corpus(), 800, pattern="cl100k", special_ids="last")


def in_tiktoken(code: str, *flags: str) -> str:
    """What a new process prints that imports tiktoken and runs the code."""
    done = subprocess.run(
        [sys.executable, *flags, "-c", f"import tiktoken\n{code}"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_loads_by_name_in_a_new_process(own, trained):
    path = plugin.register(trained, "mine")
    assert Path(path) == own / "mine.json"
    code = (
        f"e = tiktoken.get_encoding('mine'); text = {TEXT!r}\n"
        "import json, pickle\n"
        "again = pickle.loads(pickle.dumps(e))\n"
        "print(json.dumps([e.encode(text, allowed_special='all'), again.encode_ordinary(text),\n"
        "                  e.n_vocab, e.name, 'mine' in tiktoken.list_encoding_names()]))"
    )
    ids, ordinary, size, name, listed = json.loads(in_tiktoken(code, "-W", "error"))
    assert ids == trained.encode(TEXT)
    assert ordinary == trained.encode_ordinary(TEXT)
    assert (size, name, listed) == (800, "mine", True)
    assert plugin.registered() == {"mine": path}


def test_it_loads_at_once_in_this_process(own, trained):
    import tiktoken

    before = tiktoken.list_encoding_names()
    try:
        plugin.register(trained, "at-once")
        assert tiktoken.get_encoding("at-once").encode("hello") == trained.encode("hello")
        assert compat.get_encoding("at-once").encode("hello") == trained.encode("hello")
        other = bytepair.get_encoding("r50k_base")
        with pytest.raises(ArgumentError, match="give replace=True or another name"):
            plugin.register(other, "at-once")
        plugin.register(other, "at-once", replace=True)
        assert tiktoken.get_encoding("at-once").encode("hello") == other.encode("hello")
    finally:
        plugin.unregister("at-once")
    assert tiktoken.list_encoding_names() == before
    with pytest.raises(ValueError, match="Unknown encoding at-once"):
        tiktoken.get_encoding("at-once")
    assert plugin.registered() == {}


def test_a_file_is_registered_by_its_name(own, trained, tmp_path):
    trained.save(tmp_path / "words.json")
    assert plugin.register(tmp_path / "words.json") == str(own / "words.json")
    trained.save(tmp_path / "hf", format="huggingface")
    plugin.register(str(tmp_path / "hf"))
    assert sorted(plugin.registered()) == ["hf", "words"]
    shown = in_tiktoken("print(tiktoken.get_encoding('hf').encode('hello world'))")
    assert json.loads(shown) == trained.encode("hello world")


@pytest.mark.parametrize("name", ["gpt2", "../x", "", "a b", ".hidden", "日本"])
def test_names_that_are_none(own, trained, name):
    with pytest.raises(ArgumentError):
        plugin.register(trained, name)
    assert not own.exists()


def test_a_tokenizer_without_a_name(own, trained):
    with pytest.raises(ArgumentError, match="the tokenizer has no name; give one"):
        plugin.register(trained)
    with pytest.raises(
        ArgumentError, match="no tokenizer is registered as 'x'; those that are: no"
    ):
        plugin.unregister("x")


def unordered() -> Tokenizer:
    """A tokenizer whose second merge has the lower id."""
    vocab = {id: bytes([id]) for id in range(256)} | {256: b"cd", 257: b"ab"}
    return Tokenizer(vocab, [(b"a", b"b"), (b"c", b"d")])


@pytest.mark.parametrize(
    ("tokenizer", "message"),
    [
        (unordered(), "merge order is not id order"),
        (Tokenizer({id: bytes([id]) for id in range(256)}, [], normalizer="NFC"), "a normalizer"),
        (
            Tokenizer({id: bytes([id]) for id in range(256)}, [], pattern="deepseek_v3"),
            "takes one regular expression",
        ),
        (Tokenizer({0: b"a"}, []), "has no token for the single byte 0x00"),
    ],
)
def test_what_tiktoken_would_encode_otherwise_is_refused(own, tokenizer, message):
    with pytest.raises(FormatError, match=message):
        plugin.register(tokenizer, "mine")
    assert not own.exists()


def test_what_is_found_in_the_folder(own, trained):
    own.mkdir()
    trained.save(own / "good.json")
    unordered().save(own / "bad.json")
    (own / "broken.json").write_text("{", encoding="utf-8")
    (own / "note.txt").write_text("no tokenizer", encoding="utf-8")
    (own / ".good.json.tmp").write_text("{", encoding="utf-8")
    code = (
        "print(sorted(set(tiktoken.list_encoding_names()) & {'good', 'bad', 'broken', 'note'}))\n"
        "for name in ('bad', 'broken'):\n"
        "    try: tiktoken.get_encoding(name)\n"
        "    except ValueError as error: print(type(error).__name__, error)\n"
        "print(tiktoken.get_encoding('good').n_vocab)"
    )
    names, bad, broken, size = in_tiktoken(code).splitlines()
    assert names == "['bad', 'broken', 'good']"
    assert bad.startswith(f"FormatError {own / 'bad.json'}: ")
    assert "merge order is not id order" in bad
    assert broken.startswith(f"FormatError {own / 'broken.json'}")
    assert size == "800"


def test_a_name_of_tiktokens_own_is_passed_over(own, trained):
    own.mkdir()
    trained.save(own / "gpt2.json")
    code = (
        "import warnings\n"
        "with warnings.catch_warnings(record=True) as found:\n"
        "    warnings.simplefilter('always'); names = tiktoken.list_encoding_names()\n"
        "print(names.count('gpt2'), len(found), found[0].message)"
    )
    shown = in_tiktoken(code)
    assert shown.startswith("1 1 ")
    assert "is passed over: 'gpt2' is an encoding of tiktoken's own" in shown


@pytest.mark.parametrize("kind", ["absent", "empty", "file"])
def test_nothing_registered_costs_and_breaks_nothing(own, kind):
    if kind == "empty":
        own.mkdir()
    if kind == "file":
        own.write_text("", encoding="utf-8")
    code = (
        "import sys\n"
        "names = tiktoken.list_encoding_names()\n"
        "import tiktoken_ext.bytepair as ours\n"
        "print(ours.ENCODING_CONSTRUCTORS, len(names), 'bytepair' in sys.modules,\n"
        "      'bytepair._core' in sys.modules)"
    )
    assert in_tiktoken(code, "-W", "error").split() == ["{}", "7", "False", "False"]


def test_looking_costs_little(own, monkeypatch):
    """The names of a folder are all that is read: no file is opened, however many there are."""
    own.mkdir()
    for at in range(200):
        (own / f"t{at}.json").touch()
    from tiktoken_ext import bytepair as module

    def refuse(*_, **__):
        raise AssertionError("a file was opened")

    for name in ("builtins.open", "io.open", "os.open", "os.stat"):
        monkeypatch.setattr(name, refuse)
    found = module.find()
    monkeypatch.undo()
    assert len(found) == 200


def test_a_folder_that_may_not_be_read(own, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "listdir", refuse)
    with pytest.warns(RuntimeWarning, match="cannot be looked up: Permission denied"):
        assert plugin.registered() == {}


def test_a_name_of_another_plugin(own, trained, monkeypatch):
    import tiktoken

    tiktoken.list_encoding_names()
    table = tiktoken.registry.ENCODING_CONSTRUCTORS
    monkeypatch.setitem(table, "theirs", dict)
    with pytest.raises(
        ArgumentError, match="another plugin of tiktoken's has an encoding 'theirs'"
    ):
        plugin.register(trained, "theirs")
    assert not own.exists()


def test_the_folder_without_a_variable(monkeypatch, tmp_path):
    monkeypatch.delenv("BYTEPAIR_TIKTOKEN_FOLDER")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    for platform, end in (
        ("linux", tmp_path / "bytepair" / "tiktoken"),
        ("darwin", Path("Application Support") / "bytepair" / "tiktoken"),
        ("win32", Path("bytepair") / "tiktoken"),
    ):
        monkeypatch.setattr(sys, "platform", platform)
        assert plugin.folder().endswith(str(end))
