"""What is done with a tokenizer around its ids, kept with it: roles, template, chat template.

In: a tokenizer file that says so. Out: `Tokenizer.conventions`, which later files get, and
`Tokenizer.with_template`. None of it changes what `encode` and `decode` give, so it is no part of
equality or of the fingerprint.
"""

from __future__ import annotations

from bytepair import _core
from bytepair.errors import ArgumentError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from typing_extensions import Self

__all__ = ["ROLES", "Conventions", "check"]

ROLES = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
"""What a special token can be for."""


class Conventions(_core.Tokenizer):
    """The methods of `Tokenizer` for what is done around its ids."""

    __slots__ = ()

    @property
    def conventions(self) -> dict[str, Any]:
        """What the file of the tokenizer says about the use of its ids. A new dict at each call.

        `"roles"` has special tokens by what they are for: `bos`, `eos`, `unk`, `sep`, `pad`, `cls`,
        `mask`. `"template"` has the ids put `"before"` and `"after"` a text where special tokens
        are asked for, and `"chat_template"` the text of a Jinja template. Only what was said is
        there.

        >>> from bytepair import get_encoding
        >>> get_encoding("gpt2").conventions
        {}
        """
        from copy import deepcopy

        return deepcopy(getattr(self, "_conventions", {}))

    def with_conventions(
        self,
        *,
        roles: Mapping[str, str] | None = None,
        template: tuple[Iterable[int], Iterable[int]] | None = None,
        chat_template: str | None = None,
    ) -> Self:
        """The same tokenizer with these conventions; what is left out stays as it is.

        Args:
            roles: what special tokens are for → their names.
            template: the ids before and the ids after a text.
            chat_template: the text of a Jinja template.

        Raises `ArgumentError` for a role that is none, or a token or id that is not there.

        >>> from bytepair import get_encoding
        >>> gpt2 = get_encoding("gpt2").with_conventions(roles={"eos": "<|endoftext|>"})
        >>> gpt2.conventions
        {'roles': {'eos': '<|endoftext|>'}}
        """
        conventions = self.conventions
        if roles is not None:
            conventions["roles"] = {**conventions.get("roles", {}), **roles}
        if template is not None:
            before, after = template
            conventions["template"] = {"before": list(before), "after": list(after)}
        if chat_template is not None:
            conventions["chat_template"] = chat_template
        check(self, conventions)
        return self._with_conventions(conventions)

    def with_template(self, ids: Iterable[int]) -> list[int]:
        """The ids with those of the template around them, as `add_special_tokens=True` elsewhere.

        Without a template they are as given.

        >>> from bytepair import get_encoding
        >>> gpt2 = get_encoding("gpt2").with_conventions(template=([50256], []))
        >>> gpt2.with_template(gpt2.encode("hello"))
        [50256, 31373]
        """
        template = getattr(self, "_conventions", {}).get("template", {})
        return [*template.get("before", ()), *ids, *template.get("after", ())]

    def _with_conventions(self, conventions: Mapping[str, Any]) -> Self:
        return self._remade(conventions=conventions)

    def _remade(self, **changes: Any) -> Self:
        raise NotImplementedError


def check(tokenizer: Any, conventions: Any) -> None:
    """Refuse conventions that are none. Raises `ArgumentError` naming the part."""
    match conventions:
        case {**parts} if not parts.keys() - {"roles", "template", "chat_template"}:
            pass
        case _:
            message = f"conventions are roles, template and chat_template, not {conventions!r:.80}"
            raise ArgumentError(message)
    known = {**tokenizer.special_tokens, **tokenizer.added_tokens}
    for role, name in _mapping(conventions.get("roles", {}), "roles").items():
        if role not in ROLES or not isinstance(name, str):
            message = f"roles: {role!r:.80} is {name!r:.80}; the roles are {', '.join(ROLES)}"
            raise ArgumentError(message)
        if name not in known:
            message = f"roles: {name!r:.80} ({role}) is neither a special nor an added token"
            raise ArgumentError(message)
    template = _mapping(conventions.get("template", {"before": [], "after": []}), "template")
    if template.keys() != {"before", "after"}:
        message = f"template has before and after, not {list(template)!r:.80}"
        raise ArgumentError(message)
    for side, ids in template.items():
        if not isinstance(ids, list) or any(type(id) is not int for id in ids):
            message = f"template: {side} is {ids!r:.80}, not a list of ids"
            raise ArgumentError(message)
        for id in ids:
            if not 0 <= id < tokenizer.vocab_size:
                message = f"template: {side}: no token has the id {id}"
                raise ArgumentError(message)
    if not isinstance(conventions.get("chat_template", ""), str):
        message = f"chat_template is {conventions['chat_template']!r:.80}, not a str"
        raise ArgumentError(message)


def _mapping(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        message = f"{what} is {value!r:.80}, not a mapping"
        raise ArgumentError(message)
    return value
