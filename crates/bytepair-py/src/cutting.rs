//! Spans of tokens, and texts cut to a number of tokens: functions that the methods call.

use std::borrow::Cow;

use bytepair::breaks::Break;
use bytepair::offsets::{self, Unit};
use bytepair::special::Policy;
use bytepair::watched::Pulse;
use bytepair::{cut, tokenizer};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::convert::{self, Surrogates, WORTH_DETACHING, utf8};
use crate::decode;
use crate::error::{OrRaise, raise};
use crate::idsin;
use crate::ints;
use crate::streaming::invalid;
use crate::tokenizer::Tokenizer;
use crate::train::watched;

pub(crate) type Span = (usize, usize);

/// Start, end and ids of a chunk.
pub(crate) type Chunked = (usize, usize, Vec<u32>);

/// Does `work` on the UTF-8 of `text`; without the GIL, and so that Ctrl-C stops it, if there is much
/// of it.
fn on_text<R: Send>(
    text: &Bound<'_, PyAny>,
    work: impl FnOnce(&str, &Pulse<'_>) -> bytepair::Result<R> + Send,
) -> PyResult<R> {
    let py = text.py();
    let text = text.cast::<PyString>().map_err(|_| convert::not_str("text", text))?;
    let text: Cow<'_, str> = utf8(text, Surrogates::Strict)?;
    if text.len() < WORTH_DETACHING {
        work(&text, &Pulse::free()).or_raise(py)
    } else {
        watched(py, |watch| work(&text, &Pulse::new(watch)))
    }
}

/// The ids of a text with the span of each.
#[pyfunction]
#[pyo3(signature = (tokenizer, text, unit, *, allowed_special = None, disallowed_special = None))]
pub(crate) fn encode_with_offsets<'py>(
    tokenizer: &Bound<'py, Tokenizer>,
    text: &Bound<'py, PyAny>,
    unit: &str,
    allowed_special: Option<&Bound<'_, PyAny>>,
    disallowed_special: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyList>)> {
    let (py, tokenizer) = (text.py(), tokenizer.get());
    let unit = match unit {
        "char" => Unit::Char,
        "byte" => Unit::Byte,
        "utf16" => Unit::Utf16,
        other => {
            let message = format!("unit is {other:?}; it is \"char\", \"byte\" or \"utf16\"");
            return Err(raise(py, "ArgumentError", message));
        }
    };
    let special = tokenizer.special(py, allowed_special, disallowed_special)?;
    let policy = special.get(&tokenizer.core);
    let (ids, spans) = on_text(text, |text, pulse| {
        offsets::encode_with_offsets(&tokenizer.core, text, policy, unit, pulse)
    })?;
    Ok((ints::list(py, &ids)?, ints::spans(py, &spans)?))
}

/// The character in which each token of decoded text begins.
#[pyfunction]
#[pyo3(signature = (tokenizer, ids, *, errors = "replace"))]
pub(crate) fn decode_with_offsets<'py>(
    tokenizer: &Bound<'py, Tokenizer>,
    ids: &Bound<'py, PyAny>,
    errors: &str,
) -> PyResult<(Bound<'py, PyString>, Bound<'py, PyList>)> {
    let (py, core) = (ids.py(), &tokenizer.get().core);
    let replaced = invalid(py, errors)? == bytepair::stream_decode::Invalid::Replace;
    let ids = idsin::ids(ids)?;
    let text = decode::text(py, &decode::bytes(py, core, &ids)?, errors)?;
    let starts =
        watched(py, |watch| offsets::decode_offsets(core, &ids, replaced, &Pulse::new(watch)))?;
    Ok((text, ints::places(py, &starts)?))
}

