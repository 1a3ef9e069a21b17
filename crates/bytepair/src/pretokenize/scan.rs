//! The scanner: cuts text by a [`Family`], one class look-up per character.
//!
//! In: a span and a piece boundary in it. Out: where the piece ends. Linear and without recursion:
//! a character is looked at a few times, however long the run it stands in. What a piece is and
//! why is said where the alternatives are listed, in [`super::family`].
//!
//! The [`Reader`] remembers whether it was ever asked for what lies beyond the span. If not, the
//! piece is the same whatever text follows, and so are all before it: they are settled.

use super::Filled;
use super::classes::{self, Class, KANA_HAN, LETTER, MARK, NEWLINE, NUMBER, OTHER, SPACE};
use super::classes::{CASELESS, LOWER, SYMBOL, UPPER, WHITE};
use super::family::{BODY, Contraction, Family, First, HEAD, White, Words};
use crate::error::{Error, Result};

/// Text being read, through the window that [`First`] leaves.
pub(super) struct Reader<'a> {
    text: &'a [u8],
    /// Whether something beyond the span was asked for.
    end_seen: bool,
    /// A character is beyond the window unless its class, cut down to these bits, ...
    edge: Class,
    /// ... is this.
    inside: Class,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, end_seen: false, edge: 0, inside: 0 }
    }

    /// The class and length of the character at `at`; class 0 at the end of the span or window.
    #[inline]
    fn class(&mut self, at: usize) -> (Class, usize) {
        let (class, length) = classes::at(self.text, at);
        if length == 0 {
            self.end_seen = true;
        } else if class & self.edge != self.inside {
            return (0, 0);
        }
        (class, length)
    }

    /// The byte at `at`, 0 at the end of the span; for ASCII after ASCII of the same window.
    #[inline]
    fn byte(&mut self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or_else(|| {
            self.end_seen = true;
            0
        })
    }

    /// The end of the run of `class` that starts at `at`, which may be empty.
    #[inline]
    fn run(&mut self, mut at: usize, class: Class) -> usize {
        // ASCII letters, most of all text, lie within every window but that of kana and han.
        let letters = if self.inside == 0 { class & LETTER } else { 0 };
        let mut length = 1;
        loop {
            // Not after a longer character: what follows that is mostly another.
            if length == 1 && letters != 0 {
                at = ascii_letters(self.text, at, letters & UPPER != 0);
            }
            let found;
            (found, length) = self.class(at);
            if found & class == 0 {
                return at;
            }
            at += length;
        }
    }
}

