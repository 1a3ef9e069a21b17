//! The longest start or end of a stretch of text that fits a limit of tokens.
//!
//! In: a stretch in which no cut is known to be safe, and a limit. Out: how many bytes at one end of it
//! fit. More text may be fewer tokens, so no search by halves is exact: the candidates are tried from
//! the longest on. What makes that short is a bound: however a text is encoded, its ids are tokens
//! that cover it, so what cannot be covered with so many tokens cannot fit.
//!
//! Both ends are the same search: places are distances from the end that is kept. All of it is
//! bounded: when [`WORK`] bytes have been encoded, what the whole stretch's tokens say is taken, and
//! made longer while more fits within the longest token's length, with as much work again. In one
//! piece all of that costs little: of the tokens of a start, only the last few change with its end.

use crate::error::Result;
use crate::merge::heap::Heap;
use crate::pretokenize::Pattern;
use crate::reach::Known;
use crate::special::Policy;
use crate::tokenizer::Tokenizer;
use crate::watched::Pulse;

/// The longest stretch in which every character is tried without a bound.
const TRY_EACH: usize = 512;

/// How many bytes may be encoded to find the longest part, tens of milliseconds' worth.
pub(crate) const WORK: usize = 1 << 24;

/// The farthest bound that is looked for, in bytes; some tens of bytes of memory for each.
const BOUND_MOST: usize = 1 << 20;

/// How many tokens are looked up to find the bound: some tenths of a second.
const LOOKUPS: usize = 1 << 23;

/// Looking whether a text is one piece costs so much less than counting it.
const SCAN_SHARE: usize = 8;

/// Shorter texts are counted in less time than the longest token is found.
const ENDLESS: usize = 1 << 14;

/// Places gone through between two looks at the pulse.
const LISTEN: usize = 1 << 12;

/// Which end of the stretch is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    Start,
    End,
}

/// The search in one stretch.
pub(crate) struct Stretch<'a> {
    pub(crate) tokenizer: &'a Tokenizer,
    pub(crate) policy: &'a Policy,
    pub(crate) text: &'a str,
    pub(crate) most: usize,
    pub(crate) keep: Keep,
    /// Of this end, what other stretches have shown.
    pub(crate) known: &'a Known,
    pub(crate) pulse: &'a Pulse<'a>,
}

/// The tokens of a text from the end that is kept on, or the first of them.
pub(crate) struct Row {
    pub(crate) tokens: Vec<Token>,
    kind: Kind,
}

/// What is known of the text of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It may be several pieces.
    Pieces,
    /// It is one piece.
    Piece,
    /// Each part of it is one piece.
    Closed,
}

/// A token of a row, and the distance up to which the row goes with it.
pub(crate) struct Token {
    pub(crate) id: u32,
    pub(crate) to: usize,
}

impl<'a> Stretch<'a> {
    /// The bytes of the longest end that fits.
    pub(crate) fn longest(&self) -> Result<usize> {
        let whole = self.text.len();
        if let Some(found) = self.by_reach()? {
            return Ok(found);
        }
        if whole <= TRY_EACH {
            return self.longest_below(whole + 1);
        }
        if let Some(bound) = self.bound()?
            && let Some(found) = self.longest_within(bound)?
        {
            return Ok(found);
        }
        self.near_the_tokens()
    }

