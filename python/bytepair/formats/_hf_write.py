"""Writing Hugging Face's `tokenizer.json` and `tokenizer_config.json`.

In: a tokenizer. Out: the text of the files, with which `tokenizers` gives the same ids. Where
merges follow ranks, they are written as pairs: the one true merge of each token where there is one,
else every split of it with `ignore_merges`.

`tokenizers` numbers added tokens itself and leaves no holes, so ids that no token has are given to
placeholders, `<|unassigned_ID|>`, which reading takes out again.
"""

from __future__ import annotations

import json
import re
from typing import Any

from bytepair import _core
from bytepair.errors import FormatError
from bytepair.formats import _hf_write_flow
from bytepair.formats._hf_config import config as config
from bytepair.formats._hf_config import post_processor
from bytepair.formats._hf_flow import SPACE
from bytepair.formats._hf_write_flow import WAY_OUT
from bytepair.formats.gpt2 import spell
from bytepair.patterns import regex
from bytepair.tokenizer import Tokenizer

MOST_HOLES = 1 << 16
"""Ids without a token, at most: each is a line in the file."""

# Case folding that was compared over all of Unicode; another may join or part characters.
_FOLDED = ("(?i:'s|'t|'re|'ve|'m|'ll|'d)", "(?i:[sdmt]|ll|ve|re)")

# What tokenizers' engine (Oniguruma) reads differently, or may: in the text as written, then with
# each backslash and what is after it blotted out, then without the classes too.
_UNLIKE_ESCAPES = (
    (r"\\[wWbB]", r"has \w or \b, which know other characters in tokenizers"),
    (r"\\[hHRXzZAGKyYOkgcCMu1-9]", "has an escape that tokenizers reads differently"),
    (r"\\[pP](?!\{)|\\x(?!\{|[0-9a-fA-F]{2})", "has an escape that tokenizers reads differently"),
)
_UNLIKE_PLAIN = (
    (r"\{\d*,?\d*\}\+", "repeats with {…}+, which tokenizers does not read as possessive"),
    (r"\{,", "repeats with {,…}, which not every engine knows"),
    (r"\(\?[a-zA-Z]*i", "ignores case, where engines differ in rare characters"),
    (r"\(\?(?![:=!>]|<[=!])", "has a flag or a group that tokenizers reads differently"),
    (r"\[[^\]]*(?:\[|&&|--|~~)", "has a set operation that tokenizers reads differently"),
)
_UNLIKE_BARE = ((r"[$^]", "has ^ or $, which match at every line in tokenizers"),)


def differs(text: str) -> str | None:
    r"""Why a regular expression may mean something else to tokenizers, or `None`.

    >>> differs(r"\S+$")
    'has ^ or $, which match at every line in tokenizers'
    """
    name = _core.pattern_name(text)
    if name is not None and regex(name) == text:
        return None
    for folded in _FOLDED:
        text = text.replace(folded, "(?:)")
    plain = re.sub(r"\\.", "__", text, flags=re.DOTALL)
    bare = re.sub(r"\[\^?\]?[^\]]*\]", "_", plain)
    checks = ((text, _UNLIKE_ESCAPES), (plain, _UNLIKE_PLAIN), (bare, _UNLIKE_BARE))
    for where, rules in checks:
        for unlike, why in rules:
            if re.search(unlike, where):
                return why
    return None


def is_placeholder(text: str, id: int) -> bool:
    """Whether a token of this name only keeps the ids after it in their place."""
    return text.startswith("<|unassigned_") and text == _placeholder(id)


def _placeholder(id: int) -> str:
    return f"<|unassigned_{id}|>"


def dumps(tokenizer: Tokenizer) -> str:
    """The text of `tokenizer.json`.

    Raises `FormatError` when tokenizers could not give the same ids, and says why.
    """
    if tokenizer._special_aliases:
        name, id = next(iter(tokenizer._special_aliases.items()))
        message = f"id {id} has a second name, {name!r}; tokenizers knows one of each; {WAY_OUT}"
        raise FormatError(message)
    if tokenizer._model.symbols is not None:
        return _characters(tokenizer)
    entries = {id: spell(token) for id, token in tokenizer._model.items()}
    vocab, added = _vocab(tokenizer, entries)
    merges, whole = _merges(tokenizer)
    steps, prefix = _hf_write_flow.without_prefix(_hf_write_flow.steps_of(tokenizer))
    if tokenizer.drops_space:
        message = f"the decoder of a byte-level file cannot leave out a space; {WAY_OUT}"
        raise FormatError(message)
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False}
    values = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": _hf_write_flow.normalizer(steps),
        "pre_tokenizer": _pre_tokenizer(tokenizer, byte_level, prefix=prefix),
        "post_processor": post_processor(tokenizer, {**byte_level, "use_regex": False}),
        "decoder": {**byte_level, "use_regex": False},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": whole,
            "vocab": vocab,
            "merges": merges,
        },
    }
    return _text(values)


