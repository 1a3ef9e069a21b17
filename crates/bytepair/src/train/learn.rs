//! Learns merges from piece counts, keeping the counts of pairs up to date.
//!
//! Per merge, only the places of its pair are visited. What a place adds to or takes from other
//! pairs depends on one neighbour, since the other half of those pairs is the merge itself; so the
//! changes are summed in two arrays by neighbour, and the pair table is asked once per neighbour
//! instead of once per place.
//!
//! A pair's count never rises after the merge that brought it into being. So pairs below a floor
//! well under the expected last count are left out of table, postings and queue altogether, which
//! is most of them; if the queue runs dry, the floor is lowered and the table made anew from the
//! words as they are then.

use std::ops::Range;
use std::time::{Duration, Instant};

use hashbrown::HashMap;

use super::changes::{Changes, Sum};
use super::counts::Pieces;
use super::pairs::{Pairs, key, pair};
use super::queue::{Queue, Tokens};
use super::replay::Replay;
use super::watch::{NoWatch, Pulse, Watch};
use super::words::{MAX_IDS, Merge, Words};
use super::{LearnOptions, Learned, TieBreak, first_seen};
use crate::error::{Error, Result};
use crate::merge::Model;
use crate::merge::heap::Heap;

/// The floor falls by this factor when the queue runs dry.
const FLOOR_STEP: u64 = 16;
/// Places visited between two looks at the clock.
const VISITS_PER_BEAT: usize = 1 << 14;
/// Places whose memory is asked for together.
const FETCHED: usize = 32;
/// A merge of more places is gone through twice, so that what it changed need not be kept place by
/// place. Words of natural text have fewer; one letter a hundred million times has more.
const PLACES_KEPT: usize = 1 << 22;
/// Most bits of a cell of the sketch that keeps rare pairs out of the table.
const SKETCH_BITS: u32 = 20;

/// Learns merges: the most frequent pair first, `options.tie_break` among equals.
///
/// Stops early when no pair is left whose count is at least `options.min_count` (and whose bytes are
/// at most `options.max_token_bytes`). `watch` hears how many merges are made. Memory: 4 bytes per
/// byte of the different pieces, and as much again for the places of pairs, at most.
///
/// ```
/// use bytepair::train::{LearnOptions, NoWatch, PieceCounts, learn};
///
/// let mut counts = PieceCounts::new();
/// for (piece, n) in [("low", 5), ("lower", 2), ("widest", 3), ("newest", 6)] {
///     counts.add(piece.as_bytes(), n)?;
/// }
/// let learned = learn(&counts, &LearnOptions::new(3), &NoWatch)?;
/// let tokens = learned.tokens();
/// assert_eq!(tokens[256..], [b"st".to_vec(), b"est".to_vec(), b"ow".to_vec()]);
/// assert_eq!(learned.counts, [9, 9, 7]);
/// # Ok::<(), bytepair::Error>(())
/// ```
pub fn learn(counts: &dyn Pieces, options: &LearnOptions, watch: &dyn Watch) -> Result<Learned> {
    learn_on(counts, options, Session::default(), watch)
}

/// Learns merges that go on where those of `base` end: the pieces are encoded with it first.
///
/// Tokens are numbered anew: byte `b` is id `b`, the other tokens of `base` follow from 256 on in the
/// order of their ids, then one token per merge. [`Error::UnknownByte`] when a piece holds a byte
/// that no token of `base` covers; [`Error::Value`] under [`TieBreak::FirstSeen`].
pub fn learn_more(
    counts: &dyn Pieces,
    base: &Model,
    options: &LearnOptions,
    watch: &dyn Watch,
) -> Result<Learned> {
    learn_on(counts, options, Session { base: Some(base), ..Session::default() }, watch)
}

/// What learning goes on from, and who keeps what it learns.
#[derive(Default)]
pub struct Session<'s> {
    /// The pieces are encoded with this first; see [`learn_more`].
    pub base: Option<&'s Model>,
    /// What was learned before from the same pieces, with the same base and under the same options
    /// but for the number of merges.
    pub known: Learned,
    /// How often what is learned is kept, and what keeps it.
    pub keep: Option<Keep<'s>>,
}

/// How often, and what is called.
pub type Keep<'s> = (Duration, &'s mut dyn FnMut(&Learned) -> Result<()>);

