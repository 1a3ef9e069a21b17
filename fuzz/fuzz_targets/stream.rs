//! cargo-fuzz: `bytepair_fuzz::stream`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bytepair_fuzz::stream(data));
