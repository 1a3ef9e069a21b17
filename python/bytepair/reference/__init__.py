"""BPE tokenization in plain Python, written to be read from top to bottom.

It needs the standard library only, plus ``regex`` where that is installed, and it never uses the
fast half of the package: it is the definition the fast half is tested against. Read in this order:

1. `special`: special tokens, and why the longest goes first
2. `pretokenize`: cutting text into pieces
3. `merge`: the definition of BPE (with `bytemap`, how files spell bytes)
4. `rules` and `train`: learning merges, slow and obviously right
5. `train_incremental`: the same result, fast enough for a course assignment
6. `tokenizer`: encode, decode, save, load
7. `stream`: encoding text that arrives in parts
8. `simple`: a character-level tokenizer and what its simplicity costs
9. `characters`: merging that begins with characters and falls back to bytes

``python -m bytepair.reference`` shows all of it at work; ``--lang zh`` does so in Chinese.

>>> vocab, merges = train_bpe_from_text("low low lower lowest<|end|>", 261, ["<|end|>"])
>>> tokenizer = BPETokenizer(vocab, merges, ["<|end|>"])
>>> tokenizer.token_strings("lower<|end|>")
['low', 'e', 'r', '<|end|>']
>>> tokenizer.decode(tokenizer.encode("lower<|end|>"))
'lower<|end|>'
"""

from .bytemap import bytes_to_unicode
from .characters import merge_characters, ranks_of_pairs, ranks_of_scores
from .dropout import chances, merge_with_dropout
from .merge import merge_by_pairs, merge_by_ranks, merge_word
from .pretokenize import CL100K, GPT2, O200K, PATTERNS, pretokenize
from .rules import Rules, build_vocab
from .simple import BPETokenizerSimple
from .special import split_on_special_tokens
from .stream import stream_pieces
from .tokenizer import BPETokenizer
from .train import count_pretokens, learn_merges_slowly, train_bpe_reference
from .train_incremental import learn_merges, train_bpe, train_bpe_from_text

__all__ = [
    "CL100K",
    "GPT2",
    "O200K",
    "PATTERNS",
    "BPETokenizer",
    "BPETokenizerSimple",
    "Rules",
    "build_vocab",
    "bytes_to_unicode",
    "chances",
    "count_pretokens",
    "learn_merges",
    "learn_merges_slowly",
    "merge_by_pairs",
    "merge_by_ranks",
    "merge_characters",
    "merge_with_dropout",
    "merge_word",
    "pretokenize",
    "ranks_of_pairs",
    "ranks_of_scores",
    "split_on_special_tokens",
    "stream_pieces",
    "train_bpe",
    "train_bpe_from_text",
    "train_bpe_reference",
]
