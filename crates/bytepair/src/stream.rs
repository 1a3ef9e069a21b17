//! Encoding a text that comes in chunks: the same ids as for the whole text, for every chunking.
//!
//! What is held back: the last piece of the text so far, since more of it may come; what
//! [`crate::pretokenize::Filled::settled`] says is not settled; and an end of text that may be the
//! beginning of a special token. For the named patterns that is one word or one run of white space,
//! so memory stays bounded on prose. A general regular expression may look ahead any distance: then
//! a span is held until it ends, at a special token or at the end of the text.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::normalize::Place;
use crate::sink::Sink;
use crate::special::Policy;
use crate::tokenizer::{Scratch, Tokenizer};
use crate::train::{NoWatch, Watch};
use crate::watched::{Left, Pulse};

/// While nothing is settled, the text held is looked at again only when it has grown by half, so
/// that a long piece in small chunks does not cost the square of its length. Below this size it is
/// looked at on every chunk.
const SMALL: usize = 1 << 10;

/// The memory of a stream, made before it is needed so that encoding asks the system for none.
#[derive(Debug)]
pub(crate) struct Buffers {
    held: String,
    pub(crate) ids: Vec<u32>,
}

/// The longest chunk for which `Buffers` has room without growing, in bytes.
pub const CHUNK: usize = 1 << 12;

/// A longer chunk is taken in parts of so many bytes.
const PART: usize = 1 << 20;

impl Buffers {
    pub(crate) fn new() -> Self {
        Self { held: String::with_capacity(2 * CHUNK), ids: Vec::with_capacity(2 * CHUNK) }
    }
}

/// Encodes a text chunk by chunk.
#[derive(Debug)]
pub struct StreamEncoder {
    tokenizer: Arc<Tokenizer>,
    policy: Policy,
    buffers: Buffers,
    /// Bytes of text before `held`, for error messages.
    done: usize,
    /// The same in characters.
    done_characters: usize,
    /// Whether `held` goes on with a span of which a part is encoded already.
    inside: bool,
    /// The length of `held` from which on another look is worth while.
    look_again: usize,
}

impl StreamEncoder {
    /// A stream at its start.
    pub fn new(tokenizer: Arc<Tokenizer>, policy: Policy) -> Self {
        let mut buffers = tokenizer.buffers.take().unwrap_or_else(Buffers::new);
        buffers.held.clear();
        buffers.ids.clear();
        Self {
            tokenizer,
            policy,
            buffers,
            done: 0,
            done_characters: 0,
            inside: false,
            look_again: 0,
        }
    }

    /// The tokenizer it encodes with.
    pub fn tokenizer(&self) -> &Arc<Tokenizer> {
        &self.tokenizer
    }

    /// The ids that the last call of `feed` or `finish` gave.
    pub fn ids(&self) -> &[u32] {
        &self.buffers.ids
    }

    /// Takes the next chunk of the text and gives the ids that are now certain.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`]; the stream cannot be used afterwards.
    pub fn feed(&mut self, chunk: &str) -> Result<&[u32]> {
        self.feed_watched(chunk, &NoWatch)
    }

    /// [`StreamEncoder::feed`] that `watch` can stop.
    ///
    /// # Errors
    /// As [`StreamEncoder::feed`], and [`Error::Interrupted`].
    pub fn feed_watched(&mut self, chunk: &str, watch: &dyn Watch) -> Result<&[u32]> {
        self.buffers.ids.clear();
        let (pulse, mut rest) = (Pulse::new(watch), chunk);
        loop {
            let (part, behind) = rest.split_at(rest.floor_char_boundary(PART));
            self.buffers.held.push_str(part);
            if self.buffers.held.len() >= self.look_again {
                self.advance(false, &pulse)?;
            }
            if behind.is_empty() {
                return Ok(&self.buffers.ids);
            }
            pulse.check()?;
            rest = behind;
        }
    }

    /// The bytes of text that wait for what comes next.
    pub fn held(&self) -> usize {
        self.buffers.held.len()
    }

    /// Ends the text and gives the rest of its ids. The stream is then at its start again.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn finish(&mut self) -> Result<&[u32]> {
        self.finish_watched(&NoWatch)
    }

    /// [`StreamEncoder::finish`] that `watch` can stop.
    ///
    /// # Errors
    /// As [`StreamEncoder::finish`], and [`Error::Interrupted`].
    pub fn finish_watched(&mut self, watch: &dyn Watch) -> Result<&[u32]> {
        self.buffers.ids.clear();
        self.advance(true, &Pulse::new(watch))?;
        (self.done, self.done_characters, self.inside) = (0, 0, false);
        Ok(&self.buffers.ids)
    }

    fn advance(&mut self, ended: bool, pulse: &Pulse<'_>) -> Result<()> {
        let tokenizer = Arc::clone(&self.tokenizer);
        let used = tokenizer
            .with_scratch(0, |scratch| self.encode_held(&tokenizer, scratch, ended, pulse))?;
        self.done_characters += self.buffers.held[..used].chars().count();
        self.buffers.held.drain(..used);
        self.done += used;
        let held = self.buffers.held.len();
        self.look_again = if held < SMALL { 0 } else { held + held / 2 };
        // A long piece is behind us: give its memory back.
        if held < SMALL && self.buffers.held.capacity() > 64 * CHUNK {
            self.buffers.held.shrink_to(2 * CHUNK);
        }
        Ok(())
    }

    /// Encodes what is certain of the text held and tells how many bytes that is.
    fn encode_held(
        &mut self,
        tokenizer: &Tokenizer,
        scratch: &mut Scratch,
        ended: bool,
        pulse: &Pulse<'_>,
    ) -> Result<usize> {
        let Buffers { held, ids } = &mut self.buffers;
        let ids = &mut Left { sink: ids, pulse };
        let limit = if ended { held.len() } else { self.policy.open_from(held) };
        self.policy.check(held).map_err(|error| match error {
            Error::SpecialToken { token, mut place } => {
                place.byte += self.done;
                place.character = place.character.map(|place| place + self.done_characters);
                Error::SpecialToken { token, place }
            }
            other => other,
        })?;
        let (mut from, mut stop) = (0, limit);
        let mut place = match (self.inside, self.done) {
            (true, _) => Place::INSIDE,
            (false, 0) => Place::FIRST,
            (false, _) => Place::LATER,
        };
        while let Some(found) = self.policy.find(held, from) {
            // A special token that reaches into the open end waits: text still to come may show that
            // a forbidden one overlaps it.
            if found.end > limit {
                stop = limit.min(found.start);
                break;
            }
            tokenizer.encode_span(&held[from..found.start], place, scratch, ids)?;
            ids.take(&[tokenizer.special_id(found.string)]);
            (from, place) = (found.end, Place::LATER);
        }
        if ended {
            tokenizer.encode_span(&held[from..], place, scratch, ids)?;
            return Ok(held.len());
        }
        let used = tokenizer.encode_settled(&held[from..stop], place, scratch, ids)?;
        self.inside = used > 0 || place == Place::INSIDE;
        Ok(from + used)
    }
}

impl Drop for StreamEncoder {
    fn drop(&mut self) {
        if self.buffers.held.capacity() <= 64 * CHUNK && self.buffers.ids.capacity() <= 64 * CHUNK {
            let buffers = Buffers {
                held: std::mem::take(&mut self.buffers.held),
                ids: std::mem::take(&mut self.buffers.ids),
            };
            self.tokenizer.buffers.give(buffers);
        }
    }
}
