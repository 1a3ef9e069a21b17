//! The tokenizer: the encode flow put together, and decoding.
//!
//! ```text
//! text ─special→ spans ─pretokenize→ pieces ─merge→ ids ─decode→ bytes
//! ```
//!
//! Where there is a normalizer, it rewrites each span before it is cut into pieces.
//!
//! Immutable and shared between threads. Encoding borrows working memory (a bounded cache of pieces
//! and the buffers of the merge engines) from a pool; a piece that is in the cache costs one line of
//! memory, another is merged and remembered.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use crate::cover::Index;
use crate::error::{Error, Result};
use crate::merge::cuts::Cuts;
use crate::merge::memory::Memory;
use crate::merge::{MergeRule, Model};
use crate::normalize::{Normalizer, Place};
use crate::pool::Pool;
use crate::pretokenize::{Filled, Pattern, Pretokenizer};
use crate::sink::{Behind, Count, Sink};
use crate::special::{Choice, Policy, SpecialTokens};
use crate::stream::Buffers;
use crate::symbols::Symbols;

/// How many pieces are cut before they are merged: enough to keep each loop tight, few enough that
/// their ends stay in the first-level cache.
const BATCH: usize = 512;

/// From this many bytes on a text is worth finding the cuts of its pieces.
const CUTS_TEXT: usize = 1 << 16;

/// Turns text into ids and back.
#[derive(Debug)]
pub struct Tokenizer {
    model: Arc<Model>,
    special: SpecialTokens,
    normalizer: Option<Normalizer>,
    /// Whether decoding leaves out a space at the beginning, which the normalizer put there.
    drops_space: bool,
    pretokenizer: Pretokenizer,
    everything: Policy,
    plain: Policy,
    strict: OnceLock<Policy>,
    /// Made for the first text that is long enough.
    cuts: OnceLock<Option<Cuts>>,
    pub(crate) longest: OnceLock<usize>,
    /// For keeping the start and for keeping the end; made for the first long word that is cut.
    pub(crate) indexes: [OnceLock<Index>; 2],
    pool: Pool<Box<Scratch>>,
    pub(crate) buffers: Pool<Buffers>,
}

/// What one thread needs while it encodes.
#[derive(Debug)]
pub(crate) struct Scratch {
    memory: Memory,
    pub(crate) ends: Vec<u32>,
    places: Vec<usize>,
}

impl Scratch {
    fn new() -> Self {
        Self {
            memory: Memory::new(),
            ends: Vec::with_capacity(BATCH),
            places: Vec::with_capacity(BATCH),
        }
    }

    /// The ids of one piece, by itself.
    pub(crate) fn merge_piece(&mut self, tokenizer: &Tokenizer, piece: &[u8]) -> Result<&[u32]> {
        self.memory.merge(&tokenizer.model, piece)
    }
}

impl Tokenizer {
    /// A tokenizer from its parts.
    ///
    /// # Errors
    /// [`Error::Vocab`] when a special token has the id of a token of other bytes; [`Error::Pattern`] when
    /// the pattern cannot be used.
    pub fn new(model: Arc<Model>, special: SpecialTokens, pattern: &Pattern) -> Result<Self> {
        for (token, id) in special.iter().chain(special.added()) {
            let is_other = |bytes: &&[u8]| {
                // Where merging begins with characters, tokens have spaces for what files spell `▁`.
                *bytes != token.as_bytes()
                    && (model.symbols().is_none() || *bytes != token.replace('▁', " ").as_bytes())
            };
            if let Some(bytes) = model.vocab().bytes(id).filter(is_other) {
                return Err(Error::Vocab(format!(
                    "special token {token:?} has id {id}, which is {}; give it an id of its own",
                    crate::vocab::show(bytes)
                )));
            }
        }
        let everything = Policy::all(&special);
        let plain = Policy::plain(&special);
        let pretokenizer = Pretokenizer::new(pattern)?;
        let pool = Pool::new(Box::new(Scratch::new()));
        let buffers = Pool::new(Buffers::new());
        let normalizer = None;
        let cuts = OnceLock::new();
        Ok(Self {
            model,
            special,
            normalizer,
            drops_space: false,
            pretokenizer,
            everything,
            plain,
            strict: OnceLock::new(),
            cuts,
            longest: OnceLock::new(),
            indexes: [OnceLock::new(), OnceLock::new()],
            pool,
            buffers,
        })
    }

