//! Cutting a text to a number of tokens: at the end, at the beginning, in the middle, in chunks.
//!
//! In: a text and a limit. Out: byte offsets between characters. What is kept is the longest start
//! (or end) of the text whose own encoding fits. Cutting the ids would not give that: text that
//! ends elsewhere is encoded otherwise near its end, mostly to more tokens, sometimes to fewer.
//!
//! The text is counted up to the word in which the limit is passed, at places where a cut changes no
//! piece; only in that word every character is tried. Where there is no such place for
//! [`TRY_EACH`] bytes (a run without words, or a pattern without a scanner), the search begins at
//! the token that passes the limit and ends when as many bytes as the longest token has, one after
//! another, do not fit.

use crate::error::{Error, Result};
use crate::special::Policy;
use crate::tokenizer::Tokenizer;

/// The longest stretch in which every character is tried.
pub const TRY_EACH: usize = 512;

/// The steps in which a text is counted, in bytes; the last one finds the word.
const STEPS: [usize; 3] = [1 << 12, 1 << 8, 1];

/// What a search works with.
#[derive(Debug, Clone, Copy)]
struct Cutter<'a> {
    tokenizer: &'a Tokenizer,
    policy: &'a Policy,
}

/// The end of the longest start of `text` whose encoding has at most `most` ids.
///
/// # Errors
/// As [`Tokenizer::encode`].
pub fn prefix(tokenizer: &Tokenizer, text: &str, policy: &Policy, most: usize) -> Result<usize> {
    tokenizer.refuse_rewritten(text)?;
    policy.check(text)?;
    Cutter { tokenizer, policy }.prefix(text, most)
}

/// The start of the longest end of `text` whose encoding has at most `most` ids.
///
/// # Errors
/// As [`Tokenizer::encode`].
pub fn suffix(tokenizer: &Tokenizer, text: &str, policy: &Policy, most: usize) -> Result<usize> {
    tokenizer.refuse_rewritten(text)?;
    policy.check(text)?;
    Cutter { tokenizer, policy }.suffix(text, most)
}

/// What to take out of the middle of `text`, so that the encoding of the two parts left, joined, has
/// at most `most` ids: nothing (two equal offsets) if the text fits, else what lies behind the
/// longest start of half the limit and before the longest end of what that leaves.
///
/// The end is shortened where joining takes more ids, or would make a special token.
///
/// # Errors
/// As [`Tokenizer::encode`].
pub fn middle(
    tokenizer: &Tokenizer,
    text: &str,
    policy: &Policy,
    most: usize,
) -> Result<(usize, usize)> {
    tokenizer.refuse_rewritten(text)?;
    policy.check(text)?;
    let cutter = Cutter { tokenizer, policy };
    if cutter.count(text, most)? <= most {
        return Ok((text.len(), text.len()));
    }
    let head = cutter.prefix(text, most.div_ceil(2))?;
    let used = cutter.count(&text[..head], most)?;
    let mut tail = head + cutter.suffix(&text[head..], most - used)?;
    let mut joined = String::new();
    loop {
        joined.clear();
        joined.push_str(&text[..head]);
        joined.push_str(&text[tail..]);
        if !policy.crosses(&joined, head) && cutter.count(&joined, most)? <= most {
            return Ok((head, tail));
        }
        tail = text.ceil_char_boundary(tail + 1);
    }
}

/// Cuts `text` into chunks, each the longest that fits, of which each begins with as much of the end
/// of the one before as has at most `overlap` ids.
///
/// Where the overlap would leave no room for one more character there is none.
///
/// # Errors
/// [`Error::Value`] when `overlap` is not below `most` or when a character alone has more than
/// `most` ids; else as [`Tokenizer::encode`].
pub fn chunks(
    tokenizer: &Tokenizer,
    text: &str,
    policy: &Policy,
    most: usize,
    overlap: usize,
) -> Result<Vec<(usize, usize)>> {
    if overlap >= most {
        return Err(Error::Value(format!(
            "overlap is {overlap} and max_tokens is {most}; overlap must be less, so that each \
             chunk has something new"
        )));
    }
    tokenizer.refuse_rewritten(text)?;
    policy.check(text)?;
    let cutter = Cutter { tokenizer, policy };
    let mut chunks: Vec<(usize, usize)> = Vec::new();
    let (mut start, mut done) = (0, 0);
    while done < text.len() {
        let mut end = start + cutter.prefix(&text[start..], most)?;
        if end <= done {
            start = done;
            end = start + cutter.prefix(&text[start..], most)?;
        }
        if end <= done {
            return Err(cutter.too_long(text, start, most)?);
        }
        chunks.push((start, end));
        done = end;
        start =
            if overlap == 0 { end } else { start + cutter.suffix(&text[start..end], overlap)? };
    }
    Ok(chunks)
}

