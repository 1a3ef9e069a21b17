"""llama.cpp's GGUF files: the vocabulary in them (`tokenizer.ggml.*`).

In: such a file, a model or a vocab alone. Out: a `Tokenizer`, and back, as a file without tensors,
which `llama-tokenize` takes and from which the keys can be put into a model.

Two kinds are known. In `gpt2` files text becomes bytes, spelled in GPT-2's alphabet; the pattern is
told by a name, `tokenizer.ggml.pre`, which is chosen here from the tokenizer's own pattern. In
`llama` files merging begins with characters and goes by score, as SentencePiece's. A file has no
place for a normalizer, and llama.cpp applies none to `gpt2` vocabs: one is kept in a key of our
own, `tokenizer.bytepair.normalizer`, which llama.cpp passes over.
"""

from __future__ import annotations

import json
from typing import Any

from bytepair import _core
from bytepair.errors import BytepairError, FormatError
from bytepair.formats import _files, _gguf_file, _hf_write, _pieces
from bytepair.formats._gguf_file import BOOL, F32, I32, STRING, U32
from bytepair.formats._hf_flow import SPACE
from bytepair.formats._pieces import BYTE, CONTROL, NORMAL, UNKNOWN, UNUSED, USER_DEFINED, Piece
from bytepair.formats.gpt2 import spell, unspell
from bytepair.patterns import regex
from bytepair.tokenizer import Tokenizer

NAME = "gguf"
OPTIONS: tuple[str, ...] = ()
KEY = "tokenizer.ggml."
NORMALIZER = "tokenizer.bytepair.normalizer"
MOST_HOLES = 1 << 20

WRITTEN = {
    "gpt2": "gpt-2",
    "cl100k": "dbrx",
    "llama3": "dbrx",
    "o200k": "gpt-4o",
    "qwen2": "qwen2",
    "qwen3_5": "qwen35",
    "deepseek_v3": "deepseek-v3",
    "tekken": "tekken",
    "starcoder": "starcoder",
}
"""Named pattern → the name of the same one in llama.cpp."""

READ = {
    **dict.fromkeys(("gpt-2", "mpt", "olmo", "jais", "phi-2", "gpt3-finnish"), "gpt2"),
    **dict.fromkeys(("llama-bpe", "llama3", "llama-v3", "falcon3", "dbrx", "smaug-bpe"), "llama3"),
    **dict.fromkeys(("gpt-4o", "llama4"), "o200k"),
    **dict.fromkeys(("qwen2", "deepseek-r1-qwen", "stablelm2"), "qwen2"),
    "qwen35": "qwen3_5",
    "deepseek-v3": "deepseek_v3",
    "tekken": "tekken",
    **dict.fromkeys(
        ("starcoder", "refact", "command-r", "smollm", "codeshell", "exaone"), "starcoder"
    ),
}
"""Name of a pattern in llama.cpp → named pattern."""

WHOLE = frozenset({"llama-bpe", "llama3", "llama-v3", "falcon3", "tekken"})
"""Names under which llama.cpp looks whole pieces up first."""

ROLES = {
    "bos": "bos_token_id",
    "eos": "eos_token_id",
    "unk": "unknown_token_id",
    "sep": "seperator_token_id",
    "pad": "padding_token_id",
    "mask": "mask_token_id",
}
"""What special tokens are for → key; the third is misspelled in the format."""

_WAY_OUT = "save in the native or the huggingface format instead"


def detect(path: str) -> bool:
    """Whether `path` is a GGUF file."""
    return _files.head(path, 4) == _gguf_file.MAGIC


def load(path: str) -> Tokenizer:
    """Read a tokenizer. Raises `FormatError`, naming the file and what it cannot take over."""
    try:
        values = _gguf_file.read(path, ("tokenizer.",))
        return _Reader(path, values).tokenizer()
    except FormatError:
        raise
    except (BytepairError, ValueError, OverflowError, TypeError) as error:
        message = f"{path}: {error}"
        raise FormatError(message) from error


def save(tokenizer: Tokenizer, path: str) -> None:
    """Write a tokenizer. Raises `FormatError` when the format cannot hold it, and says why."""
    content = dumps(tokenizer)
    with _files.replacing(path) as file:
        file.write(content)


