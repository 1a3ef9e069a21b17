"""Chat templates: a model's own Jinja text, rendered within bounds and counted.

In: a template, as a model publishes it (`chat_template` in its `tokenizer_config.json`), and
messages. Out: the prompt they make, or the number of its tokens. Rendered by jinja2 (the extra
`show`) in its sandbox, with what Hugging Face's templates expect: blocks trimmed, `break` and
`continue`, `raise_exception`, `strftime_now`, `tojson` without escapes.

A template comes from a stranger. It reaches no attribute that the sandbox does not allow, changes
nothing it is given, and is stopped when it takes too long or makes too much: loops, calls, filters
and operators look at the clock, and at the size of what they make before it is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from bytepair.chat import check_list
from bytepair.errors import ArgumentError

if TYPE_CHECKING:
    from bytepair._core import Tokenizer

__all__ = ["ChatTemplate"]


class ChatTemplate:
    """A chat template, ready to be rendered.

    Args:
        source: the template's text.
        variables: what it is always given besides, such as `bos_token`.
        seconds: how long one rendering may take.
        max_chars: how long its result, and every text on the way, may be.

    Raises `ImportError` without jinja2, and `ArgumentError` when the template is not well formed.

    >>> template = ChatTemplate(
    ...     "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
    ... )
    >>> template.render([{"role": "user", "content": "hi"}])
    '<|user|>hi<|end|>'
    """

    def __init__(
        self,
        source: str,
        variables: Mapping[str, Any] | None = None,
        *,
        seconds: float = 2.0,
        max_chars: int = 10_000_000,
    ) -> None:
        try:
            from bytepair._sandbox import Sandbox, TemplateError
        except ImportError as error:
            message = "chat templates need jinja2; install it with pip install 'bytepair[chat]'"
            raise ImportError(message) from error
        if not isinstance(source, str):
            message = f"source must be str, the text of a template, not {type(source).__name__}"
            raise TypeError(message)
        self.source = source
        """The template's text."""
        self.variables = dict(variables or {})
        """What it is always given."""
        self._sandbox = Sandbox(seconds, max_chars)
        self._errors = TemplateError
        try:
            self._template = self._sandbox.from_string(source)
        except (TemplateError, RecursionError) as error:
            message = f"the chat template is not well formed: {error}"
            raise ArgumentError(message) from error

    def render(
        self,
        messages: Iterable[Mapping[str, Any]],
        *,
        tools: Iterable[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool = False,
        now: datetime | None = None,
        **variables: Any,
    ) -> str:
        """The prompt that the messages make.

        Args:
            messages: what the template is given as `messages`.
            tools: what it is given as `tools`.
            add_generation_prompt: whether it is to begin the answer.
            now: the time that `strftime_now` tells; by default the clock's.
            variables: more that the template asks for.

        Raises `ArgumentError` when the template refuses the messages, fails, takes too long or
        makes too much; says which.

        >>> ChatTemplate("{{ bos_token }}{{ messages|length }}", {"bos_token": "<s>"}).render([])
        '<s>0'
        """
        check_list(messages=messages, tools=() if tools is None else tools)
        given = {
            **self.variables,
            "messages": list(messages),
            "tools": None if tools is None else list(tools),
            "add_generation_prompt": add_generation_prompt,
            "strftime_now": lambda form: (now or datetime.now()).strftime(form),
            **variables,
        }
        try:
            return self._sandbox.render(self._template, given)
        except (
            *(self._errors, RecursionError, ArithmeticError, LookupError),
            *(TypeError, ValueError, AttributeError),
        ) as error:
            message = f"the chat template failed: {error}"
            raise ArgumentError(message) from error

    def count(
        self,
        tokenizer: Tokenizer,
        messages: Iterable[Mapping[str, Any]],
        *,
        tools: Iterable[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool = False,
        **variables: Any,
    ) -> int:
        """The number of tokens of the prompt that the messages make.

        The special tokens that the template writes are recognised, and so are any that stand in the
        messages, as with Hugging Face. The arguments and what is raised are those of `render`.

        >>> from bytepair import get_encoding
        >>> template = ChatTemplate("{{ messages[0].content }}<|endoftext|>")
        >>> template.count(get_encoding("gpt2"), [{"role": "user", "content": "hello world"}])
        3
        """
        text = self.render(
            messages, tools=tools, add_generation_prompt=add_generation_prompt, **variables
        )
        return tokenizer.count(text)

    def __repr__(self) -> str:
        return f"<ChatTemplate of {len(self.source)} characters>"
