//! Piece counts, and learning merges from them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytepair::train::{self, LearnOptions, Pieces, Session, TieBreak, Watch};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{OrRaise, raise, to_python};
use crate::model::Model;

/// Tells a Python callable how far the work is, and lets Ctrl-C through.
pub(crate) struct Watcher {
    callback: Option<Py<PyAny>>,
    /// What stopped the work.
    stop: Mutex<Option<PyErr>>,
}

impl Watcher {
    pub(crate) fn new(callback: Option<Py<PyAny>>) -> Self {
        Self { callback, stop: Mutex::new(None) }
    }

    /// The result, or the exception that stopped the work. One that was heard when the work was all
    /// but done is raised too: nobody else would hear it.
    pub(crate) fn result<T>(self, py: Python<'_>, result: bytepair::Result<T>) -> PyResult<T> {
        let stop = self.stop.into_inner().unwrap_or_else(PoisonError::into_inner);
        stop.map_or_else(|| result.map_err(|error| to_python(py, &error)), Err)
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
pub(crate) struct PieceCounts(pub(crate) train::PieceCounts);

/// A piece with its count; `None` for what is no pair.
fn entry<'py>(item: &Bound<'py, PyAny>) -> Result<(Bound<'py, PyBytes>, u64), Option<PyErr>> {
    let py = item.py();
    let (piece, count): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract().map_err(|_| None)?;
    let type_of = |value: &Bound<'_, PyAny>| value.get_type().name().map(|name| name.to_string());
    let repr = piece.clone();
    // Only for an error: a piece may be long, there are many, and where Python makes text of an object it
    // looks for Ctrl-C, which pyo3 then writes to standard error and drops.
    let shown = || -> Result<String, Option<PyErr>> {
        let shown = repr.repr().map_err(Some)?.to_string();
        Ok(shown.chars().take(80).collect())
    };
    let Ok(piece) = piece.cast_into::<PyBytes>() else {
        let message = format!("a piece must be bytes; {} is not", shown()?);
        return Err(Some(PyTypeError::new_err(message)));
    };
    if piece.as_bytes().is_empty() {
        let message = format!("a piece is empty (its count is {count}); no text has such a piece");
        return Err(Some(raise(py, "ArgumentError", message)));
    }
    match count.extract::<u64>() {
        Ok(count) => Ok((piece, count)),
        Err(error) if error.is_instance_of::<PyOverflowError>(py) => {
            let message = format!("the count of {} is {count}; give 0 to 2**64 - 1", shown()?);
            Err(Some(PyOverflowError::new_err(message)))
        }
        Err(_) => {
            let name = type_of(&count).map_err(Some)?;
            let message = format!("the count of {} must be int, not {name}", shown()?);
            Err(Some(PyTypeError::new_err(message)))
        }
    }
}

/// Items handled between two looks for Ctrl-C.
const ITEMS_PER_LOOK: usize = 1 << 14;

#[pymethods]
impl PieceCounts {
    #[new]
    #[pyo3(signature = (items, keep_order = false))]
    fn new(py: Python<'_>, items: &Bound<'_, PyAny>, keep_order: bool) -> PyResult<Self> {
        let mut counts =
            if keep_order { train::PieceCounts::ordered() } else { train::PieceCounts::new() };
        for (number, item) in items.try_iter()?.enumerate() {
            if number % ITEMS_PER_LOOK == 0 {
                py.check_signals()?;
            }
            let item = item?;
            let (piece, count) = entry(&item).map_err(|error| match error {
                Some(error) => error,
                None => PyTypeError::new_err(format!(
                    "item {number} of the counts is no pair of a piece (bytes) and its count (int)"
                )),
            })?;
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
        let (model, watcher) = (&*model.get().0, Watcher::new(None));
        let tokens = py.detach(|| self.0.total_tokens(model, &watcher));
        watcher.result(py, tokens)
    }

    #[pyo3(signature = (most = None))]
    fn items<'py>(
        &self,
        py: Python<'py>,
        most: Option<usize>,
    ) -> PyResult<Vec<(Bound<'py, PyBytes>, u64)>> {
        let (most, watcher) = (most.unwrap_or(usize::MAX), Watcher::new(None));
        let items = py.detach(|| self.0.most_common(most, &watcher));
        let mut all = Vec::new();
        for (number, (piece, count)) in watcher.result(py, items)?.into_iter().enumerate() {
            if number % ITEMS_PER_LOOK == 0 {
                py.check_signals()?;
            }
            all.push((PyBytes::new(py, piece), count));
        }
        Ok(all)
    }

    fn merged(&self, py: Python<'_>, other: &Bound<'_, PieceCounts>) -> PyResult<Self> {
        let (other, watcher) = (&other.get().0, Watcher::new(None));
        let sum = py.detach(|| {
            let mut sum = self.0.clone();
            sum.merge_watched(other, &watcher).map(|()| sum)
        });
        watcher.result(py, sum).map(Self)
    }

    /// Those with counts of at least `least`.
    fn retained(&self, py: Python<'_>, least: u64) -> PyResult<Self> {
        let mut counts = self.0.clone();
        py.detach(|| counts.retain(least)).or_raise(py)?;
        Ok(Self(counts))
    }

