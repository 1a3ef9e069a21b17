//! The methods of `Tokenizer` that encode and count.
//!
//! In: a `str`, `bytes`, or many texts. Out: lists, arrays or [`Tokens`]. Text is read where Python
//! has it; short text keeps the GIL, because letting it go takes as long as to encode a few words.

use bytepair::Error;
use bytepair::rows::Rows;
use bytepair::special::Policy;
use bytepair::tokenizer::Tokenizer as Core;
use bytepair::train::{NoWatch, Watch};
use bytepair::watched::Pulse;
use bytepair::{batch, each};
use numpy::PyArrayDescr;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::arrays;
use crate::convert::{Surrogates, Threads, WORTH_DETACHING, limit, thread_count};
use crate::error::OrRaise;
use crate::ints;
use crate::sampling;
use crate::texts::{Text, Texts};
use crate::tokenizer::Tokenizer;
use crate::tokens::Tokens;
use crate::train::watched;

/// How many threads to use for `bytes` bytes of one text; cheap where one is enough.
fn threads_for(threads: Option<Threads>, bytes: usize) -> usize {
    if threads.is_none() && !batch::is_worth_threads(bytes) {
        return 1;
    }
    thread_count(threads)
}

impl Tokenizer {
    pub(crate) fn ids_of(
        &self,
        text: &Bound<'_, PyAny>,
        policy: &Policy,
        surrogates: Surrogates,
        threads: Option<Threads>,
    ) -> PyResult<Vec<u32>> {
        let py = text.py();
        let text = Text::new(text, surrogates)?;
        let threads = threads_for(threads, text.len());
        match &text {
            Text::Utf8(text) if text.len() < WORTH_DETACHING => {
                let mut ids = Vec::with_capacity(text.len() / 3 + 8);
                self.core.encode(text, policy, &mut ids).map(|()| ids).or_raise(py)
            }
            Text::Utf8(text) if threads > 1 && batch::is_worth_threads(text.len()) => {
                watched(py, |watch| {
                    let texts = [text.as_ref()];
                    batch::encode_batch_watched(&self.core, &texts, policy, threads, watch)
                        .map_err(|error| in_text(error, text, policy))
                })
                .map(Rows::into_ids)
            }
            Text::Utf8(text) => watched(py, |watch| {
                let mut ids = Vec::new();
                self.core.encode_watched(text, policy, &mut ids, watch).map(|()| ids)
            }),
            Text::Bytes(bytes) => watched(py, |watch| {
                let mut ids = Vec::with_capacity(bytes.len() / 3);
                let done = self.core.encode_bytes_watched(bytes, policy, &mut ids, watch);
                done.map(|()| ids)
            }),
        }
    }
}

/// The error about a forbidden special token with its place in the whole text, of which each thread
/// knew a part.
#[cold]
fn in_text(error: Error, text: &str, policy: &Policy) -> Error {
    match error {
        Error::SpecialToken { .. } => policy.check(text).err().unwrap_or(error),
        other => other,
    }
}

/// The error with the text it is about, and the place of a special token there: threads that shared
/// the texts know neither.
#[cold]
pub(crate) fn in_row(
    error: Error,
    texts: &[&str],
    (core, policy): (&Core, &Policy),
    watch: &dyn Watch,
) -> Error {
    for (row, text) in texts.iter().enumerate() {
        match error {
            Error::SpecialToken { .. } => {
                if let Err(Error::SpecialToken { token, mut place }) = policy.check(text) {
                    place.row = Some(row);
                    return Error::SpecialToken { token, place };
                }
            }
            Error::UnknownByte { .. } => match core.count_watched(text, policy, None, watch) {
                Err(error @ Error::UnknownByte { .. }) => {
                    return Error::Vocab(format!("text {row}: {error}"));
                }
                Err(Error::Interrupted) => return Error::Interrupted,
                _ => {}
            },
            _ => break,
        }
    }
    error
}

/// What `work` gives for the texts of a batch, without the GIL where that pays.
fn on_texts<R: Send>(
    texts: &Bound<'_, PyAny>,
    surrogates: Surrogates,
    by: (&Core, &Policy),
    threads: Option<Threads>,
    work: impl FnOnce(&[&str], usize, &dyn Watch) -> bytepair::Result<R> + Send,
) -> PyResult<R> {
    let py = texts.py();
    let held = Texts::new(texts)?;
    let texts = held.texts(surrogates)?;
    let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    let bytes = texts.iter().map(|text| text.len()).sum();
    let threads = threads_for(threads, bytes);
    if bytes < WORTH_DETACHING {
        let done = work(&texts, threads, &NoWatch);
        done.map_err(|error| in_row(error, &texts, by, &NoWatch)).or_raise(py)
    } else {
        watched(py, |watch| {
            work(&texts, threads, watch).map_err(|error| in_row(error, &texts, by, watch))
        })
    }
}

