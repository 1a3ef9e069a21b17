//! Long calls that a caller can stop.
//!
//! In: what [`Tokenizer::encode`] and [`Tokenizer::count`] take, and a [`Watch`]. Out: the same, or
//! [`Error::Interrupted`]. The watch is asked between pieces, some hundreds at a time, and between
//! the blocks of a long piece, no more often than every 50 ms. Work that encodes again and again has
//! one [`Pulse`] for all of it, so that many short looks are one long one.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::sink::{Behind, Count, Sink};
use crate::special::Policy;
use crate::tokenizer::Tokenizer;
use crate::train::{NoWatch, Watch};

pub(crate) const INTERVAL: Duration = Duration::from_millis(50);

/// Asks a watch whether to go on, from time to time. For one thread.
pub struct Pulse<'w> {
    watch: &'w dyn Watch,
    next: Cell<Instant>,
    stopped: Cell<bool>,
}

impl<'w> Pulse<'w> {
    /// The pulse of work that begins now.
    pub fn new(watch: &'w dyn Watch) -> Self {
        let (next, stopped) = (Cell::new(Instant::now() + INTERVAL), Cell::new(false));
        Self { watch, next, stopped }
    }

    /// The pulse of work that nobody stops.
    pub fn free() -> Pulse<'static> {
        Pulse::new(&NoWatch)
    }

    /// An error when the watch has said to stop, without asking it.
    fn result(&self) -> Result<()> {
        if self.stopped.get() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Whether the watch says to stop; it is asked when the interval has passed.
    pub fn stops(&self) -> bool {
        if self.stopped.get() {
            return true;
        }
        let now = Instant::now();
        if now >= self.next.get() {
            self.next.set(now + INTERVAL);
            self.stopped.set(!self.watch.progress(0, 0));
        }
        self.stopped.get()
    }

    /// An error when the watch says to stop.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn check(&self) -> Result<()> {
        if self.stops() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// Asks whether to stop once in some thousands of steps, for loops of short ones. For one thread.
pub(crate) struct Ear<'s> {
    stops: &'s dyn Fn() -> bool,
    steps: Cell<u32>,
    heard: Cell<bool>,
}

impl<'s> Ear<'s> {
    /// How many steps are taken between two questions.
    const STEPS: u32 = 1 << 12;

    /// Once `stops` has said so, it is not asked again.
    pub(crate) fn new(stops: &'s dyn Fn() -> bool) -> Self {
        Self { stops, steps: Cell::new(0), heard: Cell::new(false) }
    }

    /// Whether to stop; one step of a loop.
    #[inline]
    pub(crate) fn hears(&self) -> bool {
        let steps = self.steps.get() + 1;
        if steps < Self::STEPS {
            self.steps.set(steps);
            return self.heard.get();
        }
        self.steps.set(0);
        self.heard.set(self.heard.get() || (self.stops)());
        self.heard.get()
    }

    /// The same items up to where it was heard to stop: what comes of them is then of no use, and
    /// [`Ear::result`] says so.
    pub(crate) fn until<T>(&self, items: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
        items.take_while(|_| !self.hears())
    }

    /// An error when it was heard to stop.
    pub(crate) fn result(&self) -> Result<()> {
        if self.heard.get() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// [`Pulse`] for work on several threads: only the thread that made it asks, for all of them.
pub(crate) struct Beat<'w> {
    watch: &'w dyn Watch,
    caller: ThreadId,
    next: Mutex<Instant>,
    stopped: AtomicBool,
}

impl<'w> Beat<'w> {
    pub(crate) fn new(watch: &'w dyn Watch) -> Self {
        let next = Mutex::new(Instant::now() + INTERVAL);
        Self { watch, caller: thread::current().id(), next, stopped: AtomicBool::new(false) }
    }

    /// An error when the watch has said to stop.
    pub(crate) fn heard(&self) -> Result<()> {
        if self.stopped.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// An error when the watch says to stop, or has said so; it is asked when the interval has
    /// passed.
    pub(crate) fn check(&self) -> Result<()> {
        self.heard()?;
        if thread::current().id() != self.caller {
            return Ok(());
        }
        let now = Instant::now();
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if now < *next {
            return Ok(());
        }
        *next = now + INTERVAL;
        if self.watch.progress(0, 0) {
            return Ok(());
        }
        self.stopped.store(true, Ordering::Relaxed);
        Err(Error::Interrupted)
    }
}

/// For a [`Pulse`] on each of the threads.
impl Watch for Beat<'_> {
    fn progress(&self, _done: u64, _total: u64) -> bool {
        self.check().is_ok()
    }
}

/// After how many bytes of text a beat is asked: that takes as long as to encode some.
const ASKED: usize = 1 << 14;

/// A sink that is full when a beat says so. What it took is then of no use: see [`Beat::heard`].
pub(crate) struct Beating<'s, 'w, S> {
    pub(crate) sink: &'s mut S,
    pub(crate) beat: &'s Beat<'w>,
    /// The bytes since the beat was asked, which go on from text to text.
    pub(crate) since: &'s Cell<usize>,
}

impl<S: Sink> Sink for Beating<'_, '_, S> {
    #[inline]
    fn take(&mut self, ids: &[u32]) {
        self.sink.take(ids);
    }

