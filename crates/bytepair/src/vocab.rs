//! The vocabulary: id → token bytes, and token bytes → id.
//!
//! In: (id, bytes) pairs in any order. Out: look-ups in constant time both ways. Immutable.
//! Token bytes lie in one arena, in id order; ids may have gaps, so a dense table maps id → slot
//! while ids are dense and a hash map does when they are not (an id of 4,000,000,000 must not cost
//! 16 GB). Special tokens are not in here: see [`crate::special`].

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::LazyLock;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::error::{Error, Result};

/// Slot of an id that no token has.
const NO_SLOT: u32 = u32::MAX;

/// A set of tokens with their ids.
#[derive(Debug, Clone)]
pub struct Vocab {
    /// Ids in ascending order; the index of an id is its slot.
    ids: Vec<u32>,
    /// Slot → start of its bytes in `arena`; one more entry than there are slots.
    starts: Vec<u32>,
    arena: Vec<u8>,
    slots: Slots,
    by_bytes: HashTable<u32>,
}

#[derive(Debug, Clone)]
enum Slots {
    Dense(Vec<u32>),
    Sparse(HashMap<u32, u32>),
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
        let mut starts = Vec::with_capacity(tokens.len() + 1);
        let mut arena = Vec::with_capacity(tokens.iter().map(|(_, b)| b.as_ref().len()).sum());
        starts.push(0);
        for (id, bytes) in &tokens {
            if bytes.as_ref().is_empty() {
                return Err(Error::Vocab(format!("token {id} is empty; a token needs a byte")));
            }
            arena.extend_from_slice(bytes.as_ref());
            starts.push(
                u32::try_from(arena.len()).map_err(|_| {
                    Error::Vocab("the tokens' bytes exceed 4 GiB together".to_owned())
                })?,
            );
        }
        let ids: Vec<u32> = tokens.iter().map(|(id, _)| *id).collect();
        let slots = Slots::new(&ids);
        let mut vocab = Self { ids, starts, arena, slots, by_bytes: HashTable::new() };
        vocab.index_bytes();
        Ok(vocab)
    }

    fn index_bytes(&mut self) {
        let mut table = HashTable::with_capacity(self.ids.len());
        for slot in 0..self.ids.len() {
            let bytes = self.slot_bytes(slot);
            let hash = hash(bytes);
            // Ids ascend, so the first entry for some bytes is the lowest id.
            if table.find(hash, |&other: &u32| self.slot_bytes(other as usize) == bytes).is_none() {
                let slot = u32::try_from(slot).expect("fewer slots than u32 ids");
                table.insert_unique(hash, slot, |&s| self::hash(self.slot_bytes(s as usize)));
            }
        }
        self.by_bytes = table;
    }

    fn slot_bytes(&self, slot: usize) -> &[u8] {
        &self.arena[self.starts[slot] as usize..self.starts[slot + 1] as usize]
    }

    /// The number of tokens.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The greatest id, if there is a token.
    pub fn greatest_id(&self) -> Option<u32> {
        self.ids.last().copied()
    }

    /// The bytes of token `id`.
    pub fn bytes(&self, id: u32) -> Option<&[u8]> {
        let slot = match &self.slots {
            Slots::Dense(slots) => *slots.get(id as usize)?,
            Slots::Sparse(slots) => *slots.get(&id)?,
        };
        if slot == NO_SLOT { None } else { Some(self.slot_bytes(slot as usize)) }
    }

    /// The (lowest) id of the token `bytes`.
    pub fn id(&self, bytes: &[u8]) -> Option<u32> {
        let slot = self.by_bytes.find(hash(bytes), |&s| self.slot_bytes(s as usize) == bytes)?;
        Some(self.ids[*slot as usize])
    }

    /// All tokens, by ascending id.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u32, &[u8])> {
        self.ids.iter().enumerate().map(|(slot, id)| (*id, self.slot_bytes(slot)))
    }
}

impl PartialEq for Vocab {
    fn eq(&self, other: &Self) -> bool {
        // The rest is derived from these.
        self.ids == other.ids && self.starts == other.starts && self.arena == other.arena
    }
}

impl Eq for Vocab {}

impl Slots {
    fn new(ids: &[u32]) -> Self {
        let Some(&greatest) = ids.last() else { return Slots::Dense(Vec::new()) };
        let greatest = greatest as usize;
        let numbered = ids.iter().zip(0u32..);
        if greatest < 4 * ids.len() + (1 << 16) {
            let mut slots = vec![NO_SLOT; greatest + 1];
            for (id, slot) in numbered {
                slots[*id as usize] = slot;
            }
            Slots::Dense(slots)
        } else {
            Slots::Sparse(numbered.map(|(id, slot)| (*id, slot)).collect())
        }
    }
}

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
