//! The pieces of the corpus as rows of tokens, in one arena of 32-bit cells.
//!
//! A *short* piece (at most 64 bytes) is a record: its count in two cells, its room and length in
//! one, then its tokens, moved together as they merge. An *item* (what postings hold) is the place of
//! the record, and the record is read through at every visit.
//!
//! Longer pieces follow, one cell per byte, and never move: a token fills as many cells as it has
//! bytes, its id in the first and (marked) in the last, so that both neighbours are found from its
//! place and the sizes of tokens. An item is the place of the pair's left token, and a visit costs
//! the same however long the piece is.

use super::counts::Pieces;
use super::queue::Tokens;
use crate::error::{Error, Result};

/// The most bytes of a short piece.
pub(super) const SHORT: usize = 64;
/// Cells of a record before its tokens.
pub(super) const HEAD: usize = 3;
/// Pieces (or tokens of long pieces) read between two looks at the clock.
const STEPS_PER_BEAT: u32 = 1 << 16;
/// Cells of a cache line.
const LINE: usize = 16;
/// Marks the last cell of a token of several bytes.
const LAST: u32 = 1 << 31;
/// A cell inside a token.
const INSIDE: u32 = u32::MAX - 1;
/// The cell before, between and after long pieces.
const BORDER: u32 = u32::MAX;
/// Ids stay below this, so that no cell is mistaken for another kind.
pub(super) const MAX_IDS: usize = (LAST - 2) as usize;

/// A pair and the token it becomes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Merge {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) id: u32,
}

/// Hears what a merge did to the neighbours of its places.
pub(super) trait Neighbours {
    /// The merge was made at a place that occurs `n` times.
    fn made(&mut self, n: u64);
    /// At `item`, `n` times: the pair (`token`, left) became (`token`, new).
    fn before(&mut self, token: u32, item: u32, n: u64);
    /// At `item`, `n` times: the pair (right, `token`) became (new, `token`). If `token` is the new
    /// one, the pair (right, left) between two places became (new, new).
    fn after(&mut self, token: u32, item: u32, n: u64);
}

/// See the module.
pub(super) struct Words {
    cells: Vec<u32>,
    /// Where the records end and the cells of long pieces begin.
    long_start: usize,
    /// Where each long piece begins, and its count.
    long: Vec<(usize, u64)>,
}

impl Words {
    /// All pieces of at least two bytes, in the order in which they come; [`Error::Value`] if they are
    /// too many.
    pub(super) fn new(pieces: &dyn Pieces, beat: &mut dyn FnMut() -> Result<()>) -> Result<Self> {
        let totals = pieces.totals();
        if totals.pairs > u128::from(u64::MAX) {
            return Err(Error::Value(format!(
                "the counts of all pairs add up to {}, more than 2**64 - 1; scale the counts down",
                totals.pairs
            )));
        }
        let size = totals.cells + 1;
        if u32::try_from(size).is_err() {
            return Err(Error::Value(format!(
                "the different pieces need {size} cells, more than 2**32 - 1; learn from a part of \
                 the corpus, or leave rare pieces out (min_piece_count)"
            )));
        }
        let size = usize::try_from(size).expect("below 2^32");
        let mut words = Self { cells: Vec::with_capacity(size), long_start: 0, long: Vec::new() };
        pieces.each(beat, &mut |piece, count| {
            words.lay_short(piece, count);
            Ok(())
        })?;
        words.long_start = words.cells.len();
        words.cells.push(BORDER);
        if totals.long > 0 {
            pieces.each(beat, &mut |piece, count| {
                words.lay_long(piece, count);
                Ok(())
            })?;
        }
        Ok(words)
    }

    fn lay_short(&mut self, piece: &[u8], count: u64) {
        if let (Ok(len), 2..=SHORT) = (u32::try_from(piece.len()), piece.len()) {
            #[expect(clippy::cast_possible_truncation, reason = "the two halves are meant")]
            let head = [count as u32, (count >> 32) as u32, len << 16 | len];
            self.cells.extend(head);
            self.cells.extend(piece.iter().map(|&byte| u32::from(byte)));
        }
    }

    fn lay_long(&mut self, piece: &[u8], count: u64) {
        if piece.len() > SHORT {
            self.long.push((self.cells.len(), count));
            self.cells.extend(piece.iter().map(|&byte| u32::from(byte)));
            self.cells.push(BORDER);
        }
    }

