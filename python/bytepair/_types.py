"""Names for what users may give, for annotations alone.

To import `typing` takes as long as everything else that `import bytepair` does, so modules that are
imported with the package take their types from here, and only while they are checked: their
`TYPE_CHECKING` is false when they run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

Allowed = Iterable[str] | Literal["all"]
"""A choice of special tokens."""
Normalizer = str | Sequence[str | Sequence[str]] | None
"""What is done to a text before it is encoded: the name of a step, or steps."""
Pattern = str | Sequence[str] | None
"""A pattern: a name, a regular expression, a sequence of them, or `None`."""
Prefer = Literal["paragraph", "line", "sentence"]
"""Where a chunk should end."""
Side = Literal["right", "left", "middle"]
"""Where a text is cut."""
Span = tuple[int, int]
"""A start and an end."""
SpecialTokens = Mapping[str, int] | Iterable[str]
"""Special tokens: names, or name → id."""
Unit = Literal["char", "byte", "utf16"]
"""What places count: characters, bytes of UTF-8 or UTF-16 units."""
