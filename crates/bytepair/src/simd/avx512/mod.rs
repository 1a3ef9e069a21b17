//! 64 bytes at a time with AVX-512.

#![expect(unsafe_code, reason = "intrinsics: the pretokenizer is 2 times as fast as with AVX2")]

mod lanes;
mod turn;

#[allow(clippy::wildcard_imports, reason = "the names of intrinsics say where they are from")]
use std::arch::x86_64::*;

use super::{HIGH, INSIDE, Leads, Work};
pub(super) use lanes::merge;
pub(super) use turn::{keys, lacking, probe, unpack};

/// The numbers of 64 bytes.
const NUMBERS: [u8; 64] = numbers(0);
/// The same, turned round in each eight.
const SWAPPED: [u8; 64] = numbers(7);

const fn numbers(turn: u8) -> [u8; 64] {
    let (mut numbers, mut number) = ([0; 64], 0_u8);
    while number < 64 {
        numbers[number as usize] = number ^ turn;
        number += 1;
    }
    numbers
}

pub(super) fn is_here() -> bool {
    super::avx2::is_here()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512cd")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
}

pub(super) fn run<W: Work>(work: W) -> W::Out {
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2"
    )]
    fn compiled<W: Work>(work: W) -> W::Out {
        work.run()
    }
    // SAFETY: only a `Level` for which `is_here` was true calls it.
    unsafe { compiled(work) }
}

pub(super) fn classify<const N: usize>(text: &[u8], classes: &[u8; 128], planes: &mut [[u64; N]]) {
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn compiled<const N: usize>(text: &[u8], classes: &[u8; 128], planes: &mut [[u64; N]]) {
        let (halves, _) = classes.as_chunks::<64>();
        let (low, high) = (load(&halves[0]), load(&halves[1]));
        for (word, block) in (1..).zip(text.as_chunks::<64>().0) {
            let bytes = load(block);
            let beyond = _mm512_movepi8_mask(bytes);
            let class = _mm512_maskz_permutex2var_epi8(!beyond, low, bytes, high);
            for (plane, bit) in planes[..8].iter_mut().zip(0..) {
                plane[word] = _mm512_test_epi8_mask(class, _mm512_set1_epi8(1_i8.rotate_left(bit)));
            }
            planes[HIGH][word] = beyond;
            // Signed: 0x80 to 0xBF are the bytes below -64.
            planes[INSIDE][word] = _mm512_cmplt_epi8_mask(bytes, _mm512_set1_epi8(-64));
        }
    }
    // SAFETY: only a `Level` for which `is_here` was true calls it.
    unsafe { compiled(text, classes, planes) }
}

#[inline(always)]
pub(super) fn leads<const N: usize>(bytes: &[u8; 65], leads: &Leads) -> [u64; N] {
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    #[inline]
    fn compiled<const N: usize>(bytes: &[u8; 65], leads: &Leads) -> [u64; N] {
        let [first @ .., _] = bytes;
        let [_, second @ ..] = bytes;
        let (first, second) = (load(first), load(second));
        let is_first = _mm512_cmpge_epu8_mask(first, _mm512_set1_epi8(0xC0_u8.cast_signed()));
        let below = _mm512_cmplt_epu8_mask(second, row(first, &leads.below)) & is_first;
        let above = _mm512_cmpge_epu8_mask(second, row(first, &leads.above)) & is_first;
        let class = _mm512_maskz_mov_epi8(below, row(first, &leads.classes[0]));
        let class = _mm512_mask_mov_epi8(class, above, row(first, &leads.classes[1]));
        let mut found = [0; N];
        for (found, bit) in found.iter_mut().zip(0..) {
            *found = _mm512_test_epi8_mask(class, _mm512_set1_epi8(1_i8.rotate_left(bit)));
        }
        found
    }
    #[target_feature(enable = "avx512f,avx512vbmi")]
    #[inline]
    fn row(first: __m512i, table: &[u8; 64]) -> __m512i {
        _mm512_permutexvar_epi8(first, load(table))
    }
    // SAFETY: only a `Level` for which `is_here` was true calls it.
    unsafe { compiled(bytes, leads) }
}

pub(super) fn places(words: &[u64], first: u32, places: &mut Vec<u32>) {
    // SAFETY: only a `Level` for which `is_here` was true calls it.
    unsafe { places_compiled(words, first, places) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
fn places_compiled(words: &[u64], first: u32, places: &mut Vec<u32>) {
    let all = load(&NUMBERS);
    for (start, &word) in (first..).step_by(64).zip(words) {
        let count = word.count_ones() as usize;
        places.reserve(64);
        let mut packed = _mm512_maskz_compress_epi8(word, all);
        let mut room = places.spare_capacity_mut().as_mut_ptr();
        for _ in 0..count.div_ceil(16) {
            let sixteen = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(packed));
            let sixteen = _mm512_add_epi32(sixteen, _mm512_set1_epi32(start.cast_signed()));
            // SAFETY: at most four times 16 places, for which there is room.
            unsafe {
                _mm512_storeu_si512(room.cast(), sixteen);
                room = room.add(16);
            }
            packed = _mm512_shuffle_i64x2::<0b11_11_10_01>(packed, packed);
        }
        // SAFETY: the first `count` of the room were written above, rounded up to 16.
        unsafe { places.set_len(places.len() + count) };
    }
}

#[target_feature(enable = "avx512f")]
fn load<T: Copy, const N: usize>(items: &[T; N]) -> __m512i {
    const { assert!(size_of::<[T; N]>() == 64) };
    // SAFETY: reads the 64 bytes of `items`; no alignment is asked for.
    unsafe { _mm512_loadu_si512(items.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
fn store(words: __m512i, room: &mut [u64; 8]) {
    // SAFETY: writes the 64 bytes of `room`; no alignment is asked for.
    unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), words) };
}

#[target_feature(enable = "avx512f,avx512vl")]
fn store_half(words: __m256i, room: &mut [u32; 8]) {
    // SAFETY: writes the 32 bytes of `room`; no alignment is asked for.
    unsafe { _mm256_storeu_si256(room.as_mut_ptr().cast(), words) };
}

#[target_feature(enable = "avx512f,avx512vl")]
fn load_half(words: &[u32; 8]) -> __m256i {
    // SAFETY: reads the 32 bytes of `words`; no alignment is asked for.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

#[inline(always)]
pub(super) fn prefetch<T>(items: &[T], index: usize) {
    // SAFETY: a prefetch never faults, wherever it is, and SSE is part of x86-64.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(items.as_ptr().wrapping_add(index).cast()) };
}