    /// Replaces the bytes of every piece by the tokens that `encode` gives for them.
    pub(super) fn encode(
        &mut self,
        tokens: &Tokens,
        mut encode: impl FnMut(&[u8], &mut Vec<u32>) -> Result<()>,
    ) -> Result<()> {
        let (mut piece, mut ids) = (Vec::new(), Vec::new());
        #[expect(clippy::cast_possible_truncation, reason = "all cells of a piece are bytes now")]
        let byte = |&cell: &u32| cell as u8;
        let mut at = 0;
        while at < self.long_start {
            let (_, room, len) = self.head(at);
            let row = &mut self.cells[at + HEAD..at + HEAD + len];
            piece.clear();
            piece.extend(row.iter().map(byte));
            ids.clear();
            encode(&piece, &mut ids)?;
            row[..ids.len()].copy_from_slice(&ids);
            let len = u32::try_from(ids.len()).expect("at most SHORT");
            self.cells[at + 2] = self.cells[at + 2] & 0xffff_0000 | len;
            at += HEAD + room;
        }
        for &(start, _) in &self.long {
            let row = self.cells[start..].iter().take_while(|&&cell| cell != BORDER);
            piece.clear();
            piece.extend(row.map(byte));
            ids.clear();
            encode(&piece, &mut ids)?;
            let mut at = start;
            for &id in &ids {
                let end = at + tokens.size(id);
                if end > at + 1 {
                    self.cells[at + 1..end].fill(INSIDE);
                    self.cells[end - 1] = id | LAST;
                }
                self.cells[at] = id;
                at = end;
            }
        }
        Ok(())
    }

    /// How many cells there are: no fewer than places of pairs.
    pub(super) fn cells(&self) -> usize {
        self.cells.len()
    }

    /// Calls `f(item, left, right, count)` for every place of every pair, and `beat` now and then.
    pub(super) fn each_pair(
        &self,
        tokens: &Tokens,
        beat: &mut impl FnMut() -> Result<()>,
        mut f: impl FnMut(u32, u32, u32, u64),
    ) -> Result<()> {
        let (mut at, mut steps) = (0, 0);
        let mut step = || {
            steps += 1;
            if steps % STEPS_PER_BEAT == 0 { beat() } else { Ok(()) }
        };
        while at < self.long_start {
            let (count, room, len) = self.head(at);
            let row = &self.cells[at + HEAD..at + HEAD + len];
            for pair in row.windows(2) {
                f(item(at), pair[0], pair[1], count);
            }
            at += HEAD + room;
            step()?;
        }
        for &(start, count) in &self.long {
            let mut at = start;
            loop {
                let next = at + tokens.size(self.cells[at]);
                if self.cells[next] == BORDER {
                    break;
                }
                f(item(at), self.cells[at], self.cells[next], count);
                at = next;
                step()?;
            }
        }
        Ok(())
    }

    /// Reads the cells at some items, so that their memory comes at once rather than one by one: the
    /// reads of a visit each wait for the one before.
    #[inline]
    pub(super) fn fetch(&self, items: &[u32]) {
        let mut sum = 0;
        for &item in items {
            sum ^= self.cells[item as usize];
            sum ^= self.cells.get(item as usize + LINE).copied().unwrap_or(0);
        }
        std::hint::black_box(sum);
    }

    /// Count, room and length of the record at `at`.
    #[inline]
    fn head(&self, at: usize) -> (u64, usize, usize) {
        let head = &self.cells[at..at + HEAD];
        let count = u64::from(head[0]) | u64::from(head[1]) << 32;
        (count, (head[2] >> 16) as usize, (head[2] & 0xffff) as usize)
    }

    /// Merges the pair at `item`: in the whole piece if it is short, else at this place, if it is
    /// still there. `cursor` is 0 before the first item of a merge; items come in rising order.
    #[inline]
    pub(super) fn merge(
        &mut self,
        merge: Merge,
        item: u32,
        cursor: &mut usize,
        tokens: &Tokens,
        heard: &mut impl Neighbours,
    ) {
        if (item as usize) < self.long_start {
            self.merge_short(merge, item, heard);
        } else {
            self.merge_long(merge, item, cursor, tokens, heard);
        }
    }

