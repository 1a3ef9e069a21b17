//! Merging with BPE-dropout (Provilkov, Emelianenko and Voita, 2020, "BPE-Dropout: Simple and
//! Effective Subword Regularization", algorithm 1).
//!
//! In: a piece, a rate and a source of chance. Out: ids that spell the piece in one of many ways. At
//! each step every possible merge is left out with the probability of the rate, and the first of
//! those that are left is made; when none is left, merging ends. To look at them in order and draw
//! for each until one stays is the same thing. A whole piece is not looked up first.
//!
//! Costs as many draws as merges are looked at: about n / (1 - rate) of them for a piece of n bytes,
//! each O(log n). The twin is `bytepair.reference.merge_with_dropout`, with the same draws.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Merge, Merges, Model};
use crate::error::{Error, Result};

/// How often a merge is left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate(f64);

impl Rate {
    /// A rate from 0 (the exact encoding) to 1 (single bytes).
    ///
    /// # Errors
    /// [`Error::Value`] for any other number.
    pub fn new(rate: f64) -> Result<Self> {
        if (0.0..=1.0).contains(&rate) {
            return Ok(Self(rate));
        }
        Err(Error::Value(format!("dropout is {rate}; give a number from 0 to 1")))
    }

    /// Whether no merge is ever left out.
    pub fn is_zero(self) -> bool {
        self.0 <= 0.0
    }
}

/// Chance that depends on a seed alone: `SplitMix64` (Steele, Lea and Flood, 2014).
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// The draws of this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Whether a merge is left out: 53 bits of a draw, as a fraction, are below the rate.
    fn drops(&mut self, rate: Rate) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit in the fraction of a f64")]
        let fraction = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        fraction < rate.0
    }
}

const NONE: usize = usize::MAX;

/// Merges looked at between two questions whether to go on.
const LISTEN: usize = 1 << 12;

#[derive(Debug, Clone, Copy)]
struct Part {
    id: u32,
    previous: usize,
    next: usize,
}

/// A possible merge: rank, then place of its left part.
type Entry = Reverse<(u32, usize)>;

/// The parts of a piece and the merges that are possible between them.
struct Parts<'m> {
    merges: &'m Merges,
    row: Vec<Part>,
    queue: BinaryHeap<Entry>,
    /// Merges looked at, and who is asked now and then whether to go on.
    looks: usize,
    stops: &'m dyn Fn() -> bool,
}

impl Model {
    /// Appends ids of `piece` to `ids`, leaving merges out by chance; given up once `stops` says so,
    /// which is asked now and then.
    ///
    /// # Errors
    /// [`Error::UnknownByte`] when no token is a byte of the piece; [`Error::Interrupted`].
    pub fn merge_with_dropout(
        &self,
        piece: &[u8],
        rate: Rate,
        chance: &mut Chance,
        ids: &mut Vec<u32>,
        stops: &dyn Fn() -> bool,
    ) -> Result<()> {
        let mut parts = Parts::new(&self.merges, piece, stops)?;
        // Without a draw, so that the longest piece takes no time.
        if rate.0 < 1.0 {
            let mut skipped = Vec::new();
            while let Some(at) = parts.choose(rate, chance, &mut skipped)? {
                parts.merge(at);
            }
        }
        let mut at = if piece.is_empty() { NONE } else { 0 };
        while at != NONE {
            ids.push(parts.row[at].id);
            at = parts.row[at].next;
        }
        Ok(())
    }
}

impl<'m> Parts<'m> {
    fn new(merges: &'m Merges, piece: &[u8], stops: &'m dyn Fn() -> bool) -> Result<Self> {
        let last = piece.len().wrapping_sub(1);
        let part = |(at, &byte): (usize, &u8)| {
            let previous = at.checked_sub(1).unwrap_or(NONE);
            let next = if at == last { NONE } else { at + 1 };
            merges.byte_id(byte).map(|id| Part { id, previous, next })
        };
        let row = piece.iter().enumerate().map(part).collect::<Result<Vec<_>>>()?;
        let mut this = Self { merges, row, queue: BinaryHeap::new(), looks: 0, stops };
        for at in 0..this.row.len() {
            this.listen()?;
            this.offer(at);
        }
        Ok(this)
    }

    fn listen(&mut self) -> Result<()> {
        self.looks += 1;
        let stops = self.looks.is_multiple_of(LISTEN) && (self.stops)();
        if stops { Err(Error::Interrupted) } else { Ok(()) }
    }

    fn merge_at(&self, at: usize) -> Option<Merge> {
        let part = self.row[at];
        let right = self.row.get(part.next)?;
        self.merges.get(part.id, right.id)
    }

    fn offer(&mut self, at: usize) {
        if let Some(merge) = self.merge_at(at) {
            self.queue.push(Reverse((merge.rank, at)));
        }
    }

    /// The place of the first merge that is not left out.
    fn choose(
        &mut self,
        rate: Rate,
        chance: &mut Chance,
        skipped: &mut Vec<Entry>,
    ) -> Result<Option<usize>> {
        let mut chosen = None;
        while let Some(entry) = self.queue.pop() {
            self.listen()?;
            let Reverse((rank, at)) = entry;
            // One merge may be queued twice, and is then twice on top; one that is gone is no merge.
            let is_twice = self.queue.peek() == Some(&entry);
            if is_twice || self.merge_at(at).is_none_or(|merge| merge.rank != rank) {
                continue;
            }
            if !chance.drops(rate) {
                chosen = Some(at);
                break;
            }
            skipped.push(entry);
        }
        self.queue.extend(skipped.drain(..));
        Ok(chosen)
    }

    fn merge(&mut self, at: usize) {
        let Some(merge) = self.merge_at(at) else { return };
        let gone = self.row[at].next;
        let next = self.row[gone].next;
        self.row[gone].next = NONE;
        self.row[at] = Part { id: merge.id, next, ..self.row[at] };
        if next != NONE {
            self.row[next].previous = at;
        }
        self.offer(at);
        let previous = self.row[at].previous;
        if previous != NONE {
            self.offer(previous);
        }
    }
}
