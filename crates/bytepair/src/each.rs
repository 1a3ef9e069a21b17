//! Any work on many texts at once, on many threads, that a caller can stop.
//!
//! In: texts and what to do with each. Out: what that gives, in order. Threads are as in
//! [`crate::batch`]: scoped, none for a small input, each taking the next text when it is done with
//! one.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::batch::{THREADS_MOST, on_threads};
use crate::error::Result;
use crate::train::Watch;
use crate::watched::{Beat, Pulse};

/// Below this many bytes in all, starting a thread costs more than it saves.
const WORTH_A_THREAD: usize = 1 << 16;

/// What `work` gives for each text, in order.
///
/// The watch is asked by the calling thread: between texts, where `work` asks the pulse it is given,
/// and while it waits for the other threads.
///
/// # Errors
/// Of the texts that fail, the first one's error; [`Error::Interrupted`](crate::Error::Interrupted).
pub fn map<R: Send>(
    texts: &[&str],
    threads: usize,
    watch: &dyn Watch,
    work: impl Fn(&str, &Pulse<'_>) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    numbered(texts, threads, watch, |_, text, pulse| work(text, pulse))
}

/// [`map`] with work that is also told which text it is, counted from 0.
///
/// # Errors
/// As [`map`].
pub fn numbered<R: Send>(
    texts: &[&str],
    threads: usize,
    watch: &dyn Watch,
    work: impl Fn(usize, &str, &Pulse<'_>) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let threads = threads.min(THREADS_MOST).min(texts.len()).min(bytes / WORTH_A_THREAD + 1);
    if threads <= 1 {
        let pulse = Pulse::new(watch);
        let one = |(index, text): (usize, &&str)| {
            pulse.check()?;
            work(index, text, &pulse)
        };
        return texts.iter().enumerate().map(one).collect();
    }
    let beat = Beat::new(watch);
    let next = AtomicUsize::new(0);
    let worker = || {
        let pulse = Pulse::new(&beat);
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(text) = texts.get(index) else { break };
            let result = pulse.check().and_then(|()| work(index, text, &pulse));
            // What comes later has no say any more; what comes before was taken before.
            if result.is_err() {
                next.store(texts.len(), Ordering::Relaxed);
            }
            done.push((index, result));
        }
        done
    };
    let mut stopped = Ok(());
    let mut results = on_threads(threads, worker, || stopped = beat.check());
    stopped?;
    results.sort_unstable_by_key(|&(index, _)| index);
    results.into_iter().map(|(_, result)| result).collect()
}
