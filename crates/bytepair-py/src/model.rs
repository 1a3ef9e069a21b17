//! Models (a vocab with its merges) and patterns, as Python builds them.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytepair::merge::{self, MergeRule};
use bytepair::pretokenize::{Pattern, Pretokenizer, pattern_names as core_pattern_names};
use bytepair::vocab::{Vocab, show};
use bytepair::{Error, bundle};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyString};

use crate::convert::{self, Surrogates, utf8};
use crate::error::OrRaise;

/// A vocab with its merges: what turns a piece into ids. Immutable.
#[pyclass(frozen, module = "bytepair._core")]
#[derive(Debug)]
pub(crate) struct Model(pub(crate) Arc<merge::Model>);

type Merges = Vec<(PyBackedBytes, PyBackedBytes)>;

fn vocab_of(py: Python<'_>, vocab: BTreeMap<u32, PyBackedBytes>) -> PyResult<Vocab> {
    Vocab::new(vocab).or_raise(py)
}

#[pymethods]
impl Model {
    /// A model that merges by learned pair.
    #[staticmethod]
    #[pyo3(signature = (vocab, merges, *, whole_pieces = false))]
    #[expect(clippy::needless_pass_by_value, reason = "what Python gives is owned")]
    fn from_merges(
        py: Python<'_>,
        vocab: BTreeMap<u32, PyBackedBytes>,
        merges: Merges,
        whole_pieces: bool,
    ) -> PyResult<Self> {
        let vocab = vocab_of(py, vocab)?;
        py.detach(|| {
            let part = |rank: usize, bytes: &PyBackedBytes| {
                vocab.id(bytes).ok_or_else(|| {
                    Error::Vocab(format!(
                        "merge {rank}: {} is not in the vocab; add it or drop the merge",
                        show(bytes)
                    ))
                })
            };
            let pairs = merges
                .iter()
                .enumerate()
                .map(|(rank, (left, right))| Ok((part(rank, left)?, part(rank, right)?)))
                .collect::<bytepair::Result<Vec<_>>>()?;
            merge::Model::from_merges(vocab, pairs, whole_pieces)
        })
        .or_raise(py)
        .map(|model| Self(Arc::new(model)))
    }

    /// A model that merges by rank of the result; the id of a token is its rank.
    #[staticmethod]
    fn from_ranks(py: Python<'_>, vocab: BTreeMap<u32, PyBackedBytes>) -> PyResult<Self> {
        let vocab = vocab_of(py, vocab)?;
        py.detach(|| merge::Model::from_ranks(vocab))
            .or_raise(py)
            .map(|model| Self(Arc::new(model)))
    }

    /// Loads a packed rank table.
    #[staticmethod]
    fn unpack(py: Python<'_>, packed: &[u8]) -> PyResult<Self> {
        bundle::unpack(packed).or_raise(py).map(|model| Self(Arc::new(model)))
    }

    /// Packs a model that merges by rank.
    fn pack<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &py.detach(|| bundle::pack(&self.0)).or_raise(py)?))
    }

    /// Whether it merges by rank.
    #[getter]
    fn by_rank(&self) -> bool {
        self.0.rule() == MergeRule::Ranks
    }

    /// Whether a whole piece is looked up before merging.
    #[getter]
    fn whole_pieces(&self) -> bool {
        self.0.whole_pieces()
    }

    /// The number of tokens.
    fn __len__(&self) -> usize {
        self.0.vocab().len()
    }

    /// The ids in ascending order.
    fn ids(&self) -> Vec<u32> {
        self.0.vocab().iter().map(|(id, _)| id).collect()
    }

    /// The tokens as (id, bytes), by ascending id.
    fn items<'py>(&self, py: Python<'py>) -> Vec<(u32, Bound<'py, PyBytes>)> {
        self.0.vocab().iter().map(|(id, bytes)| (id, PyBytes::new(py, bytes))).collect()
    }

    /// The bytes of token `id`, or `None`.
    fn token<'py>(&self, py: Python<'py>, id: u32) -> Option<Bound<'py, PyBytes>> {
        self.0.vocab().bytes(id).map(|bytes| PyBytes::new(py, bytes))
    }

    /// The lowest id of the token `token`, or `None`.
    fn id(&self, token: &[u8]) -> Option<u32> {
        self.0.vocab().id(token)
    }

    /// The merges as (left, right) bytes, in rank order.
    fn merges<'py>(&self, py: Python<'py>) -> Vec<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let bytes = |id| PyBytes::new(py, self.0.vocab().bytes(id).unwrap_or_default());
        self.0.merges().iter().map(|&(left, right)| (bytes(left), bytes(right))).collect()
    }
}

/// The names of the named patterns.
#[pyfunction]
pub(crate) fn pattern_names() -> Vec<&'static str> {
    core_pattern_names().collect()
}

/// The regular expression (or sequence of them) behind a pattern name, or `None`.
#[pyfunction]
pub(crate) fn resolve_pattern(py: Python<'_>, name: &str) -> PyResult<Option<Py<PyAny>>> {
    Pattern::named(name).map(|pattern| convert::pattern_to_python(py, &pattern)).transpose()
}

/// The name of a pattern, or `None`.
#[pyfunction]
pub(crate) fn pattern_name(pattern: Option<&Bound<'_, PyAny>>) -> PyResult<Option<&'static str>> {
    Ok(convert::pattern(pattern)?.name())
}

/// The pieces of a text.
#[pyfunction]
#[pyo3(signature = (text, pattern, *, general = false))]
pub(crate) fn pretokenize<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyString>,
    pattern: Option<&Bound<'_, PyAny>>,
    general: bool,
) -> PyResult<Vec<Bound<'py, PyString>>> {
    let pattern = convert::pattern(pattern)?;
    let make = if general { Pretokenizer::general } else { Pretokenizer::new };
    let pretokenizer = make(&pattern).or_raise(py)?;
    let text = utf8(text, Surrogates::Strict)?;
    let pieces = py.detach(|| pretokenizer.pieces(&text)).or_raise(py)?;
    Ok(pieces.into_iter().map(|piece| PyString::new(py, piece)).collect())
}