    /// The bytes from distance `from` to distance `to`.
    pub(crate) fn part(&self, from: usize, to: usize) -> &'a [u8] {
        let bytes = self.text.as_bytes();
        match self.keep {
            Keep::Start => &bytes[from..to],
            Keep::End => &bytes[bytes.len() - to..bytes.len() - from],
        }
    }

    pub(crate) fn kept(&self, distance: usize) -> &'a str {
        match self.keep {
            Keep::Start => &self.text[..distance],
            Keep::End => &self.text[self.text.len() - distance..],
        }
    }

    pub(crate) fn is_boundary(&self, distance: usize) -> bool {
        self.text.is_char_boundary(match self.keep {
            Keep::Start => distance,
            Keep::End => self.text.len() - distance,
        })
    }

    fn fits(&self, distance: usize) -> Result<bool> {
        let (text, limit) = (self.kept(distance), Some(self.most));
        Ok(self.tokenizer.count_until(text, self.policy, limit, self.pulse)? <= self.most)
    }

    /// The first that fits, from a distance below `from` downwards.
    fn longest_below(&self, from: usize) -> Result<usize> {
        for distance in (0..from).rev().filter(|&distance| self.is_boundary(distance)) {
            if self.fits(distance)? {
                return Ok(distance);
            }
        }
        Ok(0)
    }

    /// The greatest distance that `most` tokens can cover; nothing when it is too far.
    fn bound(&self) -> Result<Option<usize>> {
        let index = self.index();
        let whole = self.text.len();
        // The least tokens that cover up to each distance; a distance not in it is out of reach.
        let mut levels = vec![usize::MAX];
        levels[0] = 0;
        let (mut from, mut lookups) = (0, 0);
        while from < levels.len() {
            if from > BOUND_MOST || lookups > LOOKUPS {
                return Ok(None);
            }
            if from.is_multiple_of(LISTEN) {
                self.pulse.check()?;
            }
            let level = levels[from];
            if level < self.most {
                let lengths = index.lengths(self.part(from, whole.min(from + 4)));
                lookups += lengths.longest;
                for to in lengths.iter().map(|len| from + len).take_while(|&to| to <= whole) {
                    if self.tokenizer.token_id(self.part(from, to)).is_some() {
                        if to >= levels.len() {
                            levels.resize(to + 1, usize::MAX);
                        }
                        levels[to] = levels[to].min(level + 1);
                    }
                }
            }
            from += 1;
        }
        Ok(Some(levels.len() - 1))
    }

    /// The longest that fits of at most `bound` bytes; nothing when that takes too long to find.
    fn longest_within(&self, bound: usize) -> Result<Option<usize>> {
        let (mut heap, mut work, mut row) = (Heap::new(), WORK, None);
        for distance in (0..=bound).rev().filter(|&distance| self.is_boundary(distance)) {
            if row.is_none() && self.is_one_piece(distance, &mut work)? {
                if !spend(&mut work, distance) {
                    return Ok(None);
                }
                row = Some(self.row(distance, usize::MAX, &mut work)?);
            }
            match self.fits_by(row.as_ref(), distance, &mut heap, &mut work)? {
                Some(true) => return Ok(Some(distance)),
                Some(false) => {}
                None => return Ok(None),
            }
        }
        Ok(Some(0))
    }

    /// What the tokens of the whole stretch say, where the exact search takes too long: their first
    /// (or last) `most`, less what does not fit, and more while that fits within a token's length.
    fn near_the_tokens(&self) -> Result<usize> {
        let (whole, mut size) =
            (self.text.len(), self.most.saturating_mul(2).saturating_add(TRY_EACH));
        let (mut heap, mut work) = (Heap::new(), WORK);
        let row = loop {
            let mut distance = size.min(whole);
            while !self.is_boundary(distance) {
                distance -= 1;
            }
            let row = self.row(distance, self.most.saturating_add(1), &mut work)?;
            if row.tokens.len() > self.most {
                break row;
            }
            if distance == whole {
                return Ok(whole);
            }
            size = size.saturating_mul(2);
        };
        let reach = self.most.checked_sub(1).map_or(0, |last| row.tokens[last].to);
        let mut best = 0;
        for distance in (1..whole.min(reach + 1)).rev().filter(|&at| self.is_boundary(at)) {
            let fits = self.fits_by(Some(&row), distance, &mut heap, &mut work)?;
            if fits.map_or_else(|| self.fits(distance), Ok)? {
                best = distance;
                break;
            }
        }
        let (longest, mut distance) = (self.tokenizer.longest_token(), best);
        while distance + 1 < whole && distance - best <= longest {
            distance += 1;
            if !self.is_boundary(distance) {
                continue;
            }
            match self.fits_by(Some(&row), distance, &mut heap, &mut work)? {
                Some(true) => best = distance,
                Some(false) => {}
                None => break,
            }
        }
        Ok(best)
    }

    /// The first tokens, `most` at most, of what is kept up to `distance`.
    pub(crate) fn row(&self, distance: usize, most: usize, work: &mut usize) -> Result<Row> {
        let (text, mut ids) = (self.kept(distance), Vec::new());
        self.tokenizer.encode_until(text, self.policy, &mut ids, self.pulse)?;
        if self.keep == Keep::End {
            ids.reverse();
        }
        let kind = if !self.is_one_piece(distance, work)? {
            Kind::Pieces
        } else if self.is_closed(text) {
            Kind::Closed
        } else {
            Kind::Piece
        };
        let token = |to: &mut usize, id| {
            *to += self.tokenizer.token_bytes(id).map_or(0, <[u8]>::len);
            Some(Token { id, to: *to })
        };
        Ok(Row { tokens: ids.into_iter().take(most).scan(0, token).collect(), kind })
    }

    /// Whether what is kept up to `distance` fits; nothing when there is not so much work left.
    fn fits_by(
        &self,
        row: Option<&Row>,
        distance: usize,
        heap: &mut Heap,
        work: &mut usize,
    ) -> Result<Option<bool>> {
        if let Some(row) = row
            && let Some(count) = self.count_by(row, distance, heap, work)?
        {
            return Ok(Some(count <= self.most));
        }
        if spend(work, distance) { self.fits(distance).map(Some) } else { Ok(None) }
    }

    /// The number of tokens up to `distance`, if that is one piece, by the row of a longer or shorter
    /// one; nothing when that cannot be told with the work that is left.
    fn count_by(
        &self,
        row: &Row,
        distance: usize,
        heap: &mut Heap,
        work: &mut usize,
    ) -> Result<Option<usize>> {
        let is_one = match row.kind {
            Kind::Pieces => false,
            Kind::Piece => self.is_one_piece(distance, work)?,
            Kind::Closed => !self.is_token(self.kept(distance)),
        };
        if !is_one {
            return Ok(None);
        }
        self.merged(row, distance, heap, work)
    }

    /// Whether all up to `distance` is one piece that merging alone decides.
    pub(crate) fn is_one_piece(&self, distance: usize, work: &mut usize) -> Result<bool> {
        let pretokenizer = self.tokenizer.pretokenizer();
        if *pretokenizer.pattern() != Pattern::None && !spend(work, distance / SCAN_SHARE) {
            return Ok(false);
        }
        let text = self.kept(distance);
        if self.policy.find(text, 0).is_some() || self.is_token(text) {
            return Ok(false);
        }
        let mut ends = Vec::new();
        Ok(pretokenizer.fill(text, 0, &mut ends, 1)?.next == text.len())
    }

    /// Whether a piece is not merged, because it is looked up and found, and merging may not give that.
    pub(crate) fn is_token(&self, piece: &str) -> bool {
        let model = self.tokenizer.model();
        model.whole_pieces()
            && !model.is_trained()
            && piece.len() <= self.tokenizer.longest_token()
            && self.tokenizer.token_id(piece.as_bytes()).is_some()
    }

    /// Whether each part of `text`, which is one piece, is one too, as far as is known.
    pub(crate) fn is_closed(&self, text: &str) -> bool {
        let pattern = self.tokenizer.pretokenizer().pattern();
        // A special token that must be a word of its own may stand in a part alone.
        self.tokenizer.special().flags().len() == 0
            && (*pattern == Pattern::None || pattern.name().is_some() && is_of_one_kind(text))
    }
}

