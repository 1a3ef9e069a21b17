"""The readable half: its lessons hold, its published numbers are reproduced, its trainers agree."""

from __future__ import annotations

import doctest
import importlib
import json
import pkgutil
import random
import string
import unicodedata
import warnings
from itertools import pairwise, repeat
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bytepair.reference as ref
from bytepair.reference import demo_texts
from bytepair.reference.__main__ import main
from bytepair.reference.bytemap import spell, unspell
from bytepair.reference.rules import TieBreak

END = "<|endoftext|>"
RULES = get_args(TieBreak)
ENGINES = ["regex", "re"]
BYTES = {byte: bytes([byte]) for byte in range(256)}

# Small alphabets make ties, runs and overlaps; the last holds what patterns stumble over.
texts = st.sampled_from(["a", "ab", "ab ", "aéĠ 中\n"]).flatmap(lambda a: st.text(a, max_size=40))
nasty = st.text(
    st.one_of(
        st.sampled_from(
            list("ab'sSdtLlVv eERr\n\r\t 1²Ⅷ٣!/_.é中🙃\u0301ſAǅ\x1c\x85\xa0\u2003\u3000")
        ),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=40,
)
counts = st.dictionaries(st.text("abc", min_size=1, max_size=9), st.integers(1, 9), max_size=8).map(
    lambda words: {word.encode(): count for word, count in words.items()}
)
specials = st.lists(st.text("ab<", min_size=1, max_size=4), max_size=4, unique=True)


def train(text, *args, **options):
    """Train without the warning that small corpora are too small."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ref.train_bpe_from_text(text, *args, **options)


def cut(text, places):
    ends = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    return [text[start:end] for start, end in pairwise(ends)]


LESSONS = [module.name for module in pkgutil.iter_modules(ref.__path__, "bytepair.reference.")]


@pytest.mark.parametrize("name", ["bytepair.reference", *LESSONS])
def test_the_examples_in_the_lessons_run(name):
    module = importlib.import_module(name)
    tried = doctest.testmod(module)
    assert tried.failed == 0
    assert tried.attempted > 0 or "demo" in name or "__main__" in name


# --- special tokens ---------------------------------------------------------------------------


@given(st.text("ab<", max_size=30), specials)
def test_splitting_keeps_everything_and_prefers_the_longest(text, tokens):
    parts = ref.split_on_special_tokens(text, tokens)
    assert "".join(parts) == text
    assert "" not in parts
    position = 0
    for part in parts:
        here = [token for token in tokens if text.startswith(token, position)]
        assert not here or part == max(here, key=len)
        if not here:
            assert not any(token in part for token in tokens)
        position += len(part)


@pytest.mark.parametrize("order", [1, -1])
def test_overlapping_special_tokens_do_not_depend_on_order(order):
    tokens = ["<A>", "<B>", "<B><A>"][::order]
    assert ref.split_on_special_tokens("<A><B><A>", tokens) == ["<A>", "<B><A>"]


def test_special_tokens_are_not_patterns():
    assert ref.split_on_special_tokens("ab.*", [".*"]) == ["ab", ".*"]


def test_wrong_special_tokens_are_refused():
    with pytest.raises(ValueError, match="special token 1 is empty"):
        ref.split_on_special_tokens("a", ["b", ""])
    with pytest.raises(ValueError, match="listed twice"):
        ref.split_on_special_tokens("a", ["b", "b"])
    with pytest.raises(TypeError, match="pass a list"):
        ref.split_on_special_tokens("a", END)


# --- pretokenization --------------------------------------------------------------------------


@given(nasty, st.sampled_from([*ref.PATTERNS, r"\w", r"(?=a)|b+", r"(?!)", None]))
def test_pieces_lose_nothing(text, pattern):
    pieces = ref.pretokenize(text, pattern)
    assert "".join(pieces) == text
    assert "" not in pieces


@given(nasty, st.sampled_from(["gpt2", "cl100k"]))
def test_the_approximation_loses_nothing_and_differs_as_documented(text, pattern):
    assert "".join(ref.pretokenize(text, pattern, engine="re")) == text
    known = "".join(c for c in text if unicodedata.category(c) not in ("No", "Nl", "Cn"))
    exact = ref.pretokenize(known, pattern, engine="regex")
    assert ref.pretokenize(known, pattern, engine="re") == exact


def test_pieces_of_the_published_patterns():
    text = "I'm  HELLOworld, 12345 n't\n\nEND!\n x"
    assert ref.pretokenize(text) == [
        *("I", "'m", " ", " HELLOworld", ",", " 12345", " n", "'t", "\n", "\n", "END", "!"),
        *("\n", " x"),
    ]
    assert ref.pretokenize(text, "cl100k") == [
        *("I", "'m", " ", " HELLOworld", ",", " ", "123", "45", " n", "'t", "\n\n", "END"),
        *("!\n", " x"),
    ]
    assert ref.pretokenize(text, "o200k") == [
        *("I'm", " ", " HELLOworld", ",", " ", "123", "45", " n't", "\n\n", "END", "!\n", " x"),
    ]


def test_text_that_the_pattern_does_not_match_stays_a_piece():
    assert ref.pretokenize("ab--cd", r"[a-z]+") == ["ab", "--", "cd"]
    assert ref.pretokenize("1234567", r"(?=(\d{3})+(?!\d))") == ["1", "234", "567"]
    assert ref.pretokenize("ab cd", None) == ["ab cd"]
    assert ref.pretokenize("", None) == []


def test_what_the_standard_library_cannot_do_is_refused():
    with pytest.raises(ValueError, match="pip install regex"):
        ref.pretokenize("a", "o200k", engine="re")
    with pytest.raises(ValueError, match="engine is 'pcre'"):
        ref.pretokenize("a", engine="pcre")


# --- merging ----------------------------------------------------------------------------------


def test_pairs_and_ranks_are_two_rules():
    ranks = {b"a": 0, b"b": 1, b"c": 2, b"ab": 3, b"bc": 4, b"abc": 5}
    pairs = {(b"a", b"b"): 0, (b"b", b"c"): 1, (b"a", b"bc"): 2}
    assert ref.merge_by_pairs(b"abcabc", pairs) == (b"ab", b"c", b"ab", b"c")
    assert ref.merge_by_ranks(b"abcabc", ranks) == (b"abc", b"abc")


def test_runs_are_merged_from_the_left():
    assert ref.merge_word((b"a",) * 5, (b"a", b"a")) == (b"aa", b"aa", b"a")
    assert ref.merge_by_pairs(b"a" * 5, {(b"a", b"a"): 0}) == (b"aa", b"aa", b"a")


@given(texts, texts)
def test_encoding_repeats_what_training_did(text, other):
    """Merging a piece by rank gives what applying the merges in their order gives."""
    vocab, merges = train(text, 280)
    pair_ranks = {pair: rank for rank, pair in enumerate(merges)}
    token_ranks = {token: id_ for id_, token in vocab.items()}
    for piece in ref.pretokenize(text + other):
        word = tuple(bytes([byte]) for byte in piece.encode())
        for pair in merges:
            word = ref.merge_word(word, pair)
        assert ref.merge_by_pairs(piece.encode(), pair_ranks) == word
        assert ref.merge_by_ranks(piece.encode(), token_ranks) == word


# --- training ---------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
@given(counts=counts, min_count=st.integers(1, 4), longest=st.none() | st.integers(1, 5))
def test_the_incremental_trainer_equals_the_slow_one(rule, counts, min_count, longest):
    rules = ref.Rules(rule, min_count, longest)
    merges = ref.learn_merges_slowly(counts, 20, rules)
    assert ref.learn_merges(counts, 20, rules) == merges
    assert ref.learn_merges(counts, 3, rules) == merges[:3]
    tokens = [left + right for left, right in merges]
    assert len(set(tokens)) == len(tokens), "two merges made the same token"
    assert all(len(token) <= (longest or 99) for token in tokens)


def test_no_two_merges_make_the_same_token_in_runs():
    source = random.Random(7)
    for _ in range(300):
        words = ["".join(source.choices("ab", [4, 1], k=source.randint(2, 14))) for _ in range(6)]
        merges = ref.learn_merges({word.encode(): 1 for word in words}, 40, ref.Rules())
        assert len({left + right for left, right in merges}) == len(merges)


def test_the_course_example():
    """Low, lower, widest, newest: the handout's six merges and the six after them."""
    words = {b"low": 5, b"lower": 2, b"widest": 3, b"newest": 6}
    merges = ref.learn_merges(words, 99, ref.Rules())
    spelled = [f"{spell(left)} {spell(right)}" for left, right in merges]
    assert spelled == [
        *("s t", "e st", "o w", "l ow", "w est", "n e"),
        *("ne west", "w i", "wi d", "wid est", "low e", "lowe r"),
    ]
    hugging_face = ref.learn_merges(words, 6, ref.Rules("huggingface"))
    assert [left + right for left, right in hugging_face] == [
        *(b"es", b"est", b"lo", b"low", b"ew", b"new")
    ]


def test_the_wikipedia_example():
    vocab, merges = train("aaabdaaabac", 259, tie_break="first_seen")
    assert merges == [(b"a", b"a"), (b"aa", b"a"), (b"aaa", b"b")]
    assert ref.BPETokenizer(vocab, merges).encode("aaabdaaabac") == [258, 100, 258, 97, 99]


def test_pairs_that_overlap_are_counted():
    assert train("aaa aaa", 259)[1] == [(b"a", b"a"), (b"aa", b"a"), (b" ", b"aaa")]


def test_ties_do_not_depend_on_the_order_of_the_text():
    for text in ("bbbaaaddddcccc", "aaabbbccccdddd"):
        tokens = [left + right for left, right in train(text, 260, tie_break="huggingface")[1]]
        assert tokens == [b"cc", b"dd", b"aa", b"bb"]


def test_the_course_corpus_gives_the_published_merges(shared):
    folder = shared / "data" / "texts"
    vocab, merges = ref.train_bpe(folder / "cs336_corpus.en", 500, [END])
    lines = (folder / "cs336_corpus.en.merges.txt").read_text(encoding="utf-8").splitlines()
    assert merges == [tuple(unspell(part) for part in line.split(" ")) for line in lines]
    assert len(merges) == 243
    published = json.loads((folder / "cs336_corpus.en.vocab.json").read_text(encoding="utf-8"))
    assert set(vocab.values()) == {unspell(token) for token in published}
    assert vocab[256] == END.encode()


def hugging_face(text, size):
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    byte_level = tokenizers.pre_tokenizers.ByteLevel
    tokenizer.pre_tokenizer = byte_level(add_prefix_space=False)
    alphabet = byte_level.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=size, show_progress=False, initial_alphabet=alphabet
    )
    tokenizer.train_from_iterator([text], trainer)
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [unspell(left) + unspell(right) for left, right in merges]


