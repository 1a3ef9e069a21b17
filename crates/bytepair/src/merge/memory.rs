//! What one thread keeps between pieces: their ids, and the buffers of the merge engines.
//!
//! Bounded: about 1.5 MiB, and more while a long text is known to come, as long as all threads
//! together stay within 44 MiB. Memory is written when it is made, so that encoding asks the
//! system for none.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::Model;
use super::cache::{IDS_MOST, NO_KEY, PieceCache, key};
use super::heap::Heap;
use super::join;
use crate::error::Result;
use crate::sink::Sink;

/// Pieces whose memory is asked for at once.
const TURN: usize = 256;
/// Ids of one turn that are gathered before the sink gets them: mostly all.
const ROOM: usize = TURN * 4 + SLACK;
/// As many as the pieces of a turn may take without being looked after.
const SLACK: usize = TURN * IDS_MOST + 1;

/// From this many bytes on a text is worth a larger cache.
pub const LONG_TEXT: usize = 1 << 20;

/// The bytes that the larger caches of all threads of the process may take.
const BUDGET: usize = 44 << 20;

static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// log2 of the lines of the cache and of the words of its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Size {
    lines: u32,
    words: u32,
}

/// Miri writes each word of it for itself.
const SMALL: Size =
    if cfg!(miri) { Size { lines: 6, words: 9 } } else { Size { lines: 14, words: 16 } };
const LARGE: Size = Size { lines: 18, words: 20 };

impl Size {
    const fn bytes(self) -> usize {
        (64 << self.lines) + (4 << self.words)
    }
}

/// The buffers of a turn: key and line of each piece, and ids.
#[derive(Debug, Default)]
struct Turn {
    probes: Vec<(u128, u32)>,
    out: Vec<u32>,
}

/// Finds and remembers the ids of pieces.
#[derive(Debug)]
pub struct Memory {
    cache: PieceCache,
    heap: Heap,
    ids: Vec<u32>,
    turn: Turn,
    size: Size,
}

impl Memory {
    /// Empty, of the least size.
    pub fn new() -> Self {
        Self {
            cache: PieceCache::with_bits(SMALL.lines, SMALL.words),
            heap: Heap::new(),
            ids: Vec::with_capacity(256),
            turn: Turn { probes: vec![(NO_KEY, 0); TURN], out: vec![0; ROOM] },
            size: SMALL,
        }
    }

    /// Makes room for the pieces of a long text, once, if the budget allows. What is remembered
    /// stays.
    pub fn grow(&mut self) {
        if self.size == LARGE {
            return;
        }
        let fits = |taken: usize| Some(taken + LARGE.bytes()).filter(|&sum| sum <= BUDGET);
        if TAKEN.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok() {
            self.size = LARGE;
            self.cache.grow(LARGE.lines, LARGE.words);
        }
    }

    /// Gives the ids of the pieces of `text[from..]` that end at `ends`, counted from `from`, to `sink`.
    ///
    /// In turns over a few hundred pieces: first their keys, and the memory of their lines is asked
    /// for; then their ids, 16 bytes at a time into a buffer, of which only the first count.
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
        // Kept between calls: to clear them takes as long as to encode a short text.
        let mut turn = std::mem::take(&mut self.turn);
        let result = self.merge_turns(model, text, from, ends, &mut turn, sink);
        self.turn = turn;
        result
    }

    fn merge_turns(
        &mut self,
        model: &Model,
        text: &[u8],
        from: usize,
        ends: &[u32],
        Turn { probes, out }: &mut Turn,
        sink: &mut impl Sink,
    ) -> Result<()> {
        probes.resize(TURN, (NO_KEY, 0));
        out.resize(ROOM, 0);
        let mut start = from;
        for ends in ends.chunks(TURN) {
            let first = start;
            for (probe, &end) in probes.iter_mut().zip(ends) {
                let end = from + end as usize;
                let key = key(text, start, end);
                let line = self.cache.line(key);
                self.cache.prefetch(line);
                *probe = (key, line);
                start = end;
            }
            let mut start = first;
            let mut count = 0;
            for (&(key, line), &end) in probes.iter().zip(ends) {
                let end = from + end as usize;
                if let Some(ids) = self.cache.first(line, key) {
                    out[count..count + 4].copy_from_slice(ids);
                    count += ids[IDS_MOST] as usize;
                } else if end - start >= join::LONG {
                    sink.take(&out[..count]);
                    count = 0;
                    self.ids.clear();
                    let left = || sink.is_left();
                    model.merge_until(&text[start..end], &mut self.heap, &mut self.ids, &left)?;
                    sink.take(&self.ids);
                } else {
                    let ids = self.find(model, &text[start..end], key)?;
                    if count + ids.len() <= ROOM - SLACK {
                        out[count..count + ids.len()].copy_from_slice(ids);
                        count += ids.len();
                    } else {
                        sink.take(&out[..count]);
                        sink.take(ids);
                        count = 0;
                    }
                }
                start = end;
            }
            sink.take(&out[..count]);
        }
        Ok(())
    }

    /// The ids of `piece`.
    ///
    /// # Errors
    /// As [`Model::merge`].
    pub fn merge(&mut self, model: &Model, piece: &[u8]) -> Result<&[u32]> {
        self.find(model, piece, key(piece, 0, piece.len()))
    }

    /// The ids of `piece`, of key `key`.
    #[inline(never)]
    fn find(&mut self, model: &Model, piece: &[u8], key: u128) -> Result<&[u32]> {
        self.ids.clear();
        self.ids.shrink_to(1 << 16);
        if let Some(ids) = self.cache.get(piece, key) {
            self.ids.extend_from_slice(ids);
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

impl Drop for Memory {
    fn drop(&mut self) {
        if self.size == LARGE {
            TAKEN.fetch_sub(LARGE.bytes(), Ordering::Relaxed);
        }
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
                memory.grow();
            }
        }
    }
}