/// Goes past ASCII letters, lower and perhaps upper, from `at`, and stops at the latest where fewer
/// than eight bytes are left.
///
/// Eight bytes at a time, because the end of a loop over bytes, different for each word, is what
/// branch prediction fails at (244 against 338 MB/s, gpt2 on English prose, 2-core x86).
#[inline]
fn ascii_letters(text: &[u8], mut at: usize, upper: bool) -> usize {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * EACH;
    let fold = if upper { 0x20 * EACH } else { 0 };
    while let Some(eight) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let bytes = u64::from_le_bytes(*eight);
        // In each byte bit 7 says: at least `a`, more than `z`, not ASCII.
        let low = (bytes | fold) & !HIGH;
        let from_a = low + EACH * (0x80 - u64::from(b'a'));
        let past_z = low + EACH * (0x7F - u64::from(b'z'));
        let others = (!from_a | past_z | bytes) & HIGH;
        if others != 0 {
            return at + (others.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    at
}

/// Appends the ends of at most `most` pieces of `span[from..]`.
pub(super) fn fill(
    family: &Family,
    span: &str,
    from: usize,
    ends: &mut Vec<usize>,
    most: usize,
) -> Filled {
    let mut reader = Reader::new(span.as_bytes());
    let (mut next, mut settled, mut count) = (from, 0, 0);
    while next < span.len() && count < most {
        next = family.piece(&mut reader, next);
        ends.push(next);
        count += 1;
        if !reader.end_seen {
            settled = count;
        }
    }
    Filled { next, settled }
}

/// Bytes after which [`chunk`] ends: enough to be worth a call.
const CHUNK: usize = 4096;

/// Appends the ends of pieces of `span[from..]`, as bytes behind `from`, and returns the last end.
pub(super) fn chunk(
    family: &Family,
    span: &str,
    from: usize,
    ends: &mut Vec<u32>,
) -> Result<usize> {
    let mut reader = Reader::new(span.as_bytes());
    let last = span.len().min(from.saturating_add(CHUNK));
    let mut next = from;
    while next < last {
        let start = next;
        next = family.piece(&mut reader, start);
        ends.push(u32::try_from(next - from).map_err(|_| Error::long_piece(next - start))?);
    }
    Ok(next)
}

/// The least `p >= from` at which `text` may be cut in two that give the same pieces apart.
///
/// It lies after a letter and before what is neither letter, mark nor apostrophe, or after a number
/// and before what is none. Proof, for every family of this module:
///
/// - A piece ends at `p`. The only alternatives that take a letter are contraction, word and ASCII
///   word; after a letter they take letters, marks or (a contraction after a word) an apostrophe.
///   A number is no lead, no symbol and no white space, so only the number alternative takes it,
///   and that takes nothing but numbers after it.
/// - The pieces before `p` do not change when the text ends there. One that looks at `p` has
///   reached it through the character before: a run or an expected second letter, which stops at
///   what follows just as at the end. Only white space asks whether the text ends, and no white
///   space stands before `p`.
/// - The pieces after `p` do not change, for no alternative looks back.
pub(super) fn safe_cut(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = (from..=bytes.len()).find(|&at| text.is_char_boundary(at))?;
    let mut last = classes::before(bytes, at);
    loop {
        let (class, length) = classes::at(bytes, at);
        if length == 0 {
            return None;
        }
        let after_letter =
            last & LETTER != 0 && class & (LETTER | MARK) == 0 && bytes.get(at) != Some(&b'\'');
        if after_letter || (last & NUMBER != 0 && class & NUMBER == 0) {
            return Some(at);
        }
        last = class;
        at += length;
    }
}

impl Family {
    /// The end of the piece that starts at `start`.
    #[inline]
    pub(super) fn piece(&self, reader: &mut Reader<'_>, start: usize) -> usize {
        if self.first != First::Nothing {
            let (class, _) = classes::at(reader.text, start);
            (reader.edge, reader.inside) = (0, 0);
            if class & NUMBER != 0 {
                return self.number(reader, start);
            }
            let kana_han = if self.first == First::Numbers { 0 } else { KANA_HAN };
            (reader.edge, reader.inside) = (NUMBER | kana_han, class & kana_han);
        }
        let (class, length) = reader.class(start);
        let next = start + length;
        if class & self.word != 0 {
            return self.word(reader, start, class, next);
        }
        if let Some(end) = self.after_symbol(reader, start, class) {
            return end;
        }
        if class & (self.lead | SPACE) != 0 {
            let (second, length) = reader.class(next);
            if class & self.lead != 0 && second & self.word != 0 {
                return self.word(reader, next, second, next + length);
            }
            if class & self.number_lead != 0 && second & NUMBER != 0 {
                return self.number(reader, next);
            }
            if class == SPACE && second & self.symbol != 0 {
                return self.symbols(reader, next + length);
            }
        }
        if class & NUMBER != 0 {
            self.number(reader, start)
        } else if class & self.symbol != 0 {
            self.symbols(reader, next)
        } else if class & WHITE != 0 {
            self.white(reader, start, class, next)
        } else {
            self.unmatched(reader, next)
        }
    }

    /// A word without its lead: it starts at `start` with a character of `class`, after which is
    /// `next`.
    #[inline]
    fn word(&self, reader: &mut Reader<'_>, start: usize, class: Class, next: usize) -> usize {
        if self.words != Words::Cased {
            return reader.run(next, self.word);
        }
        let end = cased_word(reader, start, class, next);
        if self.contraction == Contraction::Suffix { contraction(reader, end, true) } else { end }
    }

    /// A contraction, or an ASCII symbol and the ASCII letters after it.
    #[inline]
    fn after_symbol(&self, reader: &mut Reader<'_>, start: usize, class: Class) -> Option<usize> {
        if class != SYMBOL {
            return None;
        }
        let any_case = match (self.contraction, self.words) {
            (Contraction::PieceLower, _) => false,
            (Contraction::PieceAnyCase, _) => true,
            (_, Words::RunOrAsciiAfterSymbol) => {
                let ascii = reader.text.get(start).is_some_and(u8::is_ascii);
                if !ascii || !reader.byte(start + 1).is_ascii_alphabetic() {
                    return None;
                }
                let mut end = start + 2;
                while reader.byte(end).is_ascii_alphabetic() {
                    end += 1;
                }
                return Some(end);
            }
            _ => return None,
        };
        let end = contraction(reader, start, any_case);
        (end > start).then_some(end)
    }

    /// A number that starts at `start`.
    fn number(&self, reader: &mut Reader<'_>, start: usize) -> usize {
        let mut at = start;
        for _ in 0..self.most_digits {
            let (class, length) = reader.class(at);
            if class & NUMBER == 0 {
                break;
            }
            at += length;
        }
        at
    }

    /// The rest of a run of symbols, and its tail.
    fn symbols(&self, reader: &mut Reader<'_>, next: usize) -> usize {
        let mut end = reader.run(next, self.symbol);
        // A newline may lie beyond the window, so it is asked for by class.
        while !self.tail.is_empty()
            && reader.class(end).1 == 1
            && reader.text.get(end).is_some_and(|byte| self.tail.contains(byte))
        {
            end += 1;
        }
        end
    }

    /// White space that starts at `start`, of which `next` is the second character.
    fn white(&self, reader: &mut Reader<'_>, start: usize, class: Class, next: usize) -> usize {
        let mut last = start;
        let mut at = next;
        let mut after_newline = if class == NEWLINE { next } else { start };
        let at_end = loop {
            let (class, length) = reader.class(at);
            if class & WHITE == 0 {
                break class == 0;
            }
            last = at;
            at += length;
            if class == NEWLINE {
                after_newline = at;
            }
        };
        let newline = match self.white {
            White::Run => false,
            White::Newline => after_newline > start,
            White::NewlineUnlessEnd => after_newline > start && !at_end,
        };
        if newline {
            after_newline
        } else if at_end || last == start {
            at
        } else {
            last
        }
    }

    /// Characters that nothing matches, up to the next match; the first ends at `at`.
    fn unmatched(&self, reader: &mut Reader<'_>, mut at: usize) -> usize {
        loop {
            let (class, length) = reader.class(at);
            // The last one before a word is its lead.
            if class & OTHER == 0 || reader.class(at + length).0 & self.word != 0 {
                return at;
            }
            at += length;
        }
    }
}

/// `U*L+` or else `U+L*`, see [`Words::Cased`], from the first character, of `class`, at `start`.
///
/// `U*` takes all it can, up to `at`. A lower letter there goes on with `L+`. Otherwise `U*` gives
/// back until `L+` finds one: the last caseless letter or mark, which ends the word. There is none:
/// `U+` takes it all.
///
/// That a mark may also be the lead of a word changes nothing. If `U*L+` matches after it, it
/// matches to the same end with it. If not, only upper letters follow, and the regular expression
/// tries `U*L+` without lead before `U+L*` with one: the mark alone, as here.
#[inline]
fn cased_word(reader: &mut Reader<'_>, start: usize, class: Class, next: usize) -> usize {
    let mut class = class;
    let (mut at, mut next) = (start, next);
    let mut after_caseless = start;
    while class & HEAD != 0 {
        at = next;
        if class & (CASELESS | MARK) != 0 {
            after_caseless = at;
        }
        let (following, length) = reader.class(at);
        class = following;
        next = at + length;
    }
    if class & LOWER != 0 {
        reader.run(next, BODY)
    } else if after_caseless > start {
        after_caseless
    } else {
        at
    }
}

/// The end of the contraction at `at`, or `at`.
pub(super) fn contraction_at(text: &[u8], at: usize, any_case: bool) -> usize {
    contraction(&mut Reader::new(text), at, any_case)
}

/// The end of the contraction at `at`, or `at`.
#[inline]
fn contraction(reader: &mut Reader<'_>, at: usize, any_case: bool) -> usize {
    if reader.byte(at) != b'\'' {
        return at;
    }
    let mut letter = |place: usize| {
        let byte = reader.byte(place);
        if any_case { byte.to_ascii_lowercase() } else { byte }
    };
    let expected = match letter(at + 1) {
        b's' | b't' | b'm' | b'd' => return at + 2,
        b'l' => b'l',
        b'v' | b'r' => b'e',
        // U+017F is the one character outside ASCII that folds to one of these letters.
        0xC5 if any_case && letter(at + 2) == 0xBF => return at + 3,
        _ => return at,
    };
    if letter(at + 2) == expected { at + 3 } else { at }
}
