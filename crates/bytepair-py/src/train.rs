//! Counting pieces and learning merges.

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use bytepair::Error;
use bytepair::pretokenize::Pretokenizer;
use bytepair::train::{self, Counter, LearnOptions, Source, SpecialCutter, TieBreak, Watch};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::convert;
use crate::error::{OrRaise, raise, to_python};
use crate::model::Model;

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
        let stop = self.stop.into_inner().unwrap_or_else(PoisonError::into_inner);
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

/// Does `work` without the GIL, and lets Ctrl-C through where it asks.
pub(crate) fn watched<R: Send>(
    py: Python<'_>,
    work: impl FnOnce(&dyn Watch) -> bytepair::Result<R> + Send,
) -> PyResult<R> {
    let watcher = Watcher::new(None);
    let result = py.detach(|| work(&watcher));
    watcher.result(py, result)
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

    fn total_bytes(&self) -> u128 {
        self.0.total_bytes()
    }

    fn total_tokens(&self, py: Python<'_>, model: &Bound<'_, Model>) -> PyResult<u128> {
        let model = &*model.get().0;
        py.detach(|| self.0.total_tokens(model)).or_raise(py)
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

/// Reads from an object of Python, some bytes at a time.
struct PyReader {
    object: Py<PyAny>,
    bytes: Vec<u8>,
    at: usize,
}

/// Bytes asked of Python at once.
const READ: usize = 1 << 18;

impl Read for PyReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.bytes.len() {
            self.bytes = Python::attach(|py| {
                let bytes = self.object.bind(py).call_method1("read", (READ,))?;
                PyResult::Ok(bytes.cast::<PyBytes>()?.as_bytes().to_vec())
            })?;
            self.at = 0;
        }
        let n = (&self.bytes[self.at..]).read(buffer)?;
        self.at += n;
        Ok(n)
    }
}

impl Drop for PyReader {
    fn drop(&mut self) {
        // What closing a file that was only read may raise says nothing about what was read.
        let _ = Python::attach(|py| self.object.call_method0(py, "close").map(drop));
    }
}

fn source((path, open): (PathBuf, Option<Py<PyAny>>)) -> Source {
    let Some(open) = open else { return Source::File(path) };
    let name = path.display().to_string();
    let open = move || -> io::Result<Box<dyn Read + Send>> {
        let object = Python::attach(|py| open.call0(py))?;
        Ok(Box::new(PyReader { object, bytes: Vec::new(), at: 0 }))
    };
    Source::Reader { name, open: Box::new(open) }
}

/// What a `.zst` file holds, read from front to back.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct ZstdReader(Mutex<Box<dyn Read + Send>>);

#[pymethods]
impl ZstdReader {
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "what Python gives is owned")]
    fn new(path: PathBuf) -> PyResult<Self> {
        Ok(Self(Mutex::new(train::open_zstd(&path)?)))
    }

    /// Closes the file.
    fn close(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Box::new(io::empty());
    }

    /// At most `size` bytes; none at the end.
    fn read<'py>(&self, py: Python<'py>, size: usize) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = vec![0; size.min(READ)];
        let n =
            py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).read(&mut bytes))?;
        Ok(PyBytes::new(py, &bytes[..n]))
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

/// Counts the pieces of files: each a path, or a name and a callable that opens a reader of bytes.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python gives is owned")]
#[pyo3(signature = (sources, pattern, special_tokens, threads, callback, keep_order = false))]
pub(crate) fn count_files(
    py: Python<'_>,
    sources: Vec<(PathBuf, Option<Py<PyAny>>)>,
    pattern: Option<&Bound<'_, PyAny>>,
    special_tokens: Vec<String>,
    threads: usize,
    callback: Option<Py<PyAny>>,
    keep_order: bool,
) -> PyResult<PieceCounts> {
    let pretokenizer = Pretokenizer::new(&convert::pattern(pattern)?).or_raise(py)?;
    let special = SpecialCutter::new(&special_tokens).or_raise(py)?;
    let watcher = Watcher::new(callback);
    let sources: Vec<Source> = sources.into_iter().map(source).collect();
    let mut counter = counter(&pretokenizer, &special, threads, keep_order);
    let counts = py.detach(|| {
        counter.feed_sources(&sources, &watcher)?;
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

/// Merges as (left id, right id), then for each its count, whether it was a tie, tokens saved.
type Learned = (Vec<(u32, u32)>, Vec<u64>, Vec<bool>, Vec<u64>);

/// Learns merges: (left, right) ids, where byte b has id b and merge k makes id 256 + k. With a base,
/// its other tokens have the ids from 256 on, in the order of its ids, and merges follow.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one for each option of Python's")]
#[pyo3(signature = (counts, merges, tie_break, min_count, max_token_bytes, callback, base = None))]
pub(crate) fn learn(
    py: Python<'_>,
    counts: &Bound<'_, PieceCounts>,
    merges: usize,
    tie_break: &str,
    min_count: u64,
    max_token_bytes: Option<usize>,
    callback: Option<Py<PyAny>>,
    base: Option<&Bound<'_, Model>>,
) -> PyResult<Learned> {
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
    let base = base.map(|base| &*base.get().0);
    let learned = py.detach(|| match base {
        Some(base) => train::learn_more(counts, base, &options, &watcher),
        None => train::learn(counts, &options, &watcher),
    });
    let learned = watcher.result(py, learned)?;
    Ok((learned.merges, learned.counts, learned.ties, learned.saved))
}
