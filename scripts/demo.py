"""A tour of bytepair on real text; `make demo` runs it.

Trains on the sample corpus of the package, measures and shows what was learned, encodes and decodes
text that was not in the corpus, checks the trainer against the slow reference, and trains again on
the source files of the Python standard library that lie on this machine. Writes nothing but a
temporary file. Takes well under a minute.
"""

from __future__ import annotations

import importlib.util
import sys
import sysconfig
import tempfile
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

import bytepair
from bytepair import reference

ENGLISH = """\
The bus to the reservoir leaves at ten past seven, and if you miss it there is nothing until noon. \
Dana missed it by the length of one shoelace. She watched it turn the corner, said a word that her \
grandmother would not have liked, and sat down on the wall to count her change.

Two euros and forty cents. Enough for a coffee, not enough for a taxi, and exactly enough, it \
turned out, for the old man with the tandem, who was looking for somebody to pedal.
"""
CHINESE = """\
去水库的早班车七点十分开，错过了就要等到中午。小丹因为系鞋带，只差了一步。她看着车转过街角，叹了口气，坐在矮墙上数零钱。

一共二十四块。买杯咖啡够了，打车不够。这时来了一位骑双人自行车的老先生，笑着问她：“你愿意在后面帮我踩吗？水库的风景，可比车上好看多了。”
"""
SENTENCES = {
    "English": "She learned to tokenize text before breakfast.",
    "Chinese": "她在早饭之前学会了怎样切分文字。",
    "emoji": "3 cups of tea ☕☕☕, please 🙏🏽",
}
SEPARATOR = "<|endoftext|>"


def main() -> None:
    """Run the steps in order."""
    print(f"bytepair {bytepair.__version__}: a tour in six steps")
    sample = sample_corpus()
    tokenizer = train_on_sample(sample)
    show_compression(tokenizer)
    show_encoding(tokenizer)
    compare_with_reference(sample)
    train_on_standard_library(tokenizer)
    print_next()


def sample_corpus() -> Path:
    """Return the path of the corpus that ships in the package."""
    return Path(str(resources.files("bytepair") / "data" / "sample_corpus.txt"))


def train_on_sample(sample: Path) -> bytepair.Tokenizer:
    """Step 1: learn a vocabulary of 2,000 tokens and show its longest ones."""
    title(1, "Train on the sample corpus of the package")
    text = sample.read_text(encoding="utf-8")
    documents = text.count(SEPARATOR) + 1
    say(f"{documents} documents in English and Chinese, {size(len(text.encode()))}")
    with bar() as progress, Stopwatch() as elapsed:
        tokenizer = bytepair.train(sample, 2_000, special_tokens=[SEPARATOR], progress=progress)
    say(
        f"learned {len(tokenizer.merges):,} merges in {elapsed():.2f} s: with 256 bytes and "
        f"{len(tokenizer.special_tokens)} special token a vocabulary of {tokenizer.vocab_size:,}"
    )
    say("the first merges:   " + ", ".join(quoted(a + b) for a, b in tokenizer.merges[:12]))
    learned = [a + b for a, b in tokenizer.merges]
    say("the longest tokens: " + ", ".join(quoted(t) for t in sorted(learned, key=len)[:-9:-1]))
    return tokenizer


def show_compression(tokenizer: bytepair.Tokenizer) -> None:
    """Step 2: bytes per token on text that was not in the corpus, beside OpenAI's vocabularies."""
    title(2, "Measure it on text that it has not seen")
    tokenizers = {
        f"this one, {tokenizer.vocab_size:,} tokens": tokenizer,
        **{name: bytepair.get_encoding(name) for name in ("gpt2", "cl100k_base", "o200k_base")},
    }
    rows = [("bytes per token (more is better)", "English", "Chinese")]
    rows += [
        (name, *(f"{len(text.encode()) / each.count(text):.2f}" for text in (ENGLISH, CHINESE)))
        for name, each in tokenizers.items()
    ]
    table(rows)
    say("OpenAI's vocabularies are bundled: nothing was downloaded")