impl Cutter<'_> {
    fn count(&self, text: &str, limit: usize) -> Result<usize> {
        self.tokenizer.count(text, self.policy, Some(limit))
    }

    fn too_long(&self, text: &str, at: usize, most: usize) -> Result<Error> {
        let next = text.ceil_char_boundary(at + 1);
        let needed = self.count(&text[at..next], usize::MAX - 1)?;
        let index = text[..at].chars().count();
        Ok(Error::Value(format!(
            "the character {:?} at {index} takes {needed} tokens and max_tokens is {most}; \
             give at least {needed}",
            &text[at..next]
        )))
    }

    /// The least place at or after `from` where a cut changes neither pieces nor special tokens.
    fn place(&self, text: &str, mut from: usize) -> Option<usize> {
        loop {
            if from >= text.len() {
                return None;
            }
            let at = self.tokenizer.safe_cut(text, from)?;
            if at > 0 && !self.policy.crosses(text, at) {
                return Some(at);
            }
            from = at + 1;
        }
    }

    fn prefix(&self, text: &str, most: usize) -> Result<usize> {
        let (mut at, mut left, mut passed) = (0, most, text.len() + 1);
        for step in STEPS {
            while at < text.len() {
                let next = self.place(text, at.saturating_add(step)).unwrap_or(text.len());
                if next >= passed {
                    break;
                }
                let count = self.count(&text[at..next], left)?;
                if count > left {
                    passed = next;
                    break;
                }
                left -= count;
                at = next;
            }
        }
        if passed > text.len() {
            return Ok(text.len());
        }
        Ok(at + self.start_of(&text[at..passed], left)?)
    }

    /// The end of the longest start of a stretch that does not fit whole.
    fn start_of(&self, text: &str, most: usize) -> Result<usize> {
        let fits = |end: usize| Ok::<_, Error>(self.count(&text[..end], most)? <= most);
        let mut best = text.len();
        if text.len() > TRY_EACH {
            best = self.reach(text, most, |size| {
                let end = text.floor_char_boundary(size);
                (&text[..end], false)
            })?;
        }
        best = text.floor_char_boundary(best.min(text.len() - 1));
        while !fits(best)? {
            best = text.floor_char_boundary(best - 1);
        }
        if text.len() > TRY_EACH {
            let (longest, mut end) = (self.longest(), best);
            while end < text.len() && end - best <= longest {
                end = text.ceil_char_boundary(end + 1);
                if fits(end)? {
                    best = end;
                }
            }
        }
        Ok(best)
    }

    fn suffix(&self, text: &str, most: usize) -> Result<usize> {
        // All before `passed` is known not to fit; with it, less than nothing.
        let (mut at, mut left, mut passed) = (text.len(), most, None);
        for step in STEPS {
            while at > 0 {
                let next = self.place_before(text, at, step);
                if passed.is_some_and(|passed| next <= passed) {
                    break;
                }
                let count = self.count(&text[next..at], left)?;
                if count > left {
                    passed = Some(next);
                    break;
                }
                left -= count;
                at = next;
            }
        }
        let Some(passed) = passed else { return Ok(0) };
        Ok(passed + self.end_of(&text[passed..at], left)?)
    }

    /// A place some `step` bytes before `at`, or 0.
    fn place_before(&self, text: &str, at: usize, mut step: usize) -> usize {
        while step < at {
            // Up to `at` only, so that nothing is looked for twice.
            let place = self.place(&text[..at], at - step);
            if let Some(place) = place.filter(|&place| !self.policy.crosses(text, place)) {
                return place;
            }
            step *= 2;
        }
        0
    }

    /// The start of the longest end of a stretch that does not fit whole.
    fn end_of(&self, text: &str, most: usize) -> Result<usize> {
        let fits = |start: usize| Ok::<_, Error>(self.count(&text[start..], most)? <= most);
        let mut best = 0;
        if text.len() > TRY_EACH {
            let size = self.reach(text, most, |size| {
                let start = text.ceil_char_boundary(text.len().saturating_sub(size));
                (&text[start..], true)
            })?;
            best = text.len() - size;
        }
        best = text.ceil_char_boundary(best.max(1));
        while !fits(best)? {
            best = text.ceil_char_boundary(best + 1);
        }
        if text.len() > TRY_EACH {
            let (longest, mut start) = (self.longest(), best);
            while start > 0 && best - start <= longest {
                start = text.floor_char_boundary(start - 1);
                if fits(start)? {
                    best = start;
                }
            }
        }
        Ok(best)
    }

    /// The bytes of the `most` ids at one end of a stretch, as it is encoded whole; `part` gives that
    /// end, of some size, and whether it is the last ids that count.
    fn reach<'t>(
        &self,
        text: &str,
        most: usize,
        part: impl Fn(usize) -> (&'t str, bool),
    ) -> Result<usize> {
        let mut size = most.saturating_mul(8).saturating_add(TRY_EACH);
        loop {
            let (part, last) = part(size.min(text.len()));
            let mut ids = Vec::new();
            self.tokenizer.encode(part, self.policy, &mut ids)?;
            if ids.len() > most || part.len() == text.len() {
                let most = most.min(ids.len());
                let ids = if last { &ids[ids.len() - most..] } else { &ids[..most] };
                let length = |&id: &u32| self.tokenizer.token_bytes(id).map_or(0, <[u8]>::len);
                return Ok(ids.iter().map(length).sum::<usize>().min(text.len()));
            }
            size = size.saturating_mul(2);
        }
    }

    /// The bytes of the longest token.
    fn longest(&self) -> usize {
        let vocab = self.tokenizer.model().vocab().iter().map(|(_, bytes)| bytes.len()).max();
        let special = self.tokenizer.special().iter().map(|(token, _)| token.len()).max();
        vocab.max(special).unwrap_or(0)
    }
}