    fn merge_short(&mut self, merge: Merge, item: u32, heard: &mut impl Neighbours) {
        let at = item as usize;
        let (count, _, len) = self.head(at);
        let row = &mut self.cells[at + HEAD..at + HEAD + len];
        let here = |row: &[u32], i: usize| {
            i + 1 < row.len() && row[i] == merge.left && row[i + 1] == merge.right
        };
        let Some(first) = row.windows(2).position(|pair| pair == [merge.left, merge.right]) else {
            return;
        };
        let (mut read, mut write) = (first, first);
        while read < row.len() {
            if !here(row, read) {
                row[write] = row[read];
                (read, write) = (read + 1, write + 1);
                continue;
            }
            // A neighbour that was merged just now has spoken for both.
            if write > 0 && row[write - 1] != merge.id {
                heard.before(row[write - 1], item, count);
            }
            row[write] = merge.id;
            heard.made(count);
            (read, write) = (read + 2, write + 1);
            if read < row.len() {
                let token = if here(row, read) { merge.id } else { row[read] };
                heard.after(token, item, count);
            }
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most SHORT")]
        let len = write as u32;
        self.cells[at + 2] = self.cells[at + 2] & 0xffff_0000 | len;
    }

    fn merge_long(
        &mut self,
        merge: Merge,
        place: u32,
        cursor: &mut usize,
        tokens: &Tokens,
        heard: &mut impl Neighbours,
    ) {
        let at = place as usize;
        let second = at + tokens.size(merge.left);
        if self.cells[at] != merge.left || self.cells[second] != merge.right {
            return;
        }
        let end = second + tokens.size(merge.right);
        let count = self.count_at(at, cursor);
        heard.made(count);
        let before = self.cells[at - 1];
        if before != BORDER {
            let token = before & !LAST;
            if token != merge.id {
                heard.before(token, item(at - tokens.size(token)), count);
            }
        }
        let after = self.cells[end];
        if after != BORDER {
            let again =
                after == merge.left && self.cells[end + tokens.size(merge.left)] == merge.right;
            heard.after(if again { merge.id } else { after }, place, count);
        }
        self.cells[second - 1] = INSIDE;
        self.cells[second] = INSIDE;
        self.cells[end - 1] = merge.id | LAST;
        self.cells[at] = merge.id;
    }

    /// What [`Words::merge`] told of `item` about one side, if it made `id` there: calls
    /// `f(token, item)`. For use when the merge is made everywhere.
    pub(super) fn beside(
        &self,
        id: u32,
        place: u32,
        before: bool,
        tokens: &Tokens,
        mut f: impl FnMut(u32, u32),
    ) {
        let at = place as usize;
        if at < self.long_start {
            let (_, _, len) = self.head(at);
            for pair in self.cells[at + HEAD..at + HEAD + len].windows(2) {
                if before && pair[1] == id && pair[0] != id {
                    f(pair[0], place);
                } else if !before && pair[0] == id {
                    f(pair[1], place);
                }
            }
        } else if self.cells[at] == id && before {
            let token = self.cells[at - 1] & !LAST;
            if self.cells[at - 1] != BORDER && token != id {
                f(token, item(at - tokens.size(token)));
            }
        } else if self.cells[at] == id {
            let token = self.cells[at + tokens.size(id)];
            if token != BORDER {
                f(token, place);
            }
        }
    }

    /// The count of the long piece around `at`; `cursor` only moves on.
    fn count_at(&self, at: usize, cursor: &mut usize) -> u64 {
        // Doubling steps, then bisection: near places are found fast, far ones not slowly.
        let mut step = 1;
        while *cursor + step < self.long.len() && self.long[*cursor + step].0 <= at {
            *cursor += step;
            step *= 2;
        }
        let end = (*cursor + step).min(self.long.len());
        let inside = self.long[*cursor..end].partition_point(|piece| piece.0 <= at);
        *cursor += inside - 1;
        self.long[*cursor].1
    }
}

/// A place as an item; [`Words::new`] made sure that it fits.
#[expect(clippy::cast_possible_truncation, reason = "checked when the arena was made")]
fn item(at: usize) -> u32 {
    at as u32
}
