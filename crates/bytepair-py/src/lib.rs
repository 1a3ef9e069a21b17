//! The Python binding: the export list, nothing else.
//!
//! A method takes its arguments apart, releases the GIL where the work is long enough to pay for it,
//! calls the core, and converts the result. What tokens mean is decided in the core.

#![expect(
    clippy::doc_markdown,
    clippy::doc_link_with_quotes,
    reason = "doc comments on exported items are Python docstrings"
)]

mod arrays;
mod arrow;
mod convert;
mod counting;
mod cutting;
mod decode;
mod encode;
mod error;
mod flat;
mod healing;
mod idsin;
mod ints;
mod many;
mod model;
mod sampling;
mod stream;
mod streaming;
mod texts;
mod tokenizer;
mod tokens;
mod train;

use pyo3::pymodule;

/// The compiled half of `bytepair`; its documented face is the package itself.
#[pymodule(gil_used = false)]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::counting::{ZstdReader, count};
    #[pymodule_export]
    use crate::cutting::{chunks, cut_out, decode_with_offsets, encode_with_offsets};
    #[pymodule_export]
    use crate::flat::{flatten, unflatten};
    #[pymodule_export]
    use crate::healing::{Beginnings, merge_piece, split_unstable};
    #[pymodule_export]
    use crate::many::{chunks_many, cut_out_many};
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::model::{pattern_name, pattern_names, pretokenize, resolve_pattern};
    #[pymodule_export]
    use crate::stream::EncodeIterator;
    #[pymodule_export]
    use crate::streaming::{ByteStreamDecoder, StreamDecoder, StreamEncoder};
    #[pymodule_export]
    use crate::tokenizer::Tokenizer;
    #[pymodule_export]
    use crate::tokens::Tokens;
    #[pymodule_export]
    use crate::train::{PieceCounts, StoredCounts, learn};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // So that a process that is forked from this one can be told from it.
        bytepair::batch::is_forked();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
