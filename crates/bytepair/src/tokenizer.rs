//! The tokenizer: the encode flow put together, and decoding.
//!
//! ```text
//! text ─special→ spans ─pretokenize→ pieces ─merge→ ids ─decode→ bytes
//! ```
//!
//! Immutable and shared between threads. Encoding borrows working memory (a bounded cache of pieces
//! and the buffers of the merge engines) from a pool; a piece that is in the cache costs one line of
//! memory, another is merged and remembered.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::merge::cache::{IDS_MOST, PieceCache, key};
use crate::merge::heap::Heap;
use crate::merge::{MergeRule, Model};
use crate::pool::Pool;
use crate::pretokenize::{Pattern, Pretokenizer};
use crate::special::{Choice, Policy, SpecialTokens};
use crate::stream::Buffers;

/// How many pieces are cut before they are merged: enough to keep each loop tight, few enough that
/// their ends stay in the first-level cache.
const BATCH: usize = 512;

/// From this many bytes on a text is worth a larger cache.
const LONG_TEXT: usize = 1 << 20;

/// Turns text into ids and back.
#[derive(Debug)]
pub struct Tokenizer {
    model: Arc<Model>,
    special: SpecialTokens,
    pretokenizer: Pretokenizer,
    everything: Policy,
    pool: Pool<Scratch>,
    pub(crate) buffers: Pool<Buffers>,
}

/// What one thread needs while it encodes.
#[derive(Debug)]
pub(crate) struct Scratch {
    cache: PieceCache,
    heap: Heap,
    ends: Vec<usize>,
    /// Key of each piece, and its place in the cache.
    places: Vec<(u128, u32)>,
    merged: Vec<u32>,
}

impl Scratch {
    fn new() -> Self {
        Self {
            cache: PieceCache::new(),
            heap: Heap::new(),
            ends: Vec::with_capacity(BATCH + 1),
            places: Vec::with_capacity(BATCH + 1),
            merged: Vec::with_capacity(256),
        }
    }
}

/// Where ids go.
pub(crate) trait Sink {
    /// Takes the ids of one piece.
    fn take(&mut self, ids: &[u32]);
    /// Takes the first `len` of `ids`: copies all of them, which is cheaper than to copy some.
    fn take_few(&mut self, ids: &[u32; IDS_MOST], len: usize);
    /// Whether more would be useless.
    fn is_full(&self) -> bool {
        false
    }
}

impl Sink for Vec<u32> {
    #[inline]
    fn take(&mut self, ids: &[u32]) {
        self.extend_from_slice(ids);
    }

    #[inline]
    fn take_few(&mut self, ids: &[u32; IDS_MOST], len: usize) {
        let before = self.len();
        self.extend_from_slice(ids);
        self.truncate(before + len);
    }
}

/// Counts ids without keeping them, up to a limit.
struct Count {
    ids: usize,
    limit: usize,
}

impl Sink for Count {
    #[inline]
    fn take(&mut self, ids: &[u32]) {
        self.ids += ids.len();
    }

    #[inline]
    fn take_few(&mut self, _: &[u32; IDS_MOST], len: usize) {
        self.ids += len;
    }

    fn is_full(&self) -> bool {
        self.ids > self.limit
    }
}

impl Tokenizer {
    /// A tokenizer from its parts.
    ///
    /// # Errors
    /// [`Error::Vocab`] when a special token has the id of a token of other bytes; [`Error::Pattern`] when
    /// the pattern cannot be used.
    pub fn new(model: Arc<Model>, special: SpecialTokens, pattern: &Pattern) -> Result<Self> {
        for (token, id) in special.iter() {
            if let Some(bytes) = model.vocab().bytes(id).filter(|&bytes| bytes != token.as_bytes())
            {
                return Err(Error::Vocab(format!(
                    "special token {token:?} has id {id}, which is {}; give it an id of its own",
                    crate::vocab::show(bytes)
                )));
            }
        }
        let everything = Policy::all(&special);
        let pretokenizer = Pretokenizer::new(pattern)?;
        let pool = Pool::new(Scratch::new());
        let buffers = Pool::new(Buffers::new());
        Ok(Self { model, special, pretokenizer, everything, pool, buffers })
    }

    /// The vocabulary with its merges.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The special tokens.
    pub fn special(&self) -> &SpecialTokens {
        &self.special
    }

    /// How spans are cut into pieces.
    pub fn pretokenizer(&self) -> &Pretokenizer {
        &self.pretokenizer
    }

    /// The greatest id plus one.
    pub fn vocab_size(&self) -> u64 {
        let greatest = self.model.vocab().greatest_id().max(self.special.greatest_id());
        greatest.map_or(0, |id| u64::from(id) + 1)
    }

    /// The policy under which all special tokens are recognised.
    pub fn everything(&self) -> &Policy {
        &self.everything
    }

    /// A policy from what a caller allows and disallows; see [`Policy::new`].
    pub fn policy(&self, allowed: &Choice, disallowed: &Choice) -> Result<Policy> {
        Policy::new(&self.special, allowed, disallowed)
    }

