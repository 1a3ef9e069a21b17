//! What one thread keeps between pieces: their ids, and the buffers of the merge engines.
//!
//! In: pieces, a few hundred at a turn. Out: their ids, to a sink. A turn has four passes, each over
//! arrays that stay in the nearest cache of the processor, and the three that every piece goes
//! through have a branch for eight pieces at most ([`crate::simd`]):
//!
//! 1. the key of each piece, and the memory of its line of [`super::cache`] is asked for;
//! 2. the first slot of each line, which has most pieces: a word or two of ids for each, and the
//!    numbers of the others;
//! 3. those others: the other slots, the store, or merging;
//! 4. ids out of words, and between them those that no two words hold.
//!
//! Bounded: about 1.5 MiB, and more, the more different pieces there are, as long as all threads
//! together stay within 60 MiB and the system has memory to give; none for a stream.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::Model;
use super::cache::{PieceCache, key, long_key};
use super::heap::Heap;
use super::join;
use super::store::BYTES_MOST;
use crate::error::Result;
use crate::simd::lanes::{LANES, Lanes};
use crate::simd::turn::{
    FIELDS, Found, Keys, Missed, NO_IDS, NONE, Pieces, TURN, pack_two, unpack,
};
use crate::simd::{self, Level};
use crate::sink::Sink;

/// Ids that are gathered before the sink gets them: mostly all of a turn.
const ROOM: usize = 4 * TURN + SLACK;
/// As many as the words of a turn may take, and what is written behind them.
const SLACK: usize = 2 * FIELDS * TURN + 16;

/// From so many new pieces on it takes less to merge them side by side than one by one.
const WORTH: usize = 6;

/// From this many bytes on a text is worth a larger cache.
const LONG_TEXT: usize = 1 << 20;

/// The bytes that the larger caches of all threads of the process may take.
const BUDGET: usize = 60 << 20;

static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// log2 of the lines of the cache and of the words of its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Size {
    lines: u32,
    words: u32,
}

/// From one size to the next when there are more pieces than half of the slots.
const SIZES: [Size; 4] = [
    // Miri writes each word of it for itself.
    if cfg!(miri) { Size { lines: 6, words: 9 } } else { Size { lines: 14, words: 16 } },
    Size { lines: 17, words: 19 },
    Size { lines: 18, words: 20 },
    Size { lines: 19, words: 21 },
];

impl Size {
    const fn bytes(self) -> usize {
        (64 << self.lines) + (4 << self.words)
    }
}

/// What the caches beyond the least size take, of which each thread has one.
#[derive(Debug)]
struct Share(usize);

impl Share {
    /// The bytes of `size` instead of what it has, if the budget allows.
    fn take(&mut self, size: Size) -> bool {
        let more = size.bytes() - self.0;
        let fits = |taken: usize| Some(taken + more).filter(|&sum| sum <= BUDGET);
        let fits = TAKEN.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok();
        self.0 += if fits { more } else { 0 };
        fits
    }

    /// No more than the bytes of `size`, or of nothing where that is the least.
    fn leave(&mut self, size: Size) {
        let kept = if size == SIZES[0] { 0 } else { size.bytes() };
        TAKEN.fetch_sub(self.0 - kept, Ordering::Relaxed);
        self.0 = kept;
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.leave(SIZES[0]);
    }
}

/// A piece whose ids two words do not hold.
#[derive(Debug, Clone, Copy)]
struct Run {
    /// Which of the turn.
    index: usize,
    /// Where its words are.
    place: usize,
    /// Where its ids begin in [`Turn::ids`], and how many they are; none when it is too long to be
    /// remembered and is merged when its ids are wanted.
    start: usize,
    len: usize,
}

/// What the passes of a turn leave for each other.
#[derive(Debug)]
struct Turn {
    keys: Keys,
    found: Found,
    runs: Vec<Run>,
    fresh: Vec<Missed>,
    lanes: Lanes,
    ids: Vec<u32>,
    out: Vec<u32>,
}

/// Finds and remembers the ids of pieces.
#[derive(Debug)]
pub struct Memory {
    cache: PieceCache,
    heap: Heap,
    ids: Vec<u32>,
    turn: Box<Turn>,
    /// Which of [`SIZES`].
    size: usize,
    share: Share,
    /// Pieces that were put into the cache.
    new: usize,
    /// Whether it may take more memory.
    grows: bool,
}

impl Memory {
    /// Empty, of the least size.
    pub fn new() -> Self {
        let turn = Turn {
            keys: Keys::new(),
            found: Found::new(),
            runs: Vec::with_capacity(TURN),
            fresh: Vec::with_capacity(TURN),
            lanes: Lanes::new(),
            ids: Vec::with_capacity(ROOM),
            out: vec![0; ROOM],
        };
        Self {
            cache: PieceCache::with_bits(SIZES[0].lines, SIZES[0].words),
            heap: Heap::new(),
            ids: Vec::with_capacity(256),
            turn: Box::new(turn),
            size: 0,
            share: Share(0),
            new: 0,
            grows: false,
        }
    }

