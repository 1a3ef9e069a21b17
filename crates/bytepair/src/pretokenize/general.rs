//! The general engine: any regular expression, or a sequence of them.
//!
//! In: a span and a piece boundary in it. Out: the ends of pieces. It is the definition that the
//! scanners are tested against. It takes some 20 times as long as they do, may give up on a hostile
//! pattern (with an error, after a bounded number of steps), and can promise nothing about text to
//! come, so no piece of it is settled.
//!
//! A cut depends on its place in the span alone, never on which call found it. Hence `\G` and `\K`
//! (which make a match depend on the search before it) are refused.

use fancy_regex::{Expr, Regex, RegexBuilder};

use super::Filled;
use crate::error::{Error, Place, Result};

/// Backtracking steps allowed in one search, about a tenth of a second.
const BACKTRACKS: usize = 5_000_000;
/// The same for each byte of the span, if that is more: a search counts the steps at all places
/// where it tries to match, and there may be many before the first match.
const BACKTRACKS_PER_BYTE: usize = 32;
/// Bytes that one compiled part may take, some ten times what the patterns in use do.
const COMPILED_BYTES: usize = 10 << 20;
/// Instructions of the compiled program.
const INSTRUCTIONS: usize = 100_000;
/// Bytes of a pattern, so that reading it takes a fraction of a second.
const PATTERN_BYTES: usize = 100_000;

/// White space rules that the engine backtracks through one character at a time, and so cannot apply
/// to a million of them, with equivalents, if nothing comes after them, that it can.
const STURDY: [(&str, &str); 2] = [
    // In steps of 512 that it need not give back, each before more white space, then as before.
    (r"\s+(?!\S)", r"(?>(?:\s{512}(?=\s))+)\s*(?!\S)|\s+(?!\S)"),
    (r"\s+(?![\s\S])", r"\s++(?![\s\S])"),
];

/// One regular expression or several in sequence, compiled.
#[derive(Debug)]
pub(super) struct General {
    first: Engine,
    rest: Vec<Engine>,
}

impl General {
    /// Compiles a regular expression.
    pub(super) fn one(text: &str) -> Result<Self> {
        Ok(Self { first: Engine::new(text)?, rest: Vec::new() })
    }

    /// Compiles a sequence, `first` of which cuts first.
    pub(super) fn sequence(first: &str, rest: &[String]) -> Result<Self> {
        let rest = rest.iter().map(|text| Engine::new(text)).collect::<Result<_>>()?;
        Ok(Self { first: Engine::new(first)?, rest })
    }

    /// See [`super::Pretokenizer::fill`]. A sequence is cut one piece of its first expression at a
    /// time, so it may append more than `most`.
    pub(super) fn fill(
        &self,
        span: &str,
        from: usize,
        ends: &mut Vec<usize>,
        most: usize,
    ) -> Result<Filled> {
        let enough = ends.len().saturating_add(most);
        if self.rest.is_empty() {
            let next = self.first.cut(span, from, ends, enough)?;
            return Ok(Filled { next, settled: 0 });
        }
        let mut next = from;
        let (mut coarse, mut fine) = (Vec::new(), Vec::new());
        while next < span.len() && ends.len() < enough {
            let start = next;
            coarse.clear();
            next = self.first.cut(span, start, &mut coarse, 1)?;
            for engine in &self.rest {
                fine.clear();
                let mut at = start;
                for &end in &coarse {
                    let known = fine.len();
                    engine.cut(&span[at..end], 0, &mut fine, usize::MAX)?;
                    fine[known..].iter_mut().for_each(|end| *end += at);
                    at = end;
                }
                std::mem::swap(&mut coarse, &mut fine);
            }
            ends.extend_from_slice(&coarse);
        }
        Ok(Filled { next, settled: 0 })
    }
}

/// One regular expression.
#[derive(Debug)]
struct Engine {
    regex: Regex,
}

