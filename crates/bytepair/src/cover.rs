//! Which tokens may cover a place in a text, so that few are looked up.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::longest::Keep;
use crate::tokenizer::Tokenizer;

/// The lengths of the tokens that begin alike, tokens and special tokens as they are written, by their
/// two and their four bytes nearest to the end that is kept.
#[derive(Debug)]
pub(crate) struct Index {
    keep: Keep,
    longest: HashMap<[u8; 2], usize, RandomState>,
    lengths: HashMap<[u8; 4], u64, RandomState>,
}

/// The lengths that tokens at a place may have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lengths {
    /// The longest of them, as the first two bytes say.
    pub(crate) longest: usize,
    /// A bit for each length, the last one for all from there on.
    bits: u64,
}

/// The lengths below four.
const SHORT: u64 = 0b1111;

/// From this length on there is one bit for all.
const LAST: usize = 63;

impl Lengths {
    /// The lengths, ascending.
    pub(crate) fn iter(self) -> impl DoubleEndedIterator<Item = usize> {
        (1..=self.longest).filter(move |&length| self.bits >> length.min(LAST) & 1 == 1)
    }
}

impl Index {
    pub(crate) fn new(tokenizer: &Tokenizer, keep: Keep) -> Self {
        let mut index = Self { keep, longest: HashMap::default(), lengths: HashMap::default() };
        for (_, bytes) in tokenizer.model().vocab().iter() {
            index.add(bytes);
        }
        for (token, _) in tokenizer.special().iter().chain(tokenizer.special().added()) {
            index.add(token.as_bytes());
        }
        index
    }

    fn key<const N: usize>(&self, part: &[u8]) -> Option<[u8; N]> {
        let key = match self.keep {
            Keep::Start => part.first_chunk(),
            Keep::End => part.last_chunk(),
        };
        key.copied()
    }

    fn add(&mut self, token: &[u8]) {
        if let Some(key) = self.key(token) {
            let longest = self.longest.entry(key).or_default();
            *longest = token.len().max(*longest);
        }
        if let Some(key) = self.key(token) {
            *self.lengths.entry(key).or_default() |= 1 << token.len().min(LAST);
        }
    }

    /// The lengths of the tokens that may begin with these (at most four) bytes.
    pub(crate) fn lengths(&self, part: &[u8]) -> Lengths {
        let longest = self.key(part).and_then(|key| self.longest.get(&key)).map_or(1, |&most| most);
        let longer = self.key(part).and_then(|key| self.lengths.get(&key)).map_or(0, |&bits| bits);
        Lengths { longest, bits: SHORT | longer }
    }
}
