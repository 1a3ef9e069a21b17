//! The two streams that a caller feeds: text to ids and ids to text.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytepair::stream::StreamEncoder as CoreEncoder;
use bytepair::stream_decode::{Invalid, StreamDecoder as CoreDecoder};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyInt, PyList, PyString};

use crate::convert::{self, Surrogates, WORTH_DETACHING, utf8};
use crate::error::{OrRaise, raise};
use crate::idsin;
use crate::ints;
use crate::stream::join_half;
use crate::tokenizer::Tokenizer;
use crate::train::watched;

/// What a caller wants done with bytes that are not UTF-8.
pub(crate) fn invalid(py: Python<'_>, errors: &str) -> PyResult<Invalid> {
    match errors {
        "strict" => Ok(Invalid::Refuse),
        "replace" => Ok(Invalid::Replace),
        "ignore" => Ok(Invalid::Ignore),
        other => Err(raise(
            py,
            "ArgumentError",
            format!("errors is {other:?}; here it is \"strict\", \"replace\" or \"ignore\""),
        )),
    }
}

/// Waits without the GIL, which the thread that has the lock may need.
fn locked<'a, T>(mutex: &'a Mutex<T>, py: Python<'_>) -> MutexGuard<'a, T> {
    mutex.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
}

/// Turns ids that come one by one into text that is certain; `Tokenizer.stream_decoder` makes one.
///
/// One stream is for one sequence of ids. Memory does not grow with it, and a step takes the same
/// time however long it is.
#[pyclass(frozen, module = "bytepair._core")]
#[derive(Debug)]
pub(crate) struct StreamDecoder(Mutex<CoreDecoder>);

#[pymethods]
impl StreamDecoder {
    #[new]
    #[pyo3(signature = (tokenizer, prompt_ids = None, *, errors = "replace"))]
    fn new(
        tokenizer: &Bound<'_, Tokenizer>,
        prompt_ids: Option<&Bound<'_, PyAny>>,
        errors: &str,
    ) -> PyResult<Self> {
        let py = tokenizer.py();
        let invalid = invalid(py, errors)?;
        let core = Arc::clone(&tokenizer.get().core);
        let stream = match prompt_ids {
            None => CoreDecoder::new(core, invalid),
            Some(ids) => {
                let ids = idsin::ids(ids)?;
                py.detach(|| CoreDecoder::after(core, invalid, &ids)).or_raise(py)?
            }
        };
        Ok(Self(Mutex::new(stream)))
    }

    /// Takes an id, or an iterable of them, and gives the text that is now certain.
    ///
    /// That is all but the beginning of a character, at most three bytes. A call that raises
    /// (`UnknownTokenError`, or `UnicodeDecodeError` with `errors="strict"`) changes nothing.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> stream = get_encoding("cl100k_base").stream_decoder()
    /// >>> [stream.feed(id) for id in [15339, 9468, 239, 101]]
    /// ['hello', '', '', '👨']
    fn feed<'py>(&self, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
        let py = ids.py();
        if !is_one(ids) {
            let ids = idsin::ids(ids)?;
            return Ok(PyString::new(py, locked(&self.0, py).feed(&ids).or_raise(py)?));
        }
        let id = idsin::id(ids, 0)?;
        Ok(PyString::new(py, locked(&self.0, py).feed(&[id]).or_raise(py)?))
    }

    /// Ends the stream and gives what was held back: a U+FFFD if it ends inside a character, nothing
    /// with `errors="ignore"`; `UnicodeDecodeError` with `"strict"`. The stream is then new again.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> stream = get_encoding("cl100k_base").stream_decoder()
    /// >>> stream.feed([9468, 239]), stream.finish()
    /// ('', '\ufffd')
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        Ok(PyString::new(py, locked(&self.0, py).finish().or_raise(py)?))
    }
}

/// Turns ids that come one by one into their bytes; `Tokenizer.stream_decoder` makes one where
/// `bytes_mode` is asked for. Nothing is held back, so characters may be split.
#[pyclass(frozen, module = "bytepair._core")]
#[derive(Debug)]
pub(crate) struct ByteStreamDecoder {
    core: Arc<bytepair::tokenizer::Tokenizer>,
    taken: Mutex<Taken>,
}

/// What a stream of bytes knows of the ids before.
#[derive(Debug)]
struct Taken {
    /// How many they were, for error messages.
    ids: usize,
    /// Whether they gave nothing yet, so that a space may be left out.
    start: bool,
}

#[pymethods]
impl ByteStreamDecoder {
    #[new]
    #[pyo3(signature = (tokenizer, prompt_ids = None))]
    fn new(
        tokenizer: &Bound<'_, Tokenizer>,
        prompt_ids: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let core = Arc::clone(&tokenizer.get().core);
        let mut start = core.drops_space();
        if let Some(ids) = prompt_ids {
            let mut bytes = Vec::new();
            core.decode_part(&idsin::ids(ids)?, &mut bytes).or_raise(tokenizer.py())?;
            start &= bytes.is_empty();
        }
        Ok(Self { core, taken: Mutex::new(Taken { ids: 0, start }) })
    }

