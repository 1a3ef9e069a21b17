//! Merges one piece of bytes into token ids.
//!
//! In: a piece from [`crate::pretokenize`]. Out: its ids, for [`crate::tokenizer`]. The definition
//! of the result: start with one token per byte; while some adjacent pair has a merge, apply the
//! merge of lowest rank, the leftmost where it occurs more than once.
//!
//! Every engine gives the same ids and they differ in cost only: [`scan`] rescans a flat array and
//! wins on a short piece, and `simd/lanes.rs` on sixteen; [`heap`] takes O(n log n) and bounds
//! the worst case; [`join`] merges a long piece by windows; [`naive`] is the definition they are
//! tested against. [`memory`] remembers pieces in [`cache`] and merges those it does not know;
//! [`cuts`] makes fewer and shorter of them. [`dropout`] is another thing: merging by chance, where
//! that is asked for.

pub mod cache;
pub mod cuts;
pub mod dropout;
pub mod heap;
pub mod join;
pub mod memory;
pub mod naive;
pub mod scan;
mod store;
pub mod table;

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::symbols::{Missing, Order, Symbols};
use crate::vocab::{Vocab, show};
pub use table::{Code, Merge, MergeTable, Merges, NO_CODE, NO_RANK};

/// Up to this many bytes a piece goes to the scan, above it to the heap.
const SCAN_MOST: usize = scan::MOST;

/// Above this many bytes it is merged by windows.
const JOIN_LEAST: usize = 8 * join::WINDOW;

/// The longest token of a vocabulary that merges by rank: finding its splits takes time in the
/// square of its length.
pub const RANKED_MOST: usize = 2048;

/// Which pair goes first, and whether a whole piece is looked up before any merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeRule {
    /// By learned pair, as GPT-2 and Hugging Face: rank = position in the list of merges.
    Pairs,
    /// By rank of the result, as tiktoken: any two tokens whose joined bytes are a token merge, and
    /// rank = id of that token; a whole piece that is a token is that token.
    Ranks,
}

/// A vocabulary with its merges: what turns a piece into ids. Immutable.
#[derive(Debug, Clone)]
pub struct Model {
    vocab: Vocab,
    rule: MergeRule,
    merges: Merges,
    /// (left id, right id) of each merge, in rank order; for [`MergeRule::Ranks`] the true merges.
    pairs: Vec<(u32, u32)>,
    whole_pieces: bool,
    /// Whether each token is known to be what merging gives for its bytes.
    trained: bool,
    /// Where merging begins with characters instead of bytes; the other merges are then unused.
    symbols: Option<Arc<Symbols>>,
}

impl Model {
    /// A model that merges by learned pair. `merges` are (left, right) token ids in rank order, and
    /// `whole_pieces` looks a whole piece up first (Hugging Face's `ignore_merges`).
    ///
    /// # Errors
    /// [`Error::Vocab`] when a merge's parts or its result are not in the vocab.
    pub fn from_merges(vocab: Vocab, merges: Vec<(u32, u32)>, whole_pieces: bool) -> Result<Self> {
        let mut table = MergeTable::with_capacity(merges.len());
        let mut joined = Vec::new();
        for (rank, &(left, right)) in (0u32..).zip(&merges) {
            joined.clear();
            for id in [left, right] {
                joined.extend_from_slice(vocab.bytes(id).ok_or_else(|| {
                    Error::Vocab(format!("merge {rank}: no token has id {id}; add it to the vocab"))
                })?);
            }
            let id = vocab.id(&joined).ok_or_else(|| missing_result(rank, &vocab, left, right))?;
            table.insert(left, right, Merge { rank, id });
        }
        Ok(Self::assemble(vocab, MergeRule::Pairs, table, merges, whole_pieces))
    }

