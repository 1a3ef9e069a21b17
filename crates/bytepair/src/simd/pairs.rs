//! Which pairs of neighbours among characters beyond ASCII some token has: see [`crate::merge::cuts`].
//!
//! Hashed bits, so the answer "it may" can be wrong, and "none has it" cannot.

/// log2 of the bits for pairs: 128 KiB, of which the largest vocabularies fill a tenth.
const BITS: u32 = 20;
/// What a pair is hashed with: the highest bits of the product.
pub(super) const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
/// How far down these are.
pub(super) const SHIFT: u32 = 64 - BITS;

const PAIRS: usize = 1 << (BITS - 6);
const PARTS: usize = 1 << 10;

/// Pairs of characters, and of the bytes at which they meet.
#[derive(Debug)]
pub(crate) struct Filter {
    pub(super) pairs: Box<[u64; PAIRS]>,
    /// Bit `last byte << 8 | first byte` of characters that a token has in part.
    pub(super) parts: Box<[u64; PARTS]>,
}

/// The word and the bit that a number has among two to the power of `bits`, by its hash.
#[inline(always)]
pub(crate) fn hashed_bit(number: u64, bits: u32) -> (usize, u64) {
    let hash = number.wrapping_mul(FACTOR) >> (64 - bits);
    ((hash >> 6) as usize, 1 << (hash & 63))
}

fn pair_bit(left: u64, right: u64) -> (usize, u64) {
    hashed_bit(left << 32 | right, BITS)
}

fn part_bit(last: u8, first: u8) -> (usize, u64) {
    (usize::from(last) << 2 | usize::from(first >> 6), 1 << (first & 63))
}

/// The last character beyond ASCII of four bytes.
#[inline(always)]
fn last_of(bytes: u32) -> u64 {
    let length_mask = if bytes >> 8 & 0xFF >= 0xC0 {
        0xFFFF
    } else if bytes >> 16 & 0xFF >= 0xE0 {
        0xFF_FFFF
    } else {
        u32::MAX
    };
    u64::from(bytes & length_mask)
}

/// The first character beyond ASCII of four bytes.
#[inline(always)]
fn first_of(bytes: u32) -> u64 {
    let behind = match bytes >> 24 {
        0..0xE0 => 16,
        0xE0..0xF0 => 8,
        _ => 0,
    };
    u64::from(bytes >> behind)
}

impl Filter {
    pub(crate) fn new() -> Self {
        let made = "as many as were asked for";
        Self {
            pairs: vec![0; PAIRS].try_into().expect(made),
            parts: vec![0; PARTS].try_into().expect(made),
        }
    }

    /// Some token has these two characters, their bytes as one number, side by side.
    pub(crate) fn add_pair(&mut self, left: u64, right: u64) {
        let (word, bit) = pair_bit(left, right);
        self.pairs[word] |= bit;
    }

    /// Some token has characters side by side of which it has one in part; they meet at these bytes.
    pub(crate) fn add_part(&mut self, last: u8, first: u8) {
        let (word, bit) = part_bit(last, first);
        self.parts[word] |= bit;
    }

    /// Whether no token has the two characters that meet at `at`; no where fewer than four bytes are on
    /// either side.
    #[inline(always)]
    pub(crate) fn lacks(&self, text: &[u8], at: usize) -> bool {
        let (before, after) = (text[..at].last_chunk(), text[at..].first_chunk());
        let (Some(before), Some(after)) = (before, after) else { return false };
        let (before, after) = (u32::from_be_bytes(*before), u32::from_be_bytes(*after));
        let [.., last] = before.to_be_bytes();
        let [first, ..] = after.to_be_bytes();
        let (word, bit) = part_bit(last, first);
        let in_part = self.parts[word] & bit;
        let (word, bit) = pair_bit(last_of(before), first_of(after));
        in_part | self.pairs[word] & bit == 0
    }
}

/// Which of `places`, bits for the bytes from `first` on, are such.
#[inline(always)]
pub(crate) fn among(places: u64, first: usize, is_such: impl Fn(usize) -> bool) -> u64 {
    // Whether a place is one is a coin that no branch guesses.
    let (mut left, mut found) = (places, 0);
    while left != 0 {
        let bit = left.trailing_zeros();
        left &= left - 1;
        found |= u64::from(is_such(first + bit as usize)) << bit;
    }
    found
}

/// The definition of [`super::Level::lacking`].
pub(super) fn lacking(filter: &Filter, text: &[u8], first: usize, places: u64) -> u64 {
    among(places, first, |at| filter.lacks(text, at))
}
