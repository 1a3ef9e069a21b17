//! cargo-fuzz: `bytepair_fuzz::train`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bytepair_fuzz::train(data));
