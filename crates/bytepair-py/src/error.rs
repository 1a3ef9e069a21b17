//! The one place where the core's errors become Python exceptions.

use std::ffi::CString;

use bytepair::Error;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyUnicodeDecodeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

static CLASSES: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// An exception of `bytepair.errors`, by class name.
pub(crate) fn raise(py: Python<'_>, class: &str, message: String) -> PyErr {
    let make = || -> PyResult<PyErr> {
        let classes = CLASSES
            .get_or_try_init(py, || py.import("bytepair.errors").map(|m| m.into_any().unbind()))?;
        Ok(PyErr::from_value(classes.bind(py).getattr(class)?.call1((message,))?))
    };
    make().unwrap_or_else(|error| error)
}

/// The Python exception for an error of the core.
pub(crate) fn to_python(py: Python<'_>, error: &Error) -> PyErr {
    let class = match error {
        Error::Interrupted => {
            // The watcher saw a signal; its handler's exception is pending or was a KeyboardInterrupt.
            return PyErr::take(py).unwrap_or_else(|| PyKeyboardInterrupt::new_err(()));
        }
        Error::Io { path, source } => {
            // What a reader of Python raised goes on as it is.
            if let Some(raised) = source.get_ref().and_then(|inner| inner.downcast_ref::<PyErr>()) {
                return raised.clone_ref(py);
            }
            let errno = source.raw_os_error();
            let text = source.to_string();
            let text = text.split(" (os error").next().unwrap_or_default().to_owned();
            return match errno {
                Some(errno) => PyOSError::new_err((errno, text, path.clone())),
                None => PyOSError::new_err(format!("{path}: {text}")),
            };
        }
        Error::Store { path, source } => {
            let text = source.to_string();
            let text = text.split(" (os error").next().unwrap_or_default();
            let text = format!(
                "{text}; piece counts that have no room in memory go there: name another place with \
                 temp_dir or checkpoint, or give a larger memory_limit"
            );
            return match source.raw_os_error() {
                Some(errno) => PyOSError::new_err((errno, text, path.clone())),
                None => PyOSError::new_err(format!("{path}: {text}")),
            };
        }
        Error::NotText { bytes, offset } => {
            let reason = CString::new(format!(
                "not UTF-8, at byte {offset} of the stream; use errors=\"replace\" or decode_bytes"
            ))
            .unwrap_or_default();
            return PyUnicodeDecodeError::new(py, c"utf-8", bytes, 0..bytes.len(), &reason)
                .map_or_else(|error| error, |error| PyErr::from_value(error.into_any()));
        }
        Error::Vocab(_) | Error::UnknownByte { .. } => "VocabError",
        Error::UnknownToken { .. } => "UnknownTokenError",
        Error::Pattern(_) => "PatternError",
        Error::SpecialToken { .. } => "SpecialTokenError",
        Error::Utf8 { .. } => "CorpusError",
        Error::Format(_) => "FormatError",
        _ => "ArgumentError",
    };
    raise(py, class, error.to_string())
}

/// The same exception, with `place` in its message: which of several texts or rows it is about.
#[cold]
pub(crate) fn named(py: Python<'_>, error: PyErr, place: &str) -> PyErr {
    let value = error.value(py);
    // Python's errors about encodings make their message of parts.
    let known = match value.getattr("reason").and_then(|reason| reason.extract::<String>()) {
        Ok(reason) => value.setattr("reason", format!("{reason} ({place})")),
        Err(_) => value
            .getattr("args")
            .and_then(|args| args.extract::<(String,)>())
            .and_then(|(message,)| value.setattr("args", (format!("{place}: {message}"),))),
    };
    // What has no such message is shown as it is.
    drop(known);
    error
}

/// `map_err` with the core's error type.
pub(crate) trait OrRaise<T> {
    /// The value, or the Python exception for the error.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for bytepair::Result<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| to_python(py, &error))
    }
}
