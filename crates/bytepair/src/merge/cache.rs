//! Remembers the ids of pieces: bounded and exact.
//!
//! Two-way associative over lines of two 32-byte slots. A slot holds a key of 128 bits and up to
//! three ids. The key of a short piece is the piece itself (at most 15 bytes and its length), so a hit
//! is one line of memory and nothing is trusted to a hash alone. The key of a longer one is a hash,
//! and its bytes lie with its ids in `store.rs`, where more than three ids of a short one lie too.
//! A new piece takes the first place of its line and pushes the older one to the second.

use super::store::{self, Store};
use crate::huge;
use crate::simd;

/// The longest piece that is its own key, in bytes.
pub const KEY_MOST: usize = 15;
/// The most ids in a slot.
pub const IDS_MOST: usize = 3;

/// The key of a piece that is too long to be remembered.
pub const NO_KEY: u128 = 0;

#[derive(Debug, Clone, Copy)]
struct Slot {
    key: u128,
    /// Ids, and in the last place how many they are; or their place in the store, in two halves, how
    /// many, and [`FAR`].
    ids: [u32; IDS_MOST + 1],
}

/// The ids are in the store.
const FAR: u32 = u32::MAX;

/// Its key is no piece's (it has length 0) and not [`NO_KEY`].
const EMPTY: Slot = Slot { key: 1, ids: [0; IDS_MOST + 1] };

/// One line of the processor's cache.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Line([Slot; 2]);

/// Piece → ids, for short pieces.
#[derive(Debug)]
pub struct PieceCache {
    lines: Vec<Line>,
    shift: u32,
    store: Store,
}

/// What makes a key of 16 bytes of text, by the length of the piece: a mask and the length itself.
const MASKS: [(u128, u128); KEY_MOST + 1] = {
    let mut masks = [(0, NO_KEY); KEY_MOST + 1];
    let mut len = 0;
    while len <= KEY_MOST {
        masks[len] = ((1 << (8 * len)) - 1, (len as u128) << 120);
        len += 1;
    }
    masks
};

/// The key of the piece `text[start..end]`; [`NO_KEY`] when it is too long.
#[inline(always)]
pub fn key(text: &[u8], start: usize, end: usize) -> u128 {
    let len = end - start;
    if len > KEY_MOST {
        return long_key(&text[start..end]);
    }
    let window = if let Some(window) = text.get(start..start + 16) {
        window.try_into().expect("a window of 16 bytes")
    } else {
        let mut window = [0; 16];
        window[..len].copy_from_slice(&text[start..end]);
        window
    };
    let (mask, tag) = MASKS[len];
    u128::from_le_bytes(window) & mask | tag
}

