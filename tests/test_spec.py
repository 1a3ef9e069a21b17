"""Runs the behaviour suite, `spec/*.toml`, against the package and against `bytepair.reference`.

The schema is in `spec/README.md`. `Package` and `Reference` are the two adapters: the same few
methods over either half. An entry that an adapter cannot run, because that half does not have the
feature or would need hours, is left out by `can`, which says why.
"""

from __future__ import annotations

import builtins
import functools
import hashlib
import sys
import warnings
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import bytepair
from bytepair import reference

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SPEC = Path(__file__).resolve().parent.parent / "spec"
SINGLE_BYTES = {byte: bytes([byte]) for byte in range(256)}
Case = dict[str, Any]


# --- reading the suite ------------------------------------------------------------------------


@functools.cache
def document(file: str) -> Case:
    return tomllib.loads((SPEC / file).read_text(encoding="utf-8"))


def cases(*globs: str) -> Iterator[tuple[str, Case]]:
    """The entries of some files, each with its file's own pattern where it names none."""
    for glob in globs:
        paths = sorted(SPEC.glob(glob))
        assert paths, f"no file is {glob}"
        for path in paths:
            file = path.relative_to(SPEC).as_posix()
            shared = {key: value for key, value in document(file).items() if key != "case"}
            for case in document(file)["case"]:
                yield file, {**shared, **case}


def text_of(value: str | Case) -> str:
    if isinstance(value, str):
        return value
    return value.get("prefix", "") + value["repeat"] * value["times"] + value.get("suffix", "")


def bytes_of(value: str | Case) -> bytes:
    if isinstance(value, dict) and "hex" in value:
        return bytes.fromhex(value["hex"])
    return text_of(value).encode()


def pairs_of(values: list[Any]) -> list[tuple[bytes, bytes]]:
    return [(bytes_of(left), bytes_of(right)) for left, right in values]


def vocab_of(values: list[Any]) -> dict[int, bytes]:
    return {id_: bytes_of(value) for id_, value in enumerate(values)}


def special_of(case: Case) -> dict[str, int]:
    """The special tokens of a base; those of a list have the ids after the single bytes."""
    tokens = case.get("special_tokens", [])
    if isinstance(tokens, dict):
        return tokens
    return {token: 256 + position for position, token in enumerate(tokens)}


def assert_ids(ids: Sequence[int], expected: list[int] | Case) -> None:
    if isinstance(expected, list):
        assert list(ids) == expected
        return
    assert len(ids) == expected["count"]
    words = array("I", ids)
    if sys.byteorder == "big":
        words.byteswap()
    assert hashlib.sha256(words.tobytes()).hexdigest() == expected["sha256"]


# --- the two halves ---------------------------------------------------------------------------


@functools.cache
def bundled(name: str) -> bytepair.Tokenizer:
    return bytepair.get_encoding(name)


def pattern_of(case: Case) -> Any:
    """The pattern of an entry as the package takes it."""
    pattern = case.get("pattern", "gpt2")
    return None if pattern is False else pattern


class Package:
    """The Python package over the Rust core."""

    def can(self, file: str, case: Case) -> str | None:
        return None

    def pieces(self, text: str, pattern: Any) -> list[str]:
        return bytepair.patterns.pretokenize(text, pattern)

    def model(self, case: Case, rule: str = "pairs") -> bytepair.Tokenizer:
        """A tokenizer whose pieces are whole texts, from the vocab and merges of a case."""
        return bytepair.Tokenizer(
            vocab_of(case["vocab"]),
            None if rule == "ranks" else pairs_of(case["merges"]),
            pattern=None,
            merge_rule="ranks" if rule == "ranks" else "pairs",
            ignore_merges=rule == "ignore_merges",
        )

    def merge(self, case: Case, rule: str) -> list[int]:
        tokenizer = self.model(case, rule)
        piece = bytes_of(case["piece"])
        try:
            return tokenizer.encode_ordinary(piece.decode())
        except UnicodeDecodeError:
            # No text has this piece, so only the core can be asked for it: `spec.rs` does.
            pytest.skip("the piece is no text")

    def base(self, case: Case) -> bytepair.Tokenizer:
        if "encoding" in case:
            return bundled(case["encoding"])
        return bytepair.Tokenizer(SINGLE_BYTES, [], special_of(case), pattern=pattern_of(case))

    def train(self, case: Case, rule: str) -> list[tuple[bytes, bytes]]:
        options = {key: case[key] for key in ("min_count", "max_token_bytes") if key in case}
        if "counts" in case:
            corpus: Any = bytepair.PieceCounts(
                {bytes_of(piece): count for piece, count in case["counts"]}
            )
        else:
            corpus = iter([text_of(document) for document in case["corpus"]])
            options["pattern"] = pattern_of(case)
        tokenizer = bytepair.train(
            corpus,
            case["vocab_size"],
            special_tokens=case.get("special_tokens", []),
            tie_break=rule,
            **options,
        )
        size = case.get("size", case["vocab_size"])
        assert tokenizer.vocab_size == size
        return list(tokenizer.merges)


