//! Merges a long piece by windows that overlap, and joins them.
//!
//! In: a piece. Out: its ids. The queue of [`super::heap`] outgrows the near caches on a long piece and
//! then waits for memory at every step; windows do not, and short ones are merged sixteen at a time
//! (`simd/lanes.rs`). Time is linear in the piece, and memory is that of a few windows.
//!
//! What makes it exact: call two tokens *steady* if merging their joined bytes gives the two of them.
//! Then tokens of which all neighbours are steady are what merging gives for all their bytes.
//! Proof: merging applies the lowest (rank, place) there is. Think of the first merge that crosses
//! a border between two of the tokens. Until then what happened in the bytes of these two is what
//! happens when they are merged alone, for in both cases the next merge there is the lowest there.
//! So merging them alone would apply it too, and would not give the two. Nothing crosses a border,
//! and each token alone becomes itself. In the other direction, neighbours in a result are steady by
//! the same argument. So if two windows have a token in common, the tokens of the first before it and
//! those of the second from it on are what merging gives for both: all neighbours are neighbours in
//! one of the windows. Two windows that have none in common are not joined, but a longer one is tried,
//! and at last the whole piece.

use super::heap::Heap;
use super::{Merges, Model, NO_RANK, scan};
use crate::error::{Error, Result};
use crate::simd::Level;
use crate::simd::lanes::{LANES, Lanes, PARTS};
use crate::vocab::Vocab;

/// Bytes of a window: as many as go side by side.
pub const WINDOW: usize = PARTS;

/// Bytes of the windows that are tried where short ones have no token in common.
const WIDER: [usize; 2] = [1 << 9, 1 << 12];

/// From this many bytes on a piece takes long enough that somebody may want to stop it.
pub(crate) const LONG: usize = 1 << 15;

/// Short windows are given up for a piece in which more than one in so many cannot be joined.
const WORTH: usize = 8;

/// The most windows at a time.
const ROW: usize = 64;

/// Windows side by side, reused from piece to piece.
#[derive(Debug)]
pub(super) struct Windows {
    lanes: Lanes,
    ids: [Vec<u32>; LANES],
    /// Where each window begins and ends, and which of `ids` are its.
    places: Vec<(usize, usize, usize)>,
}

impl Windows {
    pub(super) fn new() -> Self {
        let ids = std::array::from_fn(|_| Vec::with_capacity(WINDOW));
        Self { lanes: Lanes::new(), ids, places: Vec::with_capacity(ROW) }
    }

    /// Merges the windows of `window` bytes of a piece from `start` on, as many as there are lanes.
    /// Those that equal the one before, as in a piece of a few characters again and again, take none.
    fn fill(
        &mut self,
        merges: &Merges,
        piece: &[u8],
        mut start: usize,
        window: usize,
    ) -> Result<()> {
        self.places.clear();
        let (mut used, mut pieces) = (0, [&piece[..0]; LANES]);
        while self.places.len() < ROW {
            let end = (start + window).min(piece.len());
            let bytes = &piece[start..end];
            if self.places.last().is_none_or(|&(start, end, _)| piece[start..end] != *bytes) {
                if used == LANES {
                    break;
                }
                pieces[used] = bytes;
                used += 1;
            }
            self.places.push((start, end, used - 1));
            if end == piece.len() {
                break;
            }
            start = end - overlap(window);
        }
        let done = merges.merge_lanes(Level::get(), &pieces[..used], &mut self.lanes);
        for (lane, ids) in self.ids[..used].iter_mut().enumerate() {
            ids.clear();
            if done[lane] {
                self.lanes.take(lane, ids);
            } else {
                scan::merge(merges, pieces[lane], ids)?;
            }
        }
        Ok(())
    }
}

/// How many bytes two windows have in common.
fn overlap(window: usize) -> usize {
    (window / 4).max(1)
}

/// Appends the ids of `piece` to `ids`, by windows of `window` bytes (2 to [`WINDOW`]); tokens are
/// those of `vocab`.
pub fn merge(
    merges: &Merges,
    vocab: &Vocab,
    piece: &[u8],
    window: usize,
    work: &mut Heap,
    ids: &mut Vec<u32>,
) -> Result<()> {
    merge_until(merges, vocab, piece, window, work, ids, &|| false)
}

impl Model {
    /// [`Model::merge`] of a long piece, given up once `stops` says so.
    ///
    /// # Errors
    /// As [`Model::merge`], and [`Error::Interrupted`].
    pub(crate) fn merge_until(
        &self,
        piece: &[u8],
        work: &mut Heap,
        ids: &mut Vec<u32>,
        stops: &dyn Fn() -> bool,
    ) -> Result<()> {
        if let Some(symbols) = self.symbols() {
            return symbols.merge_until(piece, ids, stops);
        }
        if let Some(id) = self.whole(piece) {
            ids.push(id);
            return Ok(());
        }
        merge_until(&self.merges, self.vocab(), piece, WINDOW, work, ids, stops)
    }
}

