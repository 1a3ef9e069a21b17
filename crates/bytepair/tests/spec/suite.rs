//! Reading the suite: the values that its entries are made of.
//!
//! In: the TOML files of `spec/` at the root of the repository. Out: entries, typed by the file they
//! are in. A key that is not in the schema is an error, so that no entry says more than is checked.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use bytepair::pretokenize::Pattern;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::sha256;

/// One file: its entries, and the pattern that it may give to all of them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File<Case> {
    pub(crate) pattern: Option<PatternText>,
    #[serde(rename = "case", default = "Vec::new")]
    pub(crate) cases: Vec<Case>,
}

/// A text: written down, or a repetition.
#[derive(Deserialize, Clone)]
#[serde(untagged, deny_unknown_fields)]
pub(crate) enum Text {
    Plain(String),
    Run {
        #[serde(default)]
        prefix: String,
        repeat: String,
        times: usize,
        #[serde(default)]
        suffix: String,
    },
}

impl Text {
    pub(crate) fn get(&self) -> String {
        match self {
            Text::Plain(text) => text.clone(),
            Text::Run { prefix, repeat, times, suffix } => {
                [prefix, &repeat.repeat(*times), suffix].map(String::as_str).concat()
            }
        }
    }
}

/// Bytes: of a text, or in hexadecimal.
#[derive(Deserialize, Clone)]
#[serde(untagged)]
pub(crate) enum Bytes {
    Hex(Hex),
    Text(Text),
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hex {
    hex: String,
}

impl Bytes {
    pub(crate) fn get(&self) -> Vec<u8> {
        match self {
            Bytes::Text(text) => text.get().into_bytes(),
            Bytes::Hex(Hex { hex }) => {
                assert!(hex.len().is_multiple_of(2), "half a byte in {hex:?}");
                let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
                (0..hex.len()).step_by(2).map(byte).collect()
            }
        }
    }
}

/// Ids: listed, or their number and SHA-256 as little-endian u32.
#[derive(Deserialize, Clone)]
#[serde(untagged, deny_unknown_fields)]
pub(crate) enum Ids {
    List(Vec<u32>),
    Sum { count: usize, sha256: String },
}

impl Ids {
    #[track_caller]
    pub(crate) fn check(&self, ids: &[u32], name: &str) {
        match self {
            Ids::List(list) => assert_eq!(ids, list, "{name}"),
            Ids::Sum { count, sha256 } => {
                assert_eq!(ids.len(), *count, "{name}");
                let bytes: Vec<u8> = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
                assert_eq!(&sha256::hex(&bytes), sha256, "{name}");
            }
        }
    }
}

/// A pattern: a name or a regular expression, several of them, or `false`.
#[derive(Deserialize, Clone)]
#[serde(untagged)]
pub(crate) enum PatternText {
    None(bool),
    One(String),
    Many(Vec<String>),
}

impl PatternText {
    pub(crate) fn get(&self) -> Pattern {
        match self {
            PatternText::None(given) => {
                assert!(!given, "a pattern is a string, a list of them, or false");
                Pattern::None
            }
            PatternText::One(text) => {
                Pattern::named(text).unwrap_or_else(|| Pattern::Regex(text.clone()))
            }
            PatternText::Many(texts) => Pattern::Sequence(texts.clone()),
        }
    }
}

/// The pattern of an entry: its own, else gpt2.
pub(crate) fn pattern_or_gpt2(pattern: Option<&PatternText>) -> Pattern {
    pattern.map_or_else(|| Pattern::named("gpt2").unwrap(), PatternText::get)
}

/// Special tokens with their ids, or without, and then from 256 on.
#[derive(Deserialize, Clone)]
#[serde(untagged)]
pub(crate) enum Special {
    Names(Vec<String>),
    Ids(BTreeMap<String, u32>),
}

impl Special {
    pub(crate) fn ids(&self) -> BTreeMap<String, u32> {
        match self {
            Special::Names(names) => names.iter().cloned().zip(256..).collect(),
            Special::Ids(ids) => ids.clone(),
        }
    }
}

/// What may be special tokens: all, or these.
#[derive(Deserialize, Clone)]
#[serde(untagged)]
pub(crate) enum Choice {
    All(String),
    These(Vec<String>),
}

impl Choice {
    pub(crate) fn get(&self) -> bytepair::special::Choice {
        match self {
            Choice::All(all) => {
                assert_eq!(all, "all");
                bytepair::special::Choice::All
            }
            Choice::These(these) => bytepair::special::Choice::These(these.clone()),
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The packed rank table of a bundled encoding.
pub(crate) fn table(name: &str) -> Vec<u8> {
    let path = root().join("python/bytepair/data").join(name).with_extension("bpranks");
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The entries of one file of the suite.
pub(crate) fn file<Case: DeserializeOwned>(name: &str) -> File<Case> {
    let path = root().join("spec").join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let file: File<Case> =
        toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(!file.cases.is_empty(), "{name} is empty");
    file
}

/// The files of one folder of the suite, each with its name.
pub(crate) fn folder<Case: DeserializeOwned>(name: &str) -> Vec<(String, File<Case>)> {
    let mut names: Vec<String> = fs::read_dir(root().join("spec").join(name))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|file| Path::new(file).extension().is_some_and(|extension| extension == "toml"))
        .collect();
    names.sort();
    assert!(!names.is_empty(), "no files in {name}");
    names.into_iter().map(|f| (format!("{name}/{f}"), file(&format!("{name}/{f}")))).collect()
}
