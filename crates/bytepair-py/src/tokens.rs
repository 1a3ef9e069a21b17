//! The ids of many texts in one array: what `encode_ragged` gives.
//!
//! In: rows of the core. Out: arrays of NumPy that look into this memory, or an Arrow list array that
//! shares it; nothing is copied. Immutable.

use std::sync::Arc;

use bytepair::rows::Rows;
use pyo3::exceptions::{PyIndexError, PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyMemoryView, PyTuple};

use crate::{arrays, arrow, ints};

/// The ids of many texts, one behind the other, and where each text's begin.
///
/// `len(tokens)` is the number of texts and `tokens[i]` the ids of text `i`. Arrays are NumPy's where it
/// is installed and else memoryviews; they look into the memory of this object and cannot be written
/// to. It speaks the Arrow PyCapsule interface, as a large list of uint32: `pyarrow.array(tokens)`
/// and polars take it without copying.
///
/// >>> from bytepair import get_encoding
/// >>> tokens = get_encoding("gpt2").encode_ragged(["hello world", " world"])
/// >>> tokens.ids.tolist(), tokens.offsets.tolist(), list(tokens[1])
/// ([31373, 995, 995], [0, 2, 3], [995])
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct Tokens {
    ids: Arc<Vec<u32>>,
    offsets: Arc<Vec<i64>>,
}

/// A part of the memory of [`Tokens`], for NumPy.
#[pyclass(frozen)]
struct Memory {
    ids: Arc<Vec<u32>>,
    offsets: Arc<Vec<i64>>,
    part: Part,
}

#[derive(Clone, Copy)]
enum Part {
    Ids(usize, usize),
    Offsets,
}

#[pymethods]
impl Memory {
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let little = cfg!(target_endian = "little");
        let (address, len, kind) = match self.part {
            Part::Ids(start, end) => (
                self.ids[start..end].as_ptr().expose_provenance(),
                end - start,
                if little { "<u4" } else { ">u4" },
            ),
            Part::Offsets => (
                self.offsets.as_ptr().expose_provenance(),
                self.offsets.len(),
                if little { "<i8" } else { ">i8" },
            ),
        };
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", (len,))?;
        interface.set_item("typestr", kind)?;
        interface.set_item("data", (address, true))?;
        Ok(interface)
    }
}

impl Tokens {
    pub(crate) fn new(rows: Rows) -> Self {
        // An offset is at most the number of bytes in memory.
        let offsets = rows.offsets().into_iter().map(|at| i64::try_from(at).unwrap_or(i64::MAX));
        let offsets = Arc::new(offsets.collect());
        Self { ids: Arc::new(rows.into_ids()), offsets }
    }

    fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Where row `index` lies in the ids.
    fn row(&self, index: usize) -> (usize, usize) {
        let at = |index: usize| usize::try_from(self.offsets[index]).unwrap_or(0);
        (at(index), at(index + 1))
    }

    fn part<'py>(&self, py: Python<'py>, part: Part) -> PyResult<Bound<'py, PyAny>> {
        if arrays::has_numpy(py) {
            let (ids, offsets) = (Arc::clone(&self.ids), Arc::clone(&self.offsets));
            let memory = Bound::new(py, Memory { ids, offsets, part })?;
            return py.import("numpy")?.call_method1("asarray", (memory,));
        }
        let (bytes, code): (Vec<u8>, _) = match part {
            Part::Ids(start, end) => {
                (self.ids[start..end].iter().flat_map(|id| id.to_ne_bytes()).collect(), "I")
            }
            Part::Offsets => (self.offsets.iter().flat_map(|at| at.to_ne_bytes()).collect(), "q"),
        };
        PyMemoryView::from(&PyBytes::new(py, &bytes))?.call_method1("cast", (code,))
    }
}

#[pymethods]
impl Tokens {
    /// The ids of all texts, one behind the other: uint32.
    #[getter]
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.part(py, Part::Ids(0, self.ids.len()))
    }

    /// Where each text's ids begin, and where the last one's end: int64, one more than texts.
    #[getter]
    fn offsets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.part(py, Part::Offsets)
    }

    /// The ids of each text as a list.
    fn to_lists<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let row = |index| {
            let (start, end) = self.row(index);
            ints::list(py, &self.ids[start..end])
        };
        let lists = (0..self.rows()).map(row).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, lists)
    }

    fn __len__(&self) -> usize {
        self.rows()
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        index: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let rows = self.rows();
        let at = match index.extract::<isize>() {
            Ok(at) if at < 0 => at.checked_add_unsigned(rows),
            Ok(at) => Some(at),
            Err(error) if error.is_instance_of::<PyOverflowError>(py) => None,
            Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                let kind = index.get_type().name()?;
                return Err(PyTypeError::new_err(format!(
                    "the index of a text must be int, not {kind}; to_lists() gives a list, which \
                     has slices"
                )));
            }
            Err(error) => return Err(error),
        };
        let at = at.and_then(|at| usize::try_from(at).ok()).filter(|&at| at < rows);
        let at = at.ok_or_else(|| {
            PyIndexError::new_err(format!("index {index} is out of range: there are {rows} texts"))
        })?;
        let (start, end) = self.row(at);
        self.part(py, Part::Ids(start, end))
    }

    fn __iter__(slf: Bound<'_, Self>) -> TokensIterator {
        TokensIterator { tokens: slf.unbind(), next: 0 }
    }

    fn __repr__(&self) -> String {
        format!("<Tokens of {} texts, {} ids>", self.rows(), self.ids.len())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| {
            let other = other.get();
            self.offsets == other.offsets && self.ids == other.ids
        })
    }

    /// The type of the Arrow array, as a capsule.
    #[expect(clippy::unused_self, reason = "all have the same type")]
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrow::list_schema(py)
    }

    /// The type and the array, as capsules: a large list of uint32 that shares this memory. Another
    /// type cannot be requested.
    #[pyo3(signature = (requested_schema = None))]
    #[expect(unused_variables, reason = "the interface allows to give another type than requested")]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let array = arrow::list_array(py, &self.ids, &self.offsets)?;
        PyTuple::new(py, [arrow::list_schema(py)?, array])
    }
}

/// Iterates over the rows of [`Tokens`].
#[pyclass(module = "bytepair._core")]
struct TokensIterator {
    tokens: Py<Tokens>,
    next: usize,
}

#[pymethods]
impl TokensIterator {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let tokens = self.tokens.get();
        if self.next == tokens.rows() {
            return Ok(None);
        }
        let (start, end) = tokens.row(self.next);
        self.next += 1;
        tokens.part(py, Part::Ids(start, end)).map(Some)
    }
}
