//! Byte-pair encoding, without Python.
//!
//! Two flows, one word per step; each step is a module:
//!
//! ```text
//! encode   text ─special→ spans ─pretokenize→ pieces ─merge→ ids ─decode→ bytes/text
//! train    corpus ─pretokenize→ pieces ─count→ piece counts ─learn→ merges → vocab
//! ```
//!
//! | step | module |
//! |---|---|
//! | special | [`special`] |
//! | pretokenize | [`pretokenize`] |
//! | merge | [`merge`], where it begins with characters: [`symbols`] |
//! | encode, decode, count | [`tokenizer`], many texts at once: [`batch`], chunk by chunk: [`stream`], |
//! | | id by id: [`stream_decode`], with places: [`offsets`], up to a limit: [`cut`], |
//! | | at an end that text to come may change: [`healing`] |
//! | count, learn | [`train`] |
//!
//! Results depend on arguments alone: never on threads, hash order, chunking or run.

mod any_bytes;
pub mod batch;
pub mod breaks;
pub mod bundle;
mod canonical;
pub mod charsmap;
mod compose;
mod cover;
pub mod cut;
pub mod decode;
mod dropout;
pub mod each;
pub mod error;
pub mod flat;
pub mod healing;
pub mod huge;
mod longest;
pub mod merge;
pub mod normalize;
pub mod offsets;
mod overlap;
mod pool;
pub mod pretokenize;
mod reach;
mod replace;
pub mod rows;
pub mod simd;
mod sink;
pub mod special;
pub mod stream;
pub mod stream_decode;
pub mod symbols;
pub mod tokenizer;
pub mod train;
pub mod vocab;
pub mod watched;

pub use error::{Error, Result};
