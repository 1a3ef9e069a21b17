//! The batch forms of cutting: functions that the methods call.

use bytepair::special::Policy;
use bytepair::tokenizer::Tokenizer as Core;
use bytepair::watched::Pulse;
use bytepair::{cut, each};
use pyo3::prelude::*;

use crate::convert::{self, Surrogates, Threads};
use crate::cutting::{Chunked, Span, in_characters, kinds, side_named};
use crate::encode::in_row;
use crate::texts::Texts;
use crate::tokenizer::Tokenizer;
use crate::train::watched;

/// `cut_out` for each text.
#[pyfunction]
#[pyo3(signature = (tokenizer, texts, max_tokens, side, *, threads = None, allowed_special = None, disallowed_special = None))]
pub(crate) fn cut_out_many(
    tokenizer: &Bound<'_, Tokenizer>,
    texts: &Bound<'_, PyAny>,
    max_tokens: usize,
    side: &str,
    threads: Option<Threads>,
    allowed_special: Option<&Bound<'_, PyAny>>,
    disallowed_special: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Span>> {
    let (py, tokenizer) = (texts.py(), tokenizer.get());
    let find = side_named(py, side)?;
    let special = tokenizer.special(py, allowed_special, disallowed_special)?;
    let policy = special.get(&tokenizer.core);
    on_texts(texts, threads, Surrogates::Strict, (&tokenizer.core, policy), |text, pulse| {
        find(&tokenizer.core, text, policy, max_tokens, pulse).map(|span| in_characters(text, span))
    })
}

/// `chunks` for each text.
#[pyfunction]
#[pyo3(signature = (tokenizer, texts, max_tokens, overlap, prefer, *, threads = None, allowed_special = None, disallowed_special = None))]
#[expect(clippy::too_many_arguments, reason = "the options of chunk_batch")]
pub(crate) fn chunks_many(
    tokenizer: &Bound<'_, Tokenizer>,
    texts: &Bound<'_, PyAny>,
    max_tokens: usize,
    overlap: usize,
    prefer: Vec<String>,
    threads: Option<Threads>,
    allowed_special: Option<&Bound<'_, PyAny>>,
    disallowed_special: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Vec<Chunked>>> {
    let (py, tokenizer) = (texts.py(), tokenizer.get());
    let prefer = kinds(py, prefer)?;
    let special = tokenizer.special(py, allowed_special, disallowed_special)?;
    let policy = special.get(&tokenizer.core);
    let core = &tokenizer.core;
    on_texts(texts, threads, Surrogates::Strict, (&tokenizer.core, policy), |text, pulse| {
        let spans = cut::chunks(core, text, policy, (max_tokens, overlap), &prefer, pulse)?;
        crate::cutting::with_ids(core, text, policy, spans, pulse)
    })
}

/// Does `work` on each text, without the GIL, on several threads where that pays.
fn on_texts<R: Send>(
    texts: &Bound<'_, PyAny>,
    threads: Option<Threads>,
    surrogates: Surrogates,
    by: (&Core, &Policy),
    work: impl Fn(&str, &Pulse<'_>) -> bytepair::Result<R> + Send + Sync,
) -> PyResult<Vec<R>> {
    let py = texts.py();
    let threads = convert::thread_count(threads);
    let held = Texts::new(texts)?;
    let texts = held.texts(surrogates)?;
    let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    watched(py, |watch| {
        each::map(&texts, threads, watch, work).map_err(|error| in_row(error, &texts, by, watch))
    })
}
