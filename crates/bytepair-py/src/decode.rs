//! The methods of `Tokenizer` that decode.
//!
//! In: ids as a list, a tuple, a buffer (an array of NumPy, say) or any iterable of int. Out: text or
//! bytes. Ids of a buffer are read in bulk; those of a list cost about as much as their integers.

use std::ffi::CString;

use bytepair::decode::{BLOCK, GROUP};
use bytepair::tokenizer::Tokenizer as Core;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::convert::{self, WORTH_DETACHING};
use crate::error::{OrRaise, named, raise};
use crate::idsin::{self, Row};
use crate::tokenizer::Tokenizer;

/// Decoded text, by Python's own decoder: it looks at each byte anyway.
#[expect(unsafe_code, reason = "the decoder that takes memory in place is not in pyo3's safe API")]
pub(crate) fn text<'py>(
    py: Python<'py>,
    bytes: &[u8],
    errors: &str,
) -> PyResult<Bound<'py, PyString>> {
    let name;
    let handler = match errors {
        "replace" => c"replace",
        "strict" => c"strict",
        other => {
            name = handler_named(py, other)?;
            &name
        }
    };
    let len = isize::try_from(bytes.len())?;
    // SAFETY: `bytes` is valid for reads of `len` bytes, `handler` ends in a zero byte, both outlive
    // the call; the result is a new reference to a str, or null with an exception set.
    let decoded = unsafe {
        let decoded = ffi::PyUnicode_DecodeUTF8(bytes.as_ptr().cast(), len, handler.as_ptr());
        Bound::from_owned_ptr_or_err(py, decoded)?
    };
    Ok(decoded.cast_into::<PyString>()?)
}

/// An error handler of Python's codecs. Python itself looks for it when it needs it, and not before.
fn handler_named(py: Python<'_>, name: &str) -> PyResult<CString> {
    let known = py.import("codecs")?.call_method1("lookup_error", (name,));
    known.ok().and_then(|_| CString::new(name).ok()).ok_or_else(|| {
        let message = format!(
            "errors is {name:?}; decoding takes \"replace\", \"strict\", \"ignore\" or another error \
             handler of Python's codecs"
        );
        raise(py, "ArgumentError", message)
    })
}

/// How many ids are decoded between two looks at Ctrl-C.
const PART: usize = 1 << 20;

/// The bytes of `ids`.
pub(crate) fn bytes(py: Python<'_>, core: &Core, ids: &[u32]) -> PyResult<Vec<u8>> {
    let mut bytes = Vec::with_capacity(ids.len() * 5 + 32);
    if ids.len() < WORTH_DETACHING {
        core.decode(ids, &mut bytes).or_raise(py)?;
        return Ok(bytes);
    }
    let (first, rest) = ids.split_at(PART.min(ids.len()));
    py.detach(|| core.decode(first, &mut bytes)).or_raise(py)?;
    for (done, part) in rest.chunks(PART).enumerate() {
        py.check_signals()?;
        let decode = || core.decode_part(part, &mut bytes);
        py.detach(decode).map_err(|error| error.behind((done + 1) * PART)).or_raise(py)?;
    }
    Ok(bytes)
}

impl Tokenizer {
    /// What `give` makes of the bytes of `ids`.
    fn decoded<R>(
        &self,
        ids: &Bound<'_, PyAny>,
        give: impl FnOnce(&[u8]) -> PyResult<R>,
    ) -> PyResult<R> {
        if let Some(row) = Row::of(ids)
            && row.len() <= GROUP
        {
            let (mut few, mut block) = ([0; GROUP], [0; BLOCK]);
            let few = &mut few[..row.len()];
            row.read(0, few)?;
            return match self.core.decode_few(few, &mut block) {
                Some(bytes) => give(bytes),
                None => give(&bytes(ids.py(), &self.core, few)?),
            };
        }
        give(&bytes(ids.py(), &self.core, &idsin::ids(ids)?)?)
    }
}

#[pymethods]
impl Tokenizer {
    /// The text of `ids`: an iterable of int, or a buffer of integers (an array of NumPy, say).
    ///
    /// `errors` says what becomes of bytes that are not UTF-8, as in `bytes.decode`: by default each
    /// maximal invalid part becomes U+FFFD. Raises `UnknownTokenError` (a `ValueError` and a
    /// `KeyError`), naming the id and its position, for an id that no token has.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> get_encoding("gpt2").decode([31373, 995])
    /// 'hello world'
    #[pyo3(signature = (ids, *, errors = "replace"))]
    fn decode<'py>(&self, ids: &Bound<'py, PyAny>, errors: &str) -> PyResult<Bound<'py, PyString>> {
        self.decoded(ids, |bytes| text(ids.py(), bytes, errors))
    }

    /// The bytes of `ids`, exactly. Raises `UnknownTokenError` as `decode`.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> get_encoding("cl100k_base").decode_bytes([9468, 239])
    /// b'\xf0\x9f\x91'
    fn decode_bytes<'py>(&self, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        self.decoded(ids, |bytes| Ok(PyBytes::new(ids.py(), bytes)))
    }

    /// The text of each sequence of ids; `errors` and what is raised are as in `decode`.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> get_encoding("gpt2").decode_batch([[31373], [995]])
    /// ['hello', ' world']
    #[pyo3(signature = (batch, *, errors = "replace"))]
    fn decode_batch<'py>(
        &self,
        batch: &Bound<'py, PyAny>,
        errors: &str,
    ) -> PyResult<Bound<'py, PyList>> {
        let texts = PyList::empty(batch.py());
        let rows = convert::iterate("batch", "an iterable of lists of ids", batch)?;
        for (row, ids) in rows.enumerate() {
            let text = self.decode(&ids?, errors);
            texts.append(text.map_err(|error| named(batch.py(), error, &format!("row {row}")))?)?;
        }
        Ok(texts)
    }
}
