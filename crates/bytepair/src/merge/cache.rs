//! Remembers the ids of short pieces: bounded and exact.
//!
//! Two-way associative over lines of two 32-byte slots. A slot holds the piece itself (at most 15
//! bytes and its length, as one 128-bit key) and up to three ids, so a hit is one line of memory and
//! nothing is ever trusted to a hash alone. A new piece takes the first place of its line and pushes
//! the older one to the second. Longer pieces and longer results are not kept.

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
    len: u32,
}

/// Its key is no piece's (it has length 0) and not [`NO_KEY`].
const EMPTY: Slot = Slot { key: 1, ids: [0; IDS_MOST], len: 0 };

/// A cache has 2 to the power of this many lines at first: 1 MiB.
const FIRST_BITS: u32 = 14;
/// And this many for long texts: 4 MiB.
const LAST_BITS: u32 = 16;

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
    /// An empty cache. Its memory is written here, so that later use asks the system for none.
    pub fn new() -> Self {
        Self::with_bits(FIRST_BITS)
    }

    fn with_bits(bits: u32) -> Self {
        let mut lines = Vec::with_capacity(1 << bits);
        lines.resize(1 << bits, [EMPTY; 2]);
        Self { lines, shift: 64 - bits }
    }

    /// Makes room for the pieces of a long text, once. What the cache holds stays.
    pub fn grow(&mut self) {
        if self.shift == 64 - LAST_BITS {
            return;
        }
        let old = std::mem::replace(self, Self::with_bits(LAST_BITS));
        for [first, second] in old.lines {
            for slot in [second, first].into_iter().filter(|slot| slot.key != EMPTY.key) {
                self.insert(slot.key, &slot.ids[..slot.len as usize]);
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

    /// The ids at `place`, if they are still those of `key`: unused ones behind the first `len`.
    #[inline]
    pub fn at(&self, place: u32, key: u128) -> Option<(&[u32; IDS_MOST], usize)> {
        let slot = &self.lines.get(place as usize >> 1)?[place as usize & 1];
        (slot.key == key).then_some((&slot.ids, slot.len as usize))
    }

    /// Remembers `ids` for `key`, if they are few enough.
    pub fn insert(&mut self, key: u128, ids: &[u32]) {
        if ids.len() > IDS_MOST || key == NO_KEY {
            return;
        }
        let mut slot = Slot { key, ids: [0; IDS_MOST], len: 0 };
        for (place, &id) in slot.ids.iter_mut().zip(ids) {
            *place = id;
            slot.len += 1;
        }
        let line = self.line(key);
        let [first, second] = &mut self.lines[line];
        *second = std::mem::replace(first, slot);
    }
}

impl Default for PieceCache {
    fn default() -> Self {
        Self::new()
    }
}
