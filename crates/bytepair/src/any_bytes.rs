//! Encoding any bytes: text that need not be valid UTF-8.
//!
//! Each stretch of valid UTF-8 is encoded as text is; a run of invalid bytes between is a piece of its
//! own. Decoding the ids gives the bytes back.

use crate::error::{Error, Result};
use crate::sink::{Count, Sink};
use crate::special::Policy;
use crate::tokenizer::{Scratch, Tokenizer};

impl Tokenizer {
    /// Appends the ids of any bytes to `ids`: what is UTF-8 is encoded as text, and each run of bytes
    /// that is not is a piece of its own.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn encode_bytes(&self, bytes: &[u8], policy: &Policy, ids: &mut Vec<u32>) -> Result<()> {
        self.bytes_to(bytes, policy, ids)
    }

    /// [`Tokenizer::count`] for any bytes.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn count_bytes(
        &self,
        bytes: &[u8],
        policy: &Policy,
        limit: Option<usize>,
    ) -> Result<usize> {
        let mut count = Count::up_to(limit);
        self.bytes_to(bytes, policy, &mut count)?;
        Ok(count.get())
    }

    pub(crate) fn bytes_to(
        &self,
        bytes: &[u8],
        policy: &Policy,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let mut at = 0;
        for chunk in bytes.utf8_chunks() {
            policy.check(chunk.valid()).map_err(|error| match error {
                Error::SpecialToken { token, mut place } => {
                    (place.byte, place.character) = (at + place.byte, None);
                    Error::SpecialToken { token, place }
                }
                other => other,
            })?;
            at += chunk.valid().len() + chunk.invalid().len();
        }
        self.with_scratch(bytes.len(), |scratch| {
            // The run of invalid bytes that goes on.
            let (mut from, mut at) = (0, 0);
            for chunk in bytes.utf8_chunks() {
                if !chunk.valid().is_empty() {
                    self.merge_invalid(&bytes[from..at], scratch, sink)?;
                    self.encode_to(chunk.valid(), policy, scratch, sink)?;
                    at += chunk.valid().len();
                    from = at;
                }
                at += chunk.invalid().len();
                if sink.is_full() {
                    return Ok(());
                }
            }
            self.merge_invalid(&bytes[from..at], scratch, sink)
        })
    }

    fn merge_invalid(
        &self,
        piece: &[u8],
        scratch: &mut Scratch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        match u32::try_from(piece.len()) {
            Ok(0) => Ok(()),
            Ok(end) => {
                scratch.ends.clear();
                scratch.ends.push(end);
                self.merge_pieces(piece, 0, scratch, sink)
            }
            Err(_) => scratch.merge_piece(self, piece).map(|ids| sink.take(ids)),
        }
    }
}
