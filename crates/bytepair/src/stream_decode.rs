//! Decoding ids that come one by one: the text that is certain so far, never half a character.
//!
//! In: ids, as a model generates them. Out: the text they complete. The texts given, joined, are
//! the text of all ids decoded at once. Held back are at most three bytes, the beginning of a
//! character; a step takes time in proportion to the bytes of its tokens, however long the stream
//! is. U+FFFD that was encoded as such is text like any other and given at once.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::tokenizer::Tokenizer;

/// What becomes of bytes that are not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invalid {
    /// They are an error.
    Refuse,
    /// Each maximal part of a character becomes U+FFFD, as in one-shot decoding.
    Replace,
    /// They are left out.
    Ignore,
}

/// Decodes ids step by step.
///
/// ```
/// use std::sync::Arc;
/// use bytepair::stream_decode::{Invalid, StreamDecoder};
/// # use bytepair::{merge::Model, pretokenize::Pattern, special::SpecialTokens, tokenizer::Tokenizer, vocab::Vocab};
/// # let vocab = Vocab::new((0..=255u8).map(|byte| (u32::from(byte), [byte])))?;
/// # let model = Arc::new(Model::from_merges(vocab, Vec::new(), false)?);
/// # let tokenizer = Arc::new(Tokenizer::new(model, SpecialTokens::new([], [])?, &Pattern::None)?);
/// // Each id is the byte of that number.
/// let mut decoder = StreamDecoder::new(tokenizer, Invalid::Replace);
/// assert_eq!(decoder.feed(&[0xC3])?, "");
/// assert_eq!(decoder.feed(&[0xA9])?, "é");
/// # Ok::<(), bytepair::Error>(())
/// ```
#[derive(Debug)]
pub struct StreamDecoder {
    tokenizer: Arc<Tokenizer>,
    invalid: Invalid,
    /// The bytes at work; between calls the beginning of a character, at most three.
    bytes: Vec<u8>,
    text: String,
    /// Whether nothing was given or left out yet, so that a space may be left out.
    start: bool,
    /// How many ids were taken, and how many bytes stand before those held.
    taken: usize,
    done: usize,
}

impl StreamDecoder {
    /// A stream at its start.
    pub fn new(tokenizer: Arc<Tokenizer>, invalid: Invalid) -> Self {
        let (bytes, text) = (Vec::new(), String::new());
        let start = tokenizer.drops_space();
        Self { tokenizer, invalid, bytes, text, start, taken: 0, done: 0 }
    }

    /// A stream that goes on where a prompt ends, without giving its text: if the prompt ends inside
    /// a character, the first step completes it.
    ///
    /// # Errors
    /// [`Error::UnknownToken`].
    pub fn after(tokenizer: Arc<Tokenizer>, invalid: Invalid, prompt: &[u32]) -> Result<Self> {
        let mut stream = Self::new(tokenizer, Invalid::Ignore);
        // In parts, so that a long prompt is never held whole.
        for part in prompt.chunks(1 << 12) {
            stream.feed(part)?;
        }
        Ok(Self { invalid, taken: 0, done: 0, text: String::new(), ..stream })
    }

    /// Takes the next ids and gives the text that is now certain.
    ///
    /// # Errors
    /// [`Error::UnknownToken`] for an id that no token has; [`Error::NotText`] for bytes that are not
    /// UTF-8 where they are refused. A call that fails changes nothing.
    pub fn feed(&mut self, ids: &[u32]) -> Result<&str> {
        let (held, start) = (self.bytes.len(), self.start);
        let result = self.take(ids);
        if let Err(mut error) = result {
            self.bytes.truncate(held);
            self.start = start;
            if let Error::UnknownToken { index, .. } = &mut error {
                *index += self.taken;
            }
            return Err(error);
        }
        self.taken += ids.len();
        Ok(&self.text)
    }

    fn take(&mut self, ids: &[u32]) -> Result<()> {
        self.tokenizer.decode_part(ids, &mut self.bytes)?;
        self.text.clear();
        if self.start && !self.bytes.is_empty() {
            if self.bytes[0] == b' ' {
                self.bytes.remove(0);
            }
            self.start = false;
        }
        let mut from = 0;
        loop {
            match std::str::from_utf8(&self.bytes[from..]) {
                Ok(rest) => {
                    self.text.push_str(rest);
                    from = self.bytes.len();
                    break;
                }
                Err(error) => {
                    let (valid, rest) = self.bytes[from..].split_at(error.valid_up_to());
                    self.text.push_str(std::str::from_utf8(valid).unwrap_or_default());
                    from += valid.len();
                    let Some(length) = error.error_len() else { break };
                    match self.invalid {
                        Invalid::Replace => self.text.push(char::REPLACEMENT_CHARACTER),
                        Invalid::Ignore => {}
                        Invalid::Refuse => {
                            return Err(Error::NotText {
                                bytes: rest[..length].to_vec(),
                                offset: self.done + from,
                            });
                        }
                    }
                    from += length;
                }
            }
        }
        self.bytes.drain(..from);
        self.done += from;
        Ok(())
    }

    /// Ends the stream and gives what was held back. The stream is then at its start again.
    ///
    /// # Errors
    /// [`Error::NotText`] when it ends inside a character and that is refused.
    pub fn finish(&mut self) -> Result<&str> {
        self.text.clear();
        let (bytes, offset) = (std::mem::take(&mut self.bytes), self.done);
        (self.taken, self.done) = (0, 0);
        self.start = self.tokenizer.drops_space();
        if !bytes.is_empty() {
            match self.invalid {
                Invalid::Replace => self.text.push(char::REPLACEMENT_CHARACTER),
                Invalid::Ignore => {}
                Invalid::Refuse => return Err(Error::NotText { bytes, offset }),
            }
        }
        Ok(&self.text)
    }
}