    fn passed(&mut self, bytes: usize) {
        self.since.set(self.since.get() + bytes);
        self.sink.passed(bytes);
    }

    fn is_full(&self) -> bool {
        if self.since.get() < ASKED {
            return self.sink.is_full();
        }
        self.since.set(0);
        self.sink.is_full() || self.beat.check().is_err()
    }

    fn is_left(&self) -> bool {
        self.beat.check().is_err()
    }
}

/// A sink whose long pieces are given up when the watch says so, which is then an error. It takes all
/// else, for what is left out would be lost.
pub(crate) struct Left<'s, 'w, S> {
    pub(crate) sink: &'s mut S,
    pub(crate) pulse: &'s Pulse<'w>,
}

impl<S: Sink> Sink for Left<'_, '_, S> {
    #[inline]
    fn take(&mut self, ids: &[u32]) {
        self.sink.take(ids);
    }

    fn passed(&mut self, bytes: usize) {
        self.sink.passed(bytes);
    }

    fn is_left(&self) -> bool {
        self.pulse.stops()
    }
}

/// A sink that is full when the watch says so.
struct Watched<'s, 'w, S> {
    sink: &'s mut S,
    pulse: &'s Pulse<'w>,
}

impl<S: Sink> Sink for Watched<'_, '_, S> {
    #[inline]
    fn take(&mut self, ids: &[u32]) {
        self.sink.take(ids);
    }

    fn passed(&mut self, bytes: usize) {
        self.sink.passed(bytes);
    }

    fn is_full(&self) -> bool {
        self.sink.is_full() || self.pulse.stops()
    }

    fn is_left(&self) -> bool {
        self.pulse.stops()
    }
}

impl Tokenizer {
    /// [`Tokenizer::encode`] that `watch` can stop.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`], and [`Error::Interrupted`].
    pub fn encode_watched(
        &self,
        text: &str,
        policy: &Policy,
        ids: &mut Vec<u32>,
        watch: &dyn Watch,
    ) -> Result<()> {
        self.encode_until(text, policy, ids, &Pulse::new(watch))
    }

    /// [`Tokenizer::encode`] that `pulse` can stop.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`], and [`Error::Interrupted`].
    pub fn encode_until(
        &self,
        text: &str,
        policy: &Policy,
        ids: &mut Vec<u32>,
        pulse: &Pulse<'_>,
    ) -> Result<()> {
        self.to_sink(text, policy, &mut Behind::new(ids, text.len()), pulse)
    }

    /// [`Tokenizer::count`] that `watch` can stop.
    ///
    /// # Errors
    /// As [`Tokenizer::count`], and [`Error::Interrupted`].
    pub fn count_watched(
        &self,
        text: &str,
        policy: &Policy,
        limit: Option<usize>,
        watch: &dyn Watch,
    ) -> Result<usize> {
        self.count_until(text, policy, limit, &Pulse::new(watch))
    }

    /// [`Tokenizer::encode_bytes`] that `watch` can stop.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`], and [`Error::Interrupted`].
    pub fn encode_bytes_watched(
        &self,
        bytes: &[u8],
        policy: &Policy,
        ids: &mut Vec<u32>,
        watch: &dyn Watch,
    ) -> Result<()> {
        let pulse = Pulse::new(watch);
        self.bytes_to(bytes, policy, &mut Watched { sink: ids, pulse: &pulse })?;
        pulse.result()
    }

    /// [`Tokenizer::count_bytes`] that `watch` can stop.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`], and [`Error::Interrupted`].
    pub fn count_bytes_watched(
        &self,
        bytes: &[u8],
        policy: &Policy,
        limit: Option<usize>,
        watch: &dyn Watch,
    ) -> Result<usize> {
        let (mut count, pulse) = (Count::up_to(limit), Pulse::new(watch));
        self.bytes_to(bytes, policy, &mut Watched { sink: &mut count, pulse: &pulse })?;
        pulse.result().map(|()| count.get())
    }

    /// [`Tokenizer::count`] that `pulse` can stop.
    ///
    /// # Errors
    /// As [`Tokenizer::count`], and [`Error::Interrupted`].
    pub fn count_until(
        &self,
        text: &str,
        policy: &Policy,
        limit: Option<usize>,
        pulse: &Pulse<'_>,
    ) -> Result<usize> {
        let mut count = Count::up_to(limit);
        if self.is_beyond(text.len(), limit) {
            policy.check(text)?;
            return Ok(count.passed());
        }
        self.to_sink(text, policy, &mut count, pulse)?;
        Ok(count.get())
    }

    /// [`Tokenizer::encode`] into any sink, that `pulse` can stop.
    pub(crate) fn to_sink(
        &self,
        text: &str,
        policy: &Policy,
        sink: &mut impl Sink,
        pulse: &Pulse<'_>,
    ) -> Result<()> {
        policy.check(text)?;
        let mut sink = Watched { sink, pulse };
        let encode = |scratch: &mut _| self.encode_to(text, policy, scratch, &mut sink);
        self.with_scratch(text.len(), encode)?;
        pulse.result()
    }
}