def rustbpe(text, size):
    tokenizer = pytest.importorskip("rustbpe").Tokenizer()
    tokenizer.train_from_iterator([text], size, pattern=ref.GPT2)
    return [bytes(token) for token, _ in tokenizer.get_mergeable_ranks()][256:]


def first_seen(text, size):
    """The rule of minbpe, written on its own: no counts of pieces, the whole text each time."""
    words = [tuple(bytes([b]) for b in piece.encode()) for piece in ref.pretokenize(text)]
    tokens = []
    while len(tokens) < size - 256:
        seen = {}
        for word in words:
            for pair in pairwise(word):
                seen[pair] = seen.get(pair, 0) + 1
        if not seen:
            break
        best = max(seen, key=seen.get)
        words = [ref.merge_word(word, best) for word in words]
        tokens.append(best[0] + best[1])
    return tokens


@pytest.mark.parametrize(
    ("rule", "rival"),
    [("huggingface", hugging_face), ("lowest_ids", rustbpe), ("first_seen", first_seen)],
)
@given(text=texts, size=st.integers(256, 276))
def test_each_tie_rule_equals_the_trainer_it_is_named_after(rule, rival, text, size):
    merges = train(text, size, tie_break=rule)[1]
    assert [left + right for left, right in merges] == rival(text, size)