impl Engine {
    fn new(text: &str) -> Result<Self> {
        let refuse =
            |why: &str| Error::Pattern(format!("pattern {} cannot be used: {why}", shown(text)));
        if text.len() > PATTERN_BYTES {
            return Err(refuse(&format!(
                "it has {} bytes and at most {PATTERN_BYTES} are supported; shorten it",
                text.len()
            )));
        }
        let tree = Expr::parse_tree(text).map_err(|why| refuse(&why.to_string()))?;
        let stateful = |e: &Expr| matches!(e, Expr::KeepOut | Expr::ContinueFromPreviousMatchEnd);
        if tree.expr.has_descendant_or_self(stateful) {
            return Err(refuse(r"\K and \G are not supported; write a look-behind instead"));
        }
        let regex = compile(text, BACKTRACKS).map_err(|why| refuse(&why.to_string()))?;
        Ok(Self { regex })
    }

    /// Appends the ends of pieces of `span[from..]` until `ends` holds `enough`; gives where it
    /// stopped.
    ///
    /// Matches are pieces and so is the text between them. An empty match gives no piece, but what
    /// is before it and after it are apart (as in Hugging Face, where a look-ahead alone says where
    /// to cut).
    fn cut(&self, span: &str, from: usize, ends: &mut Vec<usize>, enough: usize) -> Result<usize> {
        let mut next = from;
        while next < span.len() && ends.len() < enough {
            let (start, end) = self.match_after(span, next)?;
            if start > next {
                ends.push(start);
                next = start;
            }
            if end > next && ends.len() < enough {
                ends.push(end);
                next = end;
            }
        }
        Ok(next)
    }

    /// The first match at or after `from`, but no empty one at `from`; `(len, len)` for none.
    fn match_after(&self, span: &str, from: usize) -> Result<(usize, usize)> {
        let none = (span.len(), span.len());
        match self.find(span, from)? {
            // The next search starts one character on, as in every engine.
            Some((_, end)) if end == from => {
                let first = span[from..].chars().next().map_or(1, char::len_utf8);
                Ok(self.find(span, from + first)?.unwrap_or(none))
            }
            found => Ok(found.unwrap_or(none)),
        }
    }

    /// The first match at or after `from`.
    fn find(&self, span: &str, from: usize) -> Result<Option<(usize, usize)>> {
        let found = self.regex.find_from_pos(span, from).or_else(|_| {
            // Compiling once more is nothing beside the search that failed.
            let limit = BACKTRACKS.max(span.len().saturating_mul(BACKTRACKS_PER_BYTE));
            compile(&sturdy(self.regex.as_str()), limit)?.find_from_pos(span, from)
        });
        let found = found.map_err(|why| self.gave_up(&span[..from], &why))?;
        Ok(found.map(|found| (found.start(), found.end())))
    }

    fn gave_up(&self, before: &str, why: &fancy_regex::Error) -> Error {
        let character = Some(before.chars().count());
        let place = Place { row: None, byte: before.len(), character };
        Error::Pattern(format!(
            "pattern {} gave up at {place} of the text ({why}); make its repetitions possessive \
             (`++`, `*+`) or its alternatives exclusive, so that it need not backtrack",
            shown(self.regex.as_str())
        ))
    }
}

fn compile(text: &str, backtracks: usize) -> fancy_regex::Result<Regex> {
    RegexBuilder::new(text)
        .backtrack_limit(backtracks)
        .delegate_size_limit(COMPILED_BYTES)
        .max_prog_size(INSTRUCTIONS)
        .build()
}

/// `text` with the [`STURDY`] rules for those that are an alternative of their own, so that nothing
/// comes after them to which they might have to give back.
fn sturdy(text: &str) -> String {
    let parse = |text: &str| Expr::parse_tree(text).map(|tree| tree.expr);
    let Ok(Expr::Alt(alternatives)) = parse(text) else { return text.to_owned() };
    let mut better = text.to_owned();
    for (rule, equivalent) in STURDY {
        let is_rule = |a: &&Expr| parse(rule).is_ok_and(|rule| rule == **a);
        let count = alternatives.iter().filter(is_rule).count();
        // As many in the text: none of them is part of something else.
        if text.matches(rule).count() == count {
            better = better.replace(rule, equivalent);
        }
    }
    better
}

/// A pattern as an error shows it: quoted, and its beginning if it is long.
fn shown(text: &str) -> String {
    const MOST: usize = 300;
    match text.char_indices().nth(MOST) {
        Some((cut, _)) => format!("{:?}...", &text[..cut]),
        None => format!("{text:?}"),
    }
}
