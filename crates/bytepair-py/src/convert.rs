//! Python values in, Python values out.

use std::borrow::Cow;

use bytepair::batch;
use bytepair::pretokenize::Pattern;
use bytepair::special::{Choice, Policy};
use bytepair::tokenizer;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyUnicodeEncodeError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyString};

use crate::error::raise;

/// From this many bytes of text on, releasing the GIL costs less than it gives.
pub(crate) const WORTH_DETACHING: usize = 1 << 12;

/// What to do with a `str` that holds a lone surrogate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Surrogates {
    Strict,
    Replace,
}

impl Surrogates {
    pub(crate) fn parse(py: Python<'_>, errors: &str) -> PyResult<Self> {
        match errors {
            "strict" => Ok(Self::Strict),
            "replace" => Ok(Self::Replace),
            other => Err(raise(
                py,
                "ArgumentError",
                format!("errors is {other:?}; encoding takes \"strict\" or \"replace\""),
            )),
        }
    }
}

/// The type error for an argument that should be a `str`.
pub(crate) fn not_str(what: &str, value: &Bound<'_, PyAny>) -> PyErr {
    let name = value.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("{what} must be str, not {name}"))
}

/// The bytes of a text given as `bytes`; to be asked when it is no `str`.
pub(crate) fn bytes<'a>(text: &'a Bound<'_, PyAny>) -> PyResult<&'a [u8]> {
    match text.cast::<PyBytes>() {
        Ok(bytes) => Ok(bytes.as_bytes()),
        Err(_) => Err(not_str("text", text)),
    }
}

/// The UTF-8 of a `str`, in place where Python has it.
pub(crate) fn utf8<'a>(
    text: &'a Bound<'_, PyString>,
    surrogates: Surrogates,
) -> PyResult<Cow<'a, str>> {
    match text.to_str() {
        Ok(text) => Ok(Cow::Borrowed(text)),
        Err(error)
            if surrogates == Surrogates::Replace
                && error.is_instance_of::<PyUnicodeEncodeError>(text.py()) =>
        {
            // Through UTF-16 pairs join and lone surrogates become U+FFFD, as in tiktoken.
            let utf16 = text.call_method1("encode", ("utf-16-le", "surrogatepass"))?;
            let clean = utf16.call_method1("decode", ("utf-16-le", "replace"))?;
            Ok(Cow::Owned(clean.cast::<PyString>()?.to_str()?.to_owned()))
        }
        Err(error) => Err(error),
    }
}

/// `"all"`, or a collection of strings.
pub(crate) fn choice(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Choice> {
    if let Ok(text) = value.cast::<PyString>() {
        let text = text.to_str()?;
        if text == "all" {
            return Ok(Choice::All);
        }
        return Err(PyTypeError::new_err(format!(
            "{name} is \"all\" or a collection of strings, not {text:?}; write {{{text:?}}} for one token"
        )));
    }
    let mut these = Vec::new();
    for item in value.try_iter().map_err(|_| {
        PyTypeError::new_err(format!("{name} is \"all\" or a collection of strings"))
    })? {
        let item = item?;
        let text =
            item.cast::<PyString>().map_err(|_| not_str(&format!("a token in {name}"), &item))?;
        these.push(text.to_str()?.to_owned());
    }
    Ok(Choice::These(these))
}

/// The texts of a batch, their UTF-8 in place where Python has it.
pub(crate) fn texts<'a>(
    texts: &'a [Bound<'_, PyAny>],
    surrogates: Surrogates,
) -> PyResult<Vec<Cow<'a, str>>> {
    let one = |(index, text): (usize, &'a Bound<'_, PyAny>)| {
        let text = text.cast::<PyString>().map_err(|_| not_str(&format!("text {index}"), text))?;
        utf8(text, surrogates)
    };
    texts.iter().enumerate().map(one).collect()
}

/// The items of an iterable of texts; a `str` is not one.
pub(crate) fn items<'py>(texts: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if texts.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("texts must be a list of str, not one str; write [text]"));
    }
    texts.try_iter()?.collect()
}

pub(crate) fn thread_count(py: Python<'_>, threads: Option<i64>) -> PyResult<usize> {
    let Some(threads) = threads else { return Ok(batch::default_threads()) };
    usize::try_from(threads).ok().filter(|&threads| threads > 0).ok_or_else(|| {
        let message = format!("threads is {threads}; give at least 1, or None for one per core");
        raise(py, "ArgumentError", message)
    })
}

