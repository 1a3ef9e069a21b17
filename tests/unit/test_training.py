"""Training: what a corpus may be, what the options do, what is returned and what is refused."""

from __future__ import annotations

import gzip
import itertools
import random
import warnings
from collections import Counter
from collections.abc import Iterator

import pytest

from bytepair import (
    PieceCounts,
    Progress,
    Tokenizer,
    count_pieces,
    errors,
    reference,
    train,
    train_bpe,
    train_bpe_from_text,
)

END = "<|endoftext|>"
TEXT = f"low low low lower newest widest, the newest low: 12 124 é 中文 中文{END}low\r\n\r\n"
DOCUMENTS = ["the cat in the hat", "the bat\n\nand the rat", "", "那只猫在帽子里, 那只猫"]


def merges_of(documents: list[str], vocab_size: int, **options) -> list[tuple[bytes, bytes]]:
    """What is learned from texts, without a word when that is less than was asked for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.TrainingWarning)
        return train(iter(documents), vocab_size, special_tokens=[], **options).merges


# --- the course's two functions ---------------------------------------------------------------


def test_train_bpe_from_text_is_the_reference():
    vocab, merges = train_bpe_from_text(TEXT, 280, [END])
    assert (vocab, merges) == reference.train_bpe_from_text(TEXT, 280, [END])
    assert type(vocab) is dict
    assert type(merges) is list
    assert vocab[256] == END.encode()
    assert len(vocab) == 280


def test_train_bpe_reads_a_file(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_bytes(TEXT.encode())
    expected = train_bpe_from_text(TEXT, 280, [END])
    assert train_bpe(path, 280, [END]) == expected
    assert train_bpe(str(path), 280, special_tokens=[END]) == expected
    assert train_bpe(str(path), 270) == train_bpe_from_text(TEXT, 270)


def test_the_result_makes_a_tokenizer():
    vocab, merges = train_bpe_from_text(TEXT, 280, [END])
    tokenizer = Tokenizer(vocab, merges, [END])
    assert tokenizer.decode(tokenizer.encode(TEXT)) == TEXT
    assert tokenizer == train(iter([TEXT]), 280, special_tokens=[END])


# --- what a corpus may be ---------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    for number, document in enumerate(DOCUMENTS):
        (tmp_path / f"{number}.txt").write_bytes(document.encode())
    (tmp_path / "notes.bin").write_bytes(b"\xff\xfe not text")
    return tmp_path


def test_files_in_every_form(folder):
    expected = merges_of(DOCUMENTS, 280)
    paths = [folder / f"{number}.txt" for number in range(len(DOCUMENTS))]
    forms = [
        folder,
        str(folder),
        str(folder / "*.txt"),
        paths,
        [str(path) for path in reversed(paths)],
        tuple(paths),
    ]
    for form in forms:
        assert train(form, 280, special_tokens=[]).merges == expected, form


def test_one_file(folder):
    for form in (folder / "0.txt", str(folder / "0.txt"), [folder / "0.txt"]):
        assert train(form, 262, special_tokens=[]).merges == merges_of(DOCUMENTS[:1], 262)


def test_iterables_of_text():
    expected = merges_of(DOCUMENTS, 280)
    assert merges_of(list(reversed(DOCUMENTS)), 280) == expected

    def generate() -> Iterator[str]:
        yield from DOCUMENTS

    assert train(generate(), 280, special_tokens=[]).merges == expected
    assert train((text for text in DOCUMENTS), 280, special_tokens=[]).merges == expected


def test_bytes_are_texts_of_utf_8():
    texts = [text.encode() for text in DOCUMENTS]
    assert merges_of(iter(texts), 280) == merges_of(DOCUMENTS, 280)
    assert merges_of([*DOCUMENTS[:1], *texts[1:]], 280) == merges_of(DOCUMENTS, 280)
    with pytest.raises(errors.CorpusError, match=r"item 1 of the corpus: byte 2 is not"):
        train([b"ab", b"ab\xff"], 300)
    replaced = count_pieces([b"ab\xff"], errors="replace", special_tokens=[])
    assert dict(replaced) == {b"ab": 1, b"\xef\xbf\xbd": 1}


def test_piece_counts_as_corpus():
    counts = count_pieces(iter(DOCUMENTS), special_tokens=[])
    assert isinstance(counts, PieceCounts)
    assert train(counts, 280, special_tokens=[]).merges == merges_of(DOCUMENTS, 280)


def test_a_path_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"):
        train(tmp_path / "absent.txt", 300)
    with pytest.raises((FileNotFoundError, ValueError), match="absent"):
        train(str(tmp_path / "absent-*.txt"), 300)
    with pytest.raises(FileNotFoundError, match="absent"):
        train_bpe(tmp_path / "absent.txt", 300)


def test_bad_items_are_named_with_their_place():
    with pytest.raises(TypeError, match=r"1.*NoneType"):
        train(iter(["a", None]), 300)
    with pytest.raises(TypeError, match=r"2.*bytearray"):
        train(iter(["a", b"b", bytearray(b"c")]), 300)
    with pytest.raises(TypeError, match="int"):
        train(5, 300)


def test_a_failing_iterator_passes_its_error_on():
    def broken() -> Iterator[str]:
        yield "some text"
        raise OSError("disk gone")

    with pytest.raises(OSError, match="disk gone"):
        train(broken(), 300)


def test_a_text_is_not_taken_for_characters():
    """A `str` is a path; that of a text is told what to do instead."""
    with pytest.raises((OSError, ValueError), match="hello hello"):
        train("hello hello hello", 300)


@pytest.mark.parametrize("data", [b"abc \xff\xfe abc", "abc".encode("utf-16"), b"ab\xc3"])
def test_a_file_that_is_not_utf_8(tmp_path, data):
    path = tmp_path / "broken.txt"
    path.write_bytes(data)
    offset = len(data) - 1 if data.endswith(b"\xc3") else data.index(b"\xff")
    for call in (lambda: train(path, 300), lambda: train_bpe(path, 300)):
        with pytest.raises(errors.CorpusError, match=rf"broken\.txt.*{offset}"):
            call()


def test_a_lone_surrogate_in_a_text():
    with pytest.raises(UnicodeEncodeError):
        train(iter(["fine", "\ud800"]), 300)


def test_one_very_long_line(tmp_path):
    path = tmp_path / "line.txt"
    path.write_text("abcd" * 300_000, encoding="utf-8")
    assert train(path, 258, special_tokens=[]).merges == [(b"c", b"d"), (b"b", b"cd")]


@pytest.mark.parametrize(
    "data", [b"\xef\xbb\xbflow low", b"low\r\nlow\r\n", b"a\0a\0", b"\n\n\n\n"]
)
def test_bytes_of_a_file_are_kept(tmp_path, data):
    path = tmp_path / "corpus.txt"
    path.write_bytes(data)
    expected = merges_of([data.decode()], 258, pattern=None)
    assert len(expected) == 2
    assert train(path, 258, special_tokens=[], pattern=None).merges == expected


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet", "a.arrow", "a.txt.bz2", "a.txt.zst"])
def test_files_that_are_not_what_their_names_say_are_refused_by_name(tmp_path, name):
    """Better than to learn from what a compressed file looks like as text."""
    path = tmp_path / name
    path.write_bytes(gzip.compress(b"low low"))
    for corpus in (path, str(path), [path], str(tmp_path / "a*")):
        with pytest.raises((errors.CorpusError, ImportError), match=name.replace(".", r"\.")):
            train(corpus, 300)


# --- special tokens ---------------------------------------------------------------------------


def test_special_tokens_cut_the_corpus_and_are_not_counted():
    text = (END + "ab") * 10 + END + "ba"
    with pytest.warns(errors.TrainingWarning):
        tokenizer = train(iter([text]), 300, special_tokens=[END], pattern=None)
    assert tokenizer.merges == [(b"a", b"b"), (b"b", b"a")]
    assert not any(b"<|" in token for id_, token in tokenizer.vocab.items() if id_ != 256)


def test_the_default_special_token_is_endoftext():
    with pytest.warns(errors.TrainingWarning):
        assert train(iter(["ab"]), 300).special_tokens == {END: 256}


@pytest.mark.parametrize(
    ("place", "special", "first_byte", "first_merge"),
    [("after_bytes", [256, 257], 0, 258), ("first", [0, 1], 2, 258), ("last", [298, 299], 0, 256)],
)
@pytest.mark.parametrize("rule", ["lexicographic", "lowest_ids"])
def test_special_ids(place, special, first_byte, first_merge, rule):
    text = " ".join(f"{a}{b}{a}" for a, b in itertools.product("abcdefgh", repeat=2))
    tokenizer = train(
        iter([text]), 300, special_tokens=["<x>", "<y>"], special_ids=place, tie_break=rule
    )
    assert tokenizer.special_tokens == dict(zip(["<x>", "<y>"], special, strict=True))
    assert tokenizer.token_id(b"\0") == first_byte
    assert tokenizer.token_id(b"".join(tokenizer.merges[0])) == first_merge
    assert tokenizer.vocab_size == len(tokenizer.vocab) == 300
    # Where the special tokens go says nothing about the merges.
    other = train(iter([text]), 298, special_tokens=[], tie_break=rule)
    assert tokenizer.merges == other.merges
    assert tokenizer.encode("<y>aba<x>")[0] == special[1]


def test_huggingface_s_tokens_and_special_ids():
    """With both of its choices, a text has Hugging Face's tokens, and merges have its ids."""
    tokenizers = pytest.importorskip("tokenizers")
    byte_level = tokenizers.pre_tokenizers.ByteLevel
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE())
    theirs.pre_tokenizer = byte_level(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=290,
        special_tokens=["<x>"],
        initial_alphabet=byte_level.alphabet(),
        show_progress=False,
    )
    theirs.train_from_iterator(DOCUMENTS * 3, trainer)
    ours = train(
        iter(DOCUMENTS * 3),
        290,
        special_tokens=["<x>"],
        special_ids="first",
        tie_break="huggingface",
    )
    spelled = reference.bytes_to_unicode()
    for text in DOCUMENTS:
        encoding = theirs.encode(text)
        ids = ours.encode(text)
        spellings = ["".join(spelled[byte] for byte in ours.token_bytes(id_)) for id_ in ids]
        assert spellings == encoding.tokens
        # Single bytes are numbered by value here and by their spelling there.
        assert [id_ for id_ in ids if id_ > 256] == [id_ for id_ in encoding.ids if id_ > 256]
    assert ours.encode("<x>") == theirs.encode("<x>").ids == [0]


