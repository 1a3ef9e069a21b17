"""Threads, forks, other processes, Ctrl-C, and results that depend on none of them."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

from bytepair import Tokenizer, get_encoding, train
from patience_support import soon
from process_support import digest_of

pytestmark = pytest.mark.serial

TEXT = "Threads and forks: 12345 times, 中文 and été.\n\n  It's <|endoftext|> fine. " * 200
unix = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


def own_tokenizer() -> Tokenizer:
    return train(iter([TEXT]), 290, name="own")


# --- threads ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gpt2", "o200k_base"])
def test_eight_threads_use_one_tokenizer(name):
    encoding = get_encoding(name)
    texts = [TEXT[start:] + f" {start}" for start in range(64)]
    expected = [encoding.encode(text) for text in texts]
    ready = threading.Barrier(8)

    def work(number: int) -> list[list[int]]:
        ready.wait()
        return [encoding.encode(text) for text in texts[number:] + texts[:number]]

    with ThreadPoolExecutor(8) as pool:
        for number, got in enumerate(pool.map(work, range(8))):
            assert got == expected[number:] + expected[:number]


def test_threads_with_policies_of_their_own():
    encoding = get_encoding("gpt2")
    plain, special = encoding.encode_ordinary(TEXT), encoding.encode(TEXT)
    assert plain != special

    def work(number: int) -> bool:
        allowed = "all" if number % 2 else ()
        expected = special if number % 2 else plain
        return all(encoding.encode(TEXT, allowed_special=allowed) == expected for _ in range(100))

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(work, range(16)))


def test_loading_from_many_threads_gives_one_encoding():
    code = (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "import bytepair\n"
        "with ThreadPoolExecutor(8) as pool:\n"
        "    found = list(pool.map(bytepair.get_encoding, ['p50k_base'] * 32))\n"
        "assert all(encoding is found[0] for encoding in found)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_iterator_used_by_two_threads_fails_cleanly_or_works():
    """Two threads may not step one iterator at once; whatever happens, it is no crash."""
    encoding = get_encoding("gpt2")
    ids = encoding.encode_iterable([TEXT] * 20)
    errors: list[Exception] = []

    def step() -> None:
        try:
            for _ in ids:
                pass
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=step) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert not any(thread.is_alive() for thread in threads)
    assert all(isinstance(error, RuntimeError) for error in errors)


# --- processes --------------------------------------------------------------------------------


def in_a_fork(work) -> None:
    """Run `work` in a forked child and fail if it fails or hangs."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail("the child hangs")


@unix
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_fork_encodes():
    encoding = get_encoding("cl100k_base")
    texts = [TEXT] * 16
    expected = encoding.encode_batch(texts, threads=4)

    def work() -> None:
        assert encoding.encode_batch(texts, threads=4) == expected
        assert encoding.encode(TEXT) == expected[0]
        assert list(encoding.encode_iterable([TEXT])) == expected[0]
        with_threads = train(iter(texts), 300, threads=4)
        assert with_threads == train(iter(texts), 300, threads=1)

    in_a_fork(work)


@unix
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_forks_while_other_threads_encode():
    """A lock that another thread holds at the fork stays locked in the child for ever."""
    encoding = get_encoding("gpt2")
    expected = encoding.encode(TEXT)
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            encoding.encode(TEXT)
            encoding.encode("short")
            list(encoding.encode_iterable(["a few ", "chunks"]))

    threads = [threading.Thread(target=busy) for _ in range(4)]
    for thread in threads:
        thread.start()

    def work() -> None:
        for _ in range(20):
            assert encoding.encode(TEXT) == expected
            assert list(encoding.encode_iterable([TEXT])) == expected

    try:
        for _ in range(40):
            in_a_fork(work)
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_tokenizers_go_to_other_processes(method):
    tokenizers = [get_encoding("p50k_edit"), own_tokenizer()]
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        found = list(pool.map(digest_of, tokenizers, [TEXT] * len(tokenizers)))
        assert found == [digest_of(tokenizer, TEXT) for tokenizer in tokenizers]


# --- Ctrl-C -----------------------------------------------------------------------------------

