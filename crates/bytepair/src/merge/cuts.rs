//! Where a piece can be cut before it is merged, with the same ids.
//!
//! Between two characters that stand next to each other in no token, no merge ever joins: what a
//! merge makes is a token. So the ids of a piece are those of its segments between such places. In
//! scripts without spaces pieces are long and seldom met again, and their segments are neither.
//! Only places between two characters beyond ASCII are looked for; words of ASCII letters have few.
//!
//! A filter of hashed bits holds the pairs of characters that some token has side by side. A token
//! may begin or end inside a character; such a one forbids cuts between the byte before and the byte
//! after that place, whatever the rest of the two characters. A filter may say that a pair is in a
//! token when it is in none, which costs a cut and no more.
//!
//! Where a piece that is a token is taken whole, a token may be another than what merging gives for
//! its bytes (588 of Llama 3). As a segment it would be taken whole too, so no cut is made where such a
//! token begins or ends in the text.

use hashbrown::HashMap;

use super::Model;
use super::heap::Heap;
use crate::pretokenize::Seams;
use crate::simd::Level;
use crate::simd::pairs::{Filter, among, hashed_bit};

/// The places where merges may join.
#[derive(Debug)]
pub struct Cuts {
    filter: Filter,
    /// Tokens that only a whole piece becomes, by their first bytes.
    heads: Edge,
    /// The same by their last ones.
    tails: Edge,
}

/// Four bytes.
type Four = [u8; 4];

/// Tokens by the four bytes at one of their ends.
#[derive(Debug)]
struct Edge {
    /// Hashed bits of the four bytes.
    bits: Box<[u64; 1 << (EDGE_BITS - 6)]>,
    tokens: HashMap<Four, Few>,
    /// Those of fewer bytes.
    short: Few,
}

/// Tokens, or `None` for more than are worth comparing.
type Few = Option<Vec<Box<[u8]>>>;

/// log2 of the bits: 8 KiB, of which 588 tokens fill a hundredth.
const EDGE_BITS: u32 = 16;

/// The most tokens to be compared at a place, and the most bytes of one.
const COMPARED: (usize, usize) = (16, 64);

impl Edge {
    fn new() -> Self {
        let bits = Box::new([0; 1 << (EDGE_BITS - 6)]);
        Self { bits, tokens: HashMap::new(), short: Some(Vec::new()) }
    }

    #[inline(always)]
    fn bit(four: Four) -> (usize, u64) {
        hashed_bit(u32::from_le_bytes(four).into(), EDGE_BITS)
    }

    fn add(&mut self, four: Option<&Four>, token: &[u8]) {
        let tokens = if let Some(&four) = four {
            let (word, bit) = Self::bit(four);
            self.bits[word] |= bit;
            self.tokens.entry(four).or_insert_with(|| Some(Vec::new()))
        } else {
            self.bits.fill(u64::MAX);
            &mut self.short
        };
        let (most, longest) = COMPARED;
        match tokens {
            Some(few) if few.len() < most && token.len() <= longest => few.push(token.into()),
            _ => *tokens = None,
        }
    }

    /// Whether there may be tokens with these bytes.
    #[inline(always)]
    fn may(&self, four: Four) -> bool {
        let (word, bit) = Self::bit(four);
        self.bits[word] & bit != 0
    }

    /// Whether a token with these bytes is one that the text has, or may be.
    fn has(&self, four: Four, is_here: impl Fn(&[u8]) -> bool) -> bool {
        let is_one_of =
            |tokens: &Few| tokens.as_ref().is_none_or(|few| few.iter().any(|token| is_here(token)));
        is_one_of(&self.short) || self.tokens.get(&four).is_some_and(is_one_of)
    }

    fn is_empty(&self) -> bool {
        self.tokens.is_empty() && self.short.as_ref().is_some_and(Vec::is_empty)
    }
}

