"""Packed rows: all ids and no other, shared among workers, resumed exactly."""

from __future__ import annotations

import json
import multiprocessing
import sys
import types
from concurrent.futures import ProcessPoolExecutor
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bytepair import data, errors, get_encoding
from bytepair.data import Packed
from data_support import DOCUMENTS, rows, rows_of_pickled, rows_of_worker

GPT2 = get_encoding("gpt2")


def flat(some_rows: list[list[int]]) -> list[int]:
    return [id for row in some_rows for id in row]


@given(
    documents=st.lists(st.text(max_size=30), max_size=8),
    length=st.integers(1, 12),
    end=st.sampled_from([None, 50256]),
)
def test_rows_are_the_ids_of_the_documents(documents, length, end):
    expected = flat(
        [[*GPT2.encode_ordinary(d), *([] if end is None else [end])] for d in documents]
    )
    packed = Packed(documents, GPT2, length, end=end)
    found = list(packed)
    assert all(len(row) == length for row in found)
    assert flat(found) == expected[: len(expected) // length * length]
    kept = list(Packed(documents, GPT2, length, end=end, keep_last=True))
    assert flat(kept) == expected
    assert list(packed) == found  # the next epoch


@given(at=st.integers(0, 99), length=st.integers(1, 40), more=st.integers(0, 9))
def test_a_run_resumes_exactly(at, length, more):
    packed = rows(length)
    before = list(islice(packed, min(at, len(list(rows(length))))))
    state = json.loads(json.dumps(packed.state_dict()))
    other = rows(length)
    other.load_state_dict(state)
    assert before + list(other) == list(rows(length))
    # And once more, in the middle of what was resumed.
    other.load_state_dict(state)
    list(islice(other, more))
    third = rows(length)
    third.load_state_dict(other.state_dict())
    assert list(other) == list(third)


def test_an_iteration_goes_on():
    packed = rows()
    first = list(islice(packed, 5))
    assert first + list(packed) == list(rows())
    assert packed.state_dict()["epoch"] == 1


def test_workers_and_ranks_share_the_documents():
    ids = sorted(tuple(GPT2.encode(d)) for d in DOCUMENTS)
    found = []
    for rank in range(2):
        for worker in range(3):
            share = rows(1, rank=rank, world_size=2).sharded(worker, 3)
            text = GPT2.decode(flat(list(share)))
            found += [tuple(GPT2.encode(d)) for d in text.split("<|endoftext|>") if d]
    assert sorted(found) == ids


def test_dropout_differs_by_document_and_epoch():
    packed = Packed(["the same words"] * 2, GPT2, 1, dropout=0.5, seed=3, keep_last=True)
    first, second = list(packed), list(packed)
    assert GPT2.decode(flat(first)) == GPT2.decode(flat(second)) == "the same words" * 2
    assert first != second
    again = Packed(["the same words"] * 2, GPT2, 1, dropout=0.5, seed=3, keep_last=True)
    assert list(again) == first


def test_documents_may_come_from_a_function():
    packed = Packed(lambda: (d for d in DOCUMENTS), GPT2, 16, end=50256)
    assert list(packed) == list(rows()) == list(packed)


def test_special_tokens_in_documents_are_text():
    documents = ["a<|endoftext|>b"]
    assert 50256 not in flat(list(Packed(documents, GPT2, 1)))
    assert 50256 in flat(list(Packed(documents, GPT2, 1, allowed_special="all")))


@pytest.mark.serial
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_four_worker_processes(method):
    expected = [list(rows().sharded(worker, 4)) for worker in range(4)]
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(4, mp_context=context) as pool:
        assert list(pool.map(rows_of_worker, [(worker, 4) for worker in range(4)])) == expected
        shares = [rows().sharded(worker, 4) for worker in range(4)]
        assert list(pool.map(rows_of_pickled, shares)) == expected


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"documents": "text"}, TypeError, "documents is str"),
        ({"documents": iter(["a"])}, TypeError, "list_iterator"),
        ({"length": 0}, errors.ArgumentError, "length is 0"),
        ({"rank": 2, "world_size": 2}, errors.ArgumentError, "rank is 2"),
        ({"end": 60000}, errors.UnknownTokenError, "60000"),
        ({"dropout": 0.1}, errors.ArgumentError, "no seed"),
    ],
)
def test_arguments_that_make_no_sense(change, error, says):
    arguments = {"documents": DOCUMENTS, "tokenizer": GPT2, "length": 4, **change}
    with pytest.raises(error, match=says):
        Packed(**arguments)


def test_states_of_something_else_are_refused():
    state = rows().state_dict()
    for other, says in [
        (rows(17), "length 16"),
        (rows(rank=1, world_size=2), "shard 0"),
        (Packed(DOCUMENTS, get_encoding("cl100k_base"), 16), "fingerprint"),
    ]:
        with pytest.raises(errors.ArgumentError, match=says):
            other.load_state_dict(state)
    with pytest.raises(errors.ArgumentError, match="not one that state_dict gave"):
        rows().load_state_dict({**state, "waiting": None})
    with pytest.raises(errors.ArgumentError, match="worker 2 of 2"):
        rows().sharded(2, 2)
    with pytest.raises(TypeError, match="document 1 must be str, not bytes"):
        list(Packed(["a", b"b"], GPT2, 1))


# --- PyTorch ----------------------------------------------------------------------------------


