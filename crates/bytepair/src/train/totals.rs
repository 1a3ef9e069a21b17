//! What is to be known of pieces before they are learned from: how many, how long, how often.

use super::words::{HEAD, SHORT};
use crate::error::{Error, Result};

/// Counts from 1 up to this one have their rare pieces told apart.
const RARE: usize = 24;
/// Bytes of learning for each cell: 4 for itself, the rest for postings and their growth, pairs and
/// queue. Four corpora of prose and code took 11 to 17, random words 20.
const BYTES_PER_CELL: u64 = 18;
/// What learning needs however small the corpus is.
const LEARNING_BASE: u64 = 1 << 18;

/// Sums over some pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// How many different pieces.
    pub pieces: u64,
    /// Their bytes, each once.
    pub bytes: u64,
    /// The sum of their counts (saturating).
    pub count: u64,
    /// Bytes of the corpus outside special tokens (saturating).
    pub text_bytes: u128,
    /// Places of pairs of bytes in the corpus (saturating).
    pub(super) pairs: u128,
    /// Cells that pieces of two bytes or more fill while they are learned from.
    pub(super) cells: u64,
    /// How many pieces are long ones.
    pub(super) long: u64,
    /// The cells of those of count 1, of count 2, and so on.
    rare: [u64; RARE],
}

impl Totals {
    /// Bytes of the encoded form.
    pub(super) const ENCODED: usize = 16 * (7 + RARE);

    /// Adds a piece.
    pub(super) fn add(&mut self, piece: &[u8], count: u64) {
        let len = piece.len() as u64;
        self.pieces += 1;
        self.bytes += len;
        self.count = self.count.saturating_add(count);
        let times = |n: u64| u128::from(count) * u128::from(n);
        self.text_bytes = self.text_bytes.saturating_add(times(len));
        if len < 2 {
            return;
        }
        self.pairs = self.pairs.saturating_add(times(len - 1));
        let long = piece.len() > SHORT;
        let cells = len + if long { 1 } else { HEAD as u64 };
        self.cells += cells;
        self.long += u64::from(long);
        let at = count.checked_sub(1).and_then(|at| usize::try_from(at).ok());
        if let Some(rare) = at.and_then(|at| self.rare.get_mut(at)) {
            *rare += cells;
        }
    }

    /// About how many bytes learning from these pieces takes.
    pub fn learning_bytes(&self) -> u64 {
        bytes_for(self.cells)
    }

    /// [`Error::Value`], with the way out, if learning would take more than `limit` bytes.
    pub fn check_limit(&self, limit: u64) -> Result<()> {
        let needed = self.learning_bytes();
        if needed <= limit {
            return Ok(());
        }
        let mut cells = self.cells;
        let enough = (2..).zip(self.rare).find_map(|(least, rare)| {
            cells -= rare;
            (bytes_for(cells) <= limit).then_some(least)
        });
        let rare = match enough {
            Some(least) => format!("leave rare pieces out with min_piece_count={least}"),
            None => format!("leave rare pieces out (min_piece_count={} is not enough)", RARE + 1),
        };
        Err(Error::Value(format!(
            "learning from the {} different pieces takes about {} MB, more than the memory_limit of \
             {} MB; give a larger one, or {rare}",
            self.pieces,
            needed.div_ceil(1_000_000),
            limit / 1_000_000,
        )))
    }

    pub(super) fn encode(&self) -> [u8; Self::ENCODED] {
        let numbers = [self.pieces, self.bytes, self.count, self.cells, self.long].map(u128::from);
        let rare = self.rare.iter().copied().map(u128::from);
        let all = numbers.into_iter().chain([self.text_bytes, self.pairs]).chain(rare);
        let mut bytes = [0; Self::ENCODED];
        for (target, number) in bytes.as_chunks_mut::<16>().0.iter_mut().zip(all) {
            *target = number.to_le_bytes();
        }
        bytes
    }

    /// What [`Totals::encode`] made.
    pub(super) fn decode(bytes: &[u8]) -> Self {
        let mut numbers = bytes.as_chunks::<16>().0.iter().map(|bytes| u128::from_le_bytes(*bytes));
        let mut wide = || numbers.next().unwrap_or(0);
        let narrow = |number: u128| u64::try_from(number).unwrap_or(u64::MAX);
        let [pieces, bytes, count, cells, long] = [0; 5].map(|_: u64| narrow(wide()));
        let (text_bytes, pairs) = (wide(), wide());
        let rare = [0; RARE].map(|_: u64| narrow(wide()));
        Self { pieces, bytes, count, text_bytes, pairs, cells, long, rare }
    }
}

/// Bytes of learning with so many cells.
fn bytes_for(cells: u64) -> u64 {
    cells.saturating_mul(BYTES_PER_CELL).saturating_add(LEARNING_BASE)
}
