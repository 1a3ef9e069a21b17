//! cargo-fuzz: `bytepair_fuzz::normalize`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bytepair_fuzz::normalize(data));
