//! cargo-fuzz: `bytepair_fuzz::merge`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bytepair_fuzz::merge(data));
