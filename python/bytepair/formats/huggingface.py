"""Hugging Face's `tokenizer.json`, for byte-level BPE.

In: such a file, or a directory with it. Out: a `Tokenizer`, and back, with a
`tokenizer_config.json` beside it for transformers. The ids are those of `tokenizers` with
`add_special_tokens=False`: what the post-processor, truncation and padding of a file would do to
them is the caller's business, so these are passed over and not kept. All else that the ids depend
on is taken over exactly, or refused by name.

Byte-level means that text becomes bytes, spelled in GPT-2's alphabet, before it is merged; files of
other kinds (SentencePiece style, WordPiece, Unigram) are refused. Tokens with `"special": false` in
`added_tokens` become added tokens. What the writing side does is in `_hf_write`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair import _core
from bytepair.errors import BytepairError, FormatError
from bytepair.formats import _files, _hf_write
from bytepair.formats.gpt2 import unspell
from bytepair.patterns import regex
from bytepair.tokenizer import Tokenizer

if TYPE_CHECKING:
    import tokenizers

NAME = "huggingface"
OPTIONS: tuple[str, ...] = ()
FILE = "tokenizer.json"
_MOST_PAIRS = 1 << 20
"""Pairs of added tokens that are compared, at most; real files have some 10,000."""

_HEAD = re.compile(
    rb'\s*{.*?"(?:truncation|padding|added_tokens|normalizer|pre_tokenizer|post_processor)"\s*:',
    re.DOTALL,
)


def detect(path: str) -> bool:
    """Whether `path` is a `tokenizer.json`, or a directory with one."""
    if os.path.isdir(path):
        return os.path.isfile(os.path.join(path, FILE))
    return _HEAD.match(_files.head(path)) is not None


def load(path: str) -> Tokenizer:
    """Read a tokenizer. Raises `FormatError`, naming the file and what it cannot take over."""
    source = os.path.join(path, FILE) if os.path.isdir(path) else path
    return _Reader(source).tokenizer(_files.read_json(source))


def loads(text: str) -> Tokenizer:
    """Read a tokenizer from the text of a file."""
    return _Reader("the text").tokenizer(_files.parse_json(text, "the text"))


def save(tokenizer: Tokenizer, path: str) -> None:
    """Write a tokenizer: to a file where `path` ends in `.json`, else to a directory."""
    text = _hf_write.dumps(tokenizer)
    if path.endswith(".json") and not os.path.isdir(path):
        _files.write_whole(path, text)
        return
    os.makedirs(path, exist_ok=True)
    _files.write_whole(os.path.join(path, FILE), text)
    _files.write_whole(os.path.join(path, "tokenizer_config.json"), _hf_write.config())


def to_object(tokenizer: Tokenizer) -> tokenizers.Tokenizer:
    """A tokenizer of the library's; see `Tokenizer.to_huggingface`."""
    try:
        import tokenizers
    except ImportError as error:
        message = "to_huggingface needs tokenizers; install it"
        raise ImportError(message) from error
    return tokenizers.Tokenizer.from_str(_hf_write.dumps(tokenizer))


class _Added(NamedTuple):
    """An entry of `added_tokens`."""

    id: int
    content: str
    special: bool
    normalized: bool


