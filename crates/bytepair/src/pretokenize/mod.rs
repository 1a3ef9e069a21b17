//! Cuts a span of text into pieces: the first step of encoding and of training.
//!
//! In: a span (text without special tokens) and a [`Pattern`]. Out: the byte offsets at which its
//! pieces end. Called by the encoder, the stream encoder and the piece counter.
//!
//! Contract: the pieces of a span, joined, are the span (nothing is dropped, nothing is empty), in
//! order, and every cut lies between characters.

mod algebra;
mod blocks;
mod classes;
mod family;
mod general;
mod patterns;
mod rules;
mod scan;
mod structure;
mod tables;

use crate::error::{Error, Result};
use crate::simd::Level;
use family::Family;
use general::General;
pub use patterns::{NAMED, Named, pattern_names};
use rules::Rules;
pub use tables::UNICODE_VERSION;

/// How a span is cut into pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pattern {
    /// No pretokenization: a span is one piece.
    None,
    /// A regular expression: its matches are pieces, and so is the text between matches.
    Regex(String),
    /// Several, each applied to the pieces of the one before.
    Sequence(Vec<String>),
}

/// Pieces that [`Pretokenizer::chunk`] takes from an engine that cuts one by one.
const CHUNK: usize = 512;

/// What one call of [`Pretokenizer::fill`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filled {
    /// Where the next call goes on: the last end appended, or `span.len()`.
    pub next: usize,
    /// How many of the ends appended by this call stay the same whatever text follows the span.
    pub settled: usize,
}

/// A pattern made ready to cut text. Immutable, shared between threads.
///
/// ```
/// use bytepair::pretokenize::{Pattern, Pretokenizer};
///
/// let pretokenizer = Pretokenizer::new(&Pattern::named("gpt2").unwrap())?;
/// assert_eq!(pretokenizer.pieces("It's 10 o'clock")?, ["It", "'s", " 10", " o", "'", "clock"]);
/// # Ok::<(), bytepair::Error>(())
/// ```
#[derive(Debug)]
pub struct Pretokenizer {
    pattern: Pattern,
    engine: Engine,
}

#[derive(Debug)]
enum Engine {
    Whole,
    Family(Family, Rules),
    General(Box<General>),
}

impl Pretokenizer {
    /// Prepares `pattern`: a scanner if it can be shown to cut every text as a named pattern does, or
    /// as one with numbers of another length, or else the general engine.
    pub fn new(pattern: &Pattern) -> Result<Self> {
        match Family::of(pattern) {
            Some(family) => {
                let engine = Engine::Family(family, Rules::of(&family));
                Ok(Self { pattern: pattern.clone(), engine })
            }
            None => Self::general(pattern),
        }
    }

    /// Prepares `pattern` for the general engine, even if there is a scanner for it.
    pub fn general(pattern: &Pattern) -> Result<Self> {
        let general = match pattern {
            Pattern::None => None,
            Pattern::Regex(text) => Some(General::one(text)?),
            Pattern::Sequence(texts) => match texts.split_first() {
                Some((first, rest)) => Some(General::sequence(first, rest)?),
                None => None,
            },
        };
        let engine = general.map_or(Engine::Whole, |general| Engine::General(Box::new(general)));
        Ok(Self { pattern: pattern.clone(), engine })
    }

    /// The pattern it was made from.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Appends the ends (byte offsets in `span`) of at most `most` pieces of `span[from..]`.
    ///
    /// `from` is 0 or [`Filled::next`] of a call on the same span, or on one that this one only
    /// continues if the piece that ends there is settled. The text before `from` may matter to a
    /// look-behind, so it must be there. A sequence of patterns without a scanner may give more
    /// than `most` ends. Only the general engine ever gives an error.
    pub fn fill(
        &self,
        span: &str,
        from: usize,
        ends: &mut Vec<usize>,
        most: usize,
    ) -> Result<Filled> {
        match &self.engine {
            Engine::Family(family, _) => Ok(scan::fill(family, span, from, ends, most)),
            Engine::General(general) => general.fill(span, from, ends, most),
            Engine::Whole if from < span.len() && most > 0 => {
                ends.push(span.len());
                Ok(Filled { next: span.len(), settled: 0 })
            }
            Engine::Whole => Ok(Filled { next: from, settled: 0 }),
        }
    }

    /// Appends the ends of some pieces of `span[from..]`, as bytes behind `from`, and returns the last
    /// of them as an offset in `span`. This is [`Pretokenizer::fill`] for whole texts.
    pub fn chunk(&self, span: &str, from: usize, ends: &mut Vec<u32>) -> Result<usize> {
        self.chunk_at(Level::get(), span, from, ends)
    }

    /// [`Pretokenizer::chunk`] at a level of one's choice.
    pub fn chunk_at(
        &self,
        level: Level,
        span: &str,
        from: usize,
        ends: &mut Vec<u32>,
    ) -> Result<usize> {
        self.chunk_of(level, None::<&NoSeams>, span, from, ends)
    }

