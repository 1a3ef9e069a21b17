//! Spans of tokens, and texts cut to a number of tokens: functions that the methods call.

use std::borrow::Cow;

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

type Span = (usize, usize);

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

type Middle = fn(&tokenizer::Tokenizer, &str, &Policy, usize) -> bytepair::Result<(usize, usize)>;

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
    let find: Middle = match side {
        "right" => {
            |core, text, policy, most| Ok((cut::prefix(core, text, policy, most)?, text.len()))
        }
        "left" => |core, text, policy, most| Ok((0, cut::suffix(core, text, policy, most)?)),
        "middle" => cut::middle,
        other => {
            let message = format!("side is {other:?}; it is \"right\", \"left\" or \"middle\"");
            return Err(raise(py, "ArgumentError", message));
        }
    };
    let special = tokenizer.special(py, allowed_special, disallowed_special)?;
    let policy = special.get(&tokenizer.core);
    on_text(text, |text| {
        let (start, end) = find(&tokenizer.core, text, policy, max_tokens)?;
        let first = text[..start].chars().count();
        Ok((first, first + text[start..end].chars().count()))
    })
}

/// The chunks of a text, as starts and ends in characters, with the ids of each.
#[pyfunction]
#[pyo3(signature = (tokenizer, text, max_tokens, overlap, *, allowed_special = None, disallowed_special = None))]
pub(crate) fn chunks(
    tokenizer: &Bound<'_, Tokenizer>,
    text: &Bound<'_, PyAny>,
    max_tokens: usize,
    overlap: usize,
    allowed_special: Option<&Bound<'_, PyAny>>,
    disallowed_special: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<(usize, usize, Vec<u32>)>> {
    let tokenizer = tokenizer.get();
    let special = tokenizer.special(text.py(), allowed_special, disallowed_special)?;
    let policy = special.get(&tokenizer.core);
    on_text(text, |text| {
        let spans = cut::chunks(&tokenizer.core, text, policy, max_tokens, overlap)?;
        // Starts ascend: each is counted from the one before.
        let (mut at, mut first) = (0, 0);
        spans
            .into_iter()
            .map(|(start, end)| {
                first += text[at..start].chars().count();
                at = start;
                let mut ids = Vec::new();
                tokenizer.core.encode(&text[start..end], policy, &mut ids)?;
                Ok((first, first + text[start..end].chars().count(), ids))
            })
            .collect()
    })
}
