//! Merges a short piece: a flat array of parts, rescanned for the lowest rank after each merge.
//!
//! O(n²) in the number of bytes, but for the handful of bytes of a usual piece that beats every
//! structure with pointers. Nothing is allocated.

use super::{Merge, Merges, NO_CODE};
use crate::error::Result;

/// The longest piece it takes, in bytes.
pub const MOST: usize = 64;

/// Appends the ids of `piece`, of at most [`MOST`] bytes, to `ids`.
pub fn merge(merges: &Merges, piece: &[u8], ids: &mut Vec<u32>) -> Result<()> {
    let mut parts = [0u32; MOST];
    // codes[i] is that of the pair parts[i], parts[i + 1]; the last part has none.
    let mut codes = [NO_CODE; MOST];
    let mut len = piece.len();
    for (part, &byte) in parts.iter_mut().zip(piece) {
        *part = merges.byte_id(byte)?;
    }
    for (code, pair) in codes.iter_mut().zip(piece.windows(2)) {
        *code = merges.byte_code(pair[0], pair[1]);
    }
    while len > 1 {
        let (mut at, mut best) = (0, NO_CODE);
        for (index, &code) in codes[..len - 1].iter().enumerate() {
            if code < best {
                (at, best) = (index, code);
            }
        }
        let Some(merge) = Merge::of_code(best) else { break };
        parts[at] = merge.id;
        len -= 1;
        // Not `copy_within`: so few are moved that a call would take longer.
        for place in at + 1..len {
            parts[place] = parts[place + 1];
            codes[place - 1] = codes[place];
        }
        codes[len - 1] = NO_CODE;
        if at + 1 < len {
            codes[at] = merges.code(parts[at], parts[at + 1]);
        }
        if at > 0 {
            codes[at - 1] = merges.code(parts[at - 1], parts[at]);
        }
    }
    ids.extend_from_slice(&parts[..len]);
    Ok(())
}
