//! Spans of tokens, and texts cut to a number of tokens: functions that the methods call.

use std::borrow::Cow;

use bytepair::breaks::Break;
use bytepair::offsets::{self, Unit};
use bytepair::special::Policy;
use bytepair::{cut, tokenizer};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::convert::{self, Surrogates, WORTH_DETACHING, utf8};
use crate::decode;
use crate::error::{OrRaise, raise};
use crate::idsin;
use crate::streaming::invalid;
use crate::tokenizer::Tokenizer;

pub(crate) type Span = (usize, usize);

/// Start, end and ids of a chunk.
pub(crate) type Chunked = (usize, usize, Vec<u32>);

/// Does `work` on the UTF-8 of `text`, without the GIL if there is much of it.
fn on_text<R: Send>(
    text: &Bound<'_, PyAny>,
    work: impl FnOnce(&str) -> bytepair::Result<R> + Send,
) -> PyResult<R> {
    let py = text.py();
    let text = text.cast::<PyString>().map_err(|_| convert::not_str("text", text))?;
    let text: Cow<'_, str> = utf8(text, Surrogates::Strict)?;
    if text.len() < WORTH_DETACHING {
        work(&text).or_raise(py)
    } else {
        py.detach(|| work(&text)).or_raise(py)
    }
}

/// The ids of a text with the span of each.
#[pyfunction]
#[pyo3(signature = (tokenizer, text, unit, *, allowed_special = None, disallowed_special = None))]
pub(crate) fn encode_with_offsets(
    tokenizer: &Bound<'_, Tokenizer>,
    text: &Bound<'_, PyAny>,
    unit: &str,
    allowed_special: Option<&Bound<'_, PyAny>>,
    disallowed_special: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Vec<u32>, Vec<Span>)> {
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
    on_text(text, |text| offsets::encode_with_offsets(&tokenizer.core, text, policy, unit))
}

/// The character in which each token of decoded text begins.
#[pyfunction]
#[pyo3(signature = (tokenizer, ids, *, errors = "replace"))]
pub(crate) fn decode_with_offsets<'py>(
    tokenizer: &Bound<'py, Tokenizer>,
    ids: &Bound<'py, PyAny>,
    errors: &str,
) -> PyResult<(Bound<'py, PyString>, Vec<usize>)> {
    let (py, core) = (ids.py(), &tokenizer.get().core);
    let replaced = invalid(py, errors)? == bytepair::stream_decode::Invalid::Replace;
    let ids = idsin::ids(ids)?;
    let mut bytes = Vec::new();
    core.decode(&ids, &mut bytes).or_raise(py)?;
    let text = decode::text(py, &bytes, errors)?;
    Ok((text, offsets::decode_offsets(core, &ids, replaced).or_raise(py)?))
}

type Find = fn(&tokenizer::Tokenizer, &str, &Policy, usize) -> bytepair::Result<Span>;

/// What finds the part to take out, for the side where a text is cut.
pub(crate) fn side_named(py: Python<'_>, side: &str) -> PyResult<Find> {
    match side {
        "right" => {
            Ok(|core, text, policy, most| Ok((cut::prefix(core, text, policy, most)?, text.len())))
        }
        "left" => Ok(|core, text, policy, most| Ok((0, cut::suffix(core, text, policy, most)?))),
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
    on_text(text, |text| {
        find(&tokenizer.core, text, policy, max_tokens).map(|span| in_characters(text, span))
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
    on_text(text, |text| {
        let spans = cut::chunks(&tokenizer.core, text, policy, max_tokens, overlap, &prefer)?;
        with_ids(&tokenizer.core, text, policy, spans)
    })
}

/// Chunks in characters, with the ids of each, from their spans in bytes.
pub(crate) fn with_ids(
    core: &tokenizer::Tokenizer,
    text: &str,
    policy: &Policy,
    spans: Vec<Span>,
) -> bytepair::Result<Vec<Chunked>> {
    // Starts ascend: each is counted from the one before.
    let (mut at, mut first) = (0, 0);
    let chunk = |(start, end): Span| {
        first += text[at..start].chars().count();
        at = start;
        let mut ids = Vec::new();
        core.encode(&text[start..end], policy, &mut ids)?;
        Ok((first, first + text[start..end].chars().count(), ids))
    };
    spans.into_iter().map(chunk).collect()
}
