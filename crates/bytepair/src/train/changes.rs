//! What one merge changes, summed by the tokens that stand beside its places.
//!
//! In: each place of the merge, from [`super::words`]. Out: for each neighbour how much its pair lost
//! and gained, and where. The places take 8 bytes each; where a merge has very many, only sums are
//! kept and the learner goes through the places again.

use super::words::Neighbours;

/// What a merge did to the pairs around it, by neighbouring token.
pub(super) struct Changes {
    pub(super) before: Side,
    pub(super) after: Side,
    /// How often the merge was made.
    pub(super) made: u64,
}

impl Changes {
    pub(super) fn new() -> Self {
        Self { before: Side::default(), after: Side::default(), made: 0 }
    }

    /// Makes ready for a merge, when there are `ids` tokens. Without `places` only sums are kept.
    pub(super) fn begin(&mut self, ids: usize, places: bool) {
        self.made = 0;
        for side in [&mut self.before, &mut self.after] {
            side.sums.resize(ids, Sum::default());
            side.keeps_places = places;
        }
    }
}

impl Neighbours for Changes {
    #[inline]
    fn made(&mut self, n: u64) {
        self.made += n;
    }

    #[inline]
    fn before(&mut self, token: u32, item: u32, n: u64) {
        self.before.note(token, item, n);
    }

    #[inline]
    fn after(&mut self, token: u32, item: u32, n: u64) {
        self.after.note(token, item, n);
    }
}

/// The changes on one side.
#[derive(Default)]
pub(super) struct Side {
    /// By neighbouring token.
    pub(super) sums: Vec<Sum>,
    /// The tokens that have sums.
    pub(super) touched: Vec<u32>,
    /// Tokens and items, in the order in which they were heard.
    pub(super) places: Vec<(u32, u32)>,
    pub(super) keeps_places: bool,
}

impl Side {
    #[inline]
    fn note(&mut self, token: u32, item: u32, n: u64) {
        let sum = &mut self.sums[token as usize];
        if sum.n == 0 {
            self.touched.push(token);
        } else if sum.last == item {
            sum.n += n;
            return;
        }
        sum.n += n;
        sum.items += 1;
        sum.last = item;
        if self.keeps_places {
            self.places.push((token, item));
        }
    }
}

/// The sum of the changes at one neighbour.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    pub(super) n: u64,
    /// Different items among the changes.
    pub(super) items: usize,
    last: u32,
    /// The slot of the pair gained, if it is wanted.
    pub(super) slot: Option<u32>,
}
