"""Texts on which tokenizers are compared with the libraries their files come from."""

from __future__ import annotations

import os

NASTY = [
    "",
    " ",
    "  ",
    "\n",
    "▁",
    "▁▁a ▁ b▁",
    " a",
    "a ",
    "It's 12345 — naïve café 日本語\r\n\n  \t two  spaces",
    "e\u0301 a\u0323\u0307 \u1100\u1161\u11a8 \u212b \ufb01 \u2126\u0301 \u0958",
    "0123456789" * 9 + " 1,234.5678 ٣٤٥ Ⅷ ½ ①",
    "\x00\x01\x7f\x80\x85\xa0\xad\ufeff\ufffd\U0010ffff",
    "a\x00b \u3000 c\u200b\u2028d",
    "👩‍👩‍👧 🏳️‍🌈 👍🏽 ẞ ǅ İ ſ K 'ſ don'T I'LL",
    " " * 300 + "x" + "\n" * 50 + "=" * 200 + "a" * 500 + "\t" * 40,
    "<|endoftext|><|im_start|>user<think>\n</think><tool_call><｜tool▁sep｜><｜User｜>x<|eot_id|>",
    "<bos><eos> <s>a</s> [INST] <unk><0x0A><0xE2> <start_of_turn>user\n<unused5><mask>",
    "<|endoftext|<|endoftext|>|> <think <think></think",
    "カタカナひらがな漢字123abc, .x _y @z",
]

MIX = int(os.environ.get("BYTEPAIR_MIX", "400000"))
"""Bytes of corpora on which models are compared: 10000000 is what a release is checked with."""

KINDS = ("english", "chinese", "code", "multilingual")
