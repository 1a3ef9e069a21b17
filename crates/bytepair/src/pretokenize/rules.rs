//! A [`Family`] as words of bits, for [`super::blocks`].
//!
//! Each parameter that a family has or has not is a word of ones or zeros, so that the boundary
//! algebra of all families is one loop without branches.

use super::classes::{BLANK, MARK, OTHER, SYMBOL};
use super::family::{Contraction, Family, First, White, Words};

/// The parameters of one family.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// Marks belong to words.
    pub(super) mark_words: u64,
    /// Marks belong to symbols.
    pub(super) mark_symbols: u64,
    /// Characters of no class belong to symbols; else they are left to the scanner.
    pub(super) other_symbols: u64,
    /// A word may begin with white space other than U+0020 and newlines.
    pub(super) blank_leads: u64,
    /// A word may begin with a symbol.
    pub(super) symbol_leads: u64,
    /// An ASCII symbol may begin a run of ASCII letters.
    pub(super) ascii_leads: u64,
    /// A word is `U*L+` or `U+L*`.
    pub(super) cased: u64,
    /// A number may begin with U+0020.
    pub(super) space_numbers: u64,
    /// Every number of one character is a piece.
    pub(super) single_digits: u64,
    /// Digits in a number, where that is neither 1 nor unbounded; else 0.
    pub(super) most_digits: usize,
    /// Numbers have at most that many digits.
    pub(super) grouped_digits: u64,
    /// A run of symbols takes newlines after it.
    pub(super) tail_newlines: u64,
    /// And slashes among them.
    pub(super) tail_slashes: u64,
    /// White space ends with its last newline.
    pub(super) newlines: u64,
    /// Numbers are set apart before all else.
    pub(super) numbers_first: u64,
    /// And so are kana and han.
    pub(super) kana_han_first: u64,
    pub(super) contraction: Contraction,
}

fn ones(if_so: bool) -> u64 {
    if if_so { u64::MAX } else { 0 }
}

impl Rules {
    pub(super) fn of(family: &Family) -> Self {
        let digits = family.most_digits;
        Self {
            mark_words: ones(family.word & MARK != 0),
            mark_symbols: ones(family.symbol & MARK != 0 && family.word & MARK == 0),
            other_symbols: ones(family.symbol & OTHER != 0),
            blank_leads: ones(family.lead & BLANK != 0),
            symbol_leads: ones(family.lead & SYMBOL != 0),
            ascii_leads: ones(family.words == Words::RunOrAsciiAfterSymbol),
            cased: ones(family.words == Words::Cased),
            space_numbers: ones(family.number_lead != 0 && family.first == First::Nothing),
            single_digits: ones(digits == 1),
            most_digits: if digits == 1 || digits == usize::MAX { 0 } else { digits },
            grouped_digits: ones(digits != 1 && digits != usize::MAX),
            tail_newlines: ones(family.tail.contains(&b'\n')),
            tail_slashes: ones(family.tail.contains(&b'/')),
            newlines: ones(family.white != White::Run),
            numbers_first: ones(family.first != First::Nothing),
            kana_han_first: ones(family.first == First::NumbersThenKanaHan),
            contraction: family.contraction,
        }
    }
}