/// A hash whose highest byte is the length, which no shorter piece has.
fn long_key(piece: &[u8]) -> u128 {
    if piece.len() > store::BYTES_MOST {
        return NO_KEY;
    }
    let mix = |hash: u128, word: u64| {
        #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
        let (low, high) = (hash as u64, (hash >> 64) as u64);
        (u128::from(low ^ word) * 0x9E37_79B9_7F4A_7C15) ^ u128::from(high.rotate_left(29))
    };
    let (words, rest) = piece.as_chunks::<8>();
    let hash = words.iter().fold(1, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let last = rest.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
    (mix(hash, last) >> 8 & u128::MAX >> 8) | (piece.len() as u128) << 120
}

fn is_long(key: u128) -> bool {
    key >> 120 > KEY_MOST as u128
}

impl PieceCache {
    /// An empty cache of 2 to the power of `lines` lines, 64 bytes each, and `words` words in the
    /// store, all of it written here.
    pub fn with_bits(lines: u32, words: u32) -> Self {
        let empty = Line([EMPTY; 2]);
        let store = Store::with_bits(words);
        Self { lines: huge::filled(1 << lines, empty), shift: 64 - lines, store }
    }

    /// Makes room for more. What the slots hold stays.
    pub fn grow(&mut self, lines: u32, words: u32) {
        let old = std::mem::replace(self, Self::with_bits(lines, words));
        for Line([first, second]) in old.lines {
            for slot in [second, first] {
                if slot.key != EMPTY.key && slot.ids[IDS_MOST] != FAR {
                    self.put(slot);
                }
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

    /// The ids of `piece`, of key `key`, if they are remembered; makes it the first of its line.
    pub fn get(&mut self, piece: &[u8], key: u128) -> Option<&[u32]> {
        let line = self.line(key);
        let Line(line) = &mut self.lines[line as usize];
        if line[0].key != key {
            if line[1].key != key {
                return None;
            }
            line.swap(0, 1);
        }
        match &line[0].ids {
            &[low, high, count, FAR] => {
                let place = u64::from(low) | u64::from(high) << 32;
                self.store.get(place, count as usize, if is_long(key) { piece } else { &[] })
            }
            [ids @ .., len] => ids.get(..*len as usize),
        }
    }

    /// Remembers `ids` for `piece`, of key `key`, if they are few enough and it is short enough.
    pub fn insert(&mut self, piece: &[u8], key: u128, ids: &[u32]) {
        if key == NO_KEY || ids.len() > store::IDS_MOST {
            return;
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most 64")]
        let count = ids.len() as u32;
        let mut slot = Slot { key, ids: [0, 0, 0, count] };
        if is_long(key) || ids.len() > IDS_MOST {
            let place = self.store.put(ids, if is_long(key) { piece } else { &[] });
            #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
            let halves = (place as u32, (place >> 32) as u32);
            slot.ids = [halves.0, halves.1, count, FAR];
        } else {
            slot.ids[..ids.len()].copy_from_slice(ids);
        }
        self.put(slot);
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
        let mut cache = PieceCache::with_bits(4, 10);
        let text: Vec<u8> = (0..=255).collect();
        for len in 1..=store::BYTES_MOST + 1 {
            for count in [1, IDS_MOST, IDS_MOST + 1, store::IDS_MOST, store::IDS_MOST + 1] {
                let piece = &text[..len];
                let ids: Vec<u32> = (0..70).map(|id| id * 1000).take(count).collect();
                let key_of = |piece: &[u8]| key(piece, 0, piece.len());
                assert_eq!(key_of(piece), key(&text, 0, len), "whatever stands behind");
                cache.insert(piece, key_of(piece), &ids);
                let kept = len <= store::BYTES_MOST && count <= store::IDS_MOST;
                let found = cache.get(piece, key_of(piece));
                assert_eq!(found, kept.then_some(&ids[..]).or(found), "{len} {count}");
                assert!(kept == found.is_some_and(|found| found == ids), "{len} {count}");
                let near = kept && len <= KEY_MOST && count <= IDS_MOST;
                let first = cache.first(cache.line(key_of(piece)), key_of(piece));
                assert_eq!(first.map(|ids| ids[IDS_MOST] as usize), near.then_some(count));
                let other = &text[1..=len];
                assert_eq!(cache.get(other, key_of(other)), None);
            }
        }
    }

    #[test]
    fn a_hash_alone_is_not_trusted() {
        let mut cache = PieceCache::with_bits(4, 10);
        let (one, two) = ([b'a'; 20], [b'b'; 20]);
        let key = key(&one, 0, 20);
        cache.insert(&one, key, &[1]);
        assert_eq!(cache.get(&one, key), Some(&[1][..]));
        assert_eq!(cache.get(&two, key), None, "the same key by bad luck");
    }

    #[test]
    fn growing_keeps_what_there_is() {
        let mut cache = PieceCache::with_bits(1, 8);
        let (one, two) = (key(b"one", 0, 3), key(b"two", 0, 3));
        cache.insert(b"one", one, &[1]);
        cache.insert(b"two", two, &[2]);
        cache.insert(b"two", two, &[2]);
        cache.grow(5, 9);
        assert_eq!(cache.get(b"one", one), Some(&[1][..]));
        assert_eq!(cache.get(b"two", two), Some(&[2][..]));
    }
}
