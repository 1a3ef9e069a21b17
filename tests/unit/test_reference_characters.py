"""The readable merging of characters against the core, on real vocabularies and made-up ones."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bytepair import Tokenizer, _core
from bytepair.reference.characters import merge_characters, ranks_of_pairs, ranks_of_scores


def spelled(tokenizer: Tokenizer) -> dict[str, int]:
    """The tokens of a vocab that merging knows, as the readable half spells them."""
    symbols = tokenizer._model.symbols
    of_bytes = {id: byte for byte, id in enumerate(symbols["byte_ids"])}
    ids = {f"<0x{byte:02X}>": id for id, byte in of_bytes.items()}
    for id, token in tokenizer._model.items():
        if id not in of_bytes:
            ids[token.decode()] = id
    return ids


@pytest.mark.parametrize("kind", ["english", "code", "multilingual"])
def test_mistral(kind, shared, corpus_text):
    tokenizer = Tokenizer.load(shared / "data" / "vocabs" / "mistral" / "tokenizer.model.v1")
    ids = spelled(tokenizer)
    texts = {id: text for text, id in ids.items()}
    scores = {texts[id]: -rank for id, rank in tokenizer._model.symbols["ranks"]}
    ranks = ranks_of_scores(scores, ids)
    text = corpus_text(kind, 6000)
    for start in range(0, len(text), 300):
        part = text[start : start + 300].replace("▁", " ")
        assert merge_characters(f" {part}", ids, ranks) == tokenizer.encode_ordinary(part)


ALPHABET = "ab é"


@settings(max_examples=150)
@given(
    made=st.lists(st.text(alphabet=ALPHABET, min_size=2, max_size=4), max_size=12, unique=True),
    text=st.text(alphabet="aab é中x", max_size=60),
    by_pair=st.booleans(),
    seed=st.randoms(use_true_random=False),
)
def test_made_up_vocabularies(made, text, by_pair, seed):
    ids = {token: id for id, token in enumerate(["<unk>", *ALPHABET, *made])}
    scores = {token: seed.randrange(4) for token in ids if token != "<unk>"}
    pairs = [
        (token[:middle], token[middle:])
        for token in made
        for middle in range(1, len(token))
        if {token[:middle], token[middle:]} <= ids.keys()
    ]
    vocab = {id: token.encode() for token, id in ids.items() if id}
    if by_pair:
        seed.shuffle(pairs)
        ranks = ranks_of_pairs(pairs, ids)
        merges = [(left.encode(), right.encode()) for left, right in pairs]
        model = _core.Model.from_symbols(vocab, merges=merges, unknown=0)
    else:
        ranks = ranks_of_scores(scores, ids)
        order = [(ids[token], 9 - score) for token, score in scores.items()]
        model = _core.Model.from_symbols(vocab, ranks=order, unknown=0)
    ours = Tokenizer._assemble(model, {"<unk>": 0}, pattern=None, name=None)
    assert ours.encode_ordinary(text) == merge_characters(text, ids, ranks, unknown=0)


def test_what_nothing_stands_for():
    with pytest.raises(ValueError, match="'x' is no token"):
        merge_characters("ax", {"a": 0}, {})
