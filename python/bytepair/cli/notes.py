"""A note where special tokens of a text were taken as plain text.

In: the text that a command encodes, in chunks. Out: the same chunks, and at the end one line on
standard error that names the first special token met and the option that recognises it. Costs one
search of the text for the names, up to the first that is found.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator

from bytepair import Tokenizer

__all__ = ["SpecialNote"]

_SEVERAL = 8
"""Up to so many names are looked for one by one, which is faster than a regular expression."""


class SpecialNote:
    """Watches texts for special tokens that are taken as plain text.

    Made with `on=False` it hands texts on unseen and says nothing.
    """

    def __init__(self, *, on: bool) -> None:
        self._on = on
        self._found: tuple[str, str] | None = None

    def watch(self, tokenizer: Tokenizer, chunks: Iterable[str], where: str) -> Iterator[str]:
        """The chunks as they come; `where` is what the note calls their source."""
        names = list(tokenizer.special_tokens) if self._on else []
        if not names:
            yield from chunks
            return
        anyone = re.compile("|".join(map(re.escape, names)))
        back = max(map(len, names)) - 1
        end = ""
        for chunk in chunks:
            if self._found is None:
                text = end + chunk
                if len(names) > _SEVERAL or any(name in text for name in names):
                    met = anyone.search(text)
                    self._found = (met.group(), where) if met is not None else None
                end = text[-back:] if back else ""
            yield chunk

    def write(self) -> None:
        """Write the note, if there is anything to say."""
        if self._found is None:
            return
        name, where = self._found
        print(
            f"note: special tokens in the text were taken as plain text, the first {name!r} in "
            f"{where}; --allow-special recognises them",
            file=sys.stderr,
        )
