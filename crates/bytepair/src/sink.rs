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

/// Room for the ids of a text whose length is known: as soon as the first show how many there will be,
/// there is room for all of them, which spares copying them when that for a guess is full.
#[derive(Debug)]
pub(crate) struct Room {
    bytes: usize,
    passed: usize,
    ids: usize,
    /// After how many bytes to look again.
    next: usize,
}

impl Room {
    /// Of a text of `bytes` bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        Self { bytes, passed: 0, ids: 0, next: SHOWN }
    }

    /// Makes room behind `ids` for those of the text of which further `bytes` have `count`.
    pub(crate) fn passed(&mut self, ids: &mut Vec<u32>, count: usize, bytes: usize) {
        (self.passed, self.ids) = (self.passed + bytes, self.ids + count);
        if self.passed < self.next {
            return;
        }
        self.next = 2 * self.passed;
        let left = self.bytes.saturating_sub(self.passed);
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a guess; what is not used costs nothing"
        )]
        let more = (self.ids as f64 / self.passed as f64 * left as f64 * 1.25) as usize;
        if ids.capacity() - ids.len() < count + more {
            huge::reserve(ids, count + more);
        }
    }
}

/// Ids that are put behind others, with [`Room`] for them.
pub(crate) struct Behind<'a> {
    ids: &'a mut Vec<u32>,
    /// How many `room` knows of.
    told: usize,
    room: Room,
}

impl<'a> Behind<'a> {
    /// The ids of a text of `bytes` bytes, behind `ids`.
    pub(crate) fn new(ids: &'a mut Vec<u32>, bytes: usize) -> Self {
        if ids.capacity() - ids.len() < bytes / 4 {
            huge::reserve(ids, bytes / 4);
        }
        Self { told: ids.len(), ids, room: Room::new(bytes) }
    }

    /// The number of ids, with those before.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }
}

impl Sink for Behind<'_> {
    #[inline]
    fn take(&mut self, ids: &[u32]) {
        self.ids.extend_from_slice(ids);
    }

    fn passed(&mut self, bytes: usize) {
        let count = self.ids.len() - self.told;
        self.told = self.ids.len();
        self.room.passed(self.ids, count, bytes);
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
        self.ids.min(self.passed())
    }

    /// What is said of all numbers beyond the limit.
    pub(crate) fn passed(&self) -> usize {
        self.limit.saturating_add(1)
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