fn is_inside(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// The character that starts at `at`, or as much of it as there is.
fn character(bytes: &[u8], at: usize) -> &[u8] {
    let len = 1 + bytes[at + 1..].iter().take(3).take_while(|&&byte| is_inside(byte)).count();
    &bytes[at..at + len]
}

/// Whether `bytes`, of a character from its first byte on, are all of it.
fn is_whole(bytes: &[u8]) -> bool {
    let expected = match bytes[0] {
        0..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    };
    bytes[0] < 0x80 || bytes.len() == expected
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

impl Cuts {
    /// Those of `model`; nothing where merging begins with characters, which [`crate::symbols`] cuts
    /// itself.
    pub fn new(model: &Model) -> Option<Self> {
        if model.symbols().is_some() {
            return None;
        }
        let mut cuts = Self::none();
        let (mut heap, mut ids) = (Heap::new(), Vec::new());
        for (_, token) in model.vocab().iter().filter(|(_, token)| !token.is_ascii()) {
            cuts.add(token);
            // A segment is whole characters, as a piece is.
            if model.whole_pieces() && !model.is_trained() && str::from_utf8(token).is_ok() {
                ids.clear();
                let merged = model.merge_parts(token, &mut heap, &mut ids);
                if merged.is_err() || ids.first().copied() != model.vocab().id(token) {
                    cuts.heads.add(token.first_chunk(), token);
                    cuts.tails.add(token.last_chunk(), token);
                }
            }
        }
        Some(cuts)
    }

    fn none() -> Self {
        Self { filter: Filter::new(), heads: Edge::new(), tails: Edge::new() }
    }

    /// Whether [`Cuts::is_edge`] must be asked. No branch: what the bytes are, none would guess.
    #[inline(always)]
    fn may_be_edge(&self, text: &[u8], at: usize) -> bool {
        let (before, after) = text.split_at(at);
        let (Some(&last), Some(&first)) = (before.last_chunk(), after.first_chunk()) else {
            return true;
        };
        self.heads.may(first) | self.tails.may(last)
    }

    /// Whether a token that only a whole piece becomes may begin or end at `at`.
    fn is_edge(&self, text: &[u8], at: usize) -> bool {
        let (before, after) = text.split_at(at);
        let (Some(&last), Some(&first)) = (before.last_chunk(), after.first_chunk()) else {
            return true;
        };
        self.heads.has(first, |token| after.starts_with(token))
            || self.tails.has(last, |token| before.ends_with(token))
    }

    fn add(&mut self, token: &[u8]) {
        let mut left: Option<&[u8]> = None;
        let mut at = token.iter().take_while(|&&byte| is_inside(byte)).count();
        while at < token.len() {
            let right = character(token, at);
            match left {
                Some(left) if is_whole(right) => self.filter.add_pair(number(left), number(right)),
                _ if at > 0 => self.filter.add_part(token[at - 1], token[at]),
                _ => {}
            }
            left = Some(right);
            at += right.len();
        }
    }
}

impl Seams for Cuts {
    #[inline(always)]
    fn is_seam(&self, text: &[u8], at: usize) -> bool {
        self.filter.lacks(text, at) && (self.heads.is_empty() || !self.is_edge(text, at))
    }

    #[inline(always)]
    fn seams(&self, level: Level, text: &[u8], first: usize, places: u64) -> u64 {
        let seams = level.lacking(&self.filter, text, first, places);
        if self.heads.is_empty() {
            return seams;
        }
        let doubtful = among(seams, first, |at| self.may_be_edge(text, at));
        seams & !among(doubtful, first, |at| self.is_edge(text, at))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::super::memory::Memory;
    use super::*;
    use crate::pretokenize::{Pattern, Pretokenizer};
    use crate::vocab::Vocab;

    const PARTS: &[&str] =
        &["\u{4e2d}", "\u{56fd}", "\u{4e8d}", "\u{e9}", "\u{1f600}", "a", "\u{3002}"];

    fn text(most: usize) -> impl Strategy<Value = String> {
        prop::collection::vec(select(PARTS), 1..most).prop_map(|parts| parts.concat())
    }

    /// A model that merges the pairs of `sample` at the places `choices`, one after the other.
    /// Others are tokens that no merge makes.
    fn model(sample: &str, choices: &[usize], others: &[String], whole_pieces: bool) -> Model {
        let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
        let mut merges = Vec::new();
        let mut parts: Vec<u32> = sample.bytes().map(u32::from).collect();
        for choice in choices.iter().take_while(|_| sample.len() > 1) {
            let at = choice % (parts.len() - 1).max(1);
            let &[left, right] = &parts[at..(at + 2).min(parts.len())] else { break };
            let joined = [&tokens[left as usize][..], &tokens[right as usize]].concat();
            if tokens.contains(&joined) {
                continue;
            }
            let id = u32::try_from(tokens.len()).unwrap();
            tokens.push(joined);
            merges.push((left, right));
            let mut merged = Vec::new();
            let mut rest = &parts[..];
            while let Some((&first, others)) = rest.split_first() {
                let joins = first == left && others.first() == Some(&right);
                merged.push(if joins { id } else { first });
                rest = if joins { &others[1..] } else { others };
            }
            parts = merged;
        }
        for other in others.iter().map(String::as_bytes) {
            if !tokens.iter().any(|token| token == other) {
                tokens.push(other.to_vec());
            }
        }
        Model::from_merges(Vocab::new((0..).zip(tokens)).unwrap(), merges, whole_pieces).unwrap()
    }

    proptest! {
        #[test]
        fn segments_give_the_ids_of_the_piece(
            sample in text(12),
            choices in prop::collection::vec(0_usize..1000, 0..24),
            others in prop::collection::vec(text(4), 0..4),
            pieces in prop::collection::vec(text(30), 1..12),
            whole_pieces: bool,
        ) {
            let model = model(&sample, &choices, &others, whole_pieces);
            // Some pieces are such a token.
            let pieces: Vec<String> = pieces.into_iter().chain(others).collect();
            let cuts = Cuts::new(&model);
            prop_assert!(cuts.is_some());
            let (mut memory, mut heap) = (Memory::new(), Heap::new());
            let (mut ids, mut expected) = (Vec::new(), Vec::new());
            let whole = Pretokenizer::new(&Pattern::None).unwrap();
            for piece in &pieces {
                model.merge(piece.as_bytes(), &mut heap, &mut expected).unwrap();
                let mut ends = Vec::new();
                whole.chunk_parted(cuts.as_ref(), piece, 0, &mut ends).unwrap();
                memory.merge_all(&model, piece.as_bytes(), 0, &ends, &mut ids).unwrap();
            }
            prop_assert_eq!(ids, expected);
        }
    }

    #[test]
    fn seams_lie_where_no_token_joins() {
        // Places 4, 7 and 10 lie between two characters, with enough text around them.
        let text = " \u{4e2d}\u{56fd}\u{4e2d}\u{4e2d}a\u{e9}".as_bytes();
        let seams = |tokens: &[&[u8]]| {
            let mut cuts = Cuts::none();
            for token in tokens {
                cuts.add(token);
            }
            [4, 7, 10].map(|at| cuts.is_seam(text, at))
        };
        assert_eq!(seams(&[]), [true; 3]);
        assert_eq!(seams(&["\u{4e2d}\u{56fd}".as_bytes()]), [false, true, true]);
        // The first byte of the second character, or its first two.
        assert_eq!(seams(&[b"\xe4\xb8\xad\xe5"]), [false, true, true]);
        assert_eq!(seams(&[b"\xe4\xb8\xad\xe5\x9b"]), [false, true, true]);
        // The last two bytes of the first character.
        assert_eq!(seams(&[b"\xb8\xad\xe5\x9b\xbd"]), [false, true, true]);
        assert_eq!(seams(&[b"\xad\xe5"]), [false, true, true]);
        assert_eq!(seams(&[b"\xb8\xad"]), [true; 3]);
        // Characters of two and of four bytes.
        let text = "\u{1f600}\u{e9}\u{1f601}\u{1f602}".as_bytes();
        let mut cuts = Cuts::none();
        assert_eq!([4, 6, 10].map(|at| cuts.is_seam(text, at)), [true; 3]);
        cuts.add(&text[..6]);
        assert_eq!([4, 6, 10].map(|at| cuts.is_seam(text, at)), [false, true, true]);
        cuts.add(&text[4..10]);
        cuts.add(&text[6..]);
        assert_eq!([4, 6, 10].map(|at| cuts.is_seam(text, at)), [false; 3]);
    }

    #[test]
    fn no_segment_is_a_token_that_only_a_whole_piece_becomes() {
        let tokens = (0..=255).map(|byte| (u32::from(byte), vec![byte]));
        let vocab = || Vocab::new(tokens.clone().chain([(256, "\u{e9}".into())])).unwrap();
        let text = "\u{4e2d}\u{e9}\u{4e2d}\u{4e2d}\u{4e2d}".as_bytes();
        let seams = |merges, whole_pieces| {
            let model = Model::from_merges(vocab(), merges, whole_pieces).unwrap();
            let cuts = Cuts::new(&model).unwrap();
            [5, 8].map(|at| cuts.is_seam(text, at))
        };
        assert_eq!(seams(vec![], true), [false, true]);
        assert_eq!(seams(vec![], false), [true, true]);
        assert_eq!(seams(vec![(0xC3, 0xA9)], true), [true, true]);
    }

    /// A place is a seam unless such a token begins or ends there, or more of them may than are compared.
    #[test]
    fn tokens_that_only_a_whole_piece_becomes_are_compared() {
        let text = "\u{4e2d}\u{4e2d}\u{e9}\u{4e2d}\u{4e2d}\u{4e2d}".as_bytes();
        let seams = |tokens: &[String]| {
            let mut cuts = Cuts::none();
            for token in tokens.iter().map(String::as_bytes) {
                cuts.heads.add(token.first_chunk(), token);
                cuts.tails.add(token.last_chunk(), token);
            }
            [6, 8, 11].map(|at| cuts.is_seam(text, at))
        };
        let token = |token: &str| seams(&[token.to_owned()]);
        assert_eq!(token("\u{e9}\u{4e2d}"), [false, true, false]);
        assert_eq!(token("\u{4e2d}\u{e9}"), [true, false, true]);
        assert_eq!(token("\u{e9}"), [false, false, true]);
        assert_eq!(token("\u{e9}\u{4e8d}"), [true; 3]);
        let many: Vec<_> = ('a'..='z').map(|end| format!("\u{e9}\u{4e2d}{end}")).collect();
        assert_eq!(seams(&many[..COMPARED.0]), [true; 3]);
        assert_eq!(seams(&many), [false, true, true]);
        let short: Vec<_> = ('a'..='z').map(|end| format!("\u{e8}{end}")).collect();
        assert_eq!(seams(&short), [false; 3]);
        let long = format!("{}\u{e9}", "\u{4e2d}".repeat(COMPARED.1));
        assert_eq!(token(&long), [true, false, false]);
    }
}
