"""A tokenizer trained here gives its ids in tokenizers, transformers and tiktoken."""

from __future__ import annotations

import copy
import pickle
import random
import sys

import pytest
import tiktoken

import bytepair
from bytepair import Tokenizer
from bytepair.compat.huggingface import FastTokenizer
from bytepair.errors import ArgumentError, FormatError

from .conftest import NASTY

PATTERNS = bytepair.patterns.names()
SPECIAL = ["<|endoftext|>", "<pad>", "<s>"]
MARKS = [*"aZé日本1234567 \n\t.,'\"", "'s", "'LL", "\r\n", "  ", "ſ", "\u0301", "👍", *SPECIAL]


@pytest.fixture(scope="module")
def trained():
    """Return a function: name of a pattern -> a tokenizer trained with it."""
    known: dict[str, Tokenizer] = {}

    def get(name: str) -> Tokenizer:
        if name not in known:
            known[name] = bytepair.train(
                bytepair.sample_corpus(), 1200, pattern=name, special_tokens=SPECIAL
            )
        return known[name]

    return get


@pytest.fixture(scope="module")
def strings() -> list[str]:
    """Nasty strings, random ones, and real text."""
    chooser = random.Random(3)
    with open(bytepair.sample_corpus(), encoding="utf-8") as file:
        text = file.read()
    made = ["".join(chooser.choices(MARKS, k=chooser.randint(1, 20))) for _ in range(300)]
    return [*NASTY, *made, text[:20_000], text[-20_000:]]


@pytest.mark.parametrize("name", PATTERNS)
def test_the_same_ids_in_tokenizers(trained, strings, name):
    ours = trained(name)
    theirs = ours.to_huggingface()
    for text in strings:
        ids = ours.encode(text)
        assert theirs.encode(text).ids == ids, ascii(text)
        assert theirs.decode(ids, skip_special_tokens=False) == ours.decode(ids)
    assert Tokenizer.from_huggingface(theirs) == ours


@pytest.mark.parametrize("name", PATTERNS)
def test_the_same_ids_in_transformers(trained, strings, name, transformers, tmp_path):
    ours = trained(name)
    made = ours.to_transformers(eos_token="<|endoftext|>", pad_token="<pad>")
    made.save_pretrained(tmp_path)
    read = transformers.AutoTokenizer.from_pretrained(str(tmp_path))
    back = FastTokenizer.from_pretrained(tmp_path)
    for theirs in (made, read, back):
        for text in strings:
            assert theirs(text)["input_ids"] == ours.encode(text), ascii(text)
        assert theirs.eos_token_id == ours.token_id("<|endoftext|>")
        assert theirs.pad_token == "<pad>"
        assert len(theirs) == ours.vocab_size
    assert Tokenizer.load(tmp_path) == ours


@pytest.mark.parametrize("name", PATTERNS)
def test_the_same_ids_in_tiktoken(trained, strings, name):
    ours = trained(name)
    if isinstance(bytepair.patterns.regex(name), list):
        with pytest.raises(FormatError, match="takes one regular expression"):
            ours.to_tiktoken()
        return
    theirs = ours.to_tiktoken()
    assert isinstance(theirs, tiktoken.Encoding)
    for text in strings:
        ids = ours.encode(text)
        assert theirs.encode(text, allowed_special="all") == ids, ascii(text)
        assert theirs.decode(ids) == ours.decode(ids)
    assert Tokenizer.from_tiktoken(theirs).encode(strings[-1]) == ours.encode(strings[-1])


# ── to_transformers ───────────────────────────────────────────────────────────────────────────────

TEMPLATE = "{{ bos_token }}{% for m in messages %}{{ m['content'] }}{{ eos_token }}{% endfor %}"


