//! The longest start or end of a stretch of text that fits a limit of tokens.
//!
//! In: a stretch in which no cut is known to be safe, and a limit. Out: how many bytes at one end of it
//! fit. More text may be fewer tokens, so no search by halves is exact: the candidates are tried from
//! the longest on. What makes that short is a bound: however a text is encoded, its ids are tokens
//! that cover it, so what cannot be covered with so many tokens cannot fit. Where all that is kept is one piece, the counts of all its lengths are found in one
//! pass, since the tokens of a start are those of a shorter start and a last one.
//!
//! Both ends are the same search: places are distances from the end that is kept. All of it is
//! bounded: when [`WORK`] bytes have been encoded, what the whole stretch's tokens say is taken, and
//! made longer while more fits within the longest token's length, with as much work again.

use std::cell::OnceCell;
use std::collections::HashMap;

use crate::error::Result;
use crate::merge::heap::Heap;
use crate::pretokenize::Pattern;
use crate::special::Policy;
use crate::tokenizer::Tokenizer;
use crate::watched::Pulse;

/// The longest stretch in which every character is tried without a bound.
const TRY_EACH: usize = 512;

/// How many bytes may be encoded to find the longest part, tens of milliseconds' worth.
const WORK: usize = 1 << 24;

/// The farthest bound that is looked for, in bytes; some tens of bytes of memory for each.
const BOUND_MOST: usize = 1 << 20;

/// How many tokens are looked up to find the bound: some tenths of a second.
const LOOKUPS: usize = 1 << 23;

/// How many candidates are counted one by one before the counts of all are made.
const TRY_FIRST: usize = 16;

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
    /// Of the tokenizer's tokens and this end, made when it is wanted.
    pub(crate) index: &'a OnceCell<Index>,
    pub(crate) pulse: &'a Pulse<'a>,
}

/// The outermost token of what is kept up to some distance, and how many tokens that has.
#[derive(Clone, Copy)]
struct Outer {
    id: u32,
    len: usize,
    count: usize,
}

impl<'a> Stretch<'a> {
    /// The bytes of the longest end that fits.
    pub(crate) fn longest(&self) -> Result<usize> {
        let whole = self.text.len();
        if whole <= TRY_EACH {
            return self.longest_below(whole + 1);
        }
        if let Some(bound) = self.bound()?
            && let Some(found) = self.longest_within(bound)?
        {
            return Ok(found);
        }
        if self.fits(whole)? { Ok(whole) } else { self.near_the_tokens() }
    }

