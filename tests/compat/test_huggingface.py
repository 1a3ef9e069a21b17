"""The stand-in for a fast tokenizer, against transformers, option by option."""

from __future__ import annotations

import inspect
import itertools
import warnings

import numpy as np
import pytest

from .conftest import MODELS, NASTY

VARIOUS = inspect.Parameter.VAR_KEYWORD


def assert_same(theirs, ours) -> None:
    """Both results hold the same values under the same keys, in the same order."""
    assert list(ours) == list(theirs)
    for key, value in theirs.items():
        if isinstance(value, np.ndarray):
            assert ours[key].dtype == value.dtype
            assert ours[key].shape == value.shape
            value = value.tolist()
            assert ours[key].tolist() == value
        else:
            assert ours[key] == value, key


def with_pad(pair):
    theirs, ours = pair
    if theirs.pad_token is None:
        token = theirs.eos_token or "<|endoftext|>"
        theirs.pad_token = ours.pad_token = token
    return theirs, ours


ALL = {
    "return_token_type_ids": True,
    "return_attention_mask": True,
    "return_special_tokens_mask": True,
    "return_offsets_mapping": True,
    "return_length": True,
}


@pytest.mark.parametrize("name", MODELS)
def test_every_text_alone(fast, texts, name):
    theirs, ours = fast(name)
    for text in texts:
        assert_same(theirs(text), ours(text))
        assert_same(theirs(text, **ALL), ours(text, **ALL))
        assert ours.encode(text) == theirs.encode(text)
        assert ours.tokenize(text) == theirs.tokenize(text)


@pytest.mark.parametrize("name", MODELS)
def test_batches_and_pairs(fast, texts, name):
    theirs, ours = fast(name)
    assert_same(theirs(texts, **ALL), ours(texts, **ALL))
    assert_same(theirs(texts, texts[::-1], **ALL), ours(texts, texts[::-1], **ALL))
    pairs = list(itertools.pairwise(texts))
    assert_same(theirs(pairs), ours(pairs))
    assert_same(theirs("a b", "c d", **ALL), ours("a b", "c d", **ALL))
    assert_same(theirs("a b", ""), ours("a b", ""))
    assert ours.encode_batch(texts) == theirs(texts)["input_ids"]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("split", [False, True])
def test_special_tokens_in_the_text(fast, texts, name, split):
    theirs, ours = fast(name)
    given = {"split_special_tokens": split, "add_special_tokens": False}
    assert_same(theirs(texts, **given), ours(texts, **given))


OPTIONS = {
    "padding": [False, True, "longest", "max_length", "do_not_pad"],
    "truncation": [None, False, True, "longest_first", "only_first"],
    "max_length": [None, 7, 32],
    "pad_to_multiple_of": [None, 8],
    "padding_side": [None, "left"],
    "return_overflowing_tokens": [False, True],
}


@pytest.mark.parametrize("name", ["gpt2", "deepseek_v3"])
@pytest.mark.filterwarnings("ignore:.*max_length:UserWarning")
def test_padding_and_truncation(fast, texts, name):
    theirs, ours = with_pad(fast(name))
    some = texts[::4]
    compared = 0
    for values in itertools.product(*OPTIONS.values()):
        options = dict(zip(OPTIONS, values, strict=True)) | ALL
        fits = options["max_length"] != 7 or not options["pad_to_multiple_of"]
        if not fits and options["truncation"] and options["padding"] not in (False, "do_not_pad"):
            for call in (theirs, ours):
                with pytest.raises(ValueError, match="multiple"):
                    call(some, **options)
            continue
        if options["max_length"] is None and theirs.model_max_length < 10**9:
            options["max_length"] = 64
        if options["truncation"] == "only_first":
            options["max_length"] = options["max_length"] or 16
        assert_same(theirs(some, **options), ours(some, **options))
        compared += 1
    assert compared > 400


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("strategy", [True, "longest_first", "only_first", "only_second"])
def test_pairs_are_cut(fast, texts, side, strategy):
    theirs, ours = with_pad(fast("qwen3"))
    theirs.truncation_side = ours.truncation_side = side
    long = [text for text in texts if len(text) > 60]
    first, second = long, [text[:50] for text in long[::-1]]
    if strategy == "only_second":
        first, second = second, first
    try:
        for size in (20, 31, 64):
            for stride in (0, 3):
                options = {"truncation": strategy, "max_length": size, "stride": stride}
                size_of = len(ours.encode(first[0]))
                for a, b in zip(first, second, strict=True):
                    kept = size - len(ours.encode(b if strategy == "only_first" else a))
                    if strategy in ("only_first", "only_second") and kept <= stride:
                        continue
                    assert_same(theirs(a, b, **options, **ALL), ours(a, b, **options, **ALL))
                    if strategy in ("only_first", "only_second"):
                        more = options | {"return_overflowing_tokens": True, "padding": True}
                        assert_same(theirs(a, b, **more, **ALL), ours(a, b, **more, **ALL))
                assert size_of > 0
    finally:
        theirs.truncation_side = ours.truncation_side = "right"


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize(("size", "stride"), [(8, 0), (8, 3), (8, 7), (1, 0), (500, 10)])
def test_what_overflows(fast, texts, side, size, stride):
    theirs, ours = with_pad(fast("llama3"))
    theirs.truncation_side = ours.truncation_side = side
    options = {"truncation": True, "max_length": size, "stride": stride, "padding": True}
    try:
        for given in (texts, texts[5]):
            wanted = theirs(given, **options, **ALL, return_overflowing_tokens=True)
            assert_same(wanted, ours(given, **options, **ALL, return_overflowing_tokens=True))
            del wanted
    finally:
        theirs.truncation_side = ours.truncation_side = "right"


