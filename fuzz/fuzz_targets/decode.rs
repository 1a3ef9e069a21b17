//! cargo-fuzz: `bytepair_fuzz::decode`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bytepair_fuzz::decode(data));
