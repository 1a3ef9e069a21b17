//! A hash map from pieces to counts: open addressing, one 24-byte entry per piece.
//!
//! Pieces of at most 15 bytes lie inside the entry; longer ones in an arena beside it. A table
//! never shrinks and forgets nothing but all at once. Iteration order depends on the seed, so no
//! result may depend on it.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

use super::runs::Sorted;
use crate::error::Result;

/// The longest piece that lies inside its entry.
const INLINE: usize = 15;
/// Last byte of the key of a piece in the arena (an inline piece has its length there).
const IN_ARENA: u8 = u8::MAX;
/// Pieces of a row of [`Rows`].
const ROW: usize = 1 << 17;

/// The two secret numbers that hashes of this process start from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seeds(u64, u64);

impl Seeds {
    /// The seeds of this process: the same at every call, so that all tables agree.
    pub(super) fn get() -> Self {
        static SEEDS: OnceLock<Seeds> = OnceLock::new();
        *SEEDS.get_or_init(|| {
            let state = RandomState::new();
            Seeds(state.hash_one(1u64) | 1, state.hash_one(2u64) | 1)
        })
    }

    fn hash_inline(self, key: [u8; 16]) -> u64 {
        let [low, high] = halves(key);
        fold(low ^ self.0, high ^ self.1)
    }

    fn hash_long(self, piece: &[u8]) -> u64 {
        let mut hash = self.0 ^ piece.len() as u64;
        let (chunks, rest) = piece.as_chunks::<16>();
        for chunk in chunks {
            let [low, high] = halves(*chunk);
            hash = fold(low ^ hash, high ^ self.1);
        }
        // The last 16 bytes again: what the chunks left, without a special case per length.
        if !rest.is_empty()
            && let Some(last) = piece.last_chunk::<16>()
        {
            let [low, high] = halves(*last);
            hash = fold(low ^ hash, high ^ self.1);
        }
        fold(hash, self.1)
    }
}

fn halves(key: [u8; 16]) -> [u64; 2] {
    let key = u128::from_le_bytes(key);
    #[expect(clippy::cast_possible_truncation, reason = "the two halves are meant")]
    [key as u64, (key >> 64) as u64]
}

fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    #[expect(clippy::cast_possible_truncation, reason = "the two halves are meant")]
    let folded = (product as u64) ^ ((product >> 64) as u64);
    folded
}

/// A piece made ready for look-up: `key` is complete for an inline piece.
#[derive(Debug, Clone, Copy)]
pub(super) struct Probe<'p> {
    pub(super) hash: u64,
    key: [u8; 16],
    piece: &'p [u8],
}

impl<'p> Probe<'p> {
    pub(super) fn piece(&self) -> &'p [u8] {
        self.piece
    }

    /// Bytes that the piece takes of an arena.
    pub(super) fn arena_bytes(&self) -> usize {
        if self.key[15] == IN_ARENA { self.piece.len() } else { 0 }
    }

    pub(super) fn new(seeds: Seeds, piece: &'p [u8]) -> Self {
        Self::within(seeds, piece, 0, piece.len())
    }

    /// The piece `text[start..end]`; what follows it makes reading it faster.
    #[inline]
    pub(super) fn within(seeds: Seeds, text: &'p [u8], start: usize, end: usize) -> Self {
        let piece = &text[start..end];
        let len = piece.len();
        if len > INLINE {
            let hash = seeds.hash_long(piece);
            return Self { hash, key: long_key(hash, len), piece };
        }
        let mut key = if let Some(chunk) = text[start..].first_chunk::<16>() {
            let mask = (1u128 << (8 * len)) - 1;
            (u128::from_le_bytes(*chunk) & mask).to_le_bytes()
        } else {
            let mut key = [0; 16];
            key[..len].copy_from_slice(piece);
            key
        };
        #[expect(clippy::cast_possible_truncation, reason = "at most INLINE")]
        let tag = len as u8;
        key[15] = tag;
        Self { hash: seeds.hash_inline(key), key, piece }
    }
}

/// Bytes 0..8: the place in the arena (filled in on insertion); 8..13: the length; 13..15: a part
/// of the hash, so that unequal pieces are told apart without reading the arena.
fn long_key(hash: u64, len: usize) -> [u8; 16] {
    let mut key = [0; 16];
    key[8..13].copy_from_slice(&(len as u64).to_le_bytes()[..5]);
    key[13..15].copy_from_slice(&hash.to_le_bytes()[6..]);
    key[15] = IN_ARENA;
    key
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    key: [u8; 16],
    /// 0: the entry is free.
    count: u64,
}

const FREE: Entry = Entry { key: [0; 16], count: 0 };

impl Entry {
    fn place(&self) -> (usize, usize) {
        let mut len = [0; 8];
        len[..5].copy_from_slice(&self.key[8..13]);
        let mut start = [0; 8];
        start.copy_from_slice(&self.key[..8]);
        #[expect(clippy::cast_possible_truncation, reason = "both came from a usize")]
        (u64::from_le_bytes(start) as usize, u64::from_le_bytes(len) as usize)
    }

    fn piece<'t>(&'t self, arena: &'t [u8]) -> &'t [u8] {
        if self.key[15] == IN_ARENA {
            let (start, len) = self.place();
            &arena[start..start + len]
        } else {
            &self.key[..usize::from(self.key[15])]
        }
    }

    fn is(&self, probe: &Probe<'_>, arena: &[u8]) -> bool {
        if probe.key[15] == IN_ARENA {
            self.key[8..] == probe.key[8..] && self.piece(arena) == probe.piece
        } else {
            self.key == probe.key
        }
    }
}