# --- options ----------------------------------------------------------------------------------


def test_min_count():
    text = "ab ab ab cd cd ef"
    assert merges_of([text], 300, min_count=3, pattern=r"\S+") == [(b"a", b"b")]
    assert len(merges_of([text], 300, min_count=2, pattern=r"\S+")) == 2


def test_max_token_bytes():
    merges = merges_of(["abcdefgh" * 20], 300, max_token_bytes=4)
    assert merges
    assert max(len(left + right) for left, right in merges) == 4


def test_patterns_are_kept_for_use():
    tokenizer = train(iter(DOCUMENTS), 270, pattern="cl100k", special_tokens=[])
    assert tokenizer.pattern == "cl100k"
    assert train(iter(DOCUMENTS), 270, pattern=None, special_tokens=[]).pattern is None


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_threads_do_not_change_the_result(threads, folder):
    expected = merges_of(DOCUMENTS, 280)
    assert merges_of(DOCUMENTS, 280, threads=threads) == expected
    assert train(folder, 280, special_tokens=[], threads=threads).merges == expected


def test_ending_early_warns_with_the_size_reached():
    with pytest.warns(errors.TrainingWarning, match=r"258.*1000|1000.*258"):
        tokenizer = train(iter(["aaaa"]), 1000, special_tokens=[])
    assert tokenizer.vocab_size == 258
    with pytest.warns(errors.TrainingWarning, match="258"):
        vocab, merges = train_bpe_from_text("aaaa", 1000)
    assert len(vocab) == 258
    assert merges == [(b"a", b"a"), (b"aa", b"aa")]


