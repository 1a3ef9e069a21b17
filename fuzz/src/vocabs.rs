//! Small vocabularies, trained on the input itself so that merges overlap and tie.

use std::sync::Arc;

use bytepair::merge::{Merge, MergeTable, Merges, Model, naive};
use bytepair::normalize::Normalizer;
use bytepair::pretokenize::{Pattern, Pretokenizer};
use bytepair::special::{Policy, SpecialTokens};
use bytepair::tokenizer::Tokenizer;
use bytepair::train::{LearnOptions, NoWatch, PieceCounts, learn};
use bytepair::vocab::Vocab;

use crate::input::Input;

/// A vocabulary with its merges, as the core has them and as the definition takes them.
pub(crate) struct Vocabulary {
    tokens: Vec<Vec<u8>>,
    pairs: Vec<(u32, u32)>,
    pub(crate) merges: Merges,
}

/// A vocabulary trained on a part of the input.
pub(crate) fn trained(input: &mut Input<'_>) -> Vocabulary {
    let merges = input.below(60);
    let mut counts = PieceCounts::new();
    for _ in 0..4 {
        let text = input.text(80);
        for piece in text.split_inclusive(' ').filter(|piece| !piece.is_empty()) {
            counts.add(piece.as_bytes(), 1 + input.below(3) as u64).expect("small counts");
        }
    }
    let learned = learn(&counts, &LearnOptions::new(merges), &NoWatch).expect("it learns");
    let (tokens, pairs) = (learned.tokens(), learned.merges);
    let mut table = MergeTable::with_capacity(pairs.len());
    for (rank, &(left, right)) in (0u32..).zip(&pairs) {
        table.insert(left, right, Merge { rank, id: 256 + rank });
    }
    let byte_ids = std::array::from_fn(|byte| u32::try_from(byte).ok());
    Vocabulary { tokens, pairs, merges: Merges::new(byte_ids, table) }
}

impl Vocabulary {
    pub(crate) fn vocab(&self) -> Vocab {
        Vocab::new((0u32..).zip(&self.tokens)).expect("a vocab")
    }

    /// A tokenizer of it, with one special token.
    pub(crate) fn tokenizer(&self, pattern: &Pattern, normalizer: Option<Normalizer>) -> Tokenizer {
        let model =
            Model::from_merges(self.vocab(), self.pairs.clone(), false).expect("its merges");
        let special = SpecialTokens::new([("<|x|>".to_owned(), 1000)], []).expect("one token");
        Tokenizer::new(Arc::new(model), special, pattern)
            .expect("a named pattern")
            .with_normalizer(normalizer)
    }
}

/// The ids of `text`, which the tokenizer must be able to encode.
pub(crate) fn encoded(tokenizer: &Tokenizer, text: &str, policy: &Policy) -> Vec<u32> {
    let mut ids = Vec::new();
    tokenizer.encode(text, policy, &mut ids).expect("all bytes are tokens");
    ids
}

/// The ids of `text` without special tokens: pieces of the general engine, merged naively. `None` if
/// that engine gives up.
pub(crate) fn by_definition(
    tokenizer: &Tokenizer,
    merges: &Merges,
    text: &str,
) -> Option<Vec<u32>> {
    let pretokenizer = Pretokenizer::general(tokenizer.pretokenizer().pattern()).ok()?;
    let mut ids = Vec::new();
    for piece in pretokenizer.pieces(text).ok()? {
        naive::merge(merges, piece.as_bytes(), &mut ids).expect("all bytes are tokens");
    }
    Some(ids)
}
