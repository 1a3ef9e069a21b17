//! Where the encoder puts ids: a list, or a count of them.

use crate::huge;

/// Where ids go.
pub(crate) trait Sink {
    /// Takes the ids of one or more pieces.
    fn take(&mut self, ids: &[u32]);
    /// Is told that the ids of further `bytes` of the text were taken.
    fn passed(&mut self, bytes: usize) {
        let _ = bytes;
    }
    /// Whether more would be useless.
    fn is_full(&self) -> bool {
        false
    }
    /// Whether whoever wants the ids has given up: asked inside a long piece.
    fn is_left(&self) -> bool {
        false
    }
}

impl Sink for Vec<u32> {
    #[inline]
    fn take(&mut self, ids: &[u32]) {
        self.extend_from_slice(ids);
    }
}

/// From this many bytes on a text shows how many ids it has to a byte.
const SHOWN: usize = 1 << 16;

/// Ids of a text whose length is known: as soon as the first show how many there will be, there is room
/// for all of them, which spares copying them when that for a guess is full.
pub(crate) struct Room<'a> {
    ids: &'a mut Vec<u32>,
    /// How many there were before.
    before: usize,
    bytes: usize,
    passed: usize,
    /// After how many bytes to look again.
    next: usize,
}

impl<'a> Room<'a> {
    /// The ids of a text of `bytes` bytes, behind `ids`.
    pub(crate) fn new(ids: &'a mut Vec<u32>, bytes: usize) -> Self {
        let before = ids.len();
        if ids.capacity() - before < bytes / 4 {
            huge::reserve(ids, bytes / 4);
        }
        Self { ids, before, bytes, passed: 0, next: SHOWN }
    }

    /// The number of ids, with those before.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }
}

impl Sink for Room<'_> {
    #[inline]
    fn take(&mut self, ids: &[u32]) {
        self.ids.extend_from_slice(ids);
    }

    fn passed(&mut self, bytes: usize) {
        self.passed += bytes;
        if self.passed < self.next {
            return;
        }
        self.next = 2 * self.passed;
        #[expect(clippy::cast_precision_loss, reason = "a guess")]
        let density = (self.ids.len() - self.before) as f64 / self.passed as f64;
        let left = self.bytes.saturating_sub(self.passed);
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a guess"
        )]
        let more = (density * left as f64 * 1.05) as usize;
        if self.ids.capacity() - self.ids.len() < more {
            huge::reserve(self.ids, more);
        }
    }
}

/// Counts ids without keeping them, up to a limit.
pub(crate) struct Count {
    ids: usize,
    limit: usize,
}

impl Count {
    /// A count that is full when it has passed `limit`.
    pub(crate) fn up_to(limit: Option<usize>) -> Self {
        Self { ids: 0, limit: limit.unwrap_or(usize::MAX) }
    }

    /// The number of ids, or the limit plus one when there are more.
    pub(crate) fn get(&self) -> usize {
        self.ids.min(self.limit.saturating_add(1))
    }
}

impl Sink for Count {
    #[inline]
    fn take(&mut self, ids: &[u32]) {
        self.ids += ids.len();
    }

    fn is_full(&self) -> bool {
        self.ids > self.limit
    }
}
