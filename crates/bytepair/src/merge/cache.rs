//! Remembers the ids of pieces: bounded and exact.
//!
//! Two-way associative over lines of two 32-byte slots. A slot holds a key of 128 bits and up to
//! three ids, or six. The key of a short piece is the piece itself (at most 15 bytes and its length),
//! so a hit is one line of memory and nothing is trusted to a hash alone. The key of a longer one is a
//! hash, and its bytes lie with its ids in `store.rs`, where more than six ids of a short one lie
//! too. A new piece takes the first place of its line and pushes the older one to the second.

use super::store::{self, Store};
use crate::huge;
use crate::simd;
use crate::simd::turn::{KEY_MOST, Key, Line, MORE, NO_IDS, Slot, pack_two};

/// The key of a piece that is too long to be remembered.
const NO_KEY: Key = Key { low: 0, high: 0 };

/// Its key is no piece's (it has length 0) and not [`NO_KEY`].
const EMPTY: Slot = Slot { key: Key { low: 1, high: 0 }, ids: MORE | NO_IDS, more: 0 };

/// Lines side by side.
const GROUP: usize = 4;

/// Piece → ids, for short pieces.
#[derive(Debug)]
pub struct PieceCache {
    lines: Vec<Line>,
    store: Store,
}

/// The key of `piece`.
pub(super) fn key(piece: &[u8]) -> Key {
    if piece.len() <= KEY_MOST { Key::of(piece, 0, piece.len()) } else { long_key(piece) }
}

