//! Learns merges from a corpus: counts its pieces, then joins the commonest pair again and again.
//!
//! In: texts or files, a pretokenizer, special tokens. Out: [`PieceCounts`], then [`Learned`].
//! Counting reads the corpus once, on all cores asked for, and holds the different pieces only.
//! Learning costs O(n log n) in the total length of the different pieces, whatever their shape, on
//! one thread. Neither result depends on threads, chunking, the order of the texts or hash seeds.
//!
//! # The definition
//! Every piece is a row of tokens, its bytes at first. The count of a pair is the number of places
//! where its two tokens stand side by side (places may overlap: `aaa` holds `(a, a)` twice), summed
//! over the pieces times their counts. Each step takes the pair of the greatest count, among equals
//! the one [`TieBreak`] says, makes it token `256 + k` (`k` merges were made before) and replaces it
//! everywhere, from left to right. [`learn_naive`] is just that, a full recount per merge;
//! [`learn`](learn()) gives the same and keeps the counts up to date instead.
//!
//! # Why no two merges give the same bytes
//! Take a stretch of bytes that begins and ends at token borders now. A merge changes it in one way
//! only, whatever stands around it: places of a pair of two different tokens do not overlap; in a
//! run of one token the places are fixed by where the run began, and a place across the stretch's
//! border would have destroyed that border. So at every time all such stretches with the same bytes
//! are the same row of tokens, and when a merge gives one of them one token, it does so for all: no
//! later pair can give the same bytes again. Hence merge `k` always makes a new token, and rules
//! for the other case (`tokenizers` would use the old id again) never come into play.

mod bounds;
mod changes;
mod corpus;
mod count;
mod counts;
mod first_seen;
mod join;
mod kept;
mod learn;
mod naive;
mod order;
mod pairs;
mod position;
mod queue;
mod replay;
mod runs;
mod source;
mod store;
mod table;
mod totals;
mod watch;
mod words;
mod work;

pub use bounds::Bounds;
pub use corpus::SpecialCutter;
pub use count::{Counted, Counter, count_files, count_text};
pub use counts::{PieceCounts, Pieces};
pub use kept::{load_learned, save_learned};
pub use learn::{Keep, Session, learn, learn_more, learn_on, learn_twice};
pub use naive::learn_naive;
pub use source::{Open, Source, unpack_zstd};
pub use store::StoredCounts;
pub use totals::Totals;
pub use watch::{NoWatch, Watch};

use crate::error::{Error, Result};

/// Which of several pairs of equal count is merged first. Each is a total order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TieBreak {
    /// The greatest `(left bytes, right bytes)`: left bytes first, right bytes if they are equal.
    #[default]
    Lexicographic,
    /// The smallest `(left id, right id)`; byte `b` has id `b`, merge `k` has id `256 + k`.
    LowestIds,
    /// As `LowestIds`, but bytes are numbered as Hugging Face's byte-level alphabet sorts them: the
    /// printable ones (`!` to `~`, 0xA1 to 0xAC, 0xAE to 0xFF), then the other 68 in their order.
    HuggingFace,
    /// The pair whose first place in the corpus, as it is merged by then, is the first (minbpe).
    /// Needs counts that know the order of pieces, see [`PieceCounts::ordered`].
    FirstSeen,
}

/// How merges are learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LearnOptions {
    /// How many merges at most.
    pub merges: usize,
    /// Who wins among pairs of equal count.
    pub tie_break: TieBreak,
    /// The least count of a pair that is merged; at least 1.
    pub min_count: u64,
    /// A pair whose bytes, joined, are more than this is never merged. (`tokenizers` lets pairs of
    /// two bytes pass whatever its limit.)
    pub max_token_bytes: Option<usize>,
}

impl LearnOptions {
    /// Options for `merges` merges: lexicographic, any count, any length.
    pub fn new(merges: usize) -> Self {
        Self { merges, tie_break: TieBreak::Lexicographic, min_count: 1, max_token_bytes: None }
    }

    fn check(&self) -> Result<()> {
        if self.min_count == 0 {
            return Err(Error::Value("min_count is 0; the least is 1".to_owned()));
        }
        Ok(())
    }
}

/// What was learned. Fewer merges than asked for mean that no pair was left to merge.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Learned {
    /// The merges in order, as pairs of ids: byte `b` is id `b`, merge `k` makes id `256 + k`.
    pub merges: Vec<(u32, u32)>,
    /// The count of each merge's pair when it was merged.
    pub counts: Vec<u64>,
    /// Whether another pair that might have been merged had the same count.
    pub ties: Vec<bool>,
    /// By how many tokens each merge made the corpus shorter: its count, but for places that
    /// overlap.
    pub saved: Vec<u64>,
}

impl Learned {
    /// The first `n` merges.
    #[must_use]
    pub fn first(mut self, n: usize) -> Self {
        self.merges.truncate(n);
        self.counts.truncate(n);
        self.ties.truncate(n);
        self.saved.truncate(n);
        self
    }

    /// The bytes of all tokens by id: the 256 bytes, then one token per merge.
    pub fn tokens(&self) -> Vec<Vec<u8>> {
        let mut tokens: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).collect();
        for &(left, right) in &self.merges {
            let joined = [&tokens[left as usize][..], &tokens[right as usize]].concat();
            tokens.push(joined);
        }
        tokens
    }
}