def test_both_texts_overflow(fast, texts):
    theirs, ours = with_pad(fast("gpt2"))
    options = {"truncation": True, "max_length": 20, "return_overflowing_tokens": True, **ALL}
    long = [text for text in texts if len(text) > 100]
    for pair in zip(long, long[::-1], strict=True):
        assert_same(theirs(*pair, **options), ours(*pair, **options))


@pytest.mark.parametrize("name", MODELS)
def test_words(fast, texts, name):
    theirs, ours = fast(name)
    lists = [text.split(" ") for text in texts if text]
    options = {"is_split_into_words": True, **ALL}
    assert_same(theirs(lists, **options), ours(lists, **options))
    assert_same(theirs(lists, lists[::-1], **options), ours(lists, lists[::-1], **options))
    mine, other = ours(lists, **options), theirs(lists, **options)
    for row in range(len(lists)):
        assert mine.word_ids(row) == other.word_ids(row)
    assert_same(theirs(lists[3], **options), ours(lists[3], **options))


TEMPLATES = {
    "bos": {
        "type": "TemplateProcessing",
        "single": [
            {"SpecialToken": {"id": "<s>", "type_id": 0}},
            {"Sequence": {"id": "A", "type_id": 0}},
        ],
        "pair": [
            {"SpecialToken": {"id": "<s>", "type_id": 3}},
            {"Sequence": {"id": "B", "type_id": 2}},
            {"SpecialToken": {"id": "<s>", "type_id": 1}},
            {"Sequence": {"id": "A", "type_id": 1}},
            {"SpecialToken": {"id": "<s>", "type_id": 0}},
        ],
        "special_tokens": {
            "<s>": {"id": "<s>", "ids": [50256, 11], "tokens": ["<|endoftext|>", ","]}
        },
    },
    "roberta": {
        "type": "RobertaProcessing",
        "sep": ["<|endoftext|>", 50256],
        "cls": ["!", 0],
        "trim_offsets": True,
        "add_prefix_space": False,
    },
    "bert": {"type": "BertProcessing", "sep": ["<|endoftext|>", 50256], "cls": ["!", 0]},
    "trimming": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True},
    "trimming, but for one space": {
        "type": "ByteLevel",
        "add_prefix_space": True,
        "trim_offsets": True,
    },
    "none": None,
}
TEMPLATES["both"] = {
    "type": "Sequence",
    "processors": [TEMPLATES["trimming"], TEMPLATES["bos"]],
}


