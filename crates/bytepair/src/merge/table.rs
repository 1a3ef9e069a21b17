//! The merges as a hash table: pair of ids → (rank, id of the result).
//!
//! Open addressing over 16-byte slots, at most half full, probed linearly. The hash is keyed per
//! process, so that no file can be made whose pairs all collide; results do not depend on it. It takes
//! no more than 32 bits, so that sixteen pairs can be looked up at once (`simd/lanes.rs`).
//!
//! Most pairs that are asked for do not merge, and the slots lie in a far cache. A filter of one bit
//! per hash, a thirty-second of the size, answers most of those.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use crate::error::{Error, Result};
use crate::huge;
use crate::simd::lanes::{LANES, Lanes, PARTS, SLOTS_MOST, Table};
use crate::simd::{Level, prefetch};

/// What a pair merges into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merge {
    /// Position of the merge among all: the lowest goes first.
    pub rank: u32,
    /// Id of the token the pair becomes.
    pub id: u32,
}

/// Rank of a pair that does not merge; real ranks are below it.
pub const NO_RANK: u32 = u32::MAX;

/// A [`Merge`] in one number, which orders as its rank does.
pub type Code = u64;

/// Code of a pair that does not merge; real ones are below it.
pub const NO_CODE: Code = Code::MAX;

impl Merge {
    /// The merge with this code, unless that is [`NO_CODE`].
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "unpacks the two halves")]
    pub fn of_code(code: Code) -> Option<Self> {
        (code != NO_CODE).then_some(Self { rank: (code >> 32) as u32, id: code as u32 })
    }
}

/// A right and a left id, what they merge into, and its rank: in the lower half of 16 bytes the pair
/// as one number, in the upper half the code.
pub(crate) type Slot = [u32; 4];

/// Its rank is [`NO_RANK`].
const EMPTY: Slot = [u32::MAX; 4];

/// log2 of the bits of the filter for each slot.
pub(crate) const FILTER_BITS: u32 = 2;

/// log2 of the most slots: hashes have 32 bits.
const BITS_MOST: u32 = 32 - FILTER_BITS;

/// Looks up what a pair of ids merges into.
#[derive(Debug, Clone)]
pub struct MergeTable {
    slots: Vec<Slot>,
    /// Has a bit for the hash of each pair in the table.
    filter: Vec<u32>,
    hash: Hash,
    len: usize,
}

/// Hash of a pair, of which the upper bits count.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hash {
    /// What left, right and their sum are multiplied by: odd, and others in each process.
    pub(crate) factors: [u32; 3],
    /// How many bits the place of a slot leaves out.
    pub(crate) shift: u32,
}

impl Hash {
    /// By how many bits the sum is shifted onto itself before it is multiplied again.
    pub(crate) const FOLD: u32 = 15;

    #[inline]
    fn of(self, left: u32, right: u32) -> u32 {
        let [first, second, third] = self.factors;
        let sum = left.wrapping_mul(first).wrapping_add(right.wrapping_mul(second));
        (sum ^ sum >> Self::FOLD).wrapping_mul(third)
    }

    /// Where to look for the pair with this hash first.
    #[inline]
    fn slot(self, hash: u32) -> usize {
        (hash >> self.shift) as usize
    }

    /// The word of the filter for this hash, and its bit there.
    #[inline]
    fn filter_bit(self, hash: u32) -> (usize, u32) {
        let bit = hash >> (self.shift - FILTER_BITS);
        ((bit / 32) as usize, 1 << (bit % 32))
    }
}

static FACTORS: LazyLock<[u32; 3]> = LazyLock::new(|| {
    let state = RandomState::new();
    #[expect(clippy::cast_possible_truncation, reason = "half of it will do")]
    [0u8, 1, 2].map(|which| state.hash_one(which) as u32 | 1)
});

fn slot_of(left: u32, right: u32, merge: Merge) -> Slot {
    [right, left, merge.id, merge.rank]
}

fn code_of(slot: Slot) -> Code {
    u64::from(slot[3]) << 32 | u64::from(slot[2])
}

impl MergeTable {
    /// An empty table with room for `merges` merges.
    pub fn with_capacity(merges: usize) -> Self {
        let bits = (merges.max(8) * 2).next_power_of_two().trailing_zeros().min(BITS_MOST);
        let hash = Hash { factors: *FACTORS, shift: 32 - bits };
        let filter = vec![0; 1 << (bits + FILTER_BITS) >> 5];
        Self { slots: huge::filled(1 << bits, EMPTY), filter, hash, len: 0 }
    }

