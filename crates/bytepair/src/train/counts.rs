//! [`PieceCounts`]: how often each piece occurs in a corpus.

use std::fmt;

use super::order;
use super::table::{Probe, Seeds, Table};
use super::totals::Totals;
use super::watch::{NoWatch, Pulse, Watch};
use crate::error::{Error, Result};
use crate::merge::Model;
use crate::merge::heap::Heap;

/// Shards of a count; the top bits of a piece's hash choose its shard.
pub(super) const SHARDS: usize = 1 << SHARD_BITS;
const SHARD_BITS: u32 = 5;

/// The shard of a piece with this hash.
#[inline]
pub(super) fn shard(hash: u64) -> usize {
    (hash >> (u64::BITS - SHARD_BITS)) as usize
}

/// Pieces looked at between two looks at the clock.
const PIECES_PER_BEAT: usize = 1 << 14;

/// What learning reads: pieces and their counts, in memory or on disk.
pub trait Pieces {
    /// Sums over all pieces.
    fn totals(&self) -> Totals;

    /// Calls `f` for each piece, always in the same order, and `beat` now and then.
    fn each(
        &self,
        beat: &mut dyn FnMut() -> Result<()>,
        f: &mut dyn FnMut(&[u8], u64) -> Result<()>,
    ) -> Result<()>;

    /// The pieces in the order in which they first came, if it is known.
    fn in_order(&self) -> Option<Vec<(&[u8], u64)>> {
        None
    }

    /// How many tokens the corpus has under `model`; [`Error::UnknownByte`] where it does not cover
    /// a byte.
    fn total_tokens(&self, model: &Model, watch: &dyn Watch) -> Result<u128> {
        let (mut work, mut ids) = (Heap::new(), Vec::new());
        let (mut sum, mut pulse) = (0, Pulse::new(watch));
        self.each(&mut || pulse.beat(0, 0), &mut |piece, count| {
            ids.clear();
            model.merge(piece, &mut work, &mut ids)?;
            sum += u128::from(count) * ids.len() as u128;
            Ok(())
        })?;
        Ok(sum)
    }
}

/// Pieces and how often each occurs: all that learning needs of a corpus.
///
/// Counts made on several machines or of several files are joined with [`merge`](Self::merge), in
/// any order with the same result. A piece costs 24 to 72 bytes, a long one its length more.
///
/// ```
/// use bytepair::train::PieceCounts;
///
/// let mut counts = PieceCounts::new();
/// counts.add(b"low", 5)?;
/// counts.add(b"lower", 2)?;
/// counts.add(b"low", 1)?;
/// assert_eq!(counts.get(b"low"), 6);
/// let all: Vec<_> = counts.iter().collect();
/// assert_eq!(all, [(&b"low"[..], 6), (&b"lower"[..], 2)]);
/// # Ok::<(), bytepair::Error>(())
/// ```
#[derive(Clone)]
pub struct PieceCounts {
    seeds: Seeds,
    shards: Vec<Table>,
    /// For each piece its number, from 1 on, in the order in which pieces came.
    order: Option<Table>,
}

impl PieceCounts {
    /// No pieces.
    pub fn new() -> Self {
        Self { seeds: Seeds::get(), shards: vec![Table::default(); SHARDS], order: None }
    }

    /// No pieces yet; remembers the order in which they come, for [`TieBreak::FirstSeen`]. A piece
    /// costs twice as much.
    ///
    /// [`TieBreak::FirstSeen`]: super::TieBreak::FirstSeen
    pub fn ordered() -> Self {
        Self { order: Some(Table::default()), ..Self::new() }
    }

    pub(super) fn from_shards(shards: Vec<Table>, order: Option<Table>) -> Self {
        Self { seeds: Seeds::get(), shards, order }
    }

    /// The pieces in the order in which they first came, if it is known.
    pub fn in_order(&self) -> Option<Vec<(&[u8], u64)>> {
        let mut pieces: Vec<(u64, &[u8])> =
            self.order.as_ref()?.iter().map(|(piece, number)| (number, piece)).collect();
        pieces.sort_unstable();
        Some(pieces.into_iter().map(|(_, piece)| (piece, self.get(piece))).collect())
    }

