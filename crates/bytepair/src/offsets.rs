//! Where each token lies in its text.
//!
//! In: a text, or ids. Out: for each token a place in the text, counted in characters, bytes or
//! UTF-16 units. A token that covers part of a character has the whole of it, so spans of
//! neighbours may overlap there; in bytes every span is exact. Costs one pass more over the text.

use crate::error::{Error, Result};
use crate::normalize::Place;
use crate::sink::Sink;
use crate::special::Policy;
use crate::symbols::{Missing, Symbols};
use crate::tokenizer::Tokenizer;
use crate::watched::Pulse;

/// Tokens placed between two looks at the pulse.
const LISTEN: usize = 1 << 16;

/// What offsets count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Characters (code points), as Python's `str`.
    Char,
    /// Bytes of the text's UTF-8.
    Byte,
    /// UTF-16 code units, as JavaScript's strings.
    Utf16,
}

/// The start and end of a token.
pub type Span = (usize, usize);

/// Ids, and the span in bytes of each behind the one before.
struct Places<'a> {
    tokenizer: &'a Tokenizer,
    ids: Vec<u32>,
    spans: Vec<Span>,
    at: usize,
    pulse: &'a Pulse<'a>,
}

impl Places<'_> {
    fn push(&mut self, id: u32, end: usize) {
        self.ids.push(id);
        self.spans.push((self.at, end));
        self.at = end;
    }
}

impl Sink for Places<'_> {
    fn take(&mut self, ids: &[u32]) {
        for &id in ids {
            self.push(id, self.at + self.tokenizer.token_bytes(id).map_or(0, <[u8]>::len));
        }
    }

    fn is_full(&self) -> bool {
        self.pulse.stops()
    }

    fn is_left(&self) -> bool {
        self.pulse.stops()
    }
}

impl Tokenizer {
    /// Refuses `text` for what needs places in it where the normalizer rewrites it: then they are
    /// those of another text. Likewise where a token stands for a character that it does not hold.
    pub(crate) fn refuse_rewritten(&self, text: &str, pulse: &Pulse<'_>) -> Result<()> {
        if let Some(normalizer) = self.normalizer()
            && !normalizer.leaves(text, &|| pulse.stops())?
        {
            return Err(Error::Value(format!(
                "the normalizer ({normalizer}) rewrites the text, so its tokens have no places in \
                 the text as given; normalize the text and use a tokenizer without it",
            )));
        }
        let missing = self.model().symbols().map(Symbols::missing);
        if missing.is_some_and(|missing| matches!(missing, Missing::Unknown { .. })) {
            return Err(Error::Value(
                "the vocab has an unknown token, which says nothing about the text it stands for, \
                 so tokens have no places in the text"
                    .to_owned(),
            ));
        }
        Ok(())
    }
}

/// The ids of `text` with the span of each.
///
/// # Errors
/// As [`Tokenizer::encode`], and [`Error::Interrupted`].
pub fn encode_with_offsets(
    tokenizer: &Tokenizer,
    text: &str,
    policy: &Policy,
    unit: Unit,
    pulse: &Pulse<'_>,
) -> Result<(Vec<u32>, Vec<Span>)> {
    tokenizer.refuse_rewritten(text, pulse)?;
    policy.check(text)?;
    let (ids, spans) = (Vec::new(), Vec::new());
    let mut places = Places { tokenizer, ids, spans, at: 0, pulse };
    tokenizer.with_scratch(text.len(), |scratch| {
        let mut from = 0;
        while let Some(found) = policy.find(text, from) {
            let span = &text[from..found.start];
            tokenizer.encode_span(span, Place::LATER, scratch, &mut places)?;
            // Its own length, not its token's: an alias is longer or shorter than the name.
            places.at = found.start;
            places.push(tokenizer.special_id(found.string), found.end);
            from = found.end;
            pulse.check()?;
        }
        tokenizer.encode_span(&text[from..], Place::LATER, scratch, &mut places)?;
        pulse.check()
    })?;
    let Places { ids, mut spans, .. } = places;
    convert(text, &mut spans, unit, pulse)?;
    Ok((ids, spans))
}

/// Turns spans in bytes, which follow each other, into spans in `unit`.
fn convert(text: &str, spans: &mut [Span], unit: Unit, pulse: &Pulse<'_>) -> Result<()> {
    if unit == Unit::Byte || text.is_ascii() {
        return Ok(());
    }
    let size = |c: char| if unit == Unit::Char { 1 } else { c.len_utf16() };
    let mut chars = text.char_indices().map(|(at, c)| (at + c.len_utf8(), size(c)));
    // Where the character at work ends, in bytes, and the units before and after it.
    let (mut end, mut before, mut after) = (0, 0, 0);
    let mut reach = |byte: usize| {
        while byte >= end {
            let Some((to, units)) = chars.next() else { break };
            (end, before) = (to, after);
            after += units;
        }
        (before, after)
    };
    for spans in spans.chunks_mut(LISTEN) {
        pulse.check()?;
        for span in spans {
            let first = reach(span.0).0;
            *span = (first, reach(span.1 - 1).1);
        }
    }
    Ok(())
}

/// The place of each token's first byte in the decoded text, in characters: those that begin before
/// it, the one it lies in not counted. Bytes that are not UTF-8 count as one character for each
/// maximal part if `replaced`, and as none otherwise.
///
/// # Errors
/// As [`Tokenizer::decode`], and [`Error::Interrupted`].
pub fn decode_offsets(
    tokenizer: &Tokenizer,
    ids: &[u32],
    replaced: bool,
    pulse: &Pulse<'_>,
) -> Result<Vec<usize>> {
    let mut bytes = Vec::new();
    let mut starts = Vec::with_capacity(ids.len());
    for ids in ids.chunks(LISTEN) {
        pulse.check()?;
        let mut at = bytes.len();
        let decoded = tokenizer.decode_part(ids, &mut bytes);
        decoded.map_err(|error| error.behind(starts.len()))?;
        for &id in ids {
            starts.push(at);
            at += tokenizer.token_bytes(id).map_or(0, <[u8]>::len);
        }
    }
    // Those that begin before the end of a character begin in it.
    let (mut at, mut passed, mut tokens) = (0, 0, starts.iter_mut().peekable());
    let mut ends = |end: usize| {
        while let Some(start) = tokens.next_if(|start| **start < end) {
            *start = passed;
        }
        passed += 1;
    };
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            at += character.len_utf8();
            ends(at);
        }
        at += chunk.invalid().len();
        if replaced && !chunk.invalid().is_empty() {
            ends(at);
        }
        pulse.check()?;
    }
    // Those behind the last character, of no bytes or of bytes left out.
    ends(usize::MAX);
    if tokenizer.drops_space() && bytes.first() == Some(&b' ') {
        for start in &mut starts {
            *start = start.saturating_sub(1);
        }
    }
    Ok(starts)
}