    /// Is told how long the text to come is, 0 if that is not known: for that it does not grow. For a
    /// long one it makes room at once. What is remembered stays.
    pub fn expect(&mut self, bytes: usize) {
        self.grows = bytes > 0;
        if self.size == 0 && bytes >= LONG_TEXT {
            self.grow();
        }
    }

    /// Goes to the next size, if there is one and the budget and the system allow; else another time.
    fn grow(&mut self) {
        if let Some(&size) = SIZES.get(self.size + 1)
            && self.share.take(size)
        {
            if self.cache.grow(size.lines, size.words) {
                self.size += 1;
                return;
            }
            self.share.leave(SIZES[self.size]);
        }
        self.new = 0;
    }

    /// Gives the ids of the pieces of `text[from..]` that end at `ends`, counted from `from`, to `sink`.
    ///
    /// # Errors
    /// As [`Model::merge`].
    pub(crate) fn merge_all(
        &mut self,
        model: &Model,
        text: &[u8],
        from: usize,
        ends: &[u32],
        sink: &mut impl Sink,
    ) -> Result<()> {
        let (level, text) = (Level::get(), &text[from..]);
        let ahead = ends.last().map_or(0, |&end| end as usize);
        let mut start = 0;
        for ends in ends.chunks(TURN) {
            let pieces = Pieces { text, start, ends, ahead };
            self.look(level, pieces);
            self.settle(level, model, pieces)?;
            self.give(level, model, pieces, sink)?;
            if self.grows && self.new >> SIZES[self.size].lines > 0 {
                self.grow();
            }
            start = ends.last().copied().unwrap_or(start);
        }
        Ok(())
    }

    /// The first two passes.
    fn look(&mut self, level: Level, pieces: Pieces<'_>) {
        let count = pieces.ends.len();
        let Turn { keys, found, .. } = &mut *self.turn;
        let lines = self.cache.lines();
        level.keys(pieces, lines, keys);
        for word in 0..count.div_ceil(64) {
            let mut left = keys.long[word];
            while left != 0 {
                let index = 64 * word + left.trailing_zeros() as usize;
                left &= left - 1;
                let key = long_key(pieces.get(index));
                let line = key.line(lines.len());
                simd::prefetch(lines, line as usize);
                (keys.low[index], keys.high[index], keys.line[index]) = (key.low, key.high, line);
            }
        }
        level.probe(lines, keys, count, found);
    }

    /// The third pass.
    fn settle(&mut self, level: Level, model: &Model, pieces: Pieces<'_>) -> Result<()> {
        let Self { cache, turn, .. } = self;
        let Turn { keys, found, runs, fresh, ids, .. } = &mut **turn;
        runs.clear();
        ids.clear();
        fresh.clear();
        for missed in &found.missed[..found.misses] {
            cache.ask_beside(keys.line[usize::from(missed.index)]);
        }
        for &missed in &found.missed[..found.misses] {
            let (place, index) = (usize::from(missed.place), usize::from(missed.index));
            let (piece, start) = (pieces.get(index), ids.len());
            let words = if let Some(words) = cache.get(piece, keys.get(index), ids) {
                words
            } else if piece.len() > BYTES_MOST {
                [NO_IDS; 2]
            } else {
                fresh.push(missed);
                continue;
            };
            found.words[place..place + 2].copy_from_slice(&words);
            if words[0] == NO_IDS {
                runs.push(Run { index, place, start, len: ids.len() - start });
            }
        }
        if !self.turn.fresh.is_empty() {
            self.merge_fresh(level, model, pieces)?;
            self.turn.runs.sort_unstable_by_key(|run| run.place);
        }
        Ok(())
    }

    /// Merges the pieces that are not remembered.
    fn merge_fresh(&mut self, level: Level, model: &Model, pieces: Pieces<'_>) -> Result<()> {
        let mut fresh = std::mem::take(&mut self.turn.fresh);
        // A lane is done when the longest piece beside it is.
        fresh.sort_unstable_by_key(|missed| pieces.get(usize::from(missed.index)).len());
        let mut chunks = fresh.chunks(LANES);
        let result = chunks.try_for_each(|missed| self.merge_some(level, model, pieces, missed));
        self.turn.fresh = fresh;
        result
    }

