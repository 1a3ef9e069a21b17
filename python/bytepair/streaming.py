"""Streams that a caller feeds: ids to text, and text to ids.

In: a tokenizer's ids or text, part by part. Out: the text or the ids that are certain. This class
is the part of `Tokenizer` that makes such streams; a stream itself is the core's. Costs what the
one-shot calls cost, in memory that does not grow. It reads no files (`encode_iterable` takes one).
"""

from __future__ import annotations

from collections.abc import Iterable

from bytepair import _core
from bytepair._core import ByteStreamDecoder, StreamDecoder, StreamEncoder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal, overload

__all__ = ["ByteStreamDecoder", "StreamDecoder", "StreamEncoder", "Streaming"]


class Streaming(_core.Tokenizer):
    """The methods of `Tokenizer` that stream."""

    __slots__ = ()

    if TYPE_CHECKING:

        @overload
        def stream_decoder(
            self,
            prompt_ids: Iterable[int] | None = None,
            *,
            errors: str = "replace",
            bytes_mode: Literal[False] = False,
        ) -> StreamDecoder: ...

        @overload
        def stream_decoder(
            self,
            prompt_ids: Iterable[int] | None = None,
            *,
            errors: str = "replace",
            bytes_mode: Literal[True],
        ) -> ByteStreamDecoder: ...

    def stream_decoder(
        self,
        prompt_ids: Iterable[int] | None = None,
        *,
        errors: str = "replace",
        bytes_mode: bool = False,
    ) -> StreamDecoder | ByteStreamDecoder:
        r"""A stream that turns ids, as they come, into text.

        `feed` takes an id or several and gives the text that is now certain; `finish` gives the
        rest. The texts joined are `decode` of all ids: no character is split, none that is complete
        is held back, and a real U+FFFD is text like any other.

        Args:
            prompt_ids: ids that the stream goes on from. Their text is not given; if they end
                inside a character, the first ids fed complete it.
            errors: what becomes of bytes that are not UTF-8: `"replace"`, `"ignore"` or `"strict"`.
            bytes_mode: give bytes instead of text, all of each token at once; `errors` then says
                nothing.

        Raises `UnknownTokenError` for an id that no token has; `feed` does, too.

        >>> from bytepair import get_encoding
        >>> stream = get_encoding("gpt2").stream_decoder()
        >>> [stream.feed(id) for id in [31373, 12520, 234, 114]], stream.finish()
        (['hello', ' ', '', '🌶'], '')
        >>> get_encoding("gpt2").stream_decoder(bytes_mode=True).feed([12520, 234])
        b' \xf0\x9f\x8c'
        """
        _check_errors(errors)
        if bytes_mode:
            return ByteStreamDecoder(self, prompt_ids)
        return StreamDecoder(self, prompt_ids, errors=errors)

    def decode_iterable(self, ids: Iterable[int], *, errors: str = "replace") -> Iterator[str]:
        """The text of ids that come one by one, in parts that never split a character.

        The parts joined are `decode(ids, errors=errors)`; `errors` is as in `stream_decoder`.

        >>> from bytepair import get_encoding
        >>> list(get_encoding("gpt2").decode_iterable([31373, 12520, 234, 114]))
        ['hello', ' ', '🌶']
        """
        if not isinstance(ids, Iterable):
            message = f"ids must be an iterable of int, not {type(ids).__name__}"
            raise TypeError(message)
        return _parts(self.stream_decoder(errors=errors), ids)

    def stream_encoder(
        self,
        *,
        allowed_special: Iterable[str] | Literal["all"] = "all",
        disallowed_special: Iterable[str] | Literal["all"] = (),
        errors: str = "strict",
    ) -> StreamEncoder:
        """A stream that turns text, as it comes, into ids.

        `feed` takes a chunk and gives the ids that no text to come can change; `finish` gives the
        rest. Together they are the ids of the whole text, for every chunking. What is held back is
        said at `encode_iterable`, which does the same for an iterable; the options are those of
        `encode`.

        >>> from bytepair import get_encoding
        >>> stream = get_encoding("gpt2").stream_encoder()
        >>> [stream.feed(text) for text in ("hello wor", "ld<|endof", "text|>")], stream.finish()
        ([[31373], [], [995, 50256]], [])
        """
        _check_errors(errors)
        return StreamEncoder(
            self,
            allowed_special=allowed_special,
            disallowed_special=disallowed_special,
            errors=errors,
        )


def _check_errors(errors: object) -> None:
    if not isinstance(errors, str):
        message = f'errors must be str, such as "replace", not {type(errors).__name__}'
        raise TypeError(message)


def _parts(stream: StreamDecoder, ids: Iterable[int]) -> Iterator[str]:
    for id in ids:
        if text := stream.feed(id):
            yield text
    if text := stream.finish():
        yield text
