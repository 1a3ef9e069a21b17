"""Two tokenizers compared: do they give the same ids?

In: two tokenizers. Out: `None`, or what differs. Compared are the vocabs, the special tokens and
the ids of texts that hold every kind of character, so a pattern, a merge rule or a special token
that was lost on the way shows.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterator

from bytepair import Tokenizer
from bytepair.cli import show
from bytepair.errors import BytepairError

__all__ = ["difference", "texts"]

_PROSE = (
    "It's what they've said: we'll go, I'd stay, you're late, I'M NOT, don’T.",
    "Prices rose from 9 to 87, 654, 3210 and 1234567.89 within 24 hours -- a 3½% change!!!",
    "  two spaces\tand a tab\r\nnew line\n\n\nthree   \n   spaces \u00a0no-break\u3000wide  ",
    "def f(x: int) -> str:\n    return f'{x:>8}' + \"\\n\"  # comment\n\t\tif a!=b and c[0]:\n",
    'https://example.org/a/b?c=d&e=%20f#g <b>bold</b> user@example.org {"k": [1, null]}',
    "今天的天气很好，我们去公园散步。日本語のテキスト。한국어 문장입니다.",
    "Привет, мир! Γειά σου Κόσμε. שלום עולם مرحبا بالعالم नमस्ते दुनिया สวัสดี",
    "👩‍👩‍👧 🏳️‍🌈 👍🏽 e\u0301 ﬁ ẞ ǅ Ⅷ ٣ İ ſ K",
    "camelCaseWords HTTPServer snake_case_words iPhone McDonald's",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" * 8 + " " * 70 + "=" * 70 + "\n" * 9 + "x",
    "\x00\x01\x1f\x7f\x85\ufeff\ufffd\U0010ffff",
)
_PER_CATEGORY = 12
_SPECIAL = 64


def texts(tokenizer: Tokenizer) -> Iterator[str]:
    """The texts that are compared, among them some around its special tokens."""
    yield from _PROSE
    yield _every_category()
    names = [*tokenizer.added_tokens, *tokenizer.special_tokens]
    for name in names[:_SPECIAL]:
        yield f"before {name}after{name}{name} {name[:-1]} {name[1:]}\n{name}"


def _every_category() -> str:
    """Some characters of each Unicode category, after a letter, a digit and a space each."""
    found: dict[str, list[str]] = {}
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        category = unicodedata.category(character)
        if category not in ("Cs", "Cn"):
            examples = found.setdefault(category, [])
            if len(examples) < _PER_CATEGORY:
                examples.append(character)
    return "".join(f"a{c}1{c} {c}" for category in sorted(found) for c in found[category])


def difference(before: Tokenizer, after: Tokenizer) -> str | None:
    """What differs between two tokenizers, or `None`."""
    if before.special_tokens != after.special_tokens:
        return f"special tokens {after.special_tokens} instead of {before.special_tokens}"
    if before.added_tokens != after.added_tokens:
        return f"added tokens {after.added_tokens} instead of {before.added_tokens}"
    old, new = dict(before.vocab), dict(after.vocab)
    if old != new:
        id = min(id for id in old.keys() | new.keys() if old.get(id) != new.get(id))
        return f"id {id} is {_shown(new.get(id))} instead of {_shown(old.get(id))}"
    for text in texts(before):
        for special in (True, False):
            wanted = _outcome(before, text, special=special)
            found = _outcome(after, text, special=special)
            if wanted != found:
                how = "with" if special else "without"
                return f"{how} special tokens, {text[:60]!r} gives other ids"
    return None


def _shown(token: bytes | None) -> str:
    return "missing" if token is None else show.token(token)


def _outcome(tokenizer: Tokenizer, text: str, *, special: bool) -> object:
    """The ids, or the error: a vocab need not cover every byte."""
    try:
        ids = tokenizer.encode(text) if special else tokenizer.encode_ordinary(text)
    except BytepairError as error:
        return str(error)
    return ids
