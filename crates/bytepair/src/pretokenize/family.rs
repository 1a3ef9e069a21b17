//! The pattern families: one shape of pattern, described by parameters.
//!
//! In: a pattern, in a known spelling or one that [`super::structure`] understands. Out: the
//! [`Family`] that [`super::scan`] follows.
//! Every pattern in use is this list of alternatives, tried in this order, each of which a family
//! has or has not and fills with its own classes:
//!
//! ```text
//! 0  numbers, then kana and han, set apart before all else        first, most_digits
//! 1  contraction            '(?i:[sdmt]|ll|ve|re)                 contraction
//! 2  ASCII symbol and word  [!-~][A-Za-z]+                        words
//! 3  word                   lead? word+ contraction?              lead, word, words
//! 4  number                 ?\p{N}{1,most}                        number_lead, most_digits
//! 5  symbols                ?symbol+ tail*                        symbol, tail
//! 6  white space            \s++$|\s*[\r\n]+|\s+(?!\S)|\s+        white
//! 7  what nothing matches, up to the next match
//! ```

use super::classes::{ANY, BLANK, Class, LETTER, MARK, NEWLINE, NUMBER, OTHER, SPACE, SYMBOL};
use super::classes::{CASELESS, LOWER, UPPER, WHITE};
use super::{Pattern, structure};

/// The parameters of one family. Classes are sets, see [`super::classes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Family {
    pub(super) first: First,
    pub(super) contraction: Contraction,
    /// What a word may begin with: one character, which is not part of [`Self::word`] (or is, as a
    /// mark in `Words::Cased`).
    pub(super) lead: Class,
    /// What a word is made of.
    pub(super) word: Class,
    pub(super) words: Words,
    /// What a number may begin with: [`SPACE`] or nothing.
    pub(super) number_lead: Class,
    /// Digits in a number, at most.
    pub(super) most_digits: usize,
    /// What a run of symbols is made of; a space may come before it.
    pub(super) symbol: Class,
    /// Bytes that a run of symbols takes after it.
    pub(super) tail: &'static [u8],
    pub(super) white: White,
}

/// What a sequence of patterns sets apart before its last one. No later match crosses the edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    /// Not a sequence.
    Nothing,
    /// `\p{N}{1,most_digits}`.
    Numbers,
    /// That, and then runs of kana and han.
    NumbersThenKanaHan,
}

/// `'s`, `'t`, `'re`, `'ve`, `'m`, `'ll`, `'d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Contraction {
    /// Not known.
    Never,
    /// A piece of its own, in lower case.
    PieceLower,
    /// A piece of its own, in any case (`'ſ` is `'s`).
    PieceAnyCase,
    /// The end of a word, in any case.
    Suffix,
}

/// The shape of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Words {
    /// A run.
    Run,
    /// A run; and before it is tried, an ASCII symbol with the ASCII letters after it.
    RunOrAsciiAfterSymbol,
    /// `U*L+` or else `U+L*`, where `U` is upper, caseless, mark and `L` lower, caseless, mark.
    Cased,
}

/// The rule for a run of white space, where no word, number or symbols begin with its first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum White {
    /// `\s+(?!\S)|\s+`: all but the last, which goes with what follows; all at the end.
    Run,
    /// `\s*[\r\n]+` before that: up to the last newline.
    Newline,
    /// `\s++$` before that: all at the end, newlines or not.
    NewlineUnlessEnd,
}

/// `U` in [`Words::Cased`].
pub(super) const HEAD: Class = UPPER | CASELESS | MARK;
/// `L` in [`Words::Cased`].
pub(super) const BODY: Class = LOWER | CASELESS | MARK;

/// `[^\r\n\p{L}\p{N}]`.
const WIDE_LEAD: Class = ANY & !(NEWLINE | LETTER | NUMBER);
/// `[^\s\p{L}\p{N}]`.
const SYMBOLS: Class = ANY & !(WHITE | LETTER | NUMBER);

const GPT2: Family = Family {
    first: First::Nothing,
    contraction: Contraction::PieceLower,
    lead: SPACE,
    word: LETTER,
    words: Words::Run,
    number_lead: SPACE,
    most_digits: usize::MAX,
    symbol: SYMBOLS,
    tail: b"",
    white: White::Run,
};

const LLAMA3: Family = Family {
    contraction: Contraction::PieceAnyCase,
    lead: WIDE_LEAD,
    number_lead: 0,
    most_digits: 3,
    tail: b"\r\n",
    white: White::Newline,
    ..GPT2
};

const QWEN2: Family = Family { most_digits: 1, ..LLAMA3 };

const O200K: Family = Family {
    contraction: Contraction::Suffix,
    word: LETTER | MARK,
    words: Words::Cased,
    tail: b"\r\n/",
    ..LLAMA3
};

const DEEPSEEK_V3: Family = Family {
    first: First::NumbersThenKanaHan,
    contraction: Contraction::Never,
    lead: SPACE | BLANK | OTHER,
    word: LETTER | MARK,
    words: Words::RunOrAsciiAfterSymbol,
    symbol: SYMBOL,
    ..LLAMA3
};

/// The family of each named pattern.
pub(super) const FAMILIES: &[(&str, Family)] = &[
    ("gpt2", GPT2),
    ("cl100k", Family { white: White::NewlineUnlessEnd, ..LLAMA3 }),
    ("o200k", O200K),
    ("llama3", LLAMA3),
    ("qwen2", QWEN2),
    ("qwen3_5", Family { word: LETTER | MARK, symbol: SYMBOLS & !MARK, ..QWEN2 }),
    ("deepseek_v3", DEEPSEEK_V3),
    ("tekken", Family { contraction: Contraction::Never, most_digits: 1, ..O200K }),
    ("starcoder", Family { first: First::Numbers, most_digits: 1, ..GPT2 }),
    ("nanochat", Family { most_digits: 2, ..LLAMA3 }),
];

impl Family {
    /// The family of `pattern`: of a named one in a known spelling, or of one that means the same.
    pub(super) fn of(pattern: &Pattern) -> Option<Family> {
        let Some(name) = pattern.name() else { return structure::family(pattern) };
        FAMILIES.iter().find(|(known, _)| *known == name).map(|&(_, family)| family)
    }
}

#[cfg(test)]
mod tests {
    use super::super::NAMED;
    use super::*;

    #[test]
    fn every_named_pattern_has_a_family() {
        for named in NAMED {
            assert!(Family::of(&named.pattern()).is_some(), "{}", named.name);
            for &spelling in named.spellings {
                let pattern = Pattern::Regex(spelling.to_owned());
                assert_eq!(Family::of(&pattern), Family::of(&named.pattern()), "{}", named.name);
            }
        }
        assert_eq!(FAMILIES.len(), NAMED.len());
    }
}
