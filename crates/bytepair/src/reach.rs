//! The longest start or end that fits of one long piece, by the tokens near its end.
//!
//! In: a stretch of which each part is one piece, so that merging alone says what its tokens are. Out:
//! how many bytes at one end of it fit. Of a row of tokens, a part of the row is the encoding of its
//! own bytes. So one more byte fits only if it ends a token that begins where one token fewer has
//! come, and from the place where the limit's last token ends only few places are in reach.
//!
//! The costs are those of encoding about what is kept, and of merging the last tokens of each place in
//! reach. Those of long ones are remembered, for where a text repeats itself so do they.

use std::cell::RefCell;
use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::cover::Index;
use crate::error::{Error, Result};
use crate::longest::{Keep, Row, Stretch, WORK, spend};
use crate::merge::heap::Heap;
use crate::tokenizer::Tokenizer;

/// In a shorter stretch each place is tried.
const SHORT: usize = 32;

/// As many bytes are encoded for each token at first, and [`SHORT`] more.
const BYTES_EACH: usize = 4;

/// Up to this many bytes are merged again rather than remembered.
const SOON_MERGED: usize = 48;

/// How much is remembered before it is forgotten: parts of some hundred bytes, pairs of some tens.
const KNOWN_MOST: usize = 1 << 12;

type Map<K, V> = RefCell<HashMap<K, V, RandomState>>;

/// How many tokens some bytes are, and the one nearest to the end that is kept.
type Merged = (usize, u32);

/// What merging gave, of one end of a text.
#[derive(Debug, Default)]
pub(crate) struct Known {
    parts: Map<Box<[u8]>, Merged>,
    /// Of two tokens, from the end that is kept, whether they stay apart.
    pairs: Map<(u32, u32), bool>,
}

/// Remembers one thing more, or begins anew.
fn remember<K: std::hash::Hash + Eq, V>(known: &Map<K, V>, key: K, value: V) {
    let mut known = known.borrow_mut();
    if known.len() >= KNOWN_MOST {
        known.clear();
    }
    known.insert(key, value);
}

