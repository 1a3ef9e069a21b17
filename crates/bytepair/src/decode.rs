//! Ids to bytes.
//!
//! In: ids. Out: the bytes of their tokens, side by side. The tokens of a vocab lie in one arena, and
//! a copy from there has a fixed length: 1.5 ns an id. Does not make text of bytes that are not UTF-8;
//! see [`crate::stream_decode`].

use crate::error::{Error, Result};
use crate::tokenizer::Tokenizer;
use crate::vocab::PAD;

/// How many ids are decoded at a time to a block on the stack.
pub const GROUP: usize = 32;
/// Bytes of that block.
pub const BLOCK: usize = GROUP * PAD;

impl Tokenizer {
    /// Appends the bytes of `ids` to `bytes`.
    ///
    /// # Errors
    /// [`Error::UnknownToken`], naming the first id that no token has.
    pub fn decode(&self, ids: &[u32], bytes: &mut Vec<u8>) -> Result<()> {
        if !self.drops_space() {
            return self.decode_part(ids, bytes);
        }
        let start = bytes.len();
        self.decode_part(ids, bytes)?;
        if bytes.get(start) == Some(&b' ') {
            bytes.remove(start);
        }
        Ok(())
    }

    /// [`Tokenizer::decode`] of ids that others come before: no space is left out.
    ///
    /// # Errors
    /// As [`Tokenizer::decode`].
    pub fn decode_part(&self, ids: &[u32], bytes: &mut Vec<u8>) -> Result<()> {
        // One id, as in a stream, is not worth the block.
        let dense = self.model().vocab().dense().filter(|_| ids.len() > 1);
        let Some((starts, arena)) = dense else {
            return self.decode_each(ids, 0, bytes);
        };
        // Where the next token goes is then kept in a register, not in the vector.
        let mut block = [0; BLOCK];
        let mut index = 0;
        while index < ids.len() {
            let group = &ids[index..ids.len().min(index + GROUP)];
            let (done, filled) = decode_group(starts, arena, group, &mut block);
            bytes.extend_from_slice(&block[..filled]);
            index += done;
            if done < group.len() {
                self.decode_each(&ids[index..=index], index, bytes)?;
                index += 1;
            }
        }
        Ok(())
    }

    /// [`Tokenizer::decode`] of a few ids without a vector: their bytes in `block`, or `None` where they
    /// are more than [`GROUP`] or need more than one look each.
    #[inline]
    pub fn decode_few<'a>(&self, ids: &[u32], block: &'a mut [u8; BLOCK]) -> Option<&'a [u8]> {
        let (starts, arena) = self.model().vocab().dense().filter(|_| !self.drops_space())?;
        let (done, filled) = decode_group(starts, arena, ids, block);
        (done == ids.len()).then_some(&block[..filled])
    }

    /// [`Tokenizer::decode`] of ids that stand at `first` of those given: its slow twin.
    fn decode_each(&self, ids: &[u32], first: usize, bytes: &mut Vec<u8>) -> Result<()> {
        for (index, &id) in (first..).zip(ids) {
            bytes.extend_from_slice(self.token_bytes(id).ok_or_else(|| Error::UnknownToken {
                id: u64::from(id),
                index,
                vocab_size: self.vocab_size(),
            })?);
        }
        Ok(())
    }
}

/// Decodes up to [`GROUP`] of `ids`, up to the first whose token is unknown or longer than [`PAD`].
/// Returns how many those are, and how many bytes of `block` they take.
#[inline(always)]
fn decode_group(
    starts: &[u32],
    arena: &[u8],
    ids: &[u32],
    block: &mut [u8; BLOCK],
) -> (usize, usize) {
    let mut filled = 0;
    for (index, &id) in ids.iter().enumerate() {
        let at = id as usize;
        let Some(&[start, end]) = starts.get(at..at.wrapping_add(2)) else {
            return (index, filled);
        };
        let (start, len) = (start as usize, (end - start) as usize);
        // Copying a fixed number of bytes is cheaper than copying just those of the token.
        match (arena.get(start..start + PAD), block.get_mut(filled..filled + PAD)) {
            (Some(window), Some(room)) if 0 < len && len <= PAD => room.copy_from_slice(window),
            _ => return (index, filled),
        }
        filled += len;
    }
    (ids.len(), filled)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::merge::Model;
    use crate::pretokenize::Pattern;
    use crate::special::SpecialTokens;
    use crate::vocab::Vocab;

    /// Ids of which some are not tokens, some are longer than [`PAD`], and one is a special token.
    #[test]
    fn groups_give_what_ids_give_one_by_one() {
        let bytes = (0..=255_u8).map(|byte| (u32::from(byte), vec![byte]));
        let longer = (261..300).zip(2..).map(|(id, len)| (id, vec![b'a'; len]));
        let vocab = Vocab::new(bytes.chain(longer)).expect("tokens are distinct");
        let special = SpecialTokens::new([("<s>".to_owned(), 400)], []).expect("one");
        let model = Model::from_ranks(vocab).expect("all bytes are tokens");
        let tokenizer = Tokenizer::new(Arc::new(model), special, &Pattern::None).expect("right");
        let mut seed = 1_u32;
        let mut next = |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) % below
        };
        let (mut few, mut failed) = (0, 0);
        for round in 0..2000 {
            let most = [40, 256, 276, 300, 401][round % 5];
            let ids: Vec<u32> = (0..next(100)).map(|_| next(most)).collect();
            let (mut fast, mut slow) = (Vec::new(), Vec::new());
            let result = tokenizer.decode(&ids, &mut fast).map_err(|error| error.to_string());
            let expected = tokenizer.decode_each(&ids, 0, &mut slow).map_err(|e| e.to_string());
            assert_eq!((&result, &fast), (&expected, &slow), "{ids:?}");
            failed += usize::from(result.is_err());
            if let Some(bytes) = tokenizer.decode_few(&ids, &mut [0; BLOCK]) {
                assert_eq!(bytes, slow, "{ids:?}");
                few += 1;
            }
        }
        assert!(few > 100 && failed > 100, "{few} {failed}");
    }
}
