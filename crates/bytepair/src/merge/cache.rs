//! Remembers the ids of short pieces: bounded and exact.
//!
//! Two-way associative over lines of two 32-byte slots. A slot holds the piece itself (at most 15
//! bytes and its length, as one 128-bit key) and up to three ids, so a hit is one line of memory and
//! nothing is ever trusted to a hash alone. A new piece takes the first place of its line and pushes
//! the older one to the second. Longer pieces and longer results go to [`super::long`].

/// The longest piece that is remembered, in bytes.
pub const KEY_MOST: usize = 15;
/// The most ids of a piece that are remembered.
pub const IDS_MOST: usize = 3;

/// The place of a piece that is not remembered.
pub const NOWHERE: u32 = u32::MAX;
/// The key of a piece that is too long to have one.
pub const NO_KEY: u128 = 0;

#[derive(Debug, Clone, Copy)]
struct Slot {
    key: u128,
    ids: [u32; IDS_MOST],
    /// How many ids, or [`FAR`].
    len: u32,
}

/// The ids are too many for a slot: [`super::long`] may have them.
const FAR: u32 = u32::MAX;

/// Its key is no piece's (it has length 0) and not [`NO_KEY`].
const EMPTY: Slot = Slot { key: 1, ids: [0; IDS_MOST], len: 0 };

/// Piece → ids, for short pieces.
#[derive(Debug)]
pub struct PieceCache {
    lines: Vec<[Slot; 2]>,
    shift: u32,
}

/// The key of the piece `text[start..end]`; [`NO_KEY`] when it is too long, and for no other.
#[inline]
pub fn key(text: &[u8], start: usize, end: usize) -> u128 {
    let len = end - start;
    if len > KEY_MOST {
        return NO_KEY;
    }
    let bytes = if let Some(window) = text.get(start..start + 16) {
        let window: [u8; 16] = window.try_into().expect("a window of 16 bytes");
        u128::from_le_bytes(window) & ((1 << (8 * len)) - 1)
    } else {
        let mut window = [0; 16];
        window[..len].copy_from_slice(&text[start..end]);
        u128::from_le_bytes(window)
    };
    bytes | (len as u128) << 120
}

impl PieceCache {
    /// An empty cache of 2 to the power of `bits` lines, 64 bytes each, all of it written here.
    pub fn with_bits(bits: u32) -> Self {
        let mut lines = Vec::with_capacity(1 << bits);
        lines.resize(1 << bits, [EMPTY; 2]);
        Self { lines, shift: 64 - bits }
    }

    /// Makes room for 2 to the power of `bits` lines. What the cache holds stays.
    pub fn grow(&mut self, bits: u32) {
        let old = std::mem::replace(self, Self::with_bits(bits));
        for [first, second] in old.lines {
            for slot in [second, first].into_iter().filter(|slot| slot.key != EMPTY.key) {
                self.put(slot);
            }
        }
    }

    #[inline]
    fn line(&self, key: u128) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "the two halves of the key")]
        let (low, high) = (key as u64, (key >> 64) as u64);
        let product =
            u128::from(low ^ 0x9E37_79B9_7F4A_7C15) * u128::from(high ^ 0xD1B5_4A32_D192_ED03);
        #[expect(clippy::cast_possible_truncation, reason = "folds the product to 64 bits")]
        let folded = product as u64 ^ (product >> 64) as u64;
        #[expect(clippy::cast_possible_truncation, reason = "at most `bits` bits are left")]
        let line = (folded.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize;
        line
    }

    /// Where the ids of `key` lie, or [`NOWHERE`]. Takes no branch, so that the memory of many keys
    /// is fetched at the same time.
    #[inline]
    pub fn find(&self, key: u128) -> u32 {
        let line = self.line(key);
        let [first, second] = &self.lines[line];
        #[expect(clippy::cast_possible_truncation, reason = "there are 2^16 lines at most")]
        let place = (line as u32) << 1;
        let second = if second.key == key { place | 1 } else { NOWHERE };
        if first.key == key { place } else { second }
    }

    #[inline]
    fn slot(&self, place: u32, key: u128) -> Option<&Slot> {
        let slot = &self.lines.get(place as usize >> 1)?[place as usize & 1];
        (slot.key == key).then_some(slot)
    }

    /// The ids at `place`, if they are still those of `key`: unused ones behind the first `len`.
    #[inline]
    pub fn at(&self, place: u32, key: u128) -> Option<(&[u32; IDS_MOST], usize)> {
        let slot = self.slot(place, key).filter(|slot| slot.len != FAR)?;
        Some((&slot.ids, slot.len as usize))
    }

    /// Whether the piece of `key`, at `place`, was last seen with too many ids.
    pub fn is_far(&self, place: u32, key: u128) -> bool {
        self.slot(place, key).is_some_and(|slot| slot.len == FAR)
    }

    /// Remembers `ids` for `key`, and tells whether there was room. If they are too many, that is
    /// what it remembers.
    pub fn insert(&mut self, key: u128, ids: &[u32]) -> bool {
        if key == NO_KEY {
            return false;
        }
        if ids.len() > IDS_MOST {
            self.put(Slot { key, ids: [0; IDS_MOST], len: FAR });
            return false;
        }
        let mut slot = Slot { key, ids: [0; IDS_MOST], len: 0 };
        for (place, &id) in slot.ids.iter_mut().zip(ids) {
            *place = id;
            slot.len += 1;
        }
        self.put(slot);
        true
    }

    fn put(&mut self, slot: Slot) {
        let line = self.line(slot.key);
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
        let mut cache = PieceCache::with_bits(4);
        let text: Vec<u8> = (0..=255).collect();
        for len in 1..=KEY_MOST {
            let piece = key(&text, 0, len);
            let ids: Vec<u32> = (0..5).map(|id| id * 1000).take(len).collect();
            let few = ids.len() <= IDS_MOST;
            assert_eq!(cache.insert(piece, &ids), few);
            let place = cache.find(piece);
            let found = cache.at(place, piece).map(|(ids, len)| &ids[..len]);
            assert_eq!(found, few.then_some(&ids[..]), "{len}");
            assert_eq!(cache.is_far(place, piece), !few, "{len}");
            let other = key(&text, 1, len + 1);
            assert_eq!(cache.find(other), NOWHERE);
            assert!(cache.at(place, other).is_none() && !cache.is_far(place, other));
        }
        assert_eq!(key(&text, 0, KEY_MOST + 1), NO_KEY);
        assert!(!cache.insert(NO_KEY, &[1]));
        assert_eq!(cache.find(NO_KEY), NOWHERE);
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
            assert_eq!(cache.at(cache.find(key), key), Some((&[id, 0, 0], 1)));
        }
    }
}
