//! The tokenizer class that `bytepair.Tokenizer` extends.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytepair::special::{Choice, Flags, SpecialTokens};
use bytepair::tokenizer;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

use crate::convert::{self, Special, Surrogates, choice};
use crate::error::{OrRaise, raise};
use crate::idsin;
use crate::model::Model;
use crate::stream::EncodeIterator;

/// Whether a token takes white space before it, behind it, and is a word of its own.
type WordFlags = (bool, bool, bool);

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
        // What is asked for most often takes no policy of its own: each costs an automaton.
        let all = |value: &Bound<'_, PyAny>| {
            value.cast::<PyString>().is_ok_and(|text| text.to_str().is_ok_and(|text| text == "all"))
        };
        let none = |value: &Bound<'_, PyAny>| {
            !value.is_instance_of::<PyString>() && value.len().is_ok_and(|len| len == 0)
        };
        match (allowed, disallowed) {
            (None, None) => return Ok(Special::Everything),
            (Some(value), None) if none(value) => return Ok(Special::Plain),
            (Some(value), Some(other)) if none(value) && none(other) => return Ok(Special::Plain),
            (Some(value), Some(other)) if none(value) && all(other) => return Ok(Special::Strict),
            (Some(value), None) if all(value) => return Ok(Special::Everything),
            (Some(value), Some(other)) if all(value) && none(other) => {
                return Ok(Special::Everything);
            }
            _ => {}
        }
        let allowed = allowed.map_or(Ok(Choice::All), |value| choice("allowed_special", value))?;
        let disallowed = disallowed
            .map_or(Ok(Choice::These(Vec::new())), |value| choice("disallowed_special", value))?;
        self.core.policy(&allowed, &disallowed).or_raise(py).map(Special::Policy)
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
}

#[pymethods]
impl Tokenizer {
    #[new]
    #[pyo3(signature = (model, special_tokens, pattern, name = None, aliases = None, added = None, normalizer = None, drops_space = false, flags = None))]
    #[expect(clippy::too_many_arguments, reason = "the parts of a tokenizer, once")]
    fn new(
        py: Python<'_>,
        model: Py<Model>,
        special_tokens: BTreeMap<String, u32>,
        pattern: Option<&Bound<'_, PyAny>>,
        name: Option<String>,
        aliases: Option<BTreeMap<String, u32>>,
        added: Option<BTreeMap<String, u32>>,
        normalizer: Option<&Bound<'_, PyAny>>,
        drops_space: bool,
        flags: Option<BTreeMap<String, WordFlags>>,
    ) -> PyResult<Self> {
        let pattern = convert::pattern(pattern)?;
        let normalizer = convert::normalizer(normalizer)?;
        let flags = flags.unwrap_or_default().into_iter();
        let special = SpecialTokens::new(special_tokens, aliases.unwrap_or_default())
            .and_then(|special| special.with_added(added.unwrap_or_default()))
            .and_then(|special| {
                let flags =
                    flags.map(|(name, (left, right, word))| (name, Flags { left, right, word }));
                special.with_flags(flags)
            })
            .or_raise(py)?;
        let core = tokenizer::Tokenizer::new(Arc::clone(&model.get().0), special, &pattern)
            .or_raise(py)?
            .with_normalizer(normalizer)
            .with_dropped_space(drops_space);
        Ok(Self { core: Arc::new(core), model, name })
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

    /// The bytes of token `id`. Raises `UnknownTokenError`.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> get_encoding("gpt2").token_bytes(995)
    /// b' world'
    fn token_bytes<'py>(&self, id: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let py = id.py();
        let mut bytes = Vec::new();
        let id = idsin::single(id)?;
        let done = self.core.decode_part(&[id], &mut bytes);
        done.map_err(|_| idsin::unknown(py, id, self.core.vocab_size()))?;
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
            Err(_) => token.extract::<&[u8]>().map_err(|_| convert::not_text("token", token))?,
        };
        self.core.token_id(bytes).ok_or_else(|| {
            let message = format!(
                "no token is {}; encode it to see the tokens it is made of",
                bytepair::vocab::show(bytes)
            );
            raise(token.py(), "UnknownTokenError", message)
        })
    }

    /// Whether `id` is a special token's. Raises `UnknownTokenError`.
    ///
    /// >>> from bytepair import get_encoding
    /// >>> get_encoding("gpt2").is_special(50256)
    /// True
    fn is_special(&self, id: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = id.py();
        let id = idsin::single(id)?;
        let done = self.core.decode(&[id], &mut Vec::new());
        done.map_err(|_| idsin::unknown(py, id, self.core.vocab_size()))?;
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

    /// The normalizer; whether decoding drops a space; the flags of special and added tokens.
    #[getter]
    fn _around(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, bool, BTreeMap<&str, WordFlags>)> {
        let flags = self.core.special().flags();
        let flags = flags.map(|(name, flags)| (name, (flags.left, flags.right, flags.word)));
        let normalizer = convert::normalizer_to_python(py, self.core.normalizer())?;
        Ok((normalizer, self.core.drops_space(), flags.collect()))
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
