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

/// The most slots of a table: four words each, which are numbered with 31 bits.
pub(crate) const SLOTS_MOST: usize = 1 << 28;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::{MergeTable, Merges, scan};
    use crate::simd::Level;

    /// A number below `end`, at random.
    fn below(end: usize, seed: &mut u64) -> usize {
        *seed =
            seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(*seed >> 33).expect("31 bits") % end
    }

    /// Merges of a few letters, in which a rank is not an id and one byte has no id.
    fn merges(seed: &mut u64) -> Merges {
        let mut ids: Vec<u32> = (0..6).collect();
        let mut table = MergeTable::with_capacity(8);
        for rank in 0..200 {
            let (left, right) = (ids[below(ids.len(), seed)], ids[below(ids.len(), seed)]);
            table.insert(left, right, Merge { rank, id: 5000 - rank });
            ids.push(5000 - rank);
        }
        let byte = |byte: usize| (byte < 6).then(|| u32::try_from(byte).expect("below 6"));
        Merges::new(std::array::from_fn(byte), table)
    }

    #[test]
    fn lanes_give_what_the_scan_gives() {
        let mut seed = 7;
        let rounds = if cfg!(miri) { 1 } else { 60 };
        for level in Level::all().into_iter().filter(|level| level.has_lanes()) {
            let mut lanes = Lanes::new();
            for _ in 0..rounds {
                let merges = merges(&mut seed);
                for most in [1, 2, 7, 31, PARTS, PARTS + 3] {
                    let count = 1 + below(LANES, &mut seed);
                    let pieces: Vec<Vec<u8>> = (0..count)
                        .map(|_| {
                            let (len, letters) =
                                (below(most + 1, &mut seed), 1 + below(6, &mut seed));
                            let unknown = below(40, &mut seed) == 0;
                            let byte = |seed: &mut u64| u8::try_from(below(letters, seed));
                            let mut piece: Vec<u8> =
                                (0..len).map(|_| byte(&mut seed).expect("below 6")).collect();
                            piece.extend(unknown.then_some(6));
                            piece
                        })
                        .collect();
                    let slices: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
                    let done = merges.merge_lanes(level, &slices, &mut lanes);
                    for (lane, piece) in slices.into_iter().enumerate() {
                        let fits = !piece.is_empty() && piece.len() <= PARTS;
                        assert_eq!(done[lane], fits && !piece.contains(&6), "{piece:?}");
                        if done[lane] {
                            let (mut got, mut expected) = (Vec::new(), Vec::new());
                            lanes.take(lane, &mut got);
                            scan::merge(&merges, piece, &mut expected).expect("known bytes");
                            assert_eq!(got, expected, "{piece:?}");
                        }
                    }
                }
            }
        }
    }
}
