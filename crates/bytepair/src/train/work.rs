//! The threads that count: blocks to pieces, pieces to tables.
//!
//! In: blocks of a corpus, given out in order. Out: counts in the shards, shared tables each under
//! its lock, and the little that each thread's own table still holds. Where memory is limited, the
//! thread that finds the shards full takes their tables and writes them to the store, while the
//! others go on with empty ones.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use super::corpus::{Block, Place, SpecialCutter, Supply};
use super::counts::{note, overflow, shard};
use super::store::Store;
use super::table::{Probe, Seeds, Table};
use super::watch::Pulse;
use crate::error::{Error, Result};
use crate::pretokenize::Pretokenizer;

/// How long a thread waits before it asks again for the store.
const PATIENCE: Duration = Duration::from_millis(2);

/// The tables that all threads add to, and where they go when memory is full.
pub(super) struct Shards {
    pub(super) seeds: Seeds,
    pub(super) tables: Vec<Mutex<Table>>,
    /// Where memory is limited or counts are kept.
    pub(super) spill: Option<Spill>,
}

/// See [`Shards`].
pub(super) struct Spill {
    pub(super) store: Mutex<Store>,
    /// Bytes of the tables.
    pub(super) held: AtomicUsize,
    /// Bytes that they may take.
    pub(super) budget: usize,
}

