"""`PieceCounts.save` and `load`: a Parquet file like any other, with its rules in it."""

from __future__ import annotations

import io
import random

import pytest

from bytepair import PieceCounts, count_pieces, errors, parquet, train

NAMES = ("piece", "count")


def test_there_and_back(tmp_path):
    source = random.Random(1)
    names = {source.randbytes(source.randrange(1, 40)) for _ in range(999)}
    pieces = {name: source.randrange(1, 2**64) for name in sorted(names)}
    pieces |= {b"\0": 2**64 - 1, b"\0" * 100_000: 1}
    for special, pattern in (([], "gpt2"), (["<|e|>", "中"], "o200k"), ([], None), ([], r"\d|\D")):
        counts = PieceCounts(pieces, pattern=pattern, special_tokens=special)
        counts.save(tmp_path / "a.parquet")
        back = PieceCounts.load(tmp_path / "a.parquet")
        assert dict(back) == pieces
        assert (back.pattern, back.special_tokens) == (pattern, tuple(special))
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]
    PieceCounts().save(tmp_path / "b.parquet")
    assert dict(PieceCounts.load(tmp_path / "b.parquet")) == {}


def test_several_row_groups(monkeypatch):
    monkeypatch.setattr(parquet, "ROWS", 7)
    rows = [(bytes([n]) * n, n) for n in range(100)]
    file = io.BytesIO()
    parquet.write(file, rows, NAMES, {"ключ": "значение"})
    assert list(parquet.read(file, NAMES)) == rows
    assert parquet.read_metadata(file) == {"ключ": "значение"}
    pq = pytest.importorskip("pyarrow.parquet")
    assert pq.ParquetFile(file).num_row_groups == 15
    table = pq.read_table(file, page_checksum_verification=True)
    assert list(zip(*(table[name].to_pylist() for name in NAMES), strict=True)) == rows


def test_pyarrow_reads_it_with_its_types(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    PieceCounts({b"\xff": 2**64 - 1, b"low": 1}).save(path)
    table = pq.read_table(path, page_checksum_verification=True)
    assert table.schema.field("piece").type == pa.binary()
    assert table.schema.field("count").type == pa.uint64()
    assert table.to_pylist() == [
        {"piece": b"\xff", "count": 2**64 - 1},
        {"piece": b"low", "count": 1},
    ]
    assert table.schema.metadata[b"bytepair.special_tokens"] == b"[]"


@pytest.mark.parametrize("nullable", [True, False])
def test_what_pyarrow_writes_plainly_is_read(tmp_path, nullable):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    PieceCounts({b"low": 5, b"lower": 2}, special_tokens=["<|e|>"]).save(path)
    table = pq.read_table(path)
    fields = [pa.field(field.name, field.type, nullable=nullable) for field in table.schema]
    table = table.cast(pa.schema(fields, metadata=table.schema.metadata))
    plain = {"compression": "none", "use_dictionary": False}
    pq.write_table(table, path, **plain, data_page_size=1, write_batch_size=1)
    back = PieceCounts.load(path)
    assert (dict(back), back.special_tokens) == ({b"low": 5, b"lower": 2}, ("<|e|>",))
    pq.write_table(table, path, compression="zstd")
    with pytest.raises(errors.FormatError, match=r"a\.parquet: its pages are compressed"):
        PieceCounts.load(path)
    if nullable:
        table = pa.table({"piece": [b"a", None], "count": pa.array([1, 2], pa.uint64())})
        pq.write_table(table, path, **plain)
        with path.open("rb") as file, pytest.raises(errors.FormatError, match="nulls"):
            list(parquet.read(file, NAMES))


def test_damage_is_found(tmp_path):
    path = tmp_path / "a.parquet"
    PieceCounts({b"low": 5, b"lower": 2}).save(path)
    whole = path.read_bytes()
    for at in range(len(whole)):
        for data in (whole[:at], whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]):
            path.write_bytes(data)
            try:
                found = dict(PieceCounts.load(path))
            except (errors.FormatError, errors.PatternError):
                continue
            # Some bits say nothing about the counts, such as who wrote the file.
            assert found == {b"low": 5, b"lower": 2}, at
    path.write_bytes(b"PAR1")
    with pytest.raises(errors.FormatError, match=r"a\.parquet: this is no Parquet file"):
        PieceCounts.load(path)


def test_counts_of_other_rules_are_refused(tmp_path):
    gpt2 = count_pieces(["low 123"], special_tokens=[])
    o200k = count_pieces(["low 123"], pattern="o200k", special_tokens=[])
    o200k.save(tmp_path / "a.parquet")
    loaded = PieceCounts.load(tmp_path / "a.parquet")
    assert loaded + o200k == o200k.scale(2)
    for one, two in ((gpt2, loaded), (loaded, gpt2)):
        with pytest.raises(errors.ArgumentError, match="pattern"):
            one + two
    with pytest.raises(errors.ArgumentError, match="special tokens"):
        loaded + count_pieces(["low"], pattern="o200k")
    with pytest.raises(errors.ArgumentError, match="o200k"):
        train(loaded, 260, pattern="cl100k", special_tokens=[])
    assert train(loaded, 260).pattern == "o200k"


def test_parts_of_a_corpus_add_up_in_any_order(tmp_path):
    texts = ["the cat", "in the hat", "the bat and the rat"]
    for number, text in enumerate(texts):
        count_pieces([text]).save(tmp_path / f"{number}.parquet")
    for order in ((0, 1, 2), (2, 0, 1)):
        total = PieceCounts(special_tokens=["<|endoftext|>"])
        for number in order:
            total = total + PieceCounts.load(tmp_path / f"{number}.parquet")
        assert train(total, 265) == train(texts, 265)