/// Whether each part of a piece like this is one, in each named pattern: letters of ASCII, or letters
/// and marks none of which is upper case (in o200k a letter without case is both upper and lower), or
/// signs, or marks, or digits of ASCII (where more than three are one), or white space without line
/// ends, or one character again and again.
fn is_of_one_kind(text: &str) -> bool {
    let is_lower = |c: char| c.is_alphabetic() && !c.is_uppercase() && c.to_lowercase().eq([c]);
    let is_blank = |c: char| c.is_whitespace() && c != '\r' && c != '\n';
    let first = text.chars().next();
    text.bytes().all(|byte| byte.is_ascii_alphabetic())
        || text.chars().all(is_sign)
        || text.chars().all(is_lower)
        || text.chars().all(is_blank)
        || text.chars().all(|c| matches!(c, '\u{300}'..='\u{36f}'))
        || text.bytes().all(|byte| byte.is_ascii_digit())
        || text.chars().all(|c| Some(c) == first)
}

/// Whether this is neither letter nor number, mark nor white space, as far as is known here.
fn is_sign(c: char) -> bool {
    match c {
        '\0'..='\x7f' => c.is_ascii_punctuation() || c.is_ascii_control() && !c.is_whitespace(),
        '\u{200d}'
        | '\u{2010}'..='\u{2027}'
        | '\u{2030}'..='\u{205e}'
        | '\u{ff01}'..='\u{ff0f}'
        | '\u{ff1a}'..='\u{ff20}' => true,
        '\u{2190}'..='\u{2bff}' | '\u{3001}'..='\u{3020}' | '\u{1f000}'..='\u{1faff}' => {
            !c.is_numeric() && !c.is_alphabetic()
        }
        _ => false,
    }
}

