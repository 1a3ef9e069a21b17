"""`FastTokenizer`: the calls of a fast tokenizer of transformers.

In: texts, one or many, alone or in pairs, as text or as words. Out: a `BatchEncoding`. The ids come
from a `bytepair.Tokenizer`, all of a batch at once; what is around them is made in `_rows`. Offsets
are worked out where they are asked for, and cost a call for each text.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any, Literal

from bytepair.compat.huggingface import _settings, _texts
from bytepair.compat.huggingface._batch import BatchEncoding
from bytepair.compat.huggingface._chat import Chats
from bytepair.compat.huggingface._decoding import Decoding
from bytepair.compat.huggingface._padding import Padding
from bytepair.compat.huggingface._rows import Cut, Row, Slot, Template, Text, build
from bytepair.compat.huggingface._settings import Settings
from bytepair.compat.huggingface._texts import Texts
from bytepair.errors import ArgumentError, FormatError
from bytepair.formats import huggingface
from bytepair.hub import located
from bytepair.tokenizer import Tokenizer

__all__ = ["FastTokenizer"]


class FastTokenizer(Padding, Decoding, Chats):
    """A tokenizer that is called as a fast tokenizer of transformers is, with the same results.

    `from_pretrained` reads a directory, `from_transformers` takes a tokenizer over; this makes one
    of a tokenizer of this package. What is not given is taken from its conventions.

    Args:
        tokenizer: what gives the ids.
        bos_token: the special token that begins a text.
        eos_token: the special token that ends a text.
        pad_token: the special token that fills up a batch.
        unk_token: the special token for what is unknown.
        add_bos: whether `bos_token` is put before every text.
        add_eos: whether `eos_token` is put behind every text.
        chat_template: the Jinja template of `apply_chat_template`.
        model_max_length: the most ids that the model takes, which `truncation=True` cuts to.
        padding_side: where padding goes.

    Raises `ArgumentError` when a named token is not a special token of the tokenizer, or
    `model_max_length` is below 1.

    >>> import bytepair
    >>> tokenizer = FastTokenizer(bytepair.get_encoding("gpt2"), eos_token="<|endoftext|>")
    >>> tokenizer("hello world")
    {'input_ids': [31373, 995], 'attention_mask': [1, 1]}
    >>> tokenizer.decode([31373, 995]), tokenizer.eos_token_id
    ('hello world', 50256)
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        bos_token: str | None = None,
        eos_token: str | None = None,
        pad_token: str | None = None,
        unk_token: str | None = None,
        add_bos: bool = False,
        add_eos: bool = False,
        chat_template: str | None = None,
        model_max_length: int | None = None,
        padding_side: Literal["left", "right"] = "right",
    ) -> None:
        """Build it; see the class."""
        settings = Settings()
        self._set_up(tokenizer, settings)
        self.padding_side = padding_side
        if model_max_length is not None:
            self.model_max_length = model_max_length
        known = tokenizer.conventions
        settings.chat_template = chat_template or known.get("chat_template")
        roles = {f"{role}_token": token for role, token in known.get("roles", {}).items()}
        given = {"bos_token": bos_token, "eos_token": eos_token, "pad_token": pad_token}
        given["unk_token"] = unk_token
        roles.update((role, token) for role, token in given.items() if token is not None)
        for role, token in roles.items():
            setattr(self, role, token)
        for option, wanted, role in (
            ("add_bos", add_bos, self.bos_token),
            ("add_eos", add_eos, self.eos_token),
        ):
            if wanted and role is None:
                message = f"{option} is true, but {option[4:]}_token is not given"
                raise ArgumentError(message)
        around = known.get("template", {"before": [], "after": []})
        if add_bos or add_eos:
            before = [self.bos_token_id] if add_bos else []
            around = {"before": before, "after": [self.eos_token_id] if add_eos else []}
        settings.template = _around(around["before"], around["after"])

    def _set_up(self, tokenizer: Tokenizer, settings: Settings) -> None:
        if not isinstance(tokenizer, Tokenizer):
            message = f"a FastTokenizer is made of a bytepair.Tokenizer, not {_kind(tokenizer)}"
            raise TypeError(message)
        if getattr(tokenizer._model, "symbols", None) is not None:
            message = (
                "FastTokenizer is for byte-level BPE, and this tokenizer merges characters; "
                "use its own methods, or transformers"
            )
            raise FormatError(message)
        self.backend = tokenizer
        self._settings = settings
        for role, token in settings.roles.items():
            self._check_special(role, token)
        for token in settings.extra:
            self._check_special("extra special token", token)

    @classmethod
    def from_pretrained(
        cls,
        name: str | os.PathLike[str],
        *,
        revision: str | None = None,
        token: str | bool | None = None,
        local_files_only: bool = False,
    ) -> FastTokenizer:
        """Read a directory with `tokenizer.json` and what lies beside it, or one of the Hub.

        Args:
            name: a directory, or the name of a repository on the Hugging Face Hub.
            revision: as in `Tokenizer.from_pretrained`.
            token: as in `Tokenizer.from_pretrained`.
            local_files_only: as in `Tokenizer.from_pretrained`.

        Raises `FormatError`, naming file and place, for what is damaged or not supported;
        `ImportError` for a repository without `huggingface_hub`.
        """
        path = os.fspath(name)
        if not os.path.isdir(path):
            path = located(path, revision=revision, token=token, local_files_only=local_files_only)
        settings = _settings.from_directory(path)
        settings.name_or_path = os.fspath(name)
        return _made(cls, huggingface.load(path), settings)

    @classmethod
    def from_transformers(cls, tokenizer: Any) -> FastTokenizer:
        """Take over a fast tokenizer of transformers, as it is now.

        Raises `FormatError` naming the part that is not supported, `TypeError` for another object.
        """
        if not hasattr(tokenizer, "backend_tokenizer"):
            message = (
                "from_transformers takes a fast tokenizer of transformers, "
                f"not {type(tokenizer).__name__}"
            )
            raise TypeError(message)
        backend = huggingface.loads(tokenizer.backend_tokenizer.to_str())
        return _made(cls, backend, _settings.from_object(tokenizer))

    def __reduce__(self) -> tuple[Any, ...]:
        # What was looked up once can be looked up again.
        return _made, (type(self), self.backend, deepcopy(self._settings))

    def __repr__(self) -> str:
        return f"<FastTokenizer of {self.backend!r}>"

    @property
    def split_special_tokens(self) -> bool:
        """Whether special tokens in a text are plain text when a call does not say it."""
        return self._settings.split_special_tokens

    @split_special_tokens.setter
    def split_special_tokens(self, value: bool) -> None:
        self._settings.split_special_tokens = bool(value)

    # ── Texts to ids ──────────────────────────────────────────────────────────────────────────────

    def __call__(
        self,
        text: Texts = None,
        text_pair: Texts = None,
        text_target: Texts = None,
        text_pair_target: Texts = None,
        add_special_tokens: bool = True,  # noqa: FBT001 - as in transformers
        padding: bool | str = False,  # noqa: FBT001
        truncation: bool | str | None = None,  # noqa: FBT001
        max_length: int | None = None,
        stride: int = 0,
        is_split_into_words: bool = False,  # noqa: FBT001
        pad_to_multiple_of: int | None = None,
        padding_side: str | None = None,
        return_tensors: str | None = None,
        return_token_type_ids: bool | None = None,  # noqa: FBT001
        return_attention_mask: bool | None = None,  # noqa: FBT001
        return_overflowing_tokens: bool = False,  # noqa: FBT001
        return_special_tokens_mask: bool = False,  # noqa: FBT001
        return_offsets_mapping: bool = False,  # noqa: FBT001
        return_length: bool = False,  # noqa: FBT001
        verbose: bool = True,  # noqa: FBT001
        *,
        split_special_tokens: bool | None = None,
        max_target_length: int | None = None,
    ) -> BatchEncoding:
        """The ids of a text or of a batch, with masks.

        Args:
            text: a text or a list of them; with `is_split_into_words`, a list of words or a list of
                such lists.
            text_pair: a second text for each, which the row holds too.
            text_target: texts whose ids are given as `labels`.
            text_pair_target: a second text for each of those.
            add_special_tokens: whether to put the template's special tokens around.
            padding: `True` or `"longest"`, to fill up to the longest row; `"max_length"`.
            truncation: `True` or `"longest_first"`, `"only_first"`, `"only_second"`; `None` means
                `True` where `max_length` is given and nothing is filled up.
            max_length: the length to cut or fill up to, by default the model's.
            stride: how many ids a row that overflows shares with the one before.
            is_split_into_words: whether texts are given as words.
            pad_to_multiple_of: a number that padded lengths are a multiple of.
            padding_side: `"left"` or `"right"`, instead of the tokenizer's side.
            return_tensors: `"np"` or `"pt"`, for arrays instead of lists.
            return_token_type_ids: whether to give the number of each id's text.
            return_attention_mask: whether to tell ids from padding.
            return_overflowing_tokens: whether to give what was cut off as rows of its own.
            return_special_tokens_mask: whether to tell what was put around from the text.
            return_offsets_mapping: whether to give the characters that each id covers.
            return_length: whether to give the length of each row.
            verbose: whether to warn about what has no effect.
            split_special_tokens: whether special tokens in the text are plain text.
            max_target_length: `max_length` for `text_target`.

        Raises `ArgumentError` (a `ValueError`) for options that do not fit together, `TypeError`
        for what is no text.
        """
        cut, fill = self._strategies(
            padding,
            truncation,
            max_length,
            pad_to_multiple_of,
            stride,
            padding_side,
            verbose=verbose,
        )
        names = self._settings.model_input_names
        wanted = {
            "input_ids": True,
            "token_type_ids": _texts.given(return_token_type_ids, "token_type_ids" in names),
            "attention_mask": _texts.given(return_attention_mask, "attention_mask" in names),
            "special_tokens_mask": return_special_tokens_mask,
            "offset_mapping": return_offsets_mapping,
            "length": return_length,
        }
        split = _texts.given(split_special_tokens, self._settings.split_special_tokens)

        def encode(first: Texts, second: Texts, cut: Cut | None) -> BatchEncoding:
            return self._batch(
                _texts.Batch.of(first, second, words=is_split_into_words),
                special=add_special_tokens,
                cut=cut,
                fill=fill,
                wanted=wanted,
                split=split,
                overflowing=return_overflowing_tokens,
                tensors=return_tensors,
            )

        if text is None and text_target is None:
            message = "give text, text_target, or both"
            raise ArgumentError(message)
        result = None if text is None else encode(text, text_pair, cut)
        if text_target is None:
            return result  # type: ignore[return-value]
        if max_target_length is not None and cut is not None:
            cut = Cut(max_target_length, cut.strategy, cut.stride, cut.side)
        target = encode(text_target, text_pair_target, cut)
        if result is None:
            return target
        result["labels"] = target["input_ids"]
        return result

    def encode(
        self,
        text: Texts,
        text_pair: Texts = None,
        add_special_tokens: bool = True,  # noqa: FBT001 - as in transformers
        padding: bool | str = False,  # noqa: FBT001
        truncation: bool | str | None = None,  # noqa: FBT001
        max_length: int | None = None,
        stride: int = 0,
        padding_side: str | None = None,
        return_tensors: str | None = None,
        **options: Any,
    ) -> list[int]:
        """The ids of a text; the options are those of a call.

        >>> import bytepair
        >>> FastTokenizer(bytepair.get_encoding("gpt2")).encode("hello world")
        [31373, 995]
        """
        batch = self(
            text,
            text_pair,
            add_special_tokens=add_special_tokens,
            padding=padding,
            truncation=truncation,
            max_length=max_length,
            stride=stride,
            padding_side=padding_side,
            return_tensors=return_tensors,
            **options,
        )
        return batch["input_ids"]  # type: ignore[no-any-return]

    def encode_batch(
        self, texts: Sequence[str], *, add_special_tokens: bool = True
    ) -> list[list[int]]:
        """The ids of each text, and nothing else: the fastest way to encode many.

        >>> import bytepair
        >>> FastTokenizer(bytepair.get_encoding("gpt2")).encode_batch(["hello", "hello world"])
        [[31373], [31373, 995]]
        """
        rows = self._ids(list(texts), split=self._settings.split_special_tokens)
        template = self._settings.template
        if not add_special_tokens or not template.added(pair=False):
            return rows
        return [build(Text(ids), None, template, special=True, cut=None).ids for ids in rows]

    def tokenize(
        self,
        text: str,
        pair: str | None = None,
        add_special_tokens: bool = False,  # noqa: FBT001 - as in transformers
        **options: Any,
    ) -> list[str]:
        """The tokens of a text, as strings."""
        batch = self(text, pair, add_special_tokens=add_special_tokens, **options)
        return batch.tokens()  # type: ignore[return-value]

    def num_special_tokens_to_add(self, pair: bool = False) -> int:  # noqa: FBT001
        """How many special tokens the template puts around a text, or around two."""
        return self._settings.template.added(pair=pair)

    def _batch(
        self,
        batch: _texts.Batch,
        *,
        special: bool,
        cut: Cut | None,
        fill: Callable[[list[Row]], None] | None,
        wanted: dict[str, bool],
        split: bool,
        overflowing: bool,
        tensors: str | None,
    ) -> BatchEncoding:
        offsets = wanted["offset_mapping"]
        flat = [text for pair in batch.pairs for text in pair if text is not None]
        if batch.words:
            found = iter(self._of_words(flat, split=split, offsets=offsets))
        else:
            found = iter(self._of_texts(flat, split=split, offsets=offsets))
        template = self._settings.template
        trim = self._trimmed if self._settings.trim_offsets else None
        rows = []
        for _, second in batch.pairs:
            # There is one for each text that is not `None`, which the first of a pair never is.
            texts = next(found), None if second is None else next(found)
            rows.append(build(*texts, template, special=special, cut=cut, trim=trim))
        if fill is not None:
            fill(rows)
        samples = list(range(len(rows)))
        if overflowing:
            samples = [at for at, row in enumerate(rows) for _ in range(1 + len(row.overflowing))]
            rows = [one for row in rows for one in (row, *row.overflowing)]
        data: dict[str, Any] = {
            key: [_VALUES[key](row) for row in rows] for key, want in wanted.items() if want
        }
        if overflowing:
            data["overflow_to_sample_mapping"] = samples
        elif not batch.many and tensors is None:
            data = {key: values[0] if key != "length" else values for key, values in data.items()}
        return BatchEncoding(data, rows, self.convert_ids_to_tokens, tensors)

    def _of_words(self, texts: list[Any], *, split: bool, offsets: bool) -> list[Text]:
        """The ids of texts that are lists of words."""
        words = [word for text in texts for word in text]
        found = iter(self._of_texts(words, split=split, offsets=offsets))
        return [_texts.joined([next(found) for _ in text], offsets=offsets) for text in texts]

    def _of_texts(self, texts: list[str], *, split: bool, offsets: bool) -> list[Text]:
        if offsets:
            return [Text(*self._located(text, split=split)) for text in texts]
        return [Text(ids) for ids in self._ids(texts, split=split)]

    def _ids(self, texts: list[str], *, split: bool) -> list[list[int]]:
        if len(texts) == 1:
            text = texts[0]
            return [self.backend.encode_ordinary(text) if split else self.backend.encode(text)]
        return self.backend.encode_batch(texts, allowed_special=() if split else "all")

    def _located(self, text: str, *, split: bool) -> tuple[list[int], list[tuple[int, int]]]:
        allowed: Any = () if split else "all"
        normalizer = self.backend.normalizer
        if normalizer not in (None, "NFC"):
            message = (
                f"offsets are not known with the normalizer {normalizer!r:.200}, only with NFC or "
                "none; encode without return_offsets_mapping"
            )
            raise ArgumentError(message)
        return self.backend.encode_with_offsets(text, allowed_special=allowed)

    def _trimmed(self, text: Text) -> Text:
        """A text whose offsets leave out the spaces at the ends of its tokens."""
        if text.offsets is None:
            return text
        keeps = self._settings.keeps_first_space
        return text._replace(
            offsets=[
                _texts.trimmed(self._strings[id], place, keeps=keeps and (at == 0 or place[0] == 0))
                for at, (id, place) in enumerate(zip(text.ids, text.offsets, strict=True))
            ]
        )


def _made(cls: type[FastTokenizer], tokenizer: Tokenizer, settings: Settings) -> FastTokenizer:
    """A tokenizer from its parts."""
    made = cls.__new__(cls)
    made._set_up(tokenizer, settings)
    return made


_VALUES: dict[str, Callable[[Row], Any]] = {
    "input_ids": lambda row: row.ids,
    "token_type_ids": lambda row: row.type_ids,
    "attention_mask": lambda row: row.attention_mask,
    "special_tokens_mask": lambda row: row.special_tokens_mask,
    "offset_mapping": lambda row: row.offsets,
    "length": len,
}
"""What a call gives, of a row."""


def _kind(value: object) -> str:
    return type(value).__name__


def _around(before: list[int], after: list[int]) -> Template:
    """The template that puts ids before and behind every text."""

    def slots(sequence: int) -> tuple[Slot, ...]:
        first = [Slot(tuple(before), None, sequence)] if before else []
        last = [Slot(tuple(after), None, sequence)] if after else []
        return (*first, Slot((), sequence, sequence), *last)

    return Template(slots(0), (*slots(0), *slots(1)))
