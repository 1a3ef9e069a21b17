"""Chats as text: what a template makes of messages.

In: a Jinja template and messages, each with a role and content. Out: the text that a model takes.
Templates come with a model's files, so they are code of strangers: they run within the bounds of
`bytepair.templates` and see copies of plain values alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

from bytepair.compat.huggingface._names import Names
from bytepair.errors import ArgumentError
from bytepair.templates import ChatTemplate

_REASONING = ("reasoning_content", "thinking", "reasoning")
_MARK = "BYTEPAIR-ENDS-HERE "


class Chats(Names):
    """The methods of `FastTokenizer` for chats."""

    @property
    def chat_template(self) -> str | dict[str, str] | None:
        """The template of `apply_chat_template`, or several by name."""
        return self._settings.chat_template

    @chat_template.setter
    def chat_template(self, value: str | dict[str, str] | None) -> None:
        self._settings.chat_template = value

    def get_chat_template(
        self, chat_template: str | None = None, tools: Sequence[Any] | None = None
    ) -> str:
        """The template of this name, this template, or the tokenizer's own.

        Raises `ArgumentError` when there is none.
        """
        known = self.chat_template
        if isinstance(known, dict):
            if chat_template in known:
                return known[chat_template]
            name = "tool_use" if tools is not None and "tool_use" in known else "default"
            if chat_template is None and name in known:
                return known[name]
            if chat_template is None:
                message = f"give chat_template, one of {sorted(known)}: none of them is the default"
                raise ArgumentError(message)
            return chat_template
        template = chat_template or known
        if template is None:
            message = "the tokenizer has no chat_template; give one, or set tokenizer.chat_template"
            raise ArgumentError(message)
        return template

    def apply_chat_template(
        self,
        conversation: Any,
        tools: Sequence[Any] | None = None,
        documents: Sequence[Any] | None = None,
        chat_template: str | None = None,
        add_generation_prompt: bool = False,  # noqa: FBT001 - as in transformers
        continue_final_message: bool | str = False,  # noqa: FBT001
        tokenize: bool = True,  # noqa: FBT001
        sanitize_control_tokens: bool = False,  # noqa: FBT001
        padding: bool | str = False,  # noqa: FBT001
        truncation: bool = False,  # noqa: FBT001
        max_length: int | None = None,
        return_tensors: str | None = None,
        return_dict: bool = True,  # noqa: FBT001
        return_assistant_tokens_mask: bool = False,  # noqa: FBT001
        tokenizer_kwargs: dict[str, Any] | None = None,
        **values: Any,
    ) -> Any:
        """A chat as ids, or as text.

        Args:
            conversation: messages, dicts with role and content; or a list of such lists.
            tools: JSON schemas of tools, for templates that show them.
            documents: dicts with title and text, for templates that show them.
            chat_template: a template, or the name of one of the tokenizer's.
            add_generation_prompt: whether to end with what begins an answer.
            continue_final_message: whether to leave the last message open, to be continued; a
                string names the part of it.
            tokenize: whether to give ids, not text.
            sanitize_control_tokens: not supported.
            padding: as in a call.
            truncation: as in a call.
            max_length: as in a call.
            return_tensors: as in a call.
            return_dict: whether to give all of a call's result, not the ids alone.
            return_assistant_tokens_mask: not supported.
            tokenizer_kwargs: more options of the call.
            **values: what the template may use besides.

        Raises `ArgumentError` for what is no chat and where the template refuses or takes too much,
        `ImportError` without Jinja2.
        """
        for option, wanted in (
            ("return_assistant_tokens_mask", return_assistant_tokens_mask),
            ("sanitize_control_tokens", sanitize_control_tokens),
        ):
            if wanted:
                message = f"{option} is not supported; use transformers for it"
                raise ArgumentError(message)
        if continue_final_message and add_generation_prompt:
            message = "continue_final_message and add_generation_prompt cannot both be given"
            raise ArgumentError(message)
        if isinstance(conversation, str | Mapping) or not isinstance(conversation, Sequence):
            kind = type(conversation).__name__
            message = f"the conversation must be a list of messages, not {kind}"
            raise TypeError(message)
        if not conversation:
            message = "the conversation is empty; give at least one message"
            raise ArgumentError(message)
        template = self.get_chat_template(chat_template, tools)
        batched = isinstance(conversation[0], list | tuple)
        chats = [
            render(
                template,
                chat,
                tools=tools,
                documents=documents,
                add_generation_prompt=add_generation_prompt,
                continue_final_message=continue_final_message,
                values={**self.special_tokens_map, **values},
            )
            for chat in (conversation if batched else [conversation])
        ]
        text = chats if batched else chats[0]
        if not tokenize:
            return text
        options = {"padding": padding, "truncation": truncation, "max_length": max_length}
        options |= {"return_tensors": return_tensors, **(tokenizer_kwargs or {})}
        result = cast("Any", self)(text, add_special_tokens=False, **options)
        return result if return_dict else result["input_ids"]


def render(
    template: str,
    messages: Sequence[Any],
    *,
    tools: Sequence[Any] | None,
    documents: Sequence[Any] | None,
    add_generation_prompt: bool,
    continue_final_message: bool | str,
    values: Mapping[str, Any],
) -> str:
    """The text of a chat.

    Raises `ArgumentError` for what is no chat, what cannot be continued and where the template
    refuses or takes too much; `ImportError` without Jinja2.
    """
    for tool in tools or ():
        if not isinstance(tool, Mapping):
            message = (
                f"a tool is {type(tool).__name__}; give its JSON schema, as a dict "
                "(transformers.utils.get_json_schema makes one of a function)"
            )
            raise ArgumentError(message)
    chat = [_message(message) for message in messages]
    last = _begun(chat, template, continue_final_message) if continue_final_message else None
    text = _compiled(template).render(
        chat,
        tools=plain(tools),
        documents=plain(documents),
        add_generation_prompt=add_generation_prompt,
        **plain(values),
    )
    return text if last is None else _unfinished(text, last)


def _message(value: Any) -> dict[str, Any]:
    """A message as a template sees it: without what is `None`, its reasoning under every name."""
    message = plain(value)
    if not isinstance(message, dict):
        fault = f"a message must be a dict with role and content, not {type(value).__name__}"
        raise ArgumentError(fault)
    message = {key: item for key, item in message.items() if item is not None}
    reasoning = next((message[key] for key in _REASONING if key in message), None)
    if reasoning is not None:
        message = {"thinking": reasoning, **message, "reasoning_content": reasoning}
    return message


def _begun(chat: list[dict[str, Any]], template: str, continued: bool | str) -> str:  # noqa: FBT001
    """Mark where the last message ends; gives its text."""
    key = continued if isinstance(continued, str) else "content"
    if not chat or chat[-1].get(key) is None:
        message = f"continue_final_message: the last message has no {key!r} to continue"
        raise ArgumentError(message)
    text = chat[-1][key]
    keys = [name for name in _REASONING if chat[-1].get(name) == text]
    keys = keys if key in _REASONING else [key]
    if not any(name in template for name in keys):
        message = f"continue_final_message: the template does not use {key!r}"
        raise ArgumentError(message)
    if isinstance(text, str):
        for name in keys:
            chat[-1][name] = text + _MARK
        return text
    for block in reversed(text):
        if isinstance(block, dict) and "text" in block:
            found = str(block["text"])
            block["text"] = found + _MARK
            return found
    message = "continue_final_message: the last message has no text to continue"
    raise ArgumentError(message)


def _unfinished(text: str, last: str) -> str:
    """A rendered chat up to the mark."""
    at = text.rfind(_MARK.strip())
    if at < 0 or last.strip() not in text:
        message = (
            "continue_final_message: the template changes the last message, so its end is lost"
        )
        raise ArgumentError(message)
    kept = text[:at]
    # Without the space of the mark the template strips messages, and did not strip this one.
    return kept if text.startswith(_MARK, at) else kept.rstrip()


def plain(value: Any) -> Any:
    """A copy of plain values; of anything else the name of its type."""
    if isinstance(value, str):
        return str.__str__(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    dump = getattr(value, "model_dump", None)
    return plain(dump()) if callable(dump) else f"<{type(value).__name__}>"


@lru_cache
def _compiled(template: str) -> ChatTemplate:
    return ChatTemplate(template)