/// [`merge`], given up between two windows once `stops` says so.
fn merge_until(
    merges: &Merges,
    vocab: &Vocab,
    piece: &[u8],
    window: usize,
    work: &mut Heap,
    ids: &mut Vec<u32>,
    stops: &dyn Fn() -> bool,
) -> Result<()> {
    let (first, window) = (ids.len(), window.clamp(2, WINDOW));
    let mut windows = work.windows.take().unwrap_or_else(|| Box::new(Windows::new()));
    let wide = Wide { start: 0, end: 0, ids: Vec::new() };
    let mut join = Join { merges, vocab, piece, work, ids, first, end: 0, wide };
    let (mut joined, mut failed) = (0, 0);
    let mut result = Ok(());
    while join.end < piece.len() && result.is_ok() {
        if stops() {
            result = Err(Error::Interrupted);
        } else if failed * WORTH > joined + WORTH {
            result = join.wider(stops);
        } else {
            let start = join.end - overlap(window).min(join.end);
            result = windows.fill(merges, piece, start, window);
            for &(start, end, row) in &windows.places {
                if result.is_ok() && !join.take(&windows.ids[row], start, end) {
                    failed += 1;
                    result = join.wider(stops);
                    break;
                }
                joined += 1;
            }
        }
    }
    work.windows = Some(windows);
    result
}

/// The last of the longer windows.
struct Wide {
    start: usize,
    end: usize,
    ids: Vec<u32>,
}

/// A piece that is merged up to `end`: `ids[first..]`.
struct Join<'a> {
    merges: &'a Merges,
    vocab: &'a Vocab,
    piece: &'a [u8],
    work: &'a mut Heap,
    ids: &'a mut Vec<u32>,
    first: usize,
    end: usize,
    wide: Wide,
}

impl Join<'_> {
    fn len(&self, id: u32) -> usize {
        self.vocab.bytes(id).map_or(0, <[u8]>::len)
    }

    /// Joins a window of these ids from `start` to `end` to what there is, if they have a token in
    /// common, and returns whether they have.
    fn take(&mut self, next: &[u32], start: usize, end: usize) -> bool {
        let (mut at, mut left) = self.behind(start);
        let (mut taken, mut right) = (0, start);
        // From the beginning of the piece on it takes the place of what there is.
        if start > 0 {
            loop {
                let (Some(&one), Some(&two)) = (self.ids.get(at), next.get(taken)) else {
                    return false;
                };
                if left == right && one == two {
                    break;
                }
                if left <= right {
                    (at, left) = (at + 1, left + self.len(one));
                } else {
                    (taken, right) = (taken + 1, right + self.len(two));
                }
            }
        }
        self.ids.truncate(at);
        self.ids.extend_from_slice(&next[taken..]);
        self.end = end;
        true
    }

    /// The first token that begins at `place` or behind it, and where that is.
    fn behind(&self, place: usize) -> (usize, usize) {
        let (mut at, mut begins) = (self.ids.len(), self.end);
        while at > self.first {
            let before = begins - self.len(self.ids[at - 1]);
            if before < place {
                break;
            }
            (at, begins) = (at - 1, before);
        }
        (at, begins)
    }

    /// Goes on with a longer window, which begins where a token does.
    fn wider(&mut self, stops: &dyn Fn() -> bool) -> Result<()> {
        for size in WIDER.into_iter().chain([usize::MAX]) {
            let (at, mut start) = self.behind(self.end - overlap(size).min(self.end));
            if start == self.end && at > self.first {
                // A token that is longer than all of what two windows have in common.
                start -= self.len(self.ids[at - 1]);
            }
            let end = start.saturating_add(size).min(self.piece.len());
            if end == self.end {
                continue;
            }
            let mut wide = std::mem::replace(&mut self.wide, Wide { start, end, ids: Vec::new() });
            // Long pieces are often one character or a few, again and again.
            if self.piece[start..end] != self.piece[wide.start..wide.end] {
                wide.ids.clear();
                let piece = &self.piece[start..end];
                self.work.merge_until(self.merges, piece, NO_RANK, &mut wide.ids, stops)?;
            }
            let joined = self.take(&wide.ids, start, end);
            self.wide.ids = wide.ids;
            if joined {
                return Ok(());
            }
        }
        self.ids.truncate(self.first);
        self.end = self.piece.len();
        self.work.merge_until(self.merges, self.piece, NO_RANK, self.ids, stops)
    }
}
