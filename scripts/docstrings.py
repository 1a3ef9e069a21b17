"""Docstrings for the pages, as mkdocs wants them; mkdocs.yml names this extension.

In: an object as griffe reads it from the sources. Out: its docstring, with each run of lines from
`>>>` to the next blank line inside a fence: Markdown would take `>>>` for a quotation and `[1, 2]`
for a link. The compiled half has its docstrings in the module, not in the stub: they come from
there.
"""

from __future__ import annotations

import functools
import inspect

import griffe

CORE = "bytepair._core"


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


def compiled_docstring(path: str) -> str | None:
    """The docstring of an object of the compiled half, by its path."""
    import bytepair._core

    names = path.removeprefix(f"{CORE}.").split(".")
    try:
        return inspect.getdoc(functools.reduce(getattr, names, bytepair._core))
    except AttributeError:
        return None


class Docstrings(griffe.Extension):
    """Completes the docstring of every documented object and fences its examples."""

    def on_object(self, *, obj: griffe.Object, **_kwargs: object) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring is None and obj.path.startswith(f"{CORE}."):
            text = compiled_docstring(obj.path)
            obj.docstring = griffe.Docstring(text, parent=obj) if text else None
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)
