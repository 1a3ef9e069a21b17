//! Merges a short piece: a flat array of parts, rescanned for the lowest rank after each merge.
//!
//! O(n²) in the number of bytes, but for the handful of bytes of a usual piece that beats every
//! structure with pointers. Nothing is allocated.

use super::{Merges, NO_RANK};
use crate::error::Result;

/// The longest piece it takes, in bytes.
pub const MOST: usize = 48;

/// Appends the ids of `piece`, of at most [`MOST`] bytes, to `ids`.
pub fn merge(merges: &Merges, piece: &[u8], ids: &mut Vec<u32>) -> Result<()> {
    let mut parts = [0u32; MOST];
    // ranks[i] is the rank of the pair parts[i], parts[i + 1]; the last part has none.
    let mut ranks = [NO_RANK; MOST];
    let mut len = piece.len();
    for (part, &byte) in parts.iter_mut().zip(piece) {
        *part = merges.byte_id(byte)?;
    }
    for (rank, pair) in ranks.iter_mut().zip(piece.windows(2)) {
        *rank = merges.byte_rank(pair[0], pair[1]);
    }
    while len > 1 {
        let (mut at, mut best) = (0, NO_RANK);
        for (index, &rank) in ranks[..len - 1].iter().enumerate() {
            if rank < best {
                (at, best) = (index, rank);
            }
        }
        if best == NO_RANK {
            break;
        }
        // The rank came from the table, so the pair is in it.
        let Some(merge) = merges.get(parts[at], parts[at + 1]) else { break };
        parts[at] = merge.id;
        parts.copy_within(at + 2..len, at + 1);
        ranks.copy_within(at + 1..len, at);
        len -= 1;
        ranks[len - 1] = NO_RANK;
        if at + 1 < len {
            ranks[at] = merges.rank(parts[at], parts[at + 1]);
        }
        if at > 0 {
            ranks[at - 1] = merges.rank(parts[at - 1], parts[at]);
        }
    }
    ids.extend_from_slice(&parts[..len]);
    Ok(())
}
