//! The passes over a turn of pieces, eight at a time, and pairs of characters.

#![expect(unsafe_code, reason = "gathers: english is encoded 1.4 times as fast as one by one")]

#[allow(clippy::wildcard_imports, reason = "the names of intrinsics say where they are from")]
use std::arch::x86_64::*;

use super::super::pairs::{FACTOR, Filter, SHIFT};
use super::super::turn::{
    FACTORS, FIELD, Found, KEY_MOST, Keys, Line, Missed, NO_IDS, NONE, Pieces, TURN, TURNED,
};
use super::{NUMBERS, SWAPPED, load, load_half, prefetch, store, store_half};

const EIGHTS: &str = "a turn is whole eights";
const ROOM: &str = "room for two words of each piece";

/// The keys of all pieces, if the text has 16 bytes; returns whether it has.
pub(in super::super) fn keys(pieces: Pieces<'_>, lines: &[Line], keys: &mut Keys) -> bool {
    // SAFETY: only a `Level` for which `is_here` was true calls it.
    unsafe { keys_compiled(pieces, lines, keys) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn keys_compiled(pieces: Pieces<'_>, lines: &[Line], keys: &mut Keys) -> bool {
    #[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "15")]
    const MOST: i32 = KEY_MOST as i32;
    let Pieces { text, start, ends, ahead } = pieces;
    if text.len() < 16 {
        return false;
    }
    #[expect(clippy::cast_possible_truncation, reason = "a power of two of at most 32 bits")]
    let mask = _mm256_set1_epi32((lines.len() as u32).wrapping_sub(1).cast_signed());
    let mut before = start;
    for (eight, ends) in ends.chunks(8).enumerate() {
        let here = 0xFF_u8 >> (8 - ends.len());
        // SAFETY: only the numbers of `ends` are read.
        let end = unsafe { _mm256_maskz_loadu_epi32(here, ends.as_ptr().cast()) };
        let start = _mm256_alignr_epi32::<7>(end, _mm256_set1_epi32(before.cast_signed()));
        let at = _mm512_cvtepu32_epi64(start);
        let (low, high) = windows(text, at);
        let len = _mm256_sub_epi32(end, start);
        let long = _mm256_cmpgt_epu32_mask(len, _mm256_set1_epi32(MOST)) & here;
        let (low, high) = trimmed(low, high, len);
        let line = _mm256_and_si256(line_of(low, high), mask);
        keys.long[eight / 8] |= u64::from(long) << (8 * (eight % 8));
        store(low, keys.low[8 * eight..].first_chunk_mut().expect(EIGHTS));
        store(high, keys.high[8 * eight..].first_chunk_mut().expect(EIGHTS));
        store_half(line, keys.line[8 * eight..].first_chunk_mut().expect(EIGHTS));
        before = ends.last().copied().unwrap_or(before);
        prefetch(text, before as usize + ahead);
        // From memory, of the eight before: to get each from the register takes longer.
        for &line in &keys.line[8 * eight.saturating_sub(1)..][..8] {
            prefetch(lines, line as usize);
        }
    }
    for &line in &keys.line[8 * (ends.len().saturating_sub(1) / 8)..][..8] {
        prefetch(lines, line as usize);
    }
    true
}

/// The 16 bytes of `text` from each place of `at` on, and zeros behind its end. It has at least 16.
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn windows(text: &[u8], at: __m512i) -> (__m512i, __m512i) {
    let last = text.len().checked_sub(16).expect("a window");
    let last = _mm512_min_epu64(at, _mm512_set1_epi64((last as u64).cast_signed()));
    // SAFETY: no place is later than 16 bytes before the end of `text`.
    let (low, high) = unsafe {
        (
            _mm512_i64gather_epi64::<1>(last, text.as_ptr().cast()),
            _mm512_i64gather_epi64::<1>(last, text.as_ptr().add(8).cast()),
        )
    };
    if _mm512_cmpneq_epi64_mask(at, last) == 0 {
        return (low, high);
    }
    shifted(low, high, _mm512_sub_epi64(at, last))
}

/// What is left of 16 bytes without the first `bytes`, before zeros.
#[target_feature(enable = "avx512f")]
#[inline]
fn shifted(low: __m512i, high: __m512i, bytes: __m512i) -> (__m512i, __m512i) {
    let word = _mm512_set1_epi64(64);
    let bits = _mm512_slli_epi64::<3>(bytes);
    // A shift by 64 or more, or by less than nothing, leaves nothing.
    let across = _mm512_sllv_epi64(high, _mm512_sub_epi64(word, bits));
    let over = _mm512_srlv_epi64(high, _mm512_sub_epi64(bits, word));
    let low = _mm512_or_si512(_mm512_srlv_epi64(low, bits), _mm512_or_si512(across, over));
    (low, _mm512_srlv_epi64(high, bits))
}

/// The pieces of `len` bytes that begin with `low` and `high`, as keys.
#[target_feature(enable = "avx512f,avx512vl")]
#[inline]
fn trimmed(low: __m512i, high: __m512i, len: __m256i) -> (__m512i, __m512i) {
    let (ones, word) = (_mm512_set1_epi64(-1), _mm512_set1_epi64(64));
    let bits = _mm512_slli_epi64::<3>(_mm512_cvtepu32_epi64(len));
    let bits_high = _mm512_sub_epi64(_mm512_max_epu64(bits, word), word);
    let low = _mm512_andnot_si512(_mm512_sllv_epi64(ones, bits), low);
    let high = _mm512_andnot_si512(_mm512_sllv_epi64(ones, bits_high), high);
    // The length goes to the highest byte.
    (low, _mm512_or_si512(high, _mm512_slli_epi64::<53>(bits)))
}

/// [`Key::line`](super::super::turn::Key::line) before it is masked.
#[target_feature(enable = "avx512f")]
#[inline]
fn line_of(low: __m512i, high: __m512i) -> __m256i {
    let both = _mm512_xor_si512(low, _mm512_rol_epi64::<TURNED>(high));
    let [one, two] = FACTORS.map(|factor| _mm512_set1_epi64(i64::from(factor)));
    let sum = _mm512_add_epi64(
        _mm512_mul_epu32(both, one),
        _mm512_mul_epu32(_mm512_srli_epi64::<32>(both), two),
    );
    _mm512_cvtepi64_epi32(_mm512_xor_si512(sum, _mm512_srli_epi64::<32>(sum)))
}

pub(in super::super) fn probe(lines: &[Line], keys: &Keys, count: usize, found: &mut Found) {
    // SAFETY: only a `Level` for which `is_here` was true calls it.
    unsafe { probe_compiled(lines, keys, count, found) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,bmi2,popcnt")]
fn probe_compiled(lines: &[Line], keys: &Keys, count: usize, found: &mut Found) {
    #[expect(clippy::cast_possible_truncation, reason = "a power of two of at most 32 bits")]
    let mask = _mm256_set1_epi32((lines.len() as u32).wrapping_sub(1).cast_signed());
    (found.count, found.misses) = (0, 0);
    for first in (0..count).step_by(8) {
        let line = load_half(eight_of(&keys.line, first));
        let line = _mm512_cvtepu32_epi64(_mm256_and_si256(line, mask));
        let at = _mm512_slli_epi64::<3>(line);
        // SAFETY: with the mask each line is one of `lines`, which has 8 words: the key, the ids of
        // the first slot, and so on.
        let word = |number| unsafe {
            _mm512_i64gather_epi64::<8>(at, lines.as_ptr().cast::<i64>().add(number))
        };
        let (low, high, ids) = (word(0), word(1), word(2));
        let same = _mm512_cmpeq_epi64_mask(low, load(eight_of(&keys.low, first)))
            & _mm512_cmpeq_epi64_mask(high, load(eight_of(&keys.high, first)));
        let here = 0xFF_u8 >> (8 - (count - first).min(8));
        let two = (!same | _mm512_movepi64_mask(ids)) & here;
        if two == 0 {
            store(ids, found.words[found.count..].first_chunk_mut().expect(ROOM));
            found.count += here.count_ones() as usize;
        } else {
            give(found, first, [ids, word(3)], same, here);
        }
    }
}

/// The words of eight pieces from `first` on, of which some have two, `ids` and `more`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,bmi2,popcnt")]
fn give(found: &mut Found, first: usize, [ids, more]: [__m512i; 2], same: u8, here: u8) {
    let absent = _mm512_set1_epi64(NO_IDS.cast_signed());
    let missed = (!same | _mm512_cmpeq_epi64_mask(ids, _mm512_set1_epi64(-1))) & here;
    let two = missed | _mm512_movepi64_mask(ids) & here;
    let ids = _mm512_mask_mov_epi64(_mm512_and_si512(ids, absent), missed, absent);
    let more = _mm512_mask_mov_epi64(more, missed, absent);
    // The words side by side, and of these the ones that are used.
    let spread = |bits: u8, places| _pdep_u32(u32::from(bits), places);
    #[expect(clippy::cast_possible_truncation, reason = "16 bits")]
    let used = (spread(here, 0x5555) | spread(two, 0xAAAA)) as u16;
    let [low_used, high_used] = used.to_le_bytes();
    let low = _mm512_permutex2var_epi64(ids, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), more);
    let high = _mm512_permutex2var_epi64(ids, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), more);
    let before = found.count;
    for (words, used) in [(low, low_used), (high, high_used)] {
        let room = found.words[found.count..].first_chunk_mut().expect(ROOM);
        store(_mm512_maskz_compress_epi64(used, words), room);
        found.count += used.count_ones() as usize;
    }
    // The number of each used word, of which the first of each piece counts.
    let numbers = _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let places = _mm256_maskz_expand_epi16(used, numbers);
    let places = _mm256_and_si256(places, _mm256_set1_epi32(0xFFFF));
    let eight = _mm256_setr_epi32(0, 1 << 16, 2 << 16, 3 << 16, 4 << 16, 5 << 16, 6 << 16, 7 << 16);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        reason = "a few hundred"
    )]
    let start = _mm256_set1_epi32((first << 16 | before) as i32);
    let both = _mm256_add_epi32(_mm256_add_epi32(places, eight), start);
    let packed = _mm256_maskz_compress_epi32(missed, both);
    let room: &mut [Missed; 8] = found.missed[found.misses..].first_chunk_mut().expect(ROOM);
    // SAFETY: writes the 32 bytes of `room`, in each four a place and, above, an index.
    unsafe { _mm256_storeu_si256(room.as_mut_ptr().cast(), packed) };
    found.misses += missed.count_ones() as usize;
}

