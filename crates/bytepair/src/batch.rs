//! Many texts at once, and one long one, on many threads.
//!
//! In: texts. Out: their ids as [`Rows`], or numbers of ids. The texts are dealt out in jobs of about
//! equal size: short texts together, a long one cut where that changes no piece and no special token.
//! Each thread takes the next job when it is done with one and writes ids where they stay; jobs are put
//! in order, so the result does not depend on the number of threads.
//!
//! Threads are scoped: none outlives the call, so a later `fork` is safe, and a small input starts
//! none. Starting one takes about as long as to encode 50 KB.

use std::cell::Cell;
use std::num::NonZero;
use std::ops::Range;
use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::error::Result;
use crate::rows::{Gather, Rows, Slab};
use crate::sink::{Behind, Count};
use crate::special::Policy;
use crate::tokenizer::{Scratch, Tokenizer};
use crate::train::{NoWatch, Watch};
use crate::watched::{Beat, Beating, INTERVAL};

/// Below this many bytes for each thread, starting one costs more than it saves.
const WORTH_A_THREAD: usize = 1 << 17;

/// Bytes of a job: few enough that all threads end at about the same time, many enough that taking
/// one costs nothing.
const JOB: Range<usize> = 1 << 15..1 << 20;
/// How many jobs there are for each thread, if they do not get too small or too large.
const JOBS: usize = 8;

/// How far behind the place where a long text should be cut a certain place is looked for.
const WINDOW: usize = 1 << 13;

/// More threads than this are never started, whatever is asked for.
pub(crate) const THREADS_MOST: usize = 256;

/// The process that first asked: in a child that was forked from it the number is another.
static PROCESS: OnceLock<u32> = OnceLock::new();

/// How many threads to use when the caller does not say: one per core; one in a forked child, which
/// is most likely one of many at the same work.
pub fn default_threads() -> usize {
    // Asked once: the system reads files to answer, which takes longer than to encode a few words.
    static CORES: OnceLock<usize> = OnceLock::new();
    if is_forked() {
        return 1;
    }
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}

/// Whether this process was forked after the first call of this function or of [`default_threads`].
pub fn is_forked() -> bool {
    let own = process::id();
    *PROCESS.get_or_init(|| own) != own
}

/// Whether `bytes` of text are worth a second thread; there is no need to ask for their number else.
pub fn is_worth_threads(bytes: usize) -> bool {
    bytes >= 2 * WORTH_A_THREAD
}

/// A text or a part of one.
#[derive(Debug, Clone, Copy)]
struct Part<'t> {
    text: &'t str,
    /// Whether its text ends with it.
    last: bool,
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
) -> Result<Rows> {
    encode_batch_watched(tokenizer, texts, policy, threads, &NoWatch)
}

/// [`encode_batch`] that `watch` can stop: the calling thread asks it between texts, between the
/// parts of long ones, inside a long piece, and while it waits for the other threads.
///
/// # Errors
/// As [`encode_batch`], and [`Error::Interrupted`](crate::Error::Interrupted).
pub fn encode_batch_watched(
    tokenizer: &Tokenizer,
    texts: &[&str],
    policy: &Policy,
    threads: usize,
    watch: &dyn Watch,
) -> Result<Rows> {
    let beat = Beat::new(watch);
    let plan = Plan::new(tokenizer, texts, policy, threads)?;
    let gather = Gather::new(plan.jobs.len(), plan.bytes);
    let work = |job: usize, parts: &[Part<'_>], scratch: &mut Scratch| {
        let Slab { mut ids, mut ends, .. } = gather.slab();
        let bytes = parts.iter().map(|part| part.text.len()).sum();
        let mut behind = Behind::new(&mut ids, bytes);
        let since = Cell::new(0);
        for part in parts {
            policy.check(part.text)?;
            since.set(since.get() + EACH);
            let mut sink = Beating { sink: &mut behind, beat: &beat, since: &since };
            tokenizer.encode_to(part.text, policy, scratch, &mut sink)?;
            beat.heard()?;
            if part.last {
                ends.push(behind.len());
            }
        }
        gather.take(job, Slab { ids, ends, bytes });
        Ok(())
    };
    plan.run(tokenizer, &beat, work)?;
    Ok(gather.into_rows())
}

