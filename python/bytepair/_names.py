"""What a caller may have meant by a name that is not known.

In: a name, and the names there are. Out: the end of an error message. Costs nothing before there is
an error.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["did_you_mean"]


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """The known name that is nearest, as the end of a message; nothing where none is near.

    >>> did_you_mean("cl100k_bsae", ["gpt2", "cl100k_base"])
    "; did you mean 'cl100k_base'?"
    >>> did_you_mean("xyz", ["gpt2"])
    ''
    """
    from difflib import get_close_matches

    known = {other.lower(): other for other in names}
    wanted = name.lower()[:80]
    near = get_close_matches(wanted, known, n=1) or [
        other for other in known if len(wanted) > 2 and other.startswith(wanted)
    ]
    return f"; did you mean {known[near[0]]!r}?" if near else ""
