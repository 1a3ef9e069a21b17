//! Special tokens: finding them in text, and who may use them.
//!
//! In: a text. Out: the special tokens in it, with the spans between them left to
//! [`crate::pretokenize`]. Where special tokens overlap, the leftmost starts first and among those
//! that start together the longest wins, whatever their order. One automaton finds them all, so the
//! cost does not grow with their number.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, Anchored, Input, MatchKind, StartKind};
use fancy_regex::Regex;

use crate::error::{Error, Place, Result};
use crate::overlap::overlap;

/// The longest string, in bytes, for which an automaton may be a table of all transitions, and for
/// which every place may be tried.
const TABLE_MOST: usize = 256;

/// Finds some strings in a text, leftmost first and then longest.
#[derive(Debug, Clone)]
pub struct Finder {
    automaton: AhoCorasick,
    /// The strings, sorted.
    strings: Arc<[String]>,
    /// Their flags; empty where none has any.
    flags: Arc<[Flags]>,
    longest: usize,
}

/// What a token takes or asks for around it, as Hugging Face's added tokens may.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags {
    /// It takes the white space before it (`lstrip`).
    pub left: bool,
    /// It takes the white space behind it (`rstrip`).
    pub right: bool,
    /// It is found only where no letter, digit or underscore is next to it (`single_word`).
    pub word: bool,
}

impl Flags {
    fn any(self) -> bool {
        self.left || self.right || self.word
    }
}

/// A string found: which one and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found<'f> {
    /// The string.
    pub string: &'f str,
    /// Byte offset of its start.
    pub start: usize,
    /// Byte offset behind its end.
    pub end: usize,
}

impl Finder {
    /// A finder of `strings`; `None` when there are none.
    ///
    /// # Errors
    /// [`Error::Value`] when a string is empty or they are too many for an automaton.
    pub fn new<S: Into<String>>(strings: impl IntoIterator<Item = S>) -> Result<Option<Self>> {
        let mut strings: Vec<String> = strings.into_iter().map(Into::into).collect();
        strings.sort_unstable();
        strings.dedup();
        if strings.is_empty() {
            return Ok(None);
        }
        if strings[0].is_empty() {
            return Err(Error::Value("a special token is empty; it would match everywhere".into()));
        }
        let longest = strings.iter().map(String::len).max().unwrap_or(0);
        // A table of all transitions takes time with the square of a string that repeats itself.
        let kind = (longest > TABLE_MOST).then_some(AhoCorasickKind::ContiguousNFA);
        let automaton = AhoCorasick::builder()
            .kind(kind)
            .match_kind(MatchKind::LeftmostLongest)
            .start_kind(StartKind::Unanchored)
            .build(&strings)
            .map_err(|error| Error::Value(format!("the special tokens cannot be used: {error}")))?;
        Ok(Some(Self { automaton, strings: strings.into(), flags: Arc::new([]), longest }))
    }

    /// The same where some strings have flags.
    fn with_flags(mut self, flags: &BTreeMap<String, Flags>) -> Self {
        if self.strings.iter().any(|string| flags.contains_key(string)) {
            let of = |string| flags.get(string).copied().unwrap_or_default();
            self.flags = self.strings.iter().map(of).collect();
        }
        self
    }