/// A text counts for so many bytes more than it has, before a beat is asked.
const EACH: usize = 16;

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
    count_batch_watched(tokenizer, texts, policy, threads, &NoWatch)
}

/// [`count_batch`] that `watch` can stop, as [`encode_batch_watched`].
///
/// # Errors
/// As [`encode_batch`], and [`Error::Interrupted`](crate::Error::Interrupted).
pub fn count_batch_watched(
    tokenizer: &Tokenizer,
    texts: &[&str],
    policy: &Policy,
    threads: usize,
    watch: &dyn Watch,
) -> Result<Vec<usize>> {
    let beat = Beat::new(watch);
    let plan = Plan::new(tokenizer, texts, policy, threads)?;
    let work = |_: usize, parts: &[Part<'_>], scratch: &mut Scratch| {
        let mut counts = Vec::with_capacity(parts.len());
        let since = Cell::new(0);
        for part in parts {
            policy.check(part.text)?;
            let mut count = Count::up_to(None);
            since.set(since.get() + EACH);
            let mut sink = Beating { sink: &mut count, beat: &beat, since: &since };
            tokenizer.encode_to(part.text, policy, scratch, &mut sink)?;
            beat.heard()?;
            counts.push((count.get(), part.last));
        }
        Ok(counts)
    };
    let jobs = plan.run(tokenizer, &beat, work)?;
    let mut counts = Vec::with_capacity(texts.len());
    let mut sum = 0;
    for (count, last) in jobs.into_iter().flatten() {
        sum += count;
        if last {
            counts.push(std::mem::take(&mut sum));
        }
    }
    Ok(counts)
}

impl Tokenizer {
    /// Appends the ids of `text` to `ids`: [`Tokenizer::encode`] on as many threads as pay.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn encode_on(
        &self,
        threads: usize,
        text: &str,
        policy: &Policy,
        ids: &mut Vec<u32>,
    ) -> Result<()> {
        if threads <= 1 || !is_worth_threads(text.len()) {
            return self.encode(text, policy, ids);
        }
        let found = encode_batch(self, &[text], policy, threads)?.into_ids();
        if ids.is_empty() {
            *ids = found;
        } else {
            ids.extend_from_slice(&found);
        }
        Ok(())
    }

    /// The number of ids of `text`: [`Tokenizer::count`] on as many threads as pay.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn count_on(&self, threads: usize, text: &str, policy: &Policy) -> Result<usize> {
        if threads <= 1 || !is_worth_threads(text.len()) {
            return self.count(text, policy, None);
        }
        Ok(count_batch(self, &[text], policy, threads)?.into_iter().sum())
    }

    /// The least place at or after `from`, and not far behind it, where a cut changes neither pieces
    /// nor special tokens.
    fn cut_near(&self, text: &str, from: usize, policy: &Policy) -> Option<usize> {
        if self.normalizer().is_some_and(|normalizer| !normalizer.leaves_ascii()) {
            return None;
        }
        let end = text.floor_char_boundary(from.saturating_add(WINDOW));
        let mut from = from;
        loop {
            let at = self.safe_cut(&text[..end], from)?;
            // The normalizer never joins two ASCII characters and leaves them what they are.
            let joins = self.normalizer().is_some()
                && !text.as_bytes()[at - 1..=at].iter().all(u8::is_ascii);
            if !joins && !policy.crosses(text, at) {
                return Some(at);
            }
            from = at + 1;
        }
    }

    /// Cuts `text` into parts of about `size` bytes.
    fn cut<'t>(&self, text: &'t str, size: usize, policy: &Policy, parts: &mut Vec<Part<'t>>) {
        let mut start = 0;
        let mut target = size;
        while target + size / 2 < text.len() {
            match self.cut_near(text, target, policy) {
                Some(at) => {
                    parts.push(Part { text: &text[start..at], last: false });
                    (start, target) = (at, at + size);
                }
                None => target += size,
            }
        }
        parts.push(Part { text: &text[start..], last: true });
    }
}

