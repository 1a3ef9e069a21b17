//! cargo-fuzz: `bytepair_fuzz::threads`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bytepair_fuzz::threads(data));
