//! Runs the behaviour suite (`spec/` at the root of the repository) against the core.
//!
//! `tests/test_spec.py` runs the same entries against the Python package and its reference. What an
//! entry may hold is in `spec/README.md`.

#![expect(clippy::unwrap_used, reason = "a test may fail there")]

mod applications;
mod sha256;
mod suite;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use bytepair::bundle;
use bytepair::merge::Model;
use bytepair::merge::heap::Heap;
use bytepair::pretokenize::{Pattern, Pretokenizer};
use bytepair::special::{Choice, Policy, SpecialTokens};
use bytepair::stream::StreamEncoder;
use bytepair::tokenizer::Tokenizer;
use bytepair::train::{
    Counter, LearnOptions, NoWatch, PieceCounts, SpecialCutter, TieBreak, learn, learn_naive,
};
use bytepair::vocab::Vocab;
use bytepair::{Error, Result};
use serde::Deserialize;
use suite::{Bytes, Ids, PatternText, Special, Text, pattern_or_gpt2};

// ── What tokenizers are made of ─────────────────────────────────────────────────────────────────

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EncodingCase {
    name: String,
    table: String,
    pattern: PatternText,
    vocab_size: u64,
    special_tokens: BTreeMap<String, u32>,
    reserved: Option<(u32, u32)>,
    #[serde(default)]
    aliases: BTreeMap<String, u32>,
}

/// The bundled encodings by name.
static ENCODINGS: LazyLock<BTreeMap<String, Arc<Tokenizer>>> = LazyLock::new(|| {
    let mut models: BTreeMap<String, Arc<Model>> = BTreeMap::new();
    let cases = suite::file::<EncodingCase>("encodings.toml").cases;
    let build = |case: EncodingCase| {
        let model = models
            .entry(case.table.clone())
            .or_insert_with(|| Arc::new(bundle::unpack(&suite::table(&case.table)).unwrap()));
        let mut special = case.special_tokens;
        if let Some((first, last)) = case.reserved {
            let named: Vec<u32> = special.values().copied().collect();
            let free = (first..=last).filter(|id| !named.contains(id));
            special.extend(free.map(|id| (format!("<|reserved_{id}|>"), id)));
        }
        let special = SpecialTokens::new(special, case.aliases).unwrap();
        let tokenizer = Tokenizer::new(Arc::clone(model), special, &case.pattern.get()).unwrap();
        assert_eq!(tokenizer.vocab_size(), case.vocab_size, "{}", case.name);
        (case.name, Arc::new(tokenizer))
    };
    cases.into_iter().map(build).collect()
});

fn single_bytes() -> Vocab {
    Vocab::new((0..=u8::MAX).map(|byte| (u32::from(byte), [byte]))).unwrap()
}

/// The tokenizer of an entry: a bundled encoding, or single bytes with special tokens.
fn base(
    encoding: Option<&String>,
    special: Option<&Special>,
    pattern: Option<&PatternText>,
) -> Result<Arc<Tokenizer>> {
    if let Some(name) = encoding {
        return Ok(Arc::clone(&ENCODINGS[name]));
    }
    let model = Model::from_merges(single_bytes(), Vec::new(), false)?;
    let special = SpecialTokens::new(special.map(Special::ids).unwrap_or_default(), [])?;
    Ok(Arc::new(Tokenizer::new(Arc::new(model), special, &pattern_or_gpt2(pattern))?))
}

fn vocab_of(tokens: &[Bytes]) -> Vocab {
    Vocab::new((0u32..).zip(tokens.iter().map(Bytes::get))).unwrap()
}

/// Merges as ids; `None` when a part is in no token, which is found before the core is asked.
fn merge_ids(vocab: &Vocab, merges: &[(Bytes, Bytes)]) -> Option<Vec<(u32, u32)>> {
    merges.iter().map(|(left, right)| vocab.id(&left.get()).zip(vocab.id(&right.get()))).collect()
}

fn encode(tokenizer: &Tokenizer, text: &str, policy: &Policy) -> Result<Vec<u32>> {
    let mut ids = Vec::new();
    tokenizer.encode(text, policy, &mut ids)?;
    Ok(ids)
}

fn decode(tokenizer: &Tokenizer, ids: &[u32]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    tokenizer.decode(ids, &mut bytes)?;
    Ok(bytes)
}