@pytest.mark.parametrize("kind", TEMPLATES)
def test_post_processors(changed, texts, kind):
    config = {"pad_token": "<|endoftext|>", "model_input_names": ["input_ids", "token_type_ids"]}
    theirs, ours = changed("gpt2", config, post_processor=TEMPLATES[kind])
    some = [text for text in texts if text][::2]
    for special in (True, False):
        options = ALL | {"add_special_tokens": special}
        assert_same(theirs(some, **options), ours(some, **options))
        assert_same(theirs(some, some[::-1], **options), ours(some, some[::-1], **options))
        cut = options | {"truncation": True, "max_length": 12, "padding": True, "stride": 2}
        cut |= {"return_overflowing_tokens": True}
        assert_same(theirs(some, **cut), ours(some, **cut))
        assert_same(theirs(some[4], some[5], **cut), ours(some[4], some[5], **cut))
    for pair in (False, True):
        wanted = theirs.num_special_tokens_to_add(pair)
        assert ours.num_special_tokens_to_add(pair) == wanted
    assert_same(theirs("a b"), ours("a b"))


@pytest.mark.parametrize("padding", [True, "max_length"])
def test_arrays(fast, texts, padding):
    theirs, ours = with_pad(fast("qwen3"))
    options = {"padding": padding, "truncation": True, "max_length": 40, "return_tensors": "np"}
    assert_same(theirs(texts, **options), ours(texts, **options))
    assert_same(theirs("one text", return_tensors="np"), ours("one text", return_tensors="np"))
    assert_same(theirs([""], return_tensors="np"), ours([""], return_tensors="np"))
    ragged = {"return_tensors": "np"}
    mine, other = ours(["a", "b c d"], **ragged), theirs(["a", "b c d"], **ragged)
    for key in other:
        assert [list(row) for row in mine[key]] == [list(row) for row in other[key]]
    with pytest.raises(ImportError, match="needs PyTorch"):
        ours("a", return_tensors="pt")
    with pytest.raises(ValueError, match='it is "np", "pt" or None'):
        ours("a", return_tensors="tf")


@pytest.mark.parametrize("name", MODELS)
def test_decoding(fast, texts, name):
    theirs, ours = with_pad(fast(name))
    for skip in (False, True):
        for text in texts:
            ids = theirs(text)["input_ids"]
            assert ours.decode(ids, skip_special_tokens=skip) == theirs.decode(
                ids, skip_special_tokens=skip
            )
        batch = theirs(texts)["input_ids"]
        wanted = theirs.batch_decode(batch, skip_special_tokens=skip)
        assert ours.batch_decode(batch, skip_special_tokens=skip) == wanted
        assert ours.decode(batch, skip_special_tokens=skip) == wanted
    rows = theirs(texts, padding=True, return_tensors="np")["input_ids"]
    assert ours.batch_decode(rows) == theirs.batch_decode(rows)
    assert ours.decode(rows[3]) == theirs.decode(rows[3])
    for ids in ([], 5, [5], [10**6, 5], list(range(200, 500))):
        assert ours.decode(ids) == theirs.decode(ids)
    assert ours.batch_decode([]) == theirs.batch_decode([])


@pytest.mark.parametrize("name", MODELS)
def test_the_vocabulary(fast, name):
    theirs, ours = fast(name)
    assert ours.get_vocab() == theirs.get_vocab()
    assert ours.vocab == theirs.vocab
    assert len(ours) == len(theirs)
    assert ours.vocab_size == theirs.vocab_size
    assert ours.get_added_vocab() == theirs.get_added_vocab()
    some = [*range(0, len(theirs), 97), len(theirs) - 1]
    assert ours.convert_ids_to_tokens(some) == theirs.convert_ids_to_tokens(some)
    for id in some[:5]:
        assert ours.convert_ids_to_tokens(id) == theirs.convert_ids_to_tokens(id)
    tokens = theirs.convert_ids_to_tokens(some)
    assert ours.convert_tokens_to_ids(tokens) == theirs.convert_tokens_to_ids(tokens)
    assert ours.convert_tokens_to_ids("Ġthe") == theirs.convert_tokens_to_ids("Ġthe")
    assert ours.convert_tokens_to_ids("no such token") is None
    assert ours.convert_ids_to_tokens(10**7) is None
    assert ours.convert_tokens_to_string(tokens) == theirs.convert_tokens_to_string(tokens)
    skipped = theirs.convert_ids_to_tokens(some, skip_special_tokens=True)
    assert ours.convert_ids_to_tokens(some, skip_special_tokens=True) == skipped


ROLES = ["bos", "eos", "unk", "sep", "pad", "cls", "mask"]