impl Stretch<'_> {
    /// The bytes of the longest end that fits; nothing where that is not told by merging alone, or not
    /// with a search's work.
    pub(crate) fn by_reach(&self) -> Result<Option<usize>> {
        let whole = self.text.len();
        let model = self.tokenizer.model();
        if whole <= SHORT || self.most == 0 || model.symbols().is_some() {
            return Ok(None);
        }
        let (mut heap, mut work) = (Heap::new(), WORK);
        let mut size = self.most.saturating_mul(BYTES_EACH).saturating_add(SHORT);
        loop {
            let distance =
                (0..=size.min(whole)).rev().find(|&at| self.is_boundary(at)).unwrap_or(0);
            let looked_up = self.is_token(self.kept(distance));
            if looked_up && distance == whole {
                return Ok(Some(whole));
            }
            if looked_up {
                size = size.saturating_mul(2);
                continue;
            }
            if !self.is_one_piece(distance, &mut work)? || !self.is_closed(self.kept(distance)) {
                return Ok(None);
            }
            let row = match self.row(distance, usize::MAX, &mut work) {
                // It may lie behind what fits.
                Err(Error::UnknownByte { .. }) => return Ok(None),
                row => row?,
            };
            if row.tokens.len() > self.most {
                match self.reached(&row, distance, &mut heap, &mut work)? {
                    None => return Ok(None),
                    Some((best, reach)) if reach <= distance => {
                        return Ok(Some(self.whole_token(best).unwrap_or(best)));
                    }
                    Some(_) => {}
                }
            } else if distance == whole {
                return Ok(Some(whole));
            }
            size = size.saturating_mul(2);
        }
    }

    /// The longest end beyond `best` that is one token because it is looked up.
    fn whole_token(&self, best: usize) -> Option<usize> {
        let longest = self.text.len().min(self.tokenizer.longest_token());
        (best + 1..=longest).rev().find(|&at| self.is_boundary(at) && self.is_token(self.kept(at)))
    }

    /// The longest that fits by the row up to `distance`, which has more tokens than fit, and how far
    /// there is to look for it; it was looked for up to `distance`.
    fn reached(
        &self,
        row: &Row,
        distance: usize,
        heap: &mut Heap,
        work: &mut usize,
    ) -> Result<Option<(usize, usize)>> {
        let index = self.index();
        let end = row.tokens[self.most - 1].to;
        let (mut best, mut reach) = (end, end);
        while !self.is_boundary(best) {
            best -= 1;
        }
        // A token that begins at `end` is one too many.
        let first = end.saturating_sub(self.tokenizer.longest_token());
        for at in (first..end).rev() {
            let to = self.farthest(index, at, reach);
            if to > reach {
                let Some(count) = self.merged(row, at, heap, work)? else { return Ok(None) };
                if count < self.most {
                    reach = to;
                }
            }
        }
        let mut at = end;
        while at < reach.min(distance) {
            at += 1;
            let Some(count) = self.merged(row, at, heap, work)? else { return Ok(None) };
            if count <= self.most && self.is_boundary(at) {
                best = at;
            }
            if count < self.most {
                reach = self.farthest(index, at, reach);
            }
        }
        Ok(Some((best, reach)))
    }

    /// Where the longest token from `at` on ends, if that is beyond `reach`; else `reach`.
    fn farthest(&self, index: &Index, at: usize, reach: usize) -> usize {
        let whole = self.text.len();
        let lengths = index.lengths(self.part(at, whole.min(at + 4)));
        let ends = lengths.iter().rev().map(|length| at + length);
        ends.skip_while(|&to| to > whole)
            .take_while(|&to| to > reach)
            .find(|&to| self.tokenizer.token_id(self.part(at, to)).is_some())
            .unwrap_or(reach)
    }

    /// The number of tokens that merging makes of all up to `distance`, by the row of a longer or shorter
    /// part; nothing when that cannot be told with the work that is left.
    pub(crate) fn merged(
        &self,
        row: &Row,
        distance: usize,
        heap: &mut Heap,
        work: &mut usize,
    ) -> Result<Option<usize>> {
        self.pulse.check()?;
        if distance == 0 {
            return Ok(Some(0));
        }
        let inside = row.tokens.partition_point(|token| token.to <= distance);
        let mut back = 1;
        // Go back some tokens, encode from there, and see whether that joins what is before.
        loop {
            let kept = inside.saturating_sub(back);
            let last = row.tokens[..kept].last();
            let from = last.map_or(0, |token| token.to);
            if !spend(work, distance - from) {
                return Ok(None);
            }
            let (count, nearest) = self.merged_part(from, distance, heap)?;
            if last.map_or(Ok(true), |outer| self.stays((outer.id, from), nearest, heap))? {
                return Ok(Some(kept + count));
            }
            back *= 2;
        }
    }

    /// How many tokens merging makes of a part, and the one nearest to the end that is kept.
    fn merged_part(&self, from: usize, to: usize, heap: &mut Heap) -> Result<Merged> {
        let part = self.part(from, to);
        let is_long = part.len() > SOON_MERGED;
        if is_long && let Some(&known) = self.known.parts.borrow().get(part) {
            return Ok(known);
        }
        let mut ids = Vec::new();
        self.tokenizer.model().merge_parts(part, heap, &mut ids)?;
        let nearest = match self.keep {
            Keep::Start => ids[0],
            Keep::End => ids[ids.len() - 1],
        };
        if is_long {
            remember(&self.known.parts, part.into(), (ids.len(), nearest));
        }
        Ok((ids.len(), nearest))
    }

    /// Whether the token up to distance `from` stays apart from `inner`, which comes behind it.
    ///
    /// Merging joins tokens in order of rank wherever they stand, so a row of tokens is the
    /// encoding of its bytes if each two neighbours are the encoding of theirs.
    fn stays(&self, (outer, from): (u32, usize), inner: u32, heap: &mut Heap) -> Result<bool> {
        let len = |id| self.tokenizer.token_bytes(id).map_or(0, <[u8]>::len);
        let part = self.part(from - len(outer), from + len(inner));
        let is_long = part.len() > SOON_MERGED;
        if is_long && let Some(&known) = self.known.pairs.borrow().get(&(outer, inner)) {
            return Ok(known);
        }
        let mut ids = Vec::new();
        self.tokenizer.model().merge_parts(part, heap, &mut ids)?;
        let stays = match self.keep {
            Keep::Start => ids == [outer, inner],
            Keep::End => ids == [inner, outer],
        };
        if is_long {
            remember(&self.known.pairs, (outer, inner), stays);
        }
        Ok(stays)
    }

    /// Of the tokenizer's tokens, for this end.
    pub(crate) fn index(&self) -> &Index {
        self.tokenizer.index(self.keep)
    }
}

impl Tokenizer {
    /// The lengths of the tokens that begin alike, or end alike.
    fn index(&self, keep: Keep) -> &Index {
        let cell = &self.indexes[usize::from(keep == Keep::End)];
        if cell.get().is_none() {
            // Not by `get_or_init` alone: others would wait, and two that are made are the same.
            drop(cell.set(Index::new(self, keep)));
        }
        cell.get_or_init(|| Index::new(self, keep))
    }
}