class Reference:
    """`bytepair.reference`, pure Python: it lacks features, and long pieces take for ever."""

    LONGEST = 1_000  # time grows with the square of a piece

    def can(self, file: str, case: Case) -> str | None:
        longest = max((len(text_of(case.get(key, ""))) for key in ("text",)), default=0)
        if longest > self.LONGEST and not file.startswith("pretokenize/"):
            return "the reference merges in square time"
        if {"allowed_special", "disallowed_special"} & case.keys():
            return "the reference recognises all special tokens"
        if isinstance(case.get("piece"), dict) and case["piece"].get("times", 0) > self.LONGEST:
            return "the reference merges in square time"
        if case.get("encoding") == "o200k_harmony":
            return "the reference gives an id one name"
        return None

    def pieces(self, text: str, pattern: Any) -> list[str]:
        if pattern in (None, *reference.PATTERNS):
            return reference.pretokenize(text, pattern)
        # The reference has no sequences and fewer names; a sequence is what this loop says.
        steps = bytepair.patterns.regex(pattern)
        pieces = [text] if text else []
        for step in [steps] if isinstance(steps, str) else steps:
            pieces = [piece for whole in pieces for piece in reference.pretokenize(whole, step)]
        return pieces

    def merge(self, case: Case, rule: str) -> list[int]:
        vocab, piece = vocab_of(case["vocab"]), bytes_of(case["piece"])
        ids = {token: id_ for id_, token in reversed(vocab.items())}
        if rule == "ranks":
            tokens = reference.merge_by_ranks(piece, ids)
        elif rule == "ignore_merges" and piece in ids:
            tokens = (piece,)
        else:
            ranks = {pair: rank for rank, pair in enumerate(pairs_of(case["merges"]))}
            tokens = reference.merge_by_pairs(piece, ranks)
        return [ids[token] for token in tokens]

    def base(self, case: Case) -> reference.BPETokenizer:
        if "encoding" in case:
            return self._encoding(case["encoding"])
        return reference.BPETokenizer(SINGLE_BYTES, [], special_of(case), pattern=pattern_of(case))

    @staticmethod
    @functools.cache
    def _encoding(name: str) -> reference.BPETokenizer:
        """A bundled encoding: by pairs for gpt2, as it was published, by ranks for the others."""
        ours = bundled(name)
        return reference.BPETokenizer(
            {id_: token for id_, token in ours.vocab.items() if not ours.is_special(id_)},
            ours.merges if name == "gpt2" else [],
            ours.special_tokens,
            pattern={"cl100k_base": "cl100k", "o200k_base": "o200k"}.get(name, "gpt2"),
            merge_rule="pairs" if name == "gpt2" else "ranks",
        )

    def train(self, case: Case, rule: str) -> list[tuple[bytes, bytes]]:
        special = case.get("special_tokens", [])
        counts: Counter[bytes] = Counter()
        for piece, count in case.get("counts", []):
            counts[bytes_of(piece)] += count
        for text in case.get("corpus", []):
            counts.update(reference.count_pretokens(text_of(text), special, pattern_of(case)))
        rules = reference.Rules(rule, case.get("min_count", 1), case.get("max_token_bytes"))
        wanted = case["vocab_size"] - 256 - len(special)
        slowly = reference.learn_merges_slowly(counts, wanted, rules)
        assert reference.learn_merges(counts, wanted, rules) == slowly
        size = 256 + len(special) + len(slowly)
        if size < case["vocab_size"]:
            warnings.warn(f"the vocab has {size} tokens", stacklevel=1)
        return slowly


HALVES = {"package": Package(), "reference": Reference()}