// ── Runners ─────────────────────────────────────────────────────────────────────────────────────

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PretokenizeCase {
    name: String,
    #[serde(rename = "source")]
    _source: Option<String>,
    pattern: Option<PatternText>,
    text: Text,
    pieces: Vec<Text>,
}

#[test]
fn pretokenize() {
    for (file, cases) in suite::folder::<PretokenizeCase>("pretokenize") {
        for case in cases.cases {
            let pattern = case.pattern.as_ref().or(cases.pattern.as_ref()).unwrap().get();
            let (text, name) = (case.text.get(), format!("{file}: {}", case.name));
            let expected: Vec<String> = case.pieces.iter().map(Text::get).collect();
            let pieces = Pretokenizer::new(&pattern).unwrap().pieces(&text).unwrap();
            let beginning = || format!("{pieces:?}").chars().take(2_000).collect::<String>();
            assert!(pieces == expected, "{name}: {}", beginning());
            // A regular expression may give up on a long run; the scanners may not.
            if text.len() < 10_000 {
                let general = Pretokenizer::general(&pattern).unwrap();
                assert_eq!(general.pieces(&text).unwrap(), expected, "general, {name}");
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MergeCase {
    name: String,
    #[serde(rename = "source")]
    _source: Option<String>,
    vocab: Vec<Bytes>,
    merges: Vec<(Bytes, Bytes)>,
    piece: Bytes,
    pairs: Option<Ids>,
    ignore_merges: Option<Ids>,
    ranks: Option<Ids>,
}

#[test]
fn merge() {
    for case in suite::file::<MergeCase>("merge.toml").cases {
        let piece = case.piece.get();
        let by_pairs = |whole| {
            let vocab = vocab_of(&case.vocab);
            let merges = merge_ids(&vocab, &case.merges).unwrap();
            Model::from_merges(vocab, merges, whole).unwrap()
        };
        let by_ranks = || Model::from_ranks(vocab_of(&case.vocab)).unwrap();
        let rules: [(&Option<Ids>, &dyn Fn() -> Model); 3] = [
            (&case.pairs, &|| by_pairs(false)),
            (&case.ignore_merges, &|| by_pairs(true)),
            (&case.ranks, &by_ranks),
        ];
        for (expected, model) in rules {
            if let Some(expected) = expected {
                let mut ids = Vec::new();
                model().merge(&piece, &mut Heap::new(), &mut ids).unwrap();
                expected.check(&ids, &case.name);
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TrainCase {
    name: String,
    #[serde(rename = "source")]
    _source: Option<String>,
    #[serde(default)]
    corpus: Vec<Text>,
    #[serde(default)]
    counts: Vec<(Bytes, u64)>,
    pattern: Option<PatternText>,
    #[serde(default)]
    special_tokens: Vec<String>,
    vocab_size: usize,
    min_count: Option<u64>,
    max_token_bytes: Option<usize>,
    size: Option<usize>,
    merges: BTreeMap<String, Vec<(Bytes, Bytes)>>,
}

impl TrainCase {
    fn counts(&self, threads: usize) -> PieceCounts {
        let pretokenizer = Pretokenizer::new(&pattern_or_gpt2(self.pattern.as_ref())).unwrap();
        let special = SpecialCutter::new(&self.special_tokens).unwrap();
        let texts: Vec<String> = self.corpus.iter().map(Text::get).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        // Blocks of a few bytes: where a text is cut for threads must not show.
        let mut counter =
            Counter::new(&pretokenizer, &special, threads).with_block_sizes(4 * threads, threads);
        counter.feed(&texts, &NoWatch).unwrap();
        let mut counts = counter.finish().unwrap();
        for (piece, count) in &self.counts {
            counts.add(&piece.get(), *count).unwrap();
        }
        counts
    }
}

#[test]
fn train() {
    for case in suite::file::<TrainCase>("train.toml").cases {
        for (rule, expected) in &case.merges {
            let options = LearnOptions {
                merges: case.vocab_size - 256 - case.special_tokens.len(),
                tie_break: match rule.as_str() {
                    "lexicographic" => TieBreak::Lexicographic,
                    "lowest_ids" => TieBreak::LowestIds,
                    "huggingface" => TieBreak::HuggingFace,
                    other => panic!("{}: no rule is {other}", case.name),
                },
                min_count: case.min_count.unwrap_or(1),
                max_token_bytes: case.max_token_bytes,
            };
            let expected: Vec<_> = expected.iter().map(|(l, r)| (l.get(), r.get())).collect();
            for threads in [1, 3] {
                let counts = case.counts(threads);
                let learned = learn(&counts, &options, &NoWatch).unwrap();
                assert_eq!(learned, learn_naive(&counts, &options, &NoWatch).unwrap());
                let tokens = learned.tokens();
                let bytes = |id: u32| tokens[id as usize].clone();
                let merges: Vec<_> =
                    learned.merges.iter().map(|&(l, r)| (bytes(l), bytes(r))).collect();
                assert_eq!(merges, expected, "{}, {rule}", case.name);
            }
            let size = 256 + case.special_tokens.len() + expected.len();
            assert_eq!(size, case.size.unwrap_or(case.vocab_size), "{}", case.name);
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EncodeCase {
    name: String,
    #[serde(rename = "source")]
    _source: Option<String>,
    text: Text,
    ids: BTreeMap<String, Ids>,
}

#[test]
fn encode_plain_text() {
    let plain = Policy::ordinary();
    for (file, cases) in suite::folder::<EncodeCase>("encode") {
        for case in cases.cases {
            let (text, name) = (case.text.get(), format!("{file}: {}", case.name));
            for (encoding, expected) in &case.ids {
                let tokenizer = &ENCODINGS[encoding];
                let ids = encode(tokenizer, &text, &plain).unwrap();
                expected.check(&ids, &format!("{name}, {encoding}"));
                assert_eq!(tokenizer.count(&text, &plain, None).unwrap(), ids.len(), "{name}");
                assert!(decode(tokenizer, &ids).unwrap() == text.as_bytes(), "{name}");
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SpecialCase {
    name: String,
    #[serde(rename = "source")]
    _source: Option<String>,
    encoding: Option<String>,
    special_tokens: Option<Special>,
    pattern: Option<PatternText>,
    text: String,
    allowed_special: Option<suite::Choice>,
    disallowed_special: Option<suite::Choice>,
    ids: Option<Vec<u32>>,
    error: Option<String>,
    #[serde(default)]
    says: Vec<String>,
}

#[test]
fn special() {
    for case in suite::file::<SpecialCase>("special.toml").cases {
        let tokenizer =
            base(case.encoding.as_ref(), case.special_tokens.as_ref(), case.pattern.as_ref())
                .unwrap();
        let allowed = case.allowed_special.map_or(Choice::All, |choice| choice.get());
        let disallowed =
            case.disallowed_special.map_or(Choice::These(Vec::new()), |choice| choice.get());
        let policy = tokenizer.policy(&allowed, &disallowed).unwrap();
        let result = encode(&tokenizer, &case.text, &policy);
        match (case.ids, case.error) {
            (Some(ids), None) => assert_eq!(result.unwrap(), ids, "{}", case.name),
            (None, Some(class)) => assert_fails(&case.name, result, &class, &case.says),
            _ => panic!("{}: either ids or an error", case.name),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StreamCase {
    name: String,
    #[serde(rename = "source")]
    _source: Option<String>,
    encoding: Option<String>,
    special_tokens: Option<Special>,
    pattern: Option<PatternText>,
    text: String,
    chunkings: Vec<Vec<String>>,
    ids: Vec<u32>,
}

#[test]
fn stream() {
    for case in suite::file::<StreamCase>("stream.toml").cases {
        let tokenizer =
            base(case.encoding.as_ref(), case.special_tokens.as_ref(), case.pattern.as_ref())
                .unwrap();
        let everything = tokenizer.everything().clone();
        assert_eq!(encode(&tokenizer, &case.text, &everything).unwrap(), case.ids, "{}", case.name);
        let borders = || case.text.char_indices().map(|(at, _)| at);
        let one_by_one = case.text.chars().map(String::from).collect();
        let cut_in_two = borders().map(|at| {
            let (head, tail) = case.text.split_at(at);
            vec![head.to_owned(), tail.to_owned()]
        });
        // One encoder for all: a text that has ended must leave nothing behind.
        let mut encoder = StreamEncoder::new(Arc::clone(&tokenizer), everything);
        for chunks in case.chunkings.iter().cloned().chain([one_by_one]).chain(cut_in_two) {
            assert_eq!(chunks.concat(), case.text, "{}", case.name);
            let mut ids = Vec::new();
            for chunk in &chunks {
                ids.extend_from_slice(encoder.feed(chunk).unwrap());
            }
            ids.extend_from_slice(encoder.finish().unwrap());
            assert_eq!(ids, case.ids, "{}, {chunks:?}", case.name);
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DecodeCase {
    name: String,
    #[serde(rename = "source")]
    _source: Option<String>,
    encoding: Option<String>,
    ids: Option<Vec<u32>>,
    bytes: Option<Bytes>,
    text: String,
    #[serde(default = "yes")]
    strict: bool,
}

fn yes() -> bool {
    true
}

#[test]
fn decode_ids() {
    for case in suite::file::<DecodeCase>("decode.toml").cases {
        let tokenizer = base(case.encoding.as_ref(), None, None).unwrap();
        let of_bytes = |bytes: &Bytes| bytes.get().into_iter().map(u32::from).collect();
        let ids = case.ids.unwrap_or_else(|| case.bytes.as_ref().map(of_bytes).unwrap());
        let bytes = decode(&tokenizer, &ids).unwrap();
        assert_eq!(String::from_utf8_lossy(&bytes), case.text, "{}", case.name);
        assert_eq!(std::str::from_utf8(&bytes).is_ok(), case.strict, "{}", case.name);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorCase {
    name: String,
    #[serde(rename = "source")]
    _source: Option<String>,
    #[serde(rename = "do")]
    what: String,
    encoding: Option<String>,
    vocab: Option<Vec<Bytes>>,
    #[serde(default)]
    merges: Vec<(Bytes, Bytes)>,
    special_tokens: Option<Special>,
    pattern: Option<PatternText>,
    text: Option<String>,
    ids: Option<Vec<i64>>,
    #[serde(rename = "corpus")]
    _corpus: Option<Vec<Text>>,
    vocab_size: Option<i64>,
    error: String,
    says: Vec<String>,
}

impl ErrorCase {
    fn tokenizer(&self) -> Result<Arc<Tokenizer>> {
        let Some(tokens) = &self.vocab else {
            let special = self.special_tokens.as_ref();
            return base(self.encoding.as_ref(), special, self.pattern.as_ref());
        };
        let vocab = vocab_of(tokens);
        let merges = merge_ids(&vocab, &self.merges).unwrap();
        let model = Model::from_merges(vocab, merges, false)?;
        let special = SpecialTokens::new([], [])?;
        Ok(Arc::new(Tokenizer::new(Arc::new(model), special, &Pattern::None)?))
    }

    /// Does what must fail; `None` where the failure is found before the core is asked.
    fn run(&self) -> Option<Result<()>> {
        Some(match self.what.as_str() {
            "build" => {
                if let Some(tokens) = &self.vocab {
                    merge_ids(&vocab_of(tokens), &self.merges)?;
                }
                self.tokenizer().map(drop)
            }
            "encode" => {
                let tokenizer = self.tokenizer().unwrap();
                encode(&tokenizer, self.text.as_ref()?, tokenizer.everything()).map(drop)
            }
            "decode" => {
                let ids = self.ids.as_ref()?;
                let ids: Vec<u32> =
                    ids.iter().map(|&id| u32::try_from(id).ok()).collect::<Option<_>>()?;
                decode(&self.tokenizer().unwrap(), &ids).map(drop)
            }
            "train" => match self.special_tokens.as_ref()? {
                Special::Names(names) if self.vocab_size > Some(257) => {
                    SpecialCutter::new(names).map(drop)
                }
                _ => return None,
            },
            other => panic!("{}: cannot do {other}", self.name),
        })
    }
}

#[test]
fn errors() {
    let mut run = 0;
    for case in suite::file::<ErrorCase>("errors.toml").cases {
        if let Some(result) = case.run() {
            assert_fails(&case.name, result, &case.error, &case.says);
            run += 1;
        }
    }
    assert!(run >= 10, "only {run} entries were run");
}

/// The failure that the Python class `class` stands for, and that it says what it must.
#[track_caller]
fn assert_fails<T>(name: &str, result: Result<T>, class: &str, says: &[String]) {
    let Err(error) = result else { panic!("{name}: did not fail") };
    let fits = match class {
        "VocabError" => matches!(error, Error::Vocab(_) | Error::UnknownByte { .. }),
        "UnknownTokenError" => matches!(error, Error::UnknownToken { .. }),
        "ValueError" => !matches!(error, Error::Io { .. } | Error::Interrupted),
        other => panic!("{name}: no error is {other}"),
    };
    assert!(fits, "{name}: {error:?} is no {class}");
    let message = error.to_string();
    for part in says {
        assert!(message.contains(part.as_str()), "{name}: no {part:?} in {message:?}");
    }
}