    /// Adds `n` occurrences of `piece`; [`Error::Value`] if its count passes 2^64 - 1.
    pub fn add(&mut self, piece: &[u8], n: u64) -> Result<()> {
        let probe = Probe::new(self.seeds, piece);
        if n > 0
            && let Some(order) = &mut self.order
        {
            note(order, self.seeds, &probe);
        }
        let table = &mut self.shards[shard(probe.hash)];
        table.add(self.seeds, &probe, n).ok_or_else(|| overflow(piece))
    }

    /// How often `piece` occurs: 0 for one that was never added.
    pub fn get(&self, piece: &[u8]) -> u64 {
        let probe = Probe::new(self.seeds, piece);
        self.shards[shard(probe.hash)].get(&probe)
    }

    /// How many different pieces there are.
    pub fn len(&self) -> usize {
        self.shards.iter().map(Table::len).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The pieces, the most frequent first, those of equal count in the order of their bytes.
    ///
    /// Sorts at each call: O(n log n).
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], u64)> + DoubleEndedIterator {
        let sorted = self.sorted(&mut || Ok(())).unwrap_or_default();
        sorted.into_iter().map(|(count, _, piece)| (piece, count))
    }

    /// The first `most` pieces as [`PieceCounts::iter`] orders them. `watch` may stop it.
    pub fn most_common(&self, most: usize, watch: &dyn Watch) -> Result<Vec<(&[u8], u64)>> {
        let mut pulse = Pulse::new(watch);
        let sorted = self.sorted(&mut || pulse.beat(0, 0))?;
        Ok(sorted.into_iter().take(most).map(|(count, _, piece)| (piece, count)).collect())
    }

    /// (count, prefix, piece), in the order of [`PieceCounts::iter`].
    fn sorted(&self, beat: &mut dyn FnMut() -> Result<()>) -> Result<Vec<(u64, u64, &[u8])>> {
        let mut all: Vec<(u64, u64, &[u8])> = Vec::with_capacity(self.len());
        for table in &self.shards {
            for (piece, count) in table.iter() {
                if all.len().is_multiple_of(PIECES_PER_BEAT) {
                    beat()?;
                }
                all.push((count, prefix(piece), piece));
            }
        }
        // The prefix settles most comparisons without a look at the piece.
        let compare = |a: &(u64, u64, &[u8]), b: &(u64, u64, &[u8])| {
            b.0.cmp(&a.0).then(a.1.cmp(&b.1)).then_with(|| a.2.cmp(b.2))
        };
        order::sort(&mut all, &compare, beat)?;
        Ok(all)
    }

    /// Bytes of memory taken.
    pub fn memory(&self) -> usize {
        let tables = self.shards.iter().chain(&self.order);
        tables.map(Table::bytes).sum()
    }

    /// Drops the pieces whose counts are below `least`. The order of the others is kept, if known.
    pub fn retain(&mut self, least: u64) -> Result<()> {
        if least <= 1 {
            return Ok(());
        }
        let old = std::mem::replace(&mut self.shards, vec![Table::default(); SHARDS]);
        for (target, table) in self.shards.iter_mut().zip(old) {
            for (piece, count) in table.iter().filter(|&(_, count)| count >= least) {
                let probe = Probe::new(self.seeds, piece);
                target.add(self.seeds, &probe, count).ok_or_else(|| overflow(piece))?;
            }
        }
        if let Some(order) = &mut self.order {
            let old = std::mem::take(order);
            for (piece, number) in old.iter() {
                let probe = Probe::new(self.seeds, piece);
                if self.shards[shard(probe.hash)].get(&probe) > 0 {
                    order.add(self.seeds, &probe, number);
                }
            }
        }
        Ok(())
    }

    /// The pieces in no order worth knowing, without the sort.
    pub(super) fn unsorted(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.shards.iter().flat_map(Table::iter)
    }

    /// Adds all counts of `other`; [`Error::Value`] if one passes 2^64 - 1 (the counts added before
    /// it stay added). The sum knows no order: which counts come first says nothing.
    pub fn merge(&mut self, other: &PieceCounts) -> Result<()> {
        self.merge_watched(other, &NoWatch)
    }

    /// [`PieceCounts::merge`]; `watch` may stop it, and then a part is added.
    pub fn merge_watched(&mut self, other: &PieceCounts, watch: &dyn Watch) -> Result<()> {
        self.order = None;
        let mut pulse = Pulse::new(watch);
        for (mine, theirs) in self.shards.iter_mut().zip(&other.shards) {
            for (at, (piece, n)) in theirs.iter().enumerate() {
                if at % PIECES_PER_BEAT == 0 {
                    pulse.beat(0, 0)?;
                }
                let probe = Probe::new(self.seeds, piece);
                mine.add(self.seeds, &probe, n).ok_or_else(|| overflow(piece))?;
            }
        }
        Ok(())
    }

    /// Multiplies every count by `n`, the weight of this corpus among others (0 empties it);
    /// [`Error::Value`], and no change, if a count would pass 2^64 - 1.
    pub fn scale(&mut self, n: u64) -> Result<()> {
        if n == 0 {
            self.shards = vec![Table::default(); SHARDS];
            self.order = self.order.as_ref().map(|_| Table::default());
            return Ok(());
        }
        if !self.shards.iter().all(|table| table.can_scale(n)) {
            return Err(Error::Value(format!(
                "scaling by {n} takes the count of a piece past 2**64 - 1; use a smaller weight"
            )));
        }
        self.shards.iter_mut().for_each(|table| table.scale(n));
        Ok(())
    }

    /// The sum of all counts (saturating): how many pieces the corpus has.
    pub fn total(&self) -> u64 {
        self.unsorted().fold(0, |sum, (_, count)| sum.saturating_add(count))
    }

    /// How many bytes the corpus has outside special tokens.
    pub fn total_bytes(&self) -> u128 {
        self.unsorted().map(|(piece, count)| u128::from(count) * piece.len() as u128).sum()
    }
}

