//! Merging that begins with characters instead of bytes, as in models made with `SentencePiece`
//! (Llama 2, Mistral v1, Gemma).
//!
//! In: a piece. Out: its ids. The *symbols* of a piece are what merging begins with: the token of
//! each character; for a character without one the tokens of its bytes, or the unknown token. From
//! there on the definition is that of [`crate::merge`]: while a pair has a merge, apply the one of
//! lowest rank, the leftmost of equals. Only `engine.rs` knows how, and `joins.rs` where a text may be
//! cut before, with the same ids: such vocabularies have no pattern, so a whole text is one piece.

mod engine;
mod joins;

use std::collections::{HashMap, HashSet};

use crate::error::{Error, Result};
use crate::merge::{Merge, MergeTable, RANKED_MOST};
use crate::pretokenize::Filled;
use crate::special::Finder;
use crate::vocab::{Vocab, show};
use joins::Joins;

/// What becomes of a character that has no token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// Its UTF-8 bytes, each of which has a token: the ids by byte.
    Bytes(Box<[u32; 256]>),
    /// The token of this id; one for a whole run of such characters where `fuse` is true.
    Unknown {
        /// The id of the unknown token.
        id: u32,
        /// Whether a run of unknown characters is one token.
        fuse: bool,
    },
    /// The text cannot be encoded.
    Refused,
}

/// The order of merges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// Pairs of (left id, right id), the first goes first (Hugging Face).
    Pairs(Vec<(u32, u32)>),
    /// (id, rank) of each token that may be merged or made: any two whose joined text is one of them
    /// merge, the lowest rank first; ranks may be equal (`SentencePiece`: the order of the
    /// scores).
    Ranks(Vec<(u32, u32)>),
}

/// What a model of characters merges with. Immutable.
#[derive(Debug, Clone)]
pub struct Symbols {
    missing: Missing,
    order: Order,
    /// Tokens that are found in text before merging, and never merged; their ids, ascending.
    frozen: Vec<u32>,
    frozen_ids: HashMap<String, u32>,
    finder: Option<Finder>,
    ascii: [Option<u32>; 128],
    others: HashMap<char, u32>,
    table: MergeTable,
    joins: Joins,
}

impl Symbols {
    /// Prepares the merges of `vocab`; gives them also as pairs, in rank order.
    ///
    /// # Errors
    /// [`Error::Vocab`] when a token of a merge is not there, is the token of a byte, or is not UTF-8.
    pub fn new(
        vocab: &Vocab,
        mut order: Order,
        missing: Missing,
        mut frozen: Vec<u32>,
    ) -> Result<(Self, Vec<(u32, u32)>)> {
        if let Order::Ranks(ranks) = &mut order {
            ranks.sort_unstable();
        }
        frozen.sort_unstable();
        frozen.dedup();
        let frozen_ids: HashMap<String, u32> = frozen
            .iter()
            .map(|&id| Ok((text(vocab, id)?.to_owned(), id)))
            .collect::<Result<_>>()?;
        let finder = Finder::new(frozen_ids.keys().cloned())?;
        let of_bytes: HashSet<u32> = match &missing {
            Missing::Bytes(ids) => ids.iter().copied().collect(),
            _ => HashSet::new(),
        };
        let merges = match &order {
            Order::Pairs(pairs) => by_pairs(vocab, pairs)?,
            Order::Ranks(ranks) => by_ranks(vocab, ranks)?,
        };
        let mut table = MergeTable::with_capacity(merges.len());
        let mut joins = Joins::new();
        for &(left, right, merge) in &merges {
            if let Some(id) = [left, right, merge.id].iter().find(|id| of_bytes.contains(id)) {
                return Err(Error::Vocab(format!(
                    "a merge has token {id}, which stands for a byte; no merge can use those"
                )));
            }
            table.insert(left, right, merge);
            joins.add(text(vocab, left)?, text(vocab, right)?);
        }
        let mut ascii = [None; 128];
        let mut others = HashMap::new();
        let allowed = |id: u32| match &order {
            Order::Pairs(_) => !of_bytes.contains(&id) && frozen.binary_search(&id).is_err(),
            Order::Ranks(ranks) => ranks.binary_search_by_key(&id, |&(id, _)| id).is_ok(),
        };
        for (id, bytes) in vocab.iter().filter(|(_, bytes)| bytes.len() <= 4) {
            let Some(character) = single(bytes).filter(|_| vocab.id(bytes) == Some(id)) else {
                continue;
            };
            if allowed(id) {
                match ascii.get_mut(character as usize) {
                    Some(place) => *place = Some(id),
                    None => drop(others.insert(character, id)),
                }
            }
        }
        let pairs = merges.iter().map(|&(left, right, _)| (left, right)).collect();
        Ok((
            Self { missing, order, frozen, frozen_ids, finder, ascii, others, table, joins },
            pairs,
        ))
    }

