"""Tokenizers from the Hugging Face Hub, through `huggingface_hub` and its cache.

In: the name of a repository. Out: its `Tokenizer`. This is the only use of a network in the
package, and only where it is asked for; what is in the cache is not fetched again, and
`local_files_only` or the environment's `HF_HUB_OFFLINE=1` keeps to it.
"""

from __future__ import annotations

import errno
import os

from bytepair import _core
from bytepair.errors import ArgumentError, FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from typing_extensions import Unpack

    from bytepair.formats import LoadOptions
    from bytepair.tokenizer import Tokenizer

__all__ = ["FILES", "Hub", "located"]

FILES: tuple[tuple[str, ...], ...] = (
    ("tokenizer.json",),
    ("tekken.json",),
    ("tokenizer.model", "tokenizer.model.v3", "tokenizer.model.v1"),
    ("vocab.json", "merges.txt"),
    ("encoder.json", "vocab.bpe"),
)
"""What a tokenizer is looked for in, in this order; in the third any one of the names will do."""

_ENDINGS = (".json", ".model", ".tiktoken", ".gguf", ".txt", ".bpe")
_BESIDE = ("tokenizer_config.json", "special_tokens_map.json", "chat_template.jinja")


class Hub(_core.Tokenizer):
    """The method of `Tokenizer` that takes one from the Hub."""

    __slots__ = ()

    @classmethod
    def from_pretrained(
        cls,
        name: str | os.PathLike[str],
        *,
        revision: str | None = None,
        token: str | bool | None = None,
        local_files_only: bool = False,
        **options: Unpack[LoadOptions],
    ) -> Tokenizer:
        """The tokenizer of a repository on the Hugging Face Hub.

        Args:
            name: `"organization/name"`, or a directory or file on this machine.
            revision: a branch, a tag or a commit; by default the main branch.
            token: a token for repositories that ask for one, as in `huggingface_hub`.
            local_files_only: take what is in the cache, and ask no network.
            options: as in `Tokenizer.load`.

        Raises `ImportError` without `huggingface_hub`, `FormatError` when the repository has no
        tokenizer that is read here, `FileNotFoundError` for a path where nothing is, and what
        `huggingface_hub` raises when it cannot be reached.
        """
        from bytepair import formats

        name = os.fspath(name)
        if os.path.exists(name):
            return formats.load(name, **options)
        path = located(name, revision=revision, token=token, local_files_only=local_files_only)
        return formats.load(path, **options)


def located(
    name: str,
    *,
    revision: str | None = None,
    token: str | bool | None = None,
    local_files_only: bool = False,
) -> str:
    """The file or directory of a repository's tokenizer, in the cache of `huggingface_hub`.

    The arguments, and what is raised, are those of `Tokenizer.from_pretrained`.
    """
    if name.startswith(("/", "./", "../", "~")) or "\\" in name or name.endswith(_ENDINGS):
        reason = "No such file or directory on this machine, and no name of a repository"
        raise FileNotFoundError(errno.ENOENT, reason, name)
    if name.count("/") > 1 or not name.strip("/"):
        message = (
            f"{name!r:.80} is neither a directory on this machine nor the name of a repository, "
            "which is like 'organization/name'"
        )
        raise ArgumentError(message)
    options = {"revision": revision, "token": token, "local_files_only": local_files_only}
    try:
        path = _first(_fetcher(name, options))
    except OSError as error:
        # Python 3.10 has no notes.
        if hasattr(error, "add_note"):
            error.add_note(f"there is no directory {name!r} on this machine, so the Hub was asked")
        raise
    if path is None:
        where = "in the cache" if local_files_only else "in the repository"
        wanted = ", ".join(names[0] for names in FILES)
        message = f"{name}: no tokenizer {where}: none of {wanted}"
        raise FormatError(message)
    return path


def _fetcher(name: str, options: dict[str, Any]) -> Callable[[str], str | None]:
    """What gets a file of a repository, or `None` where it is not there."""
    try:
        import huggingface_hub
        from huggingface_hub import constants, errors
    except ImportError as error:
        message = (
            "from_pretrained needs huggingface_hub; install bytepair[hf], or load a file that is "
            "on this machine with Tokenizer.load"
        )
        raise ImportError(message) from error

    def fetch(file: str) -> str | None:
        try:
            return str(huggingface_hub.hf_hub_download(name, file, **options))
        except errors.LocalEntryNotFoundError:
            # In the cache alone, a file that is not there looks like one that was not fetched.
            if options["local_files_only"] or constants.HF_HUB_OFFLINE:
                return None
            raise
        except errors.EntryNotFoundError:
            return None

    return fetch


def _first(fetch: Callable[[str], str | None]) -> str | None:
    """The file, or the directory of the files, of the first tokenizer that is there."""
    for names in FILES:
        if len(names) == 2:
            found = [path for file in names if (path := fetch(file)) is not None]
            if len(found) == len(names):
                return os.path.dirname(found[0])
            continue
        for file in names:
            path = fetch(file)
            if path is not None and file == "tokenizer.json":
                for other in _BESIDE:
                    fetch(other)
                return os.path.dirname(path)
            if path is not None:
                return path
    return None