def test_no_warning_without_a_reason():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train(iter(DOCUMENTS), 270)
        assert train(iter([""]), 256, special_tokens=[]).merges == []


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"vocab_size": 255}, "256"),
        ({"vocab_size": 256, "special_tokens": ["<x>"]}, "257"),
        ({"vocab_size": -1}, "256"),
        ({"tie_break": "random"}, "lexicographic"),
        ({"special_ids": "middle"}, "after_bytes"),
        ({"min_count": 0}, "min_count"),
        ({"max_token_bytes": 0}, "max_token_bytes"),
        ({"threads": 0}, "threads"),
        ({"special_tokens": [""]}, "empty"),
        ({"special_tokens": ["<x>", "<x>"]}, "twice"),
        ({"pattern": "no_such"}, "no_such"),
        ({"pattern": "("}, r"\("),
    ],
)
def test_options_that_cannot_be(options, says):
    arguments = {"vocab_size": 300, "special_tokens": [], **options}
    with pytest.raises(ValueError, match=says):
        train(iter(DOCUMENTS), **arguments)


def test_arguments_of_the_wrong_type():
    with pytest.raises(TypeError):
        train(iter(DOCUMENTS), "300")
    with pytest.raises(TypeError, match=r"\['<x>'\]"):
        train(iter(DOCUMENTS), 300, special_tokens="<x>")
    with pytest.raises(TypeError):
        train(iter(DOCUMENTS), 300, ["<x>"])  # options are keyword-only


