//! The ids of many texts, as the threads that made them left them.
//!
//! In: slabs, the ids of neighbouring texts in one vector. Out: each text's ids in place, or all of
//! them in one vector with the places where texts begin. A long text may lie in several slabs.

use std::sync::Mutex;

use crate::batch::on_threads;

/// From this many ids on several threads copy them.
const WORTH_THREADS: usize = 1 << 20;

/// The ids of some neighbouring texts, or parts of a long one.
#[derive(Debug, Default)]
pub(crate) struct Slab {
    pub(crate) ids: Vec<u32>,
    /// Where, in `ids`, a text ends.
    pub(crate) ends: Vec<usize>,
}

/// The ids of many texts: a row for each.
#[derive(Debug)]
pub struct Rows {
    slabs: Vec<Slab>,
}

impl Rows {
    pub(crate) fn new(slabs: Vec<Slab>) -> Self {
        Self { slabs }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.slabs.iter().map(|slab| slab.ends.len()).sum()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of ids in all rows.
    pub fn ids(&self) -> usize {
        self.slabs.iter().map(|slab| slab.ids.len()).sum()
    }

    /// Calls `row` with the ids of each row, in order, in one slice or several.
    ///
    /// # Errors
    /// The first error that `row` gives.
    pub fn each<E>(&self, mut row: impl FnMut(&[&[u32]]) -> Result<(), E>) -> Result<(), E> {
        let mut slices: Vec<&[u32]> = Vec::new();
        for slab in &self.slabs {
            let mut start = 0;
            for &end in &slab.ends {
                slices.push(&slab.ids[start..end]);
                row(&slices)?;
                slices.clear();
                start = end;
            }
            if start < slab.ids.len() {
                slices.push(&slab.ids[start..]);
            }
        }
        Ok(())
    }

    /// Where each row starts in the ids of all, and where the last ends.
    pub fn offsets(&self) -> Vec<usize> {
        let mut offsets = Vec::with_capacity(self.len() + 1);
        offsets.push(0);
        let mut before = 0;
        for slab in &self.slabs {
            offsets.extend(slab.ends.iter().map(|end| before + end));
            before += slab.ids.len();
        }
        offsets
    }

    /// The ids of all rows, one behind the other.
    pub fn into_ids(mut self, threads: usize) -> Vec<u32> {
        if let [slab] = &mut self.slabs[..] {
            return std::mem::take(&mut slab.ids);
        }
        let mut ids = Vec::new();
        self.append_to(&mut ids, threads);
        ids
    }

    /// Appends the ids of all rows to `ids`.
    pub fn append_to(mut self, ids: &mut Vec<u32>, threads: usize) {
        if ids.is_empty()
            && let [slab] = &mut self.slabs[..]
        {
            *ids = std::mem::take(&mut slab.ids);
            return;
        }
        let total = self.ids();
        if threads <= 1 || total < WORTH_THREADS {
            ids.reserve(total);
            for slab in self.slabs {
                ids.extend_from_slice(&slab.ids);
            }
            return;
        }
        let before = ids.len();
        ids.resize(before + total, 0);
        let mut rest = &mut ids[before..];
        let mut places = Vec::with_capacity(self.slabs.len());
        for slab in self.slabs {
            let (place, behind) = rest.split_at_mut(slab.ids.len());
            rest = behind;
            places.push((place, slab.ids));
        }
        let places = Mutex::new(places);
        let next = || places.lock().ok().and_then(|mut places| places.pop());
        let worker = || {
            while let Some((place, ids)) = next() {
                place.copy_from_slice(&ids);
            }
            Vec::<()>::new()
        };
        on_threads(threads.min(4), worker, || ());
    }
}

impl PartialEq for Rows {
    /// Whether both have the same rows, in whatever slabs.
    fn eq(&self, other: &Self) -> bool {
        let flat = |rows: &Self| -> Vec<u32> {
            rows.slabs.iter().flat_map(|slab| slab.ids.iter().copied()).collect()
        };
        self.offsets() == other.offsets() && flat(self) == flat(other)
    }
}
