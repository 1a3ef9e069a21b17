//! Encoding a text that comes from a Python iterable.

use std::sync::Arc;

use bytepair::special::Policy;
use bytepair::stream::{CHUNK, StreamEncoder};
use bytepair::tokenizer::Tokenizer;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PySequence, PyString};

use crate::convert::{self, Surrogates, WORTH_DETACHING, utf8};
use crate::error::OrRaise;
use crate::train::watched;

/// Iterates over the ids of a text that comes in chunks.
#[pyclass(module = "bytepair._core")]
#[derive(Debug)]
pub(crate) struct EncodeIterator {
    stream: StreamEncoder,
    chunks: Option<Py<PyIterator>>,
    surrogates: Surrogates,
    /// How many chunks were taken, for error messages.
    taken: usize,
    /// The chunk at work and where its next slice starts: long chunks are fed slice by slice, so
    /// that memory does not grow with them.
    chunk: Option<(Py<PyString>, usize)>,
    /// A chunk's last character, when it is the first half of a surrogate pair.
    half: Option<Py<PyString>>,
    /// Which of the stream's ids is the next to give out.
    next: usize,
}

impl EncodeIterator {
    pub(crate) fn new(
        tokenizer: Arc<Tokenizer>,
        policy: Policy,
        chunks: &Bound<'_, PyAny>,
        surrogates: Surrogates,
    ) -> PyResult<Self> {
        Ok(Self {
            stream: StreamEncoder::new(tokenizer, policy),
            chunks: Some(convert::iterate("chunks", "an iterable of str", chunks)?.unbind()),
            surrogates,
            taken: 0,
            chunk: None,
            half: None,
            next: 0,
        })
    }

    /// Feeds the next slice of text; false when there is none.
    fn advance(&mut self, py: Python<'_>) -> PyResult<bool> {
        if let Some((chunk, from)) = self.chunk.take() {
            self.feed_slice(py, chunk, from)?;
            return Ok(true);
        }
        let Some(chunks) = &self.chunks else { return Ok(false) };
        let Some(chunk) = chunks.bind(py).clone().next() else {
            // The ids that a last half surrogate makes certain come first; the text ends after them.
            if let Some(half) = self.half.take() {
                self.feed_slice(py, half, 0)?;
                return Ok(true);
            }
            self.chunks = None;
            if self.stream.held() < WORTH_DETACHING {
                self.stream.finish().or_raise(py)?;
            } else {
                watched(py, |watch| self.stream.finish_watched(watch).map(drop))?;
            }
            return Ok(true);
        };
        let chunk = chunk?;
        let chunk = chunk.cast_into::<PyString>().map_err(|error| {
            convert::not_str(&format!("chunk {}", self.taken), &error.into_inner())
        })?;
        self.taken += 1;
        let chunk = join_half(&mut self.half, self.surrogates, chunk)?;
        self.feed_slice(py, chunk.unbind(), 0)?;
        Ok(true)
    }

    fn feed_slice(&mut self, py: Python<'_>, chunk: Py<PyString>, from: usize) -> PyResult<()> {
        let text = utf8(chunk.bind(py), self.surrogates)?;
        let end = text.floor_char_boundary(from + CHUNK);
        // Nothing may come of many slices of one long word.
        py.check_signals()?;
        let slice = &text[from..end];
        if self.stream.held() < WORTH_DETACHING {
            self.stream.feed(slice).or_raise(py)?;
        } else {
            watched(py, |watch| self.stream.feed_watched(slice, watch).map(drop))?;
        }
        let done = end == text.len();
        drop(text);
        if !done {
            self.chunk = Some((chunk, end));
        }
        Ok(())
    }
}

/// Where lone surrogates are replaced, a pair may be cut by a chunk's end: its first half waits.
pub(crate) fn join_half<'py>(
    waiting: &mut Option<Py<PyString>>,
    surrogates: Surrogates,
    chunk: Bound<'py, PyString>,
) -> PyResult<Bound<'py, PyString>> {
    let py = chunk.py();
    if surrogates == Surrogates::Strict || chunk.to_str().is_ok() && waiting.is_none() {
        return Ok(chunk);
    }
    let chunk = match waiting.take() {
        Some(half) => half.bind(py).add(chunk)?.cast_into::<PyString>()?,
        None => chunk,
    };
    let Some(last) = chunk.len()?.checked_sub(1) else { return Ok(chunk) };
    let end = chunk.get_item(last)?.cast_into::<PyString>()?;
    let code: u32 = py.import("builtins")?.call_method1("ord", (&end,))?.extract()?;
    if !(0xD800..0xDC00).contains(&code) {
        return Ok(chunk);
    }
    *waiting = Some(end.unbind());
    Ok(chunk.cast::<PySequence>()?.get_slice(0, last)?.cast_into::<PyString>()?)
}

#[pymethods]
impl EncodeIterator {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<u32>> {
        loop {
            if let Some(&id) = self.stream.ids().get(self.next) {
                self.next += 1;
                return Ok(Some(id));
            }
            match self.advance(py) {
                Ok(true) => self.next = 0,
                Ok(false) => return Ok(None),
                Err(error) => {
                    self.next = usize::MAX;
                    (self.chunks, self.chunk) = (None, None);
                    return Err(error);
                }
            }
        }
    }
}
