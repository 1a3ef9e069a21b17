//! Models as flat bytes, for pickles.

use std::sync::Arc;

use bytepair::flat;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::OrRaise;
use crate::model::Model;

/// The bytes of a model, for this version to read again.
#[pyfunction]
pub(crate) fn flatten<'py>(model: &Bound<'py, Model>) -> PyResult<Bound<'py, PyBytes>> {
    let (py, model) = (model.py(), model.get());
    Ok(PyBytes::new(py, &py.detach(|| flat::write(&model.0)).or_raise(py)?))
}

/// The model of such bytes.
#[pyfunction]
pub(crate) fn unflatten(py: Python<'_>, flat: &[u8]) -> PyResult<Model> {
    py.detach(|| flat::read(flat)).or_raise(py).map(|model| Model(Arc::new(model)))
}