/// Takes `bytes` of the work that is left; false when there is not so much.
pub(crate) fn spend(work: &mut usize, bytes: usize) -> bool {
    let enough = bytes <= *work;
    *work = work.saturating_sub(bytes);
    enough
}

impl Tokenizer {
    /// The bytes of the longest token.
    pub(crate) fn longest_token(&self) -> usize {
        *self.longest.get_or_init(|| {
            let vocab = self.model().vocab().iter().map(|(_, bytes)| bytes.len()).max();
            let names = self.special().iter().chain(self.special().added());
            vocab.max(names.map(|(token, _)| token.len()).max()).unwrap_or(0)
        })
    }

    /// Whether so many bytes of text have more than `limit` ids, whatever they are: none of its tokens
    /// covers more than the longest. So a limit is passed at once even in one endless word.
    pub(crate) fn is_beyond(&self, bytes: usize, limit: Option<usize>) -> bool {
        let covers = |limit: usize| limit.saturating_mul(self.longest_token());
        // Where ids stand for more text than their tokens have, nothing is known.
        limit.is_some_and(|limit| bytes > ENDLESS && bytes > covers(limit))
            && self.normalizer().is_none()
            && self.model().symbols().is_none()
            && self.special().flags().len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pretokenize::{Pretokenizer, pattern_names};

    #[test]
    fn of_one_kind_each_part_of_a_piece_is_one() {
        let kinds = [
            "aZ",
            "\u{e9}\u{df}",
            "\u{4e00}\u{3042}",
            "/*_-\0\x1b",
            "\u{1f468}\u{200d}\u{2764}",
            " \t",
            "\u{a0}\u{3000}",
            "\u{301}\u{327}",
            "07",
            "\n",
            "\r",
            "\u{661}",
            "\u{2028}",
            "\u{903}",
            "\u{ff01}\u{3002}",
            "\u{1c5}",
            "'",
            "\u{2cb}",
            "\u{1}",
            "\u{ad}",
            "A",
            "\u{1d400}",
            "\u{10ffff}",
        ];
        let mut tried = 0;
        for name in pattern_names() {
            let pattern = Pattern::named(name).expect("it is listed");
            let pretokenizer = Pretokenizer::new(&pattern).expect("it is named");
            let is_one = |text: &str| {
                let mut ends = Vec::new();
                let filled = pretokenizer.fill(text, 0, &mut ends, 1).expect("it is named");
                filled.next == text.len()
            };
            for (kind, seed) in
                kinds.iter().flat_map(|kind| (0..40_usize).map(move |seed| (kind, seed)))
            {
                let signs: Vec<char> = kind.chars().collect();
                let sign = |at: usize| signs[(at * at * 7 + at * seed + at / 3) % signs.len()];
                let text: String = (0..36).map(sign).collect();
                if !is_one(&text) || !is_of_one_kind(&text) {
                    continue;
                }
                tried += 1;
                for (from, _) in text.char_indices() {
                    for (at, last) in text[from..].char_indices() {
                        let part = &text[from..from + at + last.len_utf8()];
                        assert!(is_one(part), "{name} {part:?} of {text:?}");
                    }
                }
            }
        }
        assert!(tried > 4000, "{tried}");
    }
}
