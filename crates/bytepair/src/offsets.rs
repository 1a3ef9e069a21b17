//! Where each token lies in its text.
//!
//! In: a text, or ids. Out: for each token a place in the text, counted in characters, bytes or
//! UTF-16 units. A token that covers part of a character has the whole of it, so spans of
//! neighbours may overlap there; in bytes every span is exact. Costs one pass more over the text.

use crate::error::Result;
use crate::normalize::Place;
use crate::special::Policy;
use crate::tokenizer::Tokenizer;

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

/// The ids of `text` with the span of each.
///
/// # Errors
/// As [`Tokenizer::encode`].
pub fn encode_with_offsets(
    tokenizer: &Tokenizer,
    text: &str,
    policy: &Policy,
    unit: Unit,
) -> Result<(Vec<u32>, Vec<Span>)> {
    tokenizer.refuse_rewritten(text)?;
    policy.check(text)?;
    let (mut ids, mut spans) = (Vec::new(), Vec::<Span>::new());
    let lengths = |ids: &[u32], spans: &mut Vec<Span>, mut at: usize| {
        for &id in &ids[spans.len()..] {
            let end = at + tokenizer.token_bytes(id).map_or(0, <[u8]>::len);
            spans.push((at, end));
            at = end;
        }
    };
    tokenizer.with_scratch(text.len(), |scratch| {
        let mut from = 0;
        while let Some(found) = policy.find(text, from) {
            tokenizer.encode_span(&text[from..found.start], Place::LATER, scratch, &mut ids)?;
            lengths(&ids, &mut spans, from);
            // Its own length, not its token's: an alias is longer or shorter than the name.
            ids.push(tokenizer.special_id(found.string));
            spans.push((found.start, found.end));
            from = found.end;
        }
        tokenizer.encode_span(&text[from..], Place::LATER, scratch, &mut ids)?;
        lengths(&ids, &mut spans, from);
        Ok(())
    })?;
    convert(text, &mut spans, unit);
    Ok((ids, spans))
}

/// Turns spans in bytes, which follow each other, into spans in `unit`.
fn convert(text: &str, spans: &mut [Span], unit: Unit) {
    if unit == Unit::Byte || text.is_ascii() {
        return;
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
    for span in spans {
        let first = reach(span.0).0;
        *span = (first, reach(span.1 - 1).1);
    }
}

/// The place of each token's first byte in the decoded text, in characters: those that begin before
/// it, the one it lies in not counted. Bytes that are not UTF-8 count as one character for each
/// maximal part if `replaced`, and as none otherwise.
///
/// # Errors
/// As [`Tokenizer::decode`].
pub fn decode_offsets(tokenizer: &Tokenizer, ids: &[u32], replaced: bool) -> Result<Vec<usize>> {
    let mut bytes = Vec::new();
    tokenizer.decode_part(ids, &mut bytes)?;
    // The bytes at which the text's characters end.
    let mut ends = Vec::with_capacity(bytes.len());
    let mut at = 0;
    let mut starts = Vec::with_capacity(ids.len());
    for &id in ids {
        starts.push(at);
        at += tokenizer.token_bytes(id).map_or(0, <[u8]>::len);
    }
    at = 0;
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            at += character.len_utf8();
            ends.push(at);
        }
        at += chunk.invalid().len();
        if replaced && !chunk.invalid().is_empty() {
            ends.push(at);
        }
    }
    let mut passed = 0;
    for start in &mut starts {
        while ends.get(passed).is_some_and(|end| end <= start) {
            passed += 1;
        }
        *start = passed;
    }
    if tokenizer.drops_space() && bytes.first() == Some(&b' ') {
        for start in &mut starts {
            *start = start.saturating_sub(1);
        }
    }
    Ok(starts)
}