/// How texts are dealt out to threads.
struct Plan<'t> {
    bytes: usize,
    threads: usize,
    parts: Vec<Part<'t>>,
    /// Of the parts.
    jobs: Vec<Range<usize>>,
}

impl<'t> Plan<'t> {
    fn new(
        tokenizer: &Tokenizer,
        texts: &[&'t str],
        policy: &Policy,
        threads: usize,
    ) -> Result<Self> {
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        let threads = threads.min(THREADS_MOST).min(bytes / WORTH_A_THREAD);
        if threads <= 1 {
            let parts: Vec<_> = texts.iter().map(|text| Part { text, last: true }).collect();
            let jobs = std::iter::once(0..parts.len()).collect();
            return Ok(Self { bytes, threads: 1, parts, jobs });
        }
        let size = (bytes / (threads * JOBS)).clamp(JOB.start, JOB.end);
        let mut parts = Vec::with_capacity(texts.len() + bytes / size);
        for text in texts {
            if text.len() < 2 * size {
                parts.push(Part { text, last: true });
            } else {
                // The whole text: where a part is refused for its bytes, a later one may be forbidden.
                policy.check(text)?;
                tokenizer.cut(text, size, policy, &mut parts);
            }
        }
        let jobs = jobs(&parts, size);
        Ok(Self { bytes, threads: threads.min(jobs.len()), parts, jobs })
    }

    /// What `work` gives for each job, in order.
    fn run<R: Send>(
        &self,
        tokenizer: &Tokenizer,
        beat: &Beat<'_>,
        work: impl Fn(usize, &[Part<'_>], &mut Scratch) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let next = AtomicUsize::new(0);
        let worker = || {
            let mut done = Vec::new();
            tokenizer.with_scratch(self.bytes, |scratch| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = self.jobs.get(index) else { break };
                    let result = work(index, &self.parts[job.clone()], scratch);
                    // What comes later has no say any more; what comes before was taken before.
                    let failed = result.is_err();
                    done.push((index, result));
                    if failed {
                        next.store(self.jobs.len(), Ordering::Relaxed);
                    }
                }
            });
            done
        };
        let mut stopped = Ok(());
        let mut results = on_threads(self.threads, worker, || stopped = beat.check());
        stopped?;
        results.sort_unstable_by_key(|&(index, _)| index);
        results.into_iter().map(|(_, result)| result).collect()
    }
}

/// Neighbouring parts of about `size` bytes together.
fn jobs(parts: &[Part<'_>], size: usize) -> Vec<Range<usize>> {
    let mut jobs = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (index, part) in parts.iter().enumerate() {
        // A text of no bytes is work too.
        bytes += part.text.len() + 16;
        if bytes >= size {
            jobs.push(start..index + 1);
            (start, bytes) = (index + 1, 0);
        }
    }
    if start < parts.len() {
        jobs.push(start..parts.len());
    }
    jobs
}

/// Tells the calling thread when one of the others has ended, even by a panic.
struct Ended<'a> {
    running: &'a AtomicUsize,
    caller: &'a thread::Thread,
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.running.fetch_sub(1, Ordering::Release);
        self.caller.unpark();
    }
}

/// What `worker` gives on each of `threads` threads, this one among them, which does `idle` now and
/// then while it waits for the others.
pub(crate) fn on_threads<R: Send>(
    threads: usize,
    worker: impl Fn() -> Vec<R> + Sync + Copy + Send,
    mut idle: impl FnMut(),
) -> Vec<R> {
    let (running, caller) = (AtomicUsize::new(0), thread::current());
    let other = || {
        let _ended = Ended { running: &running, caller: &caller };
        worker()
    };
    thread::scope(|scope| {
        let mut others = Vec::with_capacity(threads.saturating_sub(1));
        for _ in 1..threads {
            running.fetch_add(1, Ordering::Relaxed);
            let Ok(thread) = thread::Builder::new().spawn_scoped(scope, other) else {
                // Where the system refuses a thread, fewer do the work.
                running.fetch_sub(1, Ordering::Relaxed);
                break;
            };
            others.push(thread);
        }
        let mut all = worker();
        while running.load(Ordering::Acquire) > 0 {
            idle();
            thread::park_timeout(INTERVAL);
        }
        for other in others {
            match other.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    })
}