type Find = fn(&tokenizer::Tokenizer, &str, &Policy, usize, &Pulse<'_>) -> bytepair::Result<Span>;

/// What finds the part to take out, for the side where a text is cut.
pub(crate) fn side_named(py: Python<'_>, side: &str) -> PyResult<Find> {
    match side {
        "right" => Ok(|core, text, policy, most, pulse| {
            Ok((cut::prefix(core, text, policy, most, pulse)?, text.len()))
        }),
        "left" => Ok(|core, text, policy, most, pulse| {
            Ok((0, cut::suffix(core, text, policy, most, pulse)?))
        }),
        "middle" => Ok(cut::middle),
        other => {
            let message = format!("side is {other:?}; it is \"right\", \"left\" or \"middle\"");
            Err(raise(py, "ArgumentError", message))
        }
    }
}

/// A span in bytes as one in characters.
pub(crate) fn in_characters(text: &str, (start, end): Span) -> Span {
    let first = text[..start].chars().count();
    (first, first + text[start..end].chars().count())
}

/// The breaks of these names.
pub(crate) fn kinds(py: Python<'_>, names: Vec<String>) -> PyResult<Vec<Break>> {
    let kind = |name: String| {
        Break::named(&name).ok_or_else(|| {
            let known = Break::NAMED.map(|(known, _)| format!("{known:?}")).join(", ");
            raise(py, "ArgumentError", format!("prefer has {name:?}; it takes {known}"))
        })
    };
    names.into_iter().map(kind).collect()
}

/// What `truncate` takes out of a text, as a start and an end in characters.
#[pyfunction]
#[pyo3(signature = (tokenizer, text, max_tokens, side, *, allowed_special = None, disallowed_special = None))]
pub(crate) fn cut_out(
    tokenizer: &Bound<'_, Tokenizer>,
    text: &Bound<'_, PyAny>,
    max_tokens: usize,
    side: &str,
    allowed_special: Option<&Bound<'_, PyAny>>,
    disallowed_special: Option<&Bound<'_, PyAny>>,
) -> PyResult<Span> {
    let (py, tokenizer) = (text.py(), tokenizer.get());
    let find = side_named(py, side)?;
    let special = tokenizer.special(py, allowed_special, disallowed_special)?;
    let policy = special.get(&tokenizer.core);
    on_text(text, |text, pulse| {
        find(&tokenizer.core, text, policy, max_tokens, pulse).map(|span| in_characters(text, span))
    })
}

/// The chunks of a text, as starts and ends in characters, with the ids of each.
#[pyfunction]
#[pyo3(signature = (tokenizer, text, max_tokens, overlap, prefer, *, allowed_special = None, disallowed_special = None))]
pub(crate) fn chunks(
    tokenizer: &Bound<'_, Tokenizer>,
    text: &Bound<'_, PyAny>,
    max_tokens: usize,
    overlap: usize,
    prefer: Vec<String>,
    allowed_special: Option<&Bound<'_, PyAny>>,
    disallowed_special: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Chunked>> {
    let (py, tokenizer) = (text.py(), tokenizer.get());
    let prefer = kinds(py, prefer)?;
    let special = tokenizer.special(py, allowed_special, disallowed_special)?;
    let policy = special.get(&tokenizer.core);
    let core = &tokenizer.core;
    on_text(text, |text, pulse| {
        let spans = cut::chunks(core, text, policy, (max_tokens, overlap), &prefer, pulse)?;
        with_ids(core, text, policy, spans, pulse)
    })
}

/// Chunks in characters, with the ids of each, from their spans in bytes.
pub(crate) fn with_ids(
    core: &tokenizer::Tokenizer,
    text: &str,
    policy: &Policy,
    spans: Vec<Span>,
    pulse: &Pulse<'_>,
) -> bytepair::Result<Vec<Chunked>> {
    // Starts ascend: each is counted from the one before.
    let (mut at, mut first) = (0, 0);
    let chunk = |(start, end): Span| {
        first += text[at..start].chars().count();
        at = start;
        let mut ids = Vec::new();
        core.encode_until(&text[start..end], policy, &mut ids, pulse)?;
        Ok((first, first + text[start..end].chars().count(), ids))
    };
    spans.into_iter().map(chunk).collect()
}