/// Learns as [`learn`](learn()) and [`learn_more`] do, on from what was learned before. The result is
/// that of learning from the beginning, what was known included.
pub fn learn_on(
    counts: &dyn Pieces,
    options: &LearnOptions,
    mut session: Session<'_>,
    watch: &dyn Watch,
) -> Result<Learned> {
    options.check()?;
    if options.tie_break == TieBreak::FirstSeen {
        if session.base.is_some() {
            return Err(Error::Value(
                "tie_break is \"first_seen\", under which no base can be continued; use another"
                    .to_owned(),
            ));
        }
        // It learns from the beginning: the places of pairs are not known from merges.
        return first_seen::learn(counts, options, watch);
    }
    let known = std::mem::take(&mut session.known);
    if known.merges.len() >= options.merges {
        return Ok(known.first(options.merges));
    }
    Learner::new(counts, options, watch, session.base, known)?.run(session.keep)
}

/// Learns as [`learn`](learn()) does, but goes through every merge of more than `places` twice: for
/// tests of what only huge pieces need.
#[doc(hidden)]
pub fn learn_twice(counts: &dyn Pieces, options: &LearnOptions, places: usize) -> Result<Learned> {
    options.check()?;
    let mut learner = Learner::new(counts, options, &NoWatch, None, Learned::default())?;
    learner.places_kept = places;
    learner.run(None)
}

struct Learner<'w> {
    words: Words,
    tokens: Tokens,
    pairs: Pairs,
    queue: Queue,
    changes: Changes,
    /// How many merges at most.
    wanted: usize,
    min_count: u64,
    max_token_bytes: usize,
    /// Pairs of a lower count are not in the queue, and need not be in the table.
    floor: u64,
    /// A merge of more places is gone through twice.
    places_kept: usize,
    learned: Learned,
    pulse: Pulse<'w>,
}

impl<'w> Learner<'w> {
    fn new(
        counts: &dyn Pieces,
        options: &LearnOptions,
        watch: &'w dyn Watch,
        base: Option<&Model>,
        known: Learned,
    ) -> Result<Self> {
        let mut pulse = Pulse::new(watch);
        let (done, total) = (known.merges.len() as u64, options.merges as u64);
        let words = Words::new(counts, &mut || pulse.beat(done, total))?;
        let mut learner = Self {
            words,
            tokens: Tokens::new(),
            pairs: Pairs::new(),
            queue: Queue::new(options.tie_break),
            changes: Changes::new(),
            wanted: options.merges.min(MAX_IDS - 256),
            min_count: options.min_count,
            max_token_bytes: options.max_token_bytes.unwrap_or(usize::MAX),
            floor: options.min_count,
            places_kept: PLACES_KEPT,
            learned: known,
            pulse,
        };
        learner.encode(base)?;
        let sketch = learner.sketch()?;
        // In natural text the count of the k-th merge is a few times the first divided by k.
        let expected = sketch.greatest() / (learner.wanted as u64).max(1);
        learner.floor = options.min_count.max(expected);
        learner.build(&sketch)?;
        Ok(learner)
    }

    /// Encodes all pieces with `base` and the merges known, and numbers their tokens.
    fn encode(&mut self, base: Option<&Model>) -> Result<()> {
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        for (id, token) in base.into_iter().flat_map(|base| base.vocab().iter()) {
            if let &[byte] = token {
                numbers.insert(id, u32::from(byte));
            } else if base.is_some_and(|base| base.vocab().id(token) == Some(id)) {
                let number = u32::try_from(self.tokens.len()).expect("fewer than the vocab's ids");
                numbers.insert(id, number);
                self.tokens.push(token);
            }
        }
        self.wanted = self.wanted.min(MAX_IDS.saturating_sub(self.tokens.len()));
        let known = &self.learned.merges;
        if base.is_none() && known.is_empty() {
            return Ok(());
        }
        let replay = Replay::new(known, self.tokens.len());
        for &(left, right) in known {
            self.tokens.join(left, right);
        }
        let (done, total) = (known.len() as u64, self.wanted as u64);
        let (mut work, mut steps, pulse) = (Heap::new(), 0, &mut self.pulse);
        self.words.encode(&self.tokens, |piece, ids| {
            steps += 1;
            if steps % FETCHED == 0 {
                pulse.beat(done, total)?;
            }
            match base {
                Some(base) => {
                    base.merge(piece, &mut work, ids)?;
                    for id in &mut *ids {
                        *id = numbers[id];
                    }
                }
                None => ids.extend(piece.iter().map(|&byte| u32::from(byte))),
            }
            replay.apply(ids);
            Ok(())
        })
    }

