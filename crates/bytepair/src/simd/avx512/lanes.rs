//! Sixteen pieces merged side by side.

#![expect(unsafe_code, reason = "gathers: new pieces are merged twice as fast, long ones 3 times")]

#[allow(clippy::wildcard_imports, reason = "the names of intrinsics say where they are from")]
use std::arch::x86_64::*;

use super::super::lanes::{LANES, Lanes, PARTS, SLOTS_MOST, Table};
use super::{load, store};
use crate::merge::table::{FILTER_BITS, Hash, NO_RANK};

/// The numbers of the lanes.
const COLUMNS: [u32; LANES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// Merges the pieces of `lanes`.
pub(in super::super) fn merge(table: Table<'_>, lanes: &mut Lanes) {
    // What the gathers rest on.
    assert!(lanes.rows <= PARTS, "a place is the number of a bit in a word");
    let bits = 32 - table.hash.shift;
    assert!(table.slots.len() == 1 << bits && table.slots.len() <= SLOTS_MOST, "places fit an i32");
    assert!(table.filter.len() == 1 << (bits + FILTER_BITS) >> 5, "a bit for each hash");
    // SAFETY: only a `Level` for which `is_here` was true calls it.
    unsafe { merge_compiled(table, lanes) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd")]
fn merge_compiled(table: Table<'_>, lanes: &mut Lanes) {
    let none = _mm512_set1_epi32(-1);
    let mut alive = [
        load(lanes.alive[..8].first_chunk::<8>().expect("of 16")),
        load(lanes.alive[8..].first_chunk::<8>().expect("of 16")),
    ];
    loop {
        let (rank, at) = lowest(&lanes.ranks[..lanes.rows]);
        let active = _mm512_cmpneq_epi32_mask(rank, none);
        if active == 0 {
            break;
        }
        let [next, after, before] = sides(&mut alive, at, active);
        let id = get(&lanes.made, at, active);
        let right = get(&lanes.ids, after, there(after) & active);
        let left = get(&lanes.ids, before, there(before) & active);
        set(&mut lanes.ids, at, active, id);
        set(&mut lanes.ranks, next, there(next) & active, none);
        let pairs = [
            Pairs { left: id, right, mask: there(after) & active },
            Pairs { left, right: id, mask: there(before) & active },
        ];
        let [behind, ahead] = look_up(table, &pairs);
        set(&mut lanes.ranks, at, active, behind.rank);
        set(&mut lanes.made, at, active, behind.made);
        set(&mut lanes.ranks, before, pairs[1].mask, ahead.rank);
        set(&mut lanes.made, before, pairs[1].mask, ahead.made);
    }
    store(alive[0], lanes.alive[..8].first_chunk_mut().expect("of 16"));
    store(alive[1], lanes.alive[8..].first_chunk_mut().expect("of 16"));
}

/// The lowest rank of each lane, and its first place.
#[target_feature(enable = "avx512f")]
#[inline]
fn lowest(ranks: &[[u32; LANES]]) -> (__m512i, __m512i) {
    let (mut best, mut at) = (_mm512_set1_epi32(-1), _mm512_setzero_si512());
    for (row, place) in ranks.iter().zip(0..) {
        let row = load(row);
        let less = _mm512_cmplt_epu32_mask(row, best);
        best = _mm512_min_epu32(best, row);
        at = _mm512_mask_mov_epi32(at, less, _mm512_set1_epi32(place));
    }
    (best, at)
}

/// The lanes of `places` that have one.
#[target_feature(enable = "avx512f")]
#[inline]
fn there(places: __m512i) -> __mmask16 {
    _mm512_cmpge_epi32_mask(places, _mm512_setzero_si512())
}

/// The places of the part behind the one at `at`, of the one behind that, and of the one before; -1
/// where there is none. The first of them is taken out of the active lanes of `alive`.
#[target_feature(enable = "avx512f,avx512cd")]
#[inline]
fn sides(alive: &mut [__m512i; 2], at: __m512i, active: __mmask16) -> [__m512i; 3] {
    let [low, high] = &mut *alive;
    #[expect(clippy::cast_possible_truncation, reason = "its two halves")]
    let (first, second) = (
        sides_of(low, _mm512_castsi512_si256(at), active as u8),
        sides_of(high, _mm512_extracti64x4_epi64::<1>(at), (active >> 8) as u8),
    );
    let joined = |at: usize| _mm512_inserti64x4::<1>(_mm512_castsi256_si512(first[at]), second[at]);
    [joined(0), joined(1), joined(2)]
}

#[target_feature(enable = "avx512f,avx512cd")]
#[inline]
fn sides_of(alive: &mut __m512i, at: __m256i, active: u8) -> [__m256i; 3] {
    let at = _mm512_cvtepu32_epi64(at);
    let one = _mm512_set1_epi64(1);
    let behind = |place: __m512i| {
        let upto = _mm512_sub_epi64(_mm512_sllv_epi64(_mm512_set1_epi64(2), place), one);
        _mm512_andnot_si512(upto, *alive)
    };
    let lowest =
        |bits: __m512i| _mm512_and_si512(bits, _mm512_sub_epi64(_mm512_setzero_si512(), bits));
    let place = |bits: __m512i| {
        let zeros = _mm512_lzcnt_epi64(bits);
        _mm512_cvtepi64_epi32(_mm512_sub_epi64(_mm512_set1_epi64(63), zeros))
    };
    let rest = behind(at);
    let next = lowest(rest);
    let after = lowest(_mm512_andnot_si512(next, rest));
    let before = _mm512_and_si512(*alive, _mm512_sub_epi64(_mm512_sllv_epi64(one, at), one));
    *alive = _mm512_andnot_si512(_mm512_maskz_mov_epi64(active, next), *alive);
    [place(next), place(after), place(before)]
}

/// What `rows` have at these places, in the lanes of `mask`.
#[target_feature(enable = "avx512f")]
#[inline]
fn get(rows: &[[u32; LANES]; PARTS], places: __m512i, mask: __mmask16) -> __m512i {
    let index = _mm512_add_epi32(_mm512_slli_epi32::<4>(places), load(&COLUMNS));
    // SAFETY: the places in the lanes of `mask` are numbers of rows, or of bits of a word that are set,
    // and so below `PARTS`.
    unsafe {
        _mm512_mask_i32gather_epi32::<4>(_mm512_setzero_si512(), mask, index, rows.as_ptr().cast())
    }
}

/// Writes `values` to `rows` at these places, in the lanes of `mask`.
#[target_feature(enable = "avx512f")]
#[inline]
fn set(rows: &mut [[u32; LANES]; PARTS], places: __m512i, mask: __mmask16, values: __m512i) {
    let index = _mm512_add_epi32(_mm512_slli_epi32::<4>(places), load(&COLUMNS));
    // SAFETY: as in `get`.
    unsafe { _mm512_mask_i32scatter_epi32::<4>(rows.as_mut_ptr().cast(), mask, index, values) };
}

/// Pairs to be looked up, in the lanes of a mask.
struct Pairs {
    left: __m512i,
    right: __m512i,
    mask: __mmask16,
}

/// What pairs merge into: ids, and ranks, which are -1 where they do not merge and outside the mask.
struct Found {
    rank: __m512i,
    made: __m512i,
}

/// Looks pairs up: both of them at once, so that their memory is waited for together.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn look_up(table: Table<'_>, [one, two]: &[Pairs; 2]) -> [Found; 2] {
    let ((first, open), (second, also)) = (slots(table, one), slots(table, two));
    let ((ones, open), (twos, also)) =
        (step(table, one, first, open), step(table, two, second, also));
    [rest(table, one, first, open, ones), rest(table, two, second, also, twos)]
}

/// The first slots of pairs, and which the filter does not rule out.
#[target_feature(enable = "avx512f")]
#[inline]
fn slots(table: Table<'_>, pairs: &Pairs) -> (__m512i, __mmask16) {
    let Hash { factors, shift } = table.hash;
    let times = |ids, factor: u32| _mm512_mullo_epi32(ids, _mm512_set1_epi32(factor.cast_signed()));
    let sum = _mm512_add_epi32(times(pairs.left, factors[0]), times(pairs.right, factors[1]));
    let folded = _mm512_xor_si512(sum, _mm512_srli_epi32::<{ Hash::FOLD }>(sum));
    let hash = times(folded, factors[2]);
    let by = |shift: u32| _mm_cvtsi32_si128(shift.cast_signed());
    let bit = _mm512_srl_epi32(hash, by(shift - FILTER_BITS));
    // SAFETY: a hash has 32 bits, so what is left of it is below the number of words in the filter.
    let words = unsafe {
        let filter = table.filter.as_ptr().cast();
        let word = _mm512_srli_epi32::<5>(bit);
        _mm512_mask_i32gather_epi32::<4>(_mm512_setzero_si512(), pairs.mask, word, filter)
    };
    let bit = _mm512_and_si512(bit, _mm512_set1_epi32(31));
    let bit = _mm512_sllv_epi32(_mm512_set1_epi32(1), bit);
    (_mm512_srl_epi32(hash, by(shift)), _mm512_test_epi32_mask(words, bit) & pairs.mask)
}

/// What the slots at `slot` say, and in which of the `open` lanes others must be looked at.
#[target_feature(enable = "avx512f")]
#[inline]
fn step(table: Table<'_>, pairs: &Pairs, slot: __m512i, open: __mmask16) -> (Found, __mmask16) {
    let none = _mm512_set1_epi32(-1);
    let first = _mm512_slli_epi32::<2>(slot);
    let part = |which: i32| {
        let index = _mm512_add_epi32(first, _mm512_set1_epi32(which));
        // SAFETY: `slot` is a place in the slots, which have four words each.
        unsafe {
            let slots = table.slots.as_ptr().cast();
            _mm512_mask_i32gather_epi32::<4>(none, open, index, slots)
        }
    };
    let (right, left, made, rank) = (part(0), part(1), part(2), part(3));
    let here = _mm512_cmpeq_epi32_mask(right, pairs.right)
        & _mm512_cmpeq_epi32_mask(left, pairs.left)
        & open;
    // An empty slot has no rank.
    let open = open & !here & _mm512_cmpneq_epi32_mask(rank, none);
    let rank = _mm512_mask_mov_epi32(none, here, rank);
    (Found { rank, made }, open)
}

/// Looks at the slots behind, in the few lanes that are open: one by one takes less.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn rest(
    table: Table<'_>,
    pairs: &Pairs,
    slot: __m512i,
    mut open: __mmask16,
    found: Found,
) -> Found {
    if open == 0 {
        return found;
    }
    let (mut ranks, mut mades) = (words(found.rank), words(found.made));
    let (slot, left, right) = (words(slot), words(pairs.left), words(pairs.right));
    while open != 0 {
        let lane = open.trailing_zeros() as usize;
        open &= open - 1;
        let mut at = slot[lane] as usize;
        loop {
            at = (at + 1) & (table.slots.len() - 1);
            let [there, before, made, rank] = table.slots[at];
            if rank == NO_RANK || [there, before] == [right[lane], left[lane]] {
                (ranks[lane], mades[lane]) = (rank, made);
                break;
            }
        }
    }
    Found { rank: load(&ranks), made: load(&mades) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn words(from: __m512i) -> [u32; LANES] {
    let mut words = [0; LANES];
    // SAFETY: writes 64 bytes, which `words` has.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), from) };
    words
}
