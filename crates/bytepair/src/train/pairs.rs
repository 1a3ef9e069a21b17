//! The table of pairs: for each its count and its postings, the places where it stands.
//!
//! Open addressing from a pair to its slot; postings of all slots lie in one pool. All postings of
//! a pair come at once, when the pair comes into being, so each slot has one stretch of the pool,
//! exactly as long as needed. A place that lost the pair since stays in the postings: who reads
//! them looks.

use std::ops::Range;

/// A free bucket; no pair has this key, for ids are below 2^31.
const FREE: u64 = u64::MAX;
/// Stretches of the pool that nobody owns are given back when they are more than a third of it, and
/// more than this.
const DEAD_FLOOR: usize = 1 << 16;

/// A pair as one number.
#[inline]
pub(super) fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// The pair of a [`key`].
#[expect(clippy::cast_possible_truncation, reason = "the two halves are meant")]
pub(super) fn pair(key: u64) -> (u32, u32) {
    ((key >> 32) as u32, key as u32)
}

/// What is known of a pair.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    pub(super) key: u64,
    pub(super) count: u64,
    /// The first of its postings in the pool.
    start: usize,
    /// How many postings it has; before they are placed, how many are coming.
    len: usize,
}

/// See the module.
pub(super) struct Pairs {
    keys: Vec<u64>,
    slot_of: Vec<u32>,
    slots: Vec<Slot>,
    pub(super) pool: Vec<u32>,
    dead: usize,
}

impl Pairs {
    pub(super) fn new() -> Self {
        let (keys, slot_of) = (vec![FREE; 1024], vec![0; 1024]);
        Self { keys, slot_of, slots: Vec::new(), pool: Vec::new(), dead: 0 }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::new();
    }

    pub(super) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    #[inline]
    fn bucket(&self, key: u64) -> usize {
        let mask = self.keys.len() - 1;
        // The high bits of the product depend on all bits of the key.
        let hash = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut at = (hash >> 32) as usize & mask;
        while self.keys[at] != FREE && self.keys[at] != key {
            at = (at + 1) & mask;
        }
        at
    }

    #[inline]
    pub(super) fn find(&self, key: u64) -> Option<u32> {
        let at = self.bucket(key);
        (self.keys[at] == key).then(|| self.slot_of[at])
    }

    /// The slot of the pair, made with count 0 and no postings if there is none.
    pub(super) fn find_or_insert(&mut self, key: u64) -> u32 {
        let at = self.bucket(key);
        if self.keys[at] == key {
            return self.slot_of[at];
        }
        let slot =
            u32::try_from(self.slots.len()).expect("memory ends before 2^32 slots of 32 bytes");
        self.slots.push(Slot { key, count: 0, start: 0, len: 0 });
        self.keys[at] = key;
        self.slot_of[at] = slot;
        if self.slots.len() * 2 > self.keys.len() {
            self.grow();
        }
        slot
    }

    #[cold]
    fn grow(&mut self) {
        let size = self.keys.len() * 2;
        self.keys = vec![FREE; size];
        self.slot_of = vec![0; size];
        for (slot, key) in (0..).zip(self.slots.iter().map(|slot| slot.key)) {
            let at = self.bucket(key);
            self.keys[at] = key;
            self.slot_of[at] = slot;
        }
    }

    #[inline]
    pub(super) fn slot(&self, slot: u32) -> &Slot {
        &self.slots[slot as usize]
    }

    /// Adds an occurrence to a slot whose postings are not placed yet.
    pub(super) fn expect(&mut self, slot: u32, count: u64) {
        let slot = &mut self.slots[slot as usize];
        slot.count += count;
        slot.len += 1;
    }

    /// Sets the count and makes room for `len` postings, to be filled with [`Pairs::post`].
    pub(super) fn place(&mut self, slot: u32, count: u64, len: usize) {
        let start = self.pool.len();
        if self.pool.capacity() - start < len {
            // By a quarter: twice the pool would be most of what learning takes.
            self.pool.reserve_exact(len.max(start / 4));
        }
        self.pool.resize(start + len, 0);
        let slot = &mut self.slots[slot as usize];
        (slot.count, slot.start, slot.len) = (count, start, 0);
    }

    /// Appends a posting (once, if it is the last already).
    #[inline]
    pub(super) fn post(&mut self, slot: u32, item: u32) {
        let slot = &mut self.slots[slot as usize];
        let end = slot.start + slot.len;
        if slot.len == 0 || self.pool[end - 1] != item {
            self.pool[end] = item;
            slot.len += 1;
        }
    }

    /// Gives the room of the expected postings to all slots with a count of at least `least`, and
    /// none to the others.
    pub(super) fn place_expected(&mut self, least: u64) {
        let mut end = 0;
        for slot in &mut self.slots {
            let len = std::mem::take(&mut slot.len);
            if slot.count >= least {
                slot.start = end;
                end += len;
            }
        }
        self.pool = vec![0; end];
    }

    /// Takes `n` off the count of a pair, if it is in the table.
    #[inline]
    pub(super) fn lose(&mut self, key: u64, n: u64) {
        if let Some(slot) = self.find(key) {
            self.slots[slot as usize].count -= n;
        }
    }

    /// Where the postings of a slot are; the slot loses them, and its count becomes 0.
    pub(super) fn take(&mut self, slot: u32) -> Range<usize> {
        let slot = &mut self.slots[slot as usize];
        let len = std::mem::take(&mut slot.len);
        slot.count = 0;
        self.dead += len;
        slot.start..slot.start + len
    }

    /// Drops the postings of a pair that will not be merged; its count goes on.
    pub(super) fn forget(&mut self, slot: u32) {
        self.dead += std::mem::take(&mut self.slots[slot as usize].len);
    }

    /// Closes the gaps in the pool when they have become a third of it.
    pub(super) fn tidy(&mut self) {
        if self.dead < DEAD_FLOOR || self.dead * 3 < self.pool.len() {
            return;
        }
        let mut end = 0;
        // A slot's stretch is made with the slot or never, so both are in the same order and
        // stretches only move towards the front.
        for slot in self.slots.iter_mut().filter(|slot| slot.len > 0) {
            self.pool.copy_within(slot.start..slot.start + slot.len, end);
            slot.start = end;
            end += slot.len;
        }
        self.pool.truncate(end);
        self.dead = 0;
    }
}