def test_every_option_survives(trained, transformers, tmp_path):
    ours = trained("gpt2").with_special_tokens(["<u:nk 1>"])
    made = ours.to_transformers(
        bos_token="<s>",
        eos_token="<|endoftext|>",
        pad_token="<pad>",
        unk_token="<u:nk 1>",
        add_bos=True,
        add_eos=True,
        chat_template=TEMPLATE,
        model_max_length=9,
        padding_side="left",
    )
    assert isinstance(made, transformers.PreTrainedTokenizerFast)
    made.save_pretrained(tmp_path)
    read = transformers.AutoTokenizer.from_pretrained(str(tmp_path))
    mine = FastTokenizer.from_pretrained(tmp_path)
    same = FastTokenizer(
        ours,
        bos_token="<s>",
        eos_token="<|endoftext|>",
        pad_token="<pad>",
        unk_token="<u:nk 1>",
        add_bos=True,
        add_eos=True,
        chat_template=TEMPLATE,
        model_max_length=9,
        padding_side="left",
    )
    start, end, pad = (ours.token_id(token) for token in ("<s>", "<|endoftext|>", "<pad>"))
    chat = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "x"}]
    for tokenizer in (made, read, mine, same):
        ids = ours.encode("hello world")
        assert tokenizer("hello world")["input_ids"] == [start, *ids, end]
        assert tokenizer("hello world", add_special_tokens=False)["input_ids"] == ids
        pair = tokenizer("hi", "x", return_token_type_ids=True)
        second = ours.encode("x")
        assert pair["input_ids"] == [start, *ours.encode("hi"), end, start, *second, end]
        assert pair["token_type_ids"][-3:] == [1, 1, 1]
        batch = tokenizer(["hello world", "x"], padding=True)["input_ids"]
        assert batch[1][0] == pad
        assert len(tokenizer("a b c d e f g h", truncation=True)["input_ids"]) == 9
        assert tokenizer.convert_tokens_to_ids("no such token") == ours.token_id("<u:nk 1>")
        text = tokenizer.apply_chat_template(chat, tokenize=False)
        assert text == "<s>hi<|endoftext|>x<|endoftext|>"
        ids = tokenizer.apply_chat_template(chat)["input_ids"]
        assert ids == ours.encode(text)
        assert tokenizer.special_tokens_map == made.special_tokens_map
        assert tokenizer.decode(ids, skip_special_tokens=True) == "hix"
        assert tokenizer.model_max_length == 9


def test_conventions_are_what_is_not_said(trained, transformers, tmp_path):
    plain = trained("gpt2")
    start, end = (plain.token_id(token) for token in ("<s>", "<|endoftext|>"))
    ours = plain.with_conventions(
        roles={"bos": "<s>", "eos": "<|endoftext|>", "pad": "<pad>"},
        template=([start], [end, end]),
        chat_template=TEMPLATE,
    )
    ours.to_transformers().save_pretrained(tmp_path)
    chat = [{"role": "user", "content": "hi"}]
    ids = ours.encode("hello")
    for tokenizer in (
        ours.to_transformers(),
        transformers.AutoTokenizer.from_pretrained(str(tmp_path)),
        FastTokenizer(ours),
        FastTokenizer.from_pretrained(tmp_path),
        FastTokenizer(Tokenizer.load(tmp_path)),
    ):
        assert tokenizer("hello")["input_ids"] == [start, *ids, end, end]
        assert tokenizer("hello")["input_ids"] == ours.with_template(ids)
        text = tokenizer.apply_chat_template(chat, tokenize=False)
        assert text == "<s>hi<|endoftext|>"
        assert (tokenizer.bos_token, tokenizer.pad_token) == ("<s>", "<pad>")
    for tokenizer in (
        ours.to_transformers(pad_token="<s>", add_bos=True, chat_template="x"),
        FastTokenizer(ours, pad_token="<s>", add_bos=True, chat_template="x"),
    ):
        assert tokenizer("hello")["input_ids"] == [start, *ids]
        assert (tokenizer.eos_token, tokenizer.pad_token) == ("<|endoftext|>", "<s>")
        assert tokenizer.apply_chat_template(chat, tokenize=False) == "x"


@pytest.mark.parametrize("name", ["gpt2", "p50k_edit", "cl100k_base", "o200k_base"])
@pytest.mark.slow
def test_openai_encodings_in_transformers(name, transformers, tmp_path, strings):
    ours = bytepair.get_encoding(name)
    ours.to_transformers(eos_token="<|endoftext|>").save_pretrained(tmp_path)
    read = transformers.AutoTokenizer.from_pretrained(str(tmp_path))
    assert len(read) == ours.vocab_size
    for text in [*strings, "3.14159265358979"]:
        assert read(text)["input_ids"] == ours.encode(text), ascii(text)
    assert read.eos_token_id == ours.token_id("<|endoftext|>")


