//! Counts the pieces of texts and files, on as many threads as asked for.
//!
//! Each thread takes blocks and counts into a small table of its own, which fits its cache and holds
//! the frequent pieces; when that is full it is added to the shared table, one shard at a time. So
//! memory is that of the different pieces once, whatever the number of threads, plus about two
//! megabytes and a block per thread.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use super::corpus::{Block, Cutting, FileSupply, Place, SpecialCutter, Supply, TextSupply};
use super::counts::{PieceCounts, SHARDS, note, overflow, shard};
use super::source::Source;
use super::table::{Probe, Seeds, Table};
use super::watch::{NoWatch, Pulse, Watch};
use crate::batch::THREADS_MOST;
use crate::error::{Error, Result};
use crate::pretokenize::Pretokenizer;

/// Bytes read from a file at once.
const FILE_BLOCK: usize = 1 << 22;
/// Bytes of a text given to a thread at once.
const TEXT_BLOCK: usize = 1 << 20;
/// Bytes at the end of a block where a cut is looked for.
const WINDOW: usize = 1 << 16;
/// Pieces of a thread's own table, and bytes of long pieces there, before it is added to the shared
/// one.
const OWN_PIECES: usize = 20_000;
const OWN_BYTES: usize = 1 << 20;
/// Pieces counted between two looks at the clock and at other threads.
const BATCH: usize = 4096;

/// Counts the pieces of one text.
///
/// ```
/// use bytepair::pretokenize::{Pattern, Pretokenizer};
/// use bytepair::train::{SpecialCutter, count_text};
///
/// let pretokenizer = Pretokenizer::new(&Pattern::Regex(r"\w+|\W".to_owned()))?;
/// let special = SpecialCutter::new(&["<|end|>"])?;
/// let counts = count_text("a bc a<|end|>bc", &pretokenizer, &special, 1)?;
/// assert_eq!(counts.get(b"bc"), 2);
/// assert_eq!(counts.len(), 3);
/// # Ok::<(), bytepair::Error>(())
/// ```
pub fn count_text(
    text: &str,
    pretokenizer: &Pretokenizer,
    special: &SpecialCutter,
    threads: usize,
) -> Result<PieceCounts> {
    let mut counter = Counter::new(pretokenizer, special, threads);
    counter.feed(&[text], &NoWatch)?;
    counter.finish()
}

/// Counts the pieces of files of UTF-8 text, each a text of its own.
///
/// Files are read block by block and never held whole, provided that blocks can be cut (see
/// [`Counter`]). [`Error::Utf8`] names the first byte that is not UTF-8; [`Error::Io`] a file that
/// cannot be read. `watch` hears the bytes counted so far.
pub fn count_files(
    paths: &[PathBuf],
    pretokenizer: &Pretokenizer,
    special: &SpecialCutter,
    threads: usize,
    watch: &dyn Watch,
) -> Result<PieceCounts> {
    let mut counter = Counter::new(pretokenizer, special, threads);
    counter.feed_files(paths, watch)?;
    counter.finish()
}

/// Counts pieces of texts that come one after another.
///
/// A long text is cut for several threads behind special tokens and where the pretokenizer proves
/// that a cut changes nothing (the named patterns: almost everywhere; other expressions and no
/// pattern: nowhere). The counts are those of one thread and uncut texts.
///
/// After an error, what was counted is some part of the texts; drop the counter.
///
/// ```
/// use bytepair::pretokenize::{Pattern, Pretokenizer};
/// use bytepair::train::{Counter, NoWatch, SpecialCutter};
///
/// let pretokenizer = Pretokenizer::new(&Pattern::None)?;
/// let special = SpecialCutter::default();
/// let mut counter = Counter::new(&pretokenizer, &special, 2);
/// counter.feed(&["one", "two"], &NoWatch)?;
/// counter.feed(&["one"], &NoWatch)?;
/// assert_eq!(counter.finish()?.get(b"one"), 2);
/// # Ok::<(), bytepair::Error>(())
/// ```
pub struct Counter<'a> {
    pretokenizer: &'a Pretokenizer,
    special: &'a SpecialCutter,
    own: Vec<Table>,
    shards: Vec<Mutex<Table>>,
    seeds: Seeds,
    /// The numbers of pieces, where their order is wanted.
    order: Option<Table>,
    sizes: Option<(usize, usize)>,
    done: u64,
}

impl<'a> Counter<'a> {
    /// A counter that uses `threads` threads (0: as many as there are cores).
    pub fn new(pretokenizer: &'a Pretokenizer, special: &'a SpecialCutter, threads: usize) -> Self {
        let cores = || thread::available_parallelism().map_or(1, usize::from);
        let threads = if threads == 0 { cores() } else { threads }.min(THREADS_MOST);
        let own = vec![Table::default(); threads];
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        let seeds = Seeds::get();
        Self { pretokenizer, special, own, shards, seeds, order: None, sizes: None, done: 0 }
    }

    /// Remembers the order in which pieces first occur ([`PieceCounts::in_order`]). One thread
    /// counts then, whatever was asked for: blocks must come one after the other.
    #[must_use]
    pub fn keep_order(mut self) -> Self {
        self.own.truncate(1);
        self.order = Some(Table::default());
        self
    }

    /// Blocks of another size than usual: for tests of the cuts.
    #[doc(hidden)]
    #[must_use]
    pub fn with_block_sizes(mut self, block: usize, window: usize) -> Self {
        self.sizes = Some((block.max(1), window.max(1)));
        self
    }

