"""jinja2's sandbox with bounds: on the time a rendering takes and on the size of what it makes.

In: a template and its variables. Out: text, or `TemplateError`. Imported only by
`bytepair.templates`, since it needs jinja2.

Where time goes in a template are loops and calls; each iteration, call, filter and operator looks
at the clock. Where memory goes are texts, lists and numbers that grow; each value that is passed
on is measured, and what can grow at one stroke is reckoned before it is made.
"""

from __future__ import annotations

import functools
import json
import re
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from jinja2 import Template, nodes
from jinja2.exceptions import TemplateError
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

__all__ = ["Sandbox", "TemplateError"]

# Numbers of more bits have no place in a prompt.
_BITS = 4_096
_INDENT = 64
_WIDTH = re.compile(r"\d{5,}")


class Generation(Extension):
    """`{% generation %}`, with which templates mark what a model wrote: its body is what counts."""

    tags = {"generation"}  # noqa: RUF012 (jinja2's interface)

    def parse(self, parser: Parser) -> nodes.Node:
        """The body of the block."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.Scope(body).set_lineno(line)


class Sandbox(ImmutableSandboxedEnvironment):
    """An environment whose renderings are bounded. One rendering at a time uses a copy's clock."""

    intercepted_binops = frozenset(["+", "*", "**", "%"])

    def __init__(self, seconds: float, max_chars: int) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[Generation, loopcontrols],
            finalize=self._checked,
        )
        self._seconds = seconds
        self._most = max_chars
        self._deadlines: dict[int, float] = {}
        self.filters.update({name: self._bounded(name, of) for name, of in self.filters.items()})
        self.filters["tojson"] = self._bounded("tojson", _to_json)
        self.filters["bounded_steps"] = self._steps
        self.filters["bounded_value"] = self._checked
        self.globals["raise_exception"] = _refuse
        # Random words would make the prompt another each time.
        self.globals.pop("lipsum", None)

    def render(self, template: Template, variables: dict[str, Any]) -> str:
        """The text of a rendering."""
        import threading

        thread = threading.get_ident()
        self._deadlines[thread] = time.monotonic() + self._seconds
        try:
            parts, length = [], 0
            for part in template.generate(variables):
                length += len(part)
                self._fits(length)
                parts.append(part)
            return "".join(parts)
        finally:
            del self._deadlines[thread]

    # ── Time ──────────────────────────────────────────────────────────────────────────────────────

    def _tick(self) -> None:
        import threading

        deadline = self._deadlines.get(threading.get_ident())
        if deadline is not None and time.monotonic() > deadline:
            message = f"it took more than {self._seconds} seconds"
            raise TemplateError(message)

    def _steps(self, items: Any) -> Iterator[Any]:
        for item in items:
            self._tick()
            yield item

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        """The template with bounds in its loops and joined texts."""
        template = super()._parse(source, name, filename)
        for loop in template.find_all(nodes.For):
            loop.iter = _filtered(loop.iter, "bounded_steps")
        for joined in template.find_all(nodes.Concat):
            joined.nodes = [_filtered(node, "bounded_value") for node in joined.nodes]
        return template

    # ── Size ──────────────────────────────────────────────────────────────────────────────────────

    def _fits(self, size: int) -> None:
        if size > self._most:
            message = f"it makes more than {self._most} characters"
            raise TemplateError(message)

    def _checked(self, value: Any) -> Any:
        """The value, if it is not too large."""
        self._tick()
        if isinstance(value, str | bytes | list | tuple | dict):
            self._fits(len(value))
        elif isinstance(value, int) and value.bit_length() > _BITS:
            message = f"it makes a number of {value.bit_length()} bits"
            raise TemplateError(message)
        return value

    def _bounded(self, name: str, of: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(of)
        def bounded(*arguments: Any, **options: Any) -> Any:
            # A filter may be given the environment or the context first.
            values = arguments[1:] if hasattr(of, "jinja_pass_arg") else arguments
            if values:
                self._fits(_growth(name, values[0], [*values[1:], *options.values()]))
            return self._checked(of(*arguments, **options))

        return bounded

    def call(self, context: Any, called: Any, /, *arguments: Any, **options: Any) -> Any:
        """Call what the template calls."""
        owner = getattr(called, "__self__", None)
        if isinstance(owner, str):
            name = getattr(called, "__name__", "")
            self._fits(_growth(name, owner, [*arguments, *options.values()]))
        self._tick()
        return self._checked(super().call(context, called, *arguments, **options))

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """`str.format` and `format_map`, which the sandbox has its own of."""
        wrapped = super().wrap_str_format(value)
        if wrapped is None:
            return None
        text, of = value.__self__, wrapped

        def bounded(*arguments: Any, **options: Any) -> str:
            self._fits(_growth("format", text, [*arguments, *options.values()]))
            return of(*arguments, **options)

        return bounded

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Do what an operator says."""
        if operator == "*":
            for many, times in ((left, right), (right, left)):
                if isinstance(many, str | bytes | list | tuple) and isinstance(times, int):
                    self._fits(len(many) * times)
        if operator == "**" and isinstance(left, int) and isinstance(right, int):
            bits = left.bit_length() * max(right, 0)
            if bits > _BITS:
                message = f"it makes a number of some {bits} bits"
                raise TemplateError(message)
        if operator == "%" and isinstance(left, str):
            given = [*right] if isinstance(right, tuple) else [right]
            self._fits(_growth("format", left, given))
        return self._checked(super().call_binop(context, operator, left, right))


def _filtered(node: nodes.Node, name: str) -> nodes.Filter:
    found = nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)
    found.environment = node.environment
    return found


def _growth(name: str, text: Any, arguments: Iterable[Any]) -> int:
    """About how long the result of a filter or method is that may be longer than what it is given.

    A text that is formatted may name its widths in itself or take them from the arguments.
    """
    given = list(arguments)
    if name == "sum" and any(isinstance(value, list | tuple) for value in given):
        message = "it sums up lists"
        raise TemplateError(message)
    numbers = [abs(value) for value in given if isinstance(value, int)]
    width: int = max(numbers, default=0)
    if name == "tojson" and width > _INDENT:
        message = f"it indents JSON by {width}"
        raise TemplateError(message)
    spelled: str = text if isinstance(text, str) else ""
    match name:
        case "replace" if len(given) > 1:
            old, new = str(given[0]), str(given[1])
            return len(spelled) + spelled.count(old) * len(new)
        case "indent":
            widths = [len(value) for value in given if isinstance(value, str)]
            return len(spelled) + (spelled.count("\n") + 1) * max(width, *widths, 4)
        case "expandtabs":
            return len(spelled) + spelled.count("\t") * max(width, 8)
        case "join" if given and isinstance(given[0], list | tuple):
            return sum(len(spelled) + len(str(item)) for item in given[0])
        case "format" | "format_map":
            found = _WIDTH.search(spelled)
            return int(found[0][:12]) if found else len(spelled) + width
    return len(spelled) + width if name in _PADDING else len(spelled)


_PADDING = {"center", "ljust", "rjust", "zfill", "wordwrap", "batch", "slice"}


def _to_json(
    value: Any,
    ensure_ascii: bool = False,  # noqa: FBT001 (a filter's argument)
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,  # noqa: FBT001
) -> str:
    """JSON as Hugging Face's templates want it: letters as they are, nothing escaped for HTML."""
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def _refuse(message: str) -> None:
    raise TemplateError(message)