@pytest.mark.parametrize(
    ("rule", "rival"), [("huggingface", hugging_face), ("lowest_ids", rustbpe)]
)
def test_each_tie_rule_equals_its_trainer_on_a_real_text(rule, rival, shared):
    path = shared / "data" / "texts" / "cs336_corpus.en"
    text = path.read_text(encoding="utf-8").replace(END, "\n")
    merges = train(text, 1500, tie_break=rule)[1]
    assert [left + right for left, right in merges] == rival(text, 1500)


@given(st.lists(texts, max_size=4), specials.filter(bool))
def test_special_tokens_are_never_learned(parts, tokens):
    text = tokens[0].join(parts)
    vocab, merges = train(text, 290, tokens)
    assert not any(token.encode() in left + right for left, right in merges for token in tokens)
    assert len(set(vocab.values())) == len(vocab)
    assert sorted(vocab) == list(range(len(vocab)))


def test_the_places_of_special_tokens():
    first, second = b"<1>", b"<2>"
    for place, ids in {"after_bytes": (256, 257), "first": (0, 1), "last": (258, 259)}.items():
        vocab, merges = train("low low low", 260, ["<1>", "<2>"], special_ids=place)
        assert len(merges) == 2
        assert (vocab[ids[0]], vocab[ids[1]]) == (first, second)
    assert train("low low low", 260, ["<1>"], special_ids="first")[0][1] == b"\0"
    vocab, merges = train("low|low", 258, ["|"])
    assert len(merges) == 2, "a special token of one byte is in the vocab already"