class _Reader:
    """Turns the value of a file into a tokenizer; knows the file's name for errors."""

    def __init__(self, source: str) -> None:
        self.source = source

    def error(self, what: str) -> FormatError:
        return FormatError(f"{self.source}: {what}")

    def unsupported(self, part: str, value: Any, why: str = "") -> FormatError:
        shown = value.get("type", value) if isinstance(value, dict) else value
        return self.error(f"the {part} {_short(shown)} is not supported{why and f': {why}'}")

    # ── The whole ─────────────────────────────────────────────────────────────────────────────────

    def tokenizer(self, data: Any) -> Tokenizer:
        if not isinstance(data, dict) or not isinstance(data.get("model"), dict):
            raise self.error('not a tokenizer.json: it has no "model"')
        if data.get("version") != "1.0":
            raise self.error(f'version {data.get("version")!r} is not known; it must be "1.0"')
        model = data["model"]
        self.check_model(model)
        normalizer = self.normalizer(data.get("normalizer"))
        pattern = self.pattern(data.get("pre_tokenizer"))
        self.check_decoder(data.get("decoder"))
        entries = self.vocab(model.get("vocab"))
        added = self.added_tokens(data.get("added_tokens") or [], entries, normalizer)
        tokens, merges = self.tokens(entries, model, added)
        try:
            core = _core.Model.from_merges(
                tokens, merges, whole_pieces=bool(model.get("ignore_merges"))
            )
            return Tokenizer._assemble(
                core,
                {token.content: token.id for token in added if token.special},
                pattern=pattern,
                name=None,
                added_tokens={token.content: token.id for token in added if not token.special},
                normalizer=normalizer,
            )
        except (BytepairError, TypeError) as error:
            raise self.error(str(error)) from error

    def parts(self, value: Any, kind: str, key: str) -> list[dict[str, Any]]:
        """The steps of a normalizer, a pre-tokenizer or a decoder, sequences taken apart."""
        if value is None:
            return []
        if not isinstance(value, dict):
            raise self.error(f"the {kind} is {_short(value)}, not an object")
        if value.get("type") != "Sequence":
            return [value]
        steps = value.get(key)
        if not isinstance(steps, list):
            raise self.error(f"the {kind} Sequence has no list {key!r}")
        return [part for step in steps for part in self.parts(step, kind, key)]

    # ── The flow before the model ─────────────────────────────────────────────────────────────────

    def normalizer(self, value: Any) -> str | None:
        steps = self.parts(value, "normalizer", "normalizers")
        for step in steps:
            if step.get("type") != "NFC":
                raise self.unsupported("normalizer", step)
        return "NFC" if steps else None

    def pattern(self, value: Any) -> str | list[str] | None:
        """The regular expressions of a pre-tokenizer that ends in ByteLevel."""
        steps = self.parts(value, "pre_tokenizer", "pretokenizers")
        if not steps or steps[-1].get("type") != "ByteLevel":
            last = steps[-1] if steps else value
            raise self.unsupported(
                "pre_tokenizer", last, "only byte-level BPE is, where the last step is ByteLevel"
            )
        regexes = []
        for step in steps[:-1]:
            cut = _STEPS.get(str(step.get("type")))
            if cut is None:
                raise self.unsupported("pre_tokenizer", step)
            regexes.append(cut(self, step))
        if steps[-1].get("add_prefix_space", True):
            raise self.unsupported("pre_tokenizer", steps[-1], "it adds a space (add_prefix_space)")
        if steps[-1].get("use_regex", True):
            regexes.append(str(regex("gpt2")))
        # DeepSeek's have line breaks as they are.
        plain = [text.replace("\r", "\\r").replace("\n", "\\n") for text in regexes]
        if len(plain) > 1 and _core.pattern_name(plain) is not None:
            return plain
        for text in regexes:
            unlike = _hf_write.differs(text)
            if unlike is not None:
                raise self.error(f"the Split pattern {_short(text)} {unlike}")
        return regexes if len(regexes) > 1 else regexes[0] if regexes else None

    def split(self, step: dict[str, Any]) -> str:
        pattern, behavior = step.get("pattern"), step.get("behavior")
        match pattern:
            case {"Regex": str(found)}:
                text = found if _core.pattern_name(found) else _files.as_pattern(found)
            case {"String": str(found)}:
                text = _escape(found)
            case _:
                raise self.error(f"the Split pattern {_short(pattern)} is no Regex and no String")
        if behavior == "Removed" and step.get("invert") and _core.pattern_name(text) is not None:
            # It keeps the matches alone, and a named pattern leaves nothing between them.
            return text
        if behavior != "Isolated":
            why = f"its behavior is {behavior!r}, which is not Isolated"
            raise self.unsupported("pre_tokenizer", step, why)
        return text

    def digits(self, step: dict[str, Any]) -> str:
        return r"\p{N}" if step.get("individual_digits") else r"\p{N}+"

    def check_decoder(self, value: Any) -> None:
        for step in self.parts(value, "decoder", "decoders"):
            if step.get("type") != "ByteLevel":
                raise self.unsupported("decoder", step)

    # ── The model ─────────────────────────────────────────────────────────────────────────────────

    def check_model(self, model: dict[str, Any]) -> None:
        kind = model.get("type", "BPE")
        if kind != "BPE":
            raise self.unsupported("model", kind, "only BPE is")
        for key in ("dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback"):
            if model.get(key):
                raise self.error(f"the model's {key} {_short(model[key])} is not supported")
        if not isinstance(model.get("merges"), list):
            raise self.error("the model has no list of merges")

    def vocab(self, entries: Any) -> dict[str, int]:
        if not isinstance(entries, dict):
            raise self.error("the model has no vocab, an object of token → id")
        owner: dict[int, str] = {}
        for text, id in entries.items():
            if type(id) is not int or not 0 <= id < 1 << 32:
                raise self.error(
                    f"token {_short(text)} has the id {_short(id)}; ids are in [0, 2**32)"
                )
            if owner.setdefault(id, text) != text:
                raise self.error(f"id {id} is given to {_short(owner[id])} and to {_short(text)}")
        return entries

    def added_tokens(
        self, values: Any, entries: dict[str, int], normalizer: str | None
    ) -> list[_Added]:
        if not isinstance(values, list):
            raise self.error("added_tokens is not a list")
        found: dict[str, _Added] = {}
        highest = -1
        for at, value in enumerate(values):
            token = self.added_token(at, value)
            if token.content in found:
                raise self.error(f"the added token {token.content!r} is listed twice")
            # tokenizers reads no id that the vocab does not have: it counts on from the last one.
            given = entries.get(token.content, max(highest + 1, len(entries)))
            if given != token.id:
                raise self.error(
                    f"the added token {token.content!r} has id {token.id} in the file, but "
                    f"tokenizers gives it {given}; make the ids follow each other without a hole"
                )
            highest = max(highest, given)
            found[token.content] = token
        tokens = list(found.values())
        self.check_passes(tokens, normalizer)
        return [token for token in tokens if not _hf_write.is_placeholder(token.content, token.id)]

    def added_token(self, at: int, value: Any) -> _Added:
        match value:
            case {"id": int(id), "content": str(content)} if content and 0 <= id < 1 << 32:
                pass
            case _:
                raise self.error(f"added token {at}: {_short(value)} has no id and content")
        for flag in ("single_word", "lstrip", "rstrip"):
            if value.get(flag):
                raise self.error(f"the added token {content!r} has {flag}, which is not supported")
        special = value.get("special") is True
        return _Added(id, content, special, value.get("normalized", not special) is True)

    def check_passes(self, tokens: list[_Added], normalizer: str | None) -> None:
        """Refuse tokens for which it matters that tokenizers looks for `normalized` ones later."""
        later = [token.content for token in tokens if token.normalized]
        if later and normalizer is not None:
            raise self.error(f"the added token {later[0]!r} is normalized, which is not supported")
        first = [token.content for token in tokens if not token.normalized]
        if len(later) * len(first) > _MOST_PAIRS:
            message = f"{len(later)} added tokens are normalized and {len(first)} are not"
            raise self.error(f"{message}; so many are not supported")
        for one in later:
            for other in first:
                if _overlap(one, other) or _overlap(other, one):
                    raise self.error(
                        f"the added tokens {one!r} and {other!r} can overlap in a text, and only "
                        "one of them is normalized; this is not supported"
                    )

    def tokens(
        self, entries: dict[str, int], model: dict[str, Any], added: list[_Added]
    ) -> tuple[dict[int, bytes], list[tuple[bytes, bytes]]]:
        """The vocab without the added tokens, and the merges."""
        spelled: dict[str, bytes] = {}
        owner: dict[bytes, str] = {}
        for text in entries:
            token = unspell(text)
            # What is not in the alphabet no text can become; it decodes as it stands.
            spelled[text] = token = (
                text.encode("utf-8", "surrogatepass") if token is None else token
            )
            if owner.setdefault(token, text) != text:
                raise self.error(f"the tokens {owner[token]!r} and {text!r} have the same bytes")
        if "" in spelled:
            raise self.error("the vocab has an empty token")
        merges = self.merges(model["merges"], spelled)
        made = {left + right for left, right in merges}
        aside = {text: id for text, id in entries.items() if _hf_write.is_placeholder(text, id)}
        aside.update((token.content, token.id) for token in added)
        for text in aside:
            token = spelled.get(text, b"")
            if len(token) > 1 and token not in made:
                del spelled[text]
        return {entries[text]: token for text, token in spelled.items()}, merges

    def merges(self, values: list[Any], spelled: dict[str, bytes]) -> list[tuple[bytes, bytes]]:
        merges = []
        for at, value in enumerate(values):
            pair = value.split(" ") if isinstance(value, str) else value
            match pair:
                case [str(left), str(right)]:
                    pass
                case _:
                    raise self.error(
                        f"merge {at}: {_short(value)} is not two tokens (in one string there is "
                        "one space between them, and none in them)"
                    )
            try:
                merges.append((spelled[left], spelled[right]))
            except KeyError as error:
                message = f"merge {at}: {error.args[0]!r} is not in the vocab"
                raise self.error(message) from error
        return merges


_STEPS: dict[str, Callable[[_Reader, dict[str, Any]], str]] = {
    "Split": _Reader.split,
    "Digits": _Reader.digits,
}
"""Pre-tokenizers that cut text, and the regular expression that cuts it alike."""


def _overlap(one: str, other: str) -> bool:
    """Whether a text can hold both so that they share characters, `one` beginning first."""
    return other in one or any(
        one.endswith(other[:size]) for size in range(1, min(len(one), len(other)))
    )


def _escape(text: str) -> str:
    """A regular expression for the text itself."""
    return (
        "(?:"
        + "".join(f"\\x{{{ord(char):x}}}" if not char.isalnum() else char for char in text)
        + ")"
    )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"