    /// The bytes from distance `from` to distance `to`.
    fn part(&self, from: usize, to: usize) -> &'a [u8] {
        let bytes = self.text.as_bytes();
        match self.keep {
            Keep::Start => &bytes[from..to],
            Keep::End => &bytes[bytes.len() - to..bytes.len() - from],
        }
    }

    fn kept(&self, distance: usize) -> &'a str {
        match self.keep {
            Keep::Start => &self.text[..distance],
            Keep::End => &self.text[self.text.len() - distance..],
        }
    }

    fn is_boundary(&self, distance: usize) -> bool {
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
        let index = self.index.get_or_init(|| Index::new(self.tokenizer, self.keep));
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
                let longest = index.longest(self.part(from, whole.min(from + 2)));
                lookups += longest;
                for to in from + 1..=whole.min(from + longest) {
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
        let mut work = WORK;
        let mut counts: Option<Vec<usize>> = None;
        let mut tried = 0;
        for distance in (0..=bound).rev().filter(|&distance| self.is_boundary(distance)) {
            tried += 1;
            if tried > TRY_FIRST && self.is_one_piece(distance, &mut work)? {
                if counts.is_none() {
                    counts = self.counts(distance, &mut work)?;
                }
                let Some(counts) = &counts else { return Ok(None) };
                if counts[distance] <= self.most {
                    return Ok(Some(distance));
                }
                continue;
            }
            if !spend(&mut work, distance) {
                return Ok(None);
            }
            if self.fits(distance)? {
                return Ok(Some(distance));
            }
        }
        Ok(Some(0))
    }

    /// Whether all up to `distance` is one piece that merging alone decides.
    fn is_one_piece(&self, distance: usize, work: &mut usize) -> Result<bool> {
        let pretokenizer = self.tokenizer.pretokenizer();
        if *pretokenizer.pattern() != Pattern::None && !spend(work, distance / SCAN_SHARE) {
            return Ok(false);
        }
        let text = self.kept(distance);
        let is_token = || {
            self.tokenizer.model().whole_pieces()
                && self.tokenizer.token_id(text.as_bytes()).is_some()
        };
        if self.policy.find(text, 0).is_some() || is_token() {
            return Ok(false);
        }
        let mut ends = Vec::new();
        Ok(pretokenizer.fill(text, 0, &mut ends, 1)?.next == text.len())
    }

    /// The number of tokens up to each distance, at most `to`, each of them one piece.
    fn counts(&self, to: usize, work: &mut usize) -> Result<Option<Vec<usize>>> {
        let mut heap = Heap::new();
        let mut ids = Vec::new();
        let mut outers = vec![Outer { id: 0, len: 0, count: 0 }];
        for distance in 1..=to {
            if distance.is_multiple_of(LISTEN) {
                self.pulse.check()?;
            }
            let mut back = 2;
            // Go back some tokens, encode from there, and see whether that joins what is before.
            let outer = loop {
                let mut from = distance - 1;
                for _ in 0..back {
                    from -= outers[from].len;
                }
                if !spend(work, distance - from) {
                    return Ok(None);
                }
                ids.clear();
                self.tokenizer.model().merge_parts(
                    self.part(from, distance),
                    &mut heap,
                    &mut ids,
                )?;
                if self.keep == Keep::End {
                    ids.reverse();
                }
                if from == 0 || self.stays(&outers, from, ids[0], &mut heap)? {
                    let id = ids[ids.len() - 1];
                    let len = self.tokenizer.token_bytes(id).map_or(0, <[u8]>::len);
                    break Outer { id, len, count: outers[from].count + ids.len() };
                }
                back *= 2;
            };
            outers.push(outer);
        }
        Ok(Some(outers.into_iter().map(|outer| outer.count).collect()))
    }

    /// Whether the token at distance `from` stays apart from `inner`, which comes behind it.
    ///
    /// Merging joins tokens in order of rank wherever they stand, so a row of tokens is the
    /// encoding of its bytes if each two neighbours are the encoding of theirs.
    fn stays(&self, outers: &[Outer], from: usize, inner: u32, heap: &mut Heap) -> Result<bool> {
        let outer = outers[from];
        let len = self.tokenizer.token_bytes(inner).map_or(0, <[u8]>::len);
        let mut ids = Vec::new();
        let part = self.part(from - outer.len, from + len);
        self.tokenizer.model().merge_parts(part, heap, &mut ids)?;
        Ok(match self.keep {
            Keep::Start => ids == [outer.id, inner],
            Keep::End => ids == [inner, outer.id],
        })
    }

    /// What the tokens of the whole stretch say, where the exact search takes too long: their first
    /// (or last) `most`, less what does not fit, and more while that fits within a token's length.
    fn near_the_tokens(&self) -> Result<usize> {
        let mut best = self.longest_below(self.reach()? + 1)?;
        let longest = self.tokenizer.longest_token();
        let (mut distance, mut work) = (best, WORK);
        while distance + 1 < self.text.len() && distance - best <= longest {
            distance += 1;
            if !self.is_boundary(distance) {
                continue;
            }
            if !spend(&mut work, distance) {
                break;
            }
            if self.fits(distance)? {
                best = distance;
            }
        }
        Ok(best)
    }

    /// The bytes of the `most` ids at the end that is kept, as the stretch is encoded.
    fn reach(&self) -> Result<usize> {
        let mut size = self.most.saturating_mul(8).saturating_add(TRY_EACH);
        loop {
            let mut distance = size.min(self.text.len());
            while !self.is_boundary(distance) {
                distance -= 1;
            }
            let mut ids = Vec::new();
            let text = self.kept(distance);
            self.tokenizer.encode_until(text, self.policy, &mut ids, self.pulse)?;
            if ids.len() > self.most || distance == self.text.len() {
                let most = self.most.min(ids.len());
                let ids = match self.keep {
                    Keep::Start => &ids[..most],
                    Keep::End => &ids[ids.len() - most..],
                };
                let length = |&id: &u32| self.tokenizer.token_bytes(id).map_or(0, <[u8]>::len);
                return Ok(ids.iter().map(length).sum::<usize>().min(self.text.len() - 1));
            }
            size = size.saturating_mul(2);
        }
    }
}

/// Takes `bytes` of the work that is left; false when there is not so much.
fn spend(work: &mut usize, bytes: usize) -> bool {
    let enough = bytes <= *work;
    *work = work.saturating_sub(bytes);
    enough
}

impl Tokenizer {
    /// The bytes of the longest token.
    fn longest_token(&self) -> usize {
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

/// What can cover a text, tokens and special tokens as they are written: the longest of them for its
/// two bytes nearest to the end that is kept.
#[derive(Debug)]
pub(crate) struct Index {
    keep: Keep,
    longest: HashMap<[u8; 2], usize>,
}

impl Index {
    fn new(tokenizer: &Tokenizer, keep: Keep) -> Self {
        let mut index = Self { keep, longest: HashMap::new() };
        for (_, bytes) in tokenizer.model().vocab().iter() {
            index.add(bytes);
        }
        for (token, _) in tokenizer.special().iter().chain(tokenizer.special().added()) {
            index.add(token.as_bytes());
        }
        index
    }

    fn key(&self, part: &[u8]) -> Option<[u8; 2]> {
        let key = match self.keep {
            Keep::Start => part.first_chunk::<2>(),
            Keep::End => part.last_chunk::<2>(),
        };
        key.copied()
    }

    fn add(&mut self, token: &[u8]) {
        if let Some(key) = self.key(token) {
            let longest = self.longest.entry(key).or_default();
            *longest = token.len().max(*longest);
        }
    }

    /// The longest token that may begin with these (at most two) bytes.
    fn longest(&self, part: &[u8]) -> usize {
        self.key(part).and_then(|key| self.longest.get(&key)).map_or(1, |&longest| longest)
    }
}
