"""What a `tokenizer.json` does around its model: normalizer, pre-tokenizer and decoder.

In: the values of these keys. Out: a `Flow`, or a `FormatError` that names the part which cannot
be taken over exactly. There are two kinds of files. In *byte-level* ones text becomes bytes,
spelled in GPT-2's alphabet, before it is merged; the pre-tokenizer ends in ByteLevel. In the others
(those made from SentencePiece) merging begins with characters, and most spell a space `▁`: of these
the tokens get their spaces back here, so that `▁the` is the token b" the", and what replaced spaces
by `▁` becomes what replaces `▁` by a space.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from bytepair import _core
from bytepair.errors import FormatError
from bytepair.formats import _files
from bytepair.patterns import regex

SPACE = "▁"
"""How SentencePiece spells a space: U+2581."""

WORDS = " ?[^ ]+| "
"""The pattern that cuts before each space, as Metaspace does with `split`."""

Steps = list[str | list[str]]


class Flow(NamedTuple):
    """What is done to a text before and after merging."""

    normalizer: Steps
    pattern: str | list[str] | None
    drops_space: bool
    bytes: bool
    """Whether text becomes bytes before it is merged."""
    spaced: bool
    """Whether the file spells spaces `▁`."""


class FlowReader:
    """Reads the three keys; `source` names the file in errors."""

    def __init__(self, source: str) -> None:
        self.source = source

    def error(self, what: str) -> FormatError:
        return FormatError(f"{self.source}: {what}")

    def unsupported(self, part: str, value: Any, why: str = "") -> FormatError:
        shown = value.get("type", value) if isinstance(value, dict) else value
        return self.error(f"the {part} {short(shown)} is not supported{why and f': {why}'}")

    def flow(self, data: dict[str, Any]) -> Flow:
        """The flow of a file; its model may still refuse it."""
        normalizer = self.normalizer(data.get("normalizer"))
        steps = self.parts(data.get("pre_tokenizer"), "pre_tokenizer", "pretokenizers")
        decoder = self.parts(data.get("decoder"), "decoder", "decoders")
        if any(step.get("type") == "ByteLevel" for step in steps):
            pattern = self.byte_pattern(steps, normalizer)
            self.byte_decoder(decoder)
            return Flow(normalizer, pattern, drops_space=False, bytes=True, spaced=False)
        return self.characters(normalizer, steps, decoder)

    def parts(self, value: Any, kind: str, key: str) -> list[dict[str, Any]]:
        """The steps of a normalizer, a pre-tokenizer or a decoder, sequences taken apart."""
        found: list[dict[str, Any]] = []
        left = [value]
        while left:
            step = left.pop()
            if step is None:
                continue
            if not isinstance(step, dict):
                raise self.error(f"the {kind} is {short(step)}, not an object")
            if step.get("type") != "Sequence":
                found.append(step)
                continue
            inner = step.get(key)
            if not isinstance(inner, list):
                raise self.error(f"the {kind} Sequence has no list {key!r}")
            left.extend(reversed(inner))
        return found

    # ── Normalizers ───────────────────────────────────────────────────────────────────────────────

    def normalizer(self, value: Any) -> Steps:
        return [
            self.normalizer_step(step) for step in self.parts(value, "normalizer", "normalizers")
        ]

    def normalizer_step(self, step: dict[str, Any]) -> str | list[str]:
        match step:
            case {"type": "NFC" | "NFD" | "NFKC" | "NFKD" | "Lowercase" as name}:
                return str(name)
            case {"type": "Strip", "strip_left": bool(left), "strip_right": bool(right)}:
                if left and right:
                    return "Strip"
                if left or right:
                    return "StripLeft" if left else "StripRight"
            case {"type": "Prepend", "prepend": str(text)}:
                return ["Prepend", text]
            case {"type": "Replace", "pattern": {"String": str(old)}, "content": str(new)} if old:
                return ["Replace", old, new]
            case {"type": "Replace", "pattern": {"Regex": str(old)}, "content": str(new)}:
                from bytepair.formats._hf_write import differs

                unlike = differs(old)
                if unlike is not None:
                    raise self.error(f"the normalizer's pattern {short(old)} {unlike}")
                return ["ReplaceRegex", old, new]
        raise self.unsupported("normalizer", step)

    # ── Byte-level files ──────────────────────────────────────────────────────────────────────────

    def byte_pattern(
        self, steps: list[dict[str, Any]], normalizer: Steps
    ) -> str | list[str] | None:
        """The regular expressions of a pre-tokenizer that ends in ByteLevel."""
        last = steps[-1]
        if last.get("type") != "ByteLevel":
            why = "only byte-level BPE is, where the last step is ByteLevel"
            raise self.unsupported("pre_tokenizer", last, why)
        regexes = [self.cut(step) for step in steps[:-1]]
        if last.get("add_prefix_space", True):
            if regexes:
                why = "it adds a space (add_prefix_space) to each piece of the steps before it"
                raise self.unsupported("pre_tokenizer", last, why)
            normalizer.append(["Prefix", " "])
        if last.get("use_regex", True):
            regexes.append(str(regex("gpt2")))
        return self.patterns(regexes)

    def patterns(self, regexes: list[str]) -> str | list[str] | None:
        from bytepair.formats._hf_write import differs

        # DeepSeek's have line breaks as they are.
        plain = [text.replace("\r", "\\r").replace("\n", "\\n") for text in regexes]
        if len(plain) > 1 and _core.pattern_name(plain) is not None:
            return plain
        for text in regexes:
            unlike = differs(text)
            if unlike is not None:
                raise self.error(f"the Split pattern {short(text)} {unlike}")
        return regexes if len(regexes) > 1 else regexes[0] if regexes else None

    def cut(self, step: dict[str, Any]) -> str:
        cut = _CUTS.get(str(step.get("type")))
        if cut is None:
            raise self.unsupported("pre_tokenizer", step)
        return cut(self, step)

    def split(self, step: dict[str, Any]) -> str:
        pattern, behavior = step.get("pattern"), step.get("behavior")
        match pattern:
            case {"Regex": str(found)}:
                text = found if _core.pattern_name(found) else _files.as_pattern(found)
            case {"String": str(found)}:
                text = escape(found)
            case _:
                raise self.error(f"the Split pattern {short(pattern)} is no Regex and no String")
        if behavior == "Removed" and step.get("invert") and _core.pattern_name(text) is not None:
            # It keeps the matches alone, and a named pattern leaves nothing between them.
            return text
        if behavior != "Isolated":
            why = f"its behavior is {behavior!r}, which is not Isolated"
            raise self.unsupported("pre_tokenizer", step, why)
        return text

    def digits(self, step: dict[str, Any]) -> str:
        return r"\p{N}" if step.get("individual_digits") else r"\p{N}+"

    def byte_decoder(self, steps: list[dict[str, Any]]) -> None:
        for step in steps:
            if step.get("type") != "ByteLevel":
                raise self.unsupported("decoder", step)

    # ── Files whose merging begins with characters ────────────────────────────────────────────────

    def characters(
        self, normalizer: Steps, steps: list[dict[str, Any]], decoder: list[dict[str, Any]]
    ) -> Flow:
        replaced = ["Replace", " ", SPACE] in normalizer
        regexes: list[str] = []
        for step in steps:
            match step:
                case {
                    "type": "Split",
                    "pattern": {"String": " "},
                    "behavior": "MergedWithPrevious",
                } if replaced:
                    # Gemma's, which finds no space any more.
                    pass
                case {"type": "Metaspace"}:
                    regexes += self.metaspace(step, normalizer)
                    replaced = True
                case {"type": "Digits"}:
                    regexes.append(self.digits(step))
                case {"type": "Split"} if not replaced:
                    regexes.append(self.split(step))
                case _:
                    raise self.unsupported("pre_tokenizer", step)
        drops_space = self.character_decoder(decoder, spaced=replaced)
        if replaced:
            normalizer = self.with_spaces(normalizer)
        pattern = WORDS if regexes == [WORDS] else self.patterns(regexes)
        return Flow(normalizer, pattern, drops_space, bytes=False, spaced=replaced)

    def metaspace(self, step: dict[str, Any], normalizer: Steps) -> list[str]:
        """The pattern of a Metaspace; what it puts in front of text goes to the normalizer."""
        if step.get("replacement", SPACE) != SPACE:
            why = f"its replacement is {short(step['replacement'])}, not {SPACE!r}"
            raise self.unsupported("pre_tokenizer", step, why)
        old = "always" if step.get("add_prefix_space", True) else "never"
        scheme = step.get("prepend_scheme", old)
        names = {"always": "Prefix", "first": "PrefixFirst"}
        if scheme != "never" and scheme not in names:
            raise self.unsupported("pre_tokenizer", step, f"its prepend_scheme is {scheme!r}")
        if ["Replace", " ", SPACE] not in normalizer:
            normalizer.append(["Replace", " ", SPACE])
        if scheme in names:
            normalizer.append([names[scheme], SPACE])
        return [WORDS] if step.get("split", True) else []

    def with_spaces(self, normalizer: Steps) -> Steps:
        """The steps for text that keeps its spaces where the file has `▁` for them."""
        at = normalizer.index(["Replace", " ", SPACE])
        for step in normalizer[at + 1 :]:
            if isinstance(step, str) or step[0] not in ("Prepend", "Prefix", "PrefixFirst"):
                name = step if isinstance(step, str) else step[0]
                why = f"it comes after spaces are replaced by {SPACE!r}"
                raise self.unsupported("normalizer", name, why)
        steps: Steps = []
        for place, step in enumerate(normalizer):
            if place == at:
                steps.append(["Replace", SPACE, " "])
            elif isinstance(step, list) and step[0].startswith(("Prepend", "Prefix")):
                steps.append([step[0], step[1].replace(SPACE, " ")])
            elif isinstance(step, list) and any(SPACE in word for word in step):
                raise self.unsupported("normalizer", step[0], f"it has {SPACE!r} in it")
            else:
                steps.append(step)
        return steps

    def character_decoder(self, steps: list[dict[str, Any]], *, spaced: bool) -> bool:
        """Whether a space at the beginning is left out; refuses what changes more than that."""
        seen: list[str] = []
        drops = False
        for step in steps:
            match step:
                case {"type": "Replace", "pattern": {"String": "▁"}, "content": " "} if spaced:
                    pass
                case {"type": "ByteFallback" | "Fuse"}:
                    pass
                case {"type": "Strip", "content": " ", "start": 1, "stop": 0} if "Fuse" in seen:
                    drops = True
                case {"type": "Metaspace"} if spaced and step.get("replacement", SPACE) == SPACE:
                    old = "always" if step.get("add_prefix_space", True) else "never"
                    drops = step.get("prepend_scheme", old) != "never"
                case _:
                    raise self.unsupported("decoder", step)
            seen.append(str(step["type"]))
        if spaced and not {"Replace", "Metaspace"} & set(seen):
            raise self.error(f"no decoder turns {SPACE!r} into a space, which is not supported")
        return drops


_CUTS: dict[str, Callable[[FlowReader, dict[str, Any]], str]] = {
    "Split": FlowReader.split,
    "Digits": FlowReader.digits,
}
"""Pre-tokenizers that cut text, and the regular expression that cuts it alike."""


def escape(text: str) -> str:
    """A regular expression for the text itself."""
    return (
        "(?:"
        + "".join(f"\\x{{{ord(char):x}}}" if not char.isalnum() else char for char in text)
        + ")"
    )


def short(value: Any) -> str:
    """A value for an error, at most a line of it."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"