def each(*globs: str, halves: Iterable[str] = HALVES) -> pytest.MarkDecorator:
    """Parametrize a test by half and entry."""
    found = []
    for half in halves:
        for file, case in cases(*globs):
            reason = HALVES[half].can(file, case)
            marks = [pytest.mark.skip(reason=reason)] if reason else []
            label = f"{half}-{file.removesuffix('.toml')}-{case['name']}".replace(" ", "_")
            found.append(pytest.param(HALVES[half], case, id=label, marks=marks))
    return pytest.mark.parametrize(("half", "case"), found)


# --- the runners ------------------------------------------------------------------------------


def test_every_file_is_run():
    known = {"pretokenize", "encode", "merge", "train", "special", "stream", "decode", "errors"}
    known |= {"encodings", "stream_decode", "encode_bytes", "offsets", "cut"}
    for path in SPEC.rglob("*.toml"):
        file = path.relative_to(SPEC)
        assert file.parts[0].removesuffix(".toml") in known, f"no runner reads {file}"
        names = [case["name"] for case in document(file.as_posix())["case"]]
        assert len(names) == len(set(names)), f"a name occurs twice in {file}"


@each("encodings.toml", halves=["package"])
def test_encodings(half, case):
    encoding = half.base({"encoding": case["name"]})
    special = {**case["special_tokens"], **case.get("aliases", {})}
    first, last = case.get("reserved", (0, -1))
    named = set(case["special_tokens"].values())
    special |= {f"<|reserved_{id_}|>": id_ for id_ in range(first, last + 1) if id_ not in named}
    assert encoding.special_tokens == special
    assert encoding.vocab_size == case["vocab_size"]
    assert encoding.pattern == case["pattern"]
    for token, id_ in case["special_tokens"].items():
        assert encoding.decode([id_]) == token


@each("pretokenize/*.toml")
def test_pretokenize(half, case):
    text = text_of(case["text"])
    pieces = half.pieces(text, pattern_of(case))
    assert pieces == [text_of(piece) for piece in case["pieces"]]
    assert "".join(pieces) == text


@each("pretokenize/*.toml", halves=["package"])
def test_the_general_engine_agrees_with_the_scanners(half, case):
    text = text_of(case["text"])
    if len(text) > 10_000:
        pytest.skip("a regular expression may give up on a long run")
    regexes = bytepair.patterns.regex(pattern_of(case))
    pieces = bytepair._core.pretokenize(text, regexes, general=True)
    assert pieces == [text_of(piece) for piece in case["pieces"]]


@each("merge.toml")
def test_merge(half, case):
    rules = [rule for rule in ("pairs", "ignore_merges", "ranks") if rule in case]
    assert rules
    for rule in rules:
        assert_ids(half.merge(case, rule), case[rule])


@each("train.toml")
def test_train(half, case):
    assert case["merges"]
    for rule, merges in case["merges"].items():
        if "size" in case:
            with pytest.warns(Warning, match=str(case["size"])):
                got = half.train(case, rule)
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                got = half.train(case, rule)
        assert got == pairs_of(merges), rule


@each("encode/*.toml")
def test_encode(half, case):
    text = text_of(case["text"])
    for encoding, ids in case["ids"].items():
        tokenizer = half.base({"encoding": encoding})
        got = tokenizer.encode_ordinary(text)
        assert_ids(got, ids)
        assert tokenizer.decode(got) == text


