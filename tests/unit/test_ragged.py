"""Many texts in one array: `encode_ragged`, Arrow columns in, Arrow arrays out."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap

import pytest

from bytepair import Tokens, get_encoding

TEXTS = ["hello world", "", "naïve café 中文 😀", "a<|endoftext|>b", "x" * 50, "\x00", " "]

numpy = pytest.importorskip("numpy")


@pytest.fixture(scope="module")
def gpt2():
    return get_encoding("gpt2")


@pytest.fixture(scope="module")
def expected(gpt2):
    return [gpt2.encode(text) for text in TEXTS]


def test_tokens(gpt2, expected):
    tokens = gpt2.encode_ragged(TEXTS)
    assert isinstance(tokens, Tokens)
    assert tokens.to_lists() == expected
    assert len(tokens) == len(TEXTS)
    assert tokens.ids.dtype == numpy.uint32
    assert tokens.offsets.dtype == numpy.int64
    assert tokens.ids.tolist() == [id for ids in expected for id in ids]
    assert tokens.offsets.tolist()[-1] == len(tokens.ids)
    assert [tokens[at].tolist() for at in range(len(TEXTS))] == expected
    assert [row.tolist() for row in tokens] == expected
    assert tokens[-1].tolist() == expected[-1]
    assert repr(tokens) == f"<Tokens of {len(TEXTS)} texts, {len(tokens.ids)} ids>"
    for index in (len(TEXTS), -len(TEXTS) - 1, 1 << 62):
        with pytest.raises(IndexError, match="7 texts"):
            tokens[index]


def test_tokens_compare_by_rows(gpt2):
    assert gpt2.encode_ragged(["a", "b"]) == gpt2.encode_ragged(iter(["a", "b"]))
    assert gpt2.encode_ragged(["ab"]) != gpt2.encode_ragged(["ab", ""])
    assert gpt2.encode_ragged(["a"]) != [[64]]
    empty = gpt2.encode_ragged([])
    assert (len(empty), empty.ids.tolist(), empty.offsets.tolist()) == (0, [], [0])
    assert empty.to_lists() == list(empty) == []


def test_arrays_look_into_the_tokens_and_outlive_them(gpt2, expected):
    tokens = gpt2.encode_ragged(TEXTS)
    ids, row = tokens.ids, tokens[0]
    assert numpy.shares_memory(ids, row)
    assert not ids.flags.writeable
    del tokens
    gc.collect()
    gpt2.encode_ragged(["something else"] * 100)
    assert row.tolist() == expected[0]
    assert memoryview(ids).format in ("I", "<I")


def test_options_are_those_of_encode(gpt2):
    tokens = gpt2.encode_ragged(["<|endoftext|>"], allowed_special=())
    assert tokens.to_lists() == [gpt2.encode_ordinary("<|endoftext|>")]
    with pytest.raises(ValueError, match="endoftext"):
        gpt2.encode_ragged(["<|endoftext|>"], allowed_special=(), disallowed_special="all")
    with pytest.raises(UnicodeEncodeError):
        gpt2.encode_ragged(["\ud800"])
    assert gpt2.encode_ragged(["\ud800"], errors="replace").to_lists() == [gpt2.encode("\ufffd")]
    with pytest.raises(TypeError, match="text 1 must be str, not int"):
        gpt2.encode_ragged(["a", 5])
    with pytest.raises(TypeError, match=r"write \[text\]"):
        gpt2.encode_ragged("a")
    with pytest.raises(ValueError, match="threads is 0"):
        gpt2.encode_ragged(["a"], threads=0)


def test_long_and_short_texts_on_threads(gpt2):
    texts = [*TEXTS, "It was a long, long text. " * 40_000, "", *TEXTS] * 2
    one = gpt2.encode_ragged(texts, threads=1)
    for threads in (2, 3):
        assert gpt2.encode_ragged(texts, threads=threads) == one
        assert gpt2.encode_batch(texts, threads=threads) == one.to_lists()
        assert gpt2.count_batch(texts, threads=threads) == numpy.diff(one.offsets).tolist()


def test_without_numpy():
    code = """
        import sys
        sys.modules["numpy"] = None
        import bytepair
        gpt2 = bytepair.get_encoding("gpt2")
        tokens = gpt2.encode_ragged(["hello world", "", " world"])
        assert isinstance(tokens.ids, memoryview)
        assert tokens.ids.tolist() == [31373, 995, 995]
        assert tokens.offsets.tolist() == [0, 2, 2, 3]
        assert list(tokens[2]) == [995]
        assert tokens.ids.format == "I"
        assert gpt2.decode(tokens.ids) == "hello world world"
        try:
            gpt2.encode_numpy("a")
        except ImportError as error:
            assert "needs NumPy" in str(error)
        else:
            raise AssertionError
        """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


# ── Arrow ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def pyarrow():
    return pytest.importorskip("pyarrow")


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view"])
def test_arrow_columns(gpt2, expected, pyarrow, kind):
    column = pyarrow.array(TEXTS, type=getattr(pyarrow, kind)())
    chunked = pyarrow.chunked_array([column.slice(0, 2), column.slice(2, 0), column.slice(2)])
    # A slice begins in the middle of its buffers.
    for texts, want in (
        (column, expected),
        (chunked, expected),
        (column.slice(2), expected[2:]),
        (column.slice(3, 2), expected[3:5]),
        (column.slice(7), []),
    ):
        assert gpt2.encode_ragged(texts).to_lists() == want
        assert gpt2.encode_batch(texts) == want
        assert gpt2.count_batch(texts) == [len(ids) for ids in want]


def test_null_texts_are_refused_by_place(gpt2, pyarrow):
    column = pyarrow.array(["a", "b", None, "d"])
    with pytest.raises(TypeError, match="text 2 is null"):
        gpt2.encode_ragged(column)
    with pytest.raises(TypeError, match="text 0 is null"):
        gpt2.encode_ragged(column.slice(2))
    with pytest.raises(TypeError, match="text 4 is null"):
        gpt2.encode_ragged(pyarrow.chunked_array([["x", "y"], column]))
    assert gpt2.count_batch(column.slice(0, 2)) == [1, 1]
    assert gpt2.count_batch(column.slice(3)) == [1]


def test_other_columns_are_refused_by_name(gpt2, pyarrow):
    for column, name in (
        (pyarrow.array([1, 2]), "format 'l'|format \"l\""),
        (pyarrow.array(["a", "a"]).dictionary_encode(), "dictionary"),
        (pyarrow.table({"text": ["a"]}), "one of its columns"),
        (pyarrow.array([b"a"]), "format"),
    ):
        with pytest.raises(TypeError, match=name):
            gpt2.encode_ragged(column)


def test_bytes_in_a_column_that_are_not_utf8_are_refused(gpt2, pyarrow):
    damaged = pyarrow.array([b"a", b"b\xff"]).view(pyarrow.string())
    with pytest.raises(ValueError, match="text 1 is not UTF-8 at byte 1"):
        gpt2.encode_ragged(damaged)


def test_tokens_as_an_arrow_array(gpt2, expected, pyarrow):
    tokens = gpt2.encode_ragged(TEXTS)
    address = tokens.ids.ctypes.data
    array = pyarrow.array(tokens)
    del tokens
    gc.collect()
    array.validate(full=True)
    assert array.type == pyarrow.large_list(pyarrow.uint32())
    assert array.to_pylist() == expected
    assert array.values.buffers()[1].address == address
    assert pyarrow.array(gpt2.encode_ragged([])).to_pylist() == []
    for _ in range(1_000):
        pyarrow.array(gpt2.encode_ragged(["a", "b"])).flatten()


def test_capsules_may_be_left_unused(gpt2):
    tokens = gpt2.encode_ragged(["a", "b"])
    for _ in range(100):
        tokens.__arrow_c_schema__()
        tokens.__arrow_c_array__()


def test_a_capsule_can_be_used_once(gpt2, pyarrow):
    pair = pyarrow.array(["a"]).__arrow_c_array__()

    class Used:
        def __arrow_c_array__(self, requested_schema=None):
            return pair

    assert gpt2.count_batch(Used()) == [1]
    with pytest.raises(ValueError, match="used before"):
        gpt2.count_batch(Used())


def test_polars(gpt2, expected):
    polars = pytest.importorskip("polars")
    series = polars.Series(TEXTS)
    assert gpt2.encode_ragged(series).to_lists() == expected
    assert polars.Series(gpt2.encode_ragged(series)).to_list() == expected
