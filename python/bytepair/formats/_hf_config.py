"""What a Hugging Face directory says about the use of ids: roles, template, chat template.

In: the value of a `tokenizer.json` and the files beside it. Out: conventions, as
`Tokenizer.conventions` has them; and back. Read are the template of the post-processor for one text
(that for pairs is not kept), and the tokens and the chat template of `tokenizer_config.json`, or of
the older `special_tokens_map.json`.
"""

from __future__ import annotations

import json
import os
from typing import Any

from bytepair.conventions import ROLES
from bytepair.errors import FormatError
from bytepair.formats import _files
from bytepair.tokenizer import Tokenizer

CONFIG = "tokenizer_config.json"
_BESIDE = (CONFIG, "special_tokens_map.json")
_CHAT = "chat_template.jinja"
_MOST_BYTES = 1 << 26


def read(tokenizer: Tokenizer, data: dict[str, Any], folder: str | None) -> dict[str, Any]:
    """The conventions in the value of a `tokenizer.json`, and in `folder` if there is one."""
    found: dict[str, Any] = {}
    template = _template(data.get("post_processor"))
    if template is not None and all(
        0 <= id < tokenizer.vocab_size for ids in template.values() for id in ids
    ):
        found["template"] = template
    if folder is None:
        return found
    known = {**tokenizer.special_tokens, **tokenizer.added_tokens}
    roles: dict[str, str] = {}
    for name in _BESIDE:
        values = _object(os.path.join(folder, name))
        for role in ROLES:
            token = values.get(f"{role}_token")
            token = token.get("content") if isinstance(token, dict) else token
            if isinstance(token, str) and token in known:
                roles.setdefault(role, token)
        if isinstance(values.get("chat_template"), str):
            found["chat_template"] = values["chat_template"]
    chat = os.path.join(folder, _CHAT)
    if os.path.isfile(chat):
        found["chat_template"] = _files.read_text(chat)
    if roles:
        found["roles"] = roles
    return found


def _object(path: str) -> dict[str, Any]:
    if not os.path.isfile(path):
        return {}
    values = _files.parse_json(_files.text_of(_files.read_bytes(path, _MOST_BYTES), path), path)
    if not isinstance(values, dict):
        message = f"{path}: not an object"
        raise FormatError(message)
    return values


def _template(value: Any) -> dict[str, list[int]] | None:
    """The ids that a post-processor puts around one text."""
    match value:
        case {"type": "Sequence", "processors": list(steps)}:
            found = [step for step in map(_simple, steps) if step is not None]
            return found[0] if len(found) == 1 else None
    return _simple(value)


def _simple(value: Any) -> dict[str, list[int]] | None:
    match value:
        case {
            "type": "RobertaProcessing" | "BertProcessing",
            "cls": [str(), int(first)],
            "sep": [str(), int(last)],
        }:
            return {"before": [first], "after": [last]}
        case {"type": "TemplateProcessing", "single": list(parts), "special_tokens": dict(tokens)}:
            pass
        case _:
            return None
    template: dict[str, list[int]] = {"before": [], "after": []}
    side = "before"
    for part in parts:
        match part:
            case {"Sequence": {"id": "A"}} if side == "before":
                side = "after"
            case {"SpecialToken": {"id": str(name)}} if name in tokens:
                ids = tokens[name].get("ids") if isinstance(tokens[name], dict) else None
                if not isinstance(ids, list) or any(type(id) is not int for id in ids):
                    return None
                template[side] += ids
            case _:
                return None
    return template if side == "after" else None


# ── Writing ───────────────────────────────────────────────────────────────────────────────────────


def config(tokenizer: Tokenizer | None = None) -> str:
    """The text of `tokenizer_config.json`: what transformers needs to read the other file as is."""
    values: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        "model_input_names": ["input_ids", "attention_mask"],
    }
    conventions = {} if tokenizer is None else tokenizer.conventions
    for role, name in conventions.get("roles", {}).items():
        values[f"{role}_token"] = name
    if "chat_template" in conventions:
        values["chat_template"] = conventions["chat_template"]
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"


def post_processor(tokenizer: Tokenizer, first: dict[str, Any] | None) -> dict[str, Any] | None:
    """The value of `post_processor`: `first`, then the template where there is one."""
    template = tokenizer.conventions.get("template")
    if not template:
        return first
    names = {id: name for name, id in tokenizer.added_tokens.items()}
    names.update((id, name) for name, id in tokenizer._special_names.items())
    ids = {id: names.get(id, f"<|{id}|>") for side in template.values() for id in side}

    def pieces(sequence: str, type_id: int) -> list[dict[str, Any]]:
        special = {
            side: [{"SpecialToken": {"id": ids[id], "type_id": type_id}} for id in template[side]]
            for side in template
        }
        text = {"Sequence": {"id": sequence, "type_id": type_id}}
        return [*special["before"], text, *special["after"]]

    processor = {
        "type": "TemplateProcessing",
        "single": pieces("A", 0),
        "pair": [*pieces("A", 0), *pieces("B", 1)],
        "special_tokens": {
            name: {"id": name, "ids": [id], "tokens": [name]} for id, name in ids.items()
        },
    }
    if first is None:
        return processor
    return {"type": "Sequence", "processors": [first, processor]}
