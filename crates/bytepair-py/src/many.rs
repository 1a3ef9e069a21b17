//! The batch forms of encoding, counting and cutting: functions that the methods call.

use bytepair::special::Policy;
use bytepair::{cut, each, tokenizer};
use pyo3::prelude::*;

use crate::convert::{self, Surrogates};
use crate::cutting::{Chunked, Span, in_characters, kinds, side_named};
use crate::tokenizer::Tokenizer;
use crate::train::watched;

/// The ids of each text.
pub(crate) fn encode_many(
    core: &tokenizer::Tokenizer,
    py: Python<'_>,
    texts: &[&str],
    policy: &Policy,
    threads: usize,
) -> PyResult<Vec<Vec<u32>>> {
    let work = |text: &str| {
        let mut ids = Vec::new();
        core.encode(text, policy, &mut ids).map(|()| ids)
    };
    watched(py, |watch| each::map(texts, threads, watch, work))
}

/// The number of ids of each text, or the limit plus one.
#[pyfunction]
#[pyo3(signature = (tokenizer, texts, limit, *, threads = None, allowed_special = None, disallowed_special = None, errors = "strict"))]
pub(crate) fn count_many(
    tokenizer: &Bound<'_, Tokenizer>,
    texts: &Bound<'_, PyAny>,
    limit: Option<i64>,
    threads: Option<i64>,
    allowed_special: Option<&Bound<'_, PyAny>>,
    disallowed_special: Option<&Bound<'_, PyAny>>,
    errors: &str,
) -> PyResult<Vec<usize>> {
    let (py, tokenizer) = (texts.py(), tokenizer.get());
    let surrogates = Surrogates::parse(py, errors)?;
    let special = tokenizer.special(py, allowed_special, disallowed_special)?;
    let (limit, policy) = (convert::limit(py, limit)?, special.get(&tokenizer.core));
    on_texts(texts, threads, surrogates, |text| tokenizer.core.count(text, policy, limit))
}

/// `cut_out` for each text.
#[pyfunction]
#[pyo3(signature = (tokenizer, texts, max_tokens, side, *, threads = None, allowed_special = None, disallowed_special = None))]
pub(crate) fn cut_out_many(
    tokenizer: &Bound<'_, Tokenizer>,
    texts: &Bound<'_, PyAny>,
    max_tokens: usize,
    side: &str,
    threads: Option<i64>,
    allowed_special: Option<&Bound<'_, PyAny>>,
    disallowed_special: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Span>> {
    let (py, tokenizer) = (texts.py(), tokenizer.get());
    let find = side_named(py, side)?;
    let special = tokenizer.special(py, allowed_special, disallowed_special)?;
    let policy = special.get(&tokenizer.core);
    on_texts(texts, threads, Surrogates::Strict, |text| {
        find(&tokenizer.core, text, policy, max_tokens).map(|span| in_characters(text, span))
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
    threads: Option<i64>,
    allowed_special: Option<&Bound<'_, PyAny>>,
    disallowed_special: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Vec<Chunked>>> {
    let (py, tokenizer) = (texts.py(), tokenizer.get());
    let prefer = kinds(py, prefer)?;
    let special = tokenizer.special(py, allowed_special, disallowed_special)?;
    let policy = special.get(&tokenizer.core);
    on_texts(texts, threads, Surrogates::Strict, |text| {
        let spans = cut::chunks(&tokenizer.core, text, policy, max_tokens, overlap, &prefer)?;
        crate::cutting::with_ids(&tokenizer.core, text, policy, spans)
    })
}

/// Does `work` on each text, without the GIL, on several threads where that pays.
fn on_texts<R: Send>(
    texts: &Bound<'_, PyAny>,
    threads: Option<i64>,
    surrogates: Surrogates,
    work: impl Fn(&str) -> bytepair::Result<R> + Send + Sync,
) -> PyResult<Vec<R>> {
    let py = texts.py();
    let threads = convert::thread_count(py, threads)?;
    let items = convert::items(texts)?;
    let texts = convert::texts(&items, surrogates)?;
    let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    watched(py, |watch| each::map(&texts, threads, watch, work))
}
