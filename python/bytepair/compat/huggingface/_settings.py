"""What transformers keeps beside the ids: roles of tokens, sides, lengths, templates.

In: the files of a directory, or a fast tokenizer of transformers. Out: `Settings`. Of a
`tokenizer.json` this reads what `bytepair.formats.huggingface` passes over: the post-processor. As
in transformers 5 it alone decides which tokens are put around a text; `add_bos_token` in
`tokenizer_config.json` decides nothing where there is a `tokenizer.json`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from bytepair.compat.huggingface._rows import Slot, Template
from bytepair.errors import FormatError
from bytepair.formats import _files

ROLES = (
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
)
"""The roles that transformers has names for."""

UNLIMITED = int(1e30)
"""The `model_max_length` of a model that does not say it."""

CONFIG = "tokenizer_config.json"
TEMPLATE = "chat_template.jinja"


@dataclass
class Settings:
    """What a fast tokenizer of transformers knows besides its ids."""

    roles: dict[str, str] = field(default_factory=dict)
    extra: list[str] = field(default_factory=list)
    """More special tokens, without a role."""
    chat_template: str | dict[str, str] | None = None
    model_max_length: int = UNLIMITED
    padding_side: str = "right"
    truncation_side: str = "right"
    model_input_names: list[str] = field(default_factory=lambda: ["input_ids", "attention_mask"])
    split_special_tokens: bool = False
    model_size: int | None = None
    """The number of ids of the model, where a file says it."""
    template: Template = field(default_factory=Template)
    trim_offsets: bool = False
    """Whether offsets leave out the spaces at both ends of a token."""
    keeps_first_space: bool = True
    """Whether one space stays in the offsets at the beginning of a text, where they are trimmed."""
    name_or_path: str = ""
    clean_up_tokenization_spaces: bool = False
    """What is said there; it has no effect on byte-level BPE."""


def from_directory(folder: str) -> Settings:
    """The settings in a directory of files. Raises `FormatError`, naming file and fault."""
    data = _files.read_json(os.path.join(folder, "tokenizer.json"))
    settings = Settings(model_size=len(data["model"]["vocab"]))
    post_process(settings, data.get("post_processor"), os.path.join(folder, "tokenizer.json"))
    padding, truncation = data.get("padding") or {}, data.get("truncation") or {}
    if isinstance(padding, dict) and padding.get("pad_token"):
        settings.roles["pad_token"] = str(padding["pad_token"])
        settings.padding_side = str(padding.get("direction", "right")).lower()
    if isinstance(truncation, dict):
        settings.truncation_side = str(truncation.get("direction", "right")).lower()
    path = os.path.join(folder, CONFIG)
    if os.path.isfile(path):
        _configure(settings, _files.read_json(path), path)
    path = os.path.join(folder, TEMPLATE)
    if os.path.isfile(path):
        with open(path, encoding="utf-8") as file:
            settings.chat_template = file.read()
    return settings


def from_object(tokenizer: Any) -> Settings:
    """The settings of a fast tokenizer of transformers."""
    data = _files.parse_json(tokenizer.backend_tokenizer.to_str(), "the tokenizer")
    # Version 5 gave the tokens without a role another name.
    new = hasattr(tokenizer, "extra_special_tokens")
    settings = Settings(
        roles=dict(tokenizer.special_tokens_map),
        extra=list(tokenizer.extra_special_tokens if new else tokenizer.additional_special_tokens),
        chat_template=tokenizer.chat_template,
        model_max_length=tokenizer.model_max_length,
        padding_side=tokenizer.padding_side,
        truncation_side=tokenizer.truncation_side,
        model_input_names=list(tokenizer.model_input_names),
        split_special_tokens=bool(tokenizer.split_special_tokens),
        model_size=tokenizer.vocab_size,
        name_or_path=str(tokenizer.name_or_path),
        clean_up_tokenization_spaces=bool(tokenizer.clean_up_tokenization_spaces),
    )
    settings.roles.pop("additional_special_tokens", None)
    post_process(settings, data.get("post_processor"), "the tokenizer")
    return settings


def _configure(settings: Settings, data: Any, path: str) -> None:
    if not isinstance(data, dict):
        message = f"{path}: not an object"
        raise FormatError(message)
    for key, value in data.items():
        if key in ROLES or (key.endswith("_token") and isinstance(value, str | dict)):
            name = _content(value)
            if name is not None:
                settings.roles[key] = name
    extra = data.get("extra_special_tokens", data.get("additional_special_tokens")) or []
    if isinstance(extra, dict):
        settings.roles.update((key, str(_content(value))) for key, value in extra.items())
    else:
        settings.extra = [name for name in map(_content, extra) if name is not None]
    template = data.get("chat_template")
    if isinstance(template, list):
        template = {str(one["name"]): str(one["template"]) for one in template}
    settings.chat_template = template
    limit = data.get("model_max_length")
    settings.model_max_length = UNLIMITED if limit is None else int(limit)
    for key in ("padding_side", "truncation_side"):
        side = data.get(key, getattr(settings, key))
        if side not in ("left", "right"):
            message = f'{path}: {key} is {side!r}; it is "left" or "right"'
            raise FormatError(message)
        setattr(settings, key, side)
    names = data.get("model_input_names")
    if isinstance(names, list):
        settings.model_input_names = [str(name) for name in names]
    settings.split_special_tokens = bool(data.get("split_special_tokens", False))
    settings.clean_up_tokenization_spaces = bool(data.get("clean_up_tokenization_spaces", False))


def _content(value: Any) -> str | None:
    """The text of a token, which a file may have as an object."""
    if isinstance(value, dict):
        value = value.get("content")
    return value if isinstance(value, str) else None


# ── The post-processor ────────────────────────────────────────────────────────────────────────────


def post_process(settings: Settings, value: Any, source: str) -> None:
    """Take over a post-processor. Raises `FormatError` for a kind that is not known."""
    for step in _steps(value, source):
        kind = step.get("type")
        if kind in ("ByteLevel", "RobertaProcessing"):
            settings.trim_offsets = bool(step.get("trim_offsets", True))
            settings.keeps_first_space = bool(step.get("add_prefix_space", True))
        try:
            if kind == "TemplateProcessing":
                settings.template = _template(step)
            elif kind == "RobertaProcessing":
                settings.template = _roberta(step)
            elif kind == "BertProcessing":
                settings.template = _bert(step)
        except (KeyError, TypeError, ValueError) as error:
            message = f"{source}: the post_processor {kind} is damaged: {error!r}"
            raise FormatError(message) from error
        if kind not in _KINDS:
            message = f"{source}: the post_processor {kind!r} is not supported"
            raise FormatError(message)


_KINDS = ("ByteLevel", "TemplateProcessing", "RobertaProcessing", "BertProcessing")


def _steps(value: Any, source: str) -> list[dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, dict):
        message = f"{source}: the post_processor is {value!r}, not an object"
        raise FormatError(message)
    if value.get("type") != "Sequence":
        return [value]
    return [step for part in value.get("processors") or [] for step in _steps(part, source)]


def _template(step: dict[str, Any]) -> Template:
    ids = {name: tuple(map(int, token["ids"])) for name, token in step["special_tokens"].items()}

    def slot(part: dict[str, Any]) -> Slot:
        ((kind, what),) = part.items()
        type_id = int(what["type_id"])
        if kind == "Sequence":
            return Slot((), {"A": 0, "B": 1}[what["id"]], type_id)
        return Slot(ids[what["id"]], None, type_id)

    return Template(tuple(map(slot, step["single"])), tuple(map(slot, step["pair"])))


def _roberta(step: dict[str, Any]) -> Template:
    start, end = ((Slot((int(step[key][1]),), None, 0)) for key in ("cls", "sep"))
    single = (start, Slot((), 0, 0), end)
    return Template(single, (*single, end, Slot((), 1, 0), end), types_all=True)


def _bert(step: dict[str, Any]) -> Template:
    start, end = (int(step[key][1]) for key in ("cls", "sep"))
    single = (Slot((start,), None, 0), Slot((), 0, 0), Slot((end,), None, 0))
    return Template(single, (*single, Slot((), 1, 1), Slot((end,), None, 1)))