    /// Whether a pair still waiting has this count, which is the greatest.
    fn tied(&mut self, count: u64) -> bool {
        while let Some(top) = self.queue.peek() {
            let now = self.pairs.slot(top.slot).count;
            if top.count < count || now == top.count {
                return top.count == count;
            }
            if now < self.floor {
                self.queue.pop(&self.tokens);
                self.pairs.forget(top.slot);
            } else {
                self.queue.lower(now, &self.tokens);
            }
        }
        false
    }

    fn run(mut self, mut keep: Option<Keep<'_>>) -> Result<Learned> {
        let mut kept = Instant::now();
        while self.learned.merges.len() < self.wanted {
            self.beat()?;
            if let Some((every, keep)) = &mut keep
                && kept.elapsed() >= *every
            {
                keep(&self.learned)?;
                kept = Instant::now();
            }
            let Some(top) = self.queue.peek() else {
                if self.floor == self.min_count {
                    break;
                }
                self.floor = self.min_count.max(self.floor / FLOOR_STEP);
                let sketch = self.sketch()?;
                self.build(&sketch)?;
                continue;
            };
            let count = self.pairs.slot(top.slot).count;
            if count < self.floor {
                self.queue.pop(&self.tokens);
                self.pairs.forget(top.slot);
            } else if count < top.count {
                self.queue.lower(count, &self.tokens);
            } else {
                self.queue.pop(&self.tokens);
                let tied = self.tied(count);
                self.apply(top.pair, top.slot)?;
                self.learned.ties.push(tied);
                self.learned.saved.push(self.changes.made);
                self.learned.merges.push(top.pair);
                self.learned.counts.push(count);
            }
        }
        Ok(self.learned)
    }

    fn beat(&mut self) -> Result<()> {
        self.pulse.beat(self.learned.merges.len() as u64, self.wanted as u64)
    }

    /// Merges a pair everywhere and brings counts, postings and queue up to date.
    fn apply(&mut self, (left, right): (u32, u32), slot: u32) -> Result<()> {
        let id = u32::try_from(self.tokens.len()).expect("ids stay below MAX_IDS");
        let merge = Merge { left, right, id };
        self.tokens.join(left, right);
        let places = self.pairs.take(slot);
        self.changes.begin(self.tokens.len(), places.len() <= self.places_kept);
        let (mut cursor, mut rest) = (0, places.clone());
        while !rest.is_empty() {
            let end = rest.end.min(rest.start + VISITS_PER_BEAT);
            for items in self.pairs.pool[rest.start..end].chunks(FETCHED) {
                self.words.fetch(items);
                for &item in items {
                    self.words.merge(merge, item, &mut cursor, &self.tokens, &mut self.changes);
                }
            }
            rest.start = end;
            if !rest.is_empty() {
                self.beat()?;
            }
        }
        self.settle(merge, &places, true)?;
        self.settle(merge, &places, false)?;
        self.pairs.tidy();
        Ok(())
    }

    /// Carries the changes on one side of a merge's places into table, postings and queue.
    fn settle(&mut self, merge: Merge, places: &Range<usize>, before: bool) -> Result<()> {
        let side = if before { &mut self.changes.before } else { &mut self.changes.after };
        let room = self.max_token_bytes.saturating_sub(self.tokens.size(merge.id));
        let merged = key(merge.left, merge.right);
        for &token in &side.touched {
            let sum = &mut side.sums[token as usize];
            let (lost, gained) = if before {
                ((token, merge.left), (token, merge.id))
            } else if token == merge.id {
                ((merge.right, merge.left), (token, token))
            } else {
                ((merge.right, token), (merge.id, token))
            };
            let lost = key(lost.0, lost.1);
            // The merged pair itself is gone altogether; its count is 0 already.
            if lost != merged {
                self.pairs.lose(lost, sum.n);
            }
            if sum.n >= self.floor && self.tokens.size(token) <= room {
                let slot = self.pairs.find_or_insert(key(gained.0, gained.1));
                self.pairs.place(slot, sum.n, sum.items);
                self.queue.push(gained, sum.n, slot, &self.tokens);
                sum.slot = Some(slot);
            }
        }
        if side.keeps_places {
            for places in side.places.chunks(VISITS_PER_BEAT) {
                for &(token, item) in places {
                    if let Some(slot) = side.sums[token as usize].slot {
                        self.pairs.post(slot, item);
                    }
                }
                self.pulse.beat(self.learned.merges.len() as u64, self.wanted as u64)?;
            }
            side.places.clear();
        } else {
            self.post_again(merge.id, places, before)?;
        }
        let side = if before { &mut self.changes.before } else { &mut self.changes.after };
        for token in side.touched.drain(..) {
            side.sums[token as usize] = Sum::default();
        }
        Ok(())
    }

