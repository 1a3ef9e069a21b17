//! Merges a long piece in O(n log n): linked parts and a queue of candidate merges.
//!
//! Costs 32 bytes a byte of the piece while it works; the buffers are kept for the next piece up to
//! [`KEEP`] bytes of piece. No recursion, so the stack does not grow with the input.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::join::Windows;
use super::{Code, Merge, Merges, NO_CODE};
use crate::error::{Error, Result};

/// Buffers for pieces longer than this are given back after use.
pub const KEEP: usize = 1 << 13;

/// After so many steps it is asked whether to stop.
const ASK: u32 = 1 << 16;

/// No part on this side.
const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Part {
    id: u32,
    previous: u32,
    next: u32,
    /// What this part and the next merge into; [`NO_CODE`] when dead or without merge.
    code: Code,
}

/// The working memory of the engine, reused from piece to piece.
#[derive(Debug, Default)]
pub struct Heap {
    parts: Vec<Part>,
    /// (rank, position of the left part): lowest rank first, leftmost among equals.
    queue: BinaryHeap<Reverse<u64>>,
    /// What [`super::join`] works with.
    pub(super) windows: Option<Box<Windows>>,
}

impl Heap {
    /// Working memory with room for pieces of [`KEEP`] bytes, so that they need no allocation.
    pub fn new() -> Self {
        Self {
            parts: Vec::with_capacity(KEEP),
            queue: BinaryHeap::with_capacity(2 * KEEP),
            windows: Some(Box::new(Windows::new())),
        }
    }

    /// Appends the ids of `piece` to `ids`, applying only merges of rank below `limit`
    /// ([`super::NO_RANK`] for all).
    pub fn merge(
        &mut self,
        merges: &Merges,
        piece: &[u8],
        limit: u32,
        ids: &mut Vec<u32>,
    ) -> Result<()> {
        self.merge_until(merges, piece, limit, ids, &|| false)
    }

    /// [`Heap::merge`], given up once `stops` says so.
    pub(super) fn merge_until(
        &mut self,
        merges: &Merges,
        piece: &[u8],
        limit: u32,
        ids: &mut Vec<u32>,
        stops: &dyn Fn() -> bool,
    ) -> Result<()> {
        let len = u32::try_from(piece.len()).ok().filter(|&len| len < NONE);
        let len = len.ok_or_else(|| Error::long_piece(piece.len()))?;
        let result = self.load(merges, piece, len).and_then(|()| self.run(merges, limit, stops));
        if result.is_ok() {
            let mut at = if piece.is_empty() { NONE } else { 0 };
            while at != NONE {
                let part = self.parts[at as usize];
                ids.push(part.id);
                at = part.next;
            }
        }
        self.parts.clear();
        self.queue.clear();
        if piece.len() > KEEP {
            self.parts.shrink_to(KEEP);
            self.queue.shrink_to(2 * KEEP);
        }
        result
    }

    fn load(&mut self, merges: &Merges, piece: &[u8], len: u32) -> Result<()> {
        for (at, &byte) in (0..len).zip(piece) {
            self.parts.push(Part {
                id: merges.byte_id(byte)?,
                previous: at.checked_sub(1).unwrap_or(NONE),
                next: if at + 1 == len { NONE } else { at + 1 },
                code: NO_CODE,
            });
        }
        // Ordered all at once, which takes less than one by one.
        let mut queue = std::mem::take(&mut self.queue).into_vec();
        for (at, pair) in (0..len).zip(piece.windows(2)) {
            let code = merges.byte_code(pair[0], pair[1]);
            self.parts[at as usize].code = code;
            queue.extend(entry(code, at));
        }
        self.queue = queue.into();
        Ok(())
    }

    /// Looks up the merge of part `at` with the next and queues it.
    fn offer(&mut self, merges: &Merges, at: u32) {
        let part = self.parts[at as usize];
        let code = match part.next {
            NONE => NO_CODE,
            next => merges.code(part.id, self.parts[next as usize].id),
        };
        self.parts[at as usize].code = code;
        self.queue.extend(entry(code, at));
    }

    fn run(&mut self, merges: &Merges, limit: u32, stops: &dyn Fn() -> bool) -> Result<()> {
        let mut steps = 0_u32;
        while let Some(Reverse(entry)) = self.queue.pop() {
            steps = steps.wrapping_add(1);
            if steps.is_multiple_of(ASK) && stops() {
                return Err(Error::Interrupted);
            }
            #[expect(clippy::cast_possible_truncation, reason = "unpacks the two halves")]
            let (rank, at) = ((entry >> 32) as u32, entry as u32);
            let part = self.parts[at as usize];
            if rank >= limit {
                break;
            }
            // An entry is stale when the pair at its place has changed its rank since. If the pair
            // changed but the rank did not, merging it is right all the same.
            let Some(merge) = Merge::of_code(part.code).filter(|merge| merge.rank == rank) else {
                continue;
            };
            let right = self.parts[part.next as usize];
            self.parts[part.next as usize].code = NO_CODE;
            self.parts[at as usize] = Part { id: merge.id, next: right.next, ..part };
            if right.next != NONE {
                self.parts[right.next as usize].previous = at;
            }
            self.offer(merges, at);
            if part.previous != NONE {
                self.offer(merges, part.previous);
            }
        }
        Ok(())
    }
}

/// The entry in the queue for a pair with this code at this place, if it merges.
fn entry(code: Code, at: u32) -> Option<Reverse<u64>> {
    Merge::of_code(code).map(|merge| Reverse(u64::from(merge.rank) << 32 | u64::from(at)))
}