def _text(values: dict[str, Any]) -> str:
    # A line for each part: indenting every merge would take ten times as long.
    parts = (
        f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        for key, value in values.items()
    )
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _characters(tokenizer: Tokenizer) -> str:
    """The text of a file whose merging begins with characters."""
    symbols = tokenizer._model.symbols or {}
    spaced = _hf_write_flow.is_spaced(tokenizer)
    of_bytes = {id: byte for byte, id in enumerate(symbols.get("byte_ids", ()))}
    entries = {}
    for id, token in tokenizer._model.items():
        if id in of_bytes:
            entries[id] = f"<0x{of_bytes[id]:02X}>"
        else:
            text = token.decode()
            entries[id] = text.replace(" ", SPACE) if spaced else text
    if symbols.get("frozen"):
        message = (
            "the tokenizer has tokens that are found in text after it is normalized "
            f"(user-defined ones, as {entries[symbols['frozen'][0]]!r:.80}); {WAY_OUT}"
        )
        raise FormatError(message)
    vocab, added = _vocab(tokenizer, entries)
    text_of = dict(entries)
    ids = {token: id for id, token in tokenizer._model.items() if id not in of_bytes}
    unknown = tokenizer._special_names.get("<unk>")
    if "unknown" in symbols:
        names = {id: name for name, id in tokenizer._special_names.items()}
        unknown = symbols["unknown"]
        text_of.update(names)
    flow = _hf_write_flow.characters(tokenizer)
    return _text(
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": added,
            "normalizer": flow["normalizer"],
            "pre_tokenizer": flow["pre_tokenizer"],
            "post_processor": post_processor(tokenizer, None),
            "decoder": flow["decoder"],
            "model": {
                "type": "BPE",
                "dropout": None,
                "unk_token": None if unknown is None else text_of.get(unknown, "<unk>"),
                "continuing_subword_prefix": None,
                "end_of_word_suffix": None,
                "fuse_unk": symbols.get("fuse_unknown", True),
                "byte_fallback": bool(of_bytes),
                "ignore_merges": False,
                "vocab": vocab,
                "merges": [
                    [text_of[ids[left]], text_of[ids[right]]]
                    for left, right in tokenizer._model.merges()
                ],
            },
        }
    )


def _pre_tokenizer(
    tokenizer: Tokenizer, byte_level: dict[str, Any], *, prefix: bool
) -> dict[str, Any]:
    name = _core.pattern_name(tokenizer._pattern)
    # Of a named pattern the spelling that every engine reads alike.
    pattern = tokenizer._pattern if name is None else regex(name)
    if name == "gpt2":
        return {**byte_level, "add_prefix_space": prefix, "use_regex": True}
    texts = [pattern] if isinstance(pattern, str) else list(pattern or [])
    steps: list[dict[str, Any]] = []
    for text in texts:
        unlike = differs(text) if name is None else None
        if unlike is not None:
            message = f"the pattern {text!r} {unlike}; {WAY_OUT}"
            raise FormatError(message)
        cut = {"pattern": {"Regex": text}, "behavior": "Isolated", "invert": False}
        steps.append({"type": "Split", **cut})
    if prefix and steps:
        message = f"only GPT-2's pattern, or none, can follow a space put in front; {WAY_OUT}"
        raise FormatError(message)
    last = {**byte_level, "add_prefix_space": prefix, "use_regex": False}
    return {"type": "Sequence", "pretokenizers": [*steps, last]} if steps else last


def _vocab(
    tokenizer: Tokenizer, entries: dict[int, str]
) -> tuple[dict[str, int], list[dict[str, Any]]]:
    """The vocab of the model by id, without a hole, and the added tokens after it.

    `entries` are the tokens of the model as the file spells them; special tokens join them.
    """
    owner: dict[str, int] = {}
    for id, text in entries.items():
        if owner.setdefault(text, id) != id:
            message = f"{text!r} has the ids {owner[text]} and {id}; {WAY_OUT}"
            raise FormatError(message)
    inside = max(entries, default=-1) + 1
    named = {id: (name, True) for name, id in tokenizer._special_names.items()}
    named.update((id, (name, False)) for name, id in tokenizer.added_tokens.items())
    taken = {*owner, *(name for name, _ in named.values())}
    holes = tokenizer.vocab_size - len(entries.keys() | named.keys())
    if holes > MOST_HOLES:
        message = f"{holes} ids have no token, and tokenizers leaves none out; {WAY_OUT}"
        raise FormatError(message)
    added = []
    for id in range(tokenizer.vocab_size):
        if id in named:
            name, special = named[id]
            if owner.get(name, id) != id:
                message = f"{name!r} (id {id}) is spelled like token {owner[name]}; {WAY_OUT}"
                raise FormatError(message)
        elif id in entries:
            continue
        else:
            name, special = _placeholder(id), True
            if name in taken:
                message = f"{name!r} is a token, and the name that id {id} would get; {WAY_OUT}"
                raise FormatError(message)
        # One that the model has too is spelled as text, and must not be spelled otherwise.
        if id < inside and entries.setdefault(id, name) != name:
            message = f"{name!r} (id {id}) is a token of other spelling too; {WAY_OUT}"
            raise FormatError(message)
        left, right, word = tokenizer._token_flags.get(name, (False, False, False))
        flags = {"single_word": word, "lstrip": left, "rstrip": right, "normalized": False}
        added.append({"id": id, "content": name, **flags, "special": special})
    return {text: id for id, text in sorted(entries.items())}, added


def _merges(tokenizer: Tokenizer) -> tuple[list[list[str]], bool]:
    """The merges as pairs, and whether whole pieces are looked up first (`ignore_merges`)."""
    model = tokenizer._model
    longer = [(id, token) for id, token in model.items() if len(token) > 1]
    merges = model.merges()
    if not model.by_rank or len(merges) == len(longer):
        return [[spell(left), spell(right)] for left, right in merges], (
            model.whole_pieces and not model.by_rank
        )
    ids = {token: id for id, token in model.items()}
    splits = []
    for id, token in longer:
        for middle in range(1, len(token)):
            left, right = ids.get(token[:middle]), ids.get(token[middle:])
            if left is not None and right is not None:
                splits.append((id, left, right))
    text = {id: spell(token) for token, id in ids.items()}
    return [[text[left], text[right]] for _, left, right in sorted(splits)], True
