//! Ids as Python has them: lists, buffers, iterables.

use std::ffi::{c_int, c_ulong};

use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::{PyBytes, PyList, PyMemoryView, PyString, PyTuple};

use crate::convert::iterate;
use crate::error::raise;

/// How many ids are read between two looks at Ctrl-C.
const LISTEN: usize = 1 << 20;

/// Ids from a list, a tuple, a buffer or any other iterable of integers.
pub(crate) fn ids(values: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    if let Some(row) = Row::of(values) {
        return row.ids();
    }
    if !values.is_instance_of::<PyBytes>()
        && !values.is_instance_of::<PyString>()
        && let Ok(view) = PyMemoryView::from(values)
        && let Some(ids) = of_buffer(&view)?
    {
        return Ok(ids);
    }
    let items = iterate("ids", "an iterable of int", values)?;
    collect(values.len().unwrap_or(0), items)
}

/// How many ids of a list are read at a time.
const BLOCK: usize = 64;

/// A list or a tuple of ids.
pub(crate) struct Row<'a, 'py> {
    values: &'a Bound<'py, PyAny>,
    len: usize,
    /// Takes it and a place in it.
    item: unsafe extern "C" fn(*mut ffi::PyObject, ffi::Py_ssize_t) -> *mut ffi::PyObject,
}

impl<'a, 'py> Row<'a, 'py> {
    pub(crate) fn of(values: &'a Bound<'py, PyAny>) -> Option<Self> {
        if let Ok(list) = values.cast::<PyList>() {
            return Some(Self { values, len: list.len(), item: ffi::PyList_GetItem });
        }
        let tuple = values.cast::<PyTuple>().ok()?;
        Some(Self { values, len: tuple.len(), item: ffi::PyTuple_GetItem })
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    fn ids(&self) -> PyResult<Vec<u32>> {
        let mut ids = Vec::with_capacity(self.len);
        let mut block = [0; BLOCK];
        while ids.len() < self.len {
            let block = &mut block[..(self.len - ids.len()).min(BLOCK)];
            self.read(ids.len(), block)?;
            if ids.len().is_multiple_of(LISTEN) {
                self.values.py().check_signals()?;
            }
            ids.extend_from_slice(block);
        }
        Ok(ids)
    }

    /// Reads the ids from place `first` on. Two calls of Python for each, where pyo3's iterator makes
    /// five: that alone is half the time of decoding a list.
    pub(crate) fn read(&self, first: usize, ids: &mut [u32]) -> PyResult<()> {
        // Where Python has no lock of its own, nobody else may take an item out meanwhile.
        with_critical_section(self.values, || {
            for (index, id) in (first..).zip(ids) {
                *id = self.id(index)?;
            }
            Ok(())
        })
    }

    #[expect(unsafe_code, reason = "pyo3 has no borrowed items in its stable interface")]
    #[inline(always)]
    fn id(&self, index: usize) -> PyResult<u32> {
        let (py, place) = (self.values.py(), isize::try_from(index)?);
        // SAFETY: the values are alive and of the type that `item` is for, and the thread is attached.
        // The item is a borrowed reference or, where a list has become shorter, null with an exception
        // set.
        let item = unsafe { (self.item)(self.values.as_ptr(), place) };
        if item.is_null() {
            return Err(PyErr::fetch(py));
        }
        // SAFETY: the item is alive: no code of Python ran since the list was asked for it.
        if unsafe { ffi::PyLong_CheckExact(item) } != 0 {
            // SAFETY: as above; for an int no code of Python runs here either.
            let value = unsafe { ffi::PyLong_AsUnsignedLong(item) };
            if value == c_ulong::MAX {
                // It is out of range, or that is its value where this type has 32 bits.
                drop(PyErr::take(py));
            } else if let Ok(value) = u32::try_from(value) {
                return Ok(value);
            }
        }
        // SAFETY: as above. From here on the item is held.
        let item = unsafe { Bound::from_borrowed_ptr(py, item) };
        self::id(&item, index)
    }
}

fn collect<'py>(
    len: usize,
    values: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
) -> PyResult<Vec<u32>> {
    // What an object says of its length is a hint, and may be wrong.
    let mut ids = Vec::with_capacity(len.min(LISTEN));
    for (index, value) in values.enumerate() {
        let value = value?;
        if (index + 1).is_multiple_of(LISTEN) {
            value.py().check_signals()?;
        }
        ids.push(id(&value, index)?);
    }
    Ok(ids)
}

