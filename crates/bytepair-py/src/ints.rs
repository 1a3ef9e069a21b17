//! Ids as Python integers: lists of them, filled in bulk.
//!
//! In: ids of the core. Out: lists. A new integer costs about 20 ns and most ids come again, so those
//! below [`KEPT`] are made once for a process, [`PAGE`] neighbours at a time, and shared afterwards.
//! Bounded: 40 bytes for each id of a page that was used, 10 MiB if all of them were.

use bytepair::rows::Rows;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyList};

/// Ids below this are shared.
const KEPT: usize = 1 << 18;
/// How many are made at once: few, so that a short text does not make thousands.
const PAGE: usize = 64;

type Page = [Py<PyInt>; PAGE];

static PAGES: [PyOnceLock<Box<Page>>; KEPT / PAGE] = [const { PyOnceLock::new() }; KEPT / PAGE];

#[cold]
fn fill<'a>(py: Python<'_>, slot: &'a PyOnceLock<Box<Page>>, first: usize) -> &'a Page {
    slot.get_or_init(py, || Box::new(std::array::from_fn(|at| PyInt::new(py, first + at).unbind())))
}

/// `id` as a Python integer.
#[inline]
pub(crate) fn int(py: Python<'_>, id: u32) -> Bound<'_, PyInt> {
    let index = id as usize;
    let Some(slot) = PAGES.get(index / PAGE) else { return PyInt::new(py, id) };
    let page = match slot.get(py) {
        Some(page) => page,
        None => fill(py, slot, index / PAGE * PAGE),
    };
    page[index % PAGE].bind(py).clone()
}

/// `ids` as a list.
pub(crate) fn list<'py>(py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, ids.iter().map(|&id| int(py, id)))
}

/// A list for each row.
pub(crate) fn lists<'py>(py: Python<'py>, rows: &Rows) -> PyResult<Bound<'py, PyList>> {
    let lists: Vec<_> = rows.iter().map(|row| list(py, row)).collect::<PyResult<_>>()?;
    PyList::new(py, lists)
}
