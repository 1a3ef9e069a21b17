"""What transformers has beside the ids: given alike, or an error that names the way out."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import bytepair
from bytepair.compat.huggingface import FastTokenizer


@pytest.fixture
def trained() -> bytepair.Tokenizer:
    return bytepair.train(["low lower lowest"], 262, special_tokens=["<|end|>"])


def test_the_name_is_that_of_from_pretrained(trained: bytepair.Tokenizer, tmp_path: Path) -> None:
    trained.save(tmp_path / "model", format="huggingface")
    made = FastTokenizer.from_pretrained(tmp_path / "model")
    assert made.name_or_path == str(tmp_path / "model")
    assert pickle.loads(pickle.dumps(made)).name_or_path == made.name_or_path
    assert FastTokenizer(trained).name_or_path == ""


def test_the_name_and_the_added_tokens_are_those_of_transformers(
    trained: bytepair.Tokenizer, tmp_path: Path
) -> None:
    transformers = pytest.importorskip("transformers")
    trained.to_transformers().save_pretrained(tmp_path / "model")
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "model")
    ours = FastTokenizer.from_transformers(theirs)
    assert ours.name_or_path == str(theirs.name_or_path)
    assert ours.added_tokens_encoder == theirs.added_tokens_encoder == {"<|end|>": 256}


@pytest.mark.parametrize(
    ("name", "way_out"),
    [
        ("backend_tokenizer", "to_huggingface"),
        ("added_tokens_decoder", "get_added_vocab"),
        ("add_tokens", "with_special_tokens"),
        ("save_pretrained", 'format="huggingface"'),
        ("train_new_from_iterator", r"bytepair\.train"),
    ],
)
def test_what_is_not_given_names_the_way_out(
    trained: bytepair.Tokenizer, name: str, way_out: str
) -> None:
    made = FastTokenizer(trained)
    assert not hasattr(made, name)
    with pytest.raises(AttributeError, match=f"no attribute '{name}'; .*{way_out}"):
        getattr(made, name)
