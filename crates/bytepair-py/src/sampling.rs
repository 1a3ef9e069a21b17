//! Encoding with BPE-dropout: the options taken apart.

use bytepair::each;
use bytepair::merge::dropout::Rate;
use bytepair::special::Policy;
use bytepair::tokenizer::Tokenizer;
use bytepair::watched::Pulse;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::convert::{self, Surrogates, Threads, thread_count, utf8};
use crate::encode::in_row;
use crate::error::{OrRaise, raise};
use crate::texts::Texts;
use crate::train::watched;

/// The ids of `text` under a rate and a seed.
pub(crate) fn encode(
    core: &Tokenizer,
    text: &Bound<'_, PyAny>,
    policy: &Policy,
    surrogates: Surrogates,
    (dropout, seed): (Option<f64>, Option<&Bound<'_, PyAny>>),
) -> PyResult<Vec<u32>> {
    let py = text.py();
    let by = options(py, (dropout, seed))?;
    let text = text.cast::<PyString>().map_err(|_| convert::not_str("text", text))?;
    let text = utf8(text, surrogates)?;
    let mut ids = Vec::new();
    watched(py, |watch| core.encode_with_dropout(&text, policy, by, &mut ids, &Pulse::new(watch)))?;
    Ok(ids)
}

/// The ids of each text: each has the seed that comes its place after the first text's, so they
/// depend on it and its place alone.
pub(crate) fn encode_batch(
    core: &Tokenizer,
    texts: &Bound<'_, PyAny>,
    policy: &Policy,
    surrogates: Surrogates,
    threads: Option<Threads>,
    (dropout, seed): (Option<f64>, Option<&Bound<'_, PyAny>>),
) -> PyResult<Vec<Vec<u32>>> {
    let py = texts.py();
    let (rate, first) = options(py, (dropout, seed))?;
    let threads = thread_count(threads);
    let held = Texts::new(texts)?;
    let texts = held.texts(surrogates)?;
    let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    watched(py, |watch| {
        each::numbered(&texts, threads, watch, |index, text, pulse| {
            let mut ids = Vec::new();
            let by = (rate, first.wrapping_add(index as u64));
            core.encode_with_dropout(text, policy, by, &mut ids, pulse).map(|()| ids)
        })
        .map_err(|error| in_row(error, &texts, (core, policy), watch))
    })
}

/// The rate and the seed, which a rate needs.
fn options(
    py: Python<'_>,
    (dropout, seed): (Option<f64>, Option<&Bound<'_, PyAny>>),
) -> PyResult<(Rate, u64)> {
    let rate = Rate::new(dropout.unwrap_or(0.0)).or_raise(py)?;
    let Some(seed) = seed else {
        let message = format!(
            "dropout is {} and there is no seed; give seed, an int, and another for each text",
            dropout.unwrap_or(0.0)
        );
        return Err(raise(py, "ArgumentError", message));
    };
    let seed = seed.extract().map_err(|_| {
        raise(py, "ArgumentError", format!("seed is {seed}; give an int from 0 to 2**64 - 1"))
    })?;
    Ok((rate, seed))
}
