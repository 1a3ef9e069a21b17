//! Makes merges that were learned before, to go on from them.
//!
//! In: a row of ids and merges in order. Out: the row as it is after the last of them. Making merges
//! in order is merging the pair of the lowest id everywhere, from left to right, until none is left,
//! since a merge gives rise to pairs of higher ids only. Short rows are searched again for each
//! merge; long ones take O(n log n) with a heap of places.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::HashMap;

/// Rows of at most so many ids are searched.
const SHORT: usize = 64;
/// The place of no id.
const NONE: usize = usize::MAX;

/// Merges by pair.
pub(super) struct Replay {
    made: HashMap<(u32, u32), u32>,
}

impl Replay {
    /// The merges make ids from `first` on.
    pub(super) fn new(merges: &[(u32, u32)], first: usize) -> Self {
        let ids = merges.iter().zip(first..).map(|(&pair, id)| (pair, id));
        let made = ids.filter_map(|(pair, id)| Some((pair, u32::try_from(id).ok()?)));
        Self { made: made.collect() }
    }

    /// Makes the merges in a row.
    pub(super) fn apply(&self, row: &mut Vec<u32>) {
        if row.len() <= SHORT { self.apply_short(row) } else { self.apply_long(row) }
    }

    fn apply_short(&self, row: &mut Vec<u32>) {
        let made = |pair: &[u32]| Some((*self.made.get(&(pair[0], pair[1]))?, pair[0], pair[1]));
        while let Some((id, left, right)) = row.windows(2).filter_map(made).min() {
            let (mut read, mut write) = (0, 0);
            while read < row.len() {
                let here = row[read] == left && row.get(read + 1) == Some(&right);
                row[write] = if here { id } else { row[read] };
                read += if here { 2 } else { 1 };
                write += 1;
            }
            row.truncate(write);
        }
    }

    fn apply_long(&self, row: &mut Vec<u32>) {
        let mut next: Vec<usize> = (1..=row.len()).collect();
        let mut before: Vec<usize> = (0..row.len()).map(|at| at.wrapping_sub(1)).collect();
        let end = row.len();
        let made = |row: &[u32], at: usize, next: usize| {
            (next < end).then(|| self.made.get(&(row[at], row[next])).copied()).flatten()
        };
        let places = (0..end).filter_map(|at| Some(Reverse((made(row, at, at + 1)?, at))));
        let mut heap: BinaryHeap<Reverse<(u32, usize)>> = places.collect();
        while let Some(Reverse((id, at))) = heap.pop() {
            // What stood here may be part of another token by now.
            if next[at] == NONE || made(row, at, next[at]) != Some(id) {
                continue;
            }
            let second = next[at];
            let after = next[second];
            next[second] = NONE;
            next[at] = after;
            row[at] = id;
            if after < end {
                before[after] = at;
                heap.extend(made(row, at, after).map(|id| Reverse((id, at))));
            }
            if let Some(left) = Some(before[at]).filter(|&left| left < end) {
                heap.extend(made(row, left, at).map(|id| Reverse((id, left))));
            }
        }
        let mut at = 0;
        row.retain(|_| {
            let alive = next[at] != NONE;
            at += 1;
            alive
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every merge in its turn.
    fn one_by_one(merges: &[(u32, u32)], row: &mut Vec<u32>) {
        for (id, &(left, right)) in (256..).zip(merges) {
            let mut out = Vec::new();
            let mut at = 0;
            while at < row.len() {
                let here = row[at] == left && row.get(at + 1) == Some(&right);
                out.push(if here { id } else { row[at] });
                at += if here { 2 } else { 1 };
            }
            *row = out;
        }
    }

    #[test]
    fn merges_are_made_in_their_order() {
        let mut state = 1u64;
        let mut random = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            u32::try_from((state >> 33) % n).unwrap()
        };
        for case in 0..2000 {
            let mut merges: Vec<(u32, u32)> = Vec::new();
            for number in 0..random(20) {
                let mut id = || {
                    let id = random(3 + u64::from(number));
                    if id < 3 { id } else { 256 + id - 3 }
                };
                let pair = (id(), id());
                if !merges.contains(&pair) {
                    merges.push(pair);
                }
            }
            let merges: Vec<_> = merges.into_iter().collect();
            let len = if case % 2 == 0 { 1 + random(64) } else { 65 + random(200) };
            let row: Vec<u32> = (0..len).map(|_| random(3)).collect();
            let (mut got, mut expected) = (row.clone(), row);
            let known = merges.iter().take_while(|pair| pair.0 < 256 + 20 && pair.1 < 256 + 20);
            let merges: Vec<_> = known.copied().collect();
            // A merge may not use an id that comes after its own.
            let in_order = (256..).zip(&merges).all(|(id, pair)| pair.0 < id && pair.1 < id);
            if in_order {
                Replay::new(&merges, 256).apply(&mut got);
                one_by_one(&merges, &mut expected);
                assert_eq!(got, expected, "{merges:?}");
            }
        }
    }
}