def show_encoding(tokenizer: bytepair.Tokenizer) -> None:
    """Step 3: text → ids → text, and what a special token is."""
    title(3, "Encode and decode")
    for text in (*SENTENCES.values(), f"one document{SEPARATOR}another"):
        ids = tokenizer.encode(text)
        if tokenizer.decode(ids) != text:
            sys.exit(f"the ids of {text!r} decode to {tokenizer.decode(ids)!r}")
        say(f"text   {text}")
        say("tokens " + "│".join(tokenizer.token_strings(text)))
        say(f"ids    {shortened(ids)}  decoded: the same text")
        print()
    say("� marks a byte of a character that was too rare to become a token")
    plain = tokenizer.encode_ordinary(SEPARATOR)
    say(f"{SEPARATOR} is one id when it is meant, {tokenizer.encode(SEPARATOR)},")
    say(f"and plain text in encode_ordinary: {shortened(plain)}")


def compare_with_reference(sample: Path) -> None:
    """Step 4: the fast trainer and the readable one learn the same merges."""
    title(4, "Prove the fast trainer equal to the slow one")
    text = sample.read_text(encoding="utf-8")
    size_wanted = 800
    with Stopwatch() as slow:
        expected = reference.train_bpe_reference(text, size_wanted, [SEPARATOR])
    with Stopwatch() as fast:
        found = bytepair.train_bpe_from_text(text, size_wanted, [SEPARATOR])
    if found != expected:
        sys.exit("the two trainers disagree: please report this")
    table(
        [
            (f"{len(expected[1])} merges on the sample corpus", "seconds"),
            ("bytepair.reference, which counts all pairs anew at each step", f"{slow():.3f}"),
            (f"bytepair, {slow() / fast():,.0f} times as fast", f"{fast():.3f}"),
        ]
    )
    say("the same merges in the same order, the same vocabulary")


def train_on_standard_library(small: bytepair.Tokenizer) -> None:
    """Step 5: megabytes of Python, and what a vocabulary of its own is worth."""
    title(5, "Train on the Python standard library of this machine")
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "standard_library.txt"
        files = gather_standard_library(corpus)
        amount = corpus.stat().st_size
        say(f"{files:,} source files, {size(amount)}")
        with bar() as progress, Stopwatch() as training:
            tokenizer = bytepair.train(
                corpus, 16_000, special_tokens=[SEPARATOR], progress=progress
            )
        text = corpus.read_text(encoding="utf-8")
    with Stopwatch() as encoding:
        ids = tokenizer.encode_batch(text.split(SEPARATOR))
    with Stopwatch() as decoding:
        same = SEPARATOR.join(tokenizer.decode_batch(ids)) == text
    if not same:
        sys.exit("the ids of the standard library do not decode to it: please report this")
    table(
        [
            ("", "seconds", "MB/s"),
            (f"train {tokenizer.vocab_size:,} tokens", *speed(amount, training())),
            (f"encode into {sum(map(len, ids)):,} ids", *speed(amount, encoding())),
            ("decode, and the text is the same", *speed(amount, decoding())),
        ]
    )
    own_source = Path(__file__).read_text(encoding="utf-8")
    rivals = {
        "trained on the sample corpus": small,
        "trained on the standard library": tokenizer,
        "gpt2": bytepair.get_encoding("gpt2"),
        "o200k_base": bytepair.get_encoding("o200k_base"),
    }
    print()
    table(
        [
            ("this script, scripts/demo.py, as tokens", "vocab", "tokens", "bytes per token"),
            *(
                (name, f"{each.vocab_size:,}", f"{each.count(own_source):,}", f"{ratio:.2f}")
                for name, each in rivals.items()
                for ratio in [len(own_source.encode()) / each.count(own_source)]
            ),
        ]
    )