/// Eight of the numbers of a turn, from `first` on, which is a multiple of eight.
#[inline(always)]
fn eight_of<T>(numbers: &[T; TURN], first: usize) -> &[T; 8] {
    numbers[first..].first_chunk().expect(EIGHTS)
}

pub(in super::super) fn unpack(words: &[u64], out: &mut [u32]) -> usize {
    // SAFETY: only a `Level` for which `is_here` was true calls it.
    unsafe { unpack_compiled(words, out) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,popcnt")]
fn unpack_compiled(words: &[u64], out: &mut [u32]) -> usize {
    /// The bits of a word that each byte of its four ids begins at, for fields of 21 bits.
    const PLACES: [i64; 2] = [0x2D25_1D15_1810_0800, 0x0000_0000_023A_322A];
    /// Of the fourth nothing is used.
    const USED: u16 = 0x7777;
    const { assert!(FIELD == 21) };
    let [two, one] = PLACES;
    let places = _mm512_setr_epi64(two, one, two, one, two, one, two, one);
    let none = _mm512_set1_epi32(NONE.cast_signed());
    let halves =
        [_mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3), _mm512_setr_epi64(4, 4, 5, 5, 6, 6, 7, 7)];
    let third = _mm512_set1_epi64(i64::from(NONE) << 42);
    let low = _mm512_set1_epi64(0xFFFF_FFFF);
    let mut count = 0;
    for eight in words.chunks(8) {
        let here = 0xFF_u8 >> (8 - eight.len());
        let absent = _mm512_set1_epi64(NO_IDS.cast_signed());
        // SAFETY: only the words of `eight` are read.
        let eight = unsafe { _mm512_mask_loadu_epi64(absent, here, eight.as_ptr().cast()) };
        // Mostly there is no third id, and then the first two are soon put side by side.
        if _mm512_cmplt_epu64_mask(eight, third) == 0 {
            let ids = _mm512_ternarylogic_epi64::<0xB8>(_mm512_slli_epi64::<11>(eight), low, eight);
            let ids = _mm512_and_si512(ids, none);
            let used = _mm512_cmpneq_epi32_mask(ids, none);
            let packed = _mm512_maskz_compress_epi32(used, ids);
            let room: &mut [u32; 16] = out[count..].first_chunk_mut().expect("room for each id");
            // SAFETY: writes the 64 bytes of `room`; no alignment is asked for.
            unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), packed) };
            count += used.count_ones() as usize;
            continue;
        }
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