    /// Merges up to [`LANES`] pieces, side by side if they are enough.
    fn merge_some(
        &mut self,
        level: Level,
        model: &Model,
        pieces: Pieces<'_>,
        missed: &[Missed],
    ) -> Result<()> {
        let mut some = [&[][..]; LANES];
        for (piece, missed) in some.iter_mut().zip(missed) {
            *piece = pieces.get(usize::from(missed.index));
        }
        let merges = model.byte_merges().filter(|_| missed.len() >= WORTH);
        let done = merges.map_or([false; LANES], |merges| {
            merges.merge_lanes(level, &some[..missed.len()], &mut self.turn.lanes)
        });
        for (lane, (&missed, piece)) in missed.iter().zip(some).enumerate() {
            let Turn { ids, lanes, .. } = &mut *self.turn;
            let start = ids.len();
            if !done[lane] {
                model.merge(piece, &mut self.heap, ids)?;
            } else if let Some(id) = model.whole(piece) {
                ids.push(id);
            } else {
                lanes.take(lane, ids);
            }
            self.keep(missed, piece, start);
        }
        Ok(())
    }

    /// Remembers the ids of a piece, those in the turn's from `start` on, and leaves them for the
    /// fourth pass.
    fn keep(&mut self, missed: Missed, piece: &[u8], start: usize) {
        let Turn { keys, found, runs, ids, .. } = &mut *self.turn;
        let (place, index) = (usize::from(missed.place), usize::from(missed.index));
        self.cache.insert(piece, keys.get(index), &ids[start..]);
        self.new += 1;
        let words = pack_two(&ids[start..]).inspect(|_| ids.truncate(start));
        let words = words.unwrap_or([NO_IDS; 2]);
        found.words[place..place + 2].copy_from_slice(&words);
        if words[0] == NO_IDS {
            runs.push(Run { index, place, start, len: ids.len() - start });
        }
    }

    /// The fourth pass.
    fn give(
        &mut self,
        level: Level,
        model: &Model,
        pieces: Pieces<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let Turn { found, runs, ids, out, .. } = &mut *self.turn;
        let words = &found.words[..found.count];
        let (mut done, mut count) = (0, 0);
        for &Run { index, place, start, len } in runs.iter() {
            count += level.unpack(&words[done..place], &mut out[count..]);
            done = place;
            let mut ids = &ids[start..start + len];
            if len == 0 {
                self.ids.clear();
                self.ids.shrink_to(1 << 16);
                let (piece, stops) = (pieces.get(index), || sink.is_left());
                if piece.len() >= join::LONG {
                    model.merge_until(piece, &mut self.heap, &mut self.ids, &stops)?;
                } else {
                    model.merge(piece, &mut self.heap, &mut self.ids)?;
                }
                ids = &self.ids;
            }
            if count + ids.len() <= ROOM - SLACK {
                out[count..count + ids.len()].copy_from_slice(ids);
                count += ids.len();
            } else {
                sink.take(&out[..count]);
                sink.take(ids);
                count = 0;
            }
        }
        count += level.unpack(&words[done..], &mut out[count..]);
        sink.take(&out[..count]);
        Ok(())
    }

    /// The ids of `piece`.
    ///
    /// # Errors
    /// As [`Model::merge`].
    pub fn merge(&mut self, model: &Model, piece: &[u8]) -> Result<&[u32]> {
        self.ids.clear();
        self.ids.shrink_to(1 << 16);
        let key = key(piece);
        if let Some(words) = self.cache.get(piece, key, &mut self.ids) {
            self.ids.extend(words.into_iter().flat_map(unpack).filter(|&id| id != NONE));
        } else {
            model.merge(piece, &mut self.heap, &mut self.ids)?;
            self.cache.insert(piece, key, &self.ids);
        }
        Ok(&self.ids)
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::Vocab;

    /// Pieces of many lengths and numbers of ids, each met again while others push it out.
    #[test]
    fn what_is_remembered_is_what_merging_gives() {
        let bytes = (0..=255).map(|byte| (u32::from(byte), vec![byte]));
        let tokens = bytes.chain([(256, b"ab".to_vec()), (257, b"abab".to_vec())]);
        let vocab = Vocab::new(tokens).unwrap();
        let merges = vec![(97, 98), (256, 256)];
        let model = Model::from_merges(vocab, merges, false).unwrap();
        let (mut memory, mut heap) = (Memory::new(), Heap::new());
        for round in 0..3 {
            for n in 0..6000_usize {
                let piece =
                    ["ab".repeat(n % 31), n.to_string(), "\u{4e00}x".repeat(n % 3)].concat();
                let mut expected = Vec::new();
                model.merge(piece.as_bytes(), &mut heap, &mut expected).unwrap();
                let ids = memory.merge(&model, piece.as_bytes()).unwrap();
                assert_eq!(ids, expected, "{piece}");
            }
            if round == 1 {
                memory.expect(LONG_TEXT);
            }
        }
    }
}
