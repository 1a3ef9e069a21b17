"""`bytepair inspect`: what is in a tokenizer.

In: a tokenizer file, or the name of an encoding. Out: sizes, special tokens, pattern, merge rule,
the longest tokens, the first merges and the fingerprint.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

import bytepair
from bytepair.cli import show
from bytepair.cli.failures import Usage
from bytepair.cli.options import Chosen, Encoding, Json, Model, TokenizerPath, choose

__all__ = ["inspect"]

EXAMPLES = "bytepair inspect my.json\n\nbytepair inspect -e o200k_base --top 20"

_SPECIAL_SHOWN = 10


def inspect(
    *,
    path: Annotated[
        str | None,
        typer.Argument(
            metavar="TOKENIZER", help="A tokenizer file or directory.", show_default=False
        ),
    ] = None,
    encoding: Encoding = None,
    model: Model = None,
    tokenizer: TokenizerPath = None,
    top: Annotated[
        int, typer.Option(min=0, metavar="N", help="How many tokens and merges to list.")
    ] = 10,
    as_json: Json = False,
) -> None:
    """Show what is in a tokenizer: sizes, special tokens, longest tokens, first merges, pattern."""
    if path is not None and tokenizer is not None:
        message = f"TOKENIZER ({path}) and -t {tokenizer} name two tokenizers"
        raise Usage(message)
    path = path if path is not None else tokenizer
    chosen = choose(encoding, model, path)
    facts = _facts(chosen, path, top)
    print(json.dumps(_for_json(facts), ensure_ascii=False) if as_json else _readable(facts))


def _facts(chosen: Chosen, path: str | None, top: int) -> dict[str, Any]:
    tokenizer = chosen.tokenizer
    special = tokenizer.special_tokens
    ids = set(special.values())
    plain = [(id, token) for id, token in tokenizer.vocab.items() if id not in ids]
    merges = tokenizer.merges
    return {
        "name": tokenizer.name,
        "source": chosen.label,
        "format": _format(path),
        "vocab_size": tokenizer.vocab_size,
        "tokens": len(tokenizer.vocab),
        "bytes": sum(len(token) == 1 for _, token in plain),
        "merges": len(merges),
        "special_tokens": special,
        "added_tokens": tokenizer.added_tokens,
        "normalizer": tokenizer.normalizer,
        "merge_rule": tokenizer.merge_rule,
        "ignore_merges": tokenizer.ignore_merges,
        "pattern": tokenizer.pattern,
        "regex": bytepair.patterns.regex(tokenizer.pattern),
        "fingerprint": tokenizer.fingerprint,
        "mean_token_bytes": sum(len(token) for _, token in plain) / max(len(plain), 1),
        "longest_tokens": show.longest(plain, top),
        "first_merges": merges[:top],
    }


def _format(path: str | None) -> str | None:
    if path is None:
        return None
    from bytepair import formats

    return formats.detect(path)


def _for_json(facts: dict[str, Any]) -> dict[str, Any]:
    from bytepair.formats.native import escape

    longest = [{"id": id, "token": escape(token)} for id, token in facts["longest_tokens"]]
    merges = [[escape(left), escape(right)] for left, right in facts["first_merges"]]
    return {**facts, "longest_tokens": longest, "first_merges": merges}


def _readable(facts: dict[str, Any]) -> str:
    gaps = facts["vocab_size"] - facts["tokens"]
    special = facts["special_tokens"]
    rule = {"pairs": "by pair, the one learned first", "ranks": "by rank of the result"}
    whole = ", whole pieces first" if facts["ignore_merges"] else ""
    rows = [
        ("vocab size", f"{facts['vocab_size']:,}" + (f" ({gaps:,} ids unused)" if gaps else "")),
        ("bytes", f"{facts['bytes']} of 256"),
        ("merges", f"{facts['merges']:,}"),
        ("special", f"{len(special):,}"),
        *([("added", f"{len(facts['added_tokens']):,}")] if facts["added_tokens"] else []),
        *([("normalizer", _short(facts["normalizer"]))] if facts["normalizer"] else []),
        ("merge rule", rule[facts["merge_rule"]] + whole),
        ("pattern", _pattern(facts)),
        ("token length", f"{facts['mean_token_bytes']:.2f} bytes on average"),
        ("fingerprint", facts["fingerprint"]),
    ]
    name = facts["name"] or facts["source"]
    kind = f" ({facts['format']})" if facts["format"] else ""
    sections = [f"{name}{kind}\n{show.lines(rows)}"]
    if special:
        shown = list(special.items())[:_SPECIAL_SHOWN]
        entries = [(str(id), repr(token)) for token, id in shown]
        if len(special) > len(shown):
            entries.append(("", f"and {len(special) - len(shown):,} more (--json lists all)"))
        sections.append(f"special tokens\n{show.lines(entries)}")
    if facts["longest_tokens"]:
        entries = [(str(id), show.token(token)) for id, token in facts["longest_tokens"]]
        sections.append(f"longest tokens\n{show.lines(entries)}")
    if facts["first_merges"]:
        entries = [
            (str(rank), f"{show.token(left)} + {show.token(right)}")
            for rank, (left, right) in enumerate(facts["first_merges"])
        ]
        sections.append(f"first merges\n{show.lines(entries)}")
    return "\n\n".join(sections)


def _pattern(facts: dict[str, Any]) -> str:
    pattern = facts["pattern"]
    if pattern is None:
        return "none"
    if isinstance(pattern, str):
        return pattern
    return " then ".join(pattern)


def _short(normalizer: str | list[Any]) -> str | list[Any]:
    """A normalizer to be shown, without the rest of long words: a character map is one."""
    if isinstance(normalizer, str):
        return normalizer if len(normalizer) <= 80 else f"{normalizer[:40]}…"
    return [_short(step) for step in normalizer]
