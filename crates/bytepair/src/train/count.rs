//! Counts the pieces of texts and files, on as many threads as asked for.
//!
//! Each thread takes blocks and counts into a small table of its own, which fits its cache and holds
//! the frequent pieces; when that is full it is added to the shared table, one shard at a time. So
//! memory is that of the different pieces once, whatever the number of threads, plus about two
//! megabytes and a block per thread.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::bounds::{Bounds, Budget};
use super::corpus::{Cutting, FileSupply, SpecialCutter, Supply, TextSupply};
use super::counts::{PieceCounts, Pieces, SHARDS};
use super::position::{self, Position};
use super::source::Source;
use super::store::{Folder, Store, StoredCounts};
use super::table::{Seeds, Table};
use super::totals::Totals;
use super::watch::{NoWatch, Pulse, Watch};
use super::work::{Job, Shards, Spill, lock};
use crate::batch::THREADS_MOST;
use crate::error::{Error, Result};
use crate::pretokenize::Pretokenizer;

/// Bytes at the end of a block where a cut is looked for.
const WINDOW: usize = 1 << 16;
/// Pieces read between two looks at the memory they take.
const PIECES_PER_LOOK: u64 = 1 << 12;
/// Bytes of a piece's place in a sorted row.
const SORTED_BYTES: u64 = 32;

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
    shards: Shards,
    /// The numbers of pieces, where their order is wanted.
    order: Option<Table>,
    budget: Budget,
    /// How often counts are saved, and when they were.
    every: Option<Duration>,
    saved: Instant,
    sizes: Option<(usize, usize)>,
    /// What is counted.
    position: Position,
    /// What an earlier process had counted.
    start: Option<Position>,
    /// An earlier process counted everything.
    complete: Option<StoredCounts>,
}

/// What was counted: in memory, or on disk where memory was limited or counts were kept.
#[derive(Debug)]
pub enum Counted {
    /// In memory.
    Memory(PieceCounts),
    /// On disk.
    Stored(Box<StoredCounts>),
}

impl Counted {
    /// The pieces, as learning reads them.
    pub fn pieces(&self) -> &(dyn Pieces + Sync) {
        match self {
            Self::Memory(counts) => counts,
            Self::Stored(counts) => &**counts,
        }
    }
}

impl<'a> Counter<'a> {
    /// A counter that uses `threads` threads (0: as many as there are cores).
    pub fn new(pretokenizer: &'a Pretokenizer, special: &'a SpecialCutter, threads: usize) -> Self {
        let cores = || thread::available_parallelism().map_or(1, usize::from);
        let threads = if threads == 0 { cores() } else { threads }.min(THREADS_MOST);
        let tables = (0..SHARDS).map(|_| Mutex::default()).collect();
        Self {
            pretokenizer,
            special,
            own: vec![Table::default(); threads],
            shards: Shards { seeds: Seeds::get(), tables, spill: None },
            order: None,
            budget: Budget::new(None, threads),
            every: None,
            saved: Instant::now(),
            sizes: None,
            position: Position::default(),
            start: None,
            complete: None,
        }
    }

    /// Remembers the order in which pieces first occur ([`PieceCounts::in_order`]). One thread
    /// counts then, whatever was asked for: blocks must come one after the other.
    #[must_use]
    pub fn keep_order(mut self) -> Self {
        self.own.truncate(1);
        self.order = Some(Table::default());
        self
    }

    /// Keeps to a limit of memory, or saves counts as it goes. Takes up what an earlier process saved
    /// in the folder of the checkpoint, if it did.
    ///
    /// [`Error::Value`] where the order of pieces is wanted too, for it is known in memory only.
    pub fn bounded(mut self, bounds: &Bounds) -> Result<Self> {
        self.budget = Budget::new(bounds.memory, self.own.len());
        let folder = match &bounds.checkpoint {
            Some((path, every)) => {
                self.every = Some(*every);
                Folder::kept(path.clone())
            }
            None if bounds.memory.is_some() => Folder::temporary(&bounds.temp_dir)?,
            None => return Ok(self),
        };
        if self.order.is_some() {
            return Err(Error::Value(
                "the order of pieces (tie_break \"first_seen\") is kept in memory only; leave \
                 memory_limit and checkpoint out, or take another tie_break"
                    .to_owned(),
            ));
        }
        let mut store = Store::new(folder, self.budget.tables);
        if self.every.is_some() {
            self.complete = store.complete()?;
            let saved = position::load(store.folder())?.filter(|_| self.complete.is_none());
            let (start, runs) = saved.unzip();
            store.take_up(&runs.unwrap_or_default())?;
            self.start = start;
        }
        let held = AtomicUsize::new(0);
        self.shards.spill =
            Some(Spill { store: Mutex::new(store), held, budget: self.budget.tables });
        Ok(self)
    }

    /// Blocks of another size than usual, and own tables of so few pieces: for tests of the cuts and
    /// of full tables.
    #[doc(hidden)]
    #[must_use]
    pub fn with_block_sizes(mut self, block: usize, window: usize) -> Self {
        self.sizes = Some((block.max(1), window.max(1)));
        self.budget.own.0 = self.budget.own.0.min(block.max(1));
        self
    }

