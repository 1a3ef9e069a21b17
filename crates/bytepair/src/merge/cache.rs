//! Remembers the ids of short pieces: bounded and exact.
//!
//! Two-way associative over lines of two 32-byte slots. A slot holds the piece itself (at most 15
//! bytes and its length, as one 128-bit key) and up to three ids, so a hit is one line of memory and
//! nothing is ever trusted to a hash alone. A new piece takes the first place of its line and pushes
//! the older one to the second. Longer pieces and longer results go to [`super::long`].

use super::huge;
use crate::simd;

/// The longest piece that is remembered, in bytes.
pub const KEY_MOST: usize = 15;
/// The most ids of a piece that are remembered.
pub const IDS_MOST: usize = 3;

/// The key of a piece that is too long to have one.
pub const NO_KEY: u128 = 0;

#[derive(Debug, Clone, Copy)]
struct Slot {
    key: u128,
    /// Ids, and in the last place how many they are, or [`FAR`].
    ids: [u32; IDS_MOST + 1],
}

/// The ids are too many for a slot: [`super::long`] may have them.
const FAR: u32 = u32::MAX;

/// Its key is no piece's (it has length 0) and not [`NO_KEY`].
const EMPTY: Slot = Slot { key: 1, ids: [0; IDS_MOST + 1] };

/// What there is of a piece.
#[derive(Debug, PartialEq, Eq)]
pub enum Found<'a> {
    /// It is not remembered.
    Nothing,
    /// Its ids.
    Ids(&'a [u32]),
    /// It had too many ids when it was last seen.
    Far,
}

/// One line of the processor's cache.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Line([Slot; 2]);

/// Piece → ids, for short pieces.
#[derive(Debug)]
pub struct PieceCache {
    lines: Vec<Line>,
    shift: u32,
}

/// What makes a key of 16 bytes of text, by the length of the piece: a mask and the length itself.
const MASKS: [(u128, u128); KEY_MOST + 2] = {
    let mut masks = [(0, NO_KEY); KEY_MOST + 2];
    let mut len = 0;
    while len <= KEY_MOST {
        masks[len] = ((1 << (8 * len)) - 1, (len as u128) << 120);
        len += 1;
    }
    masks
};

/// The key of the piece `text[start..end]`; [`NO_KEY`] when it is too long, and for no other.
#[inline(always)]
pub fn key(text: &[u8], start: usize, end: usize) -> u128 {
    let len = end - start;
    let window = if let Some(window) = text.get(start..start + 16) {
        window.try_into().expect("a window of 16 bytes")
    } else {
        let mut window = [0; 16];
        let len = len.min(16);
        window[..len].copy_from_slice(&text[start..start + len]);
        window
    };
    let (mask, tag) = MASKS[len.min(KEY_MOST + 1)];
    u128::from_le_bytes(window) & mask | tag
}

impl PieceCache {
    /// An empty cache of 2 to the power of `bits` lines, 64 bytes each, all of it written here.
    pub fn with_bits(bits: u32) -> Self {
        Self { lines: huge::filled(1 << bits, Line([EMPTY; 2])), shift: 64 - bits }
    }

    /// Makes room for 2 to the power of `bits` lines. What the cache holds stays.
    pub fn grow(&mut self, bits: u32) {
        let old = std::mem::replace(self, Self::with_bits(bits));
        for Line([first, second]) in old.lines {
            for slot in [second, first].into_iter().filter(|slot| slot.key != EMPTY.key) {
                self.put(slot);
            }
        }
    }

    /// The line of `key`.
    #[inline(always)]
    pub fn line(&self, key: u128) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "the two halves of the key")]
        let (low, high) = (key as u64, (key >> 64) as u64);
        let mixed = (low ^ low >> 29).wrapping_mul(0x9E37_79B9_7F4A_7C15)
            ^ (high ^ high >> 31).wrapping_mul(0xD1B5_4A32_D192_ED03);
        #[expect(clippy::cast_possible_truncation, reason = "at most `bits` bits are left")]
        let line = (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as u32;
        line
    }

    /// Asks for the memory of `line` ahead of time.
    #[inline(always)]
    pub fn prefetch(&self, line: u32) {
        if let Some(line) = self.lines.get(line as usize) {
            simd::prefetch(line);
        }
    }

    /// The first place of `line`: ids and their number, if it is that of `key`.
    #[inline(always)]
    pub fn first(&self, line: u32, key: u128) -> Option<&[u32; IDS_MOST + 1]> {
        let slot = &self.lines.get(line as usize)?.0[0];
        (slot.key == key && slot.ids[IDS_MOST] != FAR).then_some(&slot.ids)
    }

    /// The ids of `key`, or whether there were too many; makes it the first of its line.
    pub fn find(&mut self, key: u128) -> Found<'_> {
        let line = self.line(key);
        let Line(line) = &mut self.lines[line as usize];
        if line[0].key != key {
            if line[1].key != key {
                return Found::Nothing;
            }
            line.swap(0, 1);
        }
        let [ids @ .., len] = &line[0].ids;
        if *len == FAR { Found::Far } else { Found::Ids(&ids[..*len as usize]) }
    }

    /// Remembers `ids` for `key`, and tells whether there was room. If they are too many, that is
    /// what it remembers.
    pub fn insert(&mut self, key: u128, ids: &[u32]) -> bool {
        if key == NO_KEY {
            return false;
        }
        let mut slot = Slot { key, ids: [0; IDS_MOST + 1] };
        let fits = ids.len() <= IDS_MOST;
        if fits {
            slot.ids[..ids.len()].copy_from_slice(ids);
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most IDS_MOST")]
        let len = ids.len() as u32;
        slot.ids[IDS_MOST] = if fits { len } else { FAR };
        self.put(slot);
        fits
    }

    fn put(&mut self, slot: Slot) {
        let line = self.line(slot.key);
        let Line([first, second]) = &mut self.lines[line as usize];
        if first.key != slot.key {
            *second = *first;
        }
        *first = slot;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_found_and_nothing_else() {
        let mut cache = PieceCache::with_bits(4);
        let text: Vec<u8> = (0..=255).collect();
        for len in 1..=KEY_MOST {
            let piece = key(&text, 0, len);
            let ids: Vec<u32> = (0..5).map(|id| id * 1000).take(len).collect();
            let few = ids.len() <= IDS_MOST;
            assert_eq!(cache.insert(piece, &ids), few);
            let expected = if few { Found::Ids(&ids) } else { Found::Far };
            assert_eq!(cache.find(piece), expected, "{len}");
            let first = cache.first(cache.line(piece), piece);
            assert_eq!(first.map(|ids| &ids[..len]), few.then_some(&ids[..]), "{len}");
            let other = key(&text, 1, len + 1);
            assert_eq!(cache.find(other), Found::Nothing);
            assert_eq!(cache.first(cache.line(other), other), None);
        }
        assert_eq!(key(&text, 0, KEY_MOST + 1), NO_KEY);
        assert!(!cache.insert(NO_KEY, &[1]));
        assert_eq!(cache.find(NO_KEY), Found::Nothing);
    }

    #[test]
    fn growing_keeps_what_there_is() {
        let mut cache = PieceCache::with_bits(1);
        let (one, two) = (key(b"one", 0, 3), key(b"two", 0, 3));
        cache.insert(one, &[1]);
        cache.insert(two, &[2]);
        cache.insert(two, &[2]);
        cache.grow(5);
        for (key, id) in [(one, 1), (two, 2)] {
            assert_eq!(cache.find(key), Found::Ids(&[id]));
        }
    }
}