@pytest.fixture
def stand_in(monkeypatch):
    """A torch with the three names that the dataset uses, where the library is not installed."""
    torch = types.ModuleType("torch")
    torch.int64 = "int64"
    torch.tensor = lambda row, dtype: (tuple(row), dtype)
    loaders = types.ModuleType("torch.utils.data")
    loaders.IterableDataset = object
    loaders.get_worker_info = lambda: loaders.worker
    loaders.worker = None
    for name, module in [
        ("torch", torch),
        ("torch.utils", types.ModuleType("torch.utils")),
        ("torch.utils.data", loaders),
    ]:
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "bytepair._torch_data", raising=False)
    yield loaders
    sys.modules.pop("bytepair._torch_data", None)


def test_a_dataset_gives_the_rows_of_its_worker(stand_in):
    for worker in range(2):
        stand_in.worker = types.SimpleNamespace(id=worker, num_workers=2)
        found = list(data.PackedDataset(rows()))
        assert [list(row) for row, _ in found] == list(rows().sharded(worker, 2))
        assert {dtype for _, dtype in found} == {"int64"}


def test_a_dataset_resumes(stand_in):
    for worker in (None, types.SimpleNamespace(id=1, num_workers=2)):
        stand_in.worker = worker
        dataset = data.PackedDataset(rows())
        whole = list(data.PackedDataset(rows()))
        before = list(islice(dataset, 3))
        other = data.PackedDataset(rows())
        other.load_state_dict(dataset.state_dict())
        assert before + list(other) == whole


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="torch is not installed here")


@pytest.mark.serial
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:This DataLoader will create 4 worker:UserWarning")
def test_a_loader_with_four_workers(torch, method):
    GPT2.encode_batch(DOCUMENTS * 500, threads=4)  # threads were at work before the fork
    loader = torch.utils.data.DataLoader(
        data.PackedDataset(rows()),
        batch_size=None,
        num_workers=4,
        multiprocessing_context=method,
        persistent_workers=True,
    )
    expected = sorted(row for worker in range(4) for row in rows().sharded(worker, 4))
    for _ in range(2):  # epochs
        found = list(loader)
        assert all(row.dtype == torch.int64 for row in found)
        assert sorted(row.tolist() for row in found) == expected


@pytest.mark.serial
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:This DataLoader will create 4 worker:UserWarning")
def test_a_loader_makes_batches_of_rows(torch):
    dataset = data.PackedDataset(rows(rank=1, world_size=2))
    loader = torch.utils.data.DataLoader(dataset, batch_size=3, num_workers=4, drop_last=True)
    shares = [list(rows(rank=1, world_size=2).sharded(worker, 4)) for worker in range(4)]
    expected = [
        share[at : at + 3] for share in shares for at in range(0, len(share) - len(share) % 3, 3)
    ]
    found = list(loader)
    assert {tuple(batch.shape) for batch in found} == {(3, 16)}
    assert sorted(batch.tolist() for batch in found) == sorted(expected)


def test_a_loader_without_workers_resumes(torch):
    dataset = data.PackedDataset(rows())
    whole = [row.tolist() for row in torch.utils.data.DataLoader(rows_dataset(), batch_size=None)]
    loader = torch.utils.data.DataLoader(dataset, batch_size=None)
    before = [row.tolist() for row in islice(loader, 7)]
    other = rows_dataset()
    other.load_state_dict(json.loads(json.dumps(dataset.state_dict())))
    after = [row.tolist() for row in torch.utils.data.DataLoader(other, batch_size=None)]
    assert before + after == whole


def rows_dataset():
    return data.PackedDataset(rows())


def test_a_worker_that_is_done_gives_nothing_more(stand_in):
    """Its state may be taken while others are at work; what goes on must not begin again."""
    stand_in.worker = types.SimpleNamespace(id=1, num_workers=2)
    fresh = rows_dataset()
    assert fresh.state_dict()["shards"] == 2  # also before the first row
    whole, state = list(fresh), fresh.state_dict()
    other = rows_dataset()
    other.load_state_dict(state)
    assert other.state_dict() == state
    assert list(other) == []
    assert other.state_dict() == state
    assert list(other) == whole  # the next epoch


@pytest.mark.serial
@pytest.mark.slow
@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("workers", [0, 2, 4])
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning")
@pytest.mark.filterwarnings("ignore:'set_vital' is deprecated:UserWarning")  # torchdata calls it
def test_a_stateful_loader_resumes_anywhere(torch, workers, persistent):
    stateful = pytest.importorskip(
        "torchdata.stateful_dataloader", reason="torchdata is not installed here"
    )

    def loader():
        return stateful.StatefulDataLoader(
            data.PackedDataset(rows(dropout=0.2, seed=3)),
            batch_size=3,
            num_workers=workers,
            persistent_workers=persistent and workers > 0,
        )

    straight = loader()
    first, second = ([batch.tolist() for batch in straight] for _ in range(2))
    # Near the end some workers are done and others are not.
    for at in sorted({0, 1, 5, *range(len(first) - workers, len(first))}):
        stopped = loader()
        before = [batch.tolist() for batch in islice(stopped, at)]
        resumed = loader()
        resumed.load_state_dict(stopped.state_dict())
        assert before + [batch.tolist() for batch in resumed] == first
        assert [batch.tolist() for batch in resumed] == second
    resumed = loader()
    resumed.load_state_dict(straight.state_dict())
    assert len(list(resumed)) > 0  # not an epoch of nothing


def test_without_torch_the_error_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "bytepair._torch_data", raising=False)
    with pytest.raises(ImportError, match="install torch, or use Packed"):
        _ = data.PackedDataset
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = data.Nothing