    /// The first string in `text[from..]`.
    pub fn find(&self, text: &str, from: usize) -> Option<Found<'_>> {
        let mut next = from;
        loop {
            let input = Input::new(text).range(next..).anchored(Anchored::No);
            let found = self.automaton.find(input)?;
            let index = found.pattern().as_usize();
            let (mut start, mut end) = (found.start(), found.end());
            if let Some(flags) = self.flags.get(index) {
                if flags.word && (ends_in_word(&text[..start]) || begins_with_word(&text[end..])) {
                    next = end;
                    continue;
                }
                if flags.left {
                    start = from.max(text[..start].trim_end().len());
                }
                if flags.right {
                    end = text.len() - text[end..].trim_start().len();
                }
            }
            return Some(Found { string: &self.strings[index], start, end });
        }
    }

    /// Where a string may begin in `text` that goes on behind its end: the least such offset, or
    /// `text.len()` when there is none.
    ///
    /// Tokens with flags look at the text around them, however far; with them all of it is open.
    pub fn open_from(&self, text: &str) -> usize {
        if !self.flags.is_empty() {
            return 0;
        }
        let first = text.len().saturating_sub((self.longest - 1).min(TABLE_MOST));
        let open = (first..text.len())
            .find(|&at| text.is_char_boundary(at) && self.is_proper_prefix(&text[at..]))
            .unwrap_or(text.len());
        if self.longest <= TABLE_MOST {
            return open;
        }
        let long = self.strings.iter().filter(|string| string.len() > TABLE_MOST);
        long.map(|string| text.len() - overlap(text.as_bytes(), string.as_bytes()))
            .fold(open, usize::min)
    }

    /// Whether a cut of `text` at `at` may change which strings are found: one begins before it and
    /// ends behind it, wherever one looks first, or one with flags may see the other part.
    pub fn crosses(&self, text: &str, at: usize) -> bool {
        (!self.flags.is_empty() && self.touches(text, at)) || self.covers(text, at)
    }

    /// Whether a string, whatever its flags, begins before `at` in `text` and ends behind it.
    fn covers(&self, text: &str, at: usize) -> bool {
        let end = text.floor_char_boundary(text.len().min(at + self.longest));
        let mut from = text.ceil_char_boundary(at.saturating_sub(self.longest - 1));
        let find = |from: usize| {
            let input = Input::new(text).range(from..end).anchored(Anchored::No);
            self.automaton.find(input).filter(|found| found.start() < at)
        };
        while let Some(found) = find(from) {
            if found.end() > at {
                return true;
            }
            from = text.ceil_char_boundary(found.start() + 1);
        }
        false
    }

    /// Whether white space or a string with flags is next to `at`: a cut there may change what is found.
    fn touches(&self, text: &str, at: usize) -> bool {
        let (before, after) = text.split_at(at);
        let flagged = || self.strings.iter().zip(&*self.flags).filter(|(_, flags)| flags.any());
        before.ends_with(char::is_whitespace)
            || after.starts_with(char::is_whitespace)
            || flagged().any(|(string, _)| {
                before.ends_with(string.as_str()) || after.starts_with(string.as_str())
            })
    }

    fn is_proper_prefix(&self, start: &str) -> bool {
        // In sorted order the strings that begin with `start` follow it directly.
        let at = self.strings.partition_point(|string| string.as_str() <= start);
        self.strings.get(at).is_some_and(|string| string.starts_with(start))
    }
}

/// Whether a character is one of a word, as `\w` has it.
fn is_word(character: char) -> bool {
    static WORD: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\w").expect("a regular expression of our own"));
    WORD.is_match(character.encode_utf8(&mut [0; 4])).unwrap_or(false)
}

fn ends_in_word(text: &str) -> bool {
    text.chars().next_back().is_some_and(is_word)
}

fn begins_with_word(text: &str) -> bool {
    text.chars().next().is_some_and(is_word)
}

/// The special tokens of a tokenizer, with their ids, and its added tokens. Immutable.
///
/// An added token is found in text like a special token but is vocabulary: no policy turns it off.
#[derive(Debug, Clone)]
pub struct SpecialTokens {
    ids: BTreeMap<String, u32>,
    added: BTreeMap<String, u32>,
    /// Special and added tokens, without aliases.
    by_id: BTreeMap<u32, String>,
    flags: BTreeMap<String, Flags>,
    finder: Option<Finder>,
    added_finder: Option<Finder>,
}

impl SpecialTokens {
    /// Special tokens with given ids, and further names of some of them: an alias is encoded to the
    /// id, which is decoded to the token.
    ///
    /// # Errors
    /// [`Error::Value`] when one is empty; [`Error::Vocab`] when two tokens share an id, or an alias
    /// has an id that no special token has.
    pub fn new(
        tokens: impl IntoIterator<Item = (String, u32)>,
        aliases: impl IntoIterator<Item = (String, u32)>,
    ) -> Result<Self> {
        let mut ids: BTreeMap<String, u32> = tokens.into_iter().collect();
        let mut by_id: BTreeMap<u32, String> = BTreeMap::new();
        for (token, &id) in &ids {
            if let Some(other) = by_id.insert(id, token.clone()) {
                return Err(Error::Vocab(format!(
                    "special tokens {other:?} and {token:?} both have id {id}; give each its own"
                )));
            }
        }
        for (alias, id) in aliases {
            if !by_id.contains_key(&id) {
                return Err(Error::Vocab(format!(
                    "{alias:?} is an alias of id {id}, which no special token has"
                )));
            }
            ids.entry(alias).or_insert(id);
        }
        let finder = Finder::new(ids.keys())?;
        let (added, flags) = (BTreeMap::new(), BTreeMap::new());
        Ok(Self { ids, added, by_id, flags, finder, added_finder: None })
    }