def test_vocab_size_of_bytes_alone():
    assert train(iter(DOCUMENTS), 256, special_tokens=[]).merges == []
    assert train_bpe_from_text(TEXT, 257, [END]) == (
        {**{byte: bytes([byte]) for byte in range(256)}, 256: END.encode()},
        [],
    )


def test_progress_is_reported(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("the cat in the hat " * 2_000_000, "utf-8")
    seen: list[Progress] = []
    count_pieces(path, progress=seen.append)
    source = random.Random(1)
    pieces = {bytes(source.choices(range(256), k=20)): n for n in range(50_000)}
    train(PieceCounts(pieces), 100_000, special_tokens=[], progress=seen.append)
    for stage, unit in (("count", "bytes"), ("learn", "merges")):
        steps = [step for step in seen if step.stage == stage]
        assert steps, stage
        assert {step.unit for step in steps} == {unit}
        assert [step.done for step in steps] == sorted(step.done for step in steps)
        assert all(0 <= step.done <= (step.total or step.done) for step in steps)
        assert all(step.seconds >= 0 for step in steps)
    with pytest.raises(ZeroDivisionError):
        count_pieces(path, progress=lambda step: 1 // 0)


# --- counting ---------------------------------------------------------------------------------


def test_count_pieces():
    counts = count_pieces(iter(["low low lower", "low" + END + " low"]), special_tokens=[END])
    assert counts[b" low"] == 2
    assert counts[b"low"] == 2
    assert counts[b"absent"] == 0
    assert len(counts) == 3
    assert counts.most_common(1)[0][1] == 2


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_count_pieces_is_the_reference(threads, tmp_path):
    text = TEXT * 30
    expected = reference.count_pretokens(text, [END])
    path = tmp_path / "corpus.txt"
    path.write_bytes(text.encode())
    for corpus in (iter([text]), path):
        counts = count_pieces(corpus, special_tokens=[END], threads=threads)
        assert dict(counts.most_common(10_000)) == expected


def test_counts_of_several_corpora_add_up():
    parts = [count_pieces(iter([text]), special_tokens=[]) for text in DOCUMENTS]
    whole = parts[3] + parts[1] + parts[0] + parts[2]
    counted = Counter()
    for text in DOCUMENTS:
        counted.update(reference.count_pretokens(text))
    assert dict(whole.most_common(10_000)) == dict(counted)
    assert train(whole, 280, special_tokens=[]).merges == merges_of(DOCUMENTS, 280)


def test_counts_beyond_32_bits():
    counts = PieceCounts({b"  ": 3_000_000_000, b"ab": 2_999_999_999})
    assert counts[b"  "] == 3_000_000_000
    assert train(counts, 257, special_tokens=[]).merges == [(b" ", b" ")]
    total = counts + PieceCounts({b"ab": 2**33})
    assert total[b"ab"] == 2_999_999_999 + 2**33
    assert train(total, 257, special_tokens=[]).merges == [(b"a", b"b")]