    /// The same with a normalizer, which rewrites text before it is cut into pieces.
    #[must_use]
    pub fn with_normalizer(self, normalizer: Option<Normalizer>) -> Self {
        Self { normalizer, ..self }
    }

    /// The same, where decoding leaves out one space at the beginning, if `drops_space`.
    #[must_use]
    pub fn with_dropped_space(self, drops_space: bool) -> Self {
        Self { drops_space, ..self }
    }

    /// The normalizer.
    pub fn normalizer(&self) -> Option<&Normalizer> {
        self.normalizer.as_ref()
    }

    /// Whether decoding leaves out one space at the beginning.
    pub fn drops_space(&self) -> bool {
        self.drops_space
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

    /// The policy under which no special token is recognised or forbidden.
    pub fn plain(&self) -> &Policy {
        &self.plain
    }

    /// The policy under which no special token is recognised and all are forbidden.
    pub fn strict(&self) -> &Policy {
        self.strict.get_or_init(|| {
            Policy::new(&self.special, &Choice::These(Vec::new()), &Choice::All)
                .expect("the finder of all special tokens was made before")
        })
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
        policy.check(text)?;
        let mut room = Behind::new(ids, text.len());
        self.with_scratch(text.len(), |scratch| self.encode_to(text, policy, scratch, &mut room))
    }

    /// The number of ids of `text`, or `limit + 1` when there are more than `limit`.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn count(&self, text: &str, policy: &Policy, limit: Option<usize>) -> Result<usize> {
        policy.check(text)?;
        let mut count = Count::up_to(limit);
        self.with_scratch(text.len(), |scratch| self.encode_to(text, policy, scratch, &mut count))?;
        Ok(count.get())
    }

    /// Lends working memory to work on `bytes` bytes of text (0 if that is not known, and then it takes
    /// no more than it has).
    pub(crate) fn with_scratch<R>(&self, bytes: usize, work: impl FnOnce(&mut Scratch) -> R) -> R {
        let mut scratch = self.pool.take().unwrap_or_else(|| Box::new(Scratch::new()));
        scratch.memory.expect(bytes);
        if bytes >= CUTS_TEXT && self.cuts.get().is_none() {
            // Not `get_or_init`: others do not wait, and if two make them, they are the same.
            drop(self.cuts.set(Cuts::new(&self.model)));
        }
        let result = work(&mut scratch);
        self.pool.give(scratch);
        result
    }

    pub(crate) fn encode_to(
        &self,
        text: &str,
        policy: &Policy,
        scratch: &mut Scratch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let (mut from, mut place) = (0, Place::FIRST);
        while let Some(found) = policy.find(text, from) {
            self.encode_span(&text[from..found.start], place, scratch, sink)?;
            sink.take(&[self.special_id(found.string)]);
            (from, place) = (found.end, Place::LATER);
            if sink.is_full() {
                return Ok(());
            }
        }
        self.encode_span(&text[from..], place, scratch, sink)
    }

    pub(crate) fn special_id(&self, token: &str) -> u32 {
        self.special.id(token).expect("policies find special tokens of this tokenizer only")
    }

    /// Encodes text without special tokens: a span, or what is left of one.
    pub(crate) fn encode_span(
        &self,
        span: &str,
        place: Place,
        scratch: &mut Scratch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        match &self.normalizer {
            None => self.encode_normal(span, scratch, sink),
            Some(normalizer) => {
                let normal = normalizer.apply_until(span, place, &|| sink.is_left())?;
                self.encode_normal(&normal, scratch, sink)
            }
        }
    }

    /// [`Pretokenizer::fill`], and where there is no pattern the cuts that change no id.
    fn fill(&self, span: &str, from: usize, ends: &mut Vec<usize>, most: usize) -> Result<Filled> {
        match self.symbols() {
            Some(symbols) => Ok(symbols.fill(span, from, ends, most)),
            None => self.pretokenizer.fill(span, from, ends, most),
        }
    }

    /// The least place at or after `from` where a cut of `text` changes no id, as far as known.
    pub(crate) fn safe_cut(&self, text: &str, from: usize) -> Option<usize> {
        match self.symbols() {
            Some(symbols) => symbols.safe_cut(text, from),
            None => self.pretokenizer.safe_cut(text, from),
        }
    }

    /// What cuts spans where no pattern does.
    fn symbols(&self) -> Option<&Symbols> {
        self.model.symbols().filter(|_| *self.pretokenizer.pattern() == Pattern::None)
    }