    /// The same with added tokens besides.
    ///
    /// # Errors
    /// [`Error::Value`] when one is empty; [`Error::Vocab`] when it has the name or the id of another
    /// token.
    pub fn with_added(mut self, added: impl IntoIterator<Item = (String, u32)>) -> Result<Self> {
        for (token, id) in added {
            if self.ids.contains_key(&token) {
                return Err(Error::Vocab(format!(
                    "{token:?} is both a special token and an added one; it can be one of them"
                )));
            }
            if let Some(other) = self.by_id.insert(id, token.clone()) {
                return Err(Error::Vocab(format!(
                    "tokens {other:?} and {token:?} both have id {id}; give each its own"
                )));
            }
            self.added.insert(token, id);
        }
        self.finder = self.finder_of(self.ids.keys().chain(self.added.keys()))?;
        self.added_finder = self.finder_of(self.added.keys())?;
        Ok(self)
    }

    /// The same where some of the tokens take or ask for something around them.
    ///
    /// # Errors
    /// [`Error::Value`] when a name is that of no special or added token.
    pub fn with_flags(mut self, flags: impl IntoIterator<Item = (String, Flags)>) -> Result<Self> {
        self.flags = flags.into_iter().filter(|(_, flags)| flags.any()).collect();
        if let Some(token) = self.flags.keys().find(|token| self.id(token).is_none()) {
            return Err(Error::Value(format!(
                "{token:?} has flags, but it is neither a special token nor an added one"
            )));
        }
        self.with_added([])
    }

    fn finder_of<'s>(&self, names: impl Iterator<Item = &'s String>) -> Result<Option<Finder>> {
        Ok(Finder::new(names.cloned())?.map(|finder| finder.with_flags(&self.flags)))
    }

    /// The number of names, aliases included.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The special tokens and their aliases by name, each with its id.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, u32)> {
        self.ids.iter().map(|(token, id)| (token.as_str(), *id))
    }

    /// The added tokens by name, each with its id.
    pub fn added(&self) -> impl ExactSizeIterator<Item = (&str, u32)> {
        self.added.iter().map(|(token, id)| (token.as_str(), *id))
    }

    /// What tokens take or ask for around them, by name; only those that do.
    pub fn flags(&self) -> impl ExactSizeIterator<Item = (&str, Flags)> {
        self.flags.iter().map(|(token, flags)| (token.as_str(), *flags))
    }

    /// The id of a special or added token.
    pub fn id(&self, token: &str) -> Option<u32> {
        self.ids.get(token).or_else(|| self.added.get(token)).copied()
    }

    /// Whether this is the id of a special token.
    pub fn is_special(&self, id: u32) -> bool {
        self.token(id).is_some_and(|token| !self.added.contains_key(token))
    }

    /// The special or added token with this id.
    pub fn token(&self, id: u32) -> Option<&str> {
        self.by_id.get(&id).map(String::as_str)
    }

    /// The greatest id of a special or added token.
    pub fn greatest_id(&self) -> Option<u32> {
        self.by_id.keys().next_back().copied()
    }
}

impl PartialEq for SpecialTokens {
    fn eq(&self, other: &Self) -> bool {
        self.ids == other.ids
            && self.added == other.added
            && self.by_id == other.by_id
            && self.flags == other.flags
    }
}

impl Eq for SpecialTokens {}

/// A choice of strings, as users make it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// All special tokens.
    All,
    /// These (none, if empty).
    These(Vec<String>),
}

/// Which special tokens a text may use, made ready for use. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Policy {
    allowed: Option<Finder>,
    forbidden: Option<Finder>,
}

impl Policy {
    /// Every special token is recognised, none is forbidden.
    pub fn all(tokens: &SpecialTokens) -> Self {
        Self { allowed: tokens.finder.clone(), forbidden: None }
    }

    /// No special token is recognised or forbidden: all text is plain. For a tokenizer without added
    /// tokens; otherwise see [`Policy::plain`].
    pub const fn ordinary() -> Self {
        Self { allowed: None, forbidden: None }
    }

    /// No special token is recognised or forbidden; added tokens are.
    pub fn plain(tokens: &SpecialTokens) -> Self {
        Self { allowed: tokens.added_finder.clone(), forbidden: None }
    }

