"""How many tokens a chat takes, for OpenAI's models by their published rules.

In: messages as OpenAI's API takes them. Out: a count. The texts are counted exactly; what stands
between them is not published for all models, and for those that OpenAI has documented it is "an
estimate, not a timeless guarantee" (the OpenAI Cookbook, "How to count tokens with tiktoken",
sections 6 and 7, which is the source of every number here). For a model whose chat template is
published, `bytepair.templates` renders that and counts exactly.

Nothing is sent anywhere. Messages are text from strangers: special tokens in them are plain text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bytepair._names import did_you_mean
from bytepair.encodings import MODELS, encoding_for_model
from bytepair.errors import ArgumentError, UnknownModelError
from bytepair.tokenizer import Tokenizer

__all__ = ["ChatRules", "chat_rules", "count_chat"]

Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ChatRules:
    """What a chat takes besides the tokens of its texts.

    >>> chat_rules("gpt-4o").per_message
    3
    """

    per_message: int = 3
    """For each message."""
    per_name: int = 1
    """For each message that has a `name`; less than nothing where it takes the role's place."""
    reply: int = 3
    """For the beginning of the answer."""
    per_tool: int | None = None
    """For each tool; `None` where nothing is published for tools."""
    properties: int = 3
    """For a tool that has parameters."""
    per_property: int = 3
    """For each parameter."""
    enum: int = -3
    """For a parameter with an enumeration."""
    per_enum: int = 3
    """For each value of an enumeration."""
    tools: int = 12
    """Once, where there are tools."""


# The beginnings of model names that OpenAI documents, the longest that fits being the one meant.
_RULES = {
    "gpt-3.5-turbo-0301": ChatRules(per_message=4, per_name=-1),
    "gpt-3.5-turbo": ChatRules(per_tool=10),
    "gpt-4": ChatRules(per_tool=10),
    "gpt-4o": ChatRules(per_tool=7),
}
# These begin so and are other models, for which nothing is published.
_UNKNOWN = ("gpt-4.1", "gpt-4.5", "gpt-4o-audio", "gpt-4o-realtime", "gpt-3.5-turbo-instruct")


def chat_rules(model: str) -> ChatRules:
    """The published rules for a model's chats, by its name or a dated form of it.

    Raises `ArgumentError` for a model about which OpenAI has published none.

    >>> chat_rules("gpt-3.5-turbo-0301")  # doctest: +ELLIPSIS
    ChatRules(per_message=4, per_name=-1, ...)
    """
    name = model.rpartition("/")[2].removeprefix("ft:").partition(":")[0]
    fitting = [known for known in _RULES if name == known or name.startswith(f"{known}-")]
    if not fitting or name.startswith(_UNKNOWN):
        message = (
            f"OpenAI has published no rules for the chats of {model!r}; give rules=ChatRules(...), "
            f"or name one of {', '.join(_RULES)}"
        )
        raise ArgumentError(message)
    return _RULES[max(fitting, key=len)]


def count_chat(
    messages: Iterable[Message],
    model: str | None = None,
    *,
    tools: Iterable[Mapping[str, Any]] = (),
    tokenizer: Tokenizer | None = None,
    rules: ChatRules | None = None,
) -> int:
    """The number of prompt tokens of a chat, by OpenAI's published rules.

    Args:
        messages: mappings with `role`, `content` (a str, or parts of type `"text"`) and perhaps
            `name`.
        model: whose encoding and rules to use. May be left out where both are given.
        tools: the tools as the API takes them: `{"type": "function", "function": {...}}`.
        tokenizer: counts the texts, in place of the model's encoding.
        rules: what is added, in place of `chat_rules(model)`.

    Raises `ArgumentError` for what has no published count, such as images or tool calls, naming the
    message and the key.

    >>> count_chat([{"role": "user", "content": "hi"}], "gpt-4o")
    8
    """
    if model is None and (tokenizer is None or rules is None):
        error = "model is None; give the model's name, or both tokenizer and rules"
        raise ArgumentError(error)
    counter = tokenizer if tokenizer is not None else _encoding(model or "")
    added = rules if rules is not None else chat_rules(model or "")
    total = added.reply
    check_list(messages=messages, tools=tools)
    for index, message in enumerate(messages):
        total += added.per_message
        for key, text in _texts(message, index):
            total += counter.count(text, allowed_special=())
            if key == "name":
                total += added.per_name
    functions = list(tools)
    if functions:
        if added.per_tool is None:
            error = f"OpenAI has published no count for tools of {model!r}; give rules"
            raise ArgumentError(error)
        total += added.tools
    for index, tool in enumerate(functions):
        total += _tool(tool, index, counter, added)
    return total


def check_list(**given: object) -> None:
    """Refuse messages or tools that are no list of them; they are given by their name.

    >>> check_list(messages=[], tools=())
    """
    for name, value in given.items():
        if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping):
            error = f"{name} must be a list of {name}, not {type(value).__name__}"
            raise TypeError(error)


def _encoding(model: str) -> Tokenizer:
    try:
        return encoding_for_model(model)
    except UnknownModelError:
        error = (
            f"no encoding is known for the model {model!r:.80}; give tokenizer=... and "
            "rules=ChatRules(...), or count its chat template with bytepair.templates"
            f"{did_you_mean(model, MODELS)}"
        )
        raise UnknownModelError(error) from None


def _texts(message: Message, index: int) -> list[tuple[str, str]]:
    """The keys of a message with their texts."""
    if not isinstance(message, Mapping):
        error = f"message {index} must be a mapping, not {type(message).__name__}"
        raise TypeError(error)
    if "role" not in message:
        error = f"message {index} has no role"
        raise ArgumentError(error)
    found = []
    for key, value in message.items():
        if key not in ("role", "content", "name"):
            error = (
                f"message {index} has {key!r}, for which no count is published; "
                "render the model's chat template instead, or leave it out"
            )
            raise ArgumentError(error)
        parts = value if isinstance(value, list) and key == "content" else [value]
        found += [(key, _text(part, f"message {index}, {key!r}")) for part in parts]
    return found


def _text(part: object, place: str) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping) and part.get("type") == "text":
        return _text(part.get("text"), place)
    kind = part.get("type") if isinstance(part, Mapping) else type(part).__name__
    error = f"{place} holds {kind!r}; only text has a published count, so leave it out"
    raise ArgumentError(error)


def _tool(tool: Mapping[str, Any], index: int, counter: Tokenizer, rules: ChatRules) -> int:
    def count(text: str) -> int:
        return counter.count(text, allowed_special=())

    try:
        function = tool["function"]
        described = str(function.get("description", "")).removesuffix(".")
        total = (rules.per_tool or 0) + count(f"{function['name']}:{described}")
        properties = function.get("parameters", {}).get("properties", {})
        total += rules.properties if properties else 0
        for name, parameter in properties.items():
            values = parameter.get("enum")
            if values is not None:
                total += rules.enum + sum(rules.per_enum + count(str(value)) for value in values)
            described = str(parameter.get("description", "")).removesuffix(".")
            total += rules.per_property + count(f"{name}:{parameter.get('type', '')}:{described}")
    except (KeyError, TypeError, AttributeError) as error:
        message = f"tool {index} is not a function as OpenAI's API takes it ({error!r})"
        raise ArgumentError(message) from error
    return total