/// The ids of a buffer of integers; `None` for one of another shape or kind.
fn of_buffer(view: &Bound<'_, PyMemoryView>) -> PyResult<Option<Vec<u32>>> {
    if view.getattr("ndim")?.extract::<c_int>()? != 1 {
        return Ok(None);
    }
    let format = view.getattr("format")?;
    let format = format.cast::<PyString>()?.to_str()?;
    let width = view.getattr("itemsize")?.extract::<usize>()?;
    let code = format.trim_start_matches(['@', '=']);
    let code = if cfg!(target_endian = "little") { code.trim_start_matches('<') } else { code };
    let bytes = view.call_method0("tobytes")?;
    let bytes = bytes.cast::<PyBytes>()?.as_bytes();
    let py = view.py();
    match (code, width) {
        ("I" | "L", 4) => Ok(Some(items(bytes, u32::from_ne_bytes))),
        ("H", 2) => Ok(Some(items(bytes, |item| u32::from(u16::from_ne_bytes(item))))),
        ("i" | "l", 4) => each(py, bytes, |item| i32::from_ne_bytes(item).into()),
        ("q" | "l", 8) => each(py, bytes, |item| i64::from_ne_bytes(item).into()),
        ("Q" | "L", 8) => each(py, bytes, |item| u64::from_ne_bytes(item).into()),
        _ => Ok(None),
    }
}

fn items<const N: usize>(bytes: &[u8], item: impl Fn([u8; N]) -> u32) -> Vec<u32> {
    bytes.as_chunks::<N>().0.iter().map(|&bytes| item(bytes)).collect()
}

fn each<const N: usize>(
    py: Python<'_>,
    bytes: &[u8],
    item: impl Fn([u8; N]) -> i128,
) -> PyResult<Option<Vec<u32>>> {
    let mut ids = Vec::with_capacity(bytes.len() / N);
    for (index, &bytes) in bytes.as_chunks::<N>().0.iter().enumerate() {
        let value = item(bytes);
        ids.push(u32::try_from(value).map_err(|_| out_of_range(py, &value.to_string(), index))?);
    }
    Ok(Some(ids))
}

fn out_of_range(py: Python<'_>, value: &str, index: usize) -> PyErr {
    let message = format!("unknown id {value} at position {index}: ids are from 0 to 4294967295");
    raise(py, "UnknownTokenError", message)
}

/// One id, at position `index` of the ids given.
#[inline]
pub(crate) fn id(value: &Bound<'_, PyAny>, index: usize) -> PyResult<u32> {
    value.extract::<u32>().map_err(|error| refused(value, index, &error))
}

/// An id that is given alone, not as one of several.
pub(crate) fn single(value: &Bound<'_, PyAny>) -> PyResult<u32> {
    let py = value.py();
    value.extract::<u32>().map_err(|error| {
        if error.is_instance_of::<PyOverflowError>(py) {
            let message = format!("unknown id {value}: ids are from 0 to 4294967295");
            return raise(py, "UnknownTokenError", message);
        }
        let name = value.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("an id must be int, not {name}"))
    })
}

/// The error about a single id that no token has.
pub(crate) fn unknown(py: Python<'_>, id: u32, vocab_size: u64) -> PyErr {
    let message =
        format!("unknown id {id}: the vocab size is {vocab_size} and no token has this id");
    raise(py, "UnknownTokenError", message)
}

#[cold]
fn refused(value: &Bound<'_, PyAny>, index: usize, error: &PyErr) -> PyErr {
    let py = value.py();
    if error.is_instance_of::<PyOverflowError>(py) {
        return out_of_range(py, &value.to_string(), index);
    }
    let name = value.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("ids must be int, not {name} (at position {index})"))
}
