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
use crate::watched::Pulse;

/// Pieces cut at once.
const BATCH: usize = 512;

impl Tokenizer {
    /// Appends ids of `text` to `ids`, each merge left out with the probability of `rate`; with a
    /// rate of 0 they are the ids of [`Tokenizer::encode`].
    ///
    /// # Errors
    /// As [`Tokenizer::encode`], and [`Error::Interrupted`].
    pub fn encode_with_dropout(
        &self,
        text: &str,
        policy: &Policy,
        (rate, seed): (Rate, u64),
        ids: &mut Vec<u32>,
        pulse: &Pulse<'_>,
    ) -> Result<()> {
        if rate.is_zero() {
            return self.encode_until(text, policy, ids, pulse);
        }
        if self.model().symbols().is_some() {
            return Err(Error::Value(
                "dropout begins with single bytes, and the merges of this tokenizer begin with \
                 characters; encode without dropout"
                    .to_owned(),
            ));
        }
        policy.check(text)?;
        let mut spans = Spans { tokenizer: self, rate, chance: Chance::new(seed), pulse };
        let (mut from, mut place) = (0, Place::FIRST);
        while let Some(found) = policy.find(text, from) {
            spans.encode(&text[from..found.start], place, ids)?;
            ids.push(self.special_id(found.string));
            (from, place) = (found.end, Place::LATER);
        }
        spans.encode(&text[from..], place, ids)
    }
}

/// What one call encodes its spans with.
struct Spans<'a> {
    tokenizer: &'a Tokenizer,
    rate: Rate,
    chance: Chance,
    pulse: &'a Pulse<'a>,
}

impl Spans<'_> {
    fn encode(&mut self, span: &str, place: Place, ids: &mut Vec<u32>) -> Result<()> {
        let normal = match self.tokenizer.normalizer() {
            None => Cow::Borrowed(span),
            Some(normalizer) => normalizer.apply_until(span, place, &|| self.pulse.stops())?,
        };
        let (model, pretokenizer) = (self.tokenizer.model(), self.tokenizer.pretokenizer());
        let (mut ends, mut start) = (Vec::new(), 0);
        while start < normal.len() {
            self.pulse.check()?;
            ends.clear();
            let next = pretokenizer.fill(&normal, start, &mut ends, BATCH)?.next;
            for &end in &ends {
                let piece = &normal.as_bytes()[start..end];
                let (chance, stops) = (&mut self.chance, || self.pulse.stops());
                model.merge_with_dropout(piece, self.rate, chance, ids, &stops)?;
                start = end;
            }
            start = next;
        }
        Ok(())
    }
}
