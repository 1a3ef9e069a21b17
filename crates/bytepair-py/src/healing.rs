//! Text that may go on: a function for what holds, and the index it needs.

use bytepair::healing::{self, Beginnings as CoreBeginnings, Healed, OPEN_MOST};
use bytepair::watched::Pulse;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::convert::{self, Surrogates, utf8};
use crate::idsin;
use crate::tokenizer::Tokenizer;
use crate::train::watched;

type Row<'py> = (Vec<u32>, Bound<'py, PyBytes>, Vec<Vec<u32>>);

fn row(py: Python<'_>, healed: Healed) -> Row<'_> {
    (healed.stable, PyBytes::new(py, &healed.tail), healed.completions)
}

/// The tokens of a vocab in the order of their bytes.
#[pyclass(frozen, module = "bytepair._core")]
#[derive(Debug)]
pub(crate) struct Beginnings(CoreBeginnings);

#[pymethods]
impl Beginnings {
    #[new]
    fn new(tokenizer: &Bound<'_, Tokenizer>) -> Self {
        Self(CoreBeginnings::new(&tokenizer.get().core))
    }

    /// The ids of the tokens that begin with `bytes`.
    fn of(&self, tokenizer: &Bound<'_, Tokenizer>, bytes: &[u8]) -> Vec<u32> {
        self.0.of(&tokenizer.get().core, bytes).to_vec()
    }

    /// What holds of a text, the tail, and what may come in its place.
    #[pyo3(signature = (tokenizer, text, *, allowed_special = None, disallowed_special = None, errors = "strict", most = OPEN_MOST))]
    fn encode<'py>(
        &self,
        tokenizer: &Bound<'py, Tokenizer>,
        text: &Bound<'py, PyAny>,
        allowed_special: Option<&Bound<'_, PyAny>>,
        disallowed_special: Option<&Bound<'_, PyAny>>,
        errors: &str,
        most: usize,
    ) -> PyResult<Row<'py>> {
        let (py, tokenizer) = (text.py(), tokenizer.get());
        let surrogates = Surrogates::parse(py, errors)?;
        let special = tokenizer.special(py, allowed_special, disallowed_special)?;
        let text = text.cast::<PyString>().map_err(|_| convert::not_str("text", text))?;
        let text = utf8(text, surrogates)?;
        let policy = special.get(&tokenizer.core);
        let core = &tokenizer.core;
        let healed =
            watched(py, |watch| self.0.encode(core, &text, policy, most, &Pulse::new(watch)))?;
        Ok(row(py, healed))
    }

    /// The same of ids.
    fn heal<'py>(
        &self,
        tokenizer: &Bound<'py, Tokenizer>,
        ids: &Bound<'py, PyAny>,
    ) -> PyResult<Row<'py>> {
        let (py, tokenizer) = (ids.py(), tokenizer.get());
        let ids = idsin::ids(ids)?;
        let core = &tokenizer.core;
        Ok(row(py, watched(py, |watch| self.0.heal(core, &ids, &Pulse::new(watch)))?))
    }
}

/// The ids of a text with no special token in it, and how many of them hold if it goes on.
#[pyfunction]
pub(crate) fn split_unstable(
    tokenizer: &Bound<'_, Tokenizer>,
    text: &Bound<'_, PyString>,
) -> PyResult<(Vec<u32>, usize)> {
    let (py, core) = (text.py(), &tokenizer.get().core);
    let text = utf8(text, Surrogates::Strict)?;
    watched(py, |watch| healing::split(core, &text, core.plain(), &Pulse::new(watch)))
}

/// The ids of bytes that are one piece.
#[pyfunction]
pub(crate) fn merge_piece(tokenizer: &Bound<'_, Tokenizer>, piece: &[u8]) -> PyResult<Vec<u32>> {
    let (py, core) = (tokenizer.py(), &tokenizer.get().core);
    watched(py, |watch| healing::merged(core, piece, &Pulse::new(watch)))
}