def test_what_transformers_would_have_to_add_is_refused(trained, transformers):
    ours = trained("gpt2")
    for role in ("bos_token", "eos_token", "pad_token", "unk_token"):
        message = rf"{role} '\[PAD\]' is not a special token .*with_special_tokens\(\['\[PAD\]'\]\)"
        with pytest.raises(ArgumentError, match=message):
            ours.to_transformers(**{role: "[PAD]"})
    with pytest.raises(ArgumentError, match="add_bos is true, but bos_token is not given"):
        ours.to_transformers(add_bos=True)
    with pytest.raises(ArgumentError, match="add_eos is true, but eos_token is not given"):
        ours.to_transformers(bos_token="<s>", add_bos=True, add_eos=True)
    with pytest.raises(FormatError, match="second name"):
        bytepair.get_encoding("o200k_harmony").to_transformers()


def test_without_transformers(trained, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ImportError, match=r'needs transformers; install "bytepair\[hf\]"'):
        trained("gpt2").to_transformers()


# ── FastTokenizer ─────────────────────────────────────────────────────────────────────────────────


def test_roles_are_given_to_known_tokens_alone(trained):
    ours = FastTokenizer(trained("gpt2"))
    with pytest.raises(ArgumentError, match=r"pad_token '\[PAD\]' is not a special token"):
        ours.pad_token = "[PAD]"
    with pytest.raises(ArgumentError, match="eos_token '</s>' is not a special token"):
        FastTokenizer(trained("gpt2"), eos_token="</s>")
    with pytest.raises(ArgumentError, match="there is no pad_token to fill up with"):
        ours(["a", "b c"], padding=True)
    with pytest.raises(ArgumentError, match="add_eos is true, but eos_token is not given"):
        FastTokenizer(trained("gpt2"), add_eos=True)
    ours.pad_token_id = trained("gpt2").token_id("<pad>")
    assert ours.pad_token == "<pad>"
    ours.pad_token = None
    assert ours.pad_token_id is None


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))]
)
def test_copies(trained, copied):
    ours = FastTokenizer(trained("qwen2"), pad_token="<pad>", add_eos=True, eos_token="<s>")
    wanted = ours(["a", "é <s>"], padding=True, return_offsets_mapping=True)
    again = copied(ours)
    assert again(["a", "é <s>"], padding=True, return_offsets_mapping=True) == wanted
    assert again.special_tokens_map == ours.special_tokens_map
    again.pad_token = "<s>"
    assert ours.pad_token == "<pad>"
    assert copied(wanted) == wanted
    assert len(pickle.dumps(ours)) < 2 * len(pickle.dumps(ours.backend))


def test_what_it_is_not_made_of(shared):
    with pytest.raises(TypeError, match=r"is made of a bytepair\.Tokenizer, not str"):
        FastTokenizer("gpt2")
    characters = Tokenizer.load(shared / "data" / "vocabs" / "mistral" / "tokenizer.model.v1")
    with pytest.raises(FormatError, match="FastTokenizer is for byte-level BPE"):
        FastTokenizer(characters)


