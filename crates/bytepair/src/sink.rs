//! Where the encoder puts ids: a list, or a count of them.

/// Where ids go.
pub(crate) trait Sink {
    /// Takes the ids of one or more pieces.
    fn take(&mut self, ids: &[u32]);
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