    /// A model that merges by rank of the result: the id of a token is its rank.
    ///
    /// Where each token of two or more bytes is made by exactly one merge of lower-ranked tokens
    /// (true of every vocabulary that BPE training made), that merge alone goes into the table: no
    /// other split of the token can be met while merging in rank order. Otherwise every split does.
    ///
    /// # Errors
    /// [`Error::Vocab`] when a token is longer than [`RANKED_MOST`] bytes.
    pub fn from_ranks(vocab: Vocab) -> Result<Self> {
        if let Some((id, bytes)) = vocab.iter().find(|(_, bytes)| bytes.len() > RANKED_MOST) {
            return Err(Error::Vocab(format!(
                "token {id} ({}) has {} bytes; merging by rank takes tokens of at most {RANKED_MOST} \
                 bytes, so give the merges as pairs instead",
                show(bytes),
                bytes.len()
            )));
        }
        let mut model = Self::all_splits(vocab);
        let mut merges = Vec::with_capacity(model.vocab.len());
        let mut trained = true;
        let mut parts = Vec::new();
        let mut work = heap::Heap::new();
        for (id, bytes) in model.vocab.iter().filter(|(_, bytes)| bytes.len() > 1) {
            parts.clear();
            // Merging below the token's own rank leaves the two parts of its true merge.
            let merged = work.merge(&model.merges, bytes, id, &mut parts);
            match parts[..] {
                [left, right] if merged.is_ok() => merges.push((id, left, right)),
                _ => trained = false,
            }
        }
        if trained {
            let mut table = MergeTable::with_capacity(merges.len());
            for &(id, left, right) in &merges {
                table.insert(left, right, Merge { rank: id, id });
            }
            model.merges = Merges::new(model.merges.byte_ids(), table);
            model.trained = true;
        }
        model.pairs = merges.into_iter().map(|(_, left, right)| (left, right)).collect();
        Ok(model)
    }

    /// Every pair of tokens whose joined bytes are a token.
    fn all_splits(vocab: Vocab) -> Self {
        let mut table = MergeTable::with_capacity(vocab.len() * 2);
        for (id, bytes) in vocab.iter().filter(|(id, bytes)| vocab.id(bytes) == Some(*id)) {
            for middle in 1..bytes.len() {
                let halves = (vocab.id(&bytes[..middle]), vocab.id(&bytes[middle..]));
                if let (Some(left), Some(right)) = halves {
                    table.insert(left, right, Merge { rank: id, id });
                }
            }
        }
        Self::assemble(vocab, MergeRule::Ranks, table, Vec::new(), true)
    }

    /// A model whose merging begins with characters; see [`crate::symbols`].
    ///
    /// # Errors
    /// As [`Symbols::new`].
    pub fn from_symbols(
        vocab: Vocab,
        order: Order,
        missing: Missing,
        frozen: Vec<u32>,
    ) -> Result<Self> {
        let rule = match order {
            Order::Pairs(_) => MergeRule::Pairs,
            Order::Ranks(_) => MergeRule::Ranks,
        };
        let (symbols, pairs) = Symbols::new(&vocab, order, missing, frozen)?;
        let table = MergeTable::with_capacity(0);
        let model = Self::assemble(vocab, rule, table, pairs, false);
        Ok(Self { symbols: Some(Arc::new(symbols)), ..model })
    }

    fn assemble(
        vocab: Vocab,
        rule: MergeRule,
        table: MergeTable,
        pairs: Vec<(u32, u32)>,
        whole_pieces: bool,
    ) -> Self {
        let byte_ids = std::array::from_fn(|byte| {
            vocab.id(&[u8::try_from(byte).expect("an index below 256")])
        });
        Self {
            vocab,
            rule,
            merges: Merges::new(byte_ids, table),
            pairs,
            whole_pieces,
            trained: false,
            symbols: None,
        }
    }

    /// The vocabulary.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// The rule the merges follow.
    pub fn rule(&self) -> MergeRule {
        self.rule
    }

    /// Whether a whole piece is looked up before merging.
    pub fn whole_pieces(&self) -> bool {
        self.whole_pieces
    }

