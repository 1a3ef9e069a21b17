"""`Encoding`: tiktoken's class over a `bytepair.Tokenizer`.

In: text, or ids. Out: ids, or text, as tiktoken gives them. The class keeps tiktoken's choices
where they are not this package's: special tokens are refused by default, lone surrogates become
U+FFFD, and an unknown id is a `KeyError`. Costs a little Python for each call over what the
tokenizer costs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from bytepair import _core
from bytepair.compat.tiktoken import _special, _unstable
from bytepair.compat.tiktoken._arguments import (
    RANGE,
    NotASet,
    Parts,
    explain,
    id_of,
    is_sequence,
    not_a,
    thread_count,
)
from bytepair.errors import UnknownTokenError
from bytepair.formats import tiktoken as ranks_format
from bytepair.patterns import pretokenize, regex

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from bytepair.tokenizer import Tokenizer

__all__ = ["Encoding"]

_Decoded = TypeVar("_Decoded", str, bytes)

Allowed = Literal["all"] | AbstractSet[str]
Disallowed = Literal["all"] | Collection[str]


class Encoding:
    """An encoding, as tiktoken has it.

    Args:
        name: what to call it.
        pat_str: the regular expression that cuts text into pieces.
        mergeable_ranks: token bytes → rank, which is its id and its place in the order of merging.
        special_tokens: text of a special token → id.
        explicit_n_vocab: how many tokens there must be, to be checked.

    Raises `AssertionError` when `explicit_n_vocab` is not their number, and `ValueError` for a
    regular expression that cannot be used or tokens that do not fit together.

    >>> ranks = {b"a": 0, b"b": 1, b"ab": 2}
    >>> Encoding("tiny", pat_str=".+", mergeable_ranks=ranks, special_tokens={}).encode("abba")
    [2, 1, 0]
    """

    name: str
    max_token_value: int
    _tokenizer: Tokenizer

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: dict[bytes, int],
        special_tokens: dict[str, int],
        explicit_n_vocab: int | None = None,
    ) -> None:
        """Build an encoding; see the class."""
        highest = max(max(mergeable_ranks.values()), max(special_tokens.values(), default=0))
        if explicit_n_vocab and (
            len(mergeable_ranks) + len(special_tokens) != explicit_n_vocab
            or highest != explicit_n_vocab - 1
        ):
            raise AssertionError(
                f"explicit_n_vocab is {explicit_n_vocab}, and there are {len(mergeable_ranks)} "
                f"ranks and {len(special_tokens)} special tokens, the highest id being {highest}; "
                "leave it out for no check"
            )
        if not isinstance(pat_str, str):
            raise not_a("str", pat_str)
        for id in (*mergeable_ranks.values(), *special_tokens.values()):
            if id < 0 or id >> 32:
                raise OverflowError(RANGE)
        self.name = name
        self.max_token_value = highest
        self._pat_str = pat_str
        self._mergeable_ranks = mergeable_ranks
        self._special_tokens = special_tokens
        parts: Any = Parts(mergeable_ranks, special_tokens, pat_str)
        self._tokenizer = ranks_format.from_encoding(parts)

    @classmethod
    def _of(cls, tokenizer: Tokenizer, name: str) -> Encoding:
        """The encoding of a tokenizer that merges by rank, whose table is made when asked for."""
        encoding = cls.__new__(cls)
        encoding.name = name
        encoding._tokenizer = tokenizer
        encoding._special_tokens = tokenizer.special_tokens
        encoding.max_token_value = tokenizer.vocab_size - 1
        return encoding

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    # ── Encoding ──────────────────────────────────────────────────────────────────────────────────

    def encode_ordinary(self, text: str) -> list[int]:
        """The ids of `text`, in which special tokens are plain text.

        >>> from bytepair.compat import tiktoken
        >>> tiktoken.get_encoding("gpt2").encode_ordinary("hello world")
        [31373, 995]
        """
        if not isinstance(text, str):
            raise not_a("str", text)
        return self._tokenizer.encode_ordinary(text, errors="replace")

    def encode(
        self,
        text: str,
        *,
        allowed_special: Allowed = set(),  # noqa: B006
        disallowed_special: Disallowed = "all",
    ) -> list[int]:
        """The ids of `text`.

        Args:
            text: the text. Surrogates are joined to characters, lone ones become U+FFFD.
            allowed_special: special tokens to recognise: a set, or `"all"`.
            disallowed_special: texts to refuse: a collection, or `"all"` for the special tokens
                that are not allowed. With `()` those are plain text.

        Raises `ValueError` for a text that holds what is disallowed.

        >>> from bytepair.compat import tiktoken
        >>> gpt2 = tiktoken.get_encoding("gpt2")
        >>> gpt2.encode("<|endoftext|>", allowed_special="all")
        [50256]
        >>> gpt2.encode("<|endoftext|>", disallowed_special=())
        [27, 91, 437, 1659, 5239, 91, 29]
        """
        allowed, forbidden = self._policy(allowed_special, disallowed_special)
        _special.check(text, forbidden)
        if not isinstance(text, str):
            raise not_a("str", text)
        if isinstance(allowed, NotASet):
            raise not_a("set", allowed.value)
        if not allowed:
            return self._tokenizer.encode_ordinary(text, errors="replace")
        return self._tokenizer.encode(text, allowed_special=allowed, errors="replace")

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: Allowed = set(),  # noqa: B006
        disallowed_special: Disallowed = "all",
    ) -> npt.NDArray[np.uint32]:
        """The ids of `text` as a read-only array of uint32.

        The options are those of `encode`. Raises what `encode` raises, and `UnicodeEncodeError` for
        a surrogate.

        >>> from bytepair.compat import tiktoken
        >>> tiktoken.get_encoding("gpt2").encode_to_numpy("hello world")
        array([31373,   995], dtype=uint32)
        """
        allowed = self._checked(text, allowed_special, disallowed_special)
        ids: Any = self._tokenizer.encode_numpy(text, allowed_special=allowed)
        ids.flags.writeable = False
        return ids  # type: ignore[no-any-return]

    def encode_ordinary_batch(self, text: list[str], *, num_threads: int = 8) -> list[list[int]]:
        """The ids of each text, in `num_threads` threads; special tokens are plain text.

        >>> from bytepair.compat import tiktoken
        >>> tiktoken.get_encoding("gpt2").encode_ordinary_batch(["hello world", "goodbye world"])
        [[31373, 995], [11274, 16390, 995]]
        """
        workers = thread_count(num_threads)
        texts = list(text)
        for one in texts:
            if not isinstance(one, str):
                raise not_a("str", one)
        return self._tokenizer.encode_batch(
            texts, threads=workers, allowed_special=(), errors="replace"
        )

    def encode_batch(
        self,
        text: list[str],
        *,
        num_threads: int = 8,
        allowed_special: Allowed = set(),  # noqa: B006
        disallowed_special: Disallowed = "all",
    ) -> list[list[int]]:
        """The ids of each text, in `num_threads` threads; the options are those of `encode`.

        >>> from bytepair.compat import tiktoken
        >>> tiktoken.get_encoding("gpt2").encode_batch(["hello world", "goodbye world"])
        [[31373, 995], [11274, 16390, 995]]
        """
        allowed, forbidden = self._policy(allowed_special, disallowed_special)
        workers = thread_count(num_threads)
        texts = list(text)
        for one in texts:
            _special.check(one, forbidden)
            if not isinstance(one, str):
                raise not_a("str", one)
            if isinstance(allowed, NotASet):
                raise not_a("set", allowed.value)
        return self._tokenizer.encode_batch(
            texts,
            threads=workers,
            allowed_special=() if isinstance(allowed, NotASet) else allowed,
            errors="replace",
        )

    def encode_with_unstable(
        self,
        text: str,
        *,
        allowed_special: Allowed = set(),  # noqa: B006
        disallowed_special: Disallowed = "all",
    ) -> tuple[list[int], list[list[int]]]:
        """The ids that no text after `text` can change, and all that may come instead of the rest.

        The completions are sequences of ids, each of which covers what is left of `text` and may go
        on behind it. The options are those of `encode`; what is raised is that of
        `encode_to_numpy`.

        >>> from bytepair.compat import tiktoken
        >>> gpt2 = tiktoken.get_encoding("gpt2")
        >>> stable, completions = gpt2.encode_with_unstable("hello fanta")
        >>> stable, [8842] in completions, gpt2.decode([8842])
        ([31373], True, ' fantasy')
        """
        allowed = self._checked(text, allowed_special, disallowed_special)
        # Raises for a surrogate, as tiktoken does here.
        text.encode()
        return _unstable.encode(self._tokenizer, text, allowed)

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """The id of a token, special tokens included. Raises `KeyError` when it is none.

        >>> from bytepair.compat import tiktoken
        >>> tiktoken.get_encoding("gpt2").encode_single_token("hello")
        31373
        """
        token = text_or_bytes.encode() if isinstance(text_or_bytes, str) else text_or_bytes
        if not isinstance(token, bytes):
            raise not_a("bytes", token)
        id = self._tokenizer._model.id(token) if token else None
        if id is None:
            id = self._special_bytes.get(token)
        if id is None:
            raise KeyError(token)
        return id

    # ── Decoding ──────────────────────────────────────────────────────────────────────────────────

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """The bytes of ids. Raises `KeyError` for an id that no token has.

        >>> from bytepair.compat import tiktoken
        >>> tiktoken.get_encoding("gpt2").decode_bytes([31373, 995])
        b'hello world'
        """
        return self._decoded(tokens, self._tokenizer.decode_bytes)

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """The text of ids; `errors` says what becomes of bytes that are not UTF-8.

        >>> from bytepair.compat import tiktoken
        >>> tiktoken.get_encoding("gpt2").decode([31373, 995])
        'hello world'
        """
        if errors == "replace":
            return self._decoded(tokens, self._tokenizer.decode)
        return self.decode_bytes(tokens).decode("utf-8", errors=errors)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """The bytes of one token. Raises `KeyError` when no token has the id.

        >>> from bytepair.compat import tiktoken
        >>> tiktoken.get_encoding("gpt2").decode_single_token_bytes(31373)
        b'hello'
        """
        try:
            return self._tokenizer.token_bytes(token)
        except (UnknownTokenError, TypeError):
            raise KeyError(str(id_of(token))) from None

    def decode_tokens_bytes(self, tokens: Iterable[int]) -> list[bytes]:
        """The bytes of each token.

        >>> from bytepair.compat import tiktoken
        >>> tiktoken.get_encoding("gpt2").decode_tokens_bytes([31373, 995])
        [b'hello', b' world']
        """
        return [self.decode_single_token_bytes(token) for token in tokens]

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """The text of ids and the character at which each token begins.

        A token that begins inside a character has the offset of that character. Raises
        `UnicodeDecodeError` when the bytes are not UTF-8.

        >>> from bytepair.compat import tiktoken
        >>> tiktoken.get_encoding("gpt2").decode_with_offsets([31373, 995])
        ('hello world', [0, 5])
        """
        parts = self.decode_tokens_bytes(tokens)
        text = b"".join(parts).decode()
        offsets = []
        begun = 0
        for part in parts:
            inside = 0x80 <= part[0] < 0xC0
            offsets.append(max(0, begun - inside))
            begun += len(part) - sum(0x80 <= byte < 0xC0 for byte in part)
        return text, offsets

    def decode_batch(
        self, batch: Sequence[Sequence[int]], *, errors: str = "replace", num_threads: int = 8
    ) -> list[str]:
        """The text of each sequence of ids.

        >>> from bytepair.compat import tiktoken
        >>> tiktoken.get_encoding("gpt2").decode_batch([[31373], [995]])
        ['hello', ' world']
        """
        thread_count(num_threads)
        return [self.decode(tokens, errors) for tokens in batch]

    def decode_bytes_batch(
        self, batch: Sequence[Sequence[int]], *, num_threads: int = 8
    ) -> list[bytes]:
        """The bytes of each sequence of ids.

        >>> from bytepair.compat import tiktoken
        >>> tiktoken.get_encoding("gpt2").decode_bytes_batch([[31373], [995]])
        [b'hello', b' world']
        """
        thread_count(num_threads)
        return [self.decode_bytes(tokens) for tokens in batch]

    # ── What it is made of ────────────────────────────────────────────────────────────────────────

    def token_byte_values(self) -> list[bytes]:
        r"""The bytes of all tokens that are not special, sorted.

        >>> from bytepair.compat import tiktoken
        >>> tiktoken.get_encoding("gpt2").token_byte_values()[-1]
        b'\xff'
        """
        return sorted(token for _, token in self._tokenizer._model.items())

    @property
    def eot_token(self) -> int:
        """The id of `<|endoftext|>`. Raises `KeyError` when there is none."""
        return self._special_tokens["<|endoftext|>"]

    @functools.cached_property
    def special_tokens_set(self) -> set[str]:
        """The texts of the special tokens."""
        return set(self._special_tokens)

    def is_special_token(self, token: int) -> bool:
        """Whether this is the id of a special token.

        >>> from bytepair.compat import tiktoken
        >>> tiktoken.get_encoding("gpt2").is_special_token(50256)
        True
        """
        if not isinstance(token, int):
            raise AssertionError  # noqa: TRY004 - this is what tiktoken raises
        return token in self._special_token_values

    @property
    def n_vocab(self) -> int:
        """`max_token_value + 1`."""
        return self.max_token_value + 1

    @functools.cached_property
    def _pat_str(self) -> str:
        """The pattern, in the spelling that every engine reads alike."""
        return str(regex(self._tokenizer.pattern))

    @functools.cached_property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        return {token: id for id, token in self._tokenizer._model.items()}

    @functools.cached_property
    def _special_token_values(self) -> set[int]:
        return set(self._special_tokens.values())

    @functools.cached_property
    def _special_bytes(self) -> dict[bytes, int]:
        return {name.encode(): id for name, id in self._special_tokens.items()}

    @functools.cached_property
    def _forbidden(self) -> _special.Finder | None:
        """What a text must not hold when nothing is said."""
        return _special.finder(frozenset(self._special_tokens))

    # ── What tiktoken's own tests and tools reach for ─────────────────────────────────────────────

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        """The ids of a text or bytes that are one piece."""
        piece = text_or_bytes.encode() if isinstance(text_or_bytes, str) else text_or_bytes
        if not isinstance(piece, bytes):
            raise not_a("bytes", piece)
        return _core.merge_piece(self._tokenizer, piece)

    def _encode_only_native_bpe(self, text: str) -> list[int]:
        """The ids of `text`, cut into pieces in one step and merged in another."""
        ids = []
        for piece in pretokenize(text, self._tokenizer.pattern):
            ids.extend(_core.merge_piece(self._tokenizer, piece.encode()))
        return ids

    def _encode_bytes(self, text: bytes) -> list[int]:
        """The ids of bytes, where what follows the last valid character joins the last piece."""
        if not isinstance(text, bytes):
            raise not_a("bytes", text)
        return _unstable.encode_bytes(self._tokenizer, text)

    def __getstate__(self) -> object:
        from bytepair.compat.tiktoken import registry

        if registry.ENCODINGS.get(self.name) is self:
            return self.name
        return {
            "name": self.name,
            "pat_str": self._pat_str,
            "mergeable_ranks": self._mergeable_ranks,
            "special_tokens": self._special_tokens,
        }

    def __setstate__(self, state: Any) -> None:
        from bytepair.compat.tiktoken import registry

        if isinstance(state, str):
            self.__dict__ = registry.get_encoding(state).__dict__
        else:
            Encoding.__init__(self, **state)

    # ── Arguments ─────────────────────────────────────────────────────────────────────────────────

    def _policy(
        self, allowed_special: Allowed, disallowed_special: Disallowed
    ) -> tuple[AbstractSet[str] | Literal["all"] | NotASet, _special.Finder | None]:
        """The special tokens to recognise (`"all"`, or what is given), and what to refuse."""
        if isinstance(allowed_special, str) and allowed_special == "all":
            if isinstance(disallowed_special, str) and disallowed_special == "all":
                return "all", None
            return "all", _special.finder_of(disallowed_special)
        if isinstance(disallowed_special, str) and disallowed_special == "all":
            if not allowed_special and isinstance(allowed_special, set | frozenset):
                return allowed_special, self._forbidden
            disallowed_special = self.special_tokens_set - allowed_special
        forbidden = _special.finder_of(disallowed_special)
        if not isinstance(allowed_special, set | frozenset):
            # An error, but not before the text has been looked at.
            return NotASet(allowed_special), forbidden
        return allowed_special, forbidden

    def _checked(
        self, text: str, allowed_special: Allowed, disallowed_special: Disallowed
    ) -> AbstractSet[str] | Literal["all"]:
        """The special tokens to recognise in `text`, which has been looked at."""
        allowed, forbidden = self._policy(allowed_special, disallowed_special)
        _special.check(text, forbidden)
        if not isinstance(text, str):
            raise not_a("str", text)
        if isinstance(allowed, NotASet):
            raise not_a("set", allowed.value)
        return allowed

    def _decoded(self, tokens: Sequence[int], decode: Callable[[Any], _Decoded]) -> _Decoded:
        if not is_sequence(tokens):
            raise not_a("Sequence", tokens)
        try:
            return decode(tokens)
        except (UnknownTokenError, TypeError):
            explain(tokens, self._tokenizer)
