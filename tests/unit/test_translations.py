"""What exists in two languages is kept in step: the same headings, in level, and the same code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENGLISH = [ROOT / "README.md", ROOT / "docs" / "tutorial" / "learn-bpe.md"]

_BLOCK = re.compile(r"^```\w.*?^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(#+) ", re.MULTILINE)


def code(page: str) -> list[str]:
    return _BLOCK.findall(page)


def levels(page: str) -> list[int]:
    return [len(marks) for marks in _HEADING.findall(_BLOCK.sub("", page))]


@pytest.mark.parametrize("path", ENGLISH, ids=lambda path: path.name)
def test_the_chinese_page_has_the_same_sections_and_code(path):
    english = path.read_text(encoding="utf-8")
    chinese = path.with_suffix(".zh-CN.md").read_text(encoding="utf-8")
    assert code(english), "the page has no code to compare"
    assert code(chinese) == code(english)
    assert levels(chinese) == levels(english)


def test_a_difference_is_seen():
    page = "# a\n\n```python\n# no heading\nx\n```\n\n## b\n"
    assert (code(page), levels(page)) == (["```python\n# no heading\nx\n```"], [1, 2])
