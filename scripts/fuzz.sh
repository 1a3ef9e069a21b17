#!/bin/sh
# Fuzzes every target for a share of the seconds given: with cargo-fuzz where it and a nightly compiler
# are installed, else with the driver for a stable compiler, which runs the same targets.
set -eu
seconds=${1:-20}
cd "$(dirname "$0")/.."
if cargo +nightly fuzz --version >/dev/null 2>&1; then
    targets=$(ls fuzz/fuzz_targets | sed 's/\.rs$//')
    share=$((seconds / $(echo "$targets" | wc -l) + 1))
    for target in $targets; do
        echo "$target: $share seconds"
        cargo +nightly fuzz run --features libfuzzer "$target" -- \
            -max_total_time="$share" -max_len=4096 -verbosity=0 -print_final_stats=1
    done
else
    echo "cargo-fuzz or a nightly compiler is not installed; running the bounded driver"
    cargo run --quiet --release --manifest-path fuzz/Cargo.toml --bin bounded -- --seconds "$seconds"
fi