    /// What becomes of a character that has no token.
    pub fn missing(&self) -> &Missing {
        &self.missing
    }

    /// The order of merges it was made with.
    pub fn order(&self) -> &Order {
        &self.order
    }

    /// The tokens that are found in text before merging and never merged, by id.
    pub fn frozen(&self) -> &[u32] {
        &self.frozen
    }

    /// The id of a character's token.
    #[inline]
    pub fn id(&self, character: char) -> Option<u32> {
        match self.ascii.get(character as usize) {
            Some(id) => *id,
            None => self.others.get(&character).copied(),
        }
    }

    /// Appends the ids of `piece`, any bytes, to `ids`.
    ///
    /// # Errors
    /// [`Error::Vocab`] for a character, [`Error::UnknownByte`] for a byte that no token covers.
    pub fn merge(&self, piece: &[u8], ids: &mut Vec<u32>) -> Result<()> {
        self.merge_until(piece, ids, &|| false)
    }

    /// [`Symbols::merge`], given up once `stops` says so.
    ///
    /// # Errors
    /// As [`Symbols::merge`], and [`Error::Interrupted`].
    pub(crate) fn merge_until(
        &self,
        piece: &[u8],
        ids: &mut Vec<u32>,
        stops: &dyn Fn() -> bool,
    ) -> Result<()> {
        let Some(finder) = &self.finder else { return self.merge_free(piece, ids, stops) };
        let mut from = 0;
        if let Ok(text) = std::str::from_utf8(piece) {
            while let Some(found) = finder.find(text, from) {
                self.merge_free(&piece[from..found.start], ids, stops)?;
                ids.push(self.frozen_ids[found.string]);
                from = found.end;
            }
        }
        self.merge_free(&piece[from..], ids, stops)
    }

    /// [`Symbols::merge_until`] of what holds no frozen token.
    fn merge_free(&self, piece: &[u8], ids: &mut Vec<u32>, stops: &dyn Fn() -> bool) -> Result<()> {
        let mut parts = Vec::with_capacity(piece.len());
        self.split(piece, &mut parts)?;
        engine::merge(&self.table, &mut parts, stops)?;
        ids.append(&mut parts);
        Ok(())
    }

    /// The symbols of `piece`.
    fn split(&self, piece: &[u8], parts: &mut Vec<u32>) -> Result<()> {
        let mut run = false;
        for chunk in piece.utf8_chunks() {
            for character in chunk.valid().chars() {
                if let Some(id) = self.id(character) {
                    parts.push(id);
                    run = false;
                    continue;
                }
                let mut buffer = [0; 4];
                let bytes = character.encode_utf8(&mut buffer).as_bytes();
                run = self.replace(bytes, run, parts).ok_or_else(|| {
                    Error::Vocab(format!(
                        "no token has the character {character:?}, and the vocab has neither \
                         tokens for bytes nor an unknown token, so the text cannot be encoded"
                    ))
                })?;
            }
            if let [byte, ..] = chunk.invalid() {
                let error = Error::UnknownByte { byte: *byte };
                run = self.replace(chunk.invalid(), run, parts).ok_or(error)?;
            }
        }
        Ok(())
    }

    /// Appends what stands for `bytes`, which have no token; `run` says whether something unknown is
    /// right before. Tells whether it is unknown; nothing where that is refused.
    fn replace(&self, bytes: &[u8], run: bool, parts: &mut Vec<u32>) -> Option<bool> {
        match &self.missing {
            Missing::Bytes(ids) => parts.extend(bytes.iter().map(|&byte| ids[usize::from(byte)])),
            Missing::Unknown { fuse: true, .. } if run => {}
            Missing::Unknown { id, .. } => parts.push(*id),
            Missing::Refused => return None,
        }
        Some(matches!(self.missing, Missing::Unknown { .. }))
    }

    /// [`crate::pretokenize::Pretokenizer::fill`] for a span that no pattern cuts: it is cut where
    /// no merge joins two characters, and around frozen tokens.
    pub(crate) fn fill(
        &self,
        span: &str,
        from: usize,
        ends: &mut Vec<usize>,
        most: usize,
    ) -> Filled {
        let before = ends.len();
        let mut at = from;
        let mut found = self.finder.as_ref().and_then(|finder| finder.find(span, from));
        while at < span.len() && ends.len() - before < most {
            let stop = found.as_ref().map_or(span.len(), |found| found.start);
            if at == stop {
                // The next frozen token begins here.
                at = found.as_ref().map_or(stop, |found| found.end);
                found = self.finder.as_ref().and_then(|finder| finder.find(span, at));
            } else {
                at = self.piece_end(&span[..stop], at);
            }
            ends.push(at);
        }
        // More text may go on with the last piece, or show that a frozen token begins before it.
        let open = self.finder.as_ref().map_or(span.len(), |finder| finder.open_from(span));
        let certain = |&end: &usize| end < span.len() && end <= open;
        let settled = ends[before..].iter().take_while(|&end| certain(end)).count();
        Filled { next: at, settled }
    }