    /// Appends the ids of `text` to `ids`.
    ///
    /// # Errors
    /// [`Error::SpecialToken`] when the policy forbids the text; [`Error::UnknownByte`] when a byte
    /// is in no token; [`Error::Pattern`] when a regular expression gives up.
    pub fn encode(&self, text: &str, policy: &Policy, ids: &mut Vec<u32>) -> Result<()> {
        self.encode_among(text, text.len(), policy, ids)
    }

    /// [`Tokenizer::encode`] for one of several texts, of `total` bytes together.
    pub(crate) fn encode_among(
        &self,
        text: &str,
        total: usize,
        policy: &Policy,
        ids: &mut Vec<u32>,
    ) -> Result<()> {
        policy.check(text)?;
        self.with_scratch(total, |scratch| self.encode_to(text, policy, scratch, ids))
    }

    /// Appends the ids of any bytes to `ids`: what is UTF-8 is encoded as text, and each run of bytes
    /// that is not is a piece of its own.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn encode_bytes(&self, bytes: &[u8], policy: &Policy, ids: &mut Vec<u32>) -> Result<()> {
        self.bytes_to(bytes, policy, ids)
    }

    /// [`Tokenizer::count`] for any bytes.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn count_bytes(
        &self,
        bytes: &[u8],
        policy: &Policy,
        limit: Option<usize>,
    ) -> Result<usize> {
        let limit = limit.unwrap_or(usize::MAX);
        let mut count = Count { ids: 0, limit };
        self.bytes_to(bytes, policy, &mut count)?;
        Ok(count.ids.min(limit.saturating_add(1)))
    }

    fn bytes_to(&self, bytes: &[u8], policy: &Policy, sink: &mut impl Sink) -> Result<()> {
        let mut at = 0;
        for chunk in bytes.utf8_chunks() {
            policy.check(chunk.valid()).map_err(|error| match error {
                Error::SpecialToken { token, offset } => {
                    Error::SpecialToken { token, offset: at + offset }
                }
                other => other,
            })?;
            at += chunk.valid().len() + chunk.invalid().len();
        }
        self.with_scratch(bytes.len(), |scratch| {
            // The run of invalid bytes that goes on.
            let (mut from, mut at) = (0, 0);
            for chunk in bytes.utf8_chunks() {
                if !chunk.valid().is_empty() {
                    self.merge_invalid(&bytes[from..at], scratch, sink)?;
                    self.encode_to(chunk.valid(), policy, scratch, sink)?;
                    at += chunk.valid().len();
                    from = at;
                }
                at += chunk.invalid().len();
                if sink.is_full() {
                    return Ok(());
                }
            }
            self.merge_invalid(&bytes[from..at], scratch, sink)
        })
    }

    fn merge_invalid(
        &self,
        piece: &[u8],
        scratch: &mut Scratch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        if !piece.is_empty() {
            scratch.merged.clear();
            self.model.merge(piece, &mut scratch.heap, &mut scratch.merged)?;
            sink.take(&scratch.merged);
        }
        Ok(())
    }

    /// The number of ids of `text`, or `limit + 1` when there are more than `limit`.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn count(&self, text: &str, policy: &Policy, limit: Option<usize>) -> Result<usize> {
        policy.check(text)?;
        let limit = limit.unwrap_or(usize::MAX);
        let mut count = Count { ids: 0, limit };
        self.with_scratch(text.len(), |scratch| self.encode_to(text, policy, scratch, &mut count))?;
        Ok(count.ids.min(limit.saturating_add(1)))
    }

    /// Lends working memory to work on `bytes` bytes of text (0 if that is not known).
    pub(crate) fn with_scratch<R>(&self, bytes: usize, work: impl FnOnce(&mut Scratch) -> R) -> R {
        let mut scratch = self.pool.take().unwrap_or_else(Scratch::new);
        if bytes >= LONG_TEXT {
            scratch.cache.grow();
        }
        let result = work(&mut scratch);
        self.pool.give(scratch);
        result
    }

    fn encode_to(
        &self,
        text: &str,
        policy: &Policy,
        scratch: &mut Scratch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let mut from = 0;
        while let Some(found) = policy.find(text, from) {
            self.encode_span(&text[from..found.start], scratch, sink)?;
            sink.take(&[self.special_id(found.string)]);
            from = found.end;
            if sink.is_full() {
                return Ok(());
            }
        }
        self.encode_span(&text[from..], scratch, sink)
    }

    pub(crate) fn special_id(&self, token: &str) -> u32 {
        self.special.id(token).expect("policies find special tokens of this tokenizer only")
    }

    /// Encodes text without special tokens.
    pub(crate) fn encode_span(
        &self,
        span: &str,
        scratch: &mut Scratch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let mut from = 0;
        while from < span.len() && !sink.is_full() {
            scratch.ends.clear();
            let next = self.pretokenizer.fill(span, from, &mut scratch.ends, BATCH)?.next;
            self.merge_pieces(span.as_bytes(), from, scratch, sink)?;
            from = next;
        }
        Ok(())
    }

    /// Encodes the pieces of `span` whatever may follow it, and tells where they end: what is behind
    /// depends on text still to come.
    pub(crate) fn encode_settled(
        &self,
        span: &str,
        scratch: &mut Scratch,
        sink: &mut impl Sink,
    ) -> Result<usize> {
        let mut from = 0;
        loop {
            scratch.ends.clear();
            let filled = self.pretokenizer.fill(span, from, &mut scratch.ends, BATCH)?;
            scratch.ends.truncate(filled.settled);
            let Some(&last) = scratch.ends.last() else { return Ok(from) };
            self.merge_pieces(span.as_bytes(), from, scratch, sink)?;
            from = last;
            if last != filled.next {
                return Ok(from);
            }
        }
    }

    fn merge_pieces(
        &self,
        span: &[u8],
        from: usize,
        scratch: &mut Scratch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let Scratch { cache, heap, ends, places, merged } = scratch;
        // First find them all, then emit: the first loop waits for memory, many pieces at a time.
        let mut start = from;
        places.clear();
        places.extend(ends.iter().map(|&end| {
            let key = key(span, start, end);
            start = end;
            (key, cache.find(key))
        }));
        let mut start = from;
        for (&end, &(key, place)) in ends.iter().zip(&*places) {
            if let Some((ids, len)) = cache.at(place, key) {
                sink.take_few(ids, len);
            } else {
                merged.clear();
                self.model.merge(&span[start..end], heap, merged)?;
                sink.take(merged);
                cache.insert(key, merged);
                merged.shrink_to(1 << 16);
            }
            start = end;
        }
        Ok(())
    }

    /// The bytes of a token, special or not.
    pub fn token_bytes(&self, id: u32) -> Option<&[u8]> {
        self.model.vocab().bytes(id).or_else(|| self.special.token(id).map(str::as_bytes))
    }

    /// The id of the token `bytes`; a special token's if no other token has these bytes.
    pub fn token_id(&self, bytes: &[u8]) -> Option<u32> {
        self.model
            .vocab()
            .id(bytes)
            .or_else(|| std::str::from_utf8(bytes).ok().and_then(|token| self.special.id(token)))
    }

    /// Appends the bytes of `ids` to `bytes`.
    ///
    /// # Errors
    /// [`Error::UnknownToken`], naming the first id that no token has.
    pub fn decode(&self, ids: &[u32], bytes: &mut Vec<u8>) -> Result<()> {
        for (index, &id) in ids.iter().enumerate() {
            bytes.extend_from_slice(self.token_bytes(id).ok_or_else(|| Error::UnknownToken {
                id: u64::from(id),
                index,
                vocab_size: self.vocab_size(),
            })?);
        }
        Ok(())
    }

    /// All that the ids depend on, as bytes: equal for equal tokenizers and for no others, in every
    /// version. Numbers are u64, little endian; a string follows its length.
    pub fn canonical(&self) -> Vec<u8> {
        let mut out = Canonical(b"bytepair tokenizer 1".to_vec());
        out.number(u64::from(self.model.rule() == MergeRule::Ranks));
        out.number(u64::from(self.model.whole_pieces()));
        out.length(self.model.vocab().len());
        for (id, bytes) in self.model.vocab().iter() {
            out.number(u64::from(id));
            out.string(bytes);
        }
        out.length(self.model.merges().len());
        for &(left, right) in self.model.merges() {
            out.number(u64::from(left) << 32 | u64::from(right));
        }
        out.length(self.special.len());
        for (token, id) in self.special.iter() {
            out.string(token.as_bytes());
            out.number(u64::from(id));
            out.number(u64::from(self.special.token(id) == Some(token)));
        }
        match self.pretokenizer.pattern() {
            Pattern::None => out.length(0),
            Pattern::Regex(regex) => {
                out.length(1);
                out.string(regex.as_bytes());
            }
            Pattern::Sequence(regexes) => {
                out.length(2);
                out.length(regexes.len());
                for regex in regexes {
                    out.string(regex.as_bytes());
                }
            }
        }
        out.0
    }

    /// The rule its merges follow.
    pub fn rule(&self) -> MergeRule {
        self.model.rule()
    }
}

impl PartialEq for Tokenizer {
    /// Whether both give the same ids for the same reason: vocab, merges, rule, special tokens and
    /// pattern are equal.
    fn eq(&self, other: &Self) -> bool {
        self.model == other.model
            && self.special == other.special
            && self.pretokenizer.pattern() == other.pretokenizer.pattern()
    }
}

struct Canonical(Vec<u8>);

impl Canonical {
    fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn length(&mut self, length: usize) {
        self.number(length as u64);
    }

    fn string(&mut self, bytes: &[u8]) {
        self.length(bytes.len());
        self.0.extend_from_slice(bytes);
    }
}
