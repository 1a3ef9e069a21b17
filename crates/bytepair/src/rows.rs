//! The ids of many texts, a row for each, and how threads put them together.
//!
//! In: slabs, the ids of neighbouring texts or of a part of a long one, by number of job. Out: all of
//! them in one vector with the places where texts end. A slab is put to those before it while other
//! threads are still at work and it lies in a near cache, and its memory is for the next job. Who comes
//! while another does that does not wait: what it has is taken along later.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::huge;
use crate::sink::Room;

/// The ids of some neighbouring texts, or a part of a long one.
#[derive(Debug, Default)]
pub(crate) struct Slab {
    pub(crate) ids: Vec<u32>,
    /// Where, in `ids`, a text ends.
    pub(crate) ends: Vec<usize>,
    /// How long what was encoded is.
    pub(crate) bytes: usize,
}

/// The ids of many texts: a row for each.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Rows {
    ids: Vec<u32>,
    ends: Vec<usize>,
}

impl Rows {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The ids of all rows, one behind the other.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// The ids of each row, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.ids[start..end])
    }

    /// Where each row starts in the ids of all, and where the last ends.
    pub fn offsets(&self) -> Vec<usize> {
        std::iter::once(0).chain(self.ends.iter().copied()).collect()
    }

    /// The ids of all rows, one behind the other.
    pub fn into_ids(self) -> Vec<u32> {
        self.ids
    }

    fn append(&mut self, slab: &Slab) {
        let before = self.ids.len();
        self.ids.extend_from_slice(&slab.ids);
        self.ends.extend(slab.ends.iter().map(|end| before + end));
    }
}

/// Rows to which slabs are put in the order of their jobs, in whatever order they come.
pub(crate) struct Gather {
    slabs: Mutex<Vec<Option<Slab>>>,
    /// Empty slabs with room.
    free: Mutex<Vec<Slab>>,
    whole: Mutex<Whole>,
}

struct Whole {
    rows: Rows,
    /// The job whose slab is next.
    next: usize,
    room: Room,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Gather {
    /// For the slabs of `jobs` jobs, which are `bytes` bytes together.
    pub(crate) fn new(jobs: usize, bytes: usize) -> Self {
        // By the thread that calls, for an allocator keeps memory for each thread apart.
        let ids = if jobs > 1 { huge::with_capacity(bytes / 3) } else { Vec::new() };
        let rows = Rows { ids, ends: Vec::new() };
        let whole = Whole { rows, next: 0, room: Room::new(bytes) };
        let slabs = Mutex::new((0..jobs).map(|_| None).collect());
        Self { slabs, free: Mutex::new(Vec::new()), whole: Mutex::new(whole) }
    }

    /// An empty slab.
    pub(crate) fn slab(&self) -> Slab {
        lock(&self.free).pop().unwrap_or_default()
    }

    /// Takes the slab of a job.
    pub(crate) fn take(&self, job: usize, slab: Slab) {
        lock(&self.slabs)[job] = Some(slab);
        if let Ok(mut whole) = self.whole.try_lock() {
            self.put_together(&mut whole);
        }
    }

    fn put_together(&self, whole: &mut Whole) {
        loop {
            let slab = lock(&self.slabs).get_mut(whole.next).and_then(Option::take);
            let Some(mut slab) = slab else { return };
            whole.next += 1;
            if whole.rows.ids.is_empty() && lock(&self.slabs).len() == 1 {
                whole.rows = Rows { ids: slab.ids, ends: slab.ends };
                return;
            }
            // Room is made for what this slab shows before it is copied, so as not to copy it twice.
            whole.room.passed(&mut whole.rows.ids, slab.ids.len(), slab.bytes);
            whole.rows.append(&slab);
            slab.ids.clear();
            slab.ends.clear();
            lock(&self.free).push(slab);
        }
    }

    /// The rows, when all slabs were given.
    pub(crate) fn into_rows(self) -> Rows {
        self.put_together(&mut lock(&self.whole));
        self.whole.into_inner().unwrap_or_else(PoisonError::into_inner).rows
    }
}
