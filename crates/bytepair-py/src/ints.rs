//! Ids as Python integers: lists of them, filled in bulk.
//!
//! In: ids of the core. Out: lists. A new integer costs about 20 ns and most ids come again, so those
//! below [`KEPT`] are made once for a process, [`PAGE`] neighbours at a time, and shared afterwards.
//! Bounded: 40 bytes for each id of a page that was used, 10 MiB if all of them were.

use bytepair::rows::Rows;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyList, PyTuple};

/// Ids below this are shared.
const KEPT: usize = 1 << 18;
/// How many are made at once: few, so that a short text does not make thousands.
const PAGE: usize = 64;

/// How many objects are made between two looks at Ctrl-C.
const LISTEN: usize = 1 << 20;

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
    if ids.len() < LISTEN {
        return PyList::new(py, ids.iter().map(|&id| int(py, id)));
    }
    made(py, ids.iter().map(|&id| Ok(int(py, id))))
}

/// Numbers of any size as a list.
pub(crate) fn places<'py>(py: Python<'py>, places: &[usize]) -> PyResult<Bound<'py, PyList>> {
    made(py, places.iter().map(|&place| Ok(PyInt::new(py, place))))
}

/// Starts and ends as a list of tuples. Where one ends and the next begins is one object.
pub(crate) fn spans<'py>(
    py: Python<'py>,
    spans: &[(usize, usize)],
) -> PyResult<Bound<'py, PyList>> {
    let mut last = (0, PyInt::new(py, 0));
    let span = |&(start, end): &(usize, usize)| {
        let first = if start == last.0 { last.1.clone() } else { PyInt::new(py, start) };
        last = (end, PyInt::new(py, end));
        PyTuple::new(py, [&first, &last.1])
    };
    made(py, spans.iter().map(span))
}

/// An item of a list, or why there is none.
struct Item<'py, T>(PyResult<Bound<'py, T>>);

impl<'py, T> IntoPyObject<'py> for Item<'py, T> {
    type Target = T;
    type Output = Bound<'py, T>;
    type Error = PyErr;

    fn into_pyobject(self, _: Python<'py>) -> PyResult<Bound<'py, T>> {
        self.0
    }
}

/// Objects that are made one by one, as a list.
pub(crate) fn made<'py, T: 'py>(
    py: Python<'py>,
    objects: impl Iterator<Item = PyResult<Bound<'py, T>>>,
) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, listening(py, objects))
}

/// The same items, with a look at Ctrl-C now and then.
fn listening<'py, T: 'py>(
    py: Python<'py>,
    items: impl Iterator<Item = PyResult<Bound<'py, T>>>,
) -> impl Iterator<Item = Item<'py, T>> {
    items.enumerate().map(move |(index, item)| {
        if (index + 1).is_multiple_of(LISTEN) {
            return Item(py.check_signals().and(item));
        }
        Item(item)
    })
}

/// A list for each row.
pub(crate) fn lists<'py>(py: Python<'py>, rows: &Rows) -> PyResult<Bound<'py, PyList>> {
    let lists: Vec<_> = rows.iter().map(|row| list(py, row)).collect::<PyResult<_>>()?;
    PyList::new(py, lists)
}
