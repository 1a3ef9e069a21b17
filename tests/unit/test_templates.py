"""Chat templates: published ones against their published prompts, and hostile ones bounded."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import pytest

import bytepair
from bytepair import errors

pytest.importorskip("jinja2", reason="chat templates need jinja2")
from bytepair.templates import ChatTemplate

CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "hi <\u00e9>"},
    {"role": "assistant", "content": "hello"},
    {"role": "user", "content": "bye"},
]
LLAMA3 = (
    "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>"
    "<|start_header_id|>user<|end_header_id|>\n\nhi <\u00e9><|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\nhello<|eot_id|>"
    "<|start_header_id|>user<|end_header_id|>\n\nbye<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\n"
)
QWEN3 = (
    "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nhi <\u00e9><|im_end|>\n"
    "<|im_start|>assistant\nhello<|im_end|>\n<|im_start|>user\nbye<|im_end|>\n"
    "<|im_start|>assistant\n"
)
DEEPSEEK = (
    "<\uff5cbegin\u2581of\u2581sentence\uff5c>Be brief.<\uff5cUser\uff5c>hi <\u00e9>"
    "<\uff5cAssistant\uff5c>hello<\uff5cend\u2581of\u2581sentence\uff5c><\uff5cUser\uff5c>bye"
    "<\uff5cAssistant\uff5c>"
)


@pytest.mark.parametrize(
    ("model", "prompt"), [("llama3", LLAMA3), ("qwen3", QWEN3), ("deepseek_v3", DEEPSEEK)]
)
def test_published_templates(model, prompt, shared):
    path = shared / "data" / "vocabs" / "hf" / model / "tokenizer_config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    bos = config.get("bos_token")
    bos = bos["content"] if isinstance(bos, dict) else bos
    template = ChatTemplate(config["chat_template"], {"bos_token": bos})
    assert template.render(CHAT, add_generation_prompt=True) == prompt
    gpt2 = bytepair.get_encoding("gpt2")
    assert template.count(gpt2, CHAT, add_generation_prompt=True) == gpt2.count(prompt)


def test_tools_are_given_as_json(shared):
    path = shared / "data" / "vocabs" / "hf" / "qwen3" / "tokenizer_config.json"
    template = ChatTemplate(json.loads(path.read_text(encoding="utf-8"))["chat_template"])
    tool = {"type": "function", "function": {"name": "caf\u00e9", "parameters": {"<a>": 1}}}
    text = template.render(CHAT, tools=[tool])
    assert f"\n{json.dumps(tool, ensure_ascii=False)}\n" in text


def test_what_templates_expect():
    source = """
    {%- for m in messages %}
        {%- if loop.index0 == 2 %}{% break %}{% endif %}
        {%- if loop.last %}last{% endif %}
        {{- m.content }}/{{ loop.length }}
    {% endfor %}
    {% generation %}{{ strftime_now("%d %b %Y") }}{% endgeneration %}"""
    text = ChatTemplate(source).render(CHAT, now=datetime(2024, 7, 26))
    assert text == "Be brief./4\nhi <\u00e9>/4\n26 Jul 2024"
    assert ChatTemplate("{{ extra }}").render([], extra=3) == "3"


def grown(start: str, step: str) -> str:
    """A template that makes `n.s` grow a hundred times."""
    loop = "{% for i in range(99) %}" + step + "{% endfor %}"
    return "{% set n = namespace(s=" + start + ") %}" + loop


LOOPS = "{% for a in range(90000) %}{% for b in range(90000) %}BODY{% endfor %}{% endfor %}"
HOSTILE = {
    "loops in loops": LOOPS.replace("BODY", ""),
    "calls in calls": "{% macro f(n) %}{% if n %}{{ f(n-1) }}{{ f(n-1) }}{% endif %}{% endmacro %}"
    "{{ f(60) }}",
    "calls without end": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "times": "{{ 'a' * 10**12 }}",
    "power": "{{ 10**(10**10) }}",
    "squares": grown("99", "{% set n.s = n.s * n.s %}"),
    "doubling by ~": grown("'a'", "{% set n.s = n.s ~ n.s %}"),
    "doubling by +": grown("'a'", "{% set n.s = n.s + n.s %}"),
    "doubling lists": grown("[1]", "{% set n.s = n.s + n.s %}"),
    "doubling by blocks": grown("'aa'", "{% set n.s %}{{ n.s }}{{ n.s }}{% endset %}"),
    "center": "{{ 'a'|center(10**10) }}",
    "ljust": "{{ 'a'.ljust(10**10) }}",
    "a width": "{{ '%9999999999d' % 1 }}",
    "a width of a filter": "{{ '%9999999999d'|format(1) }}",
    "a width by argument": "{{ '%*d' % (10**10, 1) }}",
    "a width of a method": "{{ '{:9999999999}'.format(1) }}",
    "a width in a width": "{{ '{:{}}'.format(1, 10**10) }}",
    "replace": "{{ ('a' * 1000000)|replace('a', 'b' * 1000000) }}",
    "indent": "{{ ('\n' * 1000000)|indent(9999) }}",
    "indented JSON": "{{ (['a'] * 100000)|tojson(indent=100000) }}",
    "join": "{{ (['a' * 1000000] * 1000)|join('x' * 1000) }}",
    "sums of lists": "{{ ([[1] * 100000] * 1000)|sum(start=[]) }}",
    "batch": "{{ [1]|batch(10**9, 'a')|list }}",
    "much text": LOOPS.replace("BODY", "a" * 99),
    "attributes": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "changing": "{{ messages.append(1) }}",
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
def test_hostile_templates_are_stopped(source):
    start = time.perf_counter()
    with pytest.raises(errors.ArgumentError, match="the chat template failed: "):
        ChatTemplate(source, seconds=0.3).render(CHAT)
    # Unstopped they take minutes at the least, or all memory.
    assert time.perf_counter() - start < 30


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("{% for %}", "not well formed"),
        ("{{" + "(" * 5_000 + "1" + ")" * 5_000 + "}}", "not well formed"),
        ("{{ raise_exception('no system') }}", "failed: no system"),
        ("{{ foo.bar }}", "'foo' is undefined"),
        ("{{ 1 // 0 }}", "failed: "),
    ],
)
def test_templates_that_fail_say_why(source, says):
    with pytest.raises(errors.ArgumentError, match=says):
        ChatTemplate(source).render(CHAT)


def test_threads_have_their_own_time():
    slow = ChatTemplate(LOOPS.replace("90000", "100") + "ok", seconds=100)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(slow.render, [CHAT] * 8)) == ["BODY" * 10_000 + "ok"] * 8
    assert repr(slow) == f"<ChatTemplate of {len(slow.source)} characters>"


def test_without_jinja2_the_error_names_the_extra():
    code = (
        "import sys; sys.modules['jinja2'] = None\n"
        "from bytepair.templates import ChatTemplate\n"
        "try: ChatTemplate('')\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "bytepair[chat]" in done.stdout
