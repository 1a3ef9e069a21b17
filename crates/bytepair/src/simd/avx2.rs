//! 32 bytes at a time with AVX2.

#![expect(unsafe_code, reason = "intrinsics: classifies at 3 times the rate of the portable path")]

#[allow(clippy::wildcard_imports, reason = "the names of intrinsics say where they are from")]
use std::arch::x86_64::*;

use super::{HIGH, INSIDE, Work};

pub(super) fn is_here() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

pub(super) fn run<W: Work>(work: W) -> W::Out {
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn compiled<W: Work>(work: W) -> W::Out {
        work.run()
    }
    // SAFETY: only a `Level` for which `is_here` was true calls it.
    unsafe { compiled(work) }
}

pub(super) fn classify<const N: usize>(text: &[u8], classes: &[u8; 128], planes: &mut [[u64; N]]) {
    // SAFETY: only a `Level` for which `is_here` was true calls it.
    unsafe { compiled(text, classes, planes) }
}

#[target_feature(enable = "avx2")]
fn compiled<const N: usize>(text: &[u8], classes: &[u8; 128], planes: &mut [[u64; N]]) {
    // One row for each high half of a byte, in both lanes.
    let rows: [__m256i; 8] = std::array::from_fn(|high| {
        let row: [u8; 32] = std::array::from_fn(|low| classes[high * 16 + low % 16]);
        load(&row)
    });
    for (word, block) in (1..).zip(text.as_chunks::<64>().0) {
        let mut found = [0_u64; 10];
        for (half, bytes) in block.as_chunks::<32>().0.iter().enumerate() {
            let bytes = load(bytes);
            let shift = 32 * half;
            let mut class = class_of(bytes, &rows);
            // The highest bit of each byte is what `bits` takes.
            for plane in found[..8].iter_mut().rev() {
                *plane |= bits(class) << shift;
                class = _mm256_slli_epi16::<1>(class);
            }
            found[HIGH] |= bits(bytes) << shift;
            // Signed: 0x80 to 0xBF are the bytes below -64.
            found[INSIDE] |= bits(_mm256_cmpgt_epi8(_mm256_set1_epi8(-64), bytes)) << shift;
        }
        for (plane, bits) in planes.iter_mut().zip(found) {
            plane[word] = bits;
        }
    }
}

/// The class of each byte: 0 beyond ASCII.
#[target_feature(enable = "avx2")]
fn class_of(bytes: __m256i, rows: &[__m256i; 8]) -> __m256i {
    let nibble = _mm256_set1_epi8(15);
    let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), nibble);
    let low = _mm256_and_si256(bytes, nibble);
    let mut class = _mm256_setzero_si256();
    for (number, &row) in (0_i8..).zip(rows) {
        let here = _mm256_cmpeq_epi8(high, _mm256_set1_epi8(number));
        let found = _mm256_and_si256(_mm256_shuffle_epi8(row, low), here);
        class = _mm256_or_si256(class, found);
    }
    class
}

/// The highest bit of each byte.
#[target_feature(enable = "avx2")]
fn bits(bytes: __m256i) -> u64 {
    u64::from(_mm256_movemask_epi8(bytes).cast_unsigned())
}

#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: reads the 32 bytes of `bytes`; no alignment is asked for.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}
