//! Models (a vocab with its merges) and patterns, as Python builds them.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytepair::merge::{self, MergeRule};
use bytepair::pretokenize::{Pattern, Pretokenizer, pattern_names as core_pattern_names};
use bytepair::symbols::{Missing, Order};
use bytepair::vocab::{Vocab, show};
use bytepair::{Error, bundle};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyString};

use crate::convert::{self, Surrogates, utf8};
use crate::error::{OrRaise, raise};

/// A vocab with its merges: what turns a piece into ids. Immutable.
#[pyclass(frozen, module = "bytepair._core")]
#[derive(Debug)]
pub(crate) struct Model(pub(crate) Arc<merge::Model>);

type Merges = Vec<(PyBackedBytes, PyBackedBytes)>;

fn vocab_of(py: Python<'_>, vocab: BTreeMap<u32, PyBackedBytes>) -> PyResult<Vocab> {
    Vocab::new(vocab).or_raise(py)
}

/// The merges as ids.
fn pairs_of(vocab: &Vocab, merges: &Merges) -> bytepair::Result<Vec<(u32, u32)>> {
    let part = |rank: usize, bytes: &PyBackedBytes| {
        vocab.id(bytes).ok_or_else(|| {
            Error::Vocab(format!(
                "merge {rank}: {} is not in the vocab; add it or drop the merge",
                show(bytes)
            ))
        })
    };
    let numbered = merges.iter().enumerate();
    numbered.map(|(rank, (left, right))| Ok((part(rank, left)?, part(rank, right)?))).collect()
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
            let pairs = pairs_of(&vocab, &merges)?;
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

    /// A model whose merging begins with characters: by pair where there are merges, else by rank.
    ///
    /// `ranks` are (id, rank) of the tokens that merges use and make, in order of id. `byte_ids` are
    /// the 256 tokens that stand for bytes; without them `unknown` stands for a character that has
    /// no token, and for a run of them if `fuse_unknown`. `frozen` are ids of tokens that are found
    /// in text before merging.
    #[staticmethod]
    #[pyo3(signature = (vocab, *, merges = None, ranks = None, byte_ids = None, unknown = None, fuse_unknown = true, frozen = None))]
    #[expect(clippy::needless_pass_by_value, reason = "what Python gives is owned")]
    #[expect(clippy::too_many_arguments, reason = "the parts of a model, once")]
    fn from_symbols(
        py: Python<'_>,
        vocab: BTreeMap<u32, PyBackedBytes>,
        merges: Option<Merges>,
        ranks: Option<Vec<(u32, u32)>>,
        byte_ids: Option<Vec<u32>>,
        unknown: Option<u32>,
        fuse_unknown: bool,
        frozen: Option<Vec<u32>>,
    ) -> PyResult<Self> {
        let last: &[u32] = byte_ids.as_deref().unwrap_or_default();
        if !matches!(last.len(), 0 | 256) {
            let message = format!("byte_ids has {} ids; there is one for each byte", last.len());
            return Err(raise(py, "VocabError", message));
        }
        for (byte, id) in (0u8..=255).zip(last) {
            if vocab.get(id).is_none_or(|bytes| bytes[..] != [byte]) {
                let message = format!("id {id} is to stand for byte 0x{byte:02x}, but is not it");
                return Err(raise(py, "VocabError", message));
            }
        }
        let vocab = Vocab::with_last(vocab, last).or_raise(py)?;
        let missing = match (&byte_ids, unknown) {
            (Some(ids), _) if !ids.is_empty() => {
                Missing::Bytes(Box::new(std::array::from_fn(|byte| ids[byte])))
            }
            (_, Some(id)) => Missing::Unknown { id, fuse: fuse_unknown },
            (_, None) => Missing::Refused,
        };
        py.detach(|| {
            let order = match (&merges, ranks) {
                (Some(merges), _) => Order::Pairs(pairs_of(&vocab, merges)?),
                (None, Some(ranks)) => Order::Ranks(ranks),
                (None, None) => Order::Pairs(Vec::new()),
            };
            merge::Model::from_symbols(vocab, order, missing, frozen.unwrap_or_default())
        })
        .or_raise(py)
        .map(|model| Self(Arc::new(model)))
    }

    /// What merging begins with, where that is characters, as arguments of `from_symbols`.
    #[getter]
    fn symbols<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(symbols) = self.0.symbols() else { return Ok(None) };
        let values = PyDict::new(py);
        match symbols.missing() {
            Missing::Bytes(ids) => values.set_item("byte_ids", ids.to_vec())?,
            Missing::Unknown { id, fuse } => {
                values.set_item("unknown", id)?;
                values.set_item("fuse_unknown", fuse)?;
            }
            Missing::Refused => {}
        }
        if !symbols.frozen().is_empty() {
            values.set_item("frozen", symbols.frozen().to_vec())?;
        }
        if let Order::Ranks(ranks) = symbols.order() {
            values.set_item("ranks", ranks.clone())?;
        }
        Ok(Some(values))
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
