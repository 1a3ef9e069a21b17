"""Tokens as strings, and the roles they have: the part of `FastTokenizer` that looks things up.

In: an id, a string, or the name of a role. Out: the other. Strings are spelled as in the vocabulary
of a `tokenizer.json`: each byte of a token as a character, special and added tokens as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar

from bytepair.compat.huggingface._settings import ROLES, Settings
from bytepair.errors import ArgumentError
from bytepair.formats.gpt2 import CHARACTER_TO_BYTE, spell
from bytepair.tokenizer import Tokenizer

_NEW = "make a new FastTokenizer of tokenizer.backend.with_special_tokens([...])"
_SAVED = 'tokenizer.backend.save(folder, format="huggingface") writes the files'
_AROUND = "FastTokenizer(tokenizer.backend, add_bos=..., add_eos=...) puts tokens around a text"
_THEIRS = "tokenizer.backend.to_transformers() makes a tokenizer of transformers"
_ELSEWHERE = {
    "backend_tokenizer": (
        "tokenizer.backend is the bytepair.Tokenizer, of which to_huggingface() makes an object "
        "of the tokenizers library"
    ),
    "added_tokens_decoder": (
        "its AddedToken objects are of the tokenizers library; get_added_vocab() has the tokens "
        "and their ids"
    ),
    "add_tokens": _NEW,
    "add_special_tokens": _NEW,
    "save_pretrained": _SAVED,
    "save_vocabulary": _SAVED,
    "train_new_from_iterator": "bytepair.train makes a new tokenizer",
    "add_bos_token": _AROUND,
    "add_eos_token": _AROUND,
    "update_post_processor": _AROUND,
    "add_prefix_space": "tokenizer.backend.normalizer has the space that is put before a text",
    "set_truncation_and_padding": "a call takes padding, truncation and max_length",
    "clean_up_tokenization": "decode changes no spaces, which byte-level BPE keeps as they are",
    "vocab_files_names": _SAVED,
    "save_chat_templates": _SAVED,
    "push_to_hub": f"{_THEIRS}, which is pushed",
    "init_kwargs": f"what it knows are its attributes; {_THEIRS} with them",
    "init_inputs": _THEIRS,
    "decoder": _THEIRS,
    "model": _THEIRS,
    "convert_added_tokens": _THEIRS,
    "convert_to_native_format": _THEIRS,
    "encode_message_with_chat_template": _THEIRS,
    "parse_response": _THEIRS,
    "response_template": _THEIRS,
    "get_response_parser": _THEIRS,
    "register_for_auto_class": _THEIRS,
    "slow_tokenizer_class": _THEIRS,
}
"""What transformers has and this has not: where it is found instead."""


class Names:
    """The vocabulary of a tokenizer, and which token has which role."""

    SPECIAL_TOKENS_ATTRIBUTES: ClassVar[list[str]] = list(ROLES)

    backend: Tokenizer
    _settings: Settings

    # ── The vocabulary ────────────────────────────────────────────────────────────────────────────

    @cached_property
    def _vocab(self) -> dict[str, int]:
        vocab = {spell(token): id for id, token in self.backend._model.items()}
        return {**vocab, **self._added}

    @cached_property
    def _strings(self) -> dict[int, str]:
        strings = {id: spell(token) for id, token in self.backend._model.items()}
        return {**strings, **{id: name for name, id in self._added.items()}}

    @cached_property
    def _added(self) -> dict[str, int]:
        return {**self.backend.special_tokens, **self.backend.added_tokens}

    def get_vocab(self) -> dict[str, int]:
        """Token → id, special and added tokens included. A new dict at each call."""
        return dict(self._vocab)

    @property
    def vocab(self) -> dict[str, int]:
        """`get_vocab()`."""
        return self.get_vocab()

    def get_added_vocab(self) -> dict[str, int]:
        """The special and added tokens, by id."""
        return dict(sorted(self._added.items(), key=lambda item: item[1]))

    @property
    def added_tokens_encoder(self) -> dict[str, int]:
        """`get_added_vocab()`."""
        return self.get_added_vocab()

    @property
    def name_or_path(self) -> str:
        """What `from_pretrained` was given, or the name of what was taken over; else `""`."""
        return self._settings.name_or_path

    @property
    def vocab_size(self) -> int:
        """The number of ids of the model, without the tokens that were added behind them."""
        known = self._settings.model_size
        return max(self.backend._model.ids(), default=-1) + 1 if known is None else known

    def __len__(self) -> int:
        return self.backend.vocab_size

    def __bool__(self) -> bool:
        return True

    def convert_tokens_to_ids(self, tokens: str | Iterable[str]) -> Any:
        """The id of a token, or the ids of several; the unknown token's (or `None`) for others."""
        if isinstance(tokens, str):
            return self._vocab.get(tokens, self._unknown)
        return [self._vocab.get(token, self._unknown) for token in tokens]

    @property
    def _unknown(self) -> int | None:
        name = self._settings.roles.get("unk_token")
        return None if name is None else self._vocab.get(name)

    def convert_ids_to_tokens(
        self,
        ids: int | Iterable[int],
        skip_special_tokens: bool = False,  # noqa: FBT001 - as in transformers
    ) -> Any:
        """The token of an id, or the tokens of several; `None` for an id that no token has."""
        if isinstance(ids, int):
            return self._strings.get(ids)
        skipped = set(self.all_special_ids) if skip_special_tokens else set()
        return [self._strings.get(int(id)) for id in ids if int(id) not in skipped]

    def convert_tokens_to_string(self, tokens: Iterable[str]) -> str:
        """The text of tokens."""
        parts = []
        for token in tokens:
            known = all(char in CHARACTER_TO_BYTE for char in token)
            parts.append(
                bytes(map(CHARACTER_TO_BYTE.__getitem__, token)) if known else token.encode()
            )
        return b"".join(parts).decode(errors="replace")

    # ── Roles ─────────────────────────────────────────────────────────────────────────────────────

    def __getattr__(self, name: str) -> Any:
        """`bos_token`, `bos_token_id` and so on, for every role."""
        settings = self.__dict__.get("_settings")
        role = name.removesuffix("_id")
        if settings is None or not (role in ROLES or role in settings.roles):
            raise AttributeError(self._absent(name))
        token = settings.roles.get(role)
        return token if token is None or role == name else self.convert_tokens_to_ids(token)

    def _absent(self, name: str) -> str:
        way_out = f"; {_ELSEWHERE[name]}" if name in _ELSEWHERE else ""
        return f"{type(self).__name__!r} object has no attribute {name!r}{way_out}"

    def __setattr__(self, name: str, value: Any) -> None:
        """Give a role to another token, or to none."""
        if name in _ELSEWHERE:
            # It would have no effect, as in `tokenizer.add_bos_token = True`.
            raise AttributeError(self._absent(name))
        role = name.removesuffix("_id")
        if role not in ROLES:
            object.__setattr__(self, name, value)
            return
        if role != name and value is not None:
            value = self.convert_ids_to_tokens(value)
        if value is None:
            self._settings.roles.pop(role, None)
            return
        self._check_special(role, str(value))
        self._settings.roles[role] = str(value)

    def _check_special(self, role: str, token: str) -> None:
        if token not in self._added:
            message = (
                f"{role} {token!r} is not a special token of this tokenizer; "
                "add it to the bytepair.Tokenizer first, with with_special_tokens"
            )
            raise ArgumentError(message)

    @property
    def special_tokens_map(self) -> dict[str, str]:
        """Role → token."""
        roles = self._settings.roles
        ordered = [*ROLES, *(role for role in roles if role not in ROLES)]
        return {role: roles[role] for role in ordered if role in roles}

    @property
    def extra_special_tokens(self) -> list[str]:
        """The special tokens without a role that the settings list."""
        return list(self._settings.extra)

    @property
    def additional_special_tokens(self) -> list[str]:
        """`extra_special_tokens`, by its older name."""
        return self.extra_special_tokens

    @property
    def all_special_tokens(self) -> list[str]:
        """The tokens with a role, and the others that the settings list."""
        return list(dict.fromkeys([*self.special_tokens_map.values(), *self._settings.extra]))

    @property
    def all_special_ids(self) -> list[int]:
        """The ids of `all_special_tokens`."""
        return [self._vocab[token] for token in self.all_special_tokens]

    def get_special_tokens_mask(
        self,
        token_ids_0: Iterable[int],
        token_ids_1: None = None,
        already_has_special_tokens: bool = False,  # noqa: FBT001 - as in transformers
    ) -> list[int]:
        """1 for each id of `all_special_ids`, else 0, for ids that have special tokens around them.

        Raises `ArgumentError` for ids without them: ask for `return_special_tokens_mask` then.
        """
        if not already_has_special_tokens or token_ids_1 is not None:
            message = (
                "get_special_tokens_mask is for ids with their special tokens "
                "(already_has_special_tokens=True); call the tokenizer with "
                "return_special_tokens_mask=True for the others"
            )
            raise ArgumentError(message)
        special = set(self.all_special_ids)
        return [int(int(id) in special) for id in token_ids_0]

    @property
    def pad_token_type_id(self) -> int:
        """The type id of padding."""
        return 0

    @property
    def is_fast(self) -> bool:
        """Whether it is fast."""
        return True