/// A limit of how many ids to count; `None` for no limit.
pub(crate) fn limit(py: Python<'_>, limit: Option<i64>) -> PyResult<Option<usize>> {
    let one = |limit: i64| {
        usize::try_from(limit).map_err(|_| {
            raise(py, "ArgumentError", format!("limit is {limit}; give at least 0, or None"))
        })
    };
    limit.map(one).transpose()
}

/// What a call may do with special tokens.
pub(crate) enum Special {
    Everything,
    Policy(Policy),
}

impl Special {
    pub(crate) fn get<'a>(&'a self, core: &'a tokenizer::Tokenizer) -> &'a Policy {
        match self {
            Special::Everything => core.everything(),
            Special::Policy(policy) => policy,
        }
    }
}

/// A dict of names and ids, by id.
pub(crate) fn id_dict<'py>(
    py: Python<'py>,
    mut tokens: Vec<(&str, u32)>,
) -> PyResult<Bound<'py, PyDict>> {
    tokens.sort_by_key(|(_, id)| *id);
    let dict = PyDict::new(py);
    for (token, id) in tokens {
        dict.set_item(token, id)?;
    }
    Ok(dict)
}

/// Ids from any iterable of integers.
pub(crate) fn ids(values: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    let mut ids = Vec::with_capacity(values.len().unwrap_or(0));
    for (index, value) in values.try_iter()?.enumerate() {
        ids.push(id(&value?, index)?);
    }
    Ok(ids)
}

/// One id, at position `index` of the ids given.
pub(crate) fn id(value: &Bound<'_, PyAny>, index: usize) -> PyResult<u32> {
    value.extract::<u32>().map_err(|error| {
        let py = value.py();
        if error.is_instance_of::<PyOverflowError>(py) {
            let message =
                format!("unknown id {value} at position {index}: ids are from 0 to 4294967295");
            return raise(py, "UnknownTokenError", message);
        }
        let name = value.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("ids must be int, not {name} (at position {index})"))
    })
}

/// A pattern: `None`, a regular expression, or a sequence of them.
pub(crate) fn pattern(value: Option<&Bound<'_, PyAny>>) -> PyResult<Pattern> {
    let Some(value) = value else { return Ok(Pattern::None) };
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Pattern::Regex(text.to_str()?.to_owned()));
    }
    Ok(Pattern::Sequence(value.extract()?))
}

/// A pattern as Python sees it.
pub(crate) fn pattern_to_python(py: Python<'_>, pattern: &Pattern) -> PyResult<Py<PyAny>> {
    match pattern {
        Pattern::None => Ok(py.None()),
        Pattern::Regex(text) => Ok(PyString::new(py, text).into_any().unbind()),
        Pattern::Sequence(texts) => Ok(texts.clone().into_pyobject(py)?.into_any().unbind()),
    }
}

/// Decoded text: in place when it is valid UTF-8, through Python's error handlers when not.
pub(crate) fn text<'py>(
    py: Python<'py>,
    bytes: &[u8],
    errors: &str,
) -> PyResult<Bound<'py, PyString>> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Ok(PyString::new(py, text));
    }
    let text = PyBytes::new(py, bytes).call_method1("decode", ("utf-8", errors))?;
    Ok(text.cast_into::<PyString>()?)
}

/// Ids as native-endian integers of `width` bytes (2 or 4), in one buffer.
pub(crate) fn buffer<'py>(
    py: Python<'py>,
    ids: &[u32],
    width: usize,
) -> PyResult<Bound<'py, PyByteArray>> {
    if width == 2 {
        if let Some((index, id)) = ids.iter().enumerate().find(|(_, id)| **id > 0xFFFF) {
            let message = format!(
                "id {id} at position {index} does not fit in uint16; ask for uint32 instead"
            );
            return Err(raise(py, "ArgumentError", message));
        }
        return PyByteArray::new_with(py, ids.len() * 2, |bytes| {
            for (place, id) in bytes.chunks_exact_mut(2).zip(ids) {
                #[expect(clippy::cast_possible_truncation, reason = "checked above")]
                place.copy_from_slice(&(*id as u16).to_ne_bytes());
            }
            Ok(())
        });
    }
    PyByteArray::new_with(py, ids.len() * 4, |bytes| {
        for (place, id) in bytes.chunks_exact_mut(4).zip(ids) {
            place.copy_from_slice(&id.to_ne_bytes());
        }
        Ok(())
    })
}