def gather_standard_library(target: Path) -> int:
    """Write the standard library's sources into one file and return how many there were."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    count = 0
    with target.open("w", encoding="utf-8", newline="") as file:
        for path in sorted(folder.rglob("*.py")):
            if "site-packages" in path.parts or "dist-packages" in path.parts:
                continue
            if count:
                file.write(SEPARATOR)
            # Some of them test how Python treats bytes that are not UTF-8.
            file.write(path.read_bytes().decode("utf-8", errors="replace"))
            count += 1
    return count


def print_next() -> None:
    """Step 6: where to go from here."""
    title(6, "What to try next")
    for command, meaning in (
        ("make test", "run every test"),
        ("source .venv/bin/activate", "bytepair is then a command"),
        ("bytepair train book.txt --vocab-size 8000 -o my.json", "train on a text of yours"),
        ("bytepair inspect my.json", "look at what it learned"),
        ("bytepair encode -t my.json book.txt", "turn text into ids"),
        ("bytepair count -e o200k_base README.md", "count tokens as OpenAI does"),
        ("python -m bytepair.reference", "the lessons: BPE step by step (--lang zh: 中文)"),
    ):
        say(f"{command:<54} {meaning}")


# --- how things are shown ---


def title(number: int, text: str) -> None:
    """Print the heading of a step."""
    print(f"\n{number}  {text}")


def say(text: str) -> None:
    """Print a line of a step."""
    print(f"   {text}")


def table(rows: Iterable[tuple[str, ...]]) -> None:
    """Print rows: the first column to the left, the others to the right."""
    rows = list(rows)
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        cells = [first + " " * (widths[0] - width(first))]
        cells += [
            " " * (w - width(cell)) + cell for cell, w in zip(others, widths[1:], strict=True)
        ]
        say("   ".join(cells).rstrip())


def width(text: str) -> int:
    """Return how many columns a text takes in a terminal: a Chinese character takes two."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def quoted(token: bytes) -> str:
    """Return a token as a person reads it: as text where it is whole characters, else as bytes."""
    try:
        return repr(token.decode("utf-8"))
    except UnicodeDecodeError:
        return repr(token)


def shortened(ids: list[int], limit: int = 14) -> str:
    """Return the first ids of a list and how many there are."""
    shown = ", ".join(map(str, ids[:limit]))
    return f"[{shown}, …] ({len(ids)} ids)" if len(ids) > limit else f"[{shown}]"


def size(count: int) -> str:
    """Return a number of bytes in the unit that suits it."""
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"


def speed(amount: int, seconds: float) -> tuple[str, str]:
    """Return the seconds and the megabytes per second as two cells."""
    return f"{seconds:.2f}", f"{amount / 1e6 / seconds:.1f}"


class Stopwatch:
    """Measures the time of a `with` block: call it for the seconds."""

    def __enter__(self) -> Stopwatch:
        self._start = time.perf_counter()
        return self

    def __exit__(self, *_error: object) -> None:
        self._seconds = time.perf_counter() - self._start

    def __call__(self) -> float:
        """Return the seconds between the start and the end of the block."""
        return self._seconds


@contextmanager
def bar() -> Iterator[Callable[[bytepair.Progress], None] | bool]:
    """Give what shows the progress of training: bars by rich, else the one built into bytepair."""
    if sys.stderr.isatty() and importlib.util.find_spec("rich"):
        with rich_bar() as show:
            yield show
    else:
        yield True  # draws on a terminal only


@contextmanager
def rich_bar() -> Iterator[Callable[[bytepair.Progress], None]]:
    """Show a bar for each stage, with the time it takes."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("   {task.description:<6}"),
        BarColumn(bar_width=36),
        TextColumn("{task.fields[amount]:>22}"),
        TimeElapsedColumn(),
    )
    stages = {}
    with Progress(*columns, console=Console(stderr=True)) as bars:

        def show(progress: bytepair.Progress) -> None:
            if progress.stage not in stages:
                stages[progress.stage] = bars.add_task(progress.stage, total=None, amount="")
            bars.update(
                stages[progress.stage],
                completed=progress.done,
                total=progress.total,
                amount=amount_of(progress),
            )

        yield show


def amount_of(progress: bytepair.Progress) -> str:
    """Return how far a stage is, in its unit."""
    show = size if progress.unit == "bytes" else (lambda count: f"{count:,}")
    total = f" of {show(progress.total)}" if progress.total else ""
    return f"{show(progress.done)}{total} {progress.unit if show is not size else ''}".rstrip()


if __name__ == "__main__":
    main()
