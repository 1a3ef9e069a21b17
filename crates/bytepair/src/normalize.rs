//! Normalizers: rewriting text before it is cut into pieces.
//!
//! In: a span (text without special tokens). Out: the span as the vocabulary was trained to see it.
//! Decoding gives the rewritten text. A normalizer is a list of steps, each of them what Hugging
//! Face's tokenizers do under that name. Most text is in NFC already and has nothing to replace, and
//! is then not copied; finding that out costs a look at each byte. Each step can be stopped.
//!
//! The tables are those of Unicode 9, by the crate that Hugging Face's tokenizers uses: the ids must be
//! the same, and later versions gave some characters another place in the order of marks.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use fancy_regex::Regex;
use unicode_normalization_alignments::char::canonical_combining_class;
use unicode_normalization_alignments::{
    IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfkc_quick,
};

use crate::charsmap::CharsMap;
use crate::compose::{self, collect};
use crate::error::{Error, Result};
use crate::replace::Matches;
use crate::watched::Ear;

/// One thing that is done to a span.
#[derive(Debug, Clone)]
pub enum Step {
    /// Unicode normalization form C: characters composed where they can be (Qwen).
    Nfc,
    /// Unicode normalization form D: characters taken apart.
    Nfd,
    /// Form C, and variants of a character become that character.
    Nfkc,
    /// Form D, and variants of a character become that character.
    Nfkd,
    /// Each character in lower case by itself, as Unicode's table has it.
    Lowercase,
    /// White space at the beginning and at the end is taken away.
    Strip {
        /// Whether at the beginning.
        left: bool,
        /// Whether at the end.
        right: bool,
    },
    /// Each occurrence of a text becomes another.
    Replace(String, String),
    /// Each match of a regular expression becomes a text.
    ReplaceRegex(Box<Regex>, String),
    /// A text is put in front.
    Prepend(String),
    /// A text is put in front unless the span begins with it.
    Prefix {
        /// The text.
        text: String,
        /// Whether only of the span at the beginning of the whole text.
        first: bool,
    },
    /// The texts of a character map become others (`SentencePiece`).
    CharsMap(Arc<CharsMap>),
}

/// What is done to a span: steps, one after the other. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Normalizer {
    steps: Arc<[Step]>,
    /// Whether a character's result depends on its neighbours at most as Unicode's forms do.
    local: bool,
    /// Whether text that is not rewritten as a whole is not rewritten in parts.
    closed: bool,
}

/// Where a span, or a part of it, stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Whether the part begins where the span does.
    pub span: bool,
    /// Whether the part begins where the whole text does.
    pub text: bool,
}

impl Place {
    /// The beginning of a text.
    pub const FIRST: Self = Self { span: true, text: true };
    /// The beginning of a span behind a special token.
    pub const LATER: Self = Self { span: true, text: false };
    /// Inside a span.
    pub const INSIDE: Self = Self { span: false, text: false };
}

