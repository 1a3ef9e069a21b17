"""What transformers has beside the ids: given alike, or an error that names the way out."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import bytepair
from bytepair import errors
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
        ("add_bos_token", "add_bos="),
        ("add_prefix_space", "normalizer"),
        ("set_truncation_and_padding", "max_length"),
        ("push_to_hub", "to_transformers"),
        ("init_kwargs", "to_transformers"),
    ],
)
def test_what_is_not_given_names_the_way_out(
    trained: bytepair.Tokenizer, name: str, way_out: str
) -> None:
    made = FastTokenizer(trained)
    assert not hasattr(made, name)
    with pytest.raises(AttributeError, match=f"no attribute '{name}'; .*{way_out}"):
        getattr(made, name)
    with pytest.raises(AttributeError, match=f"no attribute '{name}'; .*{way_out}"):
        setattr(made, name, True)  # which would have no effect


def test_lengths_and_choices_are_those_of_transformers(
    trained: bytepair.Tokenizer, tmp_path: Path
) -> None:
    transformers = pytest.importorskip("transformers")
    made = trained.to_transformers(bos_token="<|end|>", add_bos=True, model_max_length=20)
    made.save_pretrained(tmp_path / "model")
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "model")
    for ours in (
        FastTokenizer.from_transformers(theirs),
        FastTokenizer.from_pretrained(tmp_path / "model"),
        FastTokenizer(trained, bos_token="<|end|>", add_bos=True, model_max_length=20),
    ):
        for name in (
            "max_len_single_sentence",
            "max_len_sentences_pair",
            "split_special_tokens",
            "clean_up_tokenization_spaces",
            "SPECIAL_TOKENS_ATTRIBUTES",
        ):
            assert getattr(ours, name) == getattr(theirs, name), name
        ours.model_max_length = 10
        assert (ours.max_len_single_sentence, ours.max_len_sentences_pair) == (9, 8)
        ours.clean_up_tokenization_spaces = True
        assert pickle.loads(pickle.dumps(ours)).clean_up_tokenization_spaces is True
        assert len(ours("<|end|>", add_special_tokens=False)["input_ids"]) == 1
        ours.split_special_tokens = True
        assert len(ours("<|end|>", add_special_tokens=False)["input_ids"]) > 1
        assert len(ours.encode_batch(["<|end|>"], add_special_tokens=False)[0]) > 1


def test_a_length_and_a_side_that_cannot_be(trained: bytepair.Tokenizer) -> None:
    for length in (-1, 0):
        with pytest.raises(errors.ArgumentError, match=f"model_max_length is {length}; give 1"):
            FastTokenizer(trained, model_max_length=length)
    with pytest.raises(TypeError, match="model_max_length must be int, not str"):
        FastTokenizer(trained).model_max_length = "5"  # type: ignore[assignment]
    with pytest.raises(errors.ArgumentError, match="up"):
        FastTokenizer(trained, padding_side="up")  # type: ignore[arg-type]
