"""Seven demonstrations of the lessons, in order, on the sample corpus of the package.

In: a language, ``en`` or ``zh``. Out: printed text; every figure in it is computed on the spot. It
takes some seconds. Run ``python -m bytepair.reference``.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import get_args
from unicodedata import east_asian_width

from .bytemap import spell
from .demo_texts import LANGUAGES
from .merge import Pair
from .pretokenize import default_engine, pretokenize
from .rules import TieBreak
from .special import split_on_special_tokens
from .tokenizer import BPETokenizer
from .train import train_bpe_reference
from .train_incremental import train_bpe_from_text

END = "<|endoftext|>"
SLOW_VOCAB_SIZE = 450  # few merges, because the slow trainer takes part
VOCAB_SIZE = 2_500


def padded(text: str, columns: int) -> str:
    """The text with spaces after it; Chinese characters fill two columns of a terminal."""
    wide = sum(east_asian_width(char) in "WF" for char in text)
    return text + " " * (columns - len(text) - wide)


def is_chinese(text: str) -> bool:
    """Whether at least a fifth of the characters are Chinese."""
    return sum("一" <= char <= "鿿" for char in text) * 5 >= len(text)


def spelled(pairs: Sequence[Pair]) -> str:
    """Pairs as files write them."""
    return "  ".join(f"{spell(left)}+{spell(right)}" for left, right in pairs)


class Demo:
    """The seven demonstrations share a corpus and, from the third on, a tokenizer."""

    def __init__(self, language: str) -> None:
        self.words = LANGUAGES[language]
        corpus = files("bytepair").joinpath("data/sample_corpus.txt").read_text(encoding="utf-8")
        documents = [part for part in split_on_special_tokens(corpus, [END]) if part != END]
        # The longest document of each language is kept from training, to measure compression.
        english = max((text for text in documents if not is_chinese(text)), key=len)
        chinese = max((text for text in documents if is_chinese(text)), key=len)
        self.unseen = {"english": english, "chinese": chinese}
        self.corpus = corpus
        self.documents = documents
        self.training = END.join(text for text in documents if text not in (english, chinese))
        self.tokenizer = BPETokenizer({}, [])

    def run(self) -> None:
        """All seven, in order."""
        size = len(self.corpus.encode())
        self.say("corpus", chars=len(self.corpus), bytes=size, documents=len(self.documents))
        self.pieces()
        self.special()
        self.train()
        self.code()
        self.stream()
        self.files()
        self.speed()

    def say(self, key: str, **values: object) -> None:
        """Print one text of the table; booleans become words, titles get space and a line."""
        words = {
            name: self.words["yes" if value else "no"] if isinstance(value, bool) else value
            for name, value in values.items()
        }
        text = self.words[key].format(**words)
        self.show(f"\n{text}\n{'─' * 72}" if key.endswith(".title") else text)

    def show(self, line: str) -> None:
        """Print a line at once, so that slow parts do not seem to hang."""
        print(line, flush=True)  # noqa: T201

    def pieces(self) -> None:
        """Demonstration 1: pretokenization."""
        self.say("pieces.title")
        self.say("pieces.intro")
        for text in ("Hello, world!  It's 2026.", "我们来分词 3 次。", "x² + ½, Ⅷ"):
            self.show("  " + "|".join(pretokenize(text)))
        exact = pretokenize(self.corpus)
        self.say("pieces.lossless", count=len(exact), same="".join(exact) == self.corpus)
        if default_engine() == "re":
            self.say("pieces.no_regex")
            return
        self.say("pieces.engines")
        for engine in ("regex", "re"):
            self.show(f"  {engine:<6} " + "|".join(pretokenize("x² + ½ of ①", engine=engine)))
        different = set(places(exact)) - set(places(pretokenize(self.corpus, engine="re")))
        self.say("pieces.differ", count=len(different), total=len(exact))

    def special(self) -> None:
        """Demonstration 2: special tokens."""
        self.say("special.title")
        tokens = ["<|end|>", "<|end|><|end|>"]
        text = "Hi<|end|>you<|end|><|end|>"
        as_listed = re.split("(" + "|".join(map(re.escape, tokens)) + ")", text)
        self.say("special.intro", tokens=tokens, text=text)
        self.say("special.listed", parts=[part for part in as_listed if part])
        self.say("special.longest", parts=split_on_special_tokens(text, tokens))
        self.say("special.why")
        leaked = [
            sum(b"<|" in token or b"|>" in token for token in vocab.values()) - len(special)
            for special in ((), (END,))
            for vocab, _ in [train_bpe_from_text(self.training, VOCAB_SIZE, special)]
        ]
        self.say("special.leak", left_in=leaked[0], cut_out=leaked[1])

    def train(self) -> None:
        """Demonstration 3: training."""
        self.say("train.title")
        results = []
        seconds = []
        for trainer in (train_bpe_reference, train_bpe_from_text):
            start = time.perf_counter()
            results.append(trainer(self.training, SLOW_VOCAB_SIZE, [END]))
            seconds.append(time.perf_counter() - start)
        merges = results[1][1]
        self.say(
            "train.equal",
            merges=len(merges),
            slow=seconds[0],
            fast=seconds[1],
            ratio=seconds[0] / seconds[1],
            same=results[0] == results[1],
        )
        self.say("train.first", merges=spelled(merges[:9]))
        start = time.perf_counter()
        vocab, merges = train_bpe_from_text(self.training, VOCAB_SIZE, [END])
        longest = sorted(merges, key=lambda pair: -len(pair[0] + pair[1]))[:6]
        self.say(
            "train.longest",
            size=len(vocab),
            seconds=time.perf_counter() - start,
            tokens=[(left + right).decode(errors="replace") for left, right in longest],
        )
        self.tokenizer = BPETokenizer(vocab, merges, [END])
        self.say("train.ties")
        for rule in get_args(TieBreak)[1:]:
            _, others = train_bpe_from_text(self.training, SLOW_VOCAB_SIZE, [END], tie_break=rule)
            self.compare(rule, others, merges)

    def compare(self, rule: str, others: Sequence[Pair], merges: Sequence[Pair]) -> None:
        """Say where one tie rule first differs from the default."""
        for place, (here, there) in enumerate(zip(others, merges, strict=False), 1):
            if here != there:
                self.say(
                    "train.differs",
                    rule=rule,
                    place=place,
                    here=spelled([here]),
                    there=spelled([there]),
                )
                return
        self.say("train.agrees", rule=rule)

    def code(self) -> None:
        """Demonstration 4: encoding and decoding."""
        tokenizer = self.tokenizer
        self.say("code.title")
        self.say("code.intro")
        texts = ("", "  two  spaces ", "naïve café", "你好，世界", "👩‍👩‍👧 family", "\r\n\t\0", END)
        for text in texts:
            ids = tokenizer.encode(text)
            same = tokenizer.decode(ids) == text
            self.say("code.row", text=padded(repr(text), 28), count=len(ids), same=same)
        ids = tokenizer.encode("🐘")
        self.say("code.half", char="🐘", ids=ids, text=tokenizer.decode(ids[:1]))
        end = tokenizer.special_tokens[END]
        self.say("code.stranger", ids=tokenizer.encode_ordinary(END), id=end)
        for wrong in (lambda: tokenizer.decode([999_999]), lambda: tokenizer.encode("a\ud800")):
            try:
                wrong()
            except ValueError as error:
                self.say("code.error", error=error)
        self.say("code.compression")
        for language, text in self.unseen.items():
            count = len(tokenizer.encode(text))
            size = len(text.encode())
            self.say(
                "code.ratio",
                language=self.words[f"code.{language}"],
                bytes=size,
                ids=count,
                ratio=size / count,
                chars=len(text) / count,
            )

    def stream(self) -> None:
        """Demonstration 5: streaming."""
        self.say("stream.title")
        self.say("stream.intro")
        certain: list[str] = []

        def arriving() -> Iterator[str]:
            for chunk in ("The cat sa", "t on<|end", "oftext|>The", " mat"):
                yield chunk
                # Asked for more: all that is certain after this chunk has been given out.
                self.say("stream.row", chunk=padded(repr(chunk), 14), tokens=certain)
                certain.clear()

        for id_ in self.tokenizer.encode_iterable(arriving()):
            certain.append(self.tokenizer.decode([id_]))
        self.say("stream.row", chunk=padded(self.words["stream.end"], 14), tokens=certain)
        expected = self.tokenizer.encode(self.corpus)
        for size in (1, 7, 4096):
            cut = (self.corpus[i : i + size] for i in range(0, len(self.corpus), size))
            same = list(self.tokenizer.encode_iterable(cut)) == expected
            self.say("stream.equal", size=size, same=same)

    def files(self) -> None:
        """Demonstration 6: saving and loading."""
        self.say("files.title")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "tokenizer.json"
            self.tokenizer.save(path)
            loaded = BPETokenizer.load(path)
            size = path.stat().st_size
        same = loaded.encode(self.corpus) == self.tokenizer.encode(self.corpus)
        self.say("files.saved", bytes=size, same=same)
        tokens = [spell(left + right) for left, right in self.tokenizer.merges[40:50]]
        self.say("files.sample", tokens=" ".join(tokens))

    def speed(self) -> None:
        """Demonstration 7: speed."""
        self.say("speed.title")
        old = self.tokenizer
        megabytes = len(self.corpus.encode()) / 1e6
        without = BPETokenizer(old.vocab, old.merges, [END], cache_size=0)
        cached = BPETokenizer(old.vocab, old.merges, [END])
        rate = 0.0
        for name, tokenizer in (("without", without), ("cold", cached), ("warm", cached)):
            start = time.perf_counter()
            tokenizer.encode(self.corpus)
            seconds = time.perf_counter() - start
            rate = megabytes / seconds
            shown = padded(self.words[f"speed.{name}"], 16)
            self.say("speed.row", name=shown, seconds=seconds, rate=rate)
        pieces = pretokenize(self.corpus)
        self.say("speed.repeat", repeated=1 - len(set(pieces)) / len(pieces))
        for name, size in (("gigabyte", 1_000), ("pile", 825_000)):
            duration = self.duration(size / rate)
            self.say("speed.large", rate=rate, name=self.words[f"speed.{name}"], time=duration)
        self.say("speed.end")

    def duration(self, seconds: float) -> str:
        """A time in the unit that suits it."""
        for unit, length in (("days", 86_400), ("hours", 3_600)):
            if seconds >= length:
                return self.words[f"speed.{unit}"].format(n=seconds / length)
        return self.words["speed.minutes"].format(n=seconds / 60)


def places(pieces: Sequence[str]) -> list[tuple[int, int]]:
    """Where each piece begins and ends."""
    ends = [0]
    for piece in pieces:
        ends.append(ends[-1] + len(piece))
    return list(pairwise(ends))
