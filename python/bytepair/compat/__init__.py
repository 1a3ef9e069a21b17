"""Stand-ins for other libraries: their interface over this package's core.

In: code written for tiktoken or for transformers. Out: the same ids from the same calls.
`bytepair.compat.tiktoken` has tiktoken's names, `bytepair.compat.huggingface` the calls of a fast
tokenizer of transformers, and `bytepair.compat.tiktoken_plugin` makes tokenizers of this package
known to tiktoken itself. None of them needs the library that it stands in for, and each says in its
docstring where it differs on purpose.

The rest of the package does not depend on this folder.
"""