    /// The end of the piece of `text` that begins at `from`, which is before its end.
    fn piece_end(&self, text: &str, from: usize) -> usize {
        let mut characters = text[from..].char_indices();
        let mut left = characters.next().map(|(_, character)| character);
        for (at, right) in characters {
            if left.is_some_and(|left| !self.may_join(left, right)) {
                return from + at;
            }
            left = Some(right);
        }
        text.len()
    }

    /// The least place at or after `from` where a cut of `text` changes no id, as far as certain.
    pub(crate) fn safe_cut(&self, text: &str, from: usize) -> Option<usize> {
        let mut at = text.ceil_char_boundary(from.max(1));
        let mut left = text[..at].chars().next_back()?;
        for right in text[at..].chars() {
            if !self.may_join(left, right) && !self.is_frozen(text, at) {
                return Some(at);
            }
            at += right.len_utf8();
            left = right;
        }
        None
    }

    /// Whether a cut at `at` may change which frozen tokens are found.
    fn is_frozen(&self, text: &str, at: usize) -> bool {
        self.finder.as_ref().is_some_and(|finder| finder.crosses(text, at))
    }

    #[inline]
    fn may_join(&self, left: char, right: char) -> bool {
        self.joins.has(left, right)
            || (matches!(self.missing, Missing::Unknown { fuse: true, .. })
                && self.id(left).is_none()
                && self.id(right).is_none())
    }
}

impl PartialEq for Symbols {
    fn eq(&self, other: &Self) -> bool {
        // The rest is derived from these and the vocab.
        self.missing == other.missing && self.order == other.order && self.frozen == other.frozen
    }
}

type Merges = Vec<(u32, u32, Merge)>;

fn by_pairs(vocab: &Vocab, pairs: &[(u32, u32)]) -> Result<Merges> {
    let mut joined = Vec::new();
    let mut merges = Vec::with_capacity(pairs.len());
    for (rank, &(left, right)) in (0u32..).zip(pairs) {
        joined.clear();
        for id in [left, right] {
            joined.extend_from_slice(text(vocab, id)?.as_bytes());
        }
        let id = vocab.id(&joined).ok_or_else(|| {
            Error::Vocab(format!(
                "merge {rank} gives {}, which is not in the vocab; add it or drop the merge",
                show(&joined)
            ))
        })?;
        merges.push((left, right, Merge { rank, id }));
    }
    Ok(merges)
}

/// Every split of a ranked token into two, in order of rank.
fn by_ranks(vocab: &Vocab, ranks: &[(u32, u32)]) -> Result<Merges> {
    let ranked: HashMap<u32, u32> = ranks.iter().copied().collect();
    let mut merges = Vec::new();
    for &(id, rank) in ranks {
        let token = text(vocab, id)?;
        if token.len() > RANKED_MOST {
            return Err(Error::Vocab(format!(
                "token {id} has {} bytes; a token that is merged by rank has at most {RANKED_MOST}",
                token.len()
            )));
        }
        let half = |part: &str| vocab.id(part.as_bytes()).filter(|id| ranked.contains_key(id));
        for (middle, _) in token.char_indices().skip(1) {
            if let (Some(left), Some(right)) = (half(&token[..middle]), half(&token[middle..])) {
                merges.push((left, right, Merge { rank, id }));
            }
        }
    }
    merges.sort_by_key(|&(left, right, merge)| (merge.rank, merge.id, left, right));
    Ok(merges)
}

/// The text of a token of a merge.
fn text(vocab: &Vocab, id: u32) -> Result<&str> {
    let bytes = vocab.bytes(id).ok_or_else(|| {
        Error::Vocab(format!("a merge has the id {id}, which no token has; add it to the vocab"))
    })?;
    std::str::from_utf8(bytes).map_err(|_| {
        Error::Vocab(format!(
            "token {id} ({}) is not UTF-8; where merging begins with characters, tokens are text",
            show(bytes)
        ))
    })
}

/// The one character that these bytes are.
fn single(bytes: &[u8]) -> Option<char> {
    let mut characters = std::str::from_utf8(bytes).ok()?.chars();
    characters.next().filter(|_| characters.next().is_none())
}

#[cfg(test)]
mod tests;
