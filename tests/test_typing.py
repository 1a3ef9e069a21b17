"""The types a caller sees, asserted for the type checker; running them checks the values too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import bytepair
from bytepair import PieceCounts, Tokenizer
from bytepair.vocab import VocabView

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:

    def assert_type(value, _):
        """What `typing.assert_type` does at run time, for Pythons that lack it."""
        return value


def test_a_tokenizer_has_the_types_of_its_documentation(tmp_path: Path) -> None:
    tokenizer = bytepair.get_encoding("gpt2")
    assert_type(tokenizer, Tokenizer)
    assert_type(tokenizer.encode("a"), list[int])
    assert_type(tokenizer.encode("a", allowed_special={"x"}, disallowed_special="all"), list[int])
    assert_type(tokenizer.encode_ordinary("a"), list[int])
    assert_type(tokenizer.encode_batch(["a"], threads=1), list[list[int]])
    assert_type(next(tokenizer.encode_iterable(["a"])), int)
    assert_type(tokenizer.count("a", limit=3), int)
    assert_type(tokenizer.decode([64]), str)
    assert_type(tokenizer.decode_bytes([64]), bytes)
    assert_type(tokenizer.decode_batch([[64]]), list[str])
    assert_type(tokenizer.token_bytes(64), bytes)
    assert_type(tokenizer.token_id(b"a"), int)
    assert_type(tokenizer.token_strings("a"), list[str])
    assert_type(tokenizer.is_special(64), bool)
    assert_type(tokenizer.vocab, VocabView)
    assert_type(tokenizer.vocab[64], bytes)
    assert_type(tokenizer.merges, list[tuple[bytes, bytes]])
    assert_type(tokenizer.special_tokens, dict[str, int])
    assert_type(tokenizer.pattern, str | list[str] | None)
    assert_type(tokenizer.name, str | None)
    assert_type(tokenizer.fingerprint, str)
    assert_type(tokenizer.vocab_size, int)
    tokenizer.save(tmp_path / "gpt2.json")
    assert_type(Tokenizer.load(tmp_path / "gpt2.json"), Tokenizer)
    assert_type(tokenizer.with_special_tokens(["<x>"]), Tokenizer)


def test_training_has_the_types_of_its_documentation() -> None:
    counts = bytepair.count_pieces(["low low lower"], threads=1)
    assert_type(counts, PieceCounts)
    assert_type(counts[b" low"], int)
    assert_type(counts + counts, PieceCounts)
    assert_type(counts.scale(2), PieceCounts)
    assert_type(counts.most_common(1), list[tuple[bytes, int]])
    assert_type(bytepair.train(counts, 258), Tokenizer)
    vocab, merges = bytepair.train_bpe_from_text("low low lower", 257)
    assert_type(vocab, dict[int, bytes])
    assert_type(merges, list[tuple[bytes, bytes]])
