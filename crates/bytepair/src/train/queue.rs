//! The queue of pairs waiting to be merged: a binary heap whose entries may be out of date.
//!
//! Counts only ever fall after a pair came into being, so an entry's count is an upper bound; who
//! pops an entry compares it with the pair's count and pushes it back if it fell.

use std::cmp::Ordering;

use super::TieBreak;
use super::counts::prefix;

/// The bytes of every token, in one arena.
pub(super) struct Tokens {
    bytes: Vec<u8>,
    /// Token `id` is `bytes[starts[id]..starts[id + 1]]`.
    starts: Vec<usize>,
}

impl Tokens {
    /// The 256 bytes.
    pub(super) fn new() -> Self {
        Self { bytes: (0..=u8::MAX).collect(), starts: (0..=256).collect() }
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn bytes(&self, id: u32) -> &[u8] {
        &self.bytes[self.starts[id as usize]..self.starts[id as usize + 1]]
    }

    /// How many bytes token `id` has.
    #[inline]
    pub(super) fn size(&self, id: u32) -> usize {
        self.starts[id as usize + 1] - self.starts[id as usize]
    }

    /// Adds a token.
    pub(super) fn push(&mut self, token: &[u8]) {
        self.bytes.extend_from_slice(token);
        self.starts.push(self.bytes.len());
    }

    /// Makes the token of a pair.
    pub(super) fn join(&mut self, left: u32, right: u32) {
        for id in [left, right] {
            let id = id as usize;
            self.bytes.extend_from_within(self.starts[id]..self.starts[id + 1]);
        }
        self.starts.push(self.bytes.len());
    }
}

/// A tie rule made ready to compare.
pub(super) struct Order {
    rule: TieBreak,
    /// What byte ids are worth in comparisons of ids.
    byte_ranks: [u32; 256],
}

impl Order {
    pub(super) fn new(rule: TieBreak) -> Self {
        let mut byte_ranks = [0; 256];
        let printable = |byte: &u8| matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
        let bytes: Vec<u8> = match rule {
            // `FirstSeen` has an engine and a queue of its own.
            TieBreak::Lexicographic | TieBreak::LowestIds | TieBreak::FirstSeen => {
                (0..=u8::MAX).collect()
            }
            TieBreak::HuggingFace => {
                let (first, last): (Vec<u8>, Vec<u8>) = (0..=u8::MAX).partition(printable);
                [first, last].concat()
            }
        };
        for (rank, byte) in (0..).zip(bytes) {
            byte_ranks[usize::from(byte)] = rank;
        }
        Self { rule, byte_ranks }
    }

    fn rank(&self, id: u32) -> u32 {
        self.byte_ranks.get(id as usize).copied().unwrap_or(id)
    }

    /// A number whose order is that of the rule among pairs of equal count (greater wins), as far
    /// as it differs: of the lexicographic rule it knows the first eight bytes.
    pub(super) fn tie(&self, pair: (u32, u32), tokens: &Tokens) -> u64 {
        match self.rule {
            TieBreak::Lexicographic => prefix(tokens.bytes(pair.0)),
            TieBreak::LowestIds | TieBreak::HuggingFace | TieBreak::FirstSeen => {
                !(u64::from(self.rank(pair.0)) << 32 | u64::from(self.rank(pair.1)))
            }
        }
    }

    /// Which of two pairs of equal count and equal [`Order::tie`] wins (is greater).
    pub(super) fn settle(&self, x: (u32, u32), y: (u32, u32), tokens: &Tokens) -> Ordering {
        match self.rule {
            TieBreak::Lexicographic => {
                let left = tokens.bytes(x.0).cmp(tokens.bytes(y.0));
                left.then_with(|| tokens.bytes(x.1).cmp(tokens.bytes(y.1)))
            }
            TieBreak::LowestIds | TieBreak::HuggingFace | TieBreak::FirstSeen => Ordering::Equal,
        }
    }
}

/// A pair in the queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub(super) count: u64,
    pub(super) tie: u64,
    pub(super) pair: (u32, u32),
    pub(super) slot: u32,
}

/// See the module.
pub(super) struct Queue {
    order: Order,
    heap: Vec<Waiting>,
}

impl Queue {
    pub(super) fn new(rule: TieBreak) -> Self {
        Self { order: Order::new(rule), heap: Vec::new() }
    }

    pub(super) fn clear(&mut self) {
        self.heap.clear();
    }

    pub(super) fn push(&mut self, pair: (u32, u32), count: u64, slot: u32, tokens: &Tokens) {
        let tie = self.order.tie(pair, tokens);
        self.heap.push(Waiting { count, tie, pair, slot });
        self.rise(self.heap.len() - 1, tokens);
    }

    /// The greatest entry, which stays.
    pub(super) fn peek(&self) -> Option<Waiting> {
        self.heap.first().copied()
    }

    /// Takes the greatest entry out.
    pub(super) fn pop(&mut self, tokens: &Tokens) {
        if let Some(last) = self.heap.pop()
            && let Some(top) = self.heap.first_mut()
        {
            *top = last;
            self.sink(tokens);
        }
    }

    /// Gives the greatest entry its true count, which is lower.
    pub(super) fn lower(&mut self, count: u64, tokens: &Tokens) {
        if let Some(top) = self.heap.first_mut() {
            top.count = count;
            self.sink(tokens);
        }
    }

    fn wins(&self, x: &Waiting, y: &Waiting, tokens: &Tokens) -> bool {
        let order = x.count.cmp(&y.count).then(x.tie.cmp(&y.tie));
        order.then_with(|| self.order.settle(x.pair, y.pair, tokens)).is_gt()
    }

    fn rise(&mut self, mut at: usize, tokens: &Tokens) {
        while at > 0 {
            let parent = (at - 1) / 2;
            if !self.wins(&self.heap[at], &self.heap[parent], tokens) {
                break;
            }
            self.heap.swap(at, parent);
            at = parent;
        }
    }

    fn sink(&mut self, tokens: &Tokens) {
        let mut at = 0;
        loop {
            let mut child = 2 * at + 1;
            if child >= self.heap.len() {
                break;
            }
            let other = child + 1;
            if other < self.heap.len() && self.wins(&self.heap[other], &self.heap[child], tokens) {
                child = other;
            }
            if !self.wins(&self.heap[child], &self.heap[at], tokens) {
                break;
            }
            self.heap.swap(at, child);
            at = child;
        }
    }
}
