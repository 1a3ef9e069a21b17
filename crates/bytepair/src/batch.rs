//! Many texts at once, on many threads.
//!
//! Threads are scoped: none outlives the call, so a later `fork` is safe, and a small input starts
//! none. Each thread takes the next text when it is done with one; results are put in order, so they
//! do not depend on the number of threads.

use std::num::NonZero;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::error::Result;
use crate::special::Policy;
use crate::tokenizer::Tokenizer;

/// Below this many bytes in all, starting a thread costs more than it saves.
const WORTH_A_THREAD: usize = 1 << 16;

/// More threads than this are never started, whatever is asked for.
pub(crate) const THREADS_MOST: usize = 256;

/// How many threads to use when the caller does not say: one per core.
pub fn default_threads() -> usize {
    // Asked once: the system reads files to answer, which takes longer than to encode a few words.
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}

/// The ids of each text.
///
/// # Errors
/// Of the texts that fail, the first one's error; as [`Tokenizer::encode`].
pub fn encode_batch(
    tokenizer: &Tokenizer,
    texts: &[&str],
    policy: &Policy,
    threads: usize,
) -> Result<Vec<Vec<u32>>> {
    let total = texts.iter().map(|text| text.len()).sum();
    map(texts, threads, |text| {
        let mut ids = Vec::new();
        tokenizer.encode_among(text, total, policy, &mut ids).map(|()| ids)
    })
}

/// The number of ids of each text.
///
/// # Errors
/// As [`encode_batch`].
pub fn count_batch(
    tokenizer: &Tokenizer,
    texts: &[&str],
    policy: &Policy,
    threads: usize,
) -> Result<Vec<usize>> {
    map(texts, threads, |text| tokenizer.count(text, policy, None))
}

fn map<R: Send>(
    texts: &[&str],
    threads: usize,
    work: impl Fn(&str) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let threads = threads.min(THREADS_MOST).min(texts.len()).min(bytes / WORTH_A_THREAD + 1);
    if threads <= 1 {
        return texts.iter().map(|text| work(text)).collect();
    }
    let next = AtomicUsize::new(0);
    let mut results: Vec<Option<Result<R>>> = texts.iter().map(|_| None).collect();
    let worker = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(text) = texts.get(index) else { return done };
            done.push((index, work(text)));
        }
    };
    thread::scope(|scope| {
        // Where the system refuses a thread, fewer do the work.
        let others: Vec<_> = (1..threads)
            .map_while(|_| thread::Builder::new().spawn_scoped(scope, worker).ok())
            .collect();
        let mut all = worker();
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
    results.into_iter().map(|result| result.expect("every index was handed out")).collect()
}
