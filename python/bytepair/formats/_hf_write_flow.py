"""Writing the parts of a `tokenizer.json` around its model: the inverse of `_hf_flow`.

In: a tokenizer. Out: the values of `normalizer`, `pre_tokenizer` and `decoder`, or a `FormatError`
that says what tokenizers could not do alike.
"""

from __future__ import annotations

from typing import Any

from bytepair.errors import FormatError
from bytepair.formats._hf_flow import SPACE, WORDS, Steps
from bytepair.tokenizer import Tokenizer

WAY_OUT = "save in the native format instead"
_PREFIXES = {"Prefix": "always", "PrefixFirst": "first"}


def steps_of(tokenizer: Tokenizer) -> Steps:
    """The steps of the normalizer, as a list."""
    normalizer = tokenizer.normalizer
    if normalizer is None:
        return []
    return [normalizer] if isinstance(normalizer, str) else list(normalizer)


def is_spaced(tokenizer: Tokenizer) -> bool:
    """Whether the file is to spell spaces `▁`: where that character is taken for a space."""
    return ["Replace", SPACE, " "] in steps_of(tokenizer)


def normalizer(steps: Steps) -> dict[str, Any] | None:
    """The value of `normalizer`."""
    values = [_step(step) for step in steps]
    if len(values) == 1:
        return values[0]
    return {"type": "Sequence", "normalizers": values} if values else None


def _step(step: str | list[str]) -> dict[str, Any]:
    match step:
        case "Strip" | "StripLeft" | "StripRight":
            sides = {"strip_left": step != "StripRight", "strip_right": step != "StripLeft"}
            return {"type": "Strip", **sides}
        case str():
            return {"type": step}
        case ["Prepend", text]:
            return {"type": "Prepend", "prepend": text}
        case ["Replace" | "ReplaceRegex" as kind, old, new]:
            pattern = {"String" if kind == "Replace" else "Regex": old}
            if kind == "ReplaceRegex":
                _check_regex(old)
            return {"type": "Replace", "pattern": pattern, "content": new}
    message = f"tokenizers has no normalizer like {step[0]} at its place; {WAY_OUT}"
    raise FormatError(message)


def _check_regex(text: str) -> None:
    from bytepair.formats._hf_write import differs

    unlike = differs(text)
    if unlike is not None:
        message = f"the normalizer's pattern {text!r} {unlike}; {WAY_OUT}"
        raise FormatError(message)


def without_prefix(steps: Steps) -> tuple[Steps, bool]:
    """The steps without a last one that puts a space in front, which ByteLevel does too."""
    if steps and steps[-1] == ["Prefix", " "]:
        return steps[:-1], True
    return steps, False


def characters(tokenizer: Tokenizer) -> dict[str, Any]:
    """The three values for a tokenizer whose merging begins with characters."""
    steps = steps_of(tokenizer)
    spaced = is_spaced(tokenizer)
    pre_tokenizer: dict[str, Any] | None = None
    if spaced:
        at = steps.index(["Replace", SPACE, " "])
        for step in steps[at + 1 :]:
            if step[0] not in ("Prepend", *_PREFIXES):
                name = step if isinstance(step, str) else step[0]
                message = f"the normalizer {name} comes after {SPACE!r} is replaced; {WAY_OUT}"
                raise FormatError(message)
        scheme = "never"
        if isinstance(steps[-1], list) and steps[-1][0] in _PREFIXES:
            scheme = _PREFIXES[steps[-1][0]]
            steps = steps[:-1]
        steps = [
            ["Replace", " ", SPACE] if place == at else _spelled(step)
            for place, step in enumerate(steps)
        ]
        if tokenizer._pattern == WORDS or scheme != "never":
            pre_tokenizer = {
                "type": "Metaspace",
                "replacement": SPACE,
                "prepend_scheme": scheme,
                "split": tokenizer._pattern == WORDS,
            }
    if tokenizer._pattern not in (None, WORDS if spaced else None):
        message = f"the pattern {tokenizer.pattern!r:.80} cannot be written here; {WAY_OUT}"
        raise FormatError(message)
    return {
        "normalizer": normalizer(steps),
        "pre_tokenizer": pre_tokenizer,
        "decoder": _decoder(spaced=spaced, drops_space=tokenizer.drops_space),
    }


def _spelled(step: str | list[str]) -> str | list[str]:
    if isinstance(step, list) and step[0] == "Prepend":
        return ["Prepend", step[1].replace(" ", SPACE)]
    return step


def _decoder(*, spaced: bool, drops_space: bool) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [{"type": "ByteFallback"}, {"type": "Fuse"}]
    if spaced:
        steps.insert(0, {"type": "Replace", "pattern": {"String": SPACE}, "content": " "})
    if drops_space:
        steps.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return {"type": "Sequence", "decoders": steps}
