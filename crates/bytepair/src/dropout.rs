//! Encoding with BPE-dropout: one of the many ways in which tokens spell a text, by chance.
//!
//! In: what [`Tokenizer::encode`] takes, a rate and a seed. Out: ids that depend on these alone, on
//! no thread or machine. Special tokens and pieces are as in the exact encoding; only merging inside
//! a piece is changed, by [`crate::merge::dropout`]. No piece is remembered.

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::merge::dropout::{Chance, Rate};
use crate::normalize::Place;
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
        if self.model().symbols().is_some() {
            return Err(Error::Value(
                "dropout begins with single bytes, and the merges of this tokenizer begin with \
                 characters; encode without dropout"
                    .to_owned(),
            ));
        }
        policy.check(text)?;
        let mut chance = Chance::new(seed);
        let (mut from, mut place) = (0, Place::FIRST);
        while let Some(found) = policy.find(text, from) {
            self.span_with_dropout(&text[from..found.start], place, rate, &mut chance, ids)?;
            ids.push(self.special_id(found.string));
            (from, place) = (found.end, Place::LATER);
        }
        self.span_with_dropout(&text[from..], place, rate, &mut chance, ids)
    }

    fn span_with_dropout(
        &self,
        span: &str,
        place: Place,
        rate: Rate,
        chance: &mut Chance,
        ids: &mut Vec<u32>,
    ) -> Result<()> {
        let normal = match self.normalizer() {
            None => Cow::Borrowed(span),
            Some(normalizer) => normalizer.apply(span, place)?,
        };
        for piece in self.pretokenizer().pieces(&normal)? {
            self.model().merge_with_dropout(piece.as_bytes(), rate, chance, ids)?;
        }
        Ok(())
    }
}
