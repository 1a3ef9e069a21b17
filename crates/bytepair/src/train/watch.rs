//! Progress and interruption: the caller's hook, asked at most every 50 ms, and at the end.

use std::time::{Duration, Instant};

use crate::error::{Error, Result};

const INTERVAL: Duration = Duration::from_millis(50);

/// What a long call tells its caller, and asks of it.
pub trait Watch: Sync {
    /// `done` of `total` (bytes while counting, merges while learning; `total` is 0 when unknown).
    ///
    /// Called from the thread that made the call. Return `false` to stop: the call then ends with
    /// [`Error::Interrupted`].
    fn progress(&self, done: u64, total: u64) -> bool;
}

/// A [`Watch`] that never stops anything.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoWatch;

impl Watch for NoWatch {
    fn progress(&self, _done: u64, _total: u64) -> bool {
        true
    }
}

/// Calls a [`Watch`] no more often than the interval.
pub(super) struct Pulse<'w> {
    watch: &'w dyn Watch,
    next: Instant,
}

impl<'w> Pulse<'w> {
    pub(super) fn new(watch: &'w dyn Watch) -> Self {
        Self { watch, next: Instant::now() + INTERVAL }
    }

    pub(super) const fn interval() -> Duration {
        INTERVAL
    }

    /// Asks the watch when the interval has passed.
    pub(super) fn beat(&mut self, done: u64, total: u64) -> Result<()> {
        let now = Instant::now();
        if now < self.next {
            return Ok(());
        }
        self.next = now + INTERVAL;
        self.ask(done, total)
    }

    /// Asks the watch now.
    pub(super) fn ask(&self, done: u64, total: u64) -> Result<()> {
        if self.watch.progress(done, total) { Ok(()) } else { Err(Error::Interrupted) }
    }
}
