//! Text that ends inside a word: which of its ids hold, and how the rest may go on.
//!
//! In: a text, or the ids of one. Out: the ids that hold whatever follows, and the rows of ids that
//! may come in place of the others. A model that has seen `http` followed by `://` as one token is
//! misled by a prompt that ends with `http:`; let it choose among the tokens that begin so.
//!
//! Finding tokens by their beginning takes an index of the vocab, made once. Costs one encoding of a
//! few bytes for each token that may straddle the end, some tens of thousands after a single space.

use std::collections::BTreeSet;

use crate::error::{Error, Result};
use crate::merge::heap::Heap;
use crate::special::Policy;
use crate::tokenizer::Tokenizer;
use crate::watched::Pulse;

/// Ids gone through between two looks at the pulse.
const LISTEN: usize = 1 << 16;

/// Pieces cut between two looks at the pulse.
const PIECES: usize = 512;

/// The longest end that may be open where nothing else is said, in bytes: each token that fits there is
/// tried on it.
pub const OPEN_MOST: usize = 1 << 10;

/// The tokens in the order of their bytes: all that begin alike stand together.
#[derive(Debug)]
pub struct Beginnings {
    ids: Vec<u32>,
    longest: usize,
}

/// What holds, and what may come in place of the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Healed {
    /// The ids that hold.
    pub stable: Vec<u32>,
    /// The bytes behind them.
    pub tail: Vec<u8>,
    /// Rows of ids whose bytes begin with the tail, each as short as that allows; in order.
    pub completions: Vec<Vec<u32>>,
}

impl Beginnings {
    /// The index of a tokenizer's vocab, special and added tokens left out.
    pub fn new(tokenizer: &Tokenizer) -> Self {
        let vocab = tokenizer.model().vocab();
        let mut tokens: Vec<(&[u8], u32)> = vocab
            .iter()
            .filter(|&(id, bytes)| vocab.id(bytes) == Some(id))
            .map(|(id, bytes)| (bytes, id))
            .collect();
        tokens.sort_unstable();
        let longest = tokens.iter().map(|(bytes, _)| bytes.len()).max().unwrap_or(0);
        Self { ids: tokens.into_iter().map(|(_, id)| id).collect(), longest }
    }

    /// The ids of the tokens that begin with `bytes`, in the order of their bytes.
    pub fn of<'i>(&'i self, tokenizer: &Tokenizer, bytes: &[u8]) -> &'i [u32] {
        let token = |&id: &u32| tokenizer.token_bytes(id).unwrap_or_default();
        let first = self.ids.partition_point(|id| token(id) < bytes);
        let rest = &self.ids[first..];
        &rest[..rest.partition_point(|id| token(id).starts_with(bytes))]
    }

    /// [`Tokenizer::encode`] of a text that may go on: what [`split`] says does not hold is open, and
    /// has at most `most` bytes.
    ///
    /// # Errors
    /// As [`split`], and for a longer open end.
    pub fn encode(
        &self,
        tokenizer: &Tokenizer,
        text: &str,
        policy: &Policy,
        most: usize,
        pulse: &Pulse<'_>,
    ) -> Result<Healed> {
        let (ids, kept) = split(tokenizer, text, policy, pulse)?;
        self.open(tokenizer, ids, kept, most, pulse)
    }

    /// The ids of a text that may go on: the longest end of them whose bytes are the beginning of a
    /// longer token does not hold. Where there is none, all hold.
    ///
    /// # Errors
    /// [`crate::Error::UnknownToken`] for an id that no token has.
    pub fn heal(&self, tokenizer: &Tokenizer, ids: &[u32], pulse: &Pulse<'_>) -> Result<Healed> {
        let mut bytes = Vec::new();
        for (index, part) in ids.chunks(LISTEN).enumerate() {
            pulse.check()?;
            bytes.clear();
            let decoded = tokenizer.decode_part(part, &mut bytes);
            decoded.map_err(|error| error.behind(index * LISTEN))?;
        }
        let mut tail = Vec::new();
        let mut kept = ids.len();
        for (at, &id) in ids.iter().enumerate().rev() {
            let Some(token) = tokenizer.model().vocab().bytes(id) else { break };
            tail.splice(..0, token.iter().copied());
            if tail.len() >= self.longest {
                break;
            }
            let longer =
                |&id: &u32| tokenizer.token_bytes(id).is_some_and(|b| b.len() > tail.len());
            if self.of(tokenizer, &tail).iter().any(longer) {
                kept = at;
            }
        }
        self.open(tokenizer, ids.to_vec(), kept, OPEN_MOST, pulse)
    }

    /// Takes back all but the first `kept` ids.
    fn open(
        &self,
        tokenizer: &Tokenizer,
        mut stable: Vec<u32>,
        kept: usize,
        most: usize,
        pulse: &Pulse<'_>,
    ) -> Result<Healed> {
        let mut tail = Vec::new();
        tokenizer.decode_part(&stable[kept..], &mut tail)?;
        if tail.len() > most {
            return Err(Error::Value(format!(
                "the last piece of the text has {} bytes; what may follow is looked for behind at \
                 most {most}, so end the text with a word",
                tail.len()
            )));
        }
        stable.truncate(kept);
        let completions = self.completions(tokenizer, &tail, pulse)?;
        Ok(Healed { stable, tail, completions })
    }

    /// The rows of ids that text beginning with `tail` may begin with.
    fn completions(
        &self,
        tokenizer: &Tokenizer,
        tail: &[u8],
        pulse: &Pulse<'_>,
    ) -> Result<Vec<Vec<u32>>> {
        let mut found = BTreeSet::new();
        if tail.is_empty() {
            return Ok(Vec::new());
        }
        found.extend(self.of(tokenizer, tail).iter().map(|&id| vec![id]));
        let (mut heap, mut bytes, mut ids) = (Heap::new(), Vec::new(), Vec::new());
        // The token that straddles the end begins at any place in the tail.
        for at in tail.len().saturating_sub(self.longest).max(1)..tail.len() {
            for &id in self.of(tokenizer, &tail[at..]) {
                pulse.check()?;
                bytes.clear();
                bytes.extend_from_slice(&tail[..at]);
                bytes.extend_from_slice(tokenizer.token_bytes(id).unwrap_or_default());
                ids.clear();
                match std::str::from_utf8(&bytes) {
                    Ok(text) => tokenizer.encode(text, tokenizer.plain(), &mut ids)?,
                    Err(_) => tokenizer.model().merge_parts(&bytes, &mut heap, &mut ids)?,
                }
                let mut covered = 0;
                let needed = ids.iter().take_while(|&&id| {
                    let open = covered < tail.len();
                    covered += tokenizer.token_bytes(id).map_or(0, <[u8]>::len);
                    open
                });
                found.insert(needed.copied().collect());
            }
        }
        // White space at the end may become a piece of its own.
        let last = tail.utf8_chunks().last();
        let last = last.filter(|chunk| chunk.invalid().is_empty());
        let last = last.and_then(|chunk| chunk.valid().chars().next_back());
        if let Some(space) = last.filter(|last| last.is_whitespace()) {
            let at = tail.len() - space.len_utf8();
            if at > 0 {
                ids.clear();
                tokenizer.model().merge_parts(&tail[..at], &mut heap, &mut ids)?;
                tokenizer.model().merge_parts(&tail[at..], &mut heap, &mut ids)?;
                found.insert(ids);
            }
        }
        Ok(found.into_iter().collect())
    }
}

