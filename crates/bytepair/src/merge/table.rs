//! The merges as a hash table: pair of ids → (rank, id of the result).
//!
//! Open addressing over 16-byte slots, at most half full, probed linearly. The hash is keyed per
//! process, so that no file can be made whose pairs all collide; results do not depend on it.
//!
//! Most pairs that are asked for do not merge, and the slots lie in a far cache. A filter of one bit
//! per hash, a thirty-second of the size, answers most of those.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use crate::error::{Error, Result};
use crate::huge;
use crate::simd::prefetch;

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
    #[inline]
    fn code(self) -> Code {
        u64::from(self.rank) << 32 | u64::from(self.id)
    }

    /// The merge with this code, unless that is [`NO_CODE`].
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "unpacks the two halves")]
    pub fn of_code(code: Code) -> Option<Self> {
        (code != NO_CODE).then_some(Self { rank: (code >> 32) as u32, id: code as u32 })
    }
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    pair: u64,
    code: Code,
}

const EMPTY: Slot = Slot { pair: u64::MAX, code: NO_CODE };

/// Bits of the filter for each slot.
const FILTER_BITS: usize = 4;

/// Looks up what a pair of ids merges into.
#[derive(Debug, Clone)]
pub struct MergeTable {
    slots: Vec<Slot>,
    mask: usize,
    /// Has a bit for the hash of each pair in the table.
    filter: Vec<u64>,
    key: u64,
    len: usize,
}

static KEY: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(0u8) | 1);

fn pack(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

impl MergeTable {
    /// An empty table with room for `merges` merges.
    pub fn with_capacity(merges: usize) -> Self {
        let size = (merges.max(8) * 2).next_power_of_two();
        let filter = vec![0; size * FILTER_BITS / 64];
        Self { slots: huge::filled(size, EMPTY), mask: size - 1, filter, key: *KEY, len: 0 }
    }

    #[inline]
    fn hash(&self, pair: u64) -> u64 {
        let product = u128::from(pair ^ self.key) * 0x9E37_79B9_7F4A_7C15;
        #[expect(clippy::cast_possible_truncation, reason = "folds the product to 64 bits")]
        let folded = (product >> 64) as u64 ^ product as u64;
        folded
    }

    /// Where to look for the pair with this hash first.
    #[inline]
    fn first_slot(&self, hash: u64) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "masked to the table's size")]
        let slot = hash as usize & self.mask;
        slot
    }

    /// The word of the filter for this hash, and its bit there.
    #[inline]
    fn filter_bit(&self, hash: u64) -> (usize, u64) {
        let word = (hash >> 6) as usize & (self.filter.len() - 1);
        (word, 1 << (hash & 63))
    }

    /// Asks for the place of a pair ahead of time.
    pub fn prefetch(&self, left: u32, right: u32) {
        prefetch(&self.slots, self.first_slot(self.hash(pack(left, right))));
    }

    /// Adds a merge. A pair that is listed twice has the later rank, as at Hugging Face.
    pub fn insert(&mut self, left: u32, right: u32, merge: Merge) {
        debug_assert!(merge.rank < NO_RANK);
        if (self.len + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let pair = pack(left, right);
        let hash = self.hash(pair);
        let (word, bit) = self.filter_bit(hash);
        self.filter[word] |= bit;
        let mut at = self.first_slot(hash);
        while self.slots[at].code != NO_CODE {
            if self.slots[at].pair == pair {
                self.slots[at].code = merge.code();
                return;
            }
            at = (at + 1) & self.mask;
        }
        self.slots[at] = Slot { pair, code: merge.code() };
        self.len += 1;
    }

    fn grow(&mut self) {
        let old = std::mem::replace(self, Self::with_capacity(self.slots.len()));
        for slot in old.slots {
            if let Some(merge) = Merge::of_code(slot.code) {
                #[expect(clippy::cast_possible_truncation, reason = "unpacks the two halves")]
                let (left, right) = ((slot.pair >> 32) as u32, slot.pair as u32);
                self.insert(left, right, merge);
            }
        }
    }

    /// The code of what `left` and `right` merge into, or [`NO_CODE`].
    #[inline]
    pub fn code(&self, left: u32, right: u32) -> Code {
        let pair = pack(left, right);
        let hash = self.hash(pair);
        let (word, bit) = self.filter_bit(hash);
        if self.filter[word] & bit == 0 {
            return NO_CODE;
        }
        let mut at = self.first_slot(hash);
        loop {
            let slot = self.slots[at];
            if slot.code == NO_CODE || slot.pair == pair {
                return slot.code;
            }
            at = (at + 1) & self.mask;
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
