//! cargo-fuzz: `bytepair_fuzz::tables`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bytepair_fuzz::tables(data));