    /// Takes an id, or an iterable of them, and gives their bytes. Raises `UnknownTokenError`.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> stream = get_encoding("cl100k_base").stream_decoder(bytes_mode=True)
    /// >>> [stream.feed(id) for id in [15339, 9468, 239]]
    /// [b'hello', b'\xf0\x9f\x91', b'\x8d']
    fn feed<'py>(&self, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let py = ids.py();
        let ids = one_or_more(ids)?;
        let mut bytes = Vec::new();
        let mut taken = locked(&self.taken, py);
        let decoded = self.core.decode_part(&ids, &mut bytes);
        decoded.map_err(|error| error.behind(taken.ids)).or_raise(py)?;
        let dropped = usize::from(taken.start && bytes.first() == Some(&b' '));
        taken.start &= bytes.is_empty();
        taken.ids += ids.len();
        Ok(PyBytes::new(py, &bytes[dropped..]))
    }

    /// Ends the stream; there is nothing left to give. The stream is then new again.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> get_encoding("gpt2").stream_decoder(bytes_mode=True).finish()
    /// b''
    fn finish<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        *locked(&self.taken, py) = Taken { ids: 0, start: self.core.drops_space() };
        PyBytes::new(py, b"")
    }
}

/// An id, or an iterable of them.
fn one_or_more(ids: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    if is_one(ids) { Ok(vec![idsin::id(ids, 0)?]) } else { idsin::ids(ids) }
}

/// Whether this is an id and not an iterable of them, without taking anything of it.
fn is_one(ids: &Bound<'_, PyAny>) -> bool {
    ids.is_instance_of::<PyInt>() || ids.try_iter().is_err()
}

/// Turns text that comes in chunks into ids that are final; `Tokenizer.stream_encoder` makes one.
#[pyclass(frozen, module = "bytepair._core")]
#[derive(Debug)]
pub(crate) struct StreamEncoder(Mutex<Encoder>);

#[derive(Debug)]
struct Encoder {
    core: CoreEncoder,
    surrogates: Surrogates,
    half: Option<Py<PyString>>,
}

#[pymethods]
impl StreamEncoder {
    #[new]
    #[pyo3(signature = (tokenizer, *, allowed_special = None, disallowed_special = None, errors = "strict"), text_signature = "(tokenizer, *, allowed_special='all', disallowed_special=(), errors='strict')")]
    fn new(
        tokenizer: &Bound<'_, Tokenizer>,
        allowed_special: Option<&Bound<'_, PyAny>>,
        disallowed_special: Option<&Bound<'_, PyAny>>,
        errors: &str,
    ) -> PyResult<Self> {
        let (py, tokenizer) = (tokenizer.py(), tokenizer.get());
        let surrogates = Surrogates::parse(py, errors)?;
        let special = tokenizer.special(py, allowed_special, disallowed_special)?;
        let policy = special.get(&tokenizer.core).clone();
        let core = CoreEncoder::new(Arc::clone(&tokenizer.core), policy);
        Ok(Self(Mutex::new(Encoder { core, surrogates, half: None })))
    }

    /// Takes the next chunk of the text and gives the ids that no text to come can change.
    ///
    /// Raises as `Tokenizer.encode`; the stream is of no use after that.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> stream = get_encoding("gpt2").stream_encoder()
    /// >>> stream.feed("hello wor"), stream.feed("ld, "), stream.finish()
    /// ([31373], [995, 11], [220])
    fn feed<'py>(&self, text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let py = text.py();
        let text = text.cast::<PyString>().map_err(|_| convert::not_str("text", text))?;
        let mut stream = locked(&self.0, py);
        let surrogates = stream.surrogates;
        let text = join_half(&mut stream.half, surrogates, text.clone())?;
        let text = utf8(&text, surrogates)?;
        let core = &mut stream.core;
        if core.held() + text.len() < WORTH_DETACHING {
            return ints::list(py, core.feed(&text).or_raise(py)?);
        }
        watched(py, |watch| core.feed_watched(&text, watch).map(drop))?;
        ints::list(py, core.ids())
    }

    /// Ends the text and gives the rest of its ids. The stream is then new again.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> stream = get_encoding("gpt2").stream_encoder()
    /// >>> stream.feed("hello"), stream.finish()
    /// ([], [31373])
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let mut stream = locked(&self.0, py);
        let mut ids = Vec::new();
        if let Some(half) = stream.half.take() {
            let text = utf8(half.bind(py), stream.surrogates)?;
            ids.extend_from_slice(stream.core.feed(&text).or_raise(py)?);
        }
        let core = &mut stream.core;
        if core.held() < WORTH_DETACHING {
            core.finish().or_raise(py)?;
        } else {
            watched(py, |watch| core.finish_watched(watch).map(drop))?;
        }
        ints::list(py, &[&ids[..], core.ids()].concat())
    }
}
