//! Cutting a text to a number of tokens: at the end, at the beginning, in the middle, in chunks.
//!
//! In: a text and a limit. Out: byte offsets between characters. What is kept is the longest start
//! (or end) of the text whose own encoding fits. Cutting the ids would not give that: text that
//! ends elsewhere is encoded otherwise near its end, mostly to more tokens, sometimes to fewer.
//!
//! The text is counted up to the word in which the limit is passed, at places where a cut changes no
//! piece; what of that word fits is found by `longest.rs`. A [`Pulse`] can stop all of it.

use std::cell::Cell;

use crate::breaks::Break;
use crate::error::{Error, Result};
use crate::longest::{Keep, Stretch};
use crate::reach::Known;
use crate::special::Policy;
use crate::tokenizer::Tokenizer;
use crate::watched::Pulse;

/// From this many bytes on a stretch without a safe cut is searched at once.
const LONG: usize = 1 << 14;

/// Up to this many bytes a stretch is counted at once.
const ONE_WORD: usize = 1 << 8;

/// A safe cut is looked for so far, in bytes, or farther where the limit is large.
const FAR: usize = 1 << 16;

/// How many breaks of a kind are tried.
const TRY_BREAKS: usize = 16;

/// The steps in which a text is counted, in bytes; the last one finds the word.
const STEPS: [usize; 3] = [1 << 12, 1 << 8, 1];

/// What a search works with.
struct Cutter<'a> {
    tokenizer: &'a Tokenizer,
    policy: &'a Policy,
    pulse: &'a Pulse<'a>,
    /// For each step, what is known of the safe cuts of the text.
    seen: [Cell<Option<Seen>>; STEPS.len()],
    /// For keeping the start and for keeping the end.
    known: [Known; 2],
}

/// That there is no safe cut between two places, which are counted from the end of the text.
#[derive(Debug, Clone, Copy)]
struct Seen {
    from: usize,
    to: usize,
    /// Whether there is one at the second place.
    is_place: bool,
}

impl<'a> Cutter<'a> {
    /// Refuses what cannot be cut.
    fn new(
        tokenizer: &'a Tokenizer,
        text: &str,
        policy: &'a Policy,
        pulse: &'a Pulse<'a>,
    ) -> Result<Self> {
        tokenizer.refuse_rewritten(text, pulse)?;
        policy.check(text)?;
        let (seen, known) = Default::default();
        Ok(Self { tokenizer, policy, pulse, seen, known })
    }
}

/// The end of the longest start of `text` whose encoding has at most `most` ids.
///
/// # Errors
/// As [`Tokenizer::encode`], and [`Error::Interrupted`].
pub fn prefix(
    tokenizer: &Tokenizer,
    text: &str,
    policy: &Policy,
    most: usize,
    pulse: &Pulse<'_>,
) -> Result<usize> {
    Cutter::new(tokenizer, text, policy, pulse)?.prefix(text, most)
}

/// The start of the longest end of `text` whose encoding has at most `most` ids.
///
/// # Errors
/// As [`Tokenizer::encode`], and [`Error::Interrupted`].
pub fn suffix(
    tokenizer: &Tokenizer,
    text: &str,
    policy: &Policy,
    most: usize,
    pulse: &Pulse<'_>,
) -> Result<usize> {
    Cutter::new(tokenizer, text, policy, pulse)?.suffix(text, most)
}

/// What to take out of the middle of `text`, so that the encoding of the two parts left, joined, has
/// at most `most` ids: nothing (two equal offsets) if the text fits, else what lies behind the
/// longest start of half the limit and before the longest end of what that leaves.
///
/// The end is shortened where joining takes more ids, or would make a special token.
///
/// # Errors
/// As [`Tokenizer::encode`], and [`Error::Interrupted`].
pub fn middle(
    tokenizer: &Tokenizer,
    text: &str,
    policy: &Policy,
    most: usize,
    pulse: &Pulse<'_>,
) -> Result<(usize, usize)> {
    let cutter = Cutter::new(tokenizer, text, policy, pulse)?;
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
        // With nothing behind it the start fits.
        let fits = tail == text.len() || cutter.count(&joined, most)? <= most;
        if fits && !policy.covers(&joined, head) {
            return Ok((head, tail));
        }
        tail = text.ceil_char_boundary(tail + 1);
    }
}

