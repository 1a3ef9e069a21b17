//! The vocabulary: id → token bytes, and token bytes → id.
//!
//! In: (id, bytes) pairs in any order. Out: look-ups in constant time both ways. Immutable.
//! Token bytes lie in one arena, in id order. While ids are dense an id is its own slot, and a gap
//! between them is a slot without bytes; when they are not a hash map finds the slot (an id of
//! 4,000,000,000 must not cost 16 GB). Special tokens are not in here: see [`crate::special`].

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::{LazyLock, OnceLock};

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::error::{Error, Result};

/// Bytes behind the last token in the arena, so that any token can be read this many at a time.
pub(crate) const PAD: usize = 16;

/// A set of tokens with their ids.
#[derive(Debug, Clone)]
pub struct Vocab {
    /// Slot → start of its bytes in `arena`; one more entry than there are slots.
    starts: Vec<u32>,
    /// The bytes of all tokens, and [`PAD`] bytes behind them.
    arena: Vec<u8>,
    slots: Slots,
    len: usize,
    /// Ids, ascending, that are found by their bytes only where no other token has them.
    last: Vec<u32>,
    by_bytes: OnceLock<HashTable<u32>>,
}

#[derive(Debug, Clone)]
enum Slots {
    /// A slot is an id.
    Dense,
    /// The id of each slot, ascending, and the slot of each id.
    Sparse(Vec<u32>, HashMap<u32, u32>),
}

/// Keyed per process, so that no file can be made whose tokens all collide; nothing iterates over the
/// table, so results do not depend on it.
static STATE: LazyLock<RandomState> = LazyLock::new(RandomState::default);

fn hash(bytes: &[u8]) -> u64 {
    STATE.hash_one(bytes)
}

impl Vocab {
    /// Builds a vocabulary. An id may occur once; bytes may occur twice, and then the lowest id is
    /// what [`Vocab::id`] returns.
    ///
    /// # Errors
    /// [`Error::Vocab`] when an id occurs twice, a token is empty, or the token bytes exceed 4 GiB.
    pub fn new<B: AsRef<[u8]>>(tokens: impl IntoIterator<Item = (u32, B)>) -> Result<Self> {
        Self::with_last(tokens, &[])
    }