    /// What a look-up of sixteen pairs at once needs.
    fn for_lanes(&self) -> Table<'_> {
        Table { slots: &self.slots, filter: &self.filter, hash: self.hash }
    }

    /// Asks for the place of a pair ahead of time.
    pub fn prefetch(&self, left: u32, right: u32) {
        prefetch(&self.slots, self.hash.slot(self.hash.of(left, right)));
    }

    /// Adds a merge. A pair that is listed twice has the later rank, as at Hugging Face.
    pub fn insert(&mut self, left: u32, right: u32, merge: Merge) {
        debug_assert!(merge.rank < NO_RANK);
        if (self.len + 1) * 2 > self.slots.len() && self.slots.len() < 1 << BITS_MOST {
            self.grow();
        }
        let hash = self.hash.of(left, right);
        let (word, bit) = self.hash.filter_bit(hash);
        self.filter[word] |= bit;
        let mut at = self.hash.slot(hash);
        let mask = self.slots.len() - 1;
        let slot = slot_of(left, right, merge);
        while self.slots[at][3] != NO_RANK {
            if self.slots[at][..2] == slot[..2] {
                self.slots[at] = slot;
                return;
            }
            at = (at + 1) & mask;
        }
        self.slots[at] = slot;
        self.len += 1;
    }

    fn grow(&mut self) {
        let old = std::mem::replace(self, Self::with_capacity(self.slots.len()));
        for slot in old.slots {
            if let Some(merge) = Merge::of_code(code_of(slot)) {
                self.insert(slot[1], slot[0], merge);
            }
        }
    }

    /// The code of what `left` and `right` merge into, or [`NO_CODE`].
    #[inline]
    pub fn code(&self, left: u32, right: u32) -> Code {
        let hash = self.hash.of(left, right);
        let (word, bit) = self.hash.filter_bit(hash);
        if self.filter[word] & bit == 0 {
            return NO_CODE;
        }
        let mut at = self.hash.slot(hash);
        loop {
            let slot = self.slots[at];
            if slot[3] == NO_RANK || slot[..2] == [right, left] {
                return code_of(slot);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// What `left` and `right` merge into.
    #[inline]
    pub fn get(&self, left: u32, right: u32) -> Option<Merge> {
        Merge::of_code(self.code(left, right))
    }

    /// The rank of a pair, [`NO_RANK`] when it does not merge.
    #[inline]
    pub fn rank(&self, left: u32, right: u32) -> u32 {
        self.get(left, right).map_or(NO_RANK, |merge| merge.rank)
    }
}

/// What the merge engines work from: the ids of single bytes and the merges.
#[derive(Debug, Clone)]
pub struct Merges {
    byte_ids: [Option<u32>; 256],
    table: MergeTable,
    /// Codes of the pairs of single bytes, by byte values. Every piece begins with them, and the part
    /// of these 512 KiB that is used stays in a near cache where the hash table does not.
    byte_codes: Vec<Code>,
}

impl Merges {
    /// Merges of a vocab whose single bytes have these ids.
    pub fn new(byte_ids: [Option<u32>; 256], table: MergeTable) -> Self {
        let mut byte_codes = vec![NO_CODE; 1 << 16];
        for (left, left_id) in byte_ids.iter().enumerate() {
            for (right, right_id) in byte_ids.iter().enumerate() {
                if let (Some(left_id), Some(right_id)) = (left_id, right_id) {
                    byte_codes[left << 8 | right] = table.code(*left_id, *right_id);
                }
            }
        }
        Self { byte_ids, table, byte_codes }
    }

    /// The ids of the single bytes.
    pub fn byte_ids(&self) -> [Option<u32>; 256] {
        self.byte_ids
    }

    /// Merges up to [`LANES`] pieces side by side, if the level has lanes, and tells of each whether
    /// that was done; then `lanes` has its ids.
    pub(crate) fn merge_lanes(
        &self,
        level: Level,
        pieces: &[&[u8]],
        lanes: &mut Lanes,
    ) -> [bool; LANES] {
        let mut done = [false; LANES];
        if !level.has_lanes() || self.table.slots.len() > SLOTS_MOST {
            return done;
        }
        let longest = pieces.iter().map(|piece| piece.len()).max().unwrap_or(0);
        lanes.clear(longest.min(PARTS));
        for (lane, piece) in pieces.iter().enumerate() {
            let code = |left, right| self.byte_code(left, right);
            done[lane] = lanes.put(lane, piece, &self.byte_ids, code);
        }
        level.merge(self.table.for_lanes(), lanes);
        done
    }

    /// The id of a byte, or the error that names it.
    #[inline]
    pub fn byte_id(&self, byte: u8) -> Result<u32> {
        self.byte_ids[usize::from(byte)].ok_or(Error::UnknownByte { byte })
    }

    /// The code of what two bytes merge into, or [`NO_CODE`].
    #[inline]
    pub fn byte_code(&self, left: u8, right: u8) -> Code {
        self.byte_codes[usize::from(left) << 8 | usize::from(right)]
    }

    /// The code of what `left` and `right` merge into, or [`NO_CODE`].
    #[inline]
    pub fn code(&self, left: u32, right: u32) -> Code {
        self.table.code(left, right)
    }

    /// What `left` and `right` merge into.
    #[inline]
    pub fn get(&self, left: u32, right: u32) -> Option<Merge> {
        self.table.get(left, right)
    }

    /// The rank of a pair of ids, [`NO_RANK`] when it does not merge.
    #[inline]
    pub fn rank(&self, left: u32, right: u32) -> u32 {
        self.table.rank(left, right)
    }
}
