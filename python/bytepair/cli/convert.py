"""`bytepair convert`: a tokenizer in another format.

In: a tokenizer file or the name of an encoding. Out: the file in the format asked for, read back
and found to give the same ids before it takes its name. What a format cannot hold is refused.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Annotated

import typer

import bytepair
from bytepair import formats
from bytepair.cli.failures import Failure, Usage
from bytepair.cli.files import Input, check_apart
from bytepair.cli.options import (
    Encoding,
    Json,
    Model,
    Quiet,
    TokenizerPath,
    check_format,
    choose,
    format_names,
    load,
)
from bytepair.cli.output import STDOUT, check_folder, save, write
from bytepair.cli.probe import difference
from bytepair.formats import LoadOptions

__all__ = ["convert"]

EXAMPLES = (
    "bytepair convert my.json gpt2-files/ --to gpt2\n\n"
    "bytepair convert gpt2-files/ my.json --from gpt2 --to native\n\n"
    "bytepair convert -e cl100k_base cl100k.json --to native\n\n"
    "bytepair convert my.tiktoken my.json --to native --pattern cl100k --special '<|end|>=100257'"
)


def convert(
    *,
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="[IN] OUT",
            help="The tokenizer to read, unless an option names it, and where to write.",
            show_default=False,
        ),
    ],
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help="The format to write; always needed.",
            autocompletion=format_names,
        ),
    ] = None,
    source_format: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FORMAT",
            help="The format to read.",
            show_default="found out",
            autocompletion=format_names,
        ),
    ] = None,
    pattern: Annotated[
        str | None,
        typer.Option(
            metavar="PATTERN",
            help="The pattern of a file whose format does not hold it: a name, a regular "
            "expression, or none.",
        ),
    ] = None,
    special: Annotated[
        list[str] | None,
        typer.Option(
            "--special",
            metavar="TOKEN[=ID]",
            help="A special token of a file whose format does not hold them; once for each.",
        ),
    ] = None,
    no_special: Annotated[
        bool, typer.Option("--no-special", help="The file has no special tokens.")
    ] = False,
    encoding: Encoding = None,
    model: Model = None,
    tokenizer: TokenizerPath = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a tokenizer in another format, and check that what was written gives the same ids."""
    if to is None:
        message = f"--to is missing; the formats are {', '.join(format_names())}"
        raise Usage(message)
    check_format(to, "--to")
    check_format(source_format, "--from")
    named = encoding is not None or model is not None or tokenizer is not None
    if len(paths) != (1 if named else 2):
        wanted = "OUT alone, since an option names the tokenizer" if named else "IN and OUT"
        message = f"{len(paths)} paths are given; convert takes {wanted}"
        raise Usage(message)
    source, target = paths[0], paths[-1]
    if as_json and target == STDOUT:
        message = "--json and OUT - both want standard output"
        raise Usage(message)
    options = _options(pattern, special or [], no_special=no_special)
    if named and (tokenizer is None or (source_format is None and not options)):
        if options:
            message = "--pattern and --special are for a file that does not hold them"
            raise Usage(message)
        chosen = choose(encoding, model, tokenizer)
        label, loaded = chosen.label, chosen.tokenizer
    else:
        label = tokenizer or source
        loaded = load(label, format=source_format, **options)
    check_apart([Input(label)] if tokenizer or not named else [], target)
    if target != STDOUT:
        check_folder(target)

    def check(path: str) -> None:
        unsaid: LoadOptions = {}
        if "pattern" in formats.options(to):
            unsaid["pattern"] = loaded.pattern
        if "special_tokens" in formats.options(to):
            unsaid["special_tokens"] = loaded.special_tokens
        different = difference(loaded, bytepair.Tokenizer.load(path, format=to, **unsaid))
        if different is not None:
            message = f"{to} does not keep this tokenizer: {different}; nothing was written"
            raise Failure(message)

    if target == STDOUT:
        write(loaded, to, check)
    else:
        save(loaded, target, to, check)
    given = {name: loaded.special_tokens[name] for name in _without_ids(options)}
    if as_json:
        facts = {
            "source": label,
            "output": target,
            "format": to,
            "vocab_size": loaded.vocab_size,
            "same_ids": True,
            **({"special_tokens": given} if given else {}),
        }
        print(json.dumps(facts, ensure_ascii=False))
    elif not quiet:
        stream = sys.stderr if target == STDOUT else sys.stdout
        for name, id in given.items():
            print(
                f"special token {name!r} has id {id}; --special {name}=ID gives another",
                file=stream,
            )
        print(f"{label} → {target} ({to}); read back, it gives the same ids", file=stream)


def _without_ids(options: LoadOptions) -> list[str]:
    """The special tokens that were given without an id."""
    names = options.get("special_tokens")
    return list(names) if isinstance(names, list) else []


def _options(pattern: str | None, special: list[str], *, no_special: bool) -> LoadOptions:
    """What the options say about a file that does not say it itself."""
    if special and no_special:
        message = "--special and --no-special exclude each other"
        raise Usage(message)
    options: LoadOptions = {}
    if pattern is not None:
        options["pattern"] = None if pattern == "none" else pattern
    if no_special:
        options["special_tokens"] = ()
    elif special:
        with_id = [_with_id(token) for token in special]
        if all(with_id):
            options["special_tokens"] = dict(found for found in with_id if found)
        elif any(with_id):
            message = "--special has an id for some tokens and for others not; give all or none"
            raise Usage(message)
        else:
            options["special_tokens"] = special
    return options


def _with_id(token: str) -> tuple[str, int] | None:
    """The name and the id of `NAME=ID`; what is behind the last `=` is an id if it is one word."""
    found = re.fullmatch(r"(.+)=([-+.\w]*)", token, re.DOTALL)
    if found is None:
        return None
    name, id = found.groups()
    if not (id.isascii() and id.isdigit() and len(id) <= 10 and int(id) < 1 << 32):
        message = (
            f"--special {token}: {id!r} is no id; give a whole number from 0 to 4294967295 behind "
            "the last = (which a token with a = in its name needs too)"
        )
        raise Usage(message)
    return name, int(id)
