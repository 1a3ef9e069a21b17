//! 64 bytes at a time with AVX-512.

#![expect(unsafe_code, reason = "intrinsics: the pretokenizer is 2 times as fast as with AVX2")]

use std::arch::x86_64::{
    __m256i, __m512i, _MM_HINT_T0, _mm_add_epi16, _mm_maskz_compress_epi16, _mm_prefetch,
    _mm_set1_epi16, _mm_setr_epi16, _mm_storeu_si128, _mm256_alignr_epi32, _mm256_and_si256,
    _mm256_cmpgt_epu32_mask, _mm256_loadu_si256, _mm256_set1_epi32, _mm256_storeu_si256,
    _mm256_sub_epi32, _mm512_add_epi32, _mm512_add_epi64, _mm512_alignr_epi64, _mm512_and_si512,
    _mm512_andnot_si512, _mm512_castsi512_si128, _mm512_cmpeq_epi64_mask, _mm512_cmpge_epu8_mask,
    _mm512_cmplt_epi8_mask, _mm512_cmplt_epu8_mask, _mm512_cmplt_epu64_mask,
    _mm512_cmpneq_epi32_mask, _mm512_cvtepi64_epi32, _mm512_cvtepu8_epi32, _mm512_cvtepu8_epi64,
    _mm512_cvtepu32_epi64, _mm512_i64gather_epi64, _mm512_loadu_si512, _mm512_mask_loadu_epi64,
    _mm512_mask_mov_epi8, _mm512_mask_mov_epi64, _mm512_maskz_compress_epi8,
    _mm512_maskz_compress_epi32, _mm512_maskz_mov_epi8, _mm512_maskz_permutex2var_epi8,
    _mm512_max_epu64, _mm512_movepi8_mask, _mm512_movepi64_mask, _mm512_mul_epu32,
    _mm512_mullo_epi64, _mm512_multishift_epi64_epi8, _mm512_or_si512, _mm512_permutexvar_epi8,
    _mm512_permutexvar_epi64, _mm512_set1_epi8, _mm512_set1_epi32, _mm512_set1_epi64,
    _mm512_setr_epi64, _mm512_shuffle_epi8, _mm512_shuffle_i64x2, _mm512_slli_epi64,
    _mm512_sllv_epi64, _mm512_srli_epi64, _mm512_storeu_si512, _mm512_sub_epi64,
    _mm512_test_epi8_mask, _mm512_test_epi64_mask, _mm512_xor_si512, _pdep_u64,
};

use super::pairs::{FACTOR, Filter, SHIFT};
use super::turn::{FACTORS, FIELD, KEY_MOST, Keys, Line, NO_IDS, NONE, TURN};
use super::{HIGH, INSIDE, Leads, Work};

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