    /// `allowed` are recognised, text that holds one of `disallowed` is refused, and any other
    /// special token is plain text. Where `disallowed` is [`Choice::All`], that means all that are
    /// not allowed. As in tiktoken, `disallowed` may name strings that are not special tokens, and
    /// `allowed` names that are not special tokens do nothing.
    ///
    /// # Errors
    /// [`Error::Value`] when a disallowed string is empty.
    pub fn new(tokens: &SpecialTokens, allowed: &Choice, disallowed: &Choice) -> Result<Self> {
        let is_allowed = |token: &str| match allowed {
            Choice::All => true,
            Choice::These(these) => these.iter().any(|this| this == token),
        };
        let recognised = match allowed {
            Choice::All => tokens.finder.clone(),
            Choice::These(these) => {
                let special = these.iter().filter(|this| tokens.ids.contains_key(*this));
                tokens.finder_of(special.chain(tokens.added.keys()))?
            }
        };
        let forbidden = match disallowed {
            Choice::All => Finder::new(tokens.ids.keys().filter(|&token| !is_allowed(token)))?,
            Choice::These(these) => Finder::new(these.iter().cloned())?,
        };
        Ok(Self { allowed: recognised, forbidden })
    }

    /// The first recognised special token in `text[from..]`.
    pub fn find(&self, text: &str, from: usize) -> Option<Found<'_>> {
        self.allowed.as_ref()?.find(text, from)
    }

    /// Refuses a text that holds a forbidden special token.
    ///
    /// # Errors
    /// [`Error::SpecialToken`], naming it and its place.
    pub fn check(&self, text: &str) -> Result<()> {
        match self.forbidden.as_ref().and_then(|forbidden| forbidden.find(text, 0)) {
            None => Ok(()),
            Some(found) => {
                let place = Place {
                    row: None,
                    byte: found.start,
                    character: Some(text[..found.start].chars().count()),
                };
                Err(Error::SpecialToken { token: found.string.to_owned(), place })
            }
        }
    }

    /// Whether a recognised or forbidden special token would be cut by cutting `text` at `at`.
    pub fn crosses(&self, text: &str, at: usize) -> bool {
        [&self.allowed, &self.forbidden]
            .into_iter()
            .flatten()
            .any(|finder| finder.crosses(text, at))
    }

    /// Whether a recognised or forbidden special token has a part on each side of `at`.
    pub fn covers(&self, text: &str, at: usize) -> bool {
        [&self.allowed, &self.forbidden].into_iter().flatten().any(|finder| finder.covers(text, at))
    }

    /// From where on `text`, which goes on later, may hold the beginning of a recognised or
    /// forbidden special token.
    pub fn open_from(&self, text: &str) -> usize {
        [&self.allowed, &self.forbidden]
            .into_iter()
            .flatten()
            .map(|finder| finder.open_from(text))
            .min()
            .unwrap_or(text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens() -> SpecialTokens {
        let entry = |token: &str, id| (token.to_owned(), id);
        SpecialTokens::new([entry("<a>", 1)], [])
            .and_then(|special| special.with_added([entry("<b>", 2), entry("<a>b", 3)]))
            .expect("they fit together")
    }

    #[test]
    fn no_policy_turns_added_tokens_off() {
        let tokens = tokens();
        let none = Choice::These(Vec::new());
        let strict = Policy::new(&tokens, &none, &Choice::All).expect("a valid choice");
        for policy in [Policy::all(&tokens), Policy::plain(&tokens), strict] {
            let found = policy.find("x<b>", 0).expect("it is there");
            assert_eq!((found.string, found.start, found.end), ("<b>", 1, 4));
            // Even where a special token begins alike.
            assert_eq!(policy.find("<a>b", 0).map(|found| found.string), Some("<a>b"));
            assert!(policy.check("<b>").is_ok());
        }
        assert_eq!(Policy::plain(&tokens).find("<a>", 0), None);
    }

    #[test]
    fn added_tokens_are_not_special() {
        let tokens = tokens();
        assert_eq!((tokens.id("<b>"), tokens.token(2)), (Some(2), Some("<b>")));
        assert!(tokens.is_special(1) && !tokens.is_special(2));
        assert_eq!(tokens.iter().len(), 1);
        assert_eq!(tokens.greatest_id(), Some(3));
        assert!(tokens.clone().with_added([("<a>".to_owned(), 9)]).is_err());
        assert!(tokens.with_added([("<c>".to_owned(), 2)]).is_err());
    }
}
