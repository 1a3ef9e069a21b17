//! Room for what a slot of [`super::cache`] has no room for: more ids, and the bytes of longer
//! pieces.
//!
//! A ring of words. What is written last overwrites what was written first, and a place that was
//! overwritten is known to be: places are numbered without end. So the memory is bounded and there
//! is nothing to free.

use crate::huge;

/// The most ids of one piece that are kept.
pub(super) const IDS_MOST: usize = 255;
/// The longest piece that is kept, in bytes.
pub(super) const BYTES_MOST: usize = 255;

/// Ids and bytes, by place.
#[derive(Debug)]
pub(super) struct Store {
    words: Vec<u32>,
    /// Words written so far, with those left out at the end of a turn.
    head: u64,
}

impl Store {
    /// Room for 2 to the power of `bits` words, all of it written here.
    pub(super) fn with_bits(bits: u32) -> Self {
        Self { words: huge::filled(1 << bits, 0), head: 0 }
    }

    /// [`Store::with_bits`], if the system has the memory.
    pub(super) fn try_with_bits(bits: u32) -> Option<Self> {
        Some(Self { words: huge::try_filled(1 << bits, 0)?, head: 0 })
    }

    fn index(&self, place: u64) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "below the number of words")]
        let index = (place & (self.words.len() as u64 - 1)) as usize;
        index
    }

    /// Writes `ids` and then `piece`, of at most [`IDS_MOST`] and [`BYTES_MOST`], and returns their
    /// place.
    pub(super) fn put(&mut self, ids: &[u32], piece: &[u8]) -> u64 {
        let len = ids.len() + piece.len().div_ceil(4);
        if self.index(self.head) + len > self.words.len() {
            self.head = (self.head | (self.words.len() as u64 - 1)) + 1;
        }
        let (place, at) = (self.head, self.index(self.head));
        let (ids_room, bytes_room) = self.words[at..at + len].split_at_mut(ids.len());
        ids_room.copy_from_slice(ids);
        for (word, bytes) in bytes_room.iter_mut().zip(piece.chunks(4)) {
            *word = packed(bytes);
        }
        self.head += len as u64;
        place
    }

    /// The `count` ids at `place`, if they are still there and `piece` stands behind them.
    pub(super) fn get(&self, place: u64, count: usize, piece: &[u8]) -> Option<&[u32]> {
        if self.head - place > self.words.len() as u64 {
            return None;
        }
        let at = self.index(place);
        let (ids, words) = self.words.get(at..)?.split_at_checked(count)?;
        let words = words.get(..piece.len().div_ceil(4))?;
        let (fours, rest) = piece.as_chunks::<4>();
        let (words, last) = words.split_at_checked(fours.len())?;
        // Without a way out, so that many words are compared at once.
        let other = words
            .iter()
            .zip(fours)
            .fold(0, |other, (word, four)| other | (word ^ u32::from_le_bytes(*four)));
        (other == 0 && last.first().is_none_or(|&word| word == packed(rest))).then_some(ids)
    }
}

fn packed(bytes: &[u8]) -> u32 {
    match bytes.first_chunk() {
        Some(four) => u32::from_le_bytes(*four),
        None => bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_last_is_there_and_nothing_else() {
        let mut store = Store::with_bits(8);
        let mut places = Vec::new();
        for n in 0..400_u32 {
            let ids: Vec<u32> = (0..n % 40).map(|id| id * 7 + n).collect();
            let piece = n.to_string().repeat((n % 20) as usize);
            let place = store.put(&ids, piece.as_bytes());
            places.push((place, ids, piece));
            let mut gone = false;
            for (place, ids, piece) in places.iter().rev() {
                let found = store.get(*place, ids.len(), piece.as_bytes());
                gone |= found.is_none();
                assert!(gone || found == Some(ids), "{n} {piece}");
                if let Some((_, rest)) = piece.split_at_checked(1) {
                    let other = format!("!{rest}");
                    assert_eq!(store.get(*place, ids.len(), other.as_bytes()), None);
                }
            }
            assert!(n > 10 || !gone, "256 words are more than the first of these");
            assert!(n < 50 || gone, "and less than the first fifty");
        }
    }
}