@each("encode/*.toml", halves=["package"])
def test_other_ways_to_encode(half, case):
    text = text_of(case["text"])
    # One encoding is enough for a long run: tests/limits has the rest.
    values = case["ids"] if len(text) < 10_000 else {"cl100k_base": case["ids"]["cl100k_base"]}
    for encoding, ids in values.items():
        tokenizer = half.base({"encoding": encoding})
        expected = len(ids) if isinstance(ids, list) else ids["count"]
        assert tokenizer.count(text, allowed_special=()) == expected
        (batched,) = tokenizer.encode_batch([text], allowed_special=())
        assert_ids(batched, ids)
        halves = [text[: len(text) // 2], text[len(text) // 2 :]]
        assert_ids(list(tokenizer.encode_iterable(halves, allowed_special=())), ids)


@each("special.toml")
def test_special(half, case):
    options = {key: case[key] for key in ("allowed_special", "disallowed_special") if key in case}
    for key, value in options.items():
        options[key] = value if value == "all" else set(value)
    tokenizer, text = half.base(case), text_of(case["text"])
    if "error" not in case:
        ids = tokenizer.encode(text, **options)
        assert ids == case["ids"]
        if case.get("encoding") != "o200k_harmony":  # two names of one id decode as the first
            assert tokenizer.decode(ids) == text
        return
    with pytest.raises(getattr(builtins, case["error"])) as caught:
        tokenizer.encode(text, **options)
    assert all(part in str(caught.value) for part in case["says"])


@each("stream.toml")
def test_stream(half, case):
    tokenizer, text, ids = half.base(case), case["text"], case["ids"]
    chunkings = [*case["chunkings"], list(text), *([text[:n], text[n:]] for n in range(len(text)))]
    assert tokenizer.encode(text) == ids
    for chunks in chunkings:
        assert "".join(chunks) == text
        assert list(tokenizer.encode_iterable(chunks)) == ids, chunks


@each("decode.toml")
def test_decode(half, case):
    tokenizer = half.base(case)
    ids = case["ids"] if "ids" in case else list(bytes_of(case["bytes"]))
    assert tokenizer.decode(ids) == case["text"]
    if case.get("strict", True):
        assert tokenizer.decode(ids, errors="strict") == case["text"]
    else:
        with pytest.raises(UnicodeDecodeError):
            tokenizer.decode(ids, errors="strict")


@each("stream_decode.toml", halves=["package"])
def test_stream_decode(half, case):
    tokenizer = half.base(case)
    ids = case["ids"] if "ids" in case else list(bytes_of(case["bytes"]))
    stream = tokenizer.stream_decoder(case.get("prompt"))
    # Twice: a stream that has ended is at its start, where no prompt is.
    for _ in range(1 if "prompt" in case else 2):
        assert [stream.feed(id_) for id_ in ids] == case["texts"]
        assert stream.finish() == case.get("finish", "")
    if "prompt" not in case:
        joined = "".join(case["texts"]) + case.get("finish", "")
        assert tokenizer.decode(ids) == "".join(tokenizer.decode_iterable(ids)) == joined


@each("encode_bytes.toml", halves=["package"])
def test_encode_bytes(half, case):
    tokenizer, data = half.base(case), bytes_of(case["bytes"])
    assert tokenizer.encode(data) == case["ids"]
    assert tokenizer.count(data) == len(case["ids"])
    assert tokenizer.decode_bytes(case["ids"]) == data


@each("offsets.toml", halves=["package"])
def test_offsets(half, case):
    tokenizer = half.base(case)
    for unit, key in [("char", "chars"), ("byte", "bytes"), ("utf16", "utf16")]:
        ids, spans = tokenizer.encode_with_offsets(case["text"], unit=unit)
        assert ids == tokenizer.encode(case["text"])
        assert spans == [tuple(span) for span in case[key]]


@each("cut.toml", halves=["package"])
def test_cut(half, case):
    tokenizer, text, most = half.base(case), case["text"], case["most"]
    for side in ("right", "left", "middle"):
        assert tokenizer.truncate(text, most, side=side) == case[side]
    if "chunks" in case:
        chunks = tokenizer.chunk(text, most, prefer=case.get("prefer", ()))
        assert [chunk.text for chunk in chunks] == case["chunks"]


def fail(case: Case) -> None:
    """Do what an entry of errors.toml says, which must raise."""
    half = HALVES["package"]
    if case["do"] == "train":
        half.train(case, "lexicographic")
        return
    if "vocab" in case:
        tokenizer = half.model(case)
    elif isinstance(case.get("special_tokens"), list):
        tokenizer = bytepair.Tokenizer(SINGLE_BYTES, [], case["special_tokens"])
    else:
        tokenizer = half.base(case)
    assert case["do"] != "build", "the tokenizer was built"
    if case["do"] == "encode":
        tokenizer.encode(text_of(case["text"]))
    else:
        tokenizer.decode(case["ids"])


@each("errors.toml", halves=["package"])
def test_errors(half, case):
    error = getattr(bytepair.errors, case["error"], None) or getattr(builtins, case["error"])
    with pytest.raises(error) as caught:
        fail(case)
    assert isinstance(caught.value, bytepair.errors.BytepairError)
    assert [part for part in case["says"] if part not in str(caught.value)] == []
