//! Merges a long piece block by block, and joins the blocks.
//!
//! The queue of [`super::heap`] outgrows the near caches on a long piece and then waits for memory at
//! every step; on blocks it does not. Time is linear in the piece, and memory is that of a block.
//!
//! What makes it exact: call two tokens *steady* if merging their joined bytes gives the two of them.
//! Then tokens of which all neighbours are steady are what merging gives for all their bytes.
//! Proof: merging applies the lowest (rank, place) there is. Think of the first merge that crosses
//! a border between two of the tokens. Until then what happened in the bytes of these two is what
//! happens when they are merged alone, for in both cases the next merge there is the lowest there.
//! So merging them alone would apply it too, and would not give the two. Nothing crosses a border,
//! and each token alone becomes itself. In the other direction, neighbours in a result are steady by
//! the same argument. So two results may be joined where the tokens at the border are steady; where
//! they are not, a few tokens on both sides are merged anew and the two borders of that part count.

use super::heap::Heap;
use super::{Merges, Model, NO_RANK, scan};
use crate::error::{Error, Result};
use crate::vocab::Vocab;

/// Bytes of a block: enough that joining takes little of the time.
pub const BLOCK: usize = 1 << 9;

/// From this many bytes on a piece takes long enough that somebody may want to stop it.
pub(crate) const LONG: usize = 1 << 15;

/// Tokens on each side of a border that are merged anew at most. If they do not do, the whole piece
/// goes to the heap: so much for pieces that are made to be bad.
const ANEW_MOST: usize = 64;

/// What joining works with.
struct Join<'a> {
    merges: &'a Merges,
    vocab: &'a Vocab,
    piece: &'a [u8],
    work: &'a mut Heap,
    /// The ids of the block that comes next.
    block: Vec<u32>,
    /// The ids between.
    middle: Vec<u32>,
    pair: Vec<u32>,
}

/// Appends the ids of `piece` to `ids`, by blocks of `block` bytes; tokens are those of `vocab`.
pub fn merge(
    merges: &Merges,
    vocab: &Vocab,
    piece: &[u8],
    block: usize,
    work: &mut Heap,
    ids: &mut Vec<u32>,
) -> Result<()> {
    merge_until(merges, vocab, piece, block, work, ids, &|| false)
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
        if self.whole_pieces() && !self.is_trained() && self.vocab().id(piece).is_some() {
            return self.merge(piece, work, ids);
        }
        merge_until(&self.merges, self.vocab(), piece, BLOCK, work, ids, stops)
    }
}

/// [`merge`], given up between two blocks once `stops` says so.
fn merge_until(
    merges: &Merges,
    vocab: &Vocab,
    piece: &[u8],
    block: usize,
    work: &mut Heap,
    ids: &mut Vec<u32>,
    stops: &dyn Fn() -> bool,
) -> Result<()> {
    let before = ids.len();
    let (mut start, mut end) = (0, block.min(piece.len()));
    let (next, middle, pair) = (Vec::with_capacity(block), Vec::new(), Vec::new());
    let mut join = Join { merges, vocab, piece, work, block: next, middle, pair };
    // The ids of the last block as they were before they were joined.
    let mut last = Vec::with_capacity(block);
    while start < piece.len() {
        if stops() {
            return Err(Error::Interrupted);
        }
        // Long pieces are often one character or a few, again and again.
        if start == 0 || piece[start..end] != piece[start - block..start] {
            last.clear();
            run(merges, &piece[start..end], join.work, &mut last)?;
        }
        join.block.extend_from_slice(&last);
        if start > 0 && !join.at(start, before, ids)? {
            ids.truncate(before);
            return work.merge(merges, piece, NO_RANK, ids);
        }
        ids.append(&mut join.block);
        (start, end) = (end, (end + block).min(piece.len()));
    }
    Ok(())
}

fn run(merges: &Merges, piece: &[u8], work: &mut Heap, ids: &mut Vec<u32>) -> Result<()> {
    if piece.len() <= scan::MOST {
        scan::merge(merges, piece, ids)
    } else {
        work.merge(merges, piece, NO_RANK, ids)
    }
}

impl Join<'_> {
    fn bytes(&self, ids: &[u32]) -> usize {
        ids.iter().map(|&id| self.vocab.bytes(id).map_or(0, <[u8]>::len)).sum()
    }

    /// Whether the tokens `left` and `right`, on both sides of byte `at`, are steady.
    fn steady(&mut self, left: u32, right: u32, at: usize) -> Result<bool> {
        let (from, to) = (at - self.bytes(&[left]), at + self.bytes(&[right]));
        self.pair.clear();
        run(self.merges, &self.piece[from..to], self.work, &mut self.pair)?;
        Ok(self.pair == [left, right])
    }

    /// Changes the end of `ids[first..]`, which end at byte `at`, and the start of the next block so
    /// that they may be joined. False if that takes too many tokens.
    fn at(&mut self, at: usize, first: usize, ids: &mut Vec<u32>) -> Result<bool> {
        let mut anew = 0;
        while anew <= ANEW_MOST {
            let (left, right) = (anew.min(ids.len() - first), anew.min(self.block.len()));
            let kept = ids.len() - left;
            let from = at - self.bytes(&ids[kept..]);
            let to = at + self.bytes(&self.block[..right]);
            self.middle.clear();
            run(self.merges, &self.piece[from..to], self.work, &mut self.middle)?;
            // The tokens on both sides of each border; at an end of the piece there is none.
            let before = ids[first..kept].last().copied();
            let behind = self.block.get(right).copied();
            let steady = match (self.middle.first().copied(), self.middle.last().copied()) {
                (Some(start), Some(end)) => {
                    let joins = |this: &mut Self, left: Option<u32>, right: Option<u32>, at| {
                        left.zip(right)
                            .map_or(Ok(true), |(left, right)| this.steady(left, right, at))
                    };
                    joins(self, before, Some(start), from)? && joins(self, Some(end), behind, to)?
                }
                _ => match before.zip(behind) {
                    Some((left, right)) => self.steady(left, right, at)?,
                    None => true,
                },
            };
            if steady {
                ids.truncate(kept);
                ids.extend_from_slice(&self.middle);
                self.block.drain(..right);
                return Ok(true);
            }
            anew = (anew * 2).max(1);
        }
        Ok(false)
    }
}