    /// Shared tables of so few bytes, so that small texts spill: for tests. Does nothing to a counter
    /// that is not [`Counter::bounded`].
    #[doc(hidden)]
    #[must_use]
    pub fn with_tables(mut self, bytes: usize) -> Self {
        if let Some(spill) = &mut self.shards.spill {
            spill.budget = bytes;
        }
        self
    }

    /// Whether there is nothing to count, because an earlier process did.
    pub fn is_complete(&self) -> bool {
        self.complete.is_some()
    }

    /// Counts some texts. `watch` hears the bytes counted since the counter was made; the total is
    /// not known to it.
    pub fn feed(&mut self, texts: &[&str], watch: &dyn Watch) -> Result<()> {
        let texts = if self.every.is_some() { self.skip(texts)? } else { texts };
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        let cutting = self.cutting(self.budget.text_block);
        // A thread for less than a block would cost more than it gives.
        let threads = self.own.len().min(bytes / cutting.block + 1);
        self.run(&mut TextSupply::new(cutting, texts), threads, 0, None, watch)?;
        // What an earlier process saved reaches further until all its texts came by.
        if self.start.is_none() && self.every.is_some_and(|every| self.saved.elapsed() >= every) {
            self.save(watch)?;
        }
        Ok(())
    }

    /// Leaves out the texts that an earlier process counted, and keeps the checksum of all.
    fn skip<'t, 's>(&mut self, texts: &'t [&'s str]) -> Result<&'t [&'s str]> {
        let mut new = texts;
        for text in texts {
            self.position.chain = super::runs::checksum(self.position.chain, text.as_bytes());
            self.position.texts += 1;
            if let Some(start) = self.start.filter(|start| start.part == self.position.part)
                && self.position.texts <= start.texts
            {
                new = &new[1..];
                if self.position.texts == start.texts {
                    if self.position.chain != start.chain {
                        return Err(other_texts(start.texts));
                    }
                    self.start = None;
                }
            }
        }
        Ok(new)
    }

    /// Counts files; see [`count_files`].
    pub fn feed_files(&mut self, paths: &[PathBuf], watch: &dyn Watch) -> Result<()> {
        let sources: Vec<Source> = paths.iter().cloned().map(Source::File).collect();
        self.feed_sources(&sources, watch)
    }

    /// Counts files and other readers, each a text of its own.
    pub fn feed_sources(&mut self, sources: &[Source], watch: &dyn Watch) -> Result<()> {
        let total = Source::total(sources)?;
        let cutting = self.cutting(self.budget.file_block);
        let threads = self.own.len();
        let mut supply = FileSupply::new(cutting, sources);
        if let Some(start) = self.start.take_if(|start| start.part == self.position.part) {
            let source = usize::try_from(start.source).unwrap_or(usize::MAX);
            supply.begin_at(source, start.offset);
            self.position.done = start.done;
        }
        loop {
            let pause = self.every.map(|every| self.saved + every);
            self.run(&mut supply, threads, total, pause, watch)?;
            let Some((source, offset)) = supply.position() else { return Ok(()) };
            (self.position.source, self.position.offset) = (source as u64, offset);
            self.save(watch)?;
        }
    }

    /// Begins the next part of the corpus, such as texts after files. `false`: an earlier process
    /// counted all of it.
    pub fn next_part(&mut self, first: bool) -> Result<bool> {
        if !first {
            self.check_start()?;
            let Position { part, done, .. } = self.position;
            self.position = Position { part: part + 1, done, ..Position::default() };
        }
        Ok(self.start.is_none_or(|start| start.part <= self.position.part))
    }

    /// [`Error::Value`] if the part was shorter than an earlier process saw it.
    fn check_start(&self) -> Result<()> {
        match self.start {
            Some(start) if start.part <= self.position.part => Err(other_texts(start.texts)),
            _ => Ok(()),
        }
    }

    /// The counts of all that was fed.
    pub fn finish(self) -> Result<PieceCounts> {
        self.finish_in_memory(1, &NoWatch)
    }

    /// The counts of at least `least` of all that was fed. [`Error::Value`] if they take more memory
    /// than there may be.
    pub fn finish_in_memory(mut self, least: u64, watch: &dyn Watch) -> Result<PieceCounts> {
        let limit = self.budget.limit;
        let mut pulse = Pulse::new(watch);
        self.empty_own(&mut pulse)?;
        if self.every.is_none() && !self.spilled() {
            let shards = self.shards.take();
            let mut counts = PieceCounts::from_shards(shards, self.order);
            counts.retain(least)?;
            return Ok(counts);
        }
        let stored = self.finish_on_disk(least, &mut pulse)?;
        let (mut counts, mut number) = (PieceCounts::new(), 0u64);
        stored.each(&mut || pulse.beat(0, 0), &mut |piece, count| {
            number += 1;
            if number % PIECES_PER_LOOK == 0
                && let Some(limit) = limit
                && counts.memory() > limit
            {
                return Err(too_many(&stored, limit));
            }
            counts.add(piece, count)
        })?;
        Ok(counts)
    }

    /// The counts of at least `least` of all that was fed, in memory or on disk, to be learned from.
    /// [`Error::Value`], with the way out, if learning from them takes more memory than there may be.
    pub fn finish_to_learn(mut self, least: u64, watch: &dyn Watch) -> Result<Counted> {
        let mut pulse = Pulse::new(watch);
        self.empty_own(&mut pulse)?;
        if self.every.is_none() && !self.spilled() && !self.crowded(least) {
            return self.finish_in_memory(least, watch).map(Counted::Memory);
        }
        let limit = self.budget.limit;
        let stored = self.finish_on_disk(least, &mut pulse)?;
        if let Some(limit) = limit {
            stored.totals().check_limit(limit as u64)?;
        }
        Ok(Counted::Stored(Box::new(stored)))
    }

    /// Whether learning from the tables as they are would take more memory than there may be.
    fn crowded(&self, least: u64) -> bool {
        let Some(limit) = self.budget.limit else { return false };
        let (mut totals, mut memory) = (Totals::default(), 0);
        for table in &self.shards.tables {
            let table = lock(table);
            memory += table.bytes() as u64;
            for (piece, count) in table.iter().filter(|&(_, count)| count >= least) {
                totals.add(piece, count);
            }
        }
        let sorted = totals.pieces * SORTED_BYTES;
        memory + sorted + totals.learning_bytes() > limit as u64
    }

    /// Whether some counts are on disk.
    fn spilled(&self) -> bool {
        self.shards.spill.as_ref().is_some_and(|spill| !lock(&spill.store).runs.is_empty())
    }

    fn empty_own(&mut self, pulse: &mut Pulse<'_>) -> Result<()> {
        let done = self.position.done;
        for own in &mut self.own {
            self.shards.add(own, &mut || pulse.beat(done, 0))?;
        }
        Ok(())
    }

    /// All counts as one run.
    fn finish_on_disk(mut self, least: u64, pulse: &mut Pulse<'_>) -> Result<StoredCounts> {
        if let Some(complete) = self.complete {
            return Ok(complete);
        }
        if let Some(start) = self.start {
            return Err(other_texts(start.texts));
        }
        self.empty_own(pulse)?;
        let tables = self.shards.take();
        let spill = self.shards.spill.take();
        let spill = spill.ok_or_else(|| Error::Value("this counter has no folder".to_owned()))?;
        let mut store = spill.store.into_inner().unwrap_or_else(PoisonError::into_inner);
        let done = self.position.done;
        let beat = &mut || pulse.beat(done, 0);
        store.add(tables, beat)?;
        let folder = store.folder().to_owned();
        let stored = store.finish(least, beat)?;
        if self.every.is_some() {
            position::remove(&folder)?;
        }
        Ok(stored)
    }

    /// Saves what was counted, to go on from it in another process.
    fn save(&mut self, watch: &dyn Watch) -> Result<()> {
        let mut pulse = Pulse::new(watch);
        self.empty_own(&mut pulse)?;
        let tables = self.shards.take();
        if let Some(spill) = &self.shards.spill {
            let mut store = lock(&spill.store);
            let done = self.position.done;
            store.add(tables, &mut || pulse.beat(done, 0))?;
            position::save(store.folder(), &self.position, store.numbers())?;
            store.forget()?;
        }
        self.saved = Instant::now();
        Ok(())
    }

    fn cutting<'c>(&self, block: usize) -> Cutting<'c>
    where
        'a: 'c,
    {
        let (block, window) = self.sizes.unwrap_or((block, WINDOW));
        let most = self.budget.block_most;
        Cutting { pretokenizer: self.pretokenizer, special: self.special, block, window, most }
    }

    fn run<'t, S: Supply<'t>>(
        &mut self,
        supply: &mut S,
        threads: usize,
        total: u64,
        pause: Option<Instant>,
        watch: &dyn Watch,
    ) -> Result<()> {
        let job = Job {
            pretokenizer: self.pretokenizer,
            special: self.special,
            shards: &self.shards,
            supply: Mutex::new(supply),
            own_most: self.budget.own,
            pause,
            closed: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            done: AtomicU64::new(self.position.done),
            finished: AtomicUsize::new(0),
            total,
        };
        let result = job.run(&mut self.own[..threads], self.order.as_mut(), Pulse::new(watch));
        self.position.done = job.done.into_inner();
        result
    }
}

fn other_texts(number: u64) -> Error {
    Error::Value(format!(
        "the checkpoint was made of another corpus: its first {number} texts are not these; give that \
         corpus, or another folder"
    ))
}

fn too_many(stored: &StoredCounts, limit: usize) -> Error {
    Error::Value(format!(
        "the {} different pieces take more than the memory_limit of {} MB; give a larger one, or leave \
         rare pieces out with min_piece_count",
        stored.totals().pieces,
        limit / 1_000_000
    ))
}