@pytest.mark.parametrize("name", MODELS)
def test_roles_and_settings(fast, name):
    theirs, ours = fast(name)
    for role in ROLES:
        assert getattr(ours, f"{role}_token") == getattr(theirs, f"{role}_token")
        assert getattr(ours, f"{role}_token_id") == getattr(theirs, f"{role}_token_id")
    for attribute in (
        *("special_tokens_map", "all_special_tokens", "all_special_ids", "extra_special_tokens"),
        *("model_max_length", "padding_side", "truncation_side", "model_input_names"),
        *("chat_template", "pad_token_type_id", "is_fast"),
    ):
        assert getattr(ours, attribute) == getattr(theirs, attribute), attribute
    with pytest.raises(AttributeError, match="no attribute 'wrong'"):
        _ = ours.wrong


CHATS = [
    [{"role": "user", "content": "Hello"}],
    [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is\n2 + 2?"},
        {"role": "assistant", "content": "4", "name": None},
        {"role": "user", "content": "日本語 <|im_end|>"},
    ],
    [
        {"role": "user", "content": "Think"},
        {"role": "assistant", "content": "Yes ", "reasoning": "because"},
    ],
]
TOOL = {
    "type": "function",
    "function": {"name": "time", "description": "tells <the> time", "parameters": {"é": [1, None]}},
}


@pytest.mark.parametrize("name", ["llama3", "qwen3", "deepseek_v3"])
def test_chats(fast, name):
    theirs, ours = with_pad(fast(name))
    for chat, prompt, tokenize in itertools.product(CHATS, (False, True), (False, True)):
        options = {"add_generation_prompt": prompt, "tokenize": tokenize}
        wanted = theirs.apply_chat_template(chat, **options)
        found = ours.apply_chat_template(chat, **options)
        assert_same(wanted, found) if tokenize else None
        assert tokenize or found == wanted
    for options in (
        {"tokenize": False, "enable_thinking": False, "add_generation_prompt": True},
        {"return_dict": False},
        {"padding": True},
        {"return_tensors": "np", "padding": True},
        {"truncation": True, "max_length": 9},
        {"tokenizer_kwargs": {"return_offsets_mapping": True}},
    ):
        wanted = theirs.apply_chat_template(CHATS, **options)
        found = ours.apply_chat_template(CHATS, **options)
        if isinstance(wanted, list):
            assert found == wanted
        else:
            assert_same(wanted, found)


def test_chats_with_tools_and_open_ends(fast):
    theirs, ours = fast("qwen3")
    for options in (
        {"tools": [TOOL]},
        {"continue_final_message": True},
        {"chat_template": "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"},
        {"chat_template": "{{ tools | tojson(indent=2) }}", "tools": [TOOL]},
        {"chat_template": "{% generation %}\n{{ messages[0].content }}{% endgeneration %}!"},
        {"chat_template": "{% for m in messages %}{{ m.role }}{% break %}{% endfor %}"},
        {
            "chat_template": "{{ eos_token }}{{ bos_token is defined }}{{ extra }}",
            "extra": [1, "é"],
        },
        {"chat_template": "{{ messages[0].content | trim }}", "continue_final_message": True},
    ):
        for chat in CHATS:
            if "continue" in str(options) and "chat_template" in options and len(chat) > 1:
                continue
            wanted = theirs.apply_chat_template(chat, tokenize=False, **options)
            assert ours.apply_chat_template(chat, tokenize=False, **options) == wanted


def test_a_batch_tells_more(fast, texts):
    theirs, ours = fast("qwen3")
    options = {"return_offsets_mapping": True}
    mine, other = ours(texts, texts[::-1], **options), theirs(texts, texts[::-1], **options)
    for row in range(len(texts)):
        assert mine.tokens(row) == other.tokens(row)
        assert mine.sequence_ids(row) == other.sequence_ids(row)
        for at in range(0, len(mine["input_ids"][row]), 7):
            assert mine.token_to_chars(row, at) == other.token_to_chars(row, at)
        for char in range(0, len(texts[row]), 11):
            assert mine.char_to_token(row, char) == other.char_to_token(row, char)
            if char < len(texts[-1 - row]):
                assert mine.char_to_token(row, char, 1) == other.char_to_token(row, char, 1)
    assert mine.input_ids is mine["input_ids"]
    assert mine[1:3]["input_ids"] == mine["input_ids"][1:3]
    assert ours("a b").tokens() == theirs("a b").tokens()
    with pytest.raises(AttributeError, match="has no 'labels'"):
        _ = mine.labels
    with pytest.raises(ValueError, match="give return_offsets_mapping"):
        ours("a b").token_to_chars(0)
    with pytest.raises(ValueError, match="given as words"):
        ours("a b").word_ids()


