//! Decoding ids that come from Python.

use bytepair::Error;
use bytepair::tokenizer::Tokenizer;
use pyo3::prelude::*;

use crate::convert;
use crate::error::OrRaise;

/// How many ids are decoded between two looks at Ctrl-C; fewer keep the GIL.
const PART: usize = 1 << 18;

/// The bytes of `ids`, an iterable of int.
pub(crate) fn decode(core: &Tokenizer, ids: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let py = ids.py();
    let ids = convert::ids(ids)?;
    let mut bytes = Vec::with_capacity(ids.len() * 4);
    if ids.len() < PART {
        core.decode(&ids, &mut bytes).or_raise(py)?;
        return Ok(bytes);
    }
    for (done, part) in ids.chunks(PART).enumerate() {
        let decode = || {
            core.decode(part, &mut bytes).map_err(|mut error| {
                if let Error::UnknownToken { index, .. } = &mut error {
                    *index += done * PART;
                }
                error
            })
        };
        py.detach(decode).or_raise(py)?;
        py.check_signals()?;
    }
    Ok(bytes)
}