# ── Reading ───────────────────────────────────────────────────────────────────────────────────────


class _Reader:
    def __init__(self, source: str, values: dict[str, Any]) -> None:
        self.source = source
        self.values = values

    def error(self, what: str) -> FormatError:
        return FormatError(f"{self.source}: {what}")

    def get(self, key: str, kind: type, default: Any = None) -> Any:
        value = self.values.get(KEY + key, default)
        if value is not default and type(value) is not kind:
            raise self.error(f"{KEY}{key} is {value!r:.80}, not {kind.__name__}")
        return value

    def items(self, key: str, kind: type, length: int | None = None) -> list[Any]:
        values: list[Any] = self.get(key, list, [])
        if any(type(value) is not kind for value in values):
            raise self.error(f"{KEY}{key} is not a list of {kind.__name__}")
        if length is not None and len(values) not in (0, length):
            raise self.error(f"{KEY}{key} has {len(values)} items for {length} tokens")
        return values

    def tokenizer(self) -> Tokenizer:
        kind = self.get("model", str)
        if kind is None:
            raise self.error(f"there is no vocab in the file: no key {KEY}model")
        texts = self.items("tokens", str)
        types = self.items("token_type", int, len(texts)) or [NORMAL] * len(texts)
        if kind == "gpt2":
            tokenizer = self.byte_level(texts, types)
        elif kind == "llama":
            tokenizer = self.characters(texts, types)
        else:
            raise self.error(f"the model {kind!r:.80} is not supported; gpt2 and llama are")
        return tokenizer._with_conventions(self.conventions(texts))

    def conventions(self, texts: list[str]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        roles = {}
        for role, key in ROLES.items():
            id = self.get(key, int)
            if id is not None and 0 <= id < len(texts):
                roles[role] = texts[id]
        if roles:
            found["roles"] = roles
        before = [id for id in [self.get("bos_token_id", int)] if self.get("add_bos_token", bool)]
        after = [id for id in [self.get("eos_token_id", int)] if self.get("add_eos_token", bool)]
        if before or after:
            found["template"] = {"before": before, "after": after}
        chat = self.values.get("tokenizer.chat_template")
        if isinstance(chat, str):
            found["chat_template"] = chat
        return found

    def byte_level(self, texts: list[str], types: list[int]) -> Tokenizer:
        pre = self.get("pre", str)
        if pre not in READ:
            raise self.error(
                f"the pattern {pre!r:.80} ({KEY}pre) is not known; known are {', '.join(READ)}"
            )
        merges = self.merges()
        made = {left + right for left, right in merges}
        vocab: dict[int, bytes] = {}
        special: dict[str, int] = {}
        added: dict[str, int] = {}
        owner: dict[str, int] = {}
        for id, (text, kind) in enumerate(zip(texts, types, strict=True)):
            if owner.setdefault(text, id) != id:
                raise self.error(f"the token {text!r:.80} has the ids {owner[text]} and {id}")
            if not text or kind not in (NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED):
                raise self.error(f"token {id}: {text!r:.80} of type {kind} is not supported")
            if kind == UNUSED and text == f"[PAD{id}]":
                continue
            token = unspell(text)
            token = text.encode() if token is None else token
            if kind in (CONTROL, UNKNOWN):
                special[text] = id
            elif kind == USER_DEFINED:
                added[text] = id
            if (
                kind in (NORMAL, UNUSED)
                or token in made
                or (len(token) == 1 and text == spell(token))
            ):
                vocab[id] = token
        for name, id in {**special, **added}.items():
            if id in vocab and vocab[id] != name.encode():
                del vocab[id]
        model = _core.Model.from_merges(vocab, merges, whole_pieces=pre in WHOLE)
        return Tokenizer._assemble(
            model,
            special,
            pattern=READ[pre],
            name=None,
            added_tokens=added,
            normalizer=self.normalizer(),
        )

    def normalizer(self) -> Any:
        text = self.values.get(NORMALIZER)
        if text is None:
            return None
        return _files.parse_json(text, f"{self.source}: {NORMALIZER}")

    def merges(self) -> list[tuple[bytes, bytes]]:
        merges = []
        for at, line in enumerate(self.items("merges", str)):
            # The first character is part of the first token, even if it is a space.
            rest, space, right = line[1:].partition(" ")
            sides = unspell(line[:1] + rest), unspell(right)
            if not space or not sides[0] or not sides[1]:
                raise self.error(f"merge {at}: {line!r:.80} is not two tokens and a space between")
            merges.append((sides[0], sides[1]))
        return merges

    def characters(self, texts: list[str], types: list[int]) -> Tokenizer:
        scores = self.items("scores", float, len(texts))
        if not scores:
            raise self.error(f"there is no {KEY}scores, by which tokens of such a file merge")
        pieces = [
            Piece(text, score, kind) for text, score, kind in zip(texts, scores, types, strict=True)
        ]
        if self.get("precompiled_charsmap", list):
            why = "llama.cpp does not apply it to a llama vocab"
            raise self.error(f"there is a character map ({KEY}precompiled_charsmap): {why}")
        return _pieces.build(
            pieces,
            self.source,
            escaped=True,
            prefix=self.get("add_space_prefix", bool, True),
            extra=self.get("remove_extra_whitespaces", bool, False),
            fallback=any(kind == BYTE for kind in types),
        )


# ── Writing ───────────────────────────────────────────────────────────────────────────────────────


def dumps(tokenizer: Tokenizer) -> bytes:
    """The content of a file."""
    if tokenizer._special_aliases:
        name, id = next(iter(tokenizer._special_aliases.items()))
        message = f"id {id} has a second name, {name!r}; GGUF has room for one; {_WAY_OUT}"
        raise FormatError(message)
    if tokenizer._token_flags:
        name = next(iter(tokenizer._token_flags))
        message = f"{name!r} takes white space around it, which GGUF does not say; {_WAY_OUT}"
        raise FormatError(message)
    entries = _characters(tokenizer) if tokenizer._model.symbols else _byte_level(tokenizer)
    head = [("general.architecture", STRING, "llama"), ("general.type", STRING, "model")]
    if tokenizer.name:
        head.append(("general.name", STRING, tokenizer.name))
    return _gguf_file.dumps([*head, *entries, *_conventions(tokenizer)])


def _conventions(tokenizer: Tokenizer) -> list[tuple[str, int, Any]]:
    conventions = tokenizer.conventions
    names = {**tokenizer.special_tokens, **tokenizer.added_tokens}
    roles = {
        role: names[name] for role, name in conventions.get("roles", {}).items() if name in names
    }
    entries: list[tuple[str, int, Any]] = [
        (KEY + key, U32, roles[role]) for role, key in ROLES.items() if role in roles
    ]
    template = conventions.get("template", {"before": [], "after": []})
    wanted = {"before": [roles.get("bos")], "after": [roles.get("eos")]}
    for side, ids in template.items():
        if ids and ids != wanted[side]:
            message = (
                f"the template puts {ids} {side} a text; GGUF has bos and eos there; {_WAY_OUT}"
            )
            raise FormatError(message)
    # Always there: some names of patterns imply a bos where nothing is said.
    entries.append((f"{KEY}add_bos_token", BOOL, bool(template["before"])))
    entries.append((f"{KEY}add_eos_token", BOOL, bool(template["after"])))
    if "chat_template" in conventions:
        entries.append(("tokenizer.chat_template", STRING, conventions["chat_template"]))
    return entries


def _table(tokenizer: Tokenizer, texts: dict[int, tuple[str, int]]) -> list[tuple[str, int, Any]]:
    """The keys of tokens and their types; `texts` are those of the model."""
    for names, kind in (
        (tokenizer._special_names, CONTROL),
        (tokenizer.added_tokens, USER_DEFINED),
    ):
        for name, id in names.items():
            if id in texts and texts[id][0] != name:
                message = f"{name!r} (id {id}) is a token of other spelling too; {_WAY_OUT}"
                raise FormatError(message)
            unknown = id in texts and texts[id][1] == UNKNOWN
            texts[id] = (name, UNKNOWN if unknown else kind)
    size = tokenizer.vocab_size
    if size - len(texts) > MOST_HOLES:
        message = f"{size - len(texts)} ids have no token, and GGUF leaves none out; {_WAY_OUT}"
        raise FormatError(message)
    rows = [texts.get(id, (f"[PAD{id}]", UNUSED)) for id in range(size)]
    owner: dict[str, int] = {}
    for id, (text, _) in enumerate(rows):
        if owner.setdefault(text, id) != id:
            message = (
                f"{text!r:.80} has the ids {owner[text]} and {id}, and may have one; {_WAY_OUT}"
            )
            raise FormatError(message)
    return [
        (f"{KEY}tokens", STRING, [text for text, _ in rows]),
        (f"{KEY}token_type", I32, [kind for _, kind in rows]),
    ]


def _byte_level(tokenizer: Tokenizer) -> list[tuple[str, int, Any]]:
    name = _core.pattern_name(tokenizer._pattern)
    if name not in WRITTEN:
        message = (
            f"llama.cpp knows no pattern like {tokenizer.pattern!r:.80}; it has those of "
            f"{', '.join(WRITTEN)}; train with one of them, or {_WAY_OUT}"
        )
        raise FormatError(message)
    if tokenizer.drops_space:
        message = f"a gpt2 vocab cannot leave out a space when decoding; {_WAY_OUT}"
        raise FormatError(message)
    merges, whole = _hf_write._merges(tokenizer)
    pre = "llama-bpe" if whole and regex(name) == regex("llama3") else WRITTEN[name]
    if name == "cl100k" and whole:
        pre = "llama-bpe"
    if whole and pre not in WHOLE:
        message = f"llama.cpp looks no whole pieces up under {pre!r} (ignore_merges); {_WAY_OUT}"
        raise FormatError(message)
    texts = {id: (spell(token), NORMAL) for id, token in tokenizer._model.items()}
    entries: list[tuple[str, int, Any]] = [
        (f"{KEY}model", STRING, "gpt2"),
        (f"{KEY}pre", STRING, pre),
        *_table(tokenizer, texts),
        (f"{KEY}merges", STRING, [f"{left} {right}" for left, right in merges]),
    ]
    if tokenizer.normalizer is not None:
        entries.append((NORMALIZER, STRING, json.dumps(tokenizer.normalizer)))
    return entries


def _characters(tokenizer: Tokenizer) -> list[tuple[str, int, Any]]:
    symbols = tokenizer._model.symbols or {}
    ranks = symbols.get("ranks")
    if ranks is None:
        message = (
            "the tokenizer merges by pair, and a llama vocab by score, where ids could differ; "
            f"{_WAY_OUT}"
        )
        raise FormatError(message)
    normalizer = tokenizer.normalizer
    plain: list[Any] = [["Replace", SPACE, " "]]
    prefix = normalizer == [*plain, ["Prepend", " "]]
    if (
        (normalizer != plain and not prefix)
        or prefix != tokenizer.drops_space
        or tokenizer._pattern
    ):
        message = f"a llama vocab has no place for the normalizer {normalizer!r:.200}; {_WAY_OUT}"
        raise FormatError(message)
    of_bytes = {id: byte for byte, id in enumerate(symbols.get("byte_ids", ()))}
    frozen = set(symbols.get("frozen", ()))
    texts: dict[int, tuple[str, int]] = {}
    for id, token in tokenizer._model.items():
        if id in of_bytes:
            texts[id] = (f"<0x{of_bytes[id]:02X}>", BYTE)
        else:
            kind = USER_DEFINED if id in frozen else NORMAL
            texts[id] = (token.decode().replace(" ", SPACE), kind)
    unknown = symbols.get("unknown", tokenizer._special_names.get("<unk>"))
    names = {id: name for name, id in tokenizer._special_names.items()}
    if unknown is not None:
        texts[unknown] = (names.get(unknown, "<unk>"), UNKNOWN)
    scores = dict.fromkeys(range(tokenizer.vocab_size), 0.0)
    scores.update((id, -float(rank)) for id, rank in ranks)
    return [
        (f"{KEY}model", STRING, "llama"),
        (f"{KEY}pre", STRING, "default"),
        *_table(tokenizer, texts),
        (f"{KEY}scores", F32, list(scores.values())),
        (f"{KEY}add_space_prefix", BOOL, prefix),
        (f"{KEY}remove_extra_whitespaces", BOOL, False),
    ]
