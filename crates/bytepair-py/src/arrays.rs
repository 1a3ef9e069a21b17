//! Ids as arrays of NumPy, which is asked for when it is needed and not before.

use numpy::{
    Element, PyArray1, PyArrayDescr, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PySlice;

use crate::error::raise;

/// Up to this many ids a copy costs less than handing the memory over.
const COPIED: usize = 1 << 10;

/// Whether NumPy is there.
pub(crate) fn has_numpy(py: Python<'_>) -> bool {
    static THERE: PyOnceLock<()> = PyOnceLock::new();
    THERE.get_or_try_init(py, || py.import("numpy").map(drop)).is_ok()
}

/// The `ImportError` with `message` where NumPy is not there.
pub(crate) fn need_numpy(py: Python<'_>, message: &'static str) -> PyResult<()> {
    if has_numpy(py) { Ok(()) } else { Err(PyImportError::new_err(message)) }
}

/// An array that takes the ids over.
pub(crate) fn array<T: Element>(py: Python<'_>, ids: Vec<T>) -> Bound<'_, PyArray1<T>> {
    if ids.len() <= COPIED { PyArray1::from_slice(py, &ids) } else { PyArray1::from_vec(py, ids) }
}

/// Where ids are put.
pub(crate) enum Target<'py> {
    New32,
    New16,
    Out32(Bound<'py, PyArray1<u32>>),
    Out16(Bound<'py, PyArray1<u16>>),
}

impl<'py> Target<'py> {
    pub(crate) fn new(
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyArrayDescr>>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let is = |wanted: Bound<'py, PyArrayDescr>, dtype: &Bound<'py, PyArrayDescr>| {
            dtype.is_equiv_to(&wanted)
        };
        let (is32, is16) = match dtype {
            None => (true, true),
            Some(dtype) => (is(numpy::dtype::<u32>(py), dtype), is(numpy::dtype::<u16>(py), dtype)),
        };
        if !is32 && !is16 {
            let shown = dtype.map_or_else(String::new, ToString::to_string);
            let message = format!("dtype is {shown}; ids are uint32 or, where they fit, uint16");
            return Err(raise(py, "ArgumentError", message));
        }
        let Some(out) = out else {
            return Ok(if is32 { Self::New32 } else { Self::New16 });
        };
        let target = if is32 && let Ok(out) = out.cast::<PyArray1<u32>>() {
            Self::Out32(out.clone())
        } else if is16 && let Ok(out) = out.cast::<PyArray1<u16>>() {
            Self::Out16(out.clone())
        } else {
            let wanted = if dtype.is_none() { "uint32 or uint16" } else { dtype_name(is32) };
            return Err(raise(py, "ArgumentError", refusal(out, wanted)));
        };
        Ok(target)
    }

    /// The ids where they are wanted.
    pub(crate) fn put(self, py: Python<'py>, ids: Vec<u32>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::New32 => Ok(array(py, ids).into_any()),
            Self::New16 => Ok(array(py, narrow(py, &ids)?).into_any()),
            Self::Out32(out) => fill(&out, &ids, dtype_name(true)),
            Self::Out16(out) => {
                let ids = narrow(py, &ids)?;
                fill(&out, &ids, dtype_name(false))
            }
        }
    }
}

const fn dtype_name(is32: bool) -> &'static str {
    if is32 { "uint32" } else { "uint16" }
}

fn refusal(out: &Bound<'_, PyAny>, wanted: &str) -> String {
    match out.cast::<PyUntypedArray>() {
        Ok(array) => format!(
            "out has shape {} and dtype {}; it must be one-dimensional, {wanted} and writable",
            array.getattr("shape").map_or_else(|_| "?".to_owned(), |shape| shape.to_string()),
            array.dtype()
        ),
        Err(_) => format!("out is {}, not an array of {wanted}", out.get_type()),
    }
}

/// The part of `out` that holds `ids`.
fn fill<'py, T: Element + Copy>(
    out: &Bound<'py, PyArray1<T>>,
    ids: &[T],
    wanted: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let py = out.py();
    if out.len() < ids.len() {
        let message = format!(
            "out has shape ({},); it must be one-dimensional, {wanted} and hold {} ids",
            out.len(),
            ids.len()
        );
        return Err(raise(py, "ArgumentError", message));
    }
    {
        let mut place =
            out.try_readwrite().map_err(|_| raise(py, "ArgumentError", refusal(out, wanted)))?;
        for (place, &id) in place.as_array_mut().iter_mut().zip(ids) {
            *place = id;
        }
    }
    out.get_item(PySlice::new(py, 0, isize::try_from(ids.len())?, 1))
}

fn narrow(py: Python<'_>, ids: &[u32]) -> PyResult<Vec<u16>> {
    if let Some((index, id)) = ids.iter().enumerate().find(|(_, id)| **id > 0xFFFF) {
        let message =
            format!("id {id} at position {index} does not fit in uint16; ask for uint32 instead");
        return Err(raise(py, "ArgumentError", message));
    }
    #[expect(clippy::cast_possible_truncation, reason = "checked above")]
    let narrow = |&id: &u32| id as u16;
    Ok(ids.iter().map(narrow).collect())
}