impl Step {
    /// The step that `words` say: its name, then what it needs, all text.
    ///
    /// # Errors
    /// [`Error::Value`] for an unknown step; [`Error::Pattern`] for a regular expression that cannot
    /// be used.
    pub fn parse(words: &[String]) -> Result<Self> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        Ok(match words[..] {
            ["NFC"] => Self::Nfc,
            ["NFD"] => Self::Nfd,
            ["NFKC"] => Self::Nfkc,
            ["NFKD"] => Self::Nfkd,
            ["Lowercase"] => Self::Lowercase,
            ["Strip"] => Self::Strip { left: true, right: true },
            ["StripLeft"] => Self::Strip { left: true, right: false },
            ["StripRight"] => Self::Strip { left: false, right: true },
            ["Replace", from, to] if !from.is_empty() => Self::Replace(from.into(), to.into()),
            ["ReplaceRegex", from, to] => {
                let regex = Regex::new(from).map_err(|error| {
                    Error::Pattern(format!("the normalizer's {from:?} cannot be used: {error}"))
                })?;
                Self::ReplaceRegex(Box::new(regex), to.into())
            }
            ["Prepend", text] => Self::Prepend(text.into()),
            ["Prefix", text] => Self::Prefix { text: text.into(), first: false },
            ["PrefixFirst", text] => Self::Prefix { text: text.into(), first: true },
            ["CharsMap", ref more @ ..] => {
                let more = more.iter().map(|&word| word.to_owned()).collect();
                Self::CharsMap(Arc::new(CharsMap::new(more)?))
            }
            _ => {
                return Err(Error::Value(format!(
                    "unknown normalizer {:?}; the steps are NFC, NFD, NFKC, NFKD, Lowercase, Strip, \
                     StripLeft, StripRight, Replace, ReplaceRegex, Prepend, Prefix, PrefixFirst and \
                     CharsMap",
                    words.join(" ")
                )));
            }
        })
    }

    /// What [`Step::parse`] makes this step of.
    pub fn words(&self) -> Vec<&str> {
        match self {
            Self::Nfc => vec!["NFC"],
            Self::Nfd => vec!["NFD"],
            Self::Nfkc => vec!["NFKC"],
            Self::Nfkd => vec!["NFKD"],
            Self::Lowercase => vec!["Lowercase"],
            Self::Strip { left: true, right: true } => vec!["Strip"],
            Self::Strip { left: true, .. } => vec!["StripLeft"],
            Self::Strip { .. } => vec!["StripRight"],
            Self::Replace(from, to) => vec!["Replace", from, to],
            Self::ReplaceRegex(regex, to) => vec!["ReplaceRegex", regex.as_str(), to],
            Self::Prepend(text) => vec!["Prepend", text],
            Self::Prefix { text, first: false } => vec!["Prefix", text],
            Self::Prefix { text, first: true } => vec!["PrefixFirst", text],
            Self::CharsMap(map) => std::iter::once("CharsMap").chain(map.words()).collect(),
        }
    }

    fn is_local(&self) -> bool {
        match self {
            Self::Strip { .. } | Self::ReplaceRegex(..) | Self::CharsMap(_) => false,
            // What becomes nothing may leave nothing for a prefix to be put before.
            Self::Replace(from, to) => from.chars().nth(1).is_none() && !to.is_empty(),
            _ => true,
        }
    }

    fn is_closed(&self) -> bool {
        !matches!(
            self,
            Self::Strip { .. }
                | Self::ReplaceRegex(..)
                | Self::Prepend(_)
                | Self::Prefix { .. }
                | Self::CharsMap(_)
        )
    }

    fn leaves_ascii(&self) -> bool {
        match self {
            Self::Nfc | Self::Nfd | Self::Nfkc | Self::Nfkd => true,
            Self::Replace(from, _) => !from.is_ascii() && self.is_local(),
            _ => false,
        }
    }

    /// Nothing where nothing changes.
    fn apply(&self, span: &str, place: Place, ear: &Ear<'_>) -> Result<Option<String>> {
        let changed = |text: String| (text != span).then_some(text);
        let with_prefix = |text: &str| (!span.is_empty()).then(|| [text, span].concat());
        Ok(match self {
            Self::Nfc => compose::nfc(span, ear),
            _ if span.is_empty() => None,
            Self::Nfd | Self::Nfkc | Self::Nfkd if span.is_ascii() => None,
            Self::Nfd => changed(collect(ear.until(span.chars()).nfd(), ear)),
            Self::Nfkc => changed(collect(ear.until(span.chars()).nfkc(), ear)),
            Self::Nfkd => changed(collect(ear.until(span.chars()).nfkd(), ear)),
            Self::Lowercase => {
                changed(ear.until(span.chars()).flat_map(char::to_lowercase).collect())
            }
            Self::Strip { left, right } => {
                let text = if *left { span.trim_start() } else { span };
                let text = if *right { text.trim_end() } else { text };
                (text.len() < span.len()).then(|| text.to_owned())
            }
            Self::Replace(from, to) => {
                let found = span.match_indices(from).map(|(at, _)| Ok(at..at + from.len()));
                replace(ear.until(found), span, to)?
            }
            Self::ReplaceRegex(regex, to) => replace(Matches::new(regex, span, ear), span, to)?,
            Self::Prepend(text) if place.span => with_prefix(text),
            Self::Prefix { text, first }
                if place.span && (place.text || !first) && !span.starts_with(text) =>
            {
                with_prefix(text)
            }
            Self::Prepend(_) | Self::Prefix { .. } => None,
            Self::CharsMap(map) => map.apply(span, ear)?,
        })
    }
}

/// What is found in `span` becomes `to`.
fn replace(
    found: impl Iterator<Item = Result<Range<usize>>>,
    span: &str,
    to: &str,
) -> Result<Option<String>> {
    let mut text = String::new();
    let mut from = 0;
    for found in found {
        let found = found?;
        text.push_str(&span[from..found.start]);
        text.push_str(to);
        from = found.end;
    }
    if from == 0 && text.is_empty() {
        return Ok(None);
    }
    text.push_str(&span[from..]);
    Ok((text != span).then_some(text))
}

impl Normalizer {
    /// A normalizer of these steps; none is one that changes nothing.
    pub fn new(steps: Vec<Step>) -> Self {
        let local = steps.iter().all(Step::is_local);
        let closed = steps.iter().all(Step::is_closed);
        Self { steps: steps.into(), local, closed }
    }