    /// Encodes text without special tokens, as it is after the normalizer.
    fn encode_normal(&self, span: &str, scratch: &mut Scratch, sink: &mut impl Sink) -> Result<()> {
        let cuts = self.cuts.get().and_then(Option::as_ref);
        let mut from = 0;
        while from < span.len() && !sink.is_full() {
            scratch.ends.clear();
            let next = match self.symbols() {
                None => self.pretokenizer.chunk_parted(cuts, span, from, &mut scratch.ends)?,
                Some(symbols) => {
                    scratch.places.clear();
                    let next = symbols.fill(span, from, &mut scratch.places, BATCH).next;
                    relative(&scratch.places, from, &mut scratch.ends)?;
                    next
                }
            };
            self.merge_pieces(span.as_bytes(), from, scratch, sink)?;
            sink.passed(next - from);
            from = next;
        }
        Ok(())
    }

    /// Encodes the pieces of `span` whatever may follow it, and tells where they end: what is behind
    /// depends on text still to come.
    pub(crate) fn encode_settled(
        &self,
        span: &str,
        place: Place,
        scratch: &mut Scratch,
        sink: &mut impl Sink,
    ) -> Result<usize> {
        let Some(normalizer) = &self.normalizer else {
            return self.encode_settled_normal(span, scratch, sink);
        };
        let span = &span[..normalizer.settled(span)];
        match normalizer.apply_until(span, place, &|| sink.is_left())? {
            Cow::Borrowed(span) => self.encode_settled_normal(span, scratch, sink),
            Cow::Owned(normal) => {
                // A cut counts only where it is one of the text before the normalizer too.
                let mut places = std::mem::take(&mut scratch.places);
                places.clear();
                let filled = self.fill(&normal, 0, &mut places, usize::MAX)?;
                places.truncate(filled.settled);
                let stops = || sink.is_left();
                let (used, end) = normalizer.last_cut(span, place, &places, &stops)?;
                places.retain(|&piece_end| piece_end <= end);
                let mut from = 0;
                for part in places.chunks(BATCH) {
                    if sink.is_left() {
                        return Err(Error::Interrupted);
                    }
                    relative(part, from, &mut scratch.ends)?;
                    self.merge_pieces(normal.as_bytes(), from, scratch, sink)?;
                    from = part.last().copied().unwrap_or(from);
                }
                places.clear();
                places.shrink_to(BATCH);
                scratch.places = places;
                Ok(used)
            }
        }
    }

    fn encode_settled_normal(
        &self,
        span: &str,
        scratch: &mut Scratch,
        sink: &mut impl Sink,
    ) -> Result<usize> {
        let mut from = 0;
        loop {
            if sink.is_left() {
                return Err(Error::Interrupted);
            }
            scratch.ends.clear();
            let next = self.pretokenizer.settled_chunk(span, from, &mut scratch.ends);
            if next > from {
                self.merge_pieces(span.as_bytes(), from, scratch, sink)?;
                from = next;
                continue;
            }
            let places = &mut scratch.places;
            places.clear();
            let filled = self.fill(span, from, places, BATCH)?;
            places.truncate(filled.settled);
            let Some(&last) = places.last() else { return Ok(from) };
            relative(&scratch.places, from, &mut scratch.ends)?;
            self.merge_pieces(span.as_bytes(), from, scratch, sink)?;
            from = last;
            if last != filled.next {
                return Ok(from);
            }
        }
    }

    pub(crate) fn merge_pieces(
        &self,
        span: &[u8],
        from: usize,
        scratch: &mut Scratch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        scratch.memory.merge_all(&self.model, span, from, &scratch.ends, sink)
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

    /// The rule its merges follow.
    pub fn rule(&self) -> MergeRule {
        self.model.rule()
    }
}

/// Makes `ends`, counted from `from`, of `places`.
fn relative(places: &[usize], from: usize, ends: &mut Vec<u32>) -> Result<()> {
    ends.clear();
    for &end in places {
        ends.push(u32::try_from(end - from).map_err(|_| Error::long_piece(end - from))?);
    }
    Ok(())
}

impl PartialEq for Tokenizer {
    /// Whether both give the same ids for the same reason: vocab, merges, rule, special and added
    /// tokens, normalizer and pattern are equal.
    fn eq(&self, other: &Self) -> bool {
        self.model == other.model
            && self.special == other.special
            && self.normalizer == other.normalizer
            && self.drops_space == other.drops_space
            && self.pretokenizer.pattern() == other.pretokenizer.pattern()
    }
}
