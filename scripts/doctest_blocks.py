"""Make the examples in docstrings code blocks on the pages; mkdocs.yml names this extension.

In: a docstring as griffe reads it. Out: the same with each run of lines from `>>>` to the next
blank line inside a fence. Markdown would take `>>>` for a quotation and `[1, 2]` for a link.
"""

from __future__ import annotations

import griffe


def fenced(text: str) -> str:
    """Return a docstring with its examples fenced; what is indented stays as it is."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        if inside and not line.strip():
            lines.append("```")
            inside = False
        elif not inside and line.startswith(">>> "):
            lines.append("```pycon")
            inside = True
        lines.append(line)
    return "\n".join([*lines, "```"] if inside else lines)


class DoctestBlocks(griffe.Extension):
    """Fences the examples of every documented object."""

    def on_object(self, *, obj: griffe.Object, **_kwargs: object) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)
