"""tiktoken's interface, at this package's speed and without a network.

In: code that says `import tiktoken`. Out: the same ids, errors and messages, after one changed
line:

>>> from bytepair.compat import tiktoken
>>> encoding = tiktoken.get_encoding("cl100k_base")
>>> encoding.encode("hello world")
[15339, 1917]
>>> tiktoken.encoding_for_model("gpt-4o").name
'o200k_base'

Functions, classes, defaults and the wording of errors are those of tiktoken 0.14, the modules
`core`, `load`, `model`, `registry` and `_educational` included. OpenAI's encodings are in the
package, so nothing is downloaded. Different on purpose:

- Where tiktoken panics, drops text or hangs, there is a `ValueError` or all of the text: two tokens
  of one rank, an empty special token, a special token with the id of another token, a byte that no
  token covers; and text that `pat_str` does not match is encoded as a piece of its own.
- Of special tokens that begin at the same place the longest is taken. tiktoken takes one or the
  other, and not the same in every process.
- The order of the completions of `encode_with_unstable` is sorted, not random.
- A message that is not tiktoken's own, but that of a library under it, may read differently. The
  type of the exception is the same.
"""

from bytepair.compat.tiktoken import core, load, model, registry
from bytepair.compat.tiktoken.core import Encoding
from bytepair.compat.tiktoken.model import encoding_for_model, encoding_name_for_model
from bytepair.compat.tiktoken.registry import get_encoding, list_encoding_names

__all__ = [
    "Encoding",
    "core",
    "encoding_for_model",
    "encoding_name_for_model",
    "get_encoding",
    "list_encoding_names",
    "load",
    "model",
    "registry",
]

__version__ = "0.14.0"
"""The version of tiktoken whose interface this is."""