INTERRUPTED = """
import os, signal, sys, time
import bytepair
def word(size):
    return os.urandom(size // 2).hex().translate(str.maketrans("0123456789", "ghijklmnop"))
# Children of what a shell started in the background are deaf to Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
print("ready", flush=True)
try:
    {work}
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(7)
print("done", flush=True)
"""
WORK = {
    "learning": """
    import random
    source = random.Random(1)
    words = ["".join(source.choices("abcdefghijklmnop", k=12)) for _ in range(400_000)]
    counts = bytepair.PieceCounts({word.encode(): 1 for word in words})
    print("start", flush=True)
    while True:
        bytepair.train(counts, 400_000, special_tokens=[])
    """,
    "counting texts": """
    text = "the cat in the hat and other words " * 30_000
    print("start", flush=True)
    while True:
        bytepair.count_pieces(text for _ in range(100_000))
    """,
    "counting a file": """
    print("start", flush=True)
    while True:
        bytepair.count_pieces([sys.argv[1]] * 2_000)
    """,
    "one long text": """
    text = "the cat in the hat and other words " * 3_000_000
    print("start", flush=True)
    while True:
        bytepair.count_pieces([text])
    """,
    "encoding a long text": """
    encoding = bytepair.get_encoding("cl100k_base")
    text = "the cat in the hat and other words " * 3_000_000
    encoding.encode("warm up")
    print("start", flush=True)
    while True:
        encoding.encode_numpy(text)
    """,
    "counting the tokens of a long text": """
    encoding = bytepair.get_encoding("o200k_base")
    text = "".join(f" word{n}" for n in range(6_000_000))
    print("start", flush=True)
    while True:
        encoding.count(text)
    """,
    "encoding a batch": """
    encoding = bytepair.get_encoding("gpt2")
    texts = ["the cat in the hat and other words " * 20_000] * 300
    print("start", flush=True)
    while True:
        encoding.encode_batch(texts, threads=2)
    """,
    "encoding one word": """
    encoding, text = bytepair.get_encoding("cl100k_base"), word(60_000_000)
    print("start", flush=True)
    while True:
        encoding.encode_numpy(text)
    """,
    "counting words on many threads": """
    encoding = bytepair.get_encoding("o200k_base")
    words = [word(40_000_000)] * 3
    print("start", flush=True)
    while True:
        encoding.count_batch(words, threads=3)
    """,
    "encoding one word from a stream": """
    encoding, text = bytepair.get_encoding("o200k_base"), word(40_000_000)
    print("start", flush=True)
    while True:
        list(encoding.encode_iterable([text]))
    """,
    "encoding bytes of no text": """
    encoding = bytepair.get_encoding("gpt2")
    data = os.urandom(60_000_000).translate(bytes(128 + n % 60 for n in range(256)))
    print("start", flush=True)
    while True:
        encoding.count(data)
    """,
    "decoding": """
    encoding = bytepair.get_encoding("gpt2")
    ids = encoding.encode("the cat in the hat ") * 5_000_000
    print("start", flush=True)
    while True:
        encoding.decode_bytes(ids)
    """,
}


@unix
@pytest.mark.parametrize("work", WORK)
def test_ctrl_c_stops_within_a_second(work, tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("the cat in the hat and other words\n" * 300_000, encoding="utf-8")
    code = INTERRUPTED.format(work=WORK[work].strip())
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "ready\n"
        start_up = time.perf_counter() - began
        assert process.stdout.readline() == "start\n"
        time.sleep(0.7)
        assert process.poll() is None, "it was done too soon to be interrupted"
        start = time.perf_counter()
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=120)
        assert output == "interrupted\n"
        assert process.returncode == 7
        assert time.perf_counter() - start < soon(start_up)
    finally:
        process.kill()
        process.wait()


# --- determinism ------------------------------------------------------------------------------

RESULTS = """
import hashlib, pickle, sys
import bytepair
text = open(sys.argv[1], encoding="utf-8").read()
parts = [text[n::7] for n in range(7)] + [text]
digest = hashlib.sha256()
for rule in ("lexicographic", "lowest_ids", "huggingface"):
    for threads in (1, 2, 8):
        for corpus in (sys.argv[1], iter(parts)):
            trained = bytepair.train(
                corpus, 700, special_tokens=["<|a|>", "<|b|>"], tie_break=rule, threads=threads
            )
            digest.update(pickle.dumps(trained))
            digest.update(trained.fingerprint.encode())
gpt2 = bytepair.get_encoding("gpt2")
for threads in (1, 2, 8):
    digest.update(repr(gpt2.encode_batch(parts, threads=threads)).encode())
chat = gpt2.with_special_tokens(["<|a|>", "<|b|>"])
digest.update(pickle.dumps(chat))
digest.update(repr(chat.encode(text, allowed_special={"<|a|>", "<|b|>"})).encode())
print(digest.hexdigest())
"""


def test_results_do_not_depend_on_hash_seed_or_run(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text(TEXT + "<|a|>" + TEXT[::-1] + "<|b|>", encoding="utf-8")
    digests = set()
    for seed in ("0", "1", "12345", "random"):
        done = subprocess.run(
            [sys.executable, "-c", RESULTS, str(path)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        digests.add(done.stdout)
    assert len(digests) == 1


def test_threads_do_not_change_what_is_learned():
    texts = [TEXT[n:] * 3 for n in range(9)]
    results = [train(iter(texts), 300, threads=threads) for threads in (1, 2, 3, 8)]
    assert all(result == results[0] for result in results)
    assert len({pickle.dumps(result) for result in results}) == 1
