//! Texts as Python has them: one, or many in an iterable or an Arrow column.

use std::borrow::Cow;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::arrow::Strings;
use crate::convert::{Surrogates, iterate, not_str, not_text, utf8};
use crate::error::named;

/// One text.
pub(crate) enum Text<'a> {
    Utf8(Cow<'a, str>),
    /// What is not UTF-8 throughout.
    Bytes(&'a [u8]),
}

impl<'a> Text<'a> {
    pub(crate) fn new(text: &'a Bound<'_, PyAny>, surrogates: Surrogates) -> PyResult<Self> {
        if let Ok(text) = text.cast::<PyString>() {
            return utf8(text, surrogates).map(Text::Utf8);
        }
        let bytes = text.cast::<PyBytes>().map_err(|_| not_text("text", text))?.as_bytes();
        Ok(match std::str::from_utf8(bytes) {
            Ok(text) => Text::Utf8(Cow::Borrowed(text)),
            Err(_) => Text::Bytes(bytes),
        })
    }

    /// Its length in bytes.
    pub(crate) fn len(&self) -> usize {
        match self {
            Text::Utf8(text) => text.len(),
            Text::Bytes(bytes) => bytes.len(),
        }
    }
}

/// The texts of a batch, held so that they can be read.
pub(crate) enum Texts<'py> {
    Items(Vec<Bound<'py, PyAny>>),
    Arrow(Vec<Strings>),
}

impl<'py> Texts<'py> {
    /// Holds an iterable of texts (a `str` is not one) or a column of them.
    pub(crate) fn new(texts: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(list) = texts.cast::<PyList>() {
            return Ok(Self::Items(list.iter().collect()));
        }
        if texts.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err(
                "texts must be a list of str, not one str; write [text]",
            ));
        }
        if texts.is_instance_of::<PyBytes>() {
            return Err(PyTypeError::new_err(
                "texts must be a list of str, not bytes; write [text.decode()]",
            ));
        }
        match Strings::of_column(texts)? {
            Some(strings) => Ok(Self::Arrow(strings)),
            None => iterate("texts", "an iterable of str", texts)?
                .collect::<PyResult<_>>()
                .map(Self::Items),
        }
    }

    /// The texts, in place where they are UTF-8 already.
    pub(crate) fn texts(&self, surrogates: Surrogates) -> PyResult<Vec<Cow<'_, str>>> {
        match self {
            Self::Items(items) => {
                let mut texts = Vec::with_capacity(items.len());
                for (index, text) in items.iter().enumerate() {
                    let text = text
                        .cast::<PyString>()
                        .map_err(|_| not_str(&format!("text {index}"), text))?;
                    let text = utf8(text, surrogates);
                    texts.push(text.map_err(|error| {
                        named(items[index].py(), error, &format!("text {index}"))
                    })?);
                }
                Ok(texts)
            }
            Self::Arrow(columns) => {
                let mut texts = Vec::new();
                for column in columns {
                    column.read(&mut texts)?;
                }
                Ok(texts)
            }
        }
    }
}
