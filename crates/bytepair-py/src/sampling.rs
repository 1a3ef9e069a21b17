//! Encoding with BPE-dropout: the options taken apart.

use bytepair::merge::dropout::Rate;
use bytepair::special::Policy;
use bytepair::tokenizer::Tokenizer;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::convert::{self, Surrogates, utf8};
use crate::error::{OrRaise, raise};

/// The ids of `text` under a rate and a seed.
pub(crate) fn encode(
    core: &Tokenizer,
    text: &Bound<'_, PyAny>,
    policy: &Policy,
    surrogates: Surrogates,
    (dropout, seed): (Option<f64>, Option<&Bound<'_, PyAny>>),
) -> PyResult<Vec<u32>> {
    let py = text.py();
    let rate = Rate::new(dropout.unwrap_or(0.0)).or_raise(py)?;
    let Some(seed) = seed else {
        let message = format!(
            "dropout is {} and there is no seed; give seed, an int, and another for each text",
            dropout.unwrap_or(0.0)
        );
        return Err(raise(py, "ArgumentError", message));
    };
    let seed: u64 = seed.extract().map_err(|_| {
        raise(py, "ArgumentError", format!("seed is {seed}; give an int from 0 to 2**64 - 1"))
    })?;
    let text = text.cast::<PyString>().map_err(|_| convert::not_str("text", text))?;
    let text = utf8(text, surrogates)?;
    let mut ids = Vec::new();
    py.detach(|| core.encode_with_dropout(&text, policy, rate, seed, &mut ids)).or_raise(py)?;
    Ok(ids)
}