    /// [`Vocab::new`] where the tokens `last` are what [`Vocab::id`] returns only if no other token
    /// has the same bytes: those that stand for single bytes beside tokens of characters.
    ///
    /// # Errors
    /// As [`Vocab::new`].
    pub fn with_last<B: AsRef<[u8]>>(
        tokens: impl IntoIterator<Item = (u32, B)>,
        last: &[u32],
    ) -> Result<Self> {
        let mut tokens: Vec<(u32, B)> = tokens.into_iter().collect();
        if !tokens.is_sorted_by_key(|(id, _)| *id) {
            tokens.sort_by_key(|(id, _)| *id);
        }
        if let Some(pair) = tokens.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(Error::Vocab(format!(
                "id {} is given to two tokens, {} and {}; ids must be unique",
                pair[0].0,
                show(pair[0].1.as_ref()),
                show(pair[1].1.as_ref()),
            )));
        }
        let len = tokens.len();
        let greatest = tokens.last().map_or(0, |(id, _)| *id as usize);
        let slots = if greatest < 4 * len + (1 << 16) {
            Slots::Dense
        } else {
            let ids: Vec<u32> = tokens.iter().map(|(id, _)| *id).collect();
            let numbered = ids.iter().zip(0u32..).map(|(id, slot)| (*id, slot)).collect();
            Slots::Sparse(ids, numbered)
        };
        let bytes = tokens.iter().map(|(_, bytes)| bytes.as_ref().len()).sum::<usize>();
        let mut arena = Vec::with_capacity(bytes + PAD);
        let mut starts = Vec::with_capacity(greatest.min(4 * len + (1 << 16)) + 2);
        let place = |arena: &[u8]| {
            u32::try_from(arena.len())
                .map_err(|_| Error::Vocab("the tokens' bytes exceed 4 GiB together".to_owned()))
        };
        for (id, bytes) in &tokens {
            if bytes.as_ref().is_empty() {
                return Err(Error::Vocab(format!("token {id} is empty; a token needs a byte")));
            }
            let start = place(&arena)?;
            let gap = if matches!(slots, Slots::Dense) { *id as usize } else { starts.len() };
            starts.resize(gap, start);
            starts.push(start);
            arena.extend_from_slice(bytes.as_ref());
        }
        starts.push(place(&arena)?);
        arena.extend_from_slice(&[0; PAD]);
        let mut last = last.to_vec();
        last.sort_unstable();
        Ok(Self { starts, arena, slots, len, last, by_bytes: OnceLock::new() })
    }

    /// The vocabulary whose token `id` is `arena[starts[id]..starts[id + 1]]`, and no token where that
    /// is empty. The caller has made sure that `starts` ascends from 0 to the end of the arena.
    pub(crate) fn of_arena(mut starts: Vec<u32>, mut arena: Vec<u8>) -> Self {
        while let [.., last, end] = starts[..]
            && last == end
        {
            starts.pop();
        }
        let len = starts.windows(2).filter(|pair| pair[0] < pair[1]).count();
        arena.extend_from_slice(&[0; PAD]);
        let (slots, last) = (Slots::Dense, Vec::new());
        Self { starts, arena, slots, len, last, by_bytes: OnceLock::new() }
    }

    fn by_bytes(&self) -> &HashTable<u32> {
        self.by_bytes.get_or_init(|| {
            let mut table = HashTable::with_capacity(self.len);
            let is_last = |&slot: &usize| {
                !self.last.is_empty() && self.last.binary_search(&self.slot_id(slot)).is_ok()
            };
            let slots = 0..self.starts.len() - 1;
            let first = slots.clone().filter(|slot| !is_last(slot));
            for slot in first.chain(slots.filter(is_last)) {
                let bytes = self.slot_bytes(slot);
                let hash = hash(bytes);
                // Ids ascend, so the first entry for some bytes is the lowest id.
                let equal = |&other: &u32| self.slot_bytes(other as usize) == bytes;
                if !bytes.is_empty() && table.find(hash, equal).is_none() {
                    let slot = u32::try_from(slot).expect("fewer slots than u32 ids");
                    table.insert_unique(hash, slot, |&s| self::hash(self.slot_bytes(s as usize)));
                }
            }
            table
        })
    }

    fn slot_bytes(&self, slot: usize) -> &[u8] {
        &self.arena[self.starts[slot] as usize..self.starts[slot + 1] as usize]
    }

    fn slot_id(&self, slot: usize) -> u32 {
        match &self.slots {
            #[expect(clippy::cast_possible_truncation, reason = "a slot is an id here")]
            Slots::Dense => slot as u32,
            Slots::Sparse(ids, _) => ids[slot],
        }
    }

    /// The number of tokens.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The greatest id, if there is a token.
    pub fn greatest_id(&self) -> Option<u32> {
        Some(self.slot_id(self.starts.len().checked_sub(2)?))
    }

    /// The bytes of token `id`.
    #[inline]
    pub fn bytes(&self, id: u32) -> Option<&[u8]> {
        let slot = match &self.slots {
            Slots::Dense => id,
            Slots::Sparse(_, slots) => *slots.get(&id)?,
        } as usize;
        let &[start, end] = self.starts.get(slot..slot + 2)? else { return None };
        Some(&self.arena[start as usize..end as usize]).filter(|bytes| !bytes.is_empty())
    }

    /// Where the tokens lie, if an id is its own slot: token `id` is `arena[starts[id]..starts[id +
    /// 1]]`, there is no token where that is empty, and [`PAD`] bytes may be read from each start.
    pub(crate) fn dense(&self) -> Option<(&[u32], &[u8])> {
        matches!(self.slots, Slots::Dense).then_some((&self.starts, &self.arena))
    }

    /// The (lowest) id of the token `bytes`.
    pub fn id(&self, bytes: &[u8]) -> Option<u32> {
        let equal = |&slot: &u32| self.slot_bytes(slot as usize) == bytes;
        let slot = self.by_bytes().find(hash(bytes), equal)?;
        Some(self.slot_id(*slot as usize))
    }

    /// All tokens, by ascending id.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[u8])> {
        (0..self.starts.len() - 1)
            .map(|slot| (self.slot_id(slot), self.slot_bytes(slot)))
            .filter(|(_, bytes)| !bytes.is_empty())
    }
}

impl PartialEq for Vocab {
    fn eq(&self, other: &Self) -> bool {
        let ids = |vocab: &Self| match &vocab.slots {
            Slots::Dense => None,
            Slots::Sparse(ids, _) => Some(ids.clone()),
        };
        // The rest is derived from these.
        self.starts == other.starts && self.arena == other.arena && ids(self) == ids(other)
    }
}

impl Eq for Vocab {}

/// Token bytes as a Python-like literal, for error messages.
pub fn show(bytes: &[u8]) -> String {
    let mut text = String::from("b\"");
    for &byte in bytes.iter().take(40) {
        text.extend(std::ascii::escape_default(byte).map(char::from));
    }
    text.push('"');
    if bytes.len() > 40 {
        text.push('…');
    }
    text
}
