//! Any work on many texts at once, on many threads, that a caller can stop.
//!
//! In: texts and what to do with each. Out: what that gives, in order. Threads are as in
//! [`crate::batch`]: scoped, none for a small input, each taking the next text when it is done with
//! one.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crate::error::{Error, Result};
use crate::train::Watch;
use crate::watched::Pulse;

/// Below this many bytes in all, starting a thread costs more than it saves.
const WORTH_A_THREAD: usize = 1 << 16;

/// More threads than this are never started, whatever is asked for.
const THREADS_MOST: usize = 256;

/// What `work` gives for each text, in order.
///
/// The watch is asked by the calling thread, between texts.
///
/// # Errors
/// Of the texts that fail, the first one's error; [`Error::Interrupted`].
pub fn map<R: Send>(
    texts: &[&str],
    threads: usize,
    watch: &dyn Watch,
    work: impl Fn(&str) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    numbered(texts, threads, watch, |_, text| work(text))
}

/// [`map`] with work that is also told which text it is, counted from 0.
///
/// # Errors
/// As [`map`].
pub fn numbered<R: Send>(
    texts: &[&str],
    threads: usize,
    watch: &dyn Watch,
    work: impl Fn(usize, &str) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let threads = threads.min(THREADS_MOST).min(texts.len()).min(bytes / WORTH_A_THREAD + 1);
    let pulse = Pulse::new(watch);
    if threads <= 1 {
        let one = |(index, text): (usize, &&str)| {
            if pulse.stops() { Err(Error::Interrupted) } else { work(index, text) }
        };
        return texts.iter().enumerate().map(one).collect();
    }
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let mut results: Vec<Option<Result<R>>> = texts.iter().map(|_| None).collect();
    let worker = |stops: &dyn Fn() -> bool| {
        let mut done = Vec::new();
        while !stops() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(text) = texts.get(index) else { break };
            done.push((index, work(index, text)));
        }
        done
    };
    thread::scope(|scope| {
        // Where the system refuses a thread, fewer do the work.
        let other = || worker(&|| stop.load(Ordering::Relaxed));
        let others: Vec<_> = (1..threads)
            .map_while(|_| thread::Builder::new().spawn_scoped(scope, other).ok())
            .collect();
        let mut all = worker(&|| pulse.stops());
        stop.store(pulse.stopped(), Ordering::Relaxed);
        for other in others {
            match other.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        for (index, result) in all {
            results[index] = Some(result);
        }
    });
    if pulse.stopped() {
        return Err(Error::Interrupted);
    }
    results.into_iter().map(|result| result.expect("every index was handed out")).collect()
}
