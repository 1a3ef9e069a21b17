//! The tokenizer class that `bytepair.Tokenizer` extends.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytepair::normalize::Normalizer;
use bytepair::special::{Choice, Policy, SpecialTokens};
use bytepair::{batch, tokenizer};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList, PyString};

use crate::convert::{self, Special, Surrogates, WORTH_DETACHING, choice, utf8};
use crate::error::{OrRaise, raise};
use crate::ints;
use crate::model::Model;
use crate::stream::EncodeIterator;

/// Turns text into ids and back. Immutable; safe to use from many threads at once.
#[pyclass(frozen, subclass, module = "bytepair._core")]
#[derive(Debug)]
pub(crate) struct Tokenizer {
    pub(crate) core: Arc<tokenizer::Tokenizer>,
    model: Py<Model>,
    name: Option<String>,
}

impl Tokenizer {
    pub(crate) fn special(
        &self,
        py: Python<'_>,
        allowed: Option<&Bound<'_, PyAny>>,
        disallowed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Special> {
        if allowed.is_none() && disallowed.is_none() {
            return Ok(Special::Everything);
        }
        let allowed = allowed.map_or(Ok(Choice::All), |value| choice("allowed_special", value))?;
        let disallowed = disallowed
            .map_or(Ok(Choice::These(Vec::new())), |value| choice("disallowed_special", value))?;
        self.core.policy(&allowed, &disallowed).or_raise(py).map(Special::Policy)
    }

    fn encode_with(
        &self,
        text: &Bound<'_, PyAny>,
        policy: &Policy,
        surrogates: Surrogates,
    ) -> PyResult<Vec<u32>> {
        let py = text.py();
        let mut ids = Vec::new();
        let Ok(text) = text.cast::<PyString>() else {
            let bytes = convert::bytes(text)?;
            py.detach(|| self.core.encode_bytes(bytes, policy, &mut ids)).or_raise(py)?;
            return Ok(ids);
        };
        let text = utf8(text, surrogates)?;
        if text.len() < WORTH_DETACHING {
            self.core.encode(&text, policy, &mut ids).or_raise(py)?;
        } else {
            ids.reserve(text.len() / 3);
            py.detach(|| self.core.encode(&text, policy, &mut ids)).or_raise(py)?;
        }
        Ok(ids)
    }

    fn special_dict<'py>(
        &self,
        py: Python<'py>,
        keep: impl Fn(&str, u32) -> bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        convert::id_dict(
            py,
            self.core.special().iter().filter(|&(token, id)| keep(token, id)).collect(),
        )
    }

    fn decoded(&self, ids: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
        let py = ids.py();
        let ids = convert::ids(ids)?;
        let mut bytes = Vec::with_capacity(ids.len() * 4);
        self.core.decode(&ids, &mut bytes).or_raise(py)?;
        Ok(bytes)
    }
}

fn normalizer_named(py: Python<'_>, name: &str) -> PyResult<Normalizer> {
    Normalizer::named(name).ok_or_else(|| {
        raise(py, "ArgumentError", format!("unknown normalizer {name:?}; it is \"NFC\" or None"))
    })
}

#[pymethods]
impl Tokenizer {
    #[new]
    #[pyo3(signature = (model, special_tokens, pattern, name = None, aliases = None, added = None, normalizer = None))]
    #[expect(clippy::too_many_arguments, reason = "the parts of a tokenizer, once")]
    fn new(
        py: Python<'_>,
        model: Py<Model>,
        special_tokens: BTreeMap<String, u32>,
        pattern: Option<&Bound<'_, PyAny>>,
        name: Option<String>,
        aliases: Option<BTreeMap<String, u32>>,
        added: Option<BTreeMap<String, u32>>,
        normalizer: Option<&str>,
    ) -> PyResult<Self> {
        let pattern = convert::pattern(pattern)?;
        let normalizer = normalizer.map(|name| normalizer_named(py, name)).transpose()?;
        let special = SpecialTokens::new(special_tokens, aliases.unwrap_or_default())
            .and_then(|special| special.with_added(added.unwrap_or_default()))
            .or_raise(py)?;
        let core = tokenizer::Tokenizer::new(Arc::clone(&model.get().0), special, &pattern)
            .or_raise(py)?
            .with_normalizer(normalizer);
        Ok(Self { core: Arc::new(core), model, name })
    }

