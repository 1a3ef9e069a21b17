//! Remembers the ids of pieces that [`super::cache`] has no room for: longer ones, and those of
//! more ids. Bounded and exact.
//!
//! Two-way associative like that one, over slots of 128 bytes which hold the whole piece.

use super::huge;

/// The longest piece that is remembered, in bytes.
pub const MOST: usize = 48;
/// The most ids of a piece that are remembered.
const IDS_MOST: usize = 18;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key {
    /// The piece, and zeros behind it.
    words: [u64; MOST / 8],
    len: u32,
}

#[derive(Debug, Clone, Copy)]
#[repr(align(128))]
struct Slot {
    key: Key,
    /// How many of `ids` there are.
    count: u32,
    ids: [u32; IDS_MOST],
}

/// Its key is no piece's.
const EMPTY: Slot = Slot { key: Key { words: [0; 6], len: 0 }, count: 0, ids: [0; IDS_MOST] };

/// Piece → ids, for pieces of at most [`MOST`] bytes.
#[derive(Debug)]
pub struct LongCache {
    lines: Vec<[Slot; 2]>,
    shift: u32,
}

impl Key {
    #[inline]
    fn new(piece: &[u8]) -> Self {
        let mut words = [0; MOST / 8];
        let (chunks, rest) = piece.as_chunks::<8>();
        for (word, chunk) in words.iter_mut().zip(chunks) {
            *word = u64::from_le_bytes(*chunk);
        }
        if let Some(last) = words.get_mut(chunks.len()) {
            *last = rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most MOST")]
        let len = piece.len() as u32;
        Self { words, len }
    }
}

impl LongCache {
    /// An empty cache of 2 to the power of `bits` lines, 256 bytes each, all of it written here.
    pub fn with_bits(bits: u32) -> Self {
        Self { lines: huge::filled(1 << bits, [EMPTY; 2]), shift: 64 - bits }
    }

    /// Makes room for 2 to the power of `bits` lines. What the cache holds stays.
    pub fn grow(&mut self, bits: u32) {
        let old = std::mem::replace(self, Self::with_bits(bits));
        for [first, second] in old.lines {
            for slot in [second, first].into_iter().filter(|slot| slot.key.len > 0) {
                self.put(slot);
            }
        }
    }

    #[inline]
    fn line(&self, key: &Key) -> usize {
        let mix = |hash: u64, word: u64| {
            let product = u128::from(hash ^ word) * 0x9E37_79B9_7F4A_7C15;
            #[expect(clippy::cast_possible_truncation, reason = "folds the product to 64 bits")]
            let folded = product as u64 ^ (product >> 64) as u64;
            folded
        };
        let used = &key.words[..(key.len as usize).div_ceil(8)];
        let hash = used.iter().fold(u64::from(key.len), |hash, &word| mix(hash, word));
        #[expect(clippy::cast_possible_truncation, reason = "at most `bits` bits are left")]
        let line = (hash.wrapping_mul(0xD1B5_4A32_D192_ED03) >> self.shift) as usize;
        line
    }

    /// The ids of `piece`, if they are remembered.
    #[inline]
    pub fn get(&self, piece: &[u8]) -> Option<&[u32]> {
        if piece.len() > MOST {
            return None;
        }
        let key = Key::new(piece);
        let line = &self.lines[self.line(&key)];
        let slot = line.iter().find(|slot| slot.key == key)?;
        slot.ids.get(..slot.count as usize)
    }

    /// Remembers `ids` for `piece`, if it is short enough and they are few enough.
    pub fn insert(&mut self, piece: &[u8], ids: &[u32]) {
        if piece.is_empty() || piece.len() > MOST || ids.len() > IDS_MOST {
            return;
        }
        let mut slot = Slot { key: Key::new(piece), ..EMPTY };
        for (place, &id) in slot.ids.iter_mut().zip(ids) {
            *place = id;
            slot.count += 1;
        }
        self.put(slot);
    }

    fn put(&mut self, slot: Slot) {
        let line = self.line(&slot.key);
        let [first, second] = &mut self.lines[line];
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
        let mut cache = LongCache::with_bits(4);
        let text: Vec<u8> = (0..=255).collect();
        for len in 1..=MOST + 1 {
            let ids: Vec<u32> = (0..20).map(|id| id * 1000).take(len.min(19)).collect();
            cache.insert(&text[..len], &ids);
            let kept = len <= MOST && ids.len() <= IDS_MOST;
            assert_eq!(cache.get(&text[..len]), kept.then_some(&ids[..]), "{len}");
            assert_eq!(cache.get(&text[1..=len]), None);
        }
        // A zero at the end is not the padding of a shorter piece.
        cache.insert(b"a", &[1]);
        assert_eq!(cache.get(b"a\0"), None);
        cache.grow(6);
        assert_eq!(cache.get(b"a"), Some(&[1][..]));
    }
}
