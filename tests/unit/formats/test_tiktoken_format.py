"""tiktoken's rank files and encodings, in and out."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bytepair
from bytepair import Tokenizer, formats
from bytepair.errors import ArgumentError, FormatError

TEXT = "It's 12345 — naïve café 日本語\r\n\n  \t two  spaces<|endoftext|>end"
BYTES = [bytes([byte]) for byte in range(256)]


def lines(*tokens: bytes, first: int = 256) -> bytes:
    """A rank file of the 256 bytes and these tokens."""
    table = dict(zip(BYTES, range(256), strict=True))
    table.update((token, first + at) for at, token in enumerate(tokens))
    return b"".join(base64.b64encode(t) + b" %d\n" % rank for t, rank in table.items())


@pytest.fixture
def file(tmp_path):
    def write(content: bytes):
        path = tmp_path / "some.tiktoken"
        path.write_bytes(content)
        return path

    return write


@pytest.fixture(scope="module")
def trained():
    return bytepair.train(bytepair.sample_corpus(), 1500, special_ids="last", pattern="cl100k")


def test_a_trained_tokenizer_comes_back(trained, tmp_path):
    path = tmp_path / "my.tiktoken"
    trained.save(path, format="tiktoken")
    assert formats.detect(path) == "tiktoken"
    again = Tokenizer.load(path, pattern="cl100k", special_tokens=trained.special_tokens)
    assert again.encode(TEXT) == trained.encode(TEXT)
    assert dict(again.vocab) == dict(trained.vocab)
    assert again.merges == trained.merges
    again.save(tmp_path / "again.tiktoken", format="tiktoken")
    assert (tmp_path / "again.tiktoken").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", ["r50k_base", "p50k_base", "cl100k_base", "o200k_base"])
@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
def test_openai_s_files_are_known(name, ends, shared, file):
    content = (shared / "data" / "vocabs" / "openai" / f"{name}.tiktoken").read_bytes()
    path = file(content.replace(b"\n", ends))
    encoding = bytepair.get_encoding(name)
    assert Tokenizer.load(path) == encoding
    read = Tokenizer.load(path, special_tokens={"<|mine|>": 300_000})
    assert read.special_tokens == {"<|mine|>": 300_000}
    assert read.pattern == encoding.pattern
    assert read.encode_ordinary(TEXT) == encoding.encode_ordinary(TEXT)
    encoding.save(path, format="tiktoken")
    assert path.read_bytes() == content


def test_nothing_is_guessed(file):
    path = file(lines(b"ab"))
    with pytest.raises(ArgumentError, match="does not hold pattern and special_tokens"):
        Tokenizer.load(path)
    with pytest.raises(ArgumentError, match="does not hold special_tokens, and"):
        Tokenizer.load(path, pattern="gpt2")
    read = Tokenizer.load(path, pattern=None, special_tokens=())
    assert (read.pattern, read.special_tokens) == (None, {})
    assert read.encode("abc") == [256, 99]


def test_an_option_that_the_file_answers_is_refused(trained, tmp_path):
    trained.save(tmp_path / "x.json")
    with pytest.raises(ArgumentError, match="pattern is given, but the format 'native' says it"):
        Tokenizer.load(tmp_path / "x.json", pattern="gpt2")
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        Tokenizer.load(tmp_path / "x.json", colour="red")


def test_blank_lines_and_crlf_are_tolerated(file):
    content = lines(b"ab").replace(b"\n", b"\r\n").replace(b"IA== ", b"\r\n\r\nIA==  ") + b"\n \n"
    read = Tokenizer.load(file(content), format="tiktoken", pattern=None, special_tokens=["<|x|>"])
    assert read.encode(" ab<|x|>") == [32, 256, 257]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no line for the single byte 0x00, 0x01, 0x02, 0x03, 0x04 and 251 more"),
        (b"<!DOCTYPE html>\n<p>", "line 1: b'<!DOCTYPE html>' is not a token in base64"),
        (lines(b"ab")[:-4], r"line 257: b'YWI= ?' is not a token"),
        (lines(b"ab")[:-5], "line 257: b'YWI=' is not a token"),
        (b"\n" + lines()[:-9], "no line for the single byte 0xff; the file is not whole"),
        (
            lines(b"ab") + b"eHk= 256\n",
            "line 258: rank 256 is given to b'xy' and, before, to b'ab'",
        ),
        (lines(b"ab") + b"YWI= 300\n", "line 258: the token b'ab' is in line 257 already"),
        (lines() + b"YWI= 4294967296\n", r"line 257: the rank b'4294967296' is not below 2\*\*32"),
        (lines() + b"YWI= " + b"9" * 5000, "line 257: the rank"),
        (lines() + b"YWI= -1\n", "line 257"),
        (lines() + b"YWI= 300 1\n", "line 257"),
        (lines() + b" 300\n", "line 257"),
        (lines() + b"YWI 300\n", "line 257"),
        (lines() + b"Y\xff== 300\n", "line 257"),
        (lines(b"x" * 3000), "merging by rank takes tokens of at most"),
    ],
)
def test_a_broken_file_is_named(content, message, file):
    path = file(content)
    with pytest.raises(FormatError, match=message) as caught:
        Tokenizer.load(path, format="tiktoken", pattern="gpt2", special_tokens=())
    assert str(path) in str(caught.value)


@given(st.binary(max_size=200))
def test_garbage_is_a_format_error(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("x") / "x.tiktoken"
    path.write_bytes(content)
    with pytest.raises(FormatError):
        Tokenizer.load(path, format="tiktoken", pattern="gpt2", special_tokens=())


def merged(*merges: tuple[bytes, bytes], ids: list[int] | None = None, **options) -> Tokenizer:
    made = [left + right for left, right in merges]
    numbers = ids or range(256, 256 + len(made))
    vocab = {**dict(enumerate(BYTES)), **dict(zip(numbers, made, strict=True))}
    return Tokenizer(vocab, merges, pattern=None, **options)


@pytest.mark.parametrize(
    ("tokenizer", "message"),
    [
        (merged((b"a", b"b"), (b"c", b"d"), ids=[257, 256]), "merge order is not id order"),
        (
            Tokenizer(
                {**dict(enumerate(BYTES)), 256: b"ab", 257: b"bc", 258: b"abc"},
                [(b"a", b"b"), (b"b", b"c"), (b"ab", b"c"), (b"a", b"bc")],
                pattern=None,
            ),
            r"two merges give id 258 \(b'abc'\)",
        ),
        # By pairs "abc" is a + bc or nothing; by rank ab + c would make it too.
        (merged((b"b", b"c"), (b"a", b"bc"), (b"a", b"b"), ids=[257, 258, 300]), None),
        (merged((b"a", b"b"), (b"b", b"c"), (b"a", b"bc")), "by other pairs"),
        (Tokenizer({0: b"a"}, [], pattern=None), "no token for the single byte 0x00"),
        (merged(added_tokens={"<x>": 256}), "nothing like added tokens"),
        (merged(normalizer="NFC"), "nothing like a normalizer"),
        (Tokenizer({**dict(enumerate(BYTES)), 256: b"a"}, [], pattern=None), "has the ids 97"),
    ],
)
def test_what_ranks_cannot_say_is_refused(tokenizer, message, tmp_path):
    if message is None:
        tokenizer.save(tmp_path / "x.tiktoken", format="tiktoken")
        return
    with pytest.raises(FormatError, match=message):
        tokenizer.save(tmp_path / "x.tiktoken", format="tiktoken")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["gpt2", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony"]
)
def test_encodings_of_tiktoken(name, tiktoken_encoding):
    theirs = tiktoken_encoding(name)
    ours = Tokenizer.from_tiktoken(theirs)
    assert ours == bytepair.get_encoding(name)
    assert ours.name == name
    back = ours.to_tiktoken()
    assert back.encode(TEXT, allowed_special="all") == theirs.encode(TEXT, allowed_special="all")
    assert back._special_tokens == theirs._special_tokens
    assert back.n_vocab == theirs.n_vocab


@pytest.mark.parametrize("pattern", ["o200k", None, r"\p{L}+", r"[a-z]+|\d"])
def test_to_tiktoken_drops_nothing(pattern):
    tokenizer = bytepair.train(bytepair.sample_corpus(), 600, pattern=pattern)
    theirs = tokenizer.to_tiktoken()
    assert theirs.encode(TEXT, allowed_special="all") == tokenizer.encode(TEXT)
    assert theirs.decode(tokenizer.encode(TEXT)) == TEXT


def test_what_is_no_encoding_is_a_type_error():
    with pytest.raises(TypeError, match=r"takes a tiktoken\.Encoding, not str"):
        Tokenizer.from_tiktoken("cl100k_base")
    sequence = Tokenizer(dict(enumerate(BYTES)), [], pattern="deepseek_v3")
    with pytest.raises(FormatError, match="a sequence of 3"):
        sequence.to_tiktoken()
