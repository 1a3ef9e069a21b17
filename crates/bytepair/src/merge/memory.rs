//! What one thread keeps between pieces: their ids, and the buffers of the merge engines.
//!
//! In: pieces, a few hundred at a turn. Out: their ids, to a sink. A turn has four passes, each over
//! arrays that stay in the nearest cache of the processor, and the three that every piece goes
//! through have no branches ([`crate::simd`]):
//!
//! 1. the key of each piece, and the memory of its line of [`super::cache`] is asked for;
//! 2. the first slot of each line, which has most pieces: a word of ids for each, and the numbers of
//!    the others;
//! 3. those others: the second slot, the store, or merging;
//! 4. ids out of words, and between them those that no word holds.
//!
//! Bounded: about 1.5 MiB, and more for a long text, the more different pieces it has, as long as all
//! threads together stay within 60 MiB. Memory is written when it is made, so that encoding a
//! text that is not known to be long asks the system for none.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::Model;
use super::cache::{PieceCache, key, long_key};
use super::heap::Heap;
use super::join;
use super::store::BYTES_MOST;
use crate::error::Result;
use crate::simd::turn::{FIELDS, Keys, NO_IDS, NONE, TURN, pack, unpack};
use crate::simd::{self, Level};
use crate::sink::Sink;

/// Ids that are gathered before the sink gets them: mostly all of a turn.
const ROOM: usize = 4 * TURN + SLACK;
/// As many as the words of a turn may take, and what is written behind them.
const SLACK: usize = FIELDS * TURN + 16;

/// From this many bytes on a text is worth a larger cache.
pub const LONG_TEXT: usize = 1 << 20;

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
}

impl Drop for Share {
    fn drop(&mut self) {
        TAKEN.fetch_sub(self.0, Ordering::Relaxed);
    }
}

/// A piece whose ids one word does not hold.
#[derive(Debug, Clone, Copy)]
struct Run {
    /// Which of the turn.
    index: usize,
    /// Where its ids begin in [`Turn::ids`], and how many they are; none when it is too long to be
    /// remembered and is merged when its ids are wanted.
    start: usize,
    len: usize,
}

/// What the passes of a turn leave for each other.
#[derive(Debug)]
struct Turn {
    keys: Keys,
    words: [u64; TURN],
    missed: [u16; TURN],
    runs: Vec<Run>,
    ids: Vec<u32>,
    out: Vec<u32>,
}

/// Pieces of a text: the ends of a turn, and where the first begins.
#[derive(Clone, Copy)]
struct Pieces<'a> {
    text: &'a [u8],
    start: u32,
    ends: &'a [u32],
}

impl<'a> Pieces<'a> {
    fn get(self, index: usize) -> &'a [u8] {
        let start = index.checked_sub(1).map_or(self.start, |last| self.ends[last]);
        &self.text[start as usize..self.ends[index] as usize]
    }
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
    /// Pieces that were new since the cache has its size.
    new: usize,
}

impl Memory {
    /// Empty, of the least size.
    pub fn new() -> Self {
        let turn = Turn {
            keys: Keys::new(),
            words: [NO_IDS; TURN],
            missed: [0; TURN],
            runs: Vec::with_capacity(TURN),
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
        }
    }

    /// Makes room for the pieces of a long text, if the budget allows. What is remembered stays.
    pub fn expect_long(&mut self) {
        if self.size == 0 {
            self.grow();
        }
    }

    fn grow(&mut self) {
        self.new = 0;
        if let Some(&size) = SIZES.get(self.size + 1)
            && self.share.take(size)
        {
            self.size += 1;
            self.cache.grow(size.lines, size.words);
        }
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
        let mut start = 0;
        for ends in ends.chunks(TURN) {
            let pieces = Pieces { text, start, ends };
            let misses = self.look(level, pieces);
            self.settle(model, pieces, misses)?;
            self.give(level, model, pieces, sink)?;
            if self.size > 0 && self.new >> SIZES[self.size].lines > 0 {
                self.grow();
            }
            start = ends.last().copied().unwrap_or(start);
        }
        Ok(())
    }

    /// The first two passes; returns how many pieces are left for the third.
    fn look(&mut self, level: Level, pieces: Pieces<'_>) -> usize {
        let Pieces { text, start, ends } = pieces;
        let Turn { keys, words, missed, .. } = &mut *self.turn;
        let lines = self.cache.lines();
        level.keys(text, start, ends, lines, keys);
        for word in 0..ends.len().div_ceil(64) {
            let mut left = keys.long[word];
            while left != 0 {
                let index = 64 * word + left.trailing_zeros() as usize;
                left &= left - 1;
                let key = long_key(pieces.get(index));
                let line = key.line(lines.len());
                simd::prefetch(&lines[line as usize]);
                (keys.low[index], keys.high[index], keys.line[index]) = (key.low, key.high, line);
            }
        }
        level.probe(lines, keys, ends.len(), words, missed)
    }

    /// The third pass.
    fn settle(&mut self, model: &Model, pieces: Pieces<'_>, misses: usize) -> Result<()> {
        let Self { cache, heap, turn, new, .. } = self;
        let Turn { keys, words, missed, runs, ids, .. } = &mut **turn;
        runs.clear();
        ids.clear();
        for &index in &missed[..misses] {
            let index = usize::from(index);
            let (piece, key, start) = (pieces.get(index), keys.get(index), ids.len());
            words[index] = if let Some(word) = cache.get(piece, key, ids) {
                word
            } else if piece.len() > BYTES_MOST {
                NO_IDS
            } else {
                model.merge(piece, heap, ids)?;
                cache.insert(piece, key, &ids[start..]);
                *new += 1;
                pack(&ids[start..]).inspect(|_| ids.truncate(start)).unwrap_or(NO_IDS)
            };
            if words[index] == NO_IDS {
                runs.push(Run { index, start, len: ids.len() - start });
            }
        }
        Ok(())
    }

    /// The fourth pass.
    fn give(
        &mut self,
        level: Level,
        model: &Model,
        pieces: Pieces<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let Turn { words, runs, ids, out, .. } = &mut *self.turn;
        let (mut done, mut count) = (0, 0);
        for &Run { index, start, len } in runs.iter() {
            count += level.unpack(&words[done..index], &mut out[count..]);
            done = index + 1;
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
        count += level.unpack(&words[done..pieces.ends.len()], &mut out[count..]);
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
        if let Some(word) = self.cache.get(piece, key, &mut self.ids) {
            self.ids.extend(unpack(word).into_iter().filter(|&id| id != NONE));
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
                memory.expect_long();
            }
        }
    }
}
