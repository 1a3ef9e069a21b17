//! Several sorted rows of pieces as one: the counts of equal pieces are added.
//!
//! In: [`Sorted`] sources. Out: their pieces in order, each once, with the sum of its counts. A heap
//! of the sources has the least piece on top; its first eight bytes settle most comparisons. Costs
//! O(log k) comparisons for each piece of k sources, and holds one piece of each.

use std::cmp::Ordering;

use super::counts::{overflow, prefix};
use super::runs::Sorted;
use crate::error::Result;

/// Pieces joined between two looks at the clock.
const PIECES_PER_BEAT: u32 = 1 << 14;

struct Head<S> {
    prefix: u64,
    source: S,
}

impl<S: Sorted> Head<S> {
    fn compare(&self, other: &Self) -> Ordering {
        let prefixes = self.prefix.cmp(&other.prefix);
        prefixes.then_with(|| self.source.piece().cmp(other.source.piece()))
    }
}

/// Calls `f` for each piece and the sum of its counts, in the order of the pieces' bytes, and `beat`
/// now and then; [`Error::Value`](crate::Error::Value) when a sum passes 2^64 - 1.
pub(super) fn join<S: Sorted>(
    sources: Vec<S>,
    beat: &mut dyn FnMut() -> Result<()>,
    mut f: impl FnMut(&[u8], u64) -> Result<()>,
) -> Result<()> {
    let mut heap: Vec<Head<S>> = Vec::with_capacity(sources.len());
    for mut source in sources {
        if source.advance()? {
            heap.push(Head { prefix: prefix(source.piece()), source });
        }
    }
    for at in (0..heap.len() / 2).rev() {
        sink(&mut heap, at);
    }
    let (mut piece, mut steps) = (Vec::new(), 0u32);
    while let Some(top) = heap.first() {
        piece.clear();
        piece.extend_from_slice(top.source.piece());
        let mut sum = top.source.count();
        step(&mut heap)?;
        while let Some(top) = heap.first()
            && top.source.piece() == piece
        {
            sum = sum.checked_add(top.source.count()).ok_or_else(|| overflow(&piece))?;
            step(&mut heap)?;
        }
        f(&piece, sum)?;
        steps += 1;
        if steps % PIECES_PER_BEAT == 0 {
            beat()?;
        }
    }
    Ok(())
}

/// The source on top goes on to its next piece.
fn step<S: Sorted>(heap: &mut Vec<Head<S>>) -> Result<()> {
    let Some(top) = heap.first_mut() else { return Ok(()) };
    if top.source.advance()? {
        top.prefix = prefix(top.source.piece());
    } else {
        heap.swap_remove(0);
    }
    sink(heap, 0);
    Ok(())
}

fn sink<S: Sorted>(heap: &mut [Head<S>], mut at: usize) {
    loop {
        let mut child = 2 * at + 1;
        if child >= heap.len() {
            return;
        }
        if child + 1 < heap.len() && heap[child + 1].compare(&heap[child]).is_lt() {
            child += 1;
        }
        if !heap[child].compare(&heap[at]).is_lt() {
            return;
        }
        heap.swap(at, child);
        at = child;
    }
}
