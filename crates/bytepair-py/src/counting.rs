//! Counting the pieces of a corpus: files and texts, within bounds.

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytepair::pretokenize::Pretokenizer;
use bytepair::train::{self, Bounds, Counted, Counter, Source, SpecialCutter};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::convert;
use crate::error::OrRaise;
use crate::train::{PieceCounts, StoredCounts, Watcher};

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

/// What packed bytes of zstd hold, read from front to back.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct ZstdReader(Mutex<Box<dyn Read + Send>>);

#[pymethods]
impl ZstdReader {
    /// Reads from an object that has `read` and `close`.
    #[new]
    fn new(file: Py<PyAny>) -> PyResult<Self> {
        let reader = PyReader { object: file, bytes: Vec::new(), at: 0 };
        Ok(Self(Mutex::new(train::unpack_zstd(Box::new(reader))?)))
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

/// A part of a corpus.
#[derive(FromPyObject)]
pub(crate) enum Part<'py> {
    /// Files: each a path, or a name and a callable that opens a reader of bytes.
    Files(Vec<(PathBuf, Option<Py<PyAny>>)>),
    /// An iterator over lists of texts.
    Texts(Bound<'py, PyAny>),
}

/// How counting is bounded: limit of memory, folder for what spills, folder and seconds of a
/// checkpoint.
type BoundOptions = (Option<usize>, PathBuf, Option<(PathBuf, f64)>);

/// Counts the pieces of files and texts, part by part, and drops those below `least`. Gives
/// `StoredCounts` instead of `PieceCounts` only `to_learn` from them, and where they are on disk.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python gives is owned")]
#[expect(clippy::too_many_arguments, reason = "one for each option of Python's")]
#[pyo3(signature = (
    parts, pattern, special_tokens, threads, callback, keep_order, bounds, least, to_learn
))]
pub(crate) fn count(
    py: Python<'_>,
    parts: Vec<Part<'_>>,
    pattern: Option<&Bound<'_, PyAny>>,
    special_tokens: Vec<String>,
    threads: usize,
    callback: Option<Py<PyAny>>,
    keep_order: bool,
    bounds: BoundOptions,
    least: u64,
    to_learn: bool,
) -> PyResult<Py<PyAny>> {
    let pretokenizer = Pretokenizer::new(&convert::pattern(pattern)?).or_raise(py)?;
    let special = SpecialCutter::new(&special_tokens).or_raise(py)?;
    let mut counter = Counter::new(&pretokenizer, &special, threads);
    if keep_order {
        counter = counter.keep_order();
    }
    let (memory, temp_dir, checkpoint) = bounds;
    let seconds = |seconds| Duration::try_from_secs_f64(seconds).unwrap_or_default();
    let checkpoint = checkpoint.map(|(folder, every)| (folder, seconds(every)));
    let mut counter = counter.bounded(&Bounds { memory, temp_dir, checkpoint }).or_raise(py)?;
    let watcher = Watcher::new(callback);
    if !counter.is_complete() {
        for (number, part) in parts.into_iter().enumerate() {
            if !counter.next_part(number == 0).or_raise(py)? {
                continue;
            }
            let fed = feed(py, &mut counter, part, &watcher)?;
            if fed.is_err() {
                drop(counter);
                return watcher.result(py, fed).map(|()| py.None());
            }
        }
    }
    let counted = py.detach(|| {
        if to_learn {
            counter.finish_to_learn(least, &watcher)
        } else {
            counter.finish_in_memory(least, &watcher).map(Counted::Memory)
        }
    });
    match watcher.result(py, counted)? {
        Counted::Memory(counts) => Ok(Py::new(py, PieceCounts(counts))?.into_any()),
        Counted::Stored(counts) => Ok(Py::new(py, StoredCounts::new(*counts))?.into_any()),
    }
}

/// Counts one part. What Python raised is the outer error.
fn feed(
    py: Python<'_>,
    counter: &mut Counter<'_>,
    part: Part<'_>,
    watcher: &Watcher,
) -> PyResult<bytepair::Result<()>> {
    let batches = match part {
        Part::Files(files) => {
            let sources: Vec<Source> = files.into_iter().map(source).collect();
            return Ok(py.detach(|| counter.feed_sources(&sources, watcher)));
        }
        Part::Texts(batches) => batches,
    };
    for batch in batches.try_iter()? {
        let batch = batch?.cast_into::<PyList>()?;
        let texts = batch
            .iter()
            .map(|text| Ok(text.cast_into::<PyString>()?))
            .collect::<PyResult<Vec<_>>>()?;
        let texts = texts.iter().map(|text| text.to_str()).collect::<PyResult<Vec<&str>>>()?;
        let fed = py.detach(|| counter.feed(&texts, watcher));
        if fed.is_err() {
            return Ok(fed);
        }
        py.check_signals()?;
    }
    Ok(Ok(()))
}
