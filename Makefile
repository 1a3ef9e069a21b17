# Every command of the project. A clean clone needs python3 (3.10 or newer), cargo and make; the rest
# is set up in .venv by the target that needs it. The work is done by the tools and by scripts/.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help setup build demo test lint format bench fuzz docs races ci clean
.PHONY: rust-tests python-tests bench-once sdist-test
MAKEFLAGS += --no-print-directory

# The Python that .venv is made of.
PYTHON ?= python3
# The cargo profile of the extension: `release`, or `ci`, which is a little slower and built sooner.
PROFILE ?= release
# How long `make fuzz` looks.
SECONDS ?= 20
# The texts of the table of `make bench`; the sample corpus of the package if none is named.
TEXTS ?=

VENV := .venv
BIN := $(VENV)/bin
BUILT := $(VENV)/built-$(PROFILE)
RUST := Cargo.toml Cargo.lock $(shell find crates -type f)
# The package, and the file that asserts the types a caller sees.
TYPED := python $(wildcard tests/test_typing.py)

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1: /p' $(MAKEFILE_LIST) | awk -F': ' '{printf "  make %-8s %s\n", $$1, $$2}'

setup: $(VENV)/dev ## create .venv with everything needed to develop

build: $(BUILT) ## build the extension into the source tree (PROFILE=release or ci)

demo: build ## train, encode and decode real text, with an explanation of each step
	$(BIN)/python scripts/demo.py

test: rust-tests python-tests ## run every test, Rust and Python

lint: setup build ## check format, lints, types and the stub of the extension
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo fmt --manifest-path fuzz/Cargo.toml --check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(TYPED)
	$(BIN)/stubtest bytepair._core --mypy-config-file pyproject.toml --ignore-disjoint-bases

format: setup ## rewrite the sources in the house format
	cargo fmt --all
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup build ## run the benchmarks of core and package, and print the README's table (TEXTS="a.txt b.txt")
	cargo bench -p bytepair
	$(BIN)/pytest benchmarks --benchmark-enable
	$(BIN)/python benchmarks/table.py $(addprefix --text ,$(TEXTS))

fuzz: ## compare each fast path with its slow twin on random input (SECONDS=20)
	sh scripts/fuzz.sh $(SECONDS)

# The doc comments of the binding are Python docstrings: mkdocs shows them, rustdoc cannot.
docs: setup build ## build the pages into site/ and the Rust documentation, warnings being errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	RUSTDOCFLAGS="-D warnings" cargo doc -p bytepair --no-deps --document-private-items --locked

races: ## run what threads share under Miri and the thread sanitizer (nightly, with miri and rust-src)
	MIRIFLAGS="-Zmiri-disable-isolation" cargo +nightly miri test -p bytepair --test shared
	RUSTFLAGS="-Zsanitizer=thread" cargo +nightly test -Zbuild-std -p bytepair --test shared \
		--target $(shell rustc -vV | sed -n 's/^host: //p')

ci: ## run everything that a change must pass
	HYPOTHESIS_PROFILE=ci $(MAKE) PROFILE=ci lint docs bench-once sdist-test fuzz test

clean: ## remove .venv and everything built
	rm -rf $(VENV) target fuzz/target site dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks
	rm -f python/bytepair/_core*.so

rust-tests:
	sh scripts/rust_tests.sh

# The limits measure time and memory, so nothing may run beside them.
python-tests: setup build
	$(BIN)/pytest tests -n auto --ignore=tests/limits
	$(BIN)/pytest tests/limits

# Each benchmark once, as a test: it checks its own result.
bench-once: setup build
	cargo bench -p bytepair --profile $(PROFILE) --locked -- --test
	$(BIN)/pytest benchmarks --benchmark-disable

sdist-test: setup
	$(BIN)/python scripts/sdist_test.py --profile $(PROFILE)

$(VENV)/demo: pyproject.toml scripts/setup_venv.py
	$(PYTHON) scripts/setup_venv.py $(VENV) demo
	@touch $@

$(VENV)/dev: $(VENV)/demo
	$(PYTHON) scripts/setup_venv.py $(VENV) dev docs
	@touch $@

# One extension lies in the tree at a time, so the mark of any other profile goes. Without a group
# named, maturin would install `dev`.
$(BUILT): $(RUST) $(VENV)/demo
	PIP_QUIET=1 VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --profile $(PROFILE) --group demo
	@rm -f $(VENV)/built-*
	@touch $@