    /// Whether each token is known to be what merging gives for its bytes, looked up or not.
    pub(crate) fn is_trained(&self) -> bool {
        self.trained
    }

    /// What merging begins with, where that is characters and not bytes.
    pub fn symbols(&self) -> Option<&Symbols> {
        self.symbols.as_deref()
    }

    /// The merges as (left id, right id), in rank order.
    pub fn merges(&self) -> &[(u32, u32)] {
        &self.pairs
    }

    /// Appends the ids of `piece` to `ids`.
    ///
    /// # Errors
    /// [`Error::UnknownByte`] when no token is a byte of the piece; [`Error::Value`] when the piece
    /// has 4 GiB or more.
    pub fn merge(&self, piece: &[u8], work: &mut heap::Heap, ids: &mut Vec<u32>) -> Result<()> {
        if let Some(id) = self.whole(piece) {
            ids.push(id);
            return Ok(());
        }
        self.merge_parts(piece, work, ids)
    }

    /// The token that a piece is taken for before it is merged.
    #[inline]
    pub(crate) fn whole(&self, piece: &[u8]) -> Option<u32> {
        // Where merging gives the token anyway, the table of tokens by bytes need not be made.
        let looks = self.whole_pieces && !self.trained;
        looks.then(|| self.vocab.id(piece)).flatten()
    }

    /// The merges that [`Model::merge_parts`] applies to bytes.
    fn byte_merges(&self) -> Option<&Merges> {
        self.symbols.is_none().then_some(&self.merges)
    }

    /// [`Model::merge`] of a piece that is not looked up first.
    pub(crate) fn merge_parts(
        &self,
        piece: &[u8],
        work: &mut heap::Heap,
        ids: &mut Vec<u32>,
    ) -> Result<()> {
        if let Some(symbols) = &self.symbols {
            return symbols.merge(piece, ids);
        }
        if piece.len() <= SCAN_MOST {
            scan::merge(&self.merges, piece, ids)
        } else if piece.len() <= JOIN_LEAST {
            work.merge(&self.merges, piece, NO_RANK, ids)
        } else {
            join::merge(&self.merges, &self.vocab, piece, join::WINDOW, work, ids)
        }
    }
}

/// The merges of a model by rank, one for each token of two or more bytes, taken in the order of ids:
/// those of the bundled encodings, which were checked when they were packed.
pub(crate) struct TrueMerges {
    table: MergeTable,
    pairs: Vec<(u32, u32)>,
}

impl TrueMerges {
    pub(crate) fn with_capacity(merges: usize) -> Self {
        Self { table: MergeTable::with_capacity(merges), pairs: Vec::with_capacity(merges) }
    }

    /// That this pair will be pushed soon.
    pub(crate) fn expect(&self, left: u32, right: u32) {
        self.table.prefetch(left, right);
    }

    pub(crate) fn push(&mut self, id: u32, left: u32, right: u32) {
        self.table.insert(left, right, Merge { rank: id, id });
        self.pairs.push((left, right));
    }

    pub(crate) fn model(self, vocab: Vocab, byte_ids: &[Option<u32>; 256]) -> Model {
        Model {
            vocab,
            rule: MergeRule::Ranks,
            merges: Merges::new(*byte_ids, self.table),
            pairs: self.pairs,
            whole_pieces: true,
            trained: true,
            symbols: None,
        }
    }
}

impl PartialEq for Model {
    fn eq(&self, other: &Self) -> bool {
        self.rule == other.rule
            && self.whole_pieces == other.whole_pieces
            && self.pairs == other.pairs
            && self.vocab == other.vocab
            && self.symbols == other.symbols
    }
}

fn missing_result(rank: u32, vocab: &Vocab, left: u32, right: u32) -> Error {
    let part = |id| vocab.bytes(id).map_or_else(String::new, show);
    Error::Vocab(format!(
        "merge {rank}: {} + {} gives a token that is not in the vocab; add it or drop the merge",
        part(left),
        part(right)
    ))
}
