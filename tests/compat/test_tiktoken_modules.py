"""tiktoken's modules: names, encodings of one's own, files, the encoder to be watched."""

from __future__ import annotations

import base64
import copy
import inspect
import pickle
import subprocess
import sys
from importlib.resources import files

import pytest
import tiktoken
import tiktoken.load
import tiktoken.model

import bytepair
from bytepair.compat import tiktoken as compat
from bytepair.compat.tiktoken import _educational, load, registry

from .conftest import assert_same, outcome

NAMES = bytepair.list_encodings()
TABLES = ["gpt2", "cl100k_base", "o200k_base"]
ENDOFTEXT = "<|endoftext|>"

# ── The module ────────────────────────────────────────────────────────────────────────────────────


PUBLIC = [
    *(("Encoding", name) for name in vars(tiktoken.Encoding) if not name.startswith("_")),
    *((None, name) for name in vars(tiktoken) if not name.startswith("_")),
]


@pytest.mark.parametrize(("owner", "name"), PUBLIC)
def test_every_public_name_is_there(owner, name):
    if inspect.ismodule(getattr(tiktoken, name, None)) and owner is None:
        assert inspect.ismodule(getattr(compat, name, None))
        return
    theirs = getattr(getattr(tiktoken, owner) if owner else tiktoken, name)
    ours = getattr(getattr(compat, owner) if owner else compat, name)
    if not callable(theirs):
        assert not callable(ours)
        return
    wanted = inspect.signature(theirs).parameters
    found = inspect.signature(ours).parameters
    assert list(found) == list(wanted)
    for key, parameter in wanted.items():
        assert (found[key].kind, found[key].default) == (parameter.kind, parameter.default)


def test_the_other_modules_have_their_names():
    for theirs, ours in ((tiktoken.load, load), (tiktoken.registry, registry)):
        for name, value in vars(theirs).items():
            if inspect.isfunction(value) and value.__module__ == theirs.__name__:
                if name.startswith("_"):
                    continue
                wanted = inspect.signature(value).parameters
                found = inspect.signature(getattr(ours, name)).parameters
                assert [(p.name, p.kind, p.default) for p in found.values()] == [
                    (p.name, p.kind, p.default) for p in wanted.values()
                ]
    assert registry.ENCODINGS is compat.registry.ENCODINGS
    assert compat.__version__ == tiktoken.__version__


def test_models():
    assert compat.model.MODEL_TO_ENCODING == tiktoken.model.MODEL_TO_ENCODING
    assert compat.model.MODEL_PREFIX_TO_ENCODING == tiktoken.model.MODEL_PREFIX_TO_ENCODING
    names = [
        *tiktoken.model.MODEL_TO_ENCODING,
        *(f"{prefix}x" for prefix in tiktoken.model.MODEL_PREFIX_TO_ENCODING),
        *("gpt-4.5", "gpt-5.1-mini", "gpt-5x", "o1", "o1mini", "", "zz", "GPT-4", "ft:gpt-4o:x"),
    ]
    for name in [*names, 5, []]:
        wanted = outcome(lambda: tiktoken.encoding_name_for_model(name))  # noqa: B023
        assert_same(wanted, outcome(lambda: compat.encoding_name_for_model(name)))  # noqa: B023
        if isinstance(wanted, str):
            assert compat.encoding_for_model(name).name == wanted


def test_names():
    assert set(compat.list_encoding_names()) == set(tiktoken.list_encoding_names())
    for name in (5, "zz", None):
        wanted = outcome(lambda: tiktoken.get_encoding(name))  # noqa: B023
        assert_same(wanted, outcome(lambda: compat.get_encoding(name)))  # noqa: B023
    assert compat.get_encoding("gpt2") is compat.get_encoding("gpt2")
    constructor = registry.ENCODING_CONSTRUCTORS["r50k_base"]
    assert compat.Encoding(**constructor()).encode("hello world") == [31373, 995]


# ── Encodings of one's own ────────────────────────────────────────────────────────────────────────


def ranks(*more: bytes) -> dict[bytes, int]:
    return {token: id for id, token in enumerate([*(bytes([b]) for b in range(256)), *more])}


