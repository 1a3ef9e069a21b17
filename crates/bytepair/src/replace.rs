//! What a normalizer replaces, found in a span.
//!
//! In: a regular expression and a span. Out: its matches, as an iterator of the engine gives them. The
//! engine counts its steps over all places where it tries to match, and gives up when there are too
//! many: on a long span without a match they always are. Then each place is tried on its own, with
//! as many steps for each, which takes some times as long and can be stopped.

use std::ops::Range;

use fancy_regex::{Regex, RegexInput};

use crate::error::{Error, Result};
use crate::watched::Ear;

/// The matches in a span, from left to right.
pub(crate) struct Matches<'a> {
    regex: &'a Regex,
    span: &'a str,
    ear: &'a Ear<'a>,
    /// Where the next search begins; behind the span when all is done.
    at: usize,
    /// The end of the last match.
    last: Option<usize>,
    /// Whether the last match was empty where its search began, so that none goes on from there.
    skipped: bool,
}

impl<'a> Matches<'a> {
    pub(crate) fn new(regex: &'a Regex, span: &'a str, ear: &'a Ear<'a>) -> Self {
        Self { regex, span, ear, at: 0, last: None, skipped: false }
    }

    /// The first match at or after `at`.
    fn first(&self) -> Result<Option<Range<usize>>> {
        let found = self.search(self.at, false);
        // At each place on its own a search would be one that goes on from there.
        if found.is_ok() || self.regex.as_str().contains(r"\G") {
            return found;
        }
        let rest = self.span[self.at..].char_indices().map(|(at, _)| self.at + at);
        for at in self.ear.until(rest.chain([self.span.len()])) {
            if let Some(found) = self.search(at, true)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn search(&self, at: usize, anchored: bool) -> Result<Option<Range<usize>>> {
        let input = RegexInput::new(self.span).from_pos(at).anchored(anchored);
        let input = input.continue_from_previous_match_end(!self.skipped);
        let found = self.regex.find_input(input).map_err(|error| {
            Error::Pattern(format!("the normalizer's {:?} gave up: {error}", self.regex.as_str()))
        })?;
        Ok(found.map(|found| found.range()))
    }
}

impl Iterator for Matches<'_> {
    type Item = Result<Range<usize>>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.at <= self.span.len() && !self.ear.hears() {
            let found = match self.first() {
                Ok(found) => found?,
                Err(error) => {
                    self.at = self.span.len() + 1;
                    return Some(Err(error));
                }
            };
            let start = self.at;
            self.at = found.end;
            self.skipped = found.is_empty() && found.end == start;
            if found.is_empty() {
                // The next search begins one character on, and no empty match right behind another.
                self.at += self.span[self.at..].chars().next().map_or(1, char::len_utf8);
                if self.last == Some(found.end) {
                    continue;
                }
            }
            self.last = Some(found.end);
            return Some(Ok(found));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use fancy_regex::RegexBuilder;
    use proptest::prelude::*;

    use super::*;

    const PATTERNS: [&str; 9] = [
        r"(?<=a)b+",
        r"(?=b)",
        r"a*?(?!b)",
        r"\Gab|(?<!a)é",
        r"a\Kb",
        r"(a|é)\1",
        r"\b(?=.)",
        r"$|(?<=é)",
        r"^|b(?!$)",
    ];

    fn all(regex: &Regex, text: &str) -> Vec<Range<usize>> {
        let ear = Ear::new(&|| false);
        Matches::new(regex, text, &ear).map(Result::unwrap).collect()
    }

    proptest! {
        #[test]
        fn the_matches_are_the_engine_s(text in "[abé \n]{0,24}") {
            for pattern in PATTERNS {
                let regex = Regex::new(pattern).unwrap();
                let expected: Vec<_> = regex.find_iter(&text).map(|one| one.unwrap().range()).collect();
                prop_assert_eq!(&all(&regex, &text), &expected, "{}", pattern);
                if pattern.contains(r"\G") {
                    continue;
                }
                // With so few steps the search for a match gives up, and that at one place does not.
                let few = RegexBuilder::new(pattern).backtrack_limit(26).build().unwrap();
                let long = format!("{}{text}", " ".repeat(100));
                let expected: Vec<_> = regex.find_iter(&long).map(|one| one.unwrap().range()).collect();
                prop_assert_eq!(&all(&few, &long), &expected, "{}", pattern);
            }
        }
    }

    #[test]
    fn a_hostile_expression_is_given_up() {
        let regex = Regex::new(r"(x+x+)+\1y").unwrap();
        let ear = Ear::new(&|| false);
        let found: Vec<_> = Matches::new(&regex, &"x".repeat(60), &ear).collect();
        assert!(matches!(found[..], [Err(Error::Pattern(_))]));
    }

    #[test]
    fn a_search_that_finds_nothing_is_stopped() {
        let regex = Regex::new(r"(?<=a)\s+(?!\s)").unwrap();
        let ear = Ear::new(&|| true);
        assert!(Matches::new(&regex, &"b c ".repeat(1 << 20), &ear).next().is_none());
        assert!(ear.result().is_err());
    }
}
