//! Sixteen short pieces merged side by side.
//!
//! In: pieces, one in each lane, as a part for each byte. Out: the parts that merging leaves. A step
//! applies in each lane its merge of lowest rank, the leftmost of them, and looks up the two pairs
//! that this makes: so the processor waits for the table once for sixteen pieces, and nothing
//! branches on what is in them. What it gives is what [`crate::merge::scan`] gives, which is its
//! slow twin, and which machines without AVX-512 use instead.

use crate::merge::table::{Code, Hash, Merge, NO_CODE, Slot};

/// Pieces side by side.
pub(crate) const LANES: usize = 16;

/// The most bytes of a piece.
pub(crate) const PARTS: usize = 64;

/// A table of merges as a look-up of sixteen pairs needs it: the filter has
/// [`crate::merge::table::FILTER_BITS`] bits more than the slots.
#[derive(Clone, Copy)]
pub(crate) struct Table<'a> {
    pub(crate) slots: &'a [Slot],
    pub(crate) filter: &'a [u32],
    pub(crate) hash: Hash,
}

/// Pieces that are being merged: rows are places, columns are lanes.
#[derive(Debug)]
pub(crate) struct Lanes {
    /// The id of the part that begins at a place.
    pub(super) ids: [[u32; LANES]; PARTS],
    /// The rank of what this part and the next merge into, and its id.
    pub(super) ranks: [[u32; LANES]; PARTS],
    pub(super) made: [[u32; LANES]; PARTS],
    /// Of each lane the places where a part begins.
    pub(super) alive: [u64; LANES],
    /// How many rows are in use.
    pub(super) rows: usize,
}

impl Lanes {
    /// Without pieces.
    pub(crate) const fn new() -> Self {
        let rows = [[0; LANES]; PARTS];
        Self { ids: rows, ranks: rows, made: rows, alive: [0; LANES], rows: 0 }
    }

    /// Takes all pieces out and makes room for some of at most `rows` bytes.
    pub(crate) fn clear(&mut self, rows: usize) {
        self.ranks[..rows].fill([u32::MAX; LANES]);
        self.alive = [0; LANES];
        self.rows = rows;
    }

    /// Puts a piece in a lane, by the ids of its bytes and the codes of their pairs. Returns whether
    /// there is an id for each byte and room for them; if not, the lane stays empty.
    pub(crate) fn put(
        &mut self,
        lane: usize,
        piece: &[u8],
        byte_ids: &[Option<u32>; 256],
        code: impl Fn(u8, u8) -> Code,
    ) -> bool {
        if piece.is_empty() || piece.len() > self.rows {
            return false;
        }
        for (row, &byte) in self.ids.iter_mut().zip(piece) {
            let Some(id) = byte_ids[usize::from(byte)] else { return false };
            row[lane] = id;
        }
        for (at, pair) in piece.windows(2).enumerate() {
            let code = code(pair[0], pair[1]);
            if code != NO_CODE
                && let Some(merge) = Merge::of_code(code)
            {
                (self.ranks[at][lane], self.made[at][lane]) = (merge.rank, merge.id);
            }
        }
        self.alive[lane] = u64::MAX >> (PARTS - piece.len());
        true
    }

    /// Appends the ids of a lane to `ids`.
    pub(crate) fn take(&self, lane: usize, ids: &mut Vec<u32>) {
        let mut left = self.alive[lane];
        while left != 0 {
            ids.push(self.ids[left.trailing_zeros() as usize][lane]);
            left &= left - 1;
        }
    }
}