    /// Counts some texts. `watch` hears the bytes counted since the counter was made; the total is
    /// not known to it.
    pub fn feed(&mut self, texts: &[&str], watch: &dyn Watch) -> Result<()> {
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        let cutting = self.cutting(TEXT_BLOCK);
        // A thread for less than a block would cost more than it gives.
        let threads = self.own.len().min(bytes / cutting.block + 1);
        self.run(TextSupply::new(cutting, texts), threads, 0, watch)
    }

    /// Counts files; see [`count_files`].
    pub fn feed_files(&mut self, paths: &[PathBuf], watch: &dyn Watch) -> Result<()> {
        let sources: Vec<Source> = paths.iter().cloned().map(Source::File).collect();
        self.feed_sources(&sources, watch)
    }

    /// Counts files and other readers, each a text of its own.
    pub fn feed_sources(&mut self, sources: &[Source], watch: &dyn Watch) -> Result<()> {
        let total = Source::total(sources)?;
        let cutting = self.cutting(FILE_BLOCK);
        let threads = self.own.len();
        self.run(FileSupply::new(cutting, sources), threads, total, watch)
    }

    /// The counts of all that was fed.
    pub fn finish(mut self) -> Result<PieceCounts> {
        for own in &mut self.own {
            spill(own, &self.shards, self.seeds)?;
        }
        let shards = self.shards.into_iter();
        let shards = shards.map(|shard| shard.into_inner().unwrap_or_else(PoisonError::into_inner));
        Ok(PieceCounts::from_shards(shards.collect(), self.order))
    }

    fn cutting<'c>(&self, block: usize) -> Cutting<'c>
    where
        'a: 'c,
    {
        let (block, window) = self.sizes.unwrap_or((block, WINDOW));
        Cutting { pretokenizer: self.pretokenizer, special: self.special, block, window }
    }

    fn run<'t>(
        &mut self,
        supply: impl Supply<'t>,
        threads: usize,
        total: u64,
        watch: &dyn Watch,
    ) -> Result<()> {
        let job = Job {
            pretokenizer: self.pretokenizer,
            special: self.special,
            shards: &self.shards,
            seeds: self.seeds,
            supply: Mutex::new(supply),
            closed: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            done: AtomicU64::new(self.done),
            finished: AtomicUsize::new(0),
            total,
        };
        let result = job.run(&mut self.own[..threads], self.order.as_mut(), Pulse::new(watch));
        self.done = job.done.into_inner();
        result
    }
}

/// What the threads of one call share.
struct Job<'j, S> {
    pretokenizer: &'j Pretokenizer,
    special: &'j SpecialCutter,
    shards: &'j [Mutex<Table>],
    seeds: Seeds,
    supply: Mutex<S>,
    /// No more blocks are given out: a thread met an error. Those given out are counted to their
    /// ends, so that of several errors the first in the corpus is known.
    closed: AtomicBool,
    /// Stop at once.
    stop: AtomicBool,
    done: AtomicU64,
    finished: AtomicUsize,
    total: u64,
}

type Failure = (Place, Error);

impl<'t, S: Supply<'t>> Job<'_, S> {
    fn run(
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
        }
    }
}

struct Worker<'w, 'j, 'p, S> {
    job: &'w Job<'j, S>,
    own: &'w mut Table,
    /// The numbers of pieces, where their order is wanted; one thread counts then.
    order: Option<&'w mut Table>,
    ends: Vec<usize>,
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
        let seeds = self.job.seeds;
        let (mut start, mut next) = (0, 0);
        while next < span.len() {
            self.ends.clear();
            let from = next;
            next = self.job.pretokenizer.fill(span, from, &mut self.ends, BATCH)?.next;
            if let Some(order) = &mut self.order {
                let mut start = start;
                for &end in &self.ends {
                    note(order, seeds, &Probe::within(seeds, span.as_bytes(), start, end));
                    start = end;
                }
            }
            for &end in &self.ends {
                let probe = Probe::within(seeds, span.as_bytes(), start, end);
                self.own
                    .add(seeds, &probe, 1)
                    .ok_or_else(|| overflow(&span.as_bytes()[start..end]))?;
                start = end;
            }
            if self.own.len() > OWN_PIECES || self.own.arena_len() > OWN_BYTES {
                spill(self.own, self.job.shards, seeds)?;
            }
            self.tick((next - from) as u64)?;
        }
        Ok(())
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

/// Adds a thread's own table to the shards and clears it.
fn spill(own: &mut Table, shards: &[Mutex<Table>], seeds: Seeds) -> Result<()> {
    if own.len() == 0 {
        return Ok(());
    }
    let mut sorted: Vec<(usize, Probe<'_>, u64)> = Vec::with_capacity(own.len());
    sorted.extend(own.iter().map(|(piece, n)| {
        let probe = Probe::new(seeds, piece);
        (shard(probe.hash), probe, n)
    }));
    sorted.sort_unstable_by_key(|entry| entry.0);
    for group in sorted.chunk_by(|a, b| a.0 == b.0) {
        let mut table = lock(&shards[group[0].0]);
        for (_, probe, n) in group {
            table.add(seeds, probe, *n).ok_or_else(|| overflow(probe.piece()))?;
        }
    }
    own.clear();
    Ok(())
}

/// A panic elsewhere is passed on when its thread is joined; until then the data are of no use, but
/// whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
