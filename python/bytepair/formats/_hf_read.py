"""Reading Hugging Face's `tokenizer.json`: the whole, its model and its added tokens.

In: the value of a file. Out: a `Tokenizer`, or a `FormatError` that names the part which cannot be
taken over exactly. What happens around the model is in `_hf_flow`, what transformers keeps beside
the file in `_hf_config`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from bytepair import _core
from bytepair.errors import BytepairError, FormatError
from bytepair.formats import _hf_write
from bytepair.formats._hf_flow import SPACE, Flow, FlowReader, Steps, short
from bytepair.formats.gpt2 import unspell
from bytepair.tokenizer import Tokenizer

_MOST_PAIRS = 1 << 20
"""Pairs of added tokens that are compared, at most; real files have some 10,000."""


class Added(NamedTuple):
    """An entry of `added_tokens`."""

    id: int
    content: str
    special: bool
    normalized: bool
    flags: tuple[bool, bool, bool]


class Reader(FlowReader):
    """Turns the value of a file into a tokenizer."""

    def tokenizer(self, data: Any) -> Tokenizer:
        if not isinstance(data, dict) or not isinstance(data.get("model"), dict):
            raise self.error('not a tokenizer.json: it has no "model"')
        if data.get("version") != "1.0":
            raise self.error(f'version {data.get("version")!r} is not known; it must be "1.0"')
        model = data["model"]
        self.check_model(model)
        flow = self.flow(data)
        entries = self.vocab(model.get("vocab"))
        added = self.added_tokens(data.get("added_tokens") or [], entries, flow)
        try:
            core = self.model(entries, model, added, flow)
            return Tokenizer._assemble(
                core,
                {token.content: token.id for token in added if token.special},
                pattern=flow.pattern,
                name=None,
                added_tokens={token.content: token.id for token in added if not token.special},
                normalizer=flow.normalizer or None,
                drops_space=flow.drops_space,
                token_flags={token.content: token.flags for token in added if any(token.flags)},
            )
        except FormatError:
            raise
        except (BytepairError, TypeError) as error:
            raise self.error(str(error)) from error

    # ── Added tokens ──────────────────────────────────────────────────────────────────────────────

    def added_tokens(self, values: Any, entries: dict[str, int], flow: Flow) -> list[Added]:
        if not isinstance(values, list):
            raise self.error("added_tokens is not a list")
        found: dict[str, Added] = {}
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
        self.check_passes(tokens, flow.normalizer)
        return [token for token in tokens if not _hf_write.is_placeholder(token.content, token.id)]

    def added_token(self, at: int, value: Any) -> Added:
        match value:
            case {"id": int(id), "content": str(content)} if content and 0 <= id < 1 << 32:
                pass
            case _:
                raise self.error(f"added token {at}: {short(value)} has no id and content")
        special = value.get("special") is True
        normalized = value.get("normalized", not special) is True
        left, right, word = (
            value.get(flag) is True for flag in ("lstrip", "rstrip", "single_word")
        )
        return Added(id, content, special, normalized, (left, right, word))

    def check_passes(self, tokens: list[Added], normalizer: Steps) -> None:
        """Refuse tokens for which it matters that tokenizers looks for `normalized` ones later."""
        later = [token.content for token in tokens if token.normalized]
        first = [token.content for token in tokens if not token.normalized]
        if not later:
            return
        unlike = [one for one in later if normalizer and not _is_same(one, normalizer)]
        if unlike:
            raise self.error(
                f"the added token {unlike[0]!r} is normalized, which is not supported with the "
                f"normalizer {short(normalizer)}"
            )
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

    # ── The model ─────────────────────────────────────────────────────────────────────────────────

    def check_model(self, model: dict[str, Any]) -> None:
        kind = model.get("type", "BPE")
        if kind != "BPE":
            raise self.unsupported("model", kind, "only BPE is")
        for key in ("dropout", "continuing_subword_prefix", "end_of_word_suffix"):
            if model.get(key):
                raise self.error(f"the model's {key} {short(model[key])} is not supported")
        if not isinstance(model.get("merges"), list):
            raise self.error("the model has no list of merges")

    def vocab(self, entries: Any) -> dict[str, int]:
        if not isinstance(entries, dict):
            raise self.error("the model has no vocab, an object of token → id")
        owner: dict[int, str] = {}
        for text, id in entries.items():
            if type(id) is not int or not 0 <= id < 1 << 32:
                raise self.error(
                    f"token {short(text)} has the id {short(id)}; ids are in [0, 2**32)"
                )
            if owner.setdefault(id, text) != text:
                raise self.error(f"id {id} is given to {short(owner[id])} and to {short(text)}")
        if "" in entries:
            raise self.error("the vocab has an empty token")
        return entries

    def model(
        self, entries: dict[str, int], model: dict[str, Any], added: list[Added], flow: Flow
    ) -> _core.Model:
        whole = bool(model.get("ignore_merges"))
        if flow.bytes:
            if model.get("byte_fallback"):
                why = "text becomes bytes before it"
                raise self.unsupported("model's byte_fallback", model["byte_fallback"], why)
            spelled = {text: _as_bytes(text) for text in entries}
            merges = self.merges(model["merges"], spelled)
            return _core.Model.from_merges(
                self.tokens(entries, spelled, merges, added), merges, whole_pieces=whole
            )
        if whole:
            why = "merging begins with characters"
            raise self.unsupported("model's ignore_merges", model["ignore_merges"], why)
        byte_texts = self.byte_texts(entries, model)
        spelled = {
            text: (text.replace(SPACE, " ") if flow.spaced else text).encode(
                "utf-8", "surrogatepass"
            )
            for text in entries
            if text not in byte_texts
        }
        merges = self.merges(model["merges"], spelled)
        tokens = self.tokens(entries, spelled, merges, added, keep=SPACE if flow.spaced else None)
        tokens.update((entries[text], bytes([byte])) for text, byte in byte_texts.items())
        unknown = model.get("unk_token")
        return _core.Model.from_symbols(
            tokens,
            merges=merges,
            byte_ids=[entries[text] for text in byte_texts] or None,
            unknown=None if unknown is None else self.unknown(entries, unknown),
            fuse_unknown=bool(model.get("fuse_unk")),
        )

    def unknown(self, entries: dict[str, int], unknown: Any) -> int:
        if unknown not in entries:
            raise self.error(f"the unk_token {short(unknown)} is not in the vocab")
        return entries[unknown]

    def byte_texts(self, entries: dict[str, int], model: dict[str, Any]) -> dict[str, int]:
        """The tokens that stand for bytes, `<0x00>` to `<0xFF>`, where the model uses them."""
        if not model.get("byte_fallback"):
            return {}
        texts = {f"<0x{byte:02X}>": byte for byte in range(256)}
        missing = [text for text in texts if text not in entries]
        if missing:
            raise self.error(
                f"the model's byte_fallback needs 256 tokens for bytes, and {missing[0]} is not in "
                "the vocab"
            )
        return texts

    def tokens(
        self,
        entries: dict[str, int],
        spelled: dict[str, bytes],
        merges: list[tuple[bytes, bytes]],
        added: list[Added],
        *,
        keep: str | None = None,
    ) -> dict[int, bytes]:
        """The vocab by id, without the added tokens that merging does not know."""
        owner: dict[bytes, str] = {}
        for text, token in spelled.items():
            if owner.setdefault(token, text) != text:
                raise self.error(f"the tokens {owner[token]!r} and {text!r} have the same bytes")
        aside = {text: id for text, id in entries.items() if _hf_write.is_placeholder(text, id)}
        aside.update((token.content, token.id) for token in added)
        made = _made(merges, {spelled[text] for text in aside if text in spelled})
        for text in aside:
            token = spelled.get(text, b"")
            # One with a space is spelled otherwise in text than it decodes to.
            if len(token) > 1 and token not in made and not (keep is not None and keep in text):
                del spelled[text]
        return {entries[text]: token for text, token in spelled.items()}

    def merges(self, values: list[Any], spelled: dict[str, bytes]) -> list[tuple[bytes, bytes]]:
        try:
            # What real files have; the errors are found below.
            if all(type(value) is list for value in values):
                return [(spelled[left], spelled[right]) for left, right in values]
        except (KeyError, TypeError, ValueError):
            pass
        merges = []
        for at, value in enumerate(values):
            pair = value.split(" ") if isinstance(value, str) else value
            match pair:
                case [str(left), str(right)]:
                    pass
                case _:
                    raise self.error(
                        f"merge {at}: {short(value)} is not two tokens (in one string there is "
                        "one space between them, and none in them)"
                    )
            try:
                merges.append((spelled[left], spelled[right]))
            except KeyError as error:
                message = f"merge {at}: {short(error.args[0])} is not in the vocab"
                raise self.error(message) from error
        return merges


def _as_bytes(text: str) -> bytes:
    """The bytes of a token in GPT-2's alphabet; others no text becomes, and they decode as is."""
    token = unspell(text)
    return text.encode("utf-8", "surrogatepass") if token is None else token


def _made(merges: list[tuple[bytes, bytes]], wanted: set[bytes]) -> set[bytes]:
    """Which of these tokens the merges make; of the other merges nothing is joined."""
    begins = {token[:size] for token in wanted for size in range(1, len(token))}
    return {left + right for left, right in merges if left in begins} & wanted


def _is_same(content: str, normalizer: Steps) -> bool:
    """Whether it is found in normalized text just where it is found in the text as given.

    In NFC that is so for ASCII, unless something else becomes one of its characters or a mark joins
    the last: white space, say, as GPT-NeoX has it.
    """
    return (
        normalizer == ["NFC"]
        and content.isascii()
        and not set(content) & set(";`K")
        and not (content[-1].isalpha() or content[-1] in "<=>")
    )


def _overlap(one: str, other: str) -> bool:
    """Whether a text can hold both so that they share characters, `one` beginning first."""
    return other in one or any(
        one.endswith(other[:size]) for size in range(1, min(len(one), len(other)))
    )
