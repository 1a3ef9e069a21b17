//! Which two characters a merge may join.
//!
//! What a merge makes is a token, so between two characters that no merge puts next to each other
//! none ever joins: the ids of the two sides do not depend on each other. Most words of most texts
//! begin at such a place, and so a long text is many pieces. Exact for ASCII; beyond it a filter of
//! hashed bits, which may say that two are joined when they are not: that costs a cut and no more.

/// log2 of the bits of the filter: 256 KiB, of which Gemma's 30,000 pairs fill a sixtieth.
const BITS: u32 = 21;

#[derive(Debug, Clone)]
pub(super) struct Joins {
    ascii: [u128; 128],
    others: Vec<u64>,
}

fn bit(left: char, right: char) -> (usize, u64) {
    let pair = u64::from(u32::from(left)) << 32 | u64::from(u32::from(right));
    let hash = pair.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let hash = (hash ^ hash >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - BITS);
    ((hash >> 6) as usize, 1 << (hash & 63))
}

impl Joins {
    pub(super) fn new() -> Self {
        Self { ascii: [0; 128], others: vec![0; 1 << (BITS - 6)] }
    }

    /// Notes that a merge joins `left` and `right`.
    pub(super) fn add(&mut self, left: &str, right: &str) {
        let (Some(left), Some(right)) = (left.chars().next_back(), right.chars().next()) else {
            return;
        };
        if left.is_ascii() && right.is_ascii() {
            self.ascii[left as usize] |= 1 << (right as usize);
        } else {
            let (word, bit) = bit(left, right);
            self.others[word] |= bit;
        }
    }

    /// Whether a merge may join them.
    #[inline]
    pub(super) fn has(&self, left: char, right: char) -> bool {
        if left.is_ascii() && right.is_ascii() {
            self.ascii[left as usize] & 1 << (right as usize) != 0
        } else {
            let (word, bit) = bit(left, right);
            self.others[word] & bit != 0
        }
    }
}