/// See the module.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    /// A power of two of them, or none.
    entries: Vec<Entry>,
    used: usize,
    arena: Vec<u8>,
}

impl Table {
    pub(super) fn len(&self) -> usize {
        self.used
    }

    /// Bytes of long pieces held.
    pub(super) fn arena_len(&self) -> usize {
        self.arena.len()
    }

    /// Bytes of memory taken.
    pub(super) fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>() + self.arena.capacity()
    }

    /// Bytes taken anew, at most, when so many pieces come, with so many bytes in the arena.
    pub(super) fn growth(&self, pieces: usize, arena: usize) -> usize {
        let mut size = self.entries.len().max(16);
        while (self.used + pieces) * 3 >= size * 2 {
            size *= 2;
        }
        let entries = if size > self.entries.len() { size * size_of::<Entry>() } else { 0 };
        let needed = self.arena.len() + arena;
        let room = self.arena.capacity();
        entries + if needed > room { needed.max(2 * room) } else { 0 }
    }

    /// Gives the pieces in the order of their bytes, in rows, each sorted in itself; in the memory of
    /// the table.
    pub(super) fn into_rows(self, beat: &mut dyn FnMut() -> Result<()>) -> Result<Rows> {
        let Self { mut entries, arena, .. } = self;
        entries.retain(|entry| entry.count > 0);
        for row in entries.chunks_mut(ROW) {
            row.sort_unstable_by(|a, b| a.piece(&arena).cmp(b.piece(&arena)));
            beat()?;
        }
        Ok(Rows { entries, arena })
    }

    /// Adds `n` to the count of the piece; `None`, and no change, if the sum overflows.
    #[inline]
    pub(super) fn add(&mut self, seeds: Seeds, probe: &Probe<'_>, n: u64) -> Option<()> {
        if n == 0 {
            return Some(());
        }
        if self.used * 3 >= self.entries.len() * 2 {
            self.grow(seeds);
        }
        let at = self.find(probe);
        let entry = &mut self.entries[at];
        if entry.count == 0 {
            *entry = Entry { key: probe.key, count: n };
            if probe.key[15] == IN_ARENA {
                entry.key[..8].copy_from_slice(&(self.arena.len() as u64).to_le_bytes());
                self.arena.extend_from_slice(probe.piece);
            }
            self.used += 1;
        } else {
            entry.count = entry.count.checked_add(n)?;
        }
        Some(())
    }

    pub(super) fn get(&self, probe: &Probe<'_>) -> u64 {
        if self.entries.is_empty() { 0 } else { self.entries[self.find(probe)].count }
    }

    /// Multiplies every count; `false`, and no change, if one overflows.
    pub(super) fn can_scale(&self, n: u64) -> bool {
        self.entries.iter().all(|entry| entry.count.checked_mul(n).is_some())
    }

    /// Multiplies every count by `n`, which is not 0 and passed [`Table::can_scale`].
    pub(super) fn scale(&mut self, n: u64) {
        for entry in &mut self.entries {
            entry.count *= n;
        }
    }

    /// The pieces and their counts, in no order worth knowing.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        let used = self.entries.iter().filter(|entry| entry.count > 0);
        used.map(|entry| (entry.piece(&self.arena), entry.count))
    }

    /// Forgets everything and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.entries.fill(FREE);
        self.used = 0;
        self.arena.clear();
    }

    /// Where the piece is, or the free entry where it would be.
    #[inline]
    fn find(&self, probe: &Probe<'_>) -> usize {
        let mask = self.entries.len() - 1;
        #[expect(clippy::cast_possible_truncation, reason = "masked")]
        let mut at = probe.hash as usize & mask;
        while self.entries[at].count != 0 && !self.entries[at].is(probe, &self.arena) {
            at = (at + 1) & mask;
        }
        at
    }

    #[cold]
    fn grow(&mut self, seeds: Seeds) {
        let size = (self.entries.len() * 2).max(16);
        let old = std::mem::replace(&mut self.entries, vec![FREE; size]);
        for entry in old.into_iter().filter(|entry| entry.count > 0) {
            let hash = if entry.key[15] == IN_ARENA {
                seeds.hash_long(entry.piece(&self.arena))
            } else {
                seeds.hash_inline(entry.key)
            };
            #[expect(clippy::cast_possible_truncation, reason = "masked")]
            let mut at = hash as usize & (size - 1);
            while self.entries[at].count != 0 {
                at = (at + 1) & (size - 1);
            }
            self.entries[at] = entry;
        }
    }
}

/// The pieces of a table, in rows that are sorted each in itself.
pub(super) struct Rows {
    entries: Vec<Entry>,
    arena: Vec<u8>,
}

impl Rows {
    /// The rows.
    pub(super) fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        self.entries.chunks(ROW).map(|rest| Row { rest, here: FREE, arena: &self.arena })
    }
}

/// A sorted row of pieces.
pub(super) struct Row<'t> {
    rest: &'t [Entry],
    here: Entry,
    arena: &'t [u8],
}

impl Sorted for Row<'_> {
    fn advance(&mut self) -> Result<bool> {
        let Some((here, rest)) = self.rest.split_first() else { return Ok(false) };
        (self.here, self.rest) = (*here, rest);
        Ok(true)
    }

    fn piece(&self) -> &[u8] {
        self.here.piece(self.arena)
    }

    fn count(&self) -> u64 {
        self.here.count
    }
}