def test_wrong_options_are_refused_with_the_way_out():
    with pytest.raises(ValueError, match=r"vocab_size is 257; the least is 258"):
        ref.train_bpe_from_text("abc", 257, ["<1>", "<2>"])
    with pytest.raises(ValueError, match="tie_break is 'random'"):
        ref.train_bpe_from_text("abc", 257, tie_break="random")
    with pytest.raises(ValueError, match="special_ids is 'nowhere'"):
        ref.train_bpe_from_text("abc", 257, special_ids="nowhere")
    with pytest.raises(ValueError, match="min_count is 0"):
        ref.train_bpe_from_text("abc", 257, min_count=0)
    with pytest.raises(ValueError, match="max_token_bytes is 0"):
        ref.train_bpe_from_text("abc", 257, max_token_bytes=0)


@pytest.mark.parametrize(
    ("text", "options", "merges"),
    [
        ("aaaa", {}, [(b"a", b"a"), (b"aa", b"aa")]),
        ("", {}, []),
        (" ", {}, []),
        ("hello hello", {"max_token_bytes": 1}, []),
        ("aaaa", {"min_count": 2}, [(b"a", b"a")]),
    ],
)
@pytest.mark.parametrize("trainer", [ref.train_bpe_from_text, ref.train_bpe_reference])
def test_running_out_of_pairs_warns_with_the_size(trainer, text, options, merges):
    with pytest.warns(UserWarning, match=f"the vocab has {256 + len(merges)} tokens, not 1000"):
        assert trainer(text, 1000, **options)[1] == merges


def test_a_file_is_read_as_it_is(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_bytes("x\r\n\r\n\r\nx 中中".encode())
    trained = ref.train_bpe(path, 260)
    assert trained == train("x\r\n\r\n\r\nx 中中", 260)
    assert (b"\r", b"\n") in trained[1]
    path.write_bytes(b"\xff")
    with pytest.raises(UnicodeDecodeError):
        ref.train_bpe(path, 260)


# --- streaming --------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", [*ref.PATTERNS, r"\w+|\s", None])
@given(text=nasty, places=st.lists(st.integers(0, 99), max_size=12))
def test_chunks_do_not_change_the_pieces(pattern, text, places):
    chunks = cut(text, places)
    assert [p for p, _ in ref.stream_pieces(chunks, [], pattern)] == ref.pretokenize(text, pattern)
    assert [p for p, _ in ref.stream_pieces(text, [], pattern)] == ref.pretokenize(text, pattern)


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k"])
@given(text=nasty, places=st.lists(st.integers(0, 99), max_size=12))
def test_chunks_do_not_change_the_approximate_pieces(pattern, text, places):
    pieces = ref.stream_pieces(cut(text, places), [], pattern, engine="re")
    assert [piece for piece, _ in pieces] == ref.pretokenize(text, pattern, engine="re")


@given(st.text("ab< \n", max_size=30), specials, st.lists(st.integers(0, 99), max_size=12))
def test_chunks_do_not_change_special_tokens(text, tokens, places):
    tokenizer = ref.BPETokenizer(BYTES, [], [token for token in tokens if len(token) > 1])
    expected = tokenizer.encode(text)
    assert list(tokenizer.encode_iterable(cut(text, places))) == expected
    assert list(tokenizer.encode_iterable(text)) == expected


@pytest.mark.parametrize(
    "prose", ["The cat sat on the mat. ", "我们坐在窗边。\n", "a <|endof text"]
)
@pytest.mark.parametrize("pattern", ref.PATTERNS)
def test_a_stream_need_not_end(prose, pattern):
    tokenizer = ref.BPETokenizer(BYTES, [], [END], pattern=pattern)
    ids = tokenizer.encode_iterable(repeat(prose))
    start = bytes(next(ids) for _ in range(10_000))
    assert (prose * 1000).encode().startswith(start)


# --- the demonstrations -----------------------------------------------------------------------


def test_both_languages_say_the_same_things():
    def fields(table):
        return {
            key: sorted(f for _, f, _, _ in string.Formatter().parse(text) if f is not None)
            for key, text in table.items()
        }

    assert fields(demo_texts.ENGLISH) == fields(demo_texts.CHINESE)


@pytest.mark.parametrize("language", demo_texts.LANGUAGES)
def test_the_demonstrations_run_and_prove_what_they_say(language, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["bytepair.reference", "--lang", language])
    main()
    shown = capsys.readouterr().out
    table = demo_texts.LANGUAGES[language]
    titles = [text for key, text in table.items() if key.endswith(".title")]
    assert len(titles) == 7
    assert [line for line in shown.splitlines() if line in titles] == titles
    assert table["no"] not in shown
    assert shown.count(table["yes"]) >= 13
