//! Python values in, Python values out.

use std::borrow::Cow;

use bytepair::batch;
use bytepair::normalize::{Normalizer, Step};
use bytepair::pretokenize::Pattern;
use bytepair::special::{Choice, Policy};
use bytepair::tokenizer;
use pyo3::Borrowed;
use pyo3::exceptions::{PyTypeError, PyUnicodeEncodeError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyIterator, PyMemoryView, PyString};

use crate::error::{OrRaise, raise};

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

/// The name of a value's type.
fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string())
}

/// The type error for an argument that should be a `str`.
pub(crate) fn not_str(what: &str, value: &Bound<'_, PyAny>) -> PyErr {
    let decode = if is_bytes(value) { "; decode it first" } else { "" };
    PyTypeError::new_err(format!("{what} must be str, not {}{decode}", type_name(value)))
}

/// The type error for an argument that should be a `str` or `bytes`.
pub(crate) fn not_text(what: &str, value: &Bound<'_, PyAny>) -> PyErr {
    let copy = if is_bytes(value) { "; bytes(...) makes it that" } else { "" };
    PyTypeError::new_err(format!("{what} must be str or bytes, not {}{copy}", type_name(value)))
}

fn is_bytes(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyBytes>()
        || value.is_instance_of::<PyByteArray>()
        || value.is_instance_of::<PyMemoryView>()
}

/// Iterates over an argument; its name and what it should be are in the type error.
pub(crate) fn iterate<'py>(
    what: &str,
    wanted: &str,
    value: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyIterator>> {
    value.try_iter().map_err(|error| {
        if error.is_instance_of::<PyTypeError>(value.py())
            && !value.hasattr("__iter__").unwrap_or(true)
        {
            PyTypeError::new_err(format!("{what} must be {wanted}, not {}", type_name(value)))
        } else {
            error
        }
    })
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

/// A number of threads: at least one; all that are more than a machine has are the same.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Threads(usize);

impl<'py> FromPyObject<'_, 'py> for Threads {
    type Error = PyErr;

    fn extract(threads: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        // A call for a short text takes half as long again where Python compares the number.
        if let Ok(number @ 1..) = threads.extract::<usize>() {
            return Ok(Self(number));
        }
        let py = threads.py();
        let number = threads.call_method0("__index__").map_err(|_| {
            let name =
                threads.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
            PyTypeError::new_err(format!("threads must be int or None, not {name}"))
        })?;
        if number.lt(1)? {
            let message = format!("threads is {number}; give at least 1, or None for one per core");
            return Err(raise(py, "ArgumentError", message));
        }
        Ok(Self(number.extract().unwrap_or(usize::MAX)))
    }
}

/// How many threads may work: as many as given, or the default.
pub(crate) fn thread_count(threads: Option<Threads>) -> usize {
    threads.map_or_else(batch::default_threads, |Threads(number)| number)
}

/// A limit of how many ids to count; `None` for no limit, as for one that no text reaches.
pub(crate) fn limit(limit: Option<&Bound<'_, PyAny>>) -> PyResult<Option<usize>> {
    let Some(limit) = limit else { return Ok(None) };
    if let Ok(number) = limit.extract::<usize>() {
        return Ok(Some(number));
    }
    let Ok(number) = limit.call_method0("__index__") else {
        let name = limit.get_type().name()?;
        return Err(PyTypeError::new_err(format!("limit must be int or None, not {name}")));
    };
    if number.gt(0)? {
        return Ok(None);
    }
    let message = format!("limit is {limit}; give at least 0, or None");
    Err(raise(limit.py(), "ArgumentError", message))
}

/// What a call may do with special tokens.
pub(crate) enum Special {
    /// All are recognised, none is forbidden.
    Everything,
    /// None is recognised or forbidden.
    Plain,
    /// None is recognised, all are forbidden.
    Strict,
    Policy(Policy),
}

impl Special {
    pub(crate) fn get<'a>(&'a self, core: &'a tokenizer::Tokenizer) -> &'a Policy {
        match self {
            Special::Everything => core.everything(),
            Special::Plain => core.plain(),
            Special::Strict => core.strict(),
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

/// A pattern: `None`, a regular expression, or a sequence of them.
pub(crate) fn pattern(value: Option<&Bound<'_, PyAny>>) -> PyResult<Pattern> {
    let Some(value) = value else { return Ok(Pattern::None) };
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Pattern::Regex(text.to_str()?.to_owned()));
    }
    Ok(Pattern::Sequence(value.extract()?))
}

/// A normalizer: `None`, the name of a step, or a sequence of steps.
pub(crate) fn normalizer(value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Normalizer>> {
    let Some(value) = value else { return Ok(None) };
    let words = |step: &Bound<'_, PyAny>| -> PyResult<Vec<String>> {
        match step.cast::<PyString>() {
            Ok(name) => Ok(vec![name.to_str()?.to_owned()]),
            Err(_) => step.extract(),
        }
    };
    let steps = match value.cast::<PyString>() {
        Ok(_) => vec![words(value)?],
        Err(_) => iterate("normalizer", "a step, a list of steps or None", value)?
            .map(|step| words(&step?))
            .collect::<PyResult<Vec<_>>>()?,
    };
    if steps.is_empty() {
        return Ok(None);
    }
    let steps = steps.iter().map(|words| Step::parse(words));
    let steps = steps.collect::<bytepair::Result<Vec<_>>>().or_raise(value.py())?;
    Ok(Some(Normalizer::new(steps)))
}

/// A normalizer as Python sees it.
pub(crate) fn normalizer_to_python(
    py: Python<'_>,
    normalizer: Option<&Normalizer>,
) -> PyResult<Py<PyAny>> {
    let Some(normalizer) = normalizer else { return Ok(py.None()) };
    let step = |step: &Step| -> PyResult<Py<PyAny>> {
        match step.words()[..] {
            [name] => Ok(PyString::new(py, name).into_any().unbind()),
            ref words => Ok(words.to_vec().into_pyobject(py)?.into_any().unbind()),
        }
    };
    let steps = normalizer.steps().iter().map(step).collect::<PyResult<Vec<_>>>()?;
    match &steps[..] {
        [one] if one.bind(py).is_instance_of::<PyString>() => Ok(one.clone_ref(py)),
        _ => Ok(steps.into_pyobject(py)?.into_any().unbind()),
    }
}

/// A pattern as Python sees it.
pub(crate) fn pattern_to_python(py: Python<'_>, pattern: &Pattern) -> PyResult<Py<PyAny>> {
    match pattern {
        Pattern::None => Ok(py.None()),
        Pattern::Regex(text) => Ok(PyString::new(py, text).into_any().unbind()),
        Pattern::Sequence(texts) => Ok(texts.clone().into_pyobject(py)?.into_any().unbind()),
    }
}
