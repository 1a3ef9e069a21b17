"""What a newcomer gives by mistake is refused with the argument, the value and the way out."""

from __future__ import annotations

import pytest

import bytepair
from bytepair import PieceCounts, Tokenizer, reference

BYTES = {byte: bytes([byte]) for byte in range(256)}
GPT2 = bytepair.get_encoding("gpt2")
COUNTS = PieceCounts({b"ab": 2})


# ── Special tokens with ids, where training gives the ids ─────────────────────────────────────────

WITH_IDS = {"<x>": 3}


@pytest.mark.parametrize(
    "call",
    [
        lambda path: bytepair.train_bpe(path, 300, WITH_IDS),
        lambda path: bytepair.train(path, 300, special_tokens=WITH_IDS),
        lambda _: bytepair.train_bpe_from_text("abab", 300, WITH_IDS),
        lambda _: bytepair.train(["abab"], 300, special_tokens=WITH_IDS, base=GPT2),
        lambda _: bytepair.train(COUNTS, 300, special_tokens=WITH_IDS),
        lambda path: bytepair.count_pieces(path, special_tokens=WITH_IDS),
        lambda _: PieceCounts(special_tokens=WITH_IDS),
        lambda _: COUNTS.check_rules("gpt2", WITH_IDS),
        lambda path: reference.train_bpe(path, 300, WITH_IDS),
        lambda _: reference.train_bpe_from_text("abab", 300, WITH_IDS),
        lambda _: reference.train_bpe_reference("abab", 300, WITH_IDS),
    ],
)
def test_an_id_is_not_dropped_in_training(call, tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("low lower lowest")
    with pytest.raises(TypeError, match=r"special_tokens has ids \(\{'<x>': 3\}\)") as caught:
        call(path)
    assert str(caught.value).endswith("the names alone: ['<x>']")


def test_ids_are_kept_where_they_are_given():
    made = Tokenizer(BYTES, [], {"<x>": 300})
    assert made.special_tokens == {"<x>": 300}
    assert reference.BPETokenizer(BYTES, [], {"<x>": 300}).special_tokens == {"<x>": 300}
    assert GPT2.with_special_tokens({"<x>": 60000}).special_tokens["<x>"] == 60000
    names = made.special_tokens.keys()
    assert bytepair.count_pieces(["a<x>b"], special_tokens=names).special_tokens == ("<x>",)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: PieceCounts(special_tokens="<x>"), "write ['<x>'] for one token"),
        (lambda: COUNTS.check_rules("gpt2", "<x>"), "write ['<x>'] for one token"),
        (lambda: PieceCounts(special_tokens=None), "special_tokens must be a list of str"),
        (lambda: PieceCounts(special_tokens=[b"x"]), "a special token must be str, not bytes"),
        (lambda: bytepair.train(["a"], 300, special_tokens="<x>", base=GPT2), "write ['<x>']"),
        (
            lambda: Tokenizer(BYTES, [], added_tokens=["<x>"]),
            "added_tokens is a mapping from name to id, not list",
        ),
        (
            lambda: reference.train_bpe_from_text("a", 300, None),
            "special_tokens must be a list of str, not NoneType; pass [] for none",
        ),
        (
            lambda: reference.split_on_special_tokens("a", None),
            "special_tokens must be a list of str, not NoneType; pass [] for none",
        ),
        (
            lambda: reference.train_bpe_from_text("a", 300, [b"<x>"]),
            "special token 0 must be str, not b'<x>'",
        ),
        (
            lambda: reference.BPETokenizerSimple().train("a", 300, WITH_IDS),
            "allowed_special must be a set or list of str, not dict",
        ),
        (
            lambda: reference.BPETokenizerSimple().train("a", 300, "<x>"),
            "allowed_special must be a set or list of str, not str",
        ),
    ],
)
def test_special_tokens_of_another_type(call, words):
    with pytest.raises(TypeError) as caught:
        call()
    assert words in str(caught.value)
