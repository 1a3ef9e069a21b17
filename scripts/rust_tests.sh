#!/bin/sh
# Runs the tests of the Rust core: with cargo-nextest where it is installed, else with cargo itself,
# because installing nextest would take longer than the tests. Doctests are cargo's alone.
set -eu
if cargo nextest --version >/dev/null 2>&1; then
    cargo nextest run --workspace --locked
else
    echo "cargo-nextest is not installed; running the same tests with cargo test"
    cargo test --workspace --locked --lib --bins --tests --examples
fi
cargo test --workspace --locked --doc