GOOD = {
    "pat_str": r"\S+|\s+",
    "mergeable_ranks": ranks(b"ab", b"abc"),
    "special_tokens": {"<s>": 258},
}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"explicit_n_vocab": 259},
        {"explicit_n_vocab": 300},
        {"special_tokens": {"<s>": 300}, "explicit_n_vocab": 259},
        {"special_tokens": {}},
        {"special_tokens": {"<s>": 258, "<t>": 258}},
        {"special_tokens": {"<s>": 258, "a": 259}},
        {"special_tokens": ["<s>"]},
        {"mergeable_ranks": {}},
        {"mergeable_ranks": [(b"a", 0)]},
        {"mergeable_ranks": {b"a": "0"}},
        {"mergeable_ranks": {b"a": -1, b"b": 0}},
        {"mergeable_ranks": {b"a": 2**32}},
        {"mergeable_ranks": {"a": 0}},
        {"pat_str": 5},
    ],
)
def test_an_encoding_of_ones_own(changes):
    def make(cls):
        encoding = cls("own", **GOOD | changes)
        texts = ("abc ab <s> xabcabc", "", "日本")
        ids = [
            encoding.encode(text, allowed_special="all", disallowed_special=()) for text in texts
        ]
        return encoding.n_vocab, ids, [encoding.decode(row) for row in ids[:1]]

    assert_same(outcome(lambda: make(tiktoken.Encoding)), outcome(lambda: make(compat.Encoding)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pat_str": "("}, "Opening parenthesis without closing"),
        ({"mergeable_ranks": {b"a": 0, b"b": 0}}, "ranks must be unique"),
        ({"special_tokens": {"": 258}}, "a special token is empty"),
        ({"special_tokens": {"<s>": 65}}, 'special token "<s>" has id 65'),
    ],
)
def test_what_tiktoken_panics_at_or_lets_pass(changes, message):
    with pytest.raises(ValueError, match=message):
        compat.Encoding("own", **GOOD | changes)


def test_case_138_a_wrong_number_of_tokens():
    """The error is tiktoken's, which says nothing."""
    with pytest.raises(AssertionError, match="is 999, and there are 258 ranks and 1 spe"):
        compat.Encoding("own", **GOOD, explicit_n_vocab=999)


def test_a_byte_that_no_token_covers():
    encoding = compat.Encoding("a", pat_str=".", mergeable_ranks={b"a": 0}, special_tokens={})
    assert encoding.encode("aa") == [0, 0]
    for call in (encoding.encode, encoding._encode_single_piece):
        with pytest.raises(ValueError, match=r"no token"):
            call("ab")
    with pytest.raises(KeyError):
        _ = encoding.eot_token


def test_no_text_is_dropped():
    encoding = compat.Encoding("own", **GOOD | {"pat_str": "abc"})
    assert encoding.decode(encoding.encode("xx abc yy")) == "xx abc yy"


def test_the_longest_special_token():
    tokens = {"<a>": 300, "<a><b>": 301}
    encoding = compat.Encoding("own", **GOOD | {"special_tokens": tokens})
    assert encoding.encode("<a><b><a>", allowed_special="all") == [301, 300]
    with pytest.raises(ValueError, match="special token '<a><b>'"):
        encoding.encode("x<a><b>")


def test_tokens_that_no_merge_makes():
    # b"xyz" is found as a whole piece alone, as in Llama 3.
    table = ranks(b"xyz", b"ab")
    theirs, ours = (
        cls("own", **GOOD | {"mergeable_ranks": table, "special_tokens": {}})
        for cls in (tiktoken.Encoding, compat.Encoding)
    )
    for text in ("xyz", "xyzab", "axyz xyz ab", "xyz "):
        assert ours.encode(text) == theirs.encode(text)
        stable, completions = ours.encode_with_unstable(text)
        wanted = theirs.encode_with_unstable(text)
        assert (stable, completions) == (wanted[0], sorted(wanted[1]))


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))]
)
def test_copies(copied):
    for encoding in (compat.get_encoding("cl100k_base"), compat.Encoding("own", **GOOD)):
        again = copied(encoding)
        assert again.name == encoding.name
        assert again.encode("abc hello") == encoding.encode("abc hello")
        assert again.special_tokens_set == encoding.special_tokens_set
    assert len(pickle.dumps(compat.get_encoding("cl100k_base"))) < 200


# ── Files ─────────────────────────────────────────────────────────────────────────────────────────

OPENAI = "https://openaipublic.blob.core.windows.net/"


