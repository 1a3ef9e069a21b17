//! Learning under [`TieBreak::FirstSeen`](super::TieBreak::FirstSeen): the pair that stands first.
//!
//! Here a pair's place in the corpus decides, and it moves as merges take its places away; so this
//! engine is apart from [`learn`](super::learn()), which need not know places in order. All pieces
//! lie in one row of cells, in the order in which they first occur, so a place is also an order.
//! Counts and first places both only get worse after a pair came into being: a queue entry is an
//! upper bound in both, and who pops one that is out of date pushes it back. A merge costs its
//! places, whatever the length of the pieces; memory is 12 bytes per byte of the different pieces
//! and four per place of a pair.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::HashMap;

use super::queue::Tokens;
use super::watch::{Pulse, Watch};
use super::{LearnOptions, Learned, Pieces};
use crate::error::{Error, Result};

/// A cell that is no token's first: inside a token, or between pieces.
const NONE: u32 = u32::MAX;
/// Places visited between two looks at the clock.
const VISITS_PER_BEAT: usize = 1 << 14;

type Pair = (u32, u32);

/// What is known of a pair.
#[derive(Default)]
struct Known {
    count: u64,
    /// Places in rising order; some may be gone since.
    places: Vec<u32>,
    /// The places before this one are gone.
    gone: usize,
}

/// The state of learning.
struct Learner {
    /// The id of the token that begins at a place.
    cells: Vec<u32>,
    /// Where the token before begins; of use at a token's first cell only.
    before: Vec<u32>,
    /// The piece of a place.
    piece: Vec<u32>,
    counts: Vec<u64>,
    tokens: Tokens,
    pairs: HashMap<Pair, Known>,
    /// (count, first place, pair), the greatest count first, then the first place.
    queue: BinaryHeap<(u64, Reverse<u32>, Pair)>,
    min_count: u64,
    max_token_bytes: usize,
}

/// See [`super::learn()`].
pub(super) fn learn(
    counts: &dyn Pieces,
    options: &LearnOptions,
    watch: &dyn Watch,
) -> Result<Learned> {
    let mut pulse = Pulse::new(watch);
    let mut learner = Learner::new(counts, options)?;
    let mut learned = Learned::default();
    while learned.merges.len() < options.merges {
        let progress = (learned.merges.len() as u64, options.merges as u64);
        pulse.beat(progress.0, progress.1)?;
        let Some((count, pair)) = learner.next() else { break };
        let tied = learner.tied(count);
        let saved = learner.apply(pair, &mut || pulse.beat(progress.0, progress.1))?;
        learned.ties.push(tied);
        learned.saved.push(saved);
        learned.merges.push(pair);
        learned.counts.push(count);
    }
    Ok(learned)
}

impl Learner {
    fn new(counts: &dyn Pieces, options: &LearnOptions) -> Result<Self> {
        let pieces = counts.in_order().ok_or_else(|| {
            Error::Value(
                "tie_break is \"first_seen\" and these counts do not know the order in which \
                 pieces first occur (added or loaded counts have none); train on the corpus \
                 itself, or count it with keep_order=True"
                    .to_owned(),
            )
        })?;
        let size: usize = pieces.iter().map(|(piece, _)| piece.len() + 1).sum();
        let total: u128 =
            pieces.iter().map(|&(piece, n)| u128::from(n) * piece.len() as u128).sum();
        if u32::try_from(size + 1).is_err() || u64::try_from(total).is_err() {
            return Err(Error::Value(format!(
                "the different pieces have {size} bytes and the corpus {total}; \"first_seen\" \
                 takes less than 2**32 and 2**64; use another tie_break or a part of the corpus"
            )));
        }
        let mut learner = Self {
            cells: vec![NONE],
            before: vec![0],
            piece: vec![0],
            counts: Vec::with_capacity(pieces.len()),
            tokens: Tokens::new(),
            pairs: HashMap::new(),
            queue: BinaryHeap::new(),
            min_count: options.min_count,
            max_token_bytes: options.max_token_bytes.unwrap_or(usize::MAX),
        };
        for (piece, count) in pieces {
            learner.lay(piece, count);
        }
        let pairs: Vec<Pair> = learner.pairs.keys().copied().collect();
        for pair in pairs {
            learner.wait(pair);
        }
        Ok(learner)
    }

