//! The definition of merging, O(n²): the twin every engine is tested against.

use super::{Merge, Merges, NO_RANK};
use crate::error::Result;

/// Appends the ids of `piece` to `ids`.
pub fn merge(merges: &Merges, piece: &[u8], ids: &mut Vec<u32>) -> Result<()> {
    let mut parts = piece.iter().map(|&b| merges.byte_id(b)).collect::<Result<Vec<u32>>>()?;
    apply(merges, &mut parts);
    ids.append(&mut parts);
    Ok(())
}

fn apply(merges: &Merges, parts: &mut Vec<u32>) {
    loop {
        let mut best: Option<(Merge, usize)> = None;
        for at in 0..parts.len().saturating_sub(1) {
            if let Some(merge) = merges.get(parts[at], parts[at + 1])
                && merge.rank < best.map_or(NO_RANK, |(merge, _)| merge.rank)
            {
                best = Some((merge, at));
            }
        }
        let Some((merge, at)) = best else { return };
        parts[at] = merge.id;
        parts.remove(at + 1);
    }
}