impl Pieces for PieceCounts {
    fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for (piece, count) in self.unsorted() {
            totals.add(piece, count);
        }
        totals
    }

    fn each(
        &self,
        beat: &mut dyn FnMut() -> Result<()>,
        f: &mut dyn FnMut(&[u8], u64) -> Result<()>,
    ) -> Result<()> {
        for (at, (count, _, piece)) in self.sorted(beat)?.into_iter().enumerate() {
            if at % PIECES_PER_BEAT == 0 {
                beat()?;
            }
            f(piece, count)?;
        }
        Ok(())
    }

    fn in_order(&self) -> Option<Vec<(&[u8], u64)>> {
        self.in_order()
    }
}

/// The first eight bytes as a number that orders as they do.
pub(super) fn prefix(piece: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let len = piece.len().min(8);
    bytes[..len].copy_from_slice(&piece[..len]);
    u64::from_be_bytes(bytes)
}

/// Gives a piece the next number, if it has none.
pub(super) fn note(order: &mut Table, seeds: Seeds, probe: &Probe<'_>) {
    if order.get(probe) == 0 {
        let number = order.len() as u64 + 1;
        order.add(seeds, probe, number);
    }
}

pub(super) fn overflow(piece: &[u8]) -> Error {
    let head = String::from_utf8_lossy(&piece[..piece.len().min(40)]).into_owned();
    Error::Value(format!("the count of piece {head:?} passes 2**64 - 1; scale the counts down"))
}

impl Default for PieceCounts {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for PieceCounts {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.unsorted().all(|(piece, count)| other.get(piece) == count)
    }
}

impl Eq for PieceCounts {}

impl fmt::Debug for PieceCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pieces = self.iter().map(|(piece, count)| (String::from_utf8_lossy(piece), count));
        f.debug_map().entries(pieces).finish()
    }
}
