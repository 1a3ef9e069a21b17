//! Counting pieces and learning merges.

use std::path::PathBuf;
use std::sync::Mutex;

use bytepair::Error;
use bytepair::pretokenize::Pretokenizer;
use bytepair::train::{self, Counter, LearnOptions, SpecialCutter, TieBreak, Watch};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::convert;
use crate::error::{OrRaise, raise, to_python};

/// Tells a Python callable how far the work is, and lets Ctrl-C through.
struct Watcher {
    callback: Option<Py<PyAny>>,
    /// What stopped the work.
    stop: Mutex<Option<PyErr>>,
}

impl Watcher {
    fn new(callback: Option<Py<PyAny>>) -> Self {
        Self { callback, stop: Mutex::new(None) }
    }

    /// The result, or the exception that stopped the work.
    fn result<T>(self, py: Python<'_>, result: bytepair::Result<T>) -> PyResult<T> {
        let stop = self.stop.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        result.map_err(|error| match (error, stop) {
            (Error::Interrupted, Some(stop)) => stop,
            (error, _) => to_python(py, &error),
        })
    }
}

impl Watch for Watcher {
    fn progress(&self, done: u64, total: u64) -> bool {
        let heard = Python::attach(|py| {
            py.check_signals()?;
            match &self.callback {
                Some(callback) => callback.call1(py, (done, total)).map(drop),
                None => Ok(()),
            }
        });
        match heard {
            Ok(()) => true,
            Err(error) => {
                if let Ok(mut stop) = self.stop.lock() {
                    *stop = Some(error);
                }
                false
            }
        }
    }
}

/// How often each piece occurs.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct PieceCounts(train::PieceCounts);

#[pymethods]
impl PieceCounts {
    #[new]
    #[pyo3(signature = (items, keep_order = false))]
    fn new(py: Python<'_>, items: &Bound<'_, PyAny>, keep_order: bool) -> PyResult<Self> {
        let mut counts =
            if keep_order { train::PieceCounts::ordered() } else { train::PieceCounts::new() };
        for item in items.try_iter()? {
            let (piece, count): (Bound<'_, PyBytes>, u64) = item?.extract()?;
            counts.add(piece.as_bytes(), count).or_raise(py)?;
        }
        Ok(Self(counts))
    }

    fn get(&self, piece: &[u8]) -> u64 {
        self.0.get(piece)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn total(&self) -> u64 {
        self.0.total()
    }

    #[pyo3(signature = (most = None))]
    fn items<'py>(&self, py: Python<'py>, most: Option<usize>) -> Vec<(Bound<'py, PyBytes>, u64)> {
        let most = most.unwrap_or(usize::MAX);
        let items = self.0.iter().take(most);
        items.map(|(piece, count)| (PyBytes::new(py, piece), count)).collect()
    }

    fn merged(&self, py: Python<'_>, other: &Bound<'_, PieceCounts>) -> PyResult<Self> {
        let mut sum = self.0.clone();
        sum.merge(&other.get().0).or_raise(py)?;
        Ok(Self(sum))
    }

    fn scaled(&self, py: Python<'_>, n: u64) -> PyResult<Self> {
        let mut scaled = self.0.clone();
        scaled.scale(n).or_raise(py)?;
        Ok(Self(scaled))
    }
}

fn counter<'a>(
    pretokenizer: &'a Pretokenizer,
    special: &'a SpecialCutter,
    threads: usize,
    keep_order: bool,
) -> Counter<'a> {
    let counter = Counter::new(pretokenizer, special, threads);
    if keep_order { counter.keep_order() } else { counter }
}

/// Counts the pieces of files.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python gives is owned")]
#[pyo3(signature = (paths, pattern, special_tokens, threads, callback, keep_order = false))]
pub(crate) fn count_files(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    pattern: Option<&Bound<'_, PyAny>>,
    special_tokens: Vec<String>,
    threads: usize,
    callback: Option<Py<PyAny>>,
    keep_order: bool,
) -> PyResult<PieceCounts> {
    let pretokenizer = Pretokenizer::new(&convert::pattern(pattern)?).or_raise(py)?;
    let special = SpecialCutter::new(&special_tokens).or_raise(py)?;
    let watcher = Watcher::new(callback);
    let mut counter = counter(&pretokenizer, &special, threads, keep_order);
    let counts = py.detach(|| {
        counter.feed_files(&paths, &watcher)?;
        counter.finish()
    });
    watcher.result(py, counts).map(PieceCounts)
}

/// Counts the pieces of texts that come in lists.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python gives is owned")]
#[pyo3(signature = (batches, pattern, special_tokens, threads, callback, keep_order = false))]
pub(crate) fn count_texts(
    py: Python<'_>,
    batches: &Bound<'_, PyAny>,
    pattern: Option<&Bound<'_, PyAny>>,
    special_tokens: Vec<String>,
    threads: usize,
    callback: Option<Py<PyAny>>,
    keep_order: bool,
) -> PyResult<PieceCounts> {
    let pretokenizer = Pretokenizer::new(&convert::pattern(pattern)?).or_raise(py)?;
    let special = SpecialCutter::new(&special_tokens).or_raise(py)?;
    let watcher = Watcher::new(callback);
    let mut counter = counter(&pretokenizer, &special, threads, keep_order);
    for batch in batches.try_iter()? {
        let batch = batch?.cast_into::<PyList>()?;
        let texts = batch
            .iter()
            .map(|text| Ok(text.cast_into::<PyString>()?))
            .collect::<PyResult<Vec<_>>>()?;
        let texts = texts.iter().map(|text| text.to_str()).collect::<PyResult<Vec<&str>>>()?;
        let fed = py.detach(|| counter.feed(&texts, &watcher));
        if let Err(error) = fed {
            return watcher.result(py, Err(error));
        }
        py.check_signals()?;
    }
    let counts = py.detach(|| counter.finish());
    watcher.result(py, counts).map(PieceCounts)
}

/// Merges as (left id, right id).
type Pairs = Vec<(u32, u32)>;

/// Learns merges: (left, right) ids, where byte b has id b and merge k makes id 256 + k; and the
/// count of each merge's pair.
#[pyfunction]
#[pyo3(signature = (counts, merges, tie_break, min_count, max_token_bytes, callback))]
pub(crate) fn learn(
    py: Python<'_>,
    counts: &Bound<'_, PieceCounts>,
    merges: usize,
    tie_break: &str,
    min_count: u64,
    max_token_bytes: Option<usize>,
    callback: Option<Py<PyAny>>,
) -> PyResult<(Pairs, Vec<u64>)> {
    let tie_break = match tie_break {
        "lexicographic" => TieBreak::Lexicographic,
        "lowest_ids" => TieBreak::LowestIds,
        "huggingface" => TieBreak::HuggingFace,
        "first_seen" => TieBreak::FirstSeen,
        other => {
            let message = format!(
                "tie_break is {other:?}; it is \"lexicographic\", \"lowest_ids\", \"huggingface\" or \
                 \"first_seen\""
            );
            return Err(raise(py, "ArgumentError", message));
        }
    };
    let options = LearnOptions { merges, tie_break, min_count, max_token_bytes };
    let watcher = Watcher::new(callback);
    let counts = &counts.get().0;
    let learned = py.detach(|| train::learn(counts, &options, &watcher));
    let learned = watcher.result(py, learned)?;
    Ok((learned.merges, learned.counts))
}
