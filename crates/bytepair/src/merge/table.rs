//! The merges as a hash table: pair of ids → (rank, id of the result).
//!
//! Open addressing over 16-byte slots, at most half full, probed linearly. The hash is keyed per
//! process, so that no file can be made whose pairs all collide; results do not depend on it.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use crate::error::{Error, Result};

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

#[derive(Debug, Clone, Copy)]
struct Slot {
    pair: u64,
    rank: u32,
    id: u32,
}

const EMPTY: Slot = Slot { pair: u64::MAX, rank: NO_RANK, id: 0 };

/// Looks up what a pair of ids merges into.
#[derive(Debug, Clone)]
pub struct MergeTable {
    slots: Vec<Slot>,
    mask: usize,
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
        Self { slots: vec![EMPTY; size], mask: size - 1, key: *KEY, len: 0 }
    }

    fn first_slot(&self, pair: u64) -> usize {
        let product = u128::from(pair ^ self.key) * 0x9E37_79B9_7F4A_7C15;
        #[expect(clippy::cast_possible_truncation, reason = "the folded bits are masked anyway")]
        let folded = (product >> 64) as u64 ^ product as u64;
        #[expect(clippy::cast_possible_truncation, reason = "masked to the table's size")]
        let slot = folded as usize & self.mask;
        slot
    }

    /// Adds a merge. A pair that is listed twice has the later rank, as at Hugging Face.
    pub fn insert(&mut self, left: u32, right: u32, merge: Merge) {
        debug_assert!(merge.rank < NO_RANK);
        if (self.len + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let pair = pack(left, right);
        let mut at = self.first_slot(pair);
        while self.slots[at].rank != NO_RANK {
            if self.slots[at].pair == pair {
                self.slots[at] = Slot { pair, rank: merge.rank, id: merge.id };
                return;
            }
            at = (at + 1) & self.mask;
        }
        self.slots[at] = Slot { pair, rank: merge.rank, id: merge.id };
        self.len += 1;
    }

    fn grow(&mut self) {
        let old = std::mem::replace(self, Self::with_capacity(self.slots.len()));
        for slot in old.slots.into_iter().filter(|slot| slot.rank != NO_RANK) {
            #[expect(clippy::cast_possible_truncation, reason = "unpacks the two halves")]
            let (left, right) = ((slot.pair >> 32) as u32, slot.pair as u32);
            self.insert(left, right, Merge { rank: slot.rank, id: slot.id });
        }
    }

    /// What `left` and `right` merge into.
    #[inline]
    pub fn get(&self, left: u32, right: u32) -> Option<Merge> {
        let pair = pack(left, right);
        let mut at = self.first_slot(pair);
        loop {
            let slot = self.slots[at];
            if slot.rank == NO_RANK {
                return None;
            }
            if slot.pair == pair {
                return Some(Merge { rank: slot.rank, id: slot.id });
            }
            at = (at + 1) & self.mask;
        }
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
    /// Ranks of the pairs of single bytes, by byte values. Every piece begins with them, and these
    /// 256 KiB stay in a near cache where the hash table does not.
    byte_ranks: Vec<u32>,
}

impl Merges {
    /// Merges of a vocab whose single bytes have these ids.
    pub fn new(byte_ids: [Option<u32>; 256], table: MergeTable) -> Self {
        let mut byte_ranks = vec![NO_RANK; 1 << 16];
        for (left, left_id) in byte_ids.iter().enumerate() {
            for (right, right_id) in byte_ids.iter().enumerate() {
                if let (Some(left_id), Some(right_id)) = (left_id, right_id) {
                    byte_ranks[left << 8 | right] = table.rank(*left_id, *right_id);
                }
            }
        }
        Self { byte_ids, table, byte_ranks }
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

    /// The rank of the pair of two bytes, [`NO_RANK`] when it does not merge.
    #[inline]
    pub fn byte_rank(&self, left: u8, right: u8) -> u32 {
        self.byte_ranks[usize::from(left) << 8 | usize::from(right)]
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