    /// Unicode normalization form C.
    pub fn nfc() -> Self {
        Self::new(vec![Step::Nfc])
    }

    /// Its steps.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The span, or a part that begins at `place`, rewritten; borrowed where nothing changes.
    ///
    /// ```
    /// use bytepair::normalize::{Normalizer, Place};
    /// assert_eq!(Normalizer::nfc().apply("cafe\u{301}", Place::FIRST)?, "caf\u{e9}");
    /// # Ok::<(), bytepair::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Pattern`] when a regular expression gives up.
    pub fn apply<'t>(&self, span: &'t str, place: Place) -> Result<Cow<'t, str>> {
        self.apply_until(span, place, &|| false)
    }

    /// [`Normalizer::apply`], given up once `stops` says so.
    ///
    /// # Errors
    /// As [`Normalizer::apply`], and [`Error::Interrupted`].
    pub fn apply_until<'t>(
        &self,
        span: &'t str,
        place: Place,
        stops: &dyn Fn() -> bool,
    ) -> Result<Cow<'t, str>> {
        self.heard(span, place, &Ear::new(stops))
    }

    fn heard<'t>(&self, span: &'t str, place: Place, ear: &Ear<'_>) -> Result<Cow<'t, str>> {
        let mut text = Cow::Borrowed(span);
        for step in &*self.steps {
            let changed = step.apply(&text, place, ear)?;
            ear.result()?;
            if let Some(changed) = changed {
                text = Cow::Owned(changed);
            }
        }
        Ok(text)
    }

    /// Whether no part of `text` would be rewritten, as far as that is certain.
    ///
    /// # Errors
    /// [`Error::Interrupted`] when `stops` says so.
    pub fn leaves(&self, text: &str, stops: &dyn Fn() -> bool) -> Result<bool> {
        if !self.closed {
            return Ok(false);
        }
        match self.apply_until(text, Place::FIRST, stops) {
            Err(Error::Interrupted) => Err(Error::Interrupted),
            normal => Ok(normal.is_ok_and(|normal| normal == text)),
        }
    }

    /// Whether two ASCII characters side by side stay what they are, and the text can be cut between
    /// them: each part then becomes what it becomes in the whole.
    pub fn leaves_ascii(&self) -> bool {
        self.steps.iter().all(Step::leaves_ascii)
    }

    /// The end of the longest part of `span` that is rewritten alike whatever text follows `span`.
    pub fn settled(&self, span: &str) -> usize {
        if !self.local {
            return 0;
        }
        if !self.has_forms() {
            return span.len();
        }
        let mut ends = span.char_indices().rev();
        ends.find(|&(_, character)| starts(character)).map_or(0, |(at, _)| at)
    }

    /// The last place where `span`, a part that begins at `place`, may be cut so that what is before
    /// it, rewritten, ends at one of `ends` (ascending); and that end. `(0, 0)` for none.
    ///
    /// # Errors
    /// As [`Normalizer::apply_until`].
    pub fn last_cut(
        &self,
        span: &str,
        place: Place,
        ends: &[usize],
        stops: &dyn Fn() -> bool,
    ) -> Result<(usize, usize)> {
        let (mut cut, mut start, mut length) = ((0, 0), 0, 0);
        let (forms, ear) = (self.has_forms(), Ear::new(stops));
        for (at, character) in span.char_indices().chain([(span.len(), 'a')]) {
            if at > start && (!forms || starts(character)) {
                let place = if start == 0 { place } else { Place::INSIDE };
                length += self.heard(&span[start..at], place, &ear)?.len();
                start = at;
                if ends.binary_search(&length).is_ok() {
                    cut = (at, length);
                }
            }
        }
        Ok(cut)
    }

    fn has_forms(&self) -> bool {
        self.steps
            .iter()
            .any(|step| matches!(step, Step::Nfc | Step::Nfd | Step::Nfkc | Step::Nfkd))
    }
}

impl PartialEq for Normalizer {
    fn eq(&self, other: &Self) -> bool {
        self.steps.iter().map(Step::words).eq(other.steps.iter().map(Step::words))
    }
}

impl std::fmt::Display for Normalizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, step) in self.steps.iter().enumerate() {
            write!(f, "{}{}", if at > 0 { ", " } else { "" }, step.words()[0])?;
        }
        Ok(())
    }
}