    /// The ids of `text`.
    ///
    /// Args:
    ///     text: any str, or any bytes: what is UTF-8 in them is encoded as text, and each run of
    ///         bytes that is not is a piece of its own, so `decode_bytes` gives them back.
    ///     allowed_special: the special tokens that are recognised, as a collection of str, or
    ///         `"all"`. Any other special token in the text is plain text.
    ///     disallowed_special: text that holds one of these is refused; `"all"` means all that are
    ///         not allowed. For text from strangers use `encode_ordinary`, or `allowed_special=()`.
    ///     errors: what to do with a lone surrogate: `"strict"` raises `UnicodeEncodeError`,
    ///         `"replace"` takes U+FFFD (and joins pairs), as tiktoken does.
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
    #[pyo3(signature = (text, *, allowed_special = None, disallowed_special = None, errors = "strict"), text_signature = "($self, text, *, allowed_special='all', disallowed_special=(), errors='strict')")]
    fn encode<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        allowed_special: Option<&Bound<'_, PyAny>>,
        disallowed_special: Option<&Bound<'_, PyAny>>,
        errors: &str,
    ) -> PyResult<Bound<'py, PyList>> {
        let surrogates = Surrogates::parse(text.py(), errors)?;
        let special = self.special(text.py(), allowed_special, disallowed_special)?;
        ints::list(text.py(), &self.encode_with(text, special.get(&self.core), surrogates)?)
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
        ints::list(text.py(), &self.encode_with(text, self.core.plain(), surrogates)?)
    }

    /// The ids of `text` as native-endian u32 or u16, in one buffer.
    #[pyo3(signature = (text, width, *, allowed_special = None, disallowed_special = None, errors = "strict"), text_signature = "($self, text, width, *, allowed_special='all', disallowed_special=(), errors='strict')")]
    fn _encode_buffer<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        width: usize,
        allowed_special: Option<&Bound<'_, PyAny>>,
        disallowed_special: Option<&Bound<'_, PyAny>>,
        errors: &str,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        let surrogates = Surrogates::parse(text.py(), errors)?;
        let special = self.special(text.py(), allowed_special, disallowed_special)?;
        let ids = self.encode_with(text, special.get(&self.core), surrogates)?;
        convert::buffer(text.py(), &ids, width)
    }

    /// The ids of each text, on several threads where that pays.
    ///
    /// `threads` is how many at most (by default one for each core); it never changes the result.
    /// The other arguments and what is raised are as in `encode`.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> get_encoding("gpt2").encode_batch(["hello", " world"])
    /// [[31373], [995]]
    #[pyo3(signature = (texts, *, threads = None, allowed_special = None, disallowed_special = None, errors = "strict"), text_signature = "($self, texts, *, threads=None, allowed_special='all', disallowed_special=(), errors='strict')")]
    fn encode_batch(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        threads: Option<i64>,
        allowed_special: Option<&Bound<'_, PyAny>>,
        disallowed_special: Option<&Bound<'_, PyAny>>,
        errors: &str,
    ) -> PyResult<Vec<Vec<u32>>> {
        let surrogates = Surrogates::parse(py, errors)?;
        let special = self.special(py, allowed_special, disallowed_special)?;
        let threads = convert::thread_count(py, threads)?;
        let items = convert::items(texts)?;
        let texts = convert::texts(&items, surrogates)?;
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        py.detach(|| batch::encode_batch(&self.core, &texts, special.get(&self.core), threads))
            .or_raise(py)
    }

    /// The number of ids of `text`: `len(encode(text))`, without making the list.
    ///
    /// `text` may be bytes. With a `limit`, counting stops once it is passed, and the result is then `limit + 1`. The
    /// other arguments and what is raised are as in `encode`.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> gpt2 = get_encoding("gpt2")
    /// >>> gpt2.count("hello world"), gpt2.count("word " * 1000, limit=10)
    /// (2, 11)
    #[pyo3(signature = (text, *, limit = None, allowed_special = None, disallowed_special = None, errors = "strict"), text_signature = "($self, text, *, limit=None, allowed_special='all', disallowed_special=(), errors='strict')")]
    fn count(
        &self,
        text: &Bound<'_, PyAny>,
        limit: Option<i64>,
        allowed_special: Option<&Bound<'_, PyAny>>,
        disallowed_special: Option<&Bound<'_, PyAny>>,
        errors: &str,
    ) -> PyResult<usize> {
        let py = text.py();
        let surrogates = Surrogates::parse(py, errors)?;
        let special = self.special(py, allowed_special, disallowed_special)?;
        let limit = convert::limit(py, limit)?;
        let policy = special.get(&self.core);
        let Ok(text) = text.cast::<PyString>() else {
            let bytes = convert::bytes(text)?;
            return py.detach(|| self.core.count_bytes(bytes, policy, limit)).or_raise(py);
        };
        let text = utf8(text, surrogates)?;
        if text.len() < WORTH_DETACHING {
            self.core.count(&text, policy, limit).or_raise(py)
        } else {
            py.detach(|| self.core.count(&text, policy, limit)).or_raise(py)
        }
    }

    /// The number of ids of each text; arguments as in `encode_batch`.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> get_encoding("gpt2").count_batch(["hello", "hello world"])
    /// [1, 2]
    #[pyo3(signature = (texts, *, threads = None, allowed_special = None, disallowed_special = None, errors = "strict"), text_signature = "($self, texts, *, threads=None, allowed_special='all', disallowed_special=(), errors='strict')")]
    fn count_batch(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        threads: Option<i64>,
        allowed_special: Option<&Bound<'_, PyAny>>,
        disallowed_special: Option<&Bound<'_, PyAny>>,
        errors: &str,
    ) -> PyResult<Vec<usize>> {
        let surrogates = Surrogates::parse(py, errors)?;
        let special = self.special(py, allowed_special, disallowed_special)?;
        let threads = convert::thread_count(py, threads)?;
        let items = convert::items(texts)?;
        let texts = convert::texts(&items, surrogates)?;
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        py.detach(|| batch::count_batch(&self.core, &texts, special.get(&self.core), threads))
            .or_raise(py)
    }

    /// The ids of a text that comes in chunks (an open file, say), as they become certain.
    ///
    /// They are the ids of the whole text for every chunking; special tokens across the ends of
    /// chunks are found. Memory does not grow with the text: with the named patterns the last piece
    /// is held back, with another regular expression the text since the last special token. The
    /// other arguments and what is raised are as in `encode`.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> list(get_encoding("gpt2").encode_iterable(["hel", "lo wor", "ld<|endof", "text|>"]))
    /// [31373, 995, 50256]
    #[pyo3(signature = (chunks, *, allowed_special = None, disallowed_special = None, errors = "strict"), text_signature = "($self, chunks, *, allowed_special='all', disallowed_special=(), errors='strict')")]
    fn encode_iterable(
        &self,
        chunks: &Bound<'_, PyAny>,
        allowed_special: Option<&Bound<'_, PyAny>>,
        disallowed_special: Option<&Bound<'_, PyAny>>,
        errors: &str,
    ) -> PyResult<EncodeIterator> {
        let py = chunks.py();
        let surrogates = Surrogates::parse(py, errors)?;
        let special = self.special(py, allowed_special, disallowed_special)?;
        let policy = special.get(&self.core).clone();
        EncodeIterator::new(Arc::clone(&self.core), policy, chunks, surrogates)
    }

    /// The text of `ids`, an iterable of int.
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
        convert::text(ids.py(), &self.decoded(ids)?, errors)
    }

    /// The bytes of `ids`, exactly. Raises `UnknownTokenError` as `decode`.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> get_encoding("cl100k_base").decode_bytes([9468, 239])
    /// b'\xf0\x9f\x91'
    fn decode_bytes<'py>(&self, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(ids.py(), &self.decoded(ids)?))
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
    ) -> PyResult<Vec<Bound<'py, PyString>>> {
        batch.try_iter()?.map(|ids| self.decode(&ids?, errors)).collect()
    }

    /// The bytes of token `id`. Raises `UnknownTokenError`.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> get_encoding("gpt2").token_bytes(995)
    /// b' world'
    fn token_bytes<'py>(&self, id: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let py = id.py();
        let mut bytes = Vec::new();
        self.core.decode(&[convert::id(id, 0)?], &mut bytes).or_raise(py)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The id of the token `token`, given as bytes or as str. Raises `UnknownTokenError`.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> get_encoding("gpt2").token_id(b" world"), get_encoding("gpt2").token_id("<|endoftext|>")
    /// (995, 50256)
    fn token_id(&self, token: &Bound<'_, PyAny>) -> PyResult<u32> {
        let bytes = match token.cast::<PyString>() {
            Ok(text) => text.to_str()?.as_bytes(),
            Err(_) => token.extract::<&[u8]>()?,
        };
        self.core.token_id(bytes).ok_or_else(|| {
            let message = format!(
                "no token is {}; encode it to see the tokens it is made of",
                bytepair::vocab::show(bytes)
            );
            raise(token.py(), "UnknownTokenError", message)
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
    ) -> PyResult<Vec<Bound<'py, PyString>>> {
        let py = text.py();
        let surrogates = Surrogates::parse(py, errors)?;
        let special = self.special(py, allowed_special, disallowed_special)?;
        let ids = self.encode_with(text, special.get(&self.core), surrogates)?;
        ids.into_iter()
            .map(|id| convert::text(py, self.core.token_bytes(id).unwrap_or_default(), "replace"))
            .collect()
    }

    /// Whether `id` is a special token's. Raises `UnknownTokenError`.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> get_encoding("gpt2").is_special(50256)
    /// True
    fn is_special(&self, id: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = id.py();
        let id = convert::id(id, 0)?;
        self.core.decode(&[id], &mut Vec::new()).or_raise(py)?;
        Ok(self.core.special().is_special(id))
    }

    /// The special tokens and their ids, by id. A new dict at each call.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> get_encoding("gpt2").special_tokens
    /// {'<|endoftext|>': 50256}
    #[getter]
    fn special_tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.special_dict(py, |_, _| true)
    }

    /// The special tokens without the aliases.
    #[getter]
    fn _special_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.special_dict(py, |token, id| self.core.special().token(id) == Some(token))
    }

    /// The aliases of special tokens.
    #[getter]
    fn _special_aliases<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.special_dict(py, |token, id| self.core.special().token(id) != Some(token))
    }

    /// The added tokens and their ids, by id: found in any text like special tokens, but vocabulary,
    /// so `encode_ordinary` finds them too. A new dict at each call.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> get_encoding("gpt2").added_tokens
    /// {}
    #[getter]
    fn added_tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        convert::id_dict(py, self.core.special().added().collect())
    }

    /// The normalizer, `"NFC"` or `None`: what rewrites text before it is cut into pieces.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> print(get_encoding("gpt2").normalizer)
    /// None
    #[getter]
    fn normalizer(&self) -> Option<&'static str> {
        self.core.normalizer().map(Normalizer::name)
    }

    /// The merges as (left bytes, right bytes), in rank order. A new list at each call.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> get_encoding("gpt2").merges[0]
    /// (b' ', b't')
    #[getter]
    fn merges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        Ok(self.model.bind(py).call_method0("merges")?.cast_into()?)
    }

    /// The greatest id plus one.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> get_encoding("cl100k_base").vocab_size
    /// 100277
    #[getter]
    fn vocab_size(&self) -> u64 {
        self.core.vocab_size()
    }

    /// The regular expression (or sequence of them) that cuts text into pieces; `None` for none.
    #[getter]
    fn _pattern(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        convert::pattern_to_python(py, self.core.pretokenizer().pattern())
    }

    /// The name it was given, or `None`.
    #[getter]
    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The vocab with its merges.
    #[getter]
    fn _model(&self, py: Python<'_>) -> Py<Model> {
        self.model.clone_ref(py)
    }

    /// All that the ids depend on, as bytes: equal for equal tokenizers, in every version.
    fn _canonical<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.core.canonical())
    }

    fn _equal(&self, other: &Bound<'_, Tokenizer>) -> bool {
        *self.core == *other.get().core
    }
}
