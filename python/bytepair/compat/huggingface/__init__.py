"""A fast tokenizer with the calls of transformers, over this package's core.

In: a directory as transformers saves it, one of its fast tokenizers, or a `bytepair.Tokenizer`.
Out: `FastTokenizer`, which is called like a tokenizer of transformers and gives the same ids,
masks, offsets and texts. Neither transformers nor tokenizers is needed; templates for chats need
Jinja2, and arrays need NumPy or PyTorch.

>>> import bytepair
>>> from bytepair.compat.huggingface import FastTokenizer
>>> tokenizer = FastTokenizer(bytepair.get_encoding("gpt2"), pad_token="<|endoftext|>")
>>> tokenizer(["hello", "hello world"], padding=True)["input_ids"]
[[31373, 50256], [31373, 995]]

Byte-level BPE is what it is for, as in GPT-2, Llama 3, Qwen and DeepSeek; what the file of another
tokenizer holds is refused by name. It does not add tokens, train or save: that is done with the
`bytepair.Tokenizer` it is made of (`tokenizer.backend`). Tools that are Python functions, masks of
what an assistant said and words of plain text are left to transformers, and asking for them is an
error that says so.
"""

from bytepair.compat.huggingface._batch import BatchEncoding, CharSpan
from bytepair.compat.huggingface.tokenizer import FastTokenizer

__all__ = ["BatchEncoding", "CharSpan", "FastTokenizer"]