/// Whether no text before this character changes with it, in any form: it neither composes with what
/// is before nor moves in front of it.
fn starts(character: char) -> bool {
    canonical_combining_class(character) == 0
        && is_nfc_quick(std::iter::once(character)) == IsNormalized::Yes
        && is_nfkc_quick(std::iter::once(character)) == IsNormalized::Yes
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [&str; 8] = [
        "",
        "plain",
        "cafe\u{301} X",
        "e\u{323}\u{307} q\u{307}\u{323} \u{301}x",
        "\u{1100}\u{1161}\u{11a8}\u{1100}\u{1161} \u{ac00}\u{11a8}",
        "\u{212b}\u{2126}\u{f900} \u{2f800} \u{130}I \u{ff76}\u{ff9e}",
        "a\u{344} \u{fb1d}\u{5b4}",
        "  \u{2581}a \u{2581} ",
    ];

    fn steps(all: &[&[&str]]) -> Normalizer {
        let step = |words: &&[&str]| {
            Step::parse(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>()).unwrap()
        };
        Normalizer::new(all.iter().map(step).collect())
    }

    fn local() -> Vec<Normalizer> {
        vec![
            steps(&[&["NFC"]]),
            steps(&[&["NFD"]]),
            steps(&[&["NFKC"], &["Lowercase"]]),
            steps(&[&["Lowercase"], &["NFKD"]]),
            steps(&[&["Prepend", " "], &["Replace", "\u{2581}", " "]]),
            steps(&[&["Replace", "\u{2581}", " "], &["Prefix", " "]]),
            steps(&[&["NFKC"], &["PrefixFirst", " "]]),
        ]
    }

    fn apply(normalizer: &Normalizer, text: &str, place: Place) -> String {
        normalizer.apply(text, place).unwrap().into_owned()
    }

    #[test]
    fn it_is_nfc() {
        for text in TEXTS {
            let nfc = collect(text.nfc(), &Ear::new(&|| false));
            assert_eq!(apply(&Normalizer::nfc(), text, Place::FIRST), nfc, "{text:?}");
        }
    }

    #[test]
    fn what_is_settled_stays() {
        for normalizer in local() {
            for text in TEXTS {
                for next in TEXTS {
                    let at = normalizer.settled(text);
                    let whole = format!("{text}{next}");
                    let later = if at > 0 { Place::INSIDE } else { Place::FIRST };
                    assert_eq!(
                        apply(&normalizer, &whole[..at], Place::FIRST)
                            + &apply(&normalizer, &whole[at..], later),
                        apply(&normalizer, &whole, Place::FIRST),
                        "{normalizer} {whole:?}"
                    );
                }
            }
        }
        assert_eq!(steps(&[&["Strip"]]).settled("abc"), 0);
        assert_eq!(steps(&[&["ReplaceRegex", " +", " "]]).settled("abc"), 0);
        assert_eq!(steps(&[&["Replace", "ab", "c"]]).settled("abc"), 0);
    }

    #[test]
    fn cuts_are_those_of_both_texts() {
        // Rewritten, `e` and the accent are one character of two bytes.
        let last = |normalizer: &Normalizer, text, place, ends: &[usize]| {
            normalizer.last_cut(text, place, ends, &|| false).unwrap()
        };
        let cut = |ends: &[usize]| last(&Normalizer::nfc(), "e\u{301} x", Place::FIRST, ends);
        assert_eq!(cut(&[2]), (3, 2));
        assert_eq!(cut(&[1]), (0, 0));
        assert_eq!(cut(&[2, 3, 4]), (5, 4));
        let prepend = steps(&[&["Prepend", "__"]]);
        assert_eq!(last(&prepend, "ab", Place::FIRST, &[3]), (1, 3));
        assert_eq!(last(&prepend, "ab", Place::INSIDE, &[1]), (1, 1));
    }

    #[test]
    fn each_step_does_what_it_says() {
        let cases: [(&[&str], &str, &str); 9] = [
            (&["Strip"], "\u{3000} a b\n", "a b"),
            (&["StripLeft"], " a ", "a "),
            (&["StripRight"], " a ", " a"),
            (&["Replace", "aa", "b"], "aaaaa", "bba"),
            (&["ReplaceRegex", r"\s+", " "], "a \n b", "a b"),
            (&["Prepend", "_"], "_a", "__a"),
            (&["Prefix", "_"], "_a", "_a"),
            (&["PrefixFirst", "_"], "a", "_a"),
            (&["Lowercase"], "\u{130}A", "i\u{307}a"),
        ];
        for (words, text, wanted) in cases {
            assert_eq!(apply(&steps(&[words]), text, Place::FIRST), wanted, "{words:?}");
            assert_eq!(apply(&steps(&[words]), "", Place::FIRST), "", "{words:?}");
        }
        assert_eq!(apply(&steps(&[&["PrefixFirst", "_"]]), "a", Place::LATER), "a");
        assert!(Step::parse(&["NFX".to_owned()]).is_err());
        assert!(Step::parse(&["ReplaceRegex".to_owned(), "(".to_owned(), String::new()]).is_err());
    }
}
