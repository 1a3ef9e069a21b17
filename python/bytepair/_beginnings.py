"""The tokens of a tokenizer in order of their bytes, 4 bytes each, kept as long as it lives."""

from __future__ import annotations

from bytepair import _core
from bytepair._kept import kept

beginnings = kept(_core.Beginnings)
