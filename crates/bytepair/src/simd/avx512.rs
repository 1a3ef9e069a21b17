//! 64 bytes at a time with AVX-512.

#![expect(unsafe_code, reason = "intrinsics: the pretokenizer is 2 times as fast as with AVX2")]

use std::arch::x86_64::{
    __m512i, _MM_HINT_T0, _mm_prefetch, _mm512_add_epi32, _mm512_castsi512_si128,
    _mm512_cmplt_epi8_mask, _mm512_cvtepu8_epi32, _mm512_loadu_si512, _mm512_maskz_compress_epi8,
    _mm512_maskz_permutex2var_epi8, _mm512_movepi8_mask, _mm512_set1_epi8, _mm512_set1_epi32,
    _mm512_shuffle_i64x2, _mm512_storeu_si512, _mm512_test_epi8_mask,
};

use super::{HIGH, INSIDE, Work};

pub(super) fn is_here() -> bool {
    super::avx2::is_here()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
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

pub(super) fn places(words: &[u64], first: u32, places: &mut Vec<u32>) {
    // SAFETY: only a `Level` for which `is_here` was true calls it.
    unsafe { places_compiled(words, first, places) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
fn places_compiled(words: &[u64], first: u32, places: &mut Vec<u32>) {
    const ALL: [u8; 64] = {
        let mut all = [0; 64];
        let mut at = 0;
        while at < 64 {
            #[expect(clippy::cast_possible_truncation, reason = "below 64")]
            let number = at as u8;
            all[at] = number;
            at += 1;
        }
        all
    };
    let all = load(&ALL);
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
fn load(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: reads the 64 bytes of `bytes`; no alignment is asked for.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline(always)]
pub(super) fn prefetch<T>(place: &T) {
    // SAFETY: a prefetch never faults, and SSE is part of x86-64.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast()) };
}