/// A hash whose highest byte is the length, which no shorter piece has; [`NO_KEY`] when it is too
/// long.
pub(super) fn long_key(piece: &[u8]) -> Key {
    if piece.len() > store::BYTES_MOST {
        return NO_KEY;
    }
    let mix = |hash: u128, word: u64| {
        #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
        let (low, high) = (hash as u64, (hash >> 64) as u64);
        (u128::from(low ^ word) * 0x9E37_79B9_7F4A_7C15) ^ u128::from(high.rotate_left(29))
    };
    let (words, rest) = piece.as_chunks::<8>();
    let hash = words.iter().fold(1, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let last = rest.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
    let hash = mix(hash, last);
    #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
    let (low, high) = (hash as u64, (hash >> 64) as u64);
    Key { low, high: high >> 8 | (piece.len() as u64) << 56 }
}

fn is_long(key: Key) -> bool {
    key.high >> 56 > KEY_MOST as u64
}

impl PieceCache {
    /// An empty cache of 2 to the power of `lines` lines, 64 bytes each, and `words` words in the
    /// store, all of it written here.
    pub fn with_bits(lines: u32, words: u32) -> Self {
        let empty = Line([EMPTY; 2]);
        Self { lines: huge::filled(1 << lines, empty), store: Store::with_bits(words) }
    }

    /// Makes room for more, and tells whether the system had the memory. What the slots hold stays.
    pub fn grow(&mut self, lines: u32, words: u32) -> bool {
        let empty = Line([EMPTY; 2]);
        let (Some(lines), Some(store)) =
            (huge::try_filled(1 << lines, empty), Store::try_with_bits(words))
        else {
            return false;
        };
        let old = std::mem::replace(self, Self { lines, store });
        for Line([first, second]) in old.lines {
            for slot in [second, first] {
                if slot.key != EMPTY.key && slot.ids != MORE | NO_IDS {
                    self.put(slot);
                }
            }
        }
        true
    }

    /// The lines, for [`crate::simd::Level::probe`].
    pub(crate) fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Asks for the memory of the lines beside the one at `line`.
    pub(super) fn ask_beside(&self, line: u32) {
        for other in 1..GROUP {
            simd::prefetch(&self.lines, line as usize ^ other);
        }
    }

    /// The two words of the ids of `piece`, of key `key`, if they are remembered, and makes it the
    /// first of its line. Where two words do not hold them they are appended to `ids`, and there is
    /// none in the words.
    pub(super) fn get(&mut self, piece: &[u8], key: Key, ids: &mut Vec<u32>) -> Option<[u64; 2]> {
        let at = key.line(self.lines.len()) as usize;
        let Line(mut line) = self.lines[at];
        if line[0].key != key {
            line.swap(0, 1);
            if line[0].key != key {
                let beside = self.beside(at).find(|slot| slot.key == key)?;
                std::mem::swap(&mut line[0], beside);
            }
            self.lines[at] = Line(line);
        }
        let Slot { ids: word, more, .. } = line[0];
        if word & MORE == 0 {
            return Some([word, NO_IDS]);
        }
        if word != MORE | NO_IDS {
            return Some([word & NO_IDS, more]);
        }
        let (place, count) = (more >> 8, (more & 0xFF) as usize);
        let found = self.store.get(place, count, if is_long(key) { piece } else { &[] })?;
        Some(pack_two(found).unwrap_or_else(|| {
            ids.extend_from_slice(found);
            [NO_IDS; 2]
        }))
    }

    /// Remembers `ids` for `piece`, of key `key`, if they are few enough and it is short enough.
    pub(super) fn insert(&mut self, piece: &[u8], key: Key, ids: &[u32]) {
        if key == NO_KEY || ids.len() > store::IDS_MOST {
            return;
        }
        let slot = match pack_two(ids) {
            Some([ids, NO_IDS]) if !is_long(key) => Slot { key, ids, more: 0 },
            Some([ids, more]) if !is_long(key) => Slot { key, ids: ids | MORE, more },
            _ => {
                let place = self.store.put(ids, if is_long(key) { piece } else { &[] });
                Slot { key, ids: MORE | NO_IDS, more: place << 8 | ids.len() as u64 }
            }
        };
        self.put(slot);
    }

    /// The slots of the lines beside the one at `at`.
    fn beside(&mut self, at: usize) -> impl Iterator<Item = &mut Slot> {
        let first = at / GROUP * GROUP;
        let lines = (first..).zip(&mut self.lines[first..first + GROUP]);
        lines.filter(move |&(line, _)| line != at).flat_map(|(_, Line(slots))| slots)
    }

    fn put(&mut self, slot: Slot) {
        let at = slot.key.line(self.lines.len()) as usize;
        let Line([first, second]) = self.lines[at];
        if first.key == slot.key {
            self.lines[at] = Line([slot, second]);
            return;
        }
        if second.key != EMPTY.key
            && let Some(beside) = self.beside(at).find(|slot| slot.key == EMPTY.key)
        {
            *beside = second;
        }
        self.lines[at] = Line([slot, first]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::turn::{FIELDS, NONE, unpack};

    #[test]
    fn what_is_remembered_is_found_and_nothing_else() {
        let mut cache = PieceCache::with_bits(4, 10);
        let text: Vec<u8> = (0..=255).chain(0..=9).collect();
        let most = store::IDS_MOST;
        for len in 1..=store::BYTES_MOST + 1 {
            for count in [1, FIELDS, FIELDS + 1, 2 * FIELDS, 2 * FIELDS + 1, most, most + 1] {
                for factor in [1000, NONE - 1, NONE, u32::MAX >> 7] {
                    let piece = &text[..len];
                    let ids: Vec<u32> = (0..300).map(|id| id % 2 * factor).take(count).collect();
                    cache.insert(piece, key(piece), &ids);
                    let mut more = Vec::new();
                    let word = cache.get(piece, key(piece), &mut more);
                    let kept = len <= store::BYTES_MOST && count <= most;
                    let words = word.map(|words| words.into_iter().flat_map(unpack));
                    let found = words.map(|ids| ids.chain(more));
                    let found = found.map(|ids| ids.filter(|&id| id != NONE));
                    let expected = ids.iter().copied().filter(|&id| id != NONE);
                    if kept {
                        let (found, expected): (Vec<_>, Vec<_>) =
                            (found.unwrap().collect(), expected.collect());
                        assert_eq!(found, expected, "{len} {count}");
                    }
                    let other = &text[1..=len];
                    assert_eq!(cache.get(other, key(other), &mut Vec::new()), None);
                }
            }
        }
    }

    #[test]
    fn a_hash_alone_is_not_trusted() {
        let mut cache = PieceCache::with_bits(4, 10);
        let (one, two) = ([b'a'; 20], [b'b'; 20]);
        let (key, mut ids) = (key(&one), Vec::new());
        cache.insert(&one, key, &[1]);
        assert_eq!(cache.get(&one, key, &mut ids), pack_two(&[1]));
        assert!(ids.is_empty());
        assert_eq!(cache.get(&two, key, &mut ids), None, "the same key by bad luck");
    }

    #[test]
    fn growing_keeps_what_there_is() {
        let mut cache = PieceCache::with_bits(2, 8);
        let mut none = Vec::new();
        for (piece, id) in [("one", 1), ("two", 2), ("two", 2)] {
            cache.insert(piece.as_bytes(), key(piece.as_bytes()), &[id]);
        }
        assert!(cache.grow(5, 9));
        assert_eq!(cache.get(b"one", key(b"one"), &mut none), pack_two(&[1]));
        assert_eq!(cache.get(b"two", key(b"two"), &mut none), pack_two(&[2]));
    }
}