def test_a_name_of_the_hub(trained, tmp_path, monkeypatch):
    trained("gpt2").save(tmp_path / "cached", format="huggingface")
    asked = []

    def located(name, **options):
        asked.append((name, options))
        return str(tmp_path / "cached")

    monkeypatch.setattr("bytepair.compat.huggingface.tokenizer.located", located)
    ours = FastTokenizer.from_pretrained("org/name", revision="v1", local_files_only=True)
    assert ours("hello")["input_ids"] == trained("gpt2").encode("hello")
    options = {"revision": "v1", "token": None, "local_files_only": True}
    assert asked == [("org/name", options)]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda t: t(5), TypeError, "a text must be str, not int"),
        (lambda t: t(["a", 5]), TypeError, "a text must be str, not int"),
        (lambda t: t([["a", "b", "c"]]), ArgumentError, "a pair of texts has two, not 3"),
        (lambda t: t("a b", is_split_into_words=True), TypeError, "a text is a list of str"),
        (lambda t: t(["a"], ["b", "c"]), ArgumentError, "text_pair is 2 texts for 1 texts"),
        (lambda t: t(["a"], "b"), ArgumentError, "text_pair is one text for 1 texts"),
        (lambda t: t(), ArgumentError, "give text, text_target, or both"),
        (lambda t: t("a", truncation="first"), ArgumentError, "truncation is 'first'"),
        (lambda t: t("a", padding="most"), ArgumentError, "padding is 'most'"),
        (lambda t: t("a", padding=True, padding_side="up"), ArgumentError, "not 'up'"),
        (lambda t: t("a b c d", max_length=2, stride=2), ArgumentError, "stride is 2, and 2 ids"),
        (
            lambda t: t("a b c", truncation="only_second", max_length=2),
            ArgumentError,
            "needs a second text",
        ),
        (
            lambda t: t("a", "b c d e", truncation="only_first", max_length=2),
            ArgumentError,
            "that text has 1 ids, too few to come from 5 ids to 2",
        ),
        (lambda t: t.pad([{"ids": [1]}]), ArgumentError, "there is no 'input_ids' to pad"),
        (lambda t: t.apply_chat_template([]), ArgumentError, "the conversation is empty"),
        (
            lambda t: t.apply_chat_template([{"role": "user", "content": "x"}]),
            ArgumentError,
            "has no chat_template",
        ),
        (
            lambda t: t.apply_chat_template(["x"], chat_template="x"),
            ArgumentError,
            "a message must be a dict with role and content, not str",
        ),
        (
            lambda t: t.apply_chat_template([{}], chat_template="x", tools=[print]),
            ArgumentError,
            "give its JSON schema",
        ),
        (
            lambda t: t.apply_chat_template([{}], return_assistant_tokens_mask=True),
            ArgumentError,
            "is not supported",
        ),
        (
            lambda t: t.apply_chat_template([{}], sanitize_control_tokens=True),
            ArgumentError,
            "sanitize_control_tokens is not supported",
        ),
        (lambda t: t.get_special_tokens_mask([5]), ArgumentError, "already_has_special_tokens"),
        (
            lambda t: t.apply_chat_template(
                [{}], continue_final_message=True, add_generation_prompt=True
            ),
            ArgumentError,
            "cannot both be given",
        ),
        (
            lambda t: t.apply_chat_template(
                [{"role": "user"}], chat_template="content", continue_final_message=True
            ),
            ArgumentError,
            "the last message has no 'content' to continue",
        ),
        (
            lambda t: t.apply_chat_template(
                [{"content": "x"}], chat_template="{# content #}y", continue_final_message=True
            ),
            ArgumentError,
            "the template changes the last message",
        ),
    ],
)
def test_what_a_caller_gets_wrong(trained, call, error, message):
    with pytest.raises(error, match=message):
        call(FastTokenizer(trained("gpt2"), pad_token="<pad>"))


def test_templates_run_in_a_sandbox(trained):
    ours = FastTokenizer(trained("gpt2"))
    for template in (
        "{{ messages.__class__.__mro__ }}",
        "{{ messages.append(1) }}",
        "{{ raise_exception('no') }}",
        "{% for i in range(99999) %}{% for j in range(99999) %}{{ i }}{% endfor %}{% endfor %}",
        "{{ messages[0].content.__init__.__globals__ }}",
    ):
        with pytest.raises(ArgumentError, match="the chat template failed"):
            ours.apply_chat_template([{"content": "x"}], chat_template=template)
    shown = ours.apply_chat_template(
        [{"content": object()}], chat_template="{{ messages[0].content }}", tokenize=False
    )
    assert shown == "<object>"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"tokenizer_config.json": "[]"}, "tokenizer_config.json: not an object"),
        ({"tokenizer_config.json": "{"}, "tokenizer_config.json"),
        ({"tokenizer_config.json": '{"padding_side": "up"}'}, "padding_side is 'up'"),
        ({"tokenizer_config.json": '{"pad_token": "[PAD]"}'}, r"pad_token '\[PAD\]' is not"),
        ({"post_processor": '{"type": "Other"}'}, "the post_processor 'Other' is not supported"),
        ({"post_processor": "5"}, "the post_processor is 5, not an object"),
        ({"post_processor": '{"type": "TemplateProcessing"}'}, "TemplateProcessing is damaged"),
        ({"post_processor": '{"type": "BertProcessing", "sep": []}'}, "BertProcessing is damaged"),
    ],
)
def test_damaged_files(trained, tmp_path, files, message):
    import json

    trained("gpt2").save(tmp_path, format="huggingface")
    for name, content in files.items():
        if name != "post_processor":
            (tmp_path / name).write_text(content, encoding="utf-8")
            continue
        path = tmp_path / "tokenizer.json"
        data = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps(data | {name: json.loads(content)}), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        FastTokenizer.from_pretrained(tmp_path)


def test_importing_it_imports_nothing_else():
    import subprocess

    code = (
        "import sys; before = set(sys.modules)\n"
        "import bytepair; from bytepair.compat.huggingface import FastTokenizer\n"
        "FastTokenizer(bytepair.get_encoding('gpt2'))('hello')\n"
        "print(*{name.split('.')[0] for name in set(sys.modules) - before})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) - set(sys.stdlib_module_names) == {"bytepair"}
