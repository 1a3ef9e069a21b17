"""Files of every format, damaged: a tokenizer or a `FormatError` that names the file, soon."""

from __future__ import annotations

import gzip
import json
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bytepair
from bytepair import Tokenizer, formats
from bytepair.errors import ArgumentError, BytepairError, FormatError
from cli_support import SAMPLE

WRITTEN = [name for name in formats.names() if name != "sentencepiece"]


def unsaid(name: str) -> dict:
    """What a file of the format does not say."""
    known = {"pattern": "gpt2", "special_tokens": ()}
    return {option: known[option] for option in formats.options(name)}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A small file of each format: name -> content."""
    folder = tmp_path_factory.mktemp("files")
    made = {}
    last = bytepair.train(SAMPLE, 300, special_ids="last")
    first = bytepair.train(SAMPLE, 300, special_ids="first", pattern="tekken")
    for name in WRITTEN:
        path = folder / f"{name}.json"
        (first if name == "tekken" else last).save(path, format=name)
        if path.is_dir():
            path = path / "encoder.json"
        made[name] = path.read_bytes()
    return made


def load(name: str, content: bytes, folder) -> Tokenizer:
    """The tokenizer of a file with this content; where a format has two, the other one is whole."""
    path = folder / "file.json"
    if name != "gpt2":
        path.write_bytes(content)
        return Tokenizer.load(path, format=name, **unsaid(name))
    last = bytepair.train(SAMPLE, 300, special_ids="last")
    path = folder / "two"
    last.save(path, format=name)
    (path / "encoder.json").write_bytes(content)
    return Tokenizer.load(path, format=name)


TEXT = [name for name in WRITTEN if name != "gguf"]
JSON = [name for name in TEXT if name not in ("tiktoken", "minbpe")]


@pytest.mark.parametrize("name", TEXT)
def test_a_byte_order_mark_and_other_line_ends_change_nothing(name, files, tmp_path):
    wanted = load(name, files[name], tmp_path)
    assert load(name, b"\xef\xbb\xbf" + files[name], tmp_path) == wanted
    assert load(name, files[name].replace(b"\n", b"\r\n"), tmp_path) == wanted


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("part", [0, 1, 0.1, 0.5, 0.9])
def test_what_is_cut_off_is_refused(name, part, files, tmp_path):
    whole = files[name]
    size = part if isinstance(part, int) else int(len(whole) * part)
    # Lines of these two may end anywhere; what is left is a smaller tokenizer.
    try:
        load(name, whole[:size], tmp_path)
    except FormatError as error:
        assert str(tmp_path) in str(error)  # noqa: PT017
    else:
        assert name in ("minbpe", "tiktoken")


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize(
    "content",
    [
        pickle.dumps({"vocab": {}}),
        gzip.compress(b"\0" * 10_000_000),
        b"[" * 1_000_000,
        b'{"a":' * 100_000,
        b"9" * 100_000,
        b'{"version":"1.0","model":' + b"9" * 10_000 + b"}",
        b"\xff" * 1000,
        b"\0" * 1000,
        b"null",
        b'{"a": 1, "a": 2}',
    ],
    ids=["pickle", "gzip", "deep list", "deep object", "digits", "number", "ff", "00", "null", "2"],
)
def test_other_things_are_refused(name, content, tmp_path):
    with pytest.raises(FormatError, match=str(tmp_path)):
        load(name, content, tmp_path)
    path = tmp_path / "any"
    path.write_bytes(content)
    with pytest.raises((FormatError, ArgumentError), match="any"):
        Tokenizer.load(path)


def places(data: object, path: tuple = ()):
    """Some places in a JSON value: of a long list the first and the last item."""
    yield path
    if isinstance(data, dict | list) and data:
        items = list(data.items() if isinstance(data, dict) else enumerate(data))
        for key, value in items if len(items) < 20 else [items[0], items[-1]]:
            yield from places(value, (*path, key))


JUNK = [None, True, -1, 1 << 32, 1 << 70, 0.5, float("nan"), "", "x", "\ud800", "a b", [], {}]
JUNK += [[[]], ["x"], {"x": 1}, {"type": "Sequence"}, [0, 0], 10**30]


@pytest.mark.parametrize("name", JSON)
@settings(max_examples=60)
@given(data=st.data())
def test_any_value_anywhere(name, files, data, tmp_path_factory):
    value = json.loads(files[name])
    *above, key = data.draw(st.sampled_from([place for place in places(value) if place]))
    parent = value
    for step in above:
        parent = parent[step]
    parent[key] = data.draw(st.sampled_from(JUNK))
    folder = tmp_path_factory.mktemp("x")
    try:
        load(name, json.dumps(value).encode(), folder).encode("It's a test")
    except BytepairError as error:
        assert not isinstance(error, FormatError) or str(folder) in str(error)  # noqa: PT017


@pytest.mark.parametrize("name", WRITTEN)
@settings(max_examples=60)
@given(data=st.data())
def test_any_byte_anywhere(name, files, data, tmp_path_factory):
    content = bytearray(files[name])
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(content) - 1))
        match data.draw(st.sampled_from(["set", "drop", "double"])):
            case "set":
                content[at] = data.draw(st.integers(0, 255))
            case "drop":
                del content[at : at + data.draw(st.integers(1, 20))]
            case _:
                content[at:at] = content[at : at + data.draw(st.integers(1, 200))]
        if not content:
            break
    folder = tmp_path_factory.mktemp("x")
    try:
        load(name, bytes(content), folder).encode("It's a test")
    except BytepairError as error:
        assert not isinstance(error, FormatError) or str(folder) in str(error)  # noqa: PT017
