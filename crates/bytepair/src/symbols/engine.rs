//! Merges symbols in place: a flat array for few, linked parts and a queue for many.
//!
//! As [`crate::merge::scan`] and [`crate::merge::heap`], from which they differ in two things: they
//! begin with ids, and of equal ranks (which here need not be the same merge) the leftmost goes
//! first. O(n log n) for any number of symbols, 32 bytes for each while it works.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::error::{Error, Result};
use crate::merge::{Merge, MergeTable, NO_RANK};

/// Pairs gone through between two questions whether to go on.
const LISTEN: usize = 1 << 12;

/// Up to this many symbols the flat array wins.
const SCAN_MOST: usize = 48;

/// No part on this side.
const NONE: usize = usize::MAX;

/// Merges `parts` until no pair of them has a merge; given up once `stops` says so.
pub(super) fn merge(
    table: &MergeTable,
    parts: &mut Vec<u32>,
    stops: &dyn Fn() -> bool,
) -> Result<()> {
    if parts.len() > SCAN_MOST {
        return queue(table, parts, stops);
    }
    scan(table, parts);
    Ok(())
}

fn scan(table: &MergeTable, parts: &mut Vec<u32>) {
    let mut ranks = [NO_RANK; SCAN_MOST];
    for (rank, pair) in ranks.iter_mut().zip(parts.windows(2)) {
        *rank = table.rank(pair[0], pair[1]);
    }
    while parts.len() > 1 {
        let mut at = 0;
        for index in 1..parts.len() - 1 {
            if ranks[index] < ranks[at] {
                at = index;
            }
        }
        let Some(merge) = table.get(parts[at], parts[at + 1]) else { return };
        parts[at] = merge.id;
        parts.remove(at + 1);
        ranks.copy_within(at + 1.., at);
        let last = parts.len() - 1;
        ranks[last] = NO_RANK;
        if at < last {
            ranks[at] = table.rank(parts[at], parts[at + 1]);
        }
        if at > 0 {
            ranks[at - 1] = table.rank(parts[at - 1], parts[at]);
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Part {
    id: u32,
    /// Rank of the pair this part forms with the next; [`NO_RANK`] when dead or without merge.
    rank: u32,
    previous: usize,
    next: usize,
}

fn queue(table: &MergeTable, ids: &mut Vec<u32>, stops: &dyn Fn() -> bool) -> Result<()> {
    let mut looks = 0_usize;
    let mut listen = || {
        looks += 1;
        let stopped = looks.is_multiple_of(LISTEN) && stops();
        if stopped { Err(Error::Interrupted) } else { Ok(()) }
    };
    let last = ids.len() - 1;
    let mut parts: Vec<Part> = ids
        .iter()
        .enumerate()
        .map(|(at, &id)| Part {
            id,
            rank: NO_RANK,
            previous: at.checked_sub(1).unwrap_or(NONE),
            next: if at == last { NONE } else { at + 1 },
        })
        .collect();
    let mut queue = BinaryHeap::with_capacity(parts.len());
    let offer = |parts: &mut Vec<Part>, queue: &mut BinaryHeap<_>, at: usize| {
        let part = parts[at];
        let rank = match part.next {
            NONE => NO_RANK,
            next => table.rank(part.id, parts[next].id),
        };
        parts[at].rank = rank;
        if rank != NO_RANK {
            queue.push(Reverse((rank, at)));
        }
    };
    for at in 0..last {
        listen()?;
        offer(&mut parts, &mut queue, at);
    }
    while let Some(Reverse((rank, at))) = queue.pop() {
        listen()?;
        let part = parts[at];
        // An entry is stale when the pair at its place has changed its rank since. If the pair
        // changed but the rank did not, merging it is right all the same.
        if part.rank != rank {
            continue;
        }
        let right = parts[part.next];
        let Some(Merge { id, .. }) = table.get(part.id, right.id) else { continue };
        parts[part.next].rank = NO_RANK;
        parts[at] = Part { id, next: right.next, ..part };
        if right.next != NONE {
            parts[right.next].previous = at;
        }
        offer(&mut parts, &mut queue, at);
        if part.previous != NONE {
            offer(&mut parts, &mut queue, part.previous);
        }
    }
    ids.clear();
    let mut at = 0;
    while at != NONE {
        ids.push(parts[at].id);
        at = parts[at].next;
    }
    Ok(())
}

/// The definition, O(n²): the twin that the others are tested against.
#[cfg(test)]
pub(super) fn naive(table: &MergeTable, parts: &mut Vec<u32>) {
    loop {
        let pairs = parts.windows(2).enumerate();
        let merges = pairs.filter_map(|(at, pair)| Some((table.get(pair[0], pair[1])?, at)));
        let Some((merge, at)) = merges.min_by_key(|(merge, at)| (merge.rank, *at)) else { return };
        parts[at] = merge.id;
        parts.remove(at + 1);
    }
}