/// [`super::super::pairs::lacking`] for the 64 bytes of `text` behind the first four.
#[inline(always)]
pub(in super::super) fn lacking(filter: &Filter, text: &[u8], places: u64) -> u64 {
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

        let (left, right) = (last_of(before), first_of(after));
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

/// The last character beyond ASCII of four bytes.
#[target_feature(enable = "avx512f")]
#[inline]
fn last_of(bytes: __m512i) -> __m512i {
    let word = |value: i64| _mm512_set1_epi64(value);
    let second = _mm512_and_si512(bytes, word(0xFF00));
    let third = _mm512_and_si512(bytes, word(0xFF_0000));
    let is_two = _mm512_cmpge_epu64_mask(second, word(0xC000));
    let is_three = _mm512_cmpge_epu64_mask(third, word(0xE0_0000));
    let last = _mm512_mask_and_epi64(bytes, is_three, bytes, word(0xFF_FFFF));
    _mm512_mask_and_epi64(last, is_two, bytes, word(0xFFFF))
}

/// The first character beyond ASCII of four bytes.
#[target_feature(enable = "avx512f")]
#[inline]
fn first_of(bytes: __m512i) -> __m512i {
    let below = |bound: i64| _mm512_cmplt_epu64_mask(bytes, _mm512_set1_epi64(bound));
    let first = _mm512_mask_srli_epi64::<8>(bytes, below(0xF000_0000), bytes);
    _mm512_mask_srli_epi64::<16>(first, below(0xE000_0000), bytes)
}
