//! Encoding with BPE-dropout: one of the many ways in which tokens spell a text, by chance.
//!
//! In: what [`Tokenizer::encode`] takes, a rate and a seed. Out: ids that depend on these alone, on
//! no thread or machine. Special tokens and pieces are as in the exact encoding; only merging inside
//! a piece is changed, by [`crate::merge::dropout`]. No piece is remembered.

use crate::error::Result;
use crate::merge::dropout::{Chance, Rate};
use crate::special::Policy;
use crate::tokenizer::Tokenizer;

impl Tokenizer {
    /// Appends ids of `text` to `ids`, each merge left out with the probability of `rate`; with a
    /// rate of 0 they are the ids of [`Tokenizer::encode`].
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn encode_with_dropout(
        &self,
        text: &str,
        policy: &Policy,
        rate: Rate,
        seed: u64,
        ids: &mut Vec<u32>,
    ) -> Result<()> {
        if rate.is_zero() {
            return self.encode(text, policy, ids);
        }
        policy.check(text)?;
        let mut chance = Chance::new(seed);
        let mut from = 0;
        while let Some(found) = policy.find(text, from) {
            self.span_with_dropout(&text[from..found.start], rate, &mut chance, ids)?;
            ids.push(self.special_id(found.string));
            from = found.end;
        }
        self.span_with_dropout(&text[from..], rate, &mut chance, ids)
    }

    fn span_with_dropout(
        &self,
        span: &str,
        rate: Rate,
        chance: &mut Chance,
        ids: &mut Vec<u32>,
    ) -> Result<()> {
        let normal = self.normalizer().map(|normalizer| normalizer.apply(span));
        for piece in self.pretokenizer().pieces(normal.as_deref().unwrap_or(span))? {
            self.model().merge_with_dropout(piece.as_bytes(), rate, chance, ids)?;
        }
        Ok(())
    }
}
