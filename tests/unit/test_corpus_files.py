"""Corpora of every kind give the pieces of the plain text they hold, and say what is wrong."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma

import pytest

from bytepair import count_pieces, errors, train

DOCUMENTS = ["the cat in the hat", "the bat\n\nand the rat", "", "那只猫在帽子里, 那只猫\r\n"]
TEXT = "\n".join(DOCUMENTS) * 50


def zstd(data: bytes) -> bytes:
    """A zstd frame that holds the data as it is, in raw blocks."""
    frame = bytearray(b"\x28\xb5\x2f\xfd\x00\x58")
    blocks = [data[at : at + 100_000] for at in range(0, len(data), 100_000)] or [b""]
    for number, block in enumerate(blocks, 1):
        frame += (len(block) << 3 | (number == len(blocks))).to_bytes(3, "little") + block
    return bytes(frame)


PACK = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd}


def jsonl(documents: list[str]) -> bytes:
    return "".join(json.dumps({"text": text, "id": 1}) + "\n" for text in documents).encode()


def counts(corpus, **options):
    return dict(count_pieces(corpus, special_tokens=["<|e|>"], **options))


@pytest.mark.parametrize("packed", PACK)
@pytest.mark.parametrize("threads", [1, 3])
def test_packed_text(tmp_path, packed, threads):
    path = tmp_path / f"a.txt.{packed}"
    text = (TEXT + "<|e|>") * 300
    path.write_bytes(PACK[packed](text.encode()))
    assert counts(path, threads=threads) == counts([text])
    # Two members one after the other are one file, as for the programs that made them.
    path.write_bytes(PACK[packed](b"one ") + PACK[packed](b"two"))
    assert counts(path) == counts(["one two"])


@pytest.mark.parametrize("packed", PACK)
def test_a_damaged_packed_file_is_named(tmp_path, packed):
    path = tmp_path / f"a.txt.{packed}"
    whole = PACK[packed](TEXT.encode())
    for data in (whole[: len(whole) // 2], b"no such thing"):
        path.write_bytes(data)
        with pytest.raises(errors.CorpusError, match=rf"a\.txt\.{packed}.*cannot be unpacked"):
            count_pieces(path)
    with pytest.raises(FileNotFoundError, match="absent"):
        count_pieces(tmp_path / f"absent.{packed}")


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.jsonl.gz", "a.JSONL.zst"])
def test_json_lines(tmp_path, name):
    path = tmp_path / name
    data = b"\xef\xbb\xbf" + jsonl(DOCUMENTS) + b"\n  \n" + jsonl(["last"])[:-1]
    pack = PACK.get(name.rpartition(".")[2], bytes)
    path.write_bytes(pack(data))
    assert counts(path) == counts([*DOCUMENTS, "last"])
    assert train(path, 270) == train([*DOCUMENTS, "last"], 270)


def test_a_field_of_json_lines(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": {"b.c": {"d": "low low"}}, "x.y": "new"}\n')
    assert counts(path, text_field="x.y") == counts(["new"])
    path.write_text('{"a": {"b": {"c": "low low"}}}\n')
    assert counts(path, text_field="a.b.c") == counts(["low low"])


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"txt": "a"}', "no field 'text'.*'txt'.*text_field"),
        ("[1]", "no field 'text'.*no object"),
        ('{"text": null}', "'text' is null"),
        ('{"text": 5}', "'text' is int"),
        ('{"text": "a"', "not JSON"),
        ('{"text": "a\\ud800b"}', "lone surrogate at character 1"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_line_without_a_text_is_named(tmp_path, line, says):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "good"}\n' + line + "\n")
    with pytest.raises(errors.CorpusError, match=rf"a\.jsonl, line 2: .*{says}"):
        count_pieces(path)


def test_bytes_that_are_not_utf8(tmp_path):
    data = b"good \xff\xfe bad \xe4\xb8 end" * 30_000 + b"\xe4"
    text, lines = tmp_path / "a.txt", tmp_path / "a.jsonl"
    text.write_bytes(data)
    lines.write_bytes(b'{"text": "good"}\n{"text": "a\xffb"}\n')
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(data))
    for path in (text, tmp_path / "a.txt.gz"):
        with pytest.raises(errors.CorpusError, match=r"a\.txt.*byte 5 is not valid UTF-8"):
            count_pieces(path)
        for way in ("replace", "ignore"):
            assert counts(path, errors=way) == counts([data.decode(errors=way)])
    with pytest.raises(errors.CorpusError, match=r"line 2: byte 28 of the file is not valid UTF-8"):
        count_pieces(lines)
    assert counts(lines, errors="ignore") == counts(["good", "ab"])
    lines.write_text('{"text": "a\\ud800b"}')
    assert counts(lines, errors="replace") == counts(["a\ufffdb"])
    with pytest.raises(errors.ArgumentError, match="errors is 'surrogateescape'"):
        count_pieces(text, errors="surrogateescape")


def test_a_directory_of_everything(tmp_path):
    (tmp_path / "a.txt").write_text("one ")
    (tmp_path / "b.md.gz").write_bytes(gzip.compress(b"two"))
    (tmp_path / "c.jsonl.xz").write_bytes(lzma.compress(jsonl(["three", "four"])))
    (tmp_path / "d.bin").write_bytes(b"\xff")
    assert counts(tmp_path) == counts(["one ", "two", "three", "four"])
    assert counts(tmp_path / "*.[tgxm]*") == counts(["one ", "two", "three", "four"])
    with pytest.raises(errors.ArgumentError, match=r"a\.txt, .*c\.jsonl\.xz"):
        train(tmp_path, 300, tie_break="first_seen")


def test_progress_goes_on_from_texts_to_tables(tmp_path):
    (tmp_path / "a.txt").write_text("some text " * 1_000_000)
    (tmp_path / "b.jsonl").write_bytes(jsonl(["more text " * 100_000] * 20))
    seen = []
    count_pieces(tmp_path, progress=seen.append)
    done = [step.done for step in seen]
    assert done
    assert done == sorted(done)
    assert all(step.done <= (step.total or step.done) for step in seen)
    if seen[-1].total is not None:
        assert seen[-1].done == seen[-1].total


def table(pa, documents):
    return pa.table({"text": documents, "n": list(range(len(documents)))})


def test_parquet_and_arrow(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    documents = DOCUMENTS * 3000
    pq.write_table(table(pa, documents), tmp_path / "a.parquet", compression="zstd")
    (tmp_path / "b.parquet.gz").write_bytes(gzip.compress((tmp_path / "a.parquet").read_bytes()))
    rows = table(pa, documents)
    with pa.ipc.new_file(tmp_path / "a.arrow", rows.schema) as writer:
        writer.write_table(rows, max_chunksize=1000)
    with pa.ipc.new_stream(tmp_path / "b.arrow", rows.schema) as writer:
        writer.write_table(rows)
    for name in ("a.parquet", "b.parquet.gz", "a.arrow", "b.arrow"):
        assert counts(tmp_path / name) == counts(documents), name
    nested = pa.table({"a": [{"b": "low"}, {"b": "lower"}], "x": [b"new", b"ne\xff"]})
    pq.write_table(nested, tmp_path / "c.parquet")
    assert counts(tmp_path / "c.parquet", text_field="a.b") == counts(["low", "lower"])
    assert counts(tmp_path / "c.parquet", text_field="x", errors="ignore") == counts(["new", "ne"])
    with pytest.raises(errors.CorpusError, match=r"c\.parquet, row 2: byte 2 of 'x'"):
        count_pieces(tmp_path / "c.parquet", text_field="x")
    with pytest.raises(errors.CorpusError, match=r"no column 'text' \(it has 'a', 'x'\)"):
        count_pieces(tmp_path / "c.parquet")
    pq.write_table(pa.table({"text": ["a", None]}), tmp_path / "d.parquet")
    with pytest.raises(errors.CorpusError, match=r"d\.parquet, row 2: the field 'text' is null"):
        count_pieces(tmp_path / "d.parquet")


def test_a_table_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    import sys

    count_pieces(["low"]).save(tmp_path / "counts.parquet")
    (tmp_path / "a.arrow").write_bytes(b"ARROW1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r'a\.arrow.*pip install "bytepair\[arrow\]"'):
        count_pieces(tmp_path / "a.arrow")
    with pytest.raises(errors.ArgumentError, match="holds piece counts"):
        count_pieces(tmp_path / "counts.parquet")
    (tmp_path / "b.parquet").write_bytes(b"no table")
    with pytest.raises(errors.CorpusError, match=r"b\.parquet.*no Parquet file"):
        count_pieces(tmp_path / "b.parquet")