#[pymethods]
impl Tokenizer {
    /// The ids of `text`.
    ///
    /// Args:
    ///     text: any str, or any bytes: what is UTF-8 in them is encoded as text, and each run of
    ///         bytes that is not is a piece of its own, so `decode_bytes` gives them back.
    ///     threads: how many threads may work on a long text, by default one for each core (one in a
    ///         forked child). It never changes the result, and short text takes one.
    ///     allowed_special: the special tokens that are recognised, as a collection of str, or
    ///         `"all"`. Any other special token in the text is plain text.
    ///     disallowed_special: text that holds one of these is refused; `"all"` means all that are
    ///         not allowed. For text from strangers use `encode_ordinary`, or `allowed_special=()`.
    ///     errors: what to do with a lone surrogate: `"strict"` raises `UnicodeEncodeError`,
    ///         `"replace"` takes U+FFFD (and joins pairs), as tiktoken does.
    ///     dropout: BPE-dropout (Provilkov et al., 2020): each merge is left out with this
    ///         probability, from 0 to 1, so that a model sees many spellings of a word; 0 and `None`
    ///         are exact, 1 gives single bytes. Needs `seed`.
    ///     seed: an int from 0 to 2**64 - 1. The ids depend on text, rate and seed alone; give
    ///         another for each text and epoch.
    ///
    /// Returns:
    ///     A list of int. Costs time in proportion to the text, whatever it is; the GIL is released
    ///     while long text is at work.
    ///
    /// Raises:
    ///     SpecialTokenError: the text holds a disallowed special token; says which and where.
    ///     VocabError: the text holds a byte that no token covers.
    ///     PatternError: a regular expression of the caller's gave up on the text.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> get_encoding("gpt2").encode("hello world<|endoftext|>")
    /// [31373, 995, 50256]
    #[pyo3(signature = (text, *, threads = None, allowed_special = None, disallowed_special = None, errors = "strict", dropout = None, seed = None), text_signature = "($self, text, *, threads=None, allowed_special='all', disallowed_special=(), errors='strict', dropout=None, seed=None)")]
    #[expect(clippy::too_many_arguments, reason = "the options of the call, by keyword")]
    fn encode<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        threads: Option<Threads>,
        allowed_special: Option<&Bound<'_, PyAny>>,
        disallowed_special: Option<&Bound<'_, PyAny>>,
        errors: &str,
        dropout: Option<f64>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let surrogates = Surrogates::parse(text.py(), errors)?;
        let special = self.special(text.py(), allowed_special, disallowed_special)?;
        if dropout.is_some() || seed.is_some() {
            let policy = special.get(&self.core);
            let ids = sampling::encode(&self.core, text, policy, surrogates, (dropout, seed))?;
            return ints::list(text.py(), &ids);
        }
        let ids = self.ids_of(text, special.get(&self.core), surrogates, threads)?;
        ints::list(text.py(), &ids)
    }

    /// The ids of `text`, special tokens taken as plain text: for text from strangers.
    ///
    /// `text` may be bytes; `errors` and what is raised are as in `encode`.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> get_encoding("gpt2").encode_ordinary("<|endoftext|>")
    /// [27, 91, 437, 1659, 5239, 91, 29]
    #[pyo3(signature = (text, *, errors = "strict"))]
    fn encode_ordinary<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        errors: &str,
    ) -> PyResult<Bound<'py, PyList>> {
        let surrogates = Surrogates::parse(text.py(), errors)?;
        let ids = self.ids_of(text, self.core.plain(), surrogates, None)?;
        ints::list(text.py(), &ids)
    }

    /// The ids of `text` as a NumPy array of uint32, or of uint16 where that is asked for.
    ///
    /// Args:
    ///     text: as in `encode`.
    ///     dtype: `numpy.uint32` (the default) or `numpy.uint16`.
    ///     out: a one-dimensional array for the ids; what is returned is the part that was filled.
    ///     threads: as in `encode`.
    ///     allowed_special: as in `encode`.
    ///     disallowed_special: as in `encode`.
    ///     errors: as in `encode`.
    ///
    /// Raises `ImportError` without NumPy; `ArgumentError` when an id does not fit the dtype or the
    /// ids do not fit into `out`; and what `encode` raises.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> get_encoding("gpt2").encode_numpy("hello world")
    /// array([31373,   995], dtype=uint32)
    #[pyo3(signature = (text, *, dtype = None, out = None, threads = None, allowed_special = None, disallowed_special = None, errors = "strict"), text_signature = "($self, text, *, dtype=None, out=None, threads=None, allowed_special='all', disallowed_special=(), errors='strict')")]
    #[expect(clippy::too_many_arguments, reason = "the options of the call, by keyword")]
    fn encode_numpy<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        dtype: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
        threads: Option<Threads>,
        allowed_special: Option<&Bound<'_, PyAny>>,
        disallowed_special: Option<&Bound<'_, PyAny>>,
        errors: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = text.py();
        arrays::need_numpy(py, "encode_numpy needs NumPy; install it, or use encode for a list")?;
        let dtype = dtype.map(|dtype| PyArrayDescr::new(py, dtype)).transpose()?;
        let target = arrays::Target::new(py, dtype.as_ref(), out)?;
        let surrogates = Surrogates::parse(py, errors)?;
        let special = self.special(py, allowed_special, disallowed_special)?;
        let ids = self.ids_of(text, special.get(&self.core), surrogates, threads)?;
        target.put(py, ids)
    }

    /// The ids of each text, on several threads where that pays.
    ///
    /// `texts` is an iterable of str, or a column of them (an array or chunked array of pyarrow, a
    /// series of polars) that speaks the Arrow PyCapsule interface and is then read in place.
    /// `threads` is how many at most (by default one for each core, one in a forked child); it never
    /// changes the result. With `dropout` text `n` has the seed `seed + n` (of 64 bits, so after the
    /// largest comes 0), whatever the others are: give the next batch one larger by `len(texts)`.
    /// The other arguments and what is raised are as in `encode`.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> get_encoding("gpt2").encode_batch(["hello", " world"])
    /// [[31373], [995]]
    #[pyo3(signature = (texts, *, threads = None, allowed_special = None, disallowed_special = None, errors = "strict", dropout = None, seed = None), text_signature = "($self, texts, *, threads=None, allowed_special='all', disallowed_special=(), errors='strict', dropout=None, seed=None)")]
    #[expect(clippy::too_many_arguments, reason = "the options of the call, by keyword")]
    fn encode_batch<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        threads: Option<Threads>,
        allowed_special: Option<&Bound<'_, PyAny>>,
        disallowed_special: Option<&Bound<'_, PyAny>>,
        errors: &str,
        dropout: Option<f64>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = texts.py();
        let surrogates = Surrogates::parse(py, errors)?;
        let special = self.special(py, allowed_special, disallowed_special)?;
        let policy = special.get(&self.core);
        if dropout.is_some() || seed.is_some() {
            let by = (dropout, seed);
            let rows = sampling::encode_batch(&self.core, texts, policy, surrogates, threads, by)?;
            let rows = rows.iter().map(|ids| ints::list(py, ids));
            return PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?);
        }
        let rows =
            on_texts(texts, surrogates, (&self.core, policy), threads, |texts, threads, watch| {
                batch::encode_batch_watched(&self.core, texts, policy, threads, watch)
            })?;
        ints::lists(py, &rows)
    }

    /// The ids of each text, all in one array: `encode_batch` without a Python object for each id.
    ///
    /// Arguments and what is raised are as in `encode_batch`.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> tokens = get_encoding("gpt2").encode_ragged(["hello world", "", " world"])
    /// >>> len(tokens), tokens.to_lists()
    /// (3, [[31373, 995], [], [995]])
    #[pyo3(signature = (texts, *, threads = None, allowed_special = None, disallowed_special = None, errors = "strict"), text_signature = "($self, texts, *, threads=None, allowed_special='all', disallowed_special=(), errors='strict')")]
    fn encode_ragged(
        &self,
        texts: &Bound<'_, PyAny>,
        threads: Option<Threads>,
        allowed_special: Option<&Bound<'_, PyAny>>,
        disallowed_special: Option<&Bound<'_, PyAny>>,
        errors: &str,
    ) -> PyResult<Tokens> {
        let py = texts.py();
        let surrogates = Surrogates::parse(py, errors)?;
        let special = self.special(py, allowed_special, disallowed_special)?;
        let policy = special.get(&self.core);
        on_texts(texts, surrogates, (&self.core, policy), threads, |texts, threads, watch| {
            let rows = batch::encode_batch_watched(&self.core, texts, policy, threads, watch)?;
            Ok(Tokens::new(rows))
        })
    }

    /// The number of ids of `text`: `len(encode(text))`, without making the list.
    ///
    /// `text` may be bytes. With a `limit`, counting stops once it is passed, and the result is then
    /// `limit + 1`. The other arguments and what is raised are as in `encode`.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> gpt2 = get_encoding("gpt2")
    /// >>> gpt2.count("hello world"), gpt2.count("word " * 1000, limit=10)
    /// (2, 11)
    #[pyo3(signature = (text, *, limit = None, threads = None, allowed_special = None, disallowed_special = None, errors = "strict"), text_signature = "($self, text, *, limit=None, threads=None, allowed_special='all', disallowed_special=(), errors='strict')")]
    fn count(
        &self,
        text: &Bound<'_, PyAny>,
        limit: Option<&Bound<'_, PyAny>>,
        threads: Option<Threads>,
        allowed_special: Option<&Bound<'_, PyAny>>,
        disallowed_special: Option<&Bound<'_, PyAny>>,
        errors: &str,
    ) -> PyResult<usize> {
        let py = text.py();
        let surrogates = Surrogates::parse(py, errors)?;
        let special = self.special(py, allowed_special, disallowed_special)?;
        let limit = self::limit(limit)?;
        let policy = special.get(&self.core);
        let text = Text::new(text, surrogates)?;
        let threads = threads_for(threads, text.len());
        match &text {
            Text::Utf8(text) if text.len() < WORTH_DETACHING => {
                self.core.count(text, policy, limit).or_raise(py)
            }
            Text::Utf8(text)
                if limit.is_none() && threads > 1 && batch::is_worth_threads(text.len()) =>
            {
                let texts = [text.as_ref()];
                let counts = watched(py, |watch| {
                    batch::count_batch_watched(&self.core, &texts, policy, threads, watch)
                        .map_err(|error| in_text(error, text, policy))
                })?;
                Ok(counts.into_iter().sum())
            }
            Text::Utf8(text) => {
                watched(py, |watch| self.core.count_watched(text, policy, limit, watch))
            }
            Text::Bytes(bytes) => {
                watched(py, |watch| self.core.count_bytes_watched(bytes, policy, limit, watch))
            }
        }
    }

    /// The number of ids of each text; `limit` as in `count`, other arguments as in `encode_batch`.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> get_encoding("gpt2").count_batch(["hello", "hello world"])
    /// [1, 2]
    #[pyo3(signature = (texts, *, limit = None, threads = None, allowed_special = None, disallowed_special = None, errors = "strict"), text_signature = "($self, texts, *, limit=None, threads=None, allowed_special='all', disallowed_special=(), errors='strict')")]
    fn count_batch(
        &self,
        texts: &Bound<'_, PyAny>,
        limit: Option<&Bound<'_, PyAny>>,
        threads: Option<Threads>,
        allowed_special: Option<&Bound<'_, PyAny>>,
        disallowed_special: Option<&Bound<'_, PyAny>>,
        errors: &str,
    ) -> PyResult<Vec<usize>> {
        let py = texts.py();
        let surrogates = Surrogates::parse(py, errors)?;
        let special = self.special(py, allowed_special, disallowed_special)?;
        let (limit, policy) = (self::limit(limit)?, special.get(&self.core));
        let count =
            |text: &str, pulse: &Pulse<'_>| self.core.count_until(text, policy, limit, pulse);
        on_texts(texts, surrogates, (&self.core, policy), threads, |texts, threads, watch| {
            match limit {
                None => batch::count_batch_watched(&self.core, texts, policy, threads, watch),
                Some(_) => each::map(texts, threads, watch, count),
            }
        })
    }

    /// The text of each token of `text`; bytes that are part of a character become U+FFFD.
    ///
    /// Arguments and what is raised are as in `encode`.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> get_encoding("gpt2").token_strings("hello world")
    /// ['hello', ' world']
    #[pyo3(signature = (text, *, allowed_special = None, disallowed_special = None, errors = "strict"), text_signature = "($self, text, *, allowed_special='all', disallowed_special=(), errors='strict')")]
    fn token_strings<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        allowed_special: Option<&Bound<'_, PyAny>>,
        disallowed_special: Option<&Bound<'_, PyAny>>,
        errors: &str,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = text.py();
        let surrogates = Surrogates::parse(py, errors)?;
        let special = self.special(py, allowed_special, disallowed_special)?;
        let ids = self.ids_of(text, special.get(&self.core), surrogates, None)?;
        let token = |id| self.core.token_bytes(id).unwrap_or_default();
        let text = |id| crate::decode::text(py, token(id), "replace");
        ints::made(py, ids.into_iter().map(text))
    }
}