/// The ids of a text that may go on, and how many of them hold whatever follows: with the semantics of
/// tiktoken's `encode_with_unstable`, not the tokens of the last piece.
///
/// # Errors
/// As [`Tokenizer::encode`], for a tokenizer with a normalizer, and [`Error::Interrupted`].
pub fn split(
    tokenizer: &Tokenizer,
    text: &str,
    policy: &Policy,
    pulse: &Pulse<'_>,
) -> Result<(Vec<u32>, usize)> {
    tokenizer.refuse_rewritten(text, pulse)?;
    let mut ids = Vec::new();
    tokenizer.encode_until(text, policy, &mut ids, pulse)?;
    let mut from = 0;
    while let Some(found) = policy.find(text, from) {
        from = found.end;
    }
    let mut kept = ids.len();
    let last = last_piece(tokenizer, &text[from..], pulse)?;
    if last.is_empty() {
        return Ok((ids, kept));
    }
    kept -= merged(tokenizer, last.as_bytes(), pulse)?.len();
    // White space may be cut elsewhere when more comes, so all of it is open.
    let is_space = |id: u32| {
        let token = tokenizer.model().vocab().bytes(id);
        token.is_some_and(|bytes| bytes.iter().all(|byte| b" \n\t".contains(byte)))
    };
    if is_space(ids[kept]) {
        while kept > 0 && is_space(ids[kept - 1]) {
            kept -= 1;
        }
    }
    Ok((ids, kept))
}

/// The last piece of a span; nothing if that is empty.
fn last_piece<'t>(tokenizer: &Tokenizer, span: &'t str, pulse: &Pulse<'_>) -> Result<&'t str> {
    let (mut from, mut start, mut ends) = (0, 0, Vec::new());
    while from < span.len() {
        pulse.check()?;
        ends.clear();
        let next = tokenizer.pretokenizer().fill(span, from, &mut ends, PIECES)?.next;
        start = ends.iter().rev().nth(1).copied().unwrap_or(from);
        from = next;
    }
    Ok(&span[start..])
}

/// The ids of bytes that are one piece, UTF-8 or not.
///
/// # Errors
/// As [`crate::merge::Model::merge`], and [`Error::Interrupted`].
pub fn merged(tokenizer: &Tokenizer, piece: &[u8], pulse: &Pulse<'_>) -> Result<Vec<u32>> {
    let (mut ids, mut heap, stops) = (Vec::new(), Heap::new(), || pulse.stops());
    tokenizer.model().merge_until(piece, &mut heap, &mut ids, &stops)?;
    Ok(ids)
}