    /// Posts the pairs gained on one side by reading them from where the merge was made.
    fn post_again(&mut self, id: u32, places: &Range<usize>, before: bool) -> Result<()> {
        let side = if before { &self.changes.before } else { &self.changes.after };
        let pairs = &mut self.pairs;
        for (step, at) in places.clone().enumerate() {
            if step % VISITS_PER_BEAT == 0 {
                self.pulse.beat(self.learned.merges.len() as u64, self.wanted as u64)?;
            }
            self.words.beside(id, pairs.pool[at], before, &self.tokens, |token, item| {
                if let Some(slot) = side.sums[token as usize].slot {
                    pairs.post(slot, item);
                }
            });
        }
        Ok(())
    }

    /// Upper bounds of the counts of all pairs.
    fn sketch(&mut self) -> Result<Sketch> {
        let mut sketch = Sketch::new(self.tokens.len(), self.words.cells());
        let (done, total) = (self.learned.merges.len() as u64, self.wanted as u64);
        let beat = &mut || self.pulse.beat(done, total);
        self.words.each_pair(&self.tokens, beat, |_, left, right, count| {
            sketch.add(left, right, count);
        })?;
        Ok(sketch)
    }

    /// Makes table, postings and queue from the words: all pairs from the floor up.
    fn build(&mut self, sketch: &Sketch) -> Result<()> {
        let (tokens, floor, most) = (&self.tokens, self.floor, self.max_token_bytes);
        let wanted = |left: u32, right: u32| {
            sketch.bound(left, right) >= floor && tokens.size(left) + tokens.size(right) <= most
        };
        let (done, total) = (self.learned.merges.len() as u64, self.wanted as u64);
        let beat = &mut || self.pulse.beat(done, total);
        let pairs = &mut self.pairs;
        pairs.clear();
        self.words.each_pair(tokens, beat, |_, left, right, count| {
            if wanted(left, right) {
                let slot = pairs.find_or_insert(key(left, right));
                pairs.expect(slot, count);
            }
        })?;
        pairs.place_expected(floor);
        self.words.each_pair(tokens, beat, |item, left, right, _| {
            if wanted(left, right)
                && let Some(slot) = pairs.find(key(left, right))
                && pairs.slot(slot).count >= floor
            {
                pairs.post(slot, item);
            }
        })?;
        self.queue.clear();
        for (number, slot) in (0..).zip(pairs.slots()) {
            if slot.count >= floor {
                self.queue.push(pair(slot.key), slot.count, number, tokens);
            }
        }
        Ok(())
    }
}

/// Upper bounds of the counts of pairs: pairs share cells, which hold their sums. While all ids are
/// bytes, each pair has a cell of its own and the bound is the count.
struct Sketch {
    cells: Vec<u64>,
    bytes_only: bool,
    /// By how much a hash is shifted to be a cell.
    shift: u32,
}

impl Sketch {
    fn new(ids: usize, size: usize) -> Self {
        let bytes_only = ids == 256;
        let bits = if bytes_only { 16 } else { size.max(2).ilog2().min(SKETCH_BITS) };
        Self { cells: vec![0; 1 << bits], bytes_only, shift: u64::BITS - bits }
    }

    #[inline]
    fn cell(&self, left: u32, right: u32) -> usize {
        if self.bytes_only {
            return (left << 8 | right) as usize;
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most SKETCH_BITS bits are left")]
        let cell = (key(left, right).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize;
        cell
    }

    #[inline]
    fn add(&mut self, left: u32, right: u32, count: u64) {
        let cell = self.cell(left, right);
        self.cells[cell] += count;
    }

    #[inline]
    fn bound(&self, left: u32, right: u32) -> u64 {
        self.cells[self.cell(left, right)]
    }

    fn greatest(&self) -> u64 {
        self.cells.iter().copied().max().unwrap_or(0)
    }
}
