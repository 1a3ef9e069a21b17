"""Counting chats: OpenAI's published example counts, and what is refused."""

from __future__ import annotations

import pytest

import bytepair
from bytepair import errors
from bytepair.chat import ChatRules, chat_rules, count_chat

# The examples of the OpenAI Cookbook, "How to count tokens with tiktoken", with the counts that it
# prints beside those of the API.
JARGON = [
    {
        "role": "system",
        "content": "You are a helpful, pattern-following assistant that translates corporate "
        "jargon into plain English.",
    },
    {
        "role": "system",
        "name": "example_user",
        "content": "New synergies will help drive top-line growth.",
    },
    {
        "role": "system",
        "name": "example_assistant",
        "content": "Things working well together will increase revenue.",
    },
    {
        "role": "system",
        "name": "example_user",
        "content": "Let's circle back when we have more bandwidth to touch base on "
        "opportunities for increased leverage.",
    },
    {
        "role": "system",
        "name": "example_assistant",
        "content": "Let's talk later when we're less busy about how to do better.",
    },
    {
        "role": "user",
        "content": "This late pivot means we don't have time to boil the ocean for the "
        "client deliverable.",
    },
]
WEATHER = [
    {
        "role": "system",
        "content": "You are a helpful assistant that can answer to questions about the weather.",
    },
    {"role": "user", "content": "What's the weather like in San Francisco?"},
]
TOOL = {
    "type": "function",
    "function": {
        "name": "get_current_weather",
        "description": "Get the current weather in a given location",
        "parameters": {
            "type": "object",
            "properties": {
                "location": {
                    "type": "string",
                    "description": "The city and state, e.g. San Francisco, CA",
                },
                "unit": {
                    "type": "string",
                    "description": "The unit of temperature to return",
                    "enum": ["celsius", "fahrenheit"],
                },
            },
            "required": ["location"],
        },
    },
}


@pytest.mark.parametrize(
    ("model", "count"),
    [
        ("gpt-3.5-turbo", 129),
        ("gpt-3.5-turbo-0301", 127),
        ("gpt-4-0613", 129),
        ("gpt-4", 129),
        ("gpt-4o", 124),
        ("gpt-4o-mini", 124),
        ("gpt-4o-2024-08-06", 124),
        ("openai/gpt-4o", 124),
        ("ft:gpt-4o-mini-2024-07-18:acme::abc", 124),
    ],
)
def test_published_counts(model, count):
    assert count_chat(JARGON, model) == count


@pytest.mark.parametrize(
    ("model", "count"),
    [("gpt-3.5-turbo", 105), ("gpt-4", 105), ("gpt-4o", 101), ("gpt-4o-mini", 101)],
)
def test_published_counts_with_tools(model, count):
    assert count_chat(WEATHER, model, tools=[TOOL]) == count


def test_parts_are_their_texts():
    parts = [{"type": "text", "text": "hello"}, {"type": "text", "text": "world"}]
    one = count_chat([{"role": "user", "content": "hello"}], "gpt-4o")
    two = count_chat([{"role": "user", "content": parts}], "gpt-4o")
    assert two == one + 1


def test_special_tokens_in_messages_are_text():
    text = "<|endoftext|>"
    plain = bytepair.get_encoding("o200k_base").count(text, allowed_special=())
    assert plain > 1
    base = count_chat([{"role": "user", "content": ""}], "gpt-4o")
    assert count_chat([{"role": "user", "content": text}], "gpt-4o") == base + plain


def test_rules_of_ones_own():
    tokenizer = bytepair.get_encoding("gpt2")
    rules = ChatRules(per_message=10, reply=0)
    messages = [{"role": "user", "content": "hello"}]
    assert count_chat(messages, tokenizer=tokenizer, rules=rules) == 12
    with pytest.raises(errors.ArgumentError, match="no count for tools"):
        count_chat(messages, tokenizer=tokenizer, rules=rules, tools=[TOOL])
    with pytest.raises(errors.ArgumentError, match="both tokenizer and rules"):
        count_chat(messages, tokenizer=tokenizer)


@pytest.mark.parametrize("model", ["o1", "gpt-4.1", "gpt-5", "gpt-4o-audio-preview", "llama"])
def test_models_without_published_rules(model):
    with pytest.raises(errors.ArgumentError, match="published no rules"):
        chat_rules(model)


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ({"content": "x"}, "message 0 has no role"),
        ({"role": "assistant", "content": "x", "tool_calls": []}, "message 0 has 'tool_calls'"),
        ({"role": "user", "content": [{"type": "image_url"}]}, "'content' holds 'image_url'"),
        ({"role": "user", "content": None}, "'content' holds 'NoneType'"),
    ],
)
def test_what_has_no_published_count(message, says):
    with pytest.raises(errors.ArgumentError, match=says):
        count_chat([message], "gpt-4o")


def test_what_is_no_message_or_tool():
    with pytest.raises(TypeError, match="message 1 must be a mapping, not str"):
        count_chat([{"role": "user", "content": "x"}, "y"], "gpt-4o")
    with pytest.raises(errors.ArgumentError, match="tool 0 is not a function"):
        count_chat([], "gpt-4o", tools=[{"name": "x"}])