    /// Raises `ArgumentError` if learning from them takes more than `limit` bytes.
    fn check_limit(&self, py: Python<'_>, limit: u64) -> PyResult<()> {
        py.detach(|| self.0.totals().check_limit(limit)).or_raise(py)
    }

    fn scaled(&self, py: Python<'_>, n: u64) -> PyResult<Self> {
        let mut scaled = self.0.clone();
        scaled.scale(n).or_raise(py)?;
        Ok(Self(scaled))
    }
}

/// Piece counts on disk, to be learned from. Their files go when they are closed or freed.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct StoredCounts(Mutex<Option<Arc<train::StoredCounts>>>);

impl StoredCounts {
    pub(crate) fn new(counts: train::StoredCounts) -> Self {
        Self(Mutex::new(Some(Arc::new(counts))))
    }

    fn open(&self, py: Python<'_>) -> PyResult<Arc<train::StoredCounts>> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        counts.ok_or_else(|| raise(py, "ArgumentError", "these counts are closed".to_owned()))
    }
}

#[pymethods]
impl StoredCounts {
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(usize::try_from(self.open(py)?.totals().pieces)?)
    }

    fn total_bytes(&self, py: Python<'_>) -> PyResult<u128> {
        Ok(self.open(py)?.totals().text_bytes)
    }

    fn total_tokens(&self, py: Python<'_>, model: &Bound<'_, Model>) -> PyResult<u128> {
        let (counts, watcher) = (self.open(py)?, Watcher::new(None));
        let model = &*model.get().0;
        let tokens = py.detach(|| counts.total_tokens(model, &watcher));
        watcher.result(py, tokens)
    }

    fn close(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// Merges as (left id, right id), then for each its count, whether it was a tie, tokens saved.
type Learned = (Vec<(u32, u32)>, Vec<u64>, Vec<bool>, Vec<u64>);

fn tie_break(py: Python<'_>, name: &str) -> PyResult<TieBreak> {
    match name {
        "lexicographic" => Ok(TieBreak::Lexicographic),
        "lowest_ids" => Ok(TieBreak::LowestIds),
        "huggingface" => Ok(TieBreak::HuggingFace),
        "first_seen" => Ok(TieBreak::FirstSeen),
        other => {
            let message = format!(
                "tie_break is {other:?}; it is \"lexicographic\", \"lowest_ids\", \"huggingface\" or \
                 \"first_seen\""
            );
            Err(raise(py, "ArgumentError", message))
        }
    }
}

/// Learns merges: (left, right) ids, where byte b has id b and merge k makes id 256 + k. With a base,
/// its other tokens have the ids from 256 on, in the order of its ids, and merges follow. A
/// checkpoint is a folder and how often, in seconds, merges are saved there.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one for each option of Python's")]
#[pyo3(signature = (
    counts, merges, tie_break, min_count, max_token_bytes, callback, base = None, checkpoint = None
))]
pub(crate) fn learn(
    py: Python<'_>,
    counts: &Bound<'_, PyAny>,
    merges: usize,
    tie_break: &str,
    min_count: u64,
    max_token_bytes: Option<usize>,
    callback: Option<Py<PyAny>>,
    base: Option<&Bound<'_, Model>>,
    checkpoint: Option<(PathBuf, f64)>,
) -> PyResult<Learned> {
    let tie_break = self::tie_break(py, tie_break)?;
    let options = LearnOptions { merges, tie_break, min_count, max_token_bytes };
    let base = base.map(|base| &*base.get().0);
    let run = |counts: &(dyn Pieces + Sync)| {
        let watcher = Watcher::new(callback);
        let learned = py.detach(|| learn_kept(counts, base, &options, checkpoint, &watcher));
        watcher.result(py, learned)
    };
    let learned = if let Ok(counts) = counts.cast::<PieceCounts>() {
        run(&counts.get().0)?
    } else if let Ok(stored) = counts.cast::<StoredCounts>() {
        run(&*stored.get().open(py)?)?
    } else {
        return Err(PyTypeError::new_err("counts must be PieceCounts or StoredCounts"));
    };
    Ok((learned.merges, learned.counts, learned.ties, learned.saved))
}

/// Learns, on from what a checkpoint holds, and saves there what is learned.
fn learn_kept(
    counts: &dyn Pieces,
    base: Option<&bytepair::merge::Model>,
    options: &LearnOptions,
    checkpoint: Option<(PathBuf, f64)>,
    watcher: &Watcher,
) -> bytepair::Result<train::Learned> {
    let Some((folder, seconds)) = checkpoint else {
        let session = Session { base, ..Session::default() };
        return train::learn_on(counts, options, session, watcher);
    };
    let known = train::load_learned(&folder)?;
    let every = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    let mut keep = |learned: &train::Learned| train::save_learned(&folder, learned);
    let session = Session { base, known, keep: Some((every, &mut keep)) };
    let learned = train::learn_on(counts, options, session, watcher)?;
    train::save_learned(&folder, &learned)?;
    Ok(learned)
}