    /// Appends a piece and its pairs.
    fn lay(&mut self, piece: &[u8], count: u64) {
        let number = index(self.counts.len());
        self.counts.push(count);
        for (offset, &byte) in piece.iter().enumerate() {
            let at = index(self.cells.len());
            if offset > 0 {
                self.gain((u32::from(piece[offset - 1]), u32::from(byte)), at - 1, count);
            }
            self.cells.push(u32::from(byte));
            self.before.push(at - 1);
            self.piece.push(number);
        }
        self.cells.push(NONE);
        self.before.push(0);
        self.piece.push(number);
    }

    fn gain(&mut self, pair: Pair, at: u32, n: u64) {
        let known = self.pairs.entry(pair).or_default();
        known.count += n;
        known.places.push(at);
    }

    fn lose(&mut self, pair: Pair, n: u64) {
        if let Some(known) = self.pairs.get_mut(&pair) {
            known.count -= n;
        }
    }

    /// Whether the pair still stands at a place.
    fn stands(cells: &[u32], tokens: &Tokens, pair: Pair, at: u32) -> bool {
        let at = at as usize;
        cells[at] == pair.0 && cells[at + tokens.size(pair.0)] == pair.1
    }

    /// Puts a pair into the queue as it is now, unless it may not be merged.
    fn wait(&mut self, pair: Pair) {
        let Some(known) = self.pairs.get_mut(&pair) else { return };
        let size = self.tokens.size(pair.0) + self.tokens.size(pair.1);
        if known.count == 0 {
            self.pairs.remove(&pair);
        } else if known.count >= self.min_count && size <= self.max_token_bytes {
            while !Self::stands(&self.cells, &self.tokens, pair, known.places[known.gone]) {
                known.gone += 1;
            }
            self.queue.push((known.count, Reverse(known.places[known.gone]), pair));
        }
    }

    /// The pair to merge, and its count.
    fn next(&mut self) -> Option<(u64, Pair)> {
        loop {
            let (count, Reverse(first), pair) = self.queue.pop()?;
            let Some(known) = self.pairs.get(&pair) else { continue };
            if known.count == count && Self::stands(&self.cells, &self.tokens, pair, first) {
                return Some((count, pair));
            }
            self.wait(pair);
        }
    }

    /// Whether a pair still waiting has this count, which is the greatest.
    fn tied(&mut self, count: u64) -> bool {
        while let Some(&(bound, _, pair)) = self.queue.peek() {
            if bound < count {
                return false;
            }
            if self.pairs.get(&pair).is_some_and(|known| known.count == count) {
                return true;
            }
            self.queue.pop();
            self.wait(pair);
        }
        false
    }

    /// Merges a pair everywhere, from left to right, and returns how often.
    fn apply(&mut self, pair: Pair, beat: &mut dyn FnMut() -> Result<()>) -> Result<u64> {
        let id = index(self.tokens.len());
        let places = self.pairs.remove(&pair).map(|known| known.places).unwrap_or_default();
        self.tokens.join(pair.0, pair.1);
        let (mut gained, mut made) = (Vec::new(), 0);
        for places in places.chunks(VISITS_PER_BEAT) {
            for &place in places {
                if Self::stands(&self.cells, &self.tokens, pair, place) {
                    made += self.counts[self.piece[place as usize] as usize];
                    self.merge_at(place, pair, id, &mut gained);
                }
            }
            beat()?;
        }
        gained.sort_unstable();
        gained.dedup();
        for pair in gained {
            self.wait(pair);
        }
        Ok(made)
    }

    fn merge_at(&mut self, place: u32, (left, right): Pair, id: u32, gained: &mut Vec<Pair>) {
        let at = place as usize;
        let second = at + self.tokens.size(left);
        let end = second + self.tokens.size(right);
        let n = self.counts[self.piece[at] as usize];
        self.cells[second] = NONE;
        self.cells[at] = id;
        let before = self.before[at];
        let token = self.cells[before as usize];
        if token != NONE {
            self.lose((token, left), n);
            self.gain((token, id), before, n);
            gained.push((token, id));
        }
        let token = self.cells[end];
        if token != NONE {
            self.before[end] = place;
            self.lose((right, token), n);
            self.gain((id, token), place, n);
            gained.push((id, token));
        }
    }
}

/// A place, piece or token as a number; [`Learner::new`] made sure that places fit.
#[expect(clippy::cast_possible_truncation, reason = "checked when the cells were made")]
fn index(at: usize) -> u32 {
    at as u32
}
