"""Takes a tokenizer to transformers, where models are trained and served.

In: a tokenizer, and which of its special tokens begin, end and fill a text. Out: a fast tokenizer
of transformers, which gives the same ids and which `save_pretrained` writes for every tool that
reads such directories. This class is the part of `Tokenizer` that does so; the file itself is the
business of `bytepair.formats.huggingface`. Costs what writing and reading a `tokenizer.json` costs.

Nothing is guessed: what is not given is taken from the tokenizer's conventions, and a role that
they do not name stays empty.
"""

from __future__ import annotations

from bytepair import _core
from bytepair._numbers import whole
from bytepair.errors import ArgumentError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    import transformers

    from bytepair.tokenizer import Tokenizer

__all__ = ["Deploying"]


class Deploying(_core.Tokenizer):
    """The methods of `Tokenizer` that make tokenizers of other libraries for models."""

    __slots__ = ()

    def to_transformers(
        self,
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
    ) -> transformers.PreTrainedTokenizerFast:
        """A fast tokenizer of transformers, which gives the same ids.

        Args:
            bos_token: the special token that begins a text.
            eos_token: the special token that ends a text.
            pad_token: the special token that fills up a batch.
            unk_token: the special token for what is unknown; byte-level BPE never needs it.
            add_bos: whether transformers puts `bos_token` before every text.
            add_eos: whether transformers puts `eos_token` behind every text.
            chat_template: the Jinja template of `apply_chat_template`.
            model_max_length: the most tokens that the model takes, which `truncation=True` cuts to.
            padding_side: where padding goes.

        Raises `ArgumentError` when a named token is not a special token of this tokenizer, or
        `model_max_length` is below 1;
        `FormatError` when transformers would give other ids, `ImportError` without transformers.

        `save_pretrained` writes it, and `AutoTokenizer.from_pretrained` reads that.
        """
        try:
            import transformers
        except ImportError as error:
            message = 'to_transformers needs transformers; install "bytepair[hf]"'
            raise ImportError(message) from error
        tokenizer: Tokenizer = self  # type: ignore[assignment]
        known = tokenizer.conventions
        roles = {f"{role}_token": token for role, token in known.get("roles", {}).items()}
        given = {"bos_token": bos_token, "eos_token": eos_token, "pad_token": pad_token}
        given["unk_token"] = unk_token
        roles.update((role, token) for role, token in given.items() if token is not None)
        _check_roles(tokenizer, roles, add_bos=add_bos, add_eos=add_eos)
        if add_bos or add_eos:
            before = [tokenizer.token_id(roles["bos_token"])] if add_bos else []
            after = [tokenizer.token_id(roles["eos_token"])] if add_eos else []
            tokenizer = tokenizer.with_conventions(template=(before, after))
        backend = tokenizer.to_huggingface()
        chat_template = chat_template or known.get("chat_template")
        options: dict[str, Any] = {} if chat_template is None else {"chat_template": chat_template}
        if model_max_length is not None:
            options["model_max_length"] = whole(1, model_max_length=model_max_length)
        # Its constructor has no types.
        make: Any = transformers.PreTrainedTokenizerFast
        made: transformers.PreTrainedTokenizerFast = make(
            tokenizer_object=backend,
            padding_side=padding_side,
            # Older versions would take spaces out of decoded text.
            clean_up_tokenization_spaces=False,
            model_input_names=["input_ids", "attention_mask"],
            **roles,
            **options,
        )
        return made


def _check_roles(
    tokenizer: Tokenizer, named: dict[str, str], *, add_bos: bool, add_eos: bool
) -> None:
    """Refuse tokens that transformers would have to add, and roles that are needed and empty."""
    for role, token in named.items():
        if token not in tokenizer.special_tokens:
            known = ", ".join(map(repr, list(tokenizer.special_tokens)[:5])) or "none"
            message = (
                f"{role} {token!r} is not a special token of this tokenizer (it has {known}); "
                f"add it first, with with_special_tokens([{token!r}])"
            )
            raise ArgumentError(message)
    for option, wanted, role in (
        ("add_bos", add_bos, "bos_token"),
        ("add_eos", add_eos, "eos_token"),
    ):
        if wanted and role not in named:
            message = f"{option} is true, but {role} is not given"
            raise ArgumentError(message)
