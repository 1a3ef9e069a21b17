"""`Tokenizer` as a value: equality, hash, copies, files, variants."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys

import pytest

import bytepair
from bytepair import Tokenizer
from bytepair.data import Packed
from bytepair.errors import ArgumentError, FormatError, VocabError

BYTES = {byte: bytes([byte]) for byte in range(256)}
VOCAB = {**BYTES, 256: b"th", 257: b"the", 258: b"\xf0\x9f", 259: b"\n\n", 260: b" \r"}
MERGES = [(b"t", b"h"), (b"th", b"e"), (b"\xf0", b"\x9f"), (b"\n", b"\n"), (b" ", b"\r")]
TEXT = "the th\n\n x \U0001f642 \r\n<|a|> 12 <|b|>"


def make(**options) -> Tokenizer:
    arguments = {"vocab": VOCAB, "merges": MERGES, "special_tokens": ["<|a|>"], **options}
    return Tokenizer(**arguments)


@pytest.fixture(
    params=["pairs", "ranks", "ignore_merges", "regex", "sequence", "none", "gaps", "bundled"]
)
def tokenizer(request) -> Tokenizer:
    """One tokenizer of each kind that a copy or a file must keep."""
    return {
        "pairs": lambda: make(name="mine"),
        "ranks": lambda: make(merges=None, merge_rule="ranks", pattern="cl100k"),
        "ignore_merges": lambda: make(ignore_merges=True, pattern="o200k"),
        "regex": lambda: make(pattern=r"\p{L}+|[^\p{L}]"),
        "sequence": lambda: make(pattern=[r"\p{N}", r"\s+"]),
        "none": lambda: make(pattern=None),
        "gaps": lambda: make(special_tokens={"<|a|>": 100_000, "<|b|>": 4_000_000_000}),
        "bundled": lambda: bytepair.get_encoding("p50k_edit"),
    }[request.param]()


def assert_same(left: Tokenizer, right: Tokenizer) -> None:
    assert left == right
    assert hash(left) == hash(right)
    assert left.fingerprint == right.fingerprint
    assert left.name == right.name
    assert left.pattern == right.pattern
    assert left.merge_rule == right.merge_rule
    assert left.ignore_merges == right.ignore_merges
    assert left.special_tokens == right.special_tokens
    assert left.merges == right.merges
    assert dict(left.vocab) == dict(right.vocab)
    assert left.encode(TEXT) == right.encode(TEXT)


DIFFERENCES = {
    "vocab": {"vocab": {**VOCAB, 261: b"zz"}, "special_tokens": {"<|a|>": 300}},
    "merges": {"merges": MERGES[:-1]},
    "merge order": {"merges": [MERGES[2], *MERGES[:2], *MERGES[3:]]},
    "special id": {"special_tokens": {"<|a|>": 999}},
    "special name": {"special_tokens": ["<|z|>"]},
    "more special tokens": {"special_tokens": ["<|a|>", "<|b|>"]},
    "pattern": {"pattern": "cl100k"},
    "no pattern": {"pattern": None},
    "ignore_merges": {"ignore_merges": True},
    "rule": {"merges": None, "merge_rule": "ranks"},
}


def test_equal_parts_make_equal_tokenizers():
    assert_same(make(), make())
    assert make() is not make()


def test_the_name_is_no_part_of_equality():
    assert make(name="one") == make(name="two")
    assert make(name="one").fingerprint == make(name="two").fingerprint


@pytest.mark.parametrize("difference", DIFFERENCES)
def test_whatever_changes_ids_makes_a_tokenizer_another(difference):
    other = make(**DIFFERENCES[difference])
    assert make() != other
    assert make().fingerprint != other.fingerprint


def test_spellings_of_one_pattern_are_equal():
    assert make(pattern="gpt2") == make(pattern="r50k")
    assert make(pattern="gpt2") == make(pattern=bytepair.patterns.regex("gpt2"))


def test_comparison_with_something_else():
    assert make() != "tokenizer"
    assert make() != None  # noqa: E711  (the operator is what is tested)


def test_tokenizers_are_keys():
    assert {make(): 1}[make()] == 1


def test_instances_cannot_be_changed():
    tokenizer = make()
    for attribute in ("vocab", "merges", "pattern", "name", "vocab_size", "special_tokens", "new"):
        with pytest.raises(AttributeError):
            setattr(tokenizer, attribute, None)
    tokenizer.special_tokens["<|z|>"] = 5  # what is given out is a copy
    tokenizer.merges.clear()
    assert_same(tokenizer, make())


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(tokenizer, protocol):
    assert_same(pickle.loads(pickle.dumps(tokenizer, protocol)), tokenizer)


def test_copies(tokenizer):
    assert_same(copy.copy(tokenizer), tokenizer)
    assert_same(copy.deepcopy(tokenizer), tokenizer)


def test_pickle_and_fingerprint_do_not_change_with_use(tokenizer):
    before = pickle.dumps(tokenizer), tokenizer.fingerprint, hash(tokenizer)
    tokenizer.encode("some text " * 1000)
    tokenizer.encode_batch(["a", "b"] * 1000)
    assert (pickle.dumps(tokenizer), tokenizer.fingerprint, hash(tokenizer)) == before


def test_a_bundled_encoding_pickles_by_name():
    assert len(pickle.dumps(bytepair.get_encoding("o200k_base"))) < 200


def test_the_fingerprint_is_the_same_in_another_process():
    code = "import bytepair; print(bytepair.get_encoding('gpt2').fingerprint)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    fingerprint = bytepair.get_encoding("gpt2").fingerprint
    assert done.stdout.strip() == fingerprint
    assert len(bytes.fromhex(fingerprint)) == 32


def test_repr():
    text = repr(make(name="mine"))
    assert "mine" in text
    assert "262" in text
    assert len(repr(bytepair.get_encoding("o200k_harmony"))) < 120
    assert len(repr(make(pattern="x" * 300 + "+"))) < 120


# --- files ------------------------------------------------------------------------------------


def test_save_and_load(tokenizer, tmp_path):
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    assert_same(Tokenizer.load(path), tokenizer)
    assert_same(Tokenizer.load(str(path)), tokenizer)
    # Equal tokenizers make equal files, and nothing else is left behind.
    first = path.read_bytes()
    Tokenizer.load(path).save(path)
    assert path.read_bytes() == first
    assert [p.name for p in tmp_path.iterdir()] == ["tokenizer.json"]


def test_the_native_file_is_json_that_a_person_can_read(tmp_path):
    make(name="mine").save(tmp_path / "t.json")
    content = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    assert content["version"]
    assert "the" in (tmp_path / "t.json").read_text(encoding="utf-8")
    assert (tmp_path / "t.json").read_bytes().endswith(b"\n")


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"{}", b"\xff\xfe", b"null", b'{"format": "bytepair"}', b"a b\n"]
)
def test_files_that_are_no_tokenizer(content, tmp_path):
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"broken\.json"):
        Tokenizer.load(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"):
        Tokenizer.load(tmp_path / "absent.json")
    with pytest.raises(OSError, match="no_such_folder"):
        make().save(tmp_path / "no_such_folder" / "t.json")


def test_a_byte_order_mark_at_the_head_of_a_file(tmp_path):
    path = tmp_path / "t.json"
    make().save(path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert_same(Tokenizer.load(path), make())


def test_gpt2_files_both_ways(tmp_path):
    tokenizer = make()
    vocab, merges = tmp_path / "encoder.json", tmp_path / "vocab.bpe"
    tokenizer.save_files(vocab, merges)
    assert_same(Tokenizer.from_files(vocab, merges, ["<|a|>"]), tokenizer)
    assert json.loads(vocab.read_text(encoding="utf-8"))["\u010a\u010a"] == 259
    assert merges.read_text(encoding="utf-8").splitlines()[0].startswith("#version")
    plain = Tokenizer.from_files(vocab, merges)
    assert plain.special_tokens == {}


def test_openai_s_own_files(shared, tmp_path):
    folder = shared / "data" / "vocabs" / "gpt2"
    tokenizer = Tokenizer.from_files(
        folder / "encoder.json", folder / "vocab.bpe", ["<|endoftext|>"]
    )
    bundled = bytepair.get_encoding("gpt2")
    assert dict(tokenizer.vocab) == dict(bundled.vocab)
    assert tokenizer.merges == bundled.merges
    assert tokenizer.encode(TEXT) == bundled.encode(TEXT)
    tokenizer.save_files(tmp_path / "v", tmp_path / "m")
    assert Tokenizer.from_files(tmp_path / "v", tmp_path / "m", ["<|endoftext|>"]) == tokenizer


def write_merges(folder, lines: list[str], vocab: dict[str, int]) -> tuple:
    (folder / "v.json").write_text(json.dumps(vocab), encoding="utf-8")
    (folder / "m.txt").write_bytes("\n".join(lines).encode())
    return folder / "v.json", folder / "m.txt"


def test_a_merge_of_the_number_sign_is_no_header(tmp_path):
    paths = write_merges(
        tmp_path, ["#version: 0.2", "# #", "# a"], {"#": 0, "##": 1, "a": 2, "#a": 3}
    )
    tokenizer = Tokenizer.from_files(*paths)
    assert tokenizer.merges == [(b"#", b"#"), (b"#", b"a")]
    assert tokenizer.encode("##") == [1]


@pytest.mark.parametrize(
    "lines",
    [["a b"], ["a b", ""], ["#version: 0.2", "a b", "", ""], ["#version: 0.2\r", "a b\r"]],
)
def test_merges_with_and_without_header_and_final_newline(lines, tmp_path):
    paths = write_merges(tmp_path, lines, {"a": 0, "b": 1, "ab": 2})
    assert Tokenizer.from_files(*paths).encode("ab") == [2]


@pytest.mark.parametrize("line", ["a", "a b c", "a  b", " a b", "é\u4e2d b"])
def test_a_broken_line_of_merges_is_named(line, tmp_path):
    paths = write_merges(tmp_path, ["#version: 0.2", "a b", line], {"a": 0, "b": 1, "ab": 2})
    with pytest.raises(ValueError, match=r"m\.txt.*3"):
        Tokenizer.from_files(*paths)


# --- variants ---------------------------------------------------------------------------------


def test_with_special_tokens():
    gpt2 = bytepair.get_encoding("gpt2")
    chat = gpt2.with_special_tokens(["<|user|>", "<|bot|>"])
    assert chat.special_tokens == {"<|endoftext|>": 50256, "<|user|>": 50257, "<|bot|>": 50258}
    assert chat.encode("<|user|>hello<|endoftext|>") == [50257, 31373, 50256]
    assert chat != gpt2
    assert gpt2.encode("<|user|>") == gpt2.encode_ordinary("<|user|>")
    assert gpt2.with_special_tokens({"<|x|>": 60_000}).encode("<|x|>") == [60_000]


def test_with_special_tokens_refuses_what_does_not_fit():
    gpt2 = bytepair.get_encoding("gpt2")
    with pytest.raises(VocabError, match="995"):
        gpt2.with_special_tokens({"<|x|>": 995})
    with pytest.raises(ArgumentError, match="endoftext"):
        gpt2.with_special_tokens(["<|endoftext|>"])
    with pytest.raises(ArgumentError, match="empty"):
        gpt2.with_special_tokens([""])
    with pytest.raises(ArgumentError, match="twice"):
        gpt2.with_special_tokens(["<|x|>", "<|x|>"])
    with pytest.raises(TypeError, match=r"\["):
        gpt2.with_special_tokens("<|x|>")


def test_what_is_shown_of_a_tokenizer():
    assert repr(bytepair.get_encoding("gpt2")).startswith("<Tokenizer 'gpt2', 50257 tokens, 1 ")
    cl100k = bytepair.get_encoding("cl100k_base")
    assert (len(cl100k.vocab), cl100k.vocab_size) == (100261, 100277)
    assert "100261 tokens in 100277 ids" in repr(cl100k)
    rows = Packed(["a"], bytepair.get_encoding("gpt2"), 8, rank=1, world_size=4)
    assert repr(rows).startswith("<Packed rows of 8 ids, share 1 of 4, by <Tokenizer 'gpt2'")


def test_dir_shows_what_is_documented():
    shown = [name for name in dir(bytepair) if not name.startswith("__")]
    assert shown == sorted(set(bytepair.__all__) - {"__version__"})