impl Shards {
    /// Adds a table to the shards and clears it.
    pub(super) fn add(&self, own: &mut Table, beat: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        if own.len() == 0 {
            return Ok(());
        }
        let seeds = self.seeds;
        let mut sorted: Vec<(usize, Probe<'_>, u64)> = Vec::with_capacity(own.len());
        sorted.extend(own.iter().map(|(piece, n)| {
            let probe = Probe::new(seeds, piece);
            (shard(probe.hash), probe, n)
        }));
        sorted.sort_unstable_by_key(|entry| entry.0);
        for group in sorted.chunk_by(|a, b| a.0 == b.0) {
            self.make_room(group, beat)?;
            let mut table = lock(&self.tables[group[0].0]);
            let before = table.bytes();
            for (_, probe, n) in group {
                table.add(seeds, probe, *n).ok_or_else(|| overflow(probe.piece()))?;
            }
            if let Some(spill) = &self.spill {
                spill.held.fetch_add(table.bytes() - before, Ordering::Relaxed);
            }
        }
        own.clear();
        Ok(())
    }

    /// Empties the tables into the store if these pieces of one shard would not fit.
    fn make_room(
        &self,
        group: &[(usize, Probe<'_>, u64)],
        beat: &mut dyn FnMut() -> Result<()>,
    ) -> Result<()> {
        let Some(spill) = &self.spill else { return Ok(()) };
        let arena = group.iter().map(|entry| entry.1.arena_bytes()).sum();
        let full = || {
            let growth = lock(&self.tables[group[0].0]).growth(group.len(), arena);
            growth > 0 && spill.held.load(Ordering::Relaxed) + growth > spill.budget
        };
        if !full() {
            return Ok(());
        }
        let mut store = loop {
            match spill.store.try_lock() {
                Ok(store) => break store,
                Err(TryLockError::Poisoned(store)) => break store.into_inner(),
                Err(TryLockError::WouldBlock) => thread::sleep(PATIENCE),
            }
            beat()?;
        };
        // Another thread may have emptied them since.
        if full() { store.add(self.take(), beat) } else { Ok(()) }
    }

    /// Takes the tables and leaves empty ones.
    pub(super) fn take(&self) -> Vec<Table> {
        let take = |table: &Mutex<Table>| {
            let table = std::mem::take(&mut *lock(table));
            if let Some(spill) = &self.spill {
                spill.held.fetch_sub(table.bytes(), Ordering::Relaxed);
            }
            table
        };
        self.tables.iter().map(take).collect()
    }
}

/// What the threads of one call share.
pub(super) struct Job<'j, S> {
    pub(super) pretokenizer: &'j Pretokenizer,
    pub(super) special: &'j SpecialCutter,
    pub(super) shards: &'j Shards,
    pub(super) supply: Mutex<&'j mut S>,
    /// When a thread's own table is added to the shards: pieces in it, and bytes of long ones.
    pub(super) own_most: (usize, usize),
    /// When no more blocks are given out, so that what was counted can be saved.
    pub(super) pause: Option<Instant>,
    /// No more blocks are given out: a thread met an error. Those given out are counted to their
    /// ends, so that of several errors the first in the corpus is known.
    pub(super) closed: AtomicBool,
    /// Stop at once.
    pub(super) stop: AtomicBool,
    pub(super) done: AtomicU64,
    pub(super) finished: AtomicUsize,
    pub(super) total: u64,
}

type Failure = (Place, Error);

impl<'t, S: Supply<'t>> Job<'_, S> {
    /// Counts until there is nothing left, or until it is time to pause.
    pub(super) fn run(
        &self,
        own: &mut [Table],
        order: Option<&mut Table>,
        mut pulse: Pulse<'_>,
    ) -> Result<()> {
        let Some((first, others)) = own.split_first_mut() else { return Ok(()) };
        let caller = thread::current();
        let failures: Vec<Failure> = thread::scope(|scope| {
            let caller = &caller;
            let spawn = |table| {
                let work = move || {
                    let result = self.work(table, None, None);
                    self.finished.fetch_add(1, Ordering::Release);
                    caller.unpark();
                    result
                };
                thread::Builder::new().spawn_scoped(scope, work).ok()
            };
            // Where the system refuses a thread, fewer do the work.
            let handles: Vec<_> = others.iter_mut().map_while(spawn).collect();
            let mut results = vec![self.work(first, order, Some(&mut pulse))];
            // The caller's thread goes on listening until the others are done.
            while self.finished.load(Ordering::Acquire) < handles.len()
                && !handles.iter().all(thread::ScopedJoinHandle::is_finished)
            {
                thread::park_timeout(Pulse::interval());
                if pulse.beat(self.done.load(Ordering::Relaxed), self.total).is_err() {
                    self.stop.store(true, Ordering::Relaxed);
                    results.push(Err((Place::default(), Error::Interrupted)));
                }
            }
            for handle in handles {
                results
                    .push(handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            results.into_iter().filter_map(Result::err).collect()
        });
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        match failures.into_iter().min_by_key(|failure| failure.0) {
            Some(failure) => Err(failure.1),
            // The last word, however short the work was.
            None => pulse.ask(self.done.load(Ordering::Relaxed), self.total),
        }
    }

    /// Counts blocks until there are none.
    fn work(
        &self,
        own: &mut Table,
        order: Option<&mut Table>,
        pulse: Option<&mut Pulse<'_>>,
    ) -> Result<(), Failure> {
        let mut worker = Worker { job: self, own, order, ends: Vec::new(), pulse };
        loop {
            if self.closed.load(Ordering::Relaxed) || self.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let next = lock(&self.supply).next();
            let result = match next {
                Ok(None) => return Ok(()),
                Ok(Some((place, block))) => worker.count_block(place, &block),
                Err(failure) => Err(failure),
            };
            if result.is_err() {
                self.closed.store(true, Ordering::Relaxed);
                return result;
            }
            // Only now, so that there is something to save.
            if self.pause.is_some_and(|pause| Instant::now() >= pause) {
                return Ok(());
            }
        }
    }
}

struct Worker<'w, 'j, 'p, S> {
    job: &'w Job<'j, S>,
    own: &'w mut Table,
    /// The numbers of pieces, where their order is wanted; one thread counts then.
    order: Option<&'w mut Table>,
    ends: Vec<u32>,
    /// On the caller's thread only.
    pulse: Option<&'w mut Pulse<'p>>,
}

impl<'t, S: Supply<'t>> Worker<'_, '_, '_, S> {
    fn count_block(&mut self, place: Place, block: &Block<'_>) -> Result<(), Failure> {
        match block {
            Block::Part(text) => self.count(text).map_err(|error| (place, error)),
            Block::Texts(texts) => (place.0..).zip(*texts).try_for_each(|(index, text)| {
                self.count(text).map_err(|error| ((index, 0), error))
            }),
            Block::Bytes(bytes) => {
                let text = std::str::from_utf8(bytes).map_err(|error| {
                    let offset = place.1 + error.valid_up_to() as u64;
                    let source = lock(&self.job.supply).name(place);
                    ((place.0, offset), Error::Utf8 { source, offset })
                })?;
                self.count(text).map_err(|error| (place, error))
            }
        }
    }

    fn count(&mut self, text: &str) -> Result<()> {
        let special = self.job.special;
        special.spans(text).try_for_each(|span| self.count_span(span))
    }

    fn count_span(&mut self, span: &str) -> Result<()> {
        let seeds = self.job.shards.seeds;
        let (mut start, mut next) = (0, 0);
        while next < span.len() {
            self.ends.clear();
            let from = next;
            next = self.job.pretokenizer.chunk(span, from, &mut self.ends)?;
            if let Some(order) = &mut self.order {
                let mut start = start;
                for &end in &self.ends {
                    let end = from + end as usize;
                    note(order, seeds, &Probe::within(seeds, span.as_bytes(), start, end));
                    start = end;
                }
            }
            for &end in &self.ends {
                let end = from + end as usize;
                let probe = Probe::within(seeds, span.as_bytes(), start, end);
                self.own
                    .add(seeds, &probe, 1)
                    .ok_or_else(|| overflow(&span.as_bytes()[start..end]))?;
                start = end;
            }
            let (pieces, bytes) = self.job.own_most;
            if self.own.len() > pieces || self.own.arena_len() > bytes {
                self.empty_own()?;
            }
            self.tick((next - from) as u64)?;
        }
        Ok(())
    }

    /// Adds the thread's own table to the shards.
    fn empty_own(&mut self) -> Result<()> {
        let mut own = std::mem::take(self.own);
        let added = self.job.shards.add(&mut own, &mut || self.tick(0));
        // It goes on with its memory.
        *self.own = own;
        added
    }

    /// Tells how far counting is, and hears whether to stop.
    fn tick(&mut self, bytes: u64) -> Result<()> {
        let job = self.job;
        let done = job.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if let Some(pulse) = &mut self.pulse
            && pulse.beat(done, job.total).is_err()
        {
            job.stop.store(true, Ordering::Relaxed);
        }
        if job.stop.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// A panic elsewhere is passed on when its thread is joined; until then the data are of no use, but
/// whole.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