/// Cuts `text` into chunks, each the longest that fits, of which each begins with as much of the end
/// of the one before as has at most `overlap` ids.
///
/// Where the overlap would leave no room for one more character there is none. With `prefer`, a chunk
/// that does not reach the end of the text ends at the last break in it of the first of these kinds
/// of which it has one.
///
/// # Errors
/// [`Error::Value`] when `overlap` is not below `most` or when a character alone has more than
/// `most` ids; [`Error::Interrupted`]; else as [`Tokenizer::encode`].
pub fn chunks(
    tokenizer: &Tokenizer,
    text: &str,
    policy: &Policy,
    (most, overlap): (usize, usize),
    prefer: &[Break],
    pulse: &Pulse<'_>,
) -> Result<Vec<(usize, usize)>> {
    if overlap >= most {
        return Err(Error::Value(format!(
            "overlap is {overlap} and max_tokens is {most}; overlap must be less, so that each \
             chunk has something new"
        )));
    }
    let cutter = Cutter::new(tokenizer, text, policy, pulse)?;
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
        if end < text.len() {
            end = cutter.preferred(text, (start, end), done, most, prefer)?;
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
        self.tokenizer.count_until(text, self.policy, Some(limit), self.pulse)
    }

    /// The end of the chunk `start..end`, moved back to a break behind `done` if there is one.
    fn preferred(
        &self,
        text: &str,
        (start, end): (usize, usize),
        done: usize,
        most: usize,
        prefer: &[Break],
    ) -> Result<usize> {
        for kind in prefer {
            // Less text may be more tokens, though hardly ever.
            for at in kind.between(text, done, end).take(TRY_BREAKS) {
                if at == end || self.count(&text[start..at], most)? <= most {
                    return Ok(at);
                }
            }
        }
        Ok(end)
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

    /// The least place at or after `from` where a cut changes neither pieces nor special tokens, if
    /// there is one within `far` bytes. `text` is an end of the text that is cut, and `seen` what the
    /// calls before have seen of it.
    fn near_place(
        &self,
        text: &str,
        from: usize,
        far: usize,
        seen: &Cell<Option<Seen>>,
    ) -> Option<usize> {
        let end = text.floor_char_boundary(from.saturating_add(far));
        let length = text.len();
        let before = seen.get().filter(|seen| seen.from <= length && length - seen.from <= from);
        let place = match before {
            Some(Seen { to, is_place, .. }) if from <= length - to => {
                let to = length - to;
                if is_place { Some(to) } else { self.place(&text[..end], to) }
            }
            _ => self.place(&text[..end], from),
        };
        let place = place.filter(|&at| !self.policy.crosses(text, at));
        if from < end {
            let (from, to) = (length - from, length - place.unwrap_or(end));
            seen.set(Some(Seen { from, to, is_place: place.is_some() }));
        }
        place
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
        let far = FAR.max(most.saturating_mul(64));
        for (step, seen) in STEPS.into_iter().zip(&self.seen) {
            while at < text.len() {
                let next = self.near_place(text, at.saturating_add(step), far, seen);
                let next = next.unwrap_or(text.len());
                if next >= passed {
                    break;
                }
                if (next - at > step + ONE_WORD || next == text.len())
                    && let Some(found) = self.part(&text[at..next], left, Keep::Start)?
                {
                    return Ok(at + found);
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
        Ok(at + self.longest(&text[at..passed], left, Keep::Start)?)
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
                if (at - next > step + ONE_WORD || next == 0)
                    && let Some(found) = self.part(&text[next..at], left, Keep::End)?
                {
                    return Ok(at - found);
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
        Ok(at - self.longest(&text[passed..at], left, Keep::End)?)
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

    /// The bytes of the longest start or end of a stretch that fits, if that is not all of it, and if
    /// to find it takes less time than to count.
    fn part(&self, text: &str, most: usize, keep: Keep) -> Result<Option<usize>> {
        let stretch = self.stretch(text, most, keep);
        let found = match text.len() {
            0..=ONE_WORD => None,
            _ if text.len() <= LONG => stretch.by_reach()?,
            _ => Some(stretch.longest()?),
        };
        Ok(found.filter(|&found| found < text.len()))
    }

    /// The bytes of the longest start or end of a stretch that fits.
    fn longest(&self, text: &str, most: usize, keep: Keep) -> Result<usize> {
        self.stretch(text, most, keep).longest()
    }

    fn stretch<'s>(&'s self, text: &'s str, most: usize, keep: Keep) -> Stretch<'s> {
        let &Self { tokenizer, policy, pulse, ref known, .. } = self;
        // Of one character again and again, start and end are the same, and the tokens of a start
        // change less from one to the next.
        let unit = text.chars().next().map_or(0, char::len_utf8);
        let bytes = text.as_bytes();
        let is_run = keep == Keep::End && bytes[unit..] == bytes[..bytes.len() - unit];
        let keep = if is_run { Keep::Start } else { keep };
        Stretch {
            tokenizer,
            policy,
            text,
            most,
            keep,
            known: &known[usize::from(keep == Keep::End)],
            pulse,
        }
    }
}