def test_openai_addresses_without_a_network(both):
    hashes = {
        "r50k_base": "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
        "p50k_base": "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
        "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    }
    for name, hash in hashes.items():
        found = load.load_tiktoken_bpe(f"{OPENAI}encodings/{name}.tiktoken", hash)
        assert found == compat.get_encoding(name)._mergeable_ranks
    files_of_gpt2 = load.data_gym_to_mergeable_bpe_ranks(
        f"{OPENAI}gpt-2/encodings/main/vocab.bpe",
        f"{OPENAI}gpt-2/encodings/main/encoder.json",
        "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
        "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
    )
    assert files_of_gpt2 == compat.get_encoding("gpt2")._mergeable_ranks
    with pytest.raises(OSError, match="is not fetched: bytepair uses no network"):
        load.read_file("https://example.org/x.tiktoken")


def test_tiktokens_cache_is_read(tmp_path, monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    address = "https://example.org/x.tiktoken"
    with monkeypatch.context() as patch:
        patch.setattr(tiktoken.load, "read_file", lambda _: b"YQ== 0\n")
        tiktoken.load.read_file_cached(address)
    assert load.load_tiktoken_bpe(address) == {b"a": 0}
    wrong = "0" * 64
    with pytest.raises(OSError, match="not fetched"):
        load.load_tiktoken_bpe(address, wrong)
    assert list(tmp_path.iterdir()) != []


def test_rank_files(tmp_path, monkeypatch):
    # tiktoken keeps what it has read by its path.
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    table = ranks(b"ab", b"\xff\xfe\n")
    path = tmp_path / "own.tiktoken"
    load.dump_tiktoken_bpe(dict(reversed(table.items())), str(path))
    assert load.load_tiktoken_bpe(str(path)) == tiktoken.load.load_tiktoken_bpe(str(path)) == table
    for content in (b"YQ==\n", b"a b c\n", b"YQ== x\n", b"!!! 0\n", b"\n\nYQ== 0\n\n"):
        path.write_bytes(content)
        wanted = outcome(lambda: tiktoken.load.load_tiktoken_bpe(str(path)))
        found = outcome(lambda: load.load_tiktoken_bpe(str(path)))
        assert_same(wanted, found)
        if isinstance(wanted, Exception):
            assert str(found) == str(wanted)
    assert base64.b64encode(b"a") == b"YQ=="


def test_another_hash(tmp_path, monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "own.tiktoken"
    path.write_bytes(b"YQ== 0\n")
    for module in (tiktoken.load, load):
        with pytest.raises(ValueError, match="Hash mismatch for data downloaded from"):
            module.load_tiktoken_bpe(str(path), "0" * 64)


def test_files_that_do_not_agree(tmp_path):
    vocab, encoder = tmp_path / "vocab.bpe", tmp_path / "encoder.json"
    vocab.write_text("#version: 0.2\na b\n", encoding="utf-8")
    encoder.write_text('{"a": 0}', encoding="utf-8")
    for module in (tiktoken.load, load):
        with pytest.raises(AssertionError):
            module.data_gym_to_mergeable_bpe_ranks(str(vocab), str(encoder))


def test_nothing_else_is_imported():
    code = (
        "import sys; before = set(sys.modules)\n"
        "from bytepair.compat import tiktoken\n"
        "tiktoken.get_encoding('gpt2').encode('hello')\n"
        "print(*{name.split('.')[0] for name in set(sys.modules) - before})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    strangers = set(done.stdout.split()) - set(sys.stdlib_module_names)
    assert strangers <= {"bytepair", "tiktoken_ext"}


# ── The one to be watched ─────────────────────────────────────────────────────────────────────────


def test_the_educational_encoder(capsys):
    from tiktoken import _educational as theirs

    text = "hello world, 日本語 the the"
    ours = _educational.SimpleBytePairEncoding.from_tiktoken("gpt2")
    own = theirs.SimpleBytePairEncoding(pat_str=ours.pat_str, mergeable_ranks=ours.mergeable_ranks)
    for visualise in (None, "colour", "simple"):
        wanted = own.encode(text, visualise)
        shown = capsys.readouterr().out
        assert ours.encode(text, visualise) == wanted
        assert capsys.readouterr().out == shown
    assert ours.decode(wanted) == text
    assert ours.decode_tokens_bytes(wanted) == own.decode_tokens_bytes(wanted)


def test_educational_training(capsys):
    from tiktoken import _educational as theirs

    corpus = files("bytepair").joinpath("data", "sample_corpus.txt").read_text("utf-8")[:8000]
    pattern = bytepair.patterns.regex("gpt2")
    wanted = theirs.bpe_train(corpus, 300, pattern, visualise=None)
    assert _educational.bpe_train(corpus, 300, pattern, visualise=None) == wanted
    made = _educational.SimpleBytePairEncoding.train(corpus, 260, pattern)
    assert made.mergeable_ranks == dict(list(wanted.items())[:260])
    assert "make token 259" in capsys.readouterr().out
    with pytest.raises(ValueError, match="at least 256"):
        _educational.bpe_train(corpus, 5, pattern)
