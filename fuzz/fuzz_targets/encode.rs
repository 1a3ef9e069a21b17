//! cargo-fuzz: `bytepair_fuzz::encode`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bytepair_fuzz::encode(data));