    /// [`Pretokenizer::chunk`] with pieces cut at `seams`.
    pub(crate) fn chunk_parted(
        &self,
        seams: Option<&impl Seams>,
        span: &str,
        from: usize,
        ends: &mut Vec<u32>,
    ) -> Result<usize> {
        self.chunk_of(Level::get(), seams, span, from, ends)
    }

    /// Appends the ends of some pieces of `span[from..]` that stay the same whatever text follows, as
    /// bytes behind `from`, and returns the last of them as an offset in `span`: `from` when there are
    /// none, or only [`Pretokenizer::fill`] can tell.
    pub(crate) fn settled_chunk(&self, span: &str, from: usize, ends: &mut Vec<u32>) -> usize {
        let Engine::Family(family, rules) = &self.engine else { return from };
        let (level, seams) = (Level::get(), None::<&NoSeams>);
        let job = blocks::Job { family, rules, level, seams, is_all: false };
        from + blocks::fill(&job, &span.as_bytes()[from..], ends)
    }

    fn chunk_of<S: Seams>(
        &self,
        level: Level,
        seams: Option<&S>,
        span: &str,
        from: usize,
        ends: &mut Vec<u32>,
    ) -> Result<usize> {
        let text = &span.as_bytes()[from..];
        let before = ends.len();
        let next = match &self.engine {
            Engine::Family(family, rules) => {
                let job = blocks::Job { family, rules, level, seams, is_all: true };
                let end = blocks::fill(&job, text, ends);
                if end == text.len() || end > 0 && text.len() - end >= blocks::LEAST {
                    return Ok(from + end);
                }
                // What is left is too short for words of bits, and not worth a call of its own.
                let blocks = ends.len();
                let next = scan::chunk(family, span, from + end, ends)?;
                if end > 0 {
                    let shift = u32::try_from(end).expect("a few thousand");
                    ends[blocks..].iter_mut().for_each(|tail| *tail += shift);
                    return Ok(next);
                }
                next
            }
            Engine::Whole | Engine::General(_) => {
                let mut places = Vec::new();
                let next = self.fill(span, from, &mut places, CHUNK)?.next;
                for end in places {
                    let end = end - from;
                    ends.push(u32::try_from(end).map_err(|_| Error::long_piece(end))?);
                }
                next
            }
        };
        if let Some(seams) = seams {
            part(seams, text, before, ends);
        }
        Ok(next)
    }

    /// The pieces of `span`, all of them.
    pub fn pieces<'a>(&self, span: &'a str) -> Result<Vec<&'a str>> {
        let mut ends = Vec::new();
        self.fill(span, 0, &mut ends, usize::MAX)?;
        let mut start = 0;
        Ok(ends.iter().map(|&end| &span[std::mem::replace(&mut start, end)..end]).collect())
    }

    /// The least `p >= from` at which `text` may be cut so that the pieces of the two parts are the
    /// pieces of the whole, as far as that is certain from the characters at `p`.
    ///
    /// So a long text can be given to many threads. `None` without a scanner, and where the rest of
    /// the text has no such place.
    ///
    /// ```
    /// use bytepair::pretokenize::{Pattern, Pretokenizer};
    ///
    /// let pretokenizer = Pretokenizer::new(&Pattern::named("cl100k").unwrap())?;
    /// assert_eq!(pretokenizer.safe_cut("one two", 1), Some(3));
    /// # Ok::<(), bytepair::Error>(())
    /// ```
    pub fn safe_cut(&self, text: &str, from: usize) -> Option<usize> {
        match self.engine {
            Engine::Family(..) => scan::safe_cut(text, from),
            Engine::Whole | Engine::General(_) => None,
        }
    }
}

/// Places in a text where a piece may be cut in two with the same ids.
pub(crate) trait Seams {
    /// Whether one lies at `at`, between two characters beyond ASCII of `text`.
    fn is_seam(&self, text: &[u8], at: usize) -> bool;

    /// Those of `places`, bits for such places of the 64 bytes from `first` on, where one lies.
    fn seams(&self, level: Level, text: &[u8], first: usize, places: u64) -> u64;
}

/// Nowhere.
struct NoSeams;

impl Seams for NoSeams {
    fn is_seam(&self, _: &[u8], _: usize) -> bool {
        false
    }

    fn seams(&self, _: Level, _: &[u8], _: usize, _: u64) -> u64 {
        0
    }
}

/// Cuts the pieces that end at `ends[before..]` at the seams of `text`, where they begin.
fn part(seams: &impl Seams, text: &[u8], before: usize, ends: &mut Vec<u32>) {
    let last = ends.last().map_or(0, |&end| end as usize);
    if text[..last].is_ascii() {
        return;
    }
    let whole = ends.split_off(before);
    let mut start = 0;
    for end in whole {
        for at in start + 1..end {
            let here = at as usize;
            if text[here] >= 0xC0 && text[here - 1] >= 0x80 && seams.is_seam(text, here) {
                ends.push(at);
            }
        }
        ends.push(end);
        start = end;
    }
}