@pytest.mark.parametrize("side", ["left", "right"])
def test_pad(fast, texts, side):
    theirs, ours = with_pad(fast("qwen3"))
    options = {"return_special_tokens_mask": True, "return_token_type_ids": True}
    rows = [dict(theirs(text, **options)) for text in texts if text]
    whole = {key: [row[key] for row in rows] for key in rows[0]}
    bare = [{"input_ids": row["input_ids"]} for row in rows]
    for given, more in itertools.product(
        (rows, whole, bare, bare[0], [{**row, "label": 1} for row in rows[:3]]),
        (
            {},
            {"pad_to_multiple_of": 16},
            {"padding": "max_length", "max_length": 700},
            {"padding": False},
            {"return_attention_mask": False},
            {"return_tensors": "np", "padding": "max_length", "max_length": 700},
        ),
    ):
        copy = [dict(row) for row in given] if isinstance(given, list) else dict(given)
        wanted = theirs.pad(copy, padding_side=side, **more)
        found = ours.pad(given, padding_side=side, **more)
        assert set(found) == set(wanted)
        assert_same(wanted, {key: found[key] for key in wanted})


def test_targets_are_labels(fast):
    theirs, ours = fast("qwen3")
    options = {"truncation": True, "max_length": 3, "max_target_length": 2}
    for given in (
        {"text": "a b c d", "text_target": "e f g h"},
        {"text_target": ["e f g h", "i"]},
    ):
        assert_same(theirs(**given, **options), ours(**given, **options))


METHODS = [
    *("__call__", "encode", "decode", "batch_decode", "pad", "apply_chat_template", "tokenize"),
    *("convert_tokens_to_ids", "convert_ids_to_tokens", "get_chat_template"),
    *("get_special_tokens_mask", "num_special_tokens_to_add", "convert_tokens_to_string"),
]


@pytest.mark.parametrize("method", METHODS)
def test_arguments_have_their_places(transformers, method):
    """What may be given by position is in the same one, with the same default."""
    from bytepair.compat.huggingface import FastTokenizer

    wanted = inspect.signature(getattr(transformers.PreTrainedTokenizerFast, method)).parameters
    found = inspect.signature(getattr(FastTokenizer, method)).parameters
    places = [parameter for parameter in wanted.values() if parameter.kind is not VARIOUS]
    if method == "__call__":
        assert places.pop().name == "tokenizer_kwargs"
    given = [parameter for parameter in found.values() if parameter.kind is not VARIOUS]
    for theirs, ours in zip(places, given, strict=False):
        assert (ours.name, ours.default) == (theirs.name, theirs.default)
    assert len(given) >= len(places)


def test_special_tokens_mask_of_ids(fast):
    theirs, ours = fast("qwen3")
    ids = ours("a<|im_end|> b<|endoftext|><|vision_pad|></think>")["input_ids"]
    given = {"already_has_special_tokens": True}
    assert ours.get_special_tokens_mask(ids, **given) == theirs.get_special_tokens_mask(
        ids, **given
    )


def test_taken_over_from_an_object(fast, texts):
    from bytepair.compat.huggingface import FastTokenizer

    theirs, _ = fast("llama3")
    ours = FastTokenizer.from_transformers(theirs)
    assert_same(theirs(texts, **ALL), ours(texts, **ALL))
    assert ours.special_tokens_map == theirs.special_tokens_map
    assert ours.chat_template == theirs.chat_template
    with pytest.raises(TypeError, match="takes a fast tokenizer of transformers, not int"):
        FastTokenizer.from_transformers(5)


def test_the_warning_about_max_length(fast):
    theirs, ours = with_pad(fast("qwen3"))
    for call in (theirs, ours):
        with pytest.warns(UserWarning, match="max_length"):
            call(["a", "b c"], padding=True, truncation=False, max_length=9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours(["a", "b c"], padding=True, truncation=False, max_length=9, verbose=False)


def test_nasty_strings_are_not_all_alike():
    assert len(set(NASTY)) == len(NASTY)
