"""How values look: tokens, quantities, tables.

In: values. Out: text without colour or markup, the same in a terminal and in a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["lines", "longest", "quantity", "token", "tokens"]

_SHORT = 48


def token(data: bytes) -> str:
    r"""Token bytes as Python writes them: as text where they are UTF-8, else as bytes.

    >>> token(b" the"), token(b"\xe4\xbd"), token(b"\x1b")
    ("' the'", "b'\\xe4\\xbd'", "'\\x1b'")
    """
    try:
        return repr(data.decode())
    except UnicodeDecodeError:
        return repr(data)


def tokens(items: Iterable[bytes]) -> str:
    """Tokens on one line, very long ones cut short.

    >>> tokens([b" the", b"=" * 64])
    "' the'  '========================…' (64 bytes)"
    """
    return "  ".join(token(item) if len(item) <= _SHORT else _cut(item) for item in items)


def _cut(data: bytes) -> str:
    start = data[:_SHORT].decode(errors="ignore")[:24]
    return f"{repr(start)[:-1]}…{repr(start)[-1]} ({len(data)} bytes)"


def longest(vocab: Iterable[tuple[int, bytes]], number: int) -> list[tuple[int, bytes]]:
    """The longest tokens with their ids, the longest first, the lower id first where equal.

    >>> longest([(0, b"a"), (1, b"ab"), (2, b"b")], 2)
    [(1, b'ab'), (0, b'a')]
    """
    import heapq

    return heapq.nsmallest(number, vocab, key=lambda entry: (-len(entry[1]), entry[0]))


def quantity(number: float, unit: str) -> str:
    """A number with its unit; bytes in decimal multiples.

    >>> quantity(1_234_567, "bytes"), quantity(12, "bytes"), quantity(7743, "merges")
    ('1.2 MB', '12 B', '7,743 merges')
    """
    if unit != "bytes":
        return f"{number:,.0f} {unit}"
    for scale, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if number >= scale:
            return f"{number / scale:.1f} {name}"
    return f"{number:.0f} B"


def lines(rows: Sequence[tuple[str, str]]) -> str:
    """Names and values in two columns, indented.

    >>> print(lines([("size", "3"), ("pattern", "gpt2")]))
      size     3
      pattern  gpt2
    """
    width = max((len(name) for name, _ in rows), default=0)
    return "\n".join(f"  {name.ljust(width)}  {value}".rstrip() for name, value in rows)