/// Keys of as many eights of pieces as have 16 bytes of text from the start of each; returns how many
/// pieces these are.
pub(super) fn keys(
    text: &[u8],
    start: u32,
    ends: &[u32],
    lines: &[Line],
    keys: &mut Keys,
) -> usize {
    // SAFETY: only a `Level` for which `is_here` was true calls it.
    unsafe { keys_compiled(text, start, ends, lines, keys) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn keys_compiled(text: &[u8], start: u32, ends: &[u32], lines: &[Line], keys: &mut Keys) -> usize {
    let Some(last) = text.len().checked_sub(16) else { return 0 };
    let last = _mm256_set1_epi32(u32::try_from(last).unwrap_or(u32::MAX).cast_signed());
    let (ones, word) = (_mm512_set1_epi64(-1), _mm512_set1_epi64(64));
    let [a, b, c, d] = FACTORS.map(|factor| _mm512_set1_epi64(i64::from(factor)));
    #[expect(clippy::cast_possible_truncation, reason = "a power of two of at most 32 bits")]
    let mask = _mm256_set1_epi32((lines.len() as u32).wrapping_sub(1).cast_signed());
    let mut before = start;
    for (eight, ends) in ends.as_chunks::<8>().0.iter().enumerate() {
        let end = load_half(ends);
        let start = _mm256_alignr_epi32::<7>(end, _mm256_set1_epi32(before.cast_signed()));
        if _mm256_cmpgt_epu32_mask(start, last) != 0 {
            return 8 * eight;
        }
        before = ends[7];
        let at = _mm512_cvtepu32_epi64(start);
        // SAFETY: each start is at least 16 bytes before the end of `text`, as was just asked.
        let (low, high) = unsafe {
            let text = text.as_ptr();
            (
                _mm512_i64gather_epi64::<1>(at, text.cast()),
                _mm512_i64gather_epi64::<1>(at, text.add(8).cast()),
            )
        };
        let len = _mm256_sub_epi32(end, start);
        let long = _mm256_cmpgt_epu32_mask(len, _mm256_set1_epi32(KEY_MOST as i32));
        let bits = _mm512_slli_epi64::<3>(_mm512_cvtepu32_epi64(len));
        let bits_high = _mm512_sub_epi64(_mm512_max_epu64(bits, word), word);
        let low = _mm512_andnot_si512(_mm512_sllv_epi64(ones, bits), low);
        let high = _mm512_andnot_si512(_mm512_sllv_epi64(ones, bits_high), high);
        let high = _mm512_or_si512(high, _mm512_slli_epi64::<53>(bits));
        let (x, y) = (_mm512_mul_epu32(low, a), _mm512_mul_epu32(_mm512_srli_epi64::<32>(low), b));
        let (z, w) =
            (_mm512_mul_epu32(high, c), _mm512_mul_epu32(_mm512_srli_epi64::<32>(high), d));
        let sum = _mm512_add_epi64(_mm512_add_epi64(x, y), _mm512_add_epi64(z, w));
        let line = _mm512_cvtepi64_epi32(_mm512_xor_si512(sum, _mm512_srli_epi64::<32>(sum)));
        let line = _mm256_and_si256(line, mask);
        keys.long[eight / 8] |= u64::from(long) << (8 * (eight % 8));
        store(low, keys.low[8 * eight..].first_chunk_mut().expect("a turn is whole eights"));
        store(high, keys.high[8 * eight..].first_chunk_mut().expect("a turn is whole eights"));
        let room = keys.line[8 * eight..].first_chunk_mut().expect("a turn is whole eights");
        store_half(line, room);
        for &line in &*room {
            prefetch(&lines[line as usize]);
        }
    }
    ends.len() & !7
}

pub(super) fn probe(
    lines: &[Line],
    keys: &Keys,
    count: usize,
    words: &mut [u64; TURN],
    missed: &mut [u16; TURN],
) -> usize {
    // SAFETY: only a `Level` for which `is_here` was true calls it.
    unsafe { probe_compiled(lines, keys, count, words, missed) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,popcnt")]
fn probe_compiled(
    lines: &[Line],
    keys: &Keys,
    count: usize,
    words: &mut [u64; TURN],
    missed: &mut [u16; TURN],
) -> usize {
    const EIGHTS: &str = "a turn is whole eights";
    #[expect(clippy::cast_possible_truncation, reason = "a power of two of at most 32 bits")]
    let mask = _mm256_set1_epi32((lines.len() as u32).wrapping_sub(1).cast_signed());
    let numbers = _mm_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7);
    let mut misses = 0;
    for first in (0..count).step_by(8) {
        let line = load_half(keys.line[first..].first_chunk().expect(EIGHTS));
        let line = _mm512_cvtepu32_epi64(_mm256_and_si256(line, mask));
        let at = _mm512_slli_epi64::<3>(line);
        // SAFETY: with the mask each line is one of `lines`, which has 8 words: the key, the ids of
        // the first slot, and so on.
        let (low, high, ids) = unsafe {
            let lines: *const i64 = lines.as_ptr().cast();
            (
                _mm512_i64gather_epi64::<8>(at, lines),
                _mm512_i64gather_epi64::<8>(at, lines.add(1)),
                _mm512_i64gather_epi64::<8>(at, lines.add(2)),
            )
        };
        let same_low = _mm512_cmpeq_epi64_mask(
            low,
            load::<u64, 8>(keys.low[first..].first_chunk().expect(EIGHTS)),
        );
        let same_high = _mm512_cmpeq_epi64_mask(
            high,
            load::<u64, 8>(keys.high[first..].first_chunk().expect(EIGHTS)),
        );
        let here = 0xFF_u8 >> (8 - (count - first).min(8));
        let miss = !(same_low & same_high & !_mm512_movepi64_mask(ids)) & here;
        store(ids, words[first..].first_chunk_mut().expect(EIGHTS));
        #[expect(clippy::cast_possible_truncation, reason = "below the size of a turn")]
        let number = _mm_add_epi16(numbers, _mm_set1_epi16(first as i16));
        let packed = _mm_maskz_compress_epi16(miss, number);
        // At most as many were missed before as pieces were seen.
        let room: &mut [u16; 8] = missed[misses..].first_chunk_mut().expect(EIGHTS);
        // SAFETY: writes the 16 bytes of `room`; no alignment is asked for.
        unsafe { _mm_storeu_si128(room.as_mut_ptr().cast(), packed) };
        misses += miss.count_ones() as usize;
    }
    misses
}

pub(super) fn unpack(words: &[u64], out: &mut [u32]) -> usize {
    // SAFETY: only a `Level` for which `is_here` was true calls it.
    unsafe { unpack_compiled(words, out) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,popcnt")]
fn unpack_compiled(words: &[u64], out: &mut [u32]) -> usize {
    // The bits of a word that each byte of its four ids begins at; of the fourth nothing is used.
    const { assert!(FIELD == 21, "the places below") };
    const PLACES: [i64; 2] = [0x2D25_1D15_1810_0800, 0x0000_0000_023A_322A];
    const USED: u16 = 0x7777;
    let [two, one] = PLACES;
    let places = _mm512_setr_epi64(two, one, two, one, two, one, two, one);
    let none = _mm512_set1_epi32(NONE.cast_signed());
    let halves =
        [_mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3), _mm512_setr_epi64(4, 4, 5, 5, 6, 6, 7, 7)];
    let mut count = 0;
    for eight in words.chunks(8) {
        let here = 0xFF_u8 >> (8 - eight.len());
        let absent = _mm512_set1_epi64(NO_IDS.cast_signed());
        // SAFETY: only the words of `eight` are read.
        let eight = unsafe { _mm512_mask_loadu_epi64(absent, here, eight.as_ptr().cast()) };
        for half in halves {
            let four = _mm512_permutexvar_epi64(half, eight);
            let ids = _mm512_and_si512(_mm512_multishift_epi64_epi8(places, four), none);
            let used = _mm512_cmpneq_epi32_mask(ids, none) & USED;
            let packed = _mm512_maskz_compress_epi32(used, ids);
            let room: &mut [u32; 16] = out[count..].first_chunk_mut().expect("room for each id");
            // SAFETY: writes the 64 bytes of `room`; no alignment is asked for.
            unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), packed) };
            count += used.count_ones() as usize;
        }
    }
    count
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

/// [`super::pairs::lacking`] for the 64 bytes of `text` behind the first four.
#[inline(always)]
pub(super) fn lacking(filter: &Filter, text: &[u8], places: u64) -> u64 {
    let text = text.first_chunk().expect("64 bytes and four on either side");
    // SAFETY: only a `Level` for which `is_here` was true calls it.
    unsafe { lacking_compiled(filter, text, places) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi2,bmi2,popcnt")]
fn lacking_compiled(filter: &Filter, text: &[u8; 72], places: u64) -> u64 {
    let word = |value: i64| _mm512_set1_epi64(value);
    let swap = load(&SWAPPED);
    let mut packed = _mm512_maskz_compress_epi8(places, load(&NUMBERS));
    let mut lacking = 0;
    for eight in 0..places.count_ones().div_ceil(8) {
        let at = _mm512_cvtepu8_epi64(_mm512_castsi512_si128(packed));
        packed = _mm512_alignr_epi64::<1>(packed, packed);
        // SAFETY: each place is below 64, and eight bytes from there lie in the 72 of `text`.
        let around = unsafe { _mm512_i64gather_epi64::<1>(at, text.as_ptr().cast()) };
        let around = _mm512_shuffle_epi8(around, swap);
        let before = _mm512_srli_epi64::<32>(around);
        let after = _mm512_and_si512(around, word(0xFFFF_FFFF));

        let below = |mask: i64, bound: i64| {
            _mm512_cmplt_epu64_mask(_mm512_and_si512(before, word(mask)), word(bound))
        };
        let (no_two, no_three) = (below(0xFF00, 0xC000), below(0xFF_0000, 0xE0_0000));
        let left =
            _mm512_mask_mov_epi64(_mm512_and_si512(before, word(0xFF_FFFF)), no_three, before);
        let left = _mm512_mask_mov_epi64(_mm512_and_si512(before, word(0xFFFF)), no_two, left);
        let two = _mm512_cmplt_epu64_mask(after, word(0xE000_0000));
        let three = _mm512_cmplt_epu64_mask(after, word(0xF000_0000));
        let right = _mm512_mask_mov_epi64(after, three, _mm512_srli_epi64::<8>(after));
        let right = _mm512_mask_mov_epi64(right, two, _mm512_srli_epi64::<16>(after));

        let pair = _mm512_or_si512(_mm512_slli_epi64::<32>(left), right);
        let hash = _mm512_mullo_epi64(pair, word(FACTOR.cast_signed()));
        let hash = _mm512_srli_epi64::<SHIFT>(hash);
        let last = _mm512_and_si512(before, word(0xFF));
        let part = _mm512_or_si512(_mm512_slli_epi64::<8>(last), _mm512_srli_epi64::<24>(after));
        // SAFETY: a hash has as many bits as there are pairs, and a part 16, as there are parts.
        let (pairs, parts) = unsafe {
            (
                _mm512_i64gather_epi64::<8>(
                    _mm512_srli_epi64::<6>(hash),
                    filter.pairs.as_ptr().cast(),
                ),
                _mm512_i64gather_epi64::<8>(
                    _mm512_srli_epi64::<6>(part),
                    filter.parts.as_ptr().cast(),
                ),
            )
        };
        let bit = |number| _mm512_sllv_epi64(word(1), _mm512_and_si512(number, word(63)));
        let has =
            _mm512_test_epi64_mask(pairs, bit(hash)) | _mm512_test_epi64_mask(parts, bit(part));
        lacking |= u64::from(!has) << (8 * eight);
    }
    _pdep_u64(lacking, places)
}

#[inline(always)]
pub(super) fn prefetch<T>(place: &T) {
    // SAFETY: a prefetch never faults, and SSE is part of x86-64.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast()) };
}
