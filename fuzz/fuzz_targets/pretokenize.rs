//! cargo-fuzz: `bytepair_fuzz::pretokenize`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bytepair_fuzz::pretokenize(data));
