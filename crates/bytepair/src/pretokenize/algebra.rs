//! The boundary algebra of [`super::blocks`]: where pieces begin, by the classes of neighbours.
//!
//! In: the planes of a stretch of text and the [`Rules`] of a family. Out: a bit for each byte where a
//! piece begins, where that is doubtful, and where the text may be cut in two. What each alternative
//! of the patterns takes is said in [`super::family`]; the loops have no branches and no state from
//! word to word where that is possible, so that the compiler works on many words at once.

#![expect(clippy::needless_range_loop, reason = "a word is looked at with its neighbours")]

use super::blocks::{
    Blocks, CASELESSES, KANA_HANS, LOWERS, MARKS, NUMBERS, ONE, OTHERS, Plane, SYMBOLS, TWO,
    UPPERS, WHITES, set,
};
use super::family::Contraction;
use super::rules::Rules;
use super::scan;
use crate::simd::{HIGH, INSIDE};

/// The bits of `plane` in word `word`, each moved to the byte after its own.
#[inline(always)]
pub(super) fn after<const LEN: usize>(plane: &Plane<LEN>, word: usize) -> u64 {
    plane[word] << 1 | plane[word - 1] >> 63
}

/// The bits of `plane` in word `word`, each moved to the byte before its own.
#[inline(always)]
fn ahead<const LEN: usize>(plane: &Plane<LEN>, word: usize) -> u64 {
    plane[word] >> 1 | plane[word + 1] << 63
}

/// The bits of runs of `ones` from `seeds` on, which are among them. `carry` goes from word to word.
#[inline(always)]
fn flood(ones: u64, seeds: u64, carry: &mut bool) -> (u64, u64) {
    let (sum, over) = ones.overflowing_add(seeds);
    let (sum, more) = sum.overflowing_add(u64::from(*carry));
    *carry = over || more;
    (ones & !sum | seeds, sum & !ones)
}

impl<const LEN: usize> Blocks<LEN> {
    /// What goes on from word to word: newlines after symbols, and lines of nothing but white space,
    /// whose end decides about their beginning.
    #[inline(always)]
    pub(super) fn seed(&mut self, rules: &Rules, count: usize) {
        let planes = &self.planes;
        let (mut tail, mut line) = (false, false);
        let (mut symbols_before, mut newlines_before) = (0, 0);
        for word in 1..=count {
            let newlines = planes[WHITES][word] & planes[TWO][word];
            let symbols = planes[SYMBOLS][word]
                | planes[MARKS][word] & rules.mark_symbols
                | planes[OTHERS][word] & rules.other_symbols;
            let slashes = planes[SYMBOLS][word] & planes[TWO][word] & rules.tail_slashes;
            let seeds = newlines & (symbols << 1 | symbols_before >> 63);
            let tails = flood(newlines | slashes, seeds, &mut tail).0 & rules.tail_newlines;
            self.tails[word] = tails;
            self.symbols[word] = symbols & !tails;

            let blanks = planes[WHITES][word] & !newlines;
            let seeds = blanks & (newlines << 1 | newlines_before >> 63);
            let ends = flood(blanks, seeds, &mut line).1;
            self.doubts[word] = ends & newlines & rules.newlines;
            (symbols_before, newlines_before) = (symbols, newlines);
        }
    }

    /// The boundary algebra: where pieces begin, what is doubtful, and where the text may be cut. It
    /// goes over all words, for the compiler works on eight at once where their number is known.
    #[inline(always)]
    pub(super) fn decide(&mut self, rules: &Rules) {
        let planes = &self.planes;
        for word in 1..LEN - 1 {
            let spaces_after = (planes[WHITES][word] & planes[ONE][word]) << 1
                | (planes[WHITES][word - 1] & planes[ONE][word - 1]) >> 63;
            self.openers[word] = self.symbols[word] & !after(&self.symbols, word) & !spaces_after;
            self.words[word] = (planes[UPPERS][word]
                | planes[LOWERS][word]
                | planes[CASELESSES][word]
                | planes[MARKS][word] & rules.mark_words)
                & !(planes[KANA_HANS][word] & rules.kana_han_first);
        }
        for word in 1..LEN - 1 {
            let inside = planes[INSIDE][word];
            let by = |plane: &Plane<LEN>, bits: u32| {
                plane[word] << bits | plane[word - 1] >> (64 - bits)
            };
            // All bytes of an opener.
            let (two, three) = (inside & after(&planes[INSIDE], word), by(&planes[INSIDE], 2));
            let opener = self.openers[word]
                | after(&self.openers, word) & inside
                | by(&self.openers, 2) & two
                | by(&self.openers, 3) & two & three;
            let newlines = planes[WHITES][word] & planes[TWO][word];
            let blanks = planes[WHITES][word] & !newlines;
            self.leads[word] =
                opener & rules.symbol_leads | blanks & (planes[ONE][word] | rules.blank_leads);
        }
        for word in 1..LEN - 1 {
            self.decide_word(rules, word);
        }
    }

    #[inline(always)]
    fn decide_word(&mut self, rules: &Rules, word: usize) {
        let planes = &self.planes;
        let here = |plane: usize| planes[plane][word];
        let before = |plane: usize| after(&planes[plane], word);
        let whites = here(WHITES) & !self.tails[word];
        let whites_before = before(WHITES) & !after(&self.tails, word);
        let newlines = here(WHITES) & here(TWO);
        let newlines_before = before(WHITES) & before(TWO);
        let spaces_before = before(WHITES) & before(ONE);
        let kana_han = here(KANA_HANS) & rules.kana_han_first;
        let edges = ahead(&planes[NUMBERS], word) & rules.numbers_first
            | ahead(&planes[KANA_HANS], word) & rules.kana_han_first;

        let words = self.words[word];
        let words_before = after(&self.words, word);
        let ascii_letters = (here(UPPERS) | here(LOWERS)) & !here(HIGH) & rules.ascii_leads;
        let ascii_openers = after(&self.openers, word) & !before(HIGH);
        let led = after(&self.leads, word) | ascii_openers & ascii_letters;
        let numbers = here(NUMBERS);
        let number_starts = numbers & !before(NUMBERS) & !(spaces_before & rules.space_numbers)
            | numbers & !here(INSIDE) & rules.single_digits;
        let white_starts = whites & !whites_before
            | whites & !ahead(&planes[WHITES], word) & !(newlines & rules.newlines) & !edges
            | whites & !newlines & newlines_before & rules.newlines;
        self.starts[word] = words & !words_before & !led
            | kana_han & !(before(KANA_HANS) & rules.kana_han_first)
            | here(UPPERS) & before(LOWERS) & rules.cased
            | number_starts
            | self.openers[word]
            | white_starts;

        let letters = here(UPPERS) | here(LOWERS) | here(CASELESSES);
        let letters_before = before(UPPERS) | before(LOWERS) | before(CASELESSES);
        self.doubts[word] |= here(MARKS) & rules.mark_words & !words_before
            | here(OTHERS) & !rules.other_symbols
            | here(WHITES) & here(HIGH)
            | kana_han & !here(CASELESSES)
            | numbers & here(HIGH) & rules.grouped_digits
            | here(UPPERS) & (before(CASELESSES) | before(MARKS)) & rules.cased;
        let apostrophes = here(SYMBOLS) & here(ONE);
        self.cuts[word] = (letters_before & !(letters | here(MARKS) | apostrophes)
            | before(NUMBERS) & !numbers)
            & !here(INSIDE);
    }

    /// What few words have: contractions, numbers of more digits than a piece takes, and ASCII words
    /// after a symbol that do not end with ASCII.
    #[inline(always)]
    pub(super) fn mend(&mut self, rules: &Rules, text: &[u8], count: usize) {
        let mut ascii_word = false;
        for word in 1..=count {
            if rules.most_digits > 0 {
                self.group_digits(rules.most_digits, word);
            }
            let planes = &self.planes;
            let apostrophes = planes[SYMBOLS][word] & planes[ONE][word];
            if apostrophes != 0 && rules.contraction != Contraction::Never {
                self.contract(rules.contraction, apostrophes, text, word);
            }
            if rules.ascii_leads != 0 {
                let planes = &self.planes;
                let high = planes[HIGH][word];
                let letters = planes[UPPERS][word] | planes[LOWERS][word];
                let openers = after(&self.openers, word) & !after(&planes[HIGH], word);
                let ascii = letters & !high;
                let ends = flood(ascii, ascii & openers, &mut ascii_word).1;
                let more = letters | planes[CASELESSES][word] | planes[MARKS][word];
                self.doubts[word] |= ends & more;
            }
        }
    }

    /// Begins a piece in a run of numbers after each `most` of them.
    #[inline(always)]
    fn group_digits(&mut self, most: usize, word: usize) {
        let numbers = &self.planes[NUMBERS];
        if numbers[word] == 0 {
            return;
        }
        let by = |here: u64, before: u64, bits: usize| here << bits | before >> (64 - bits);
        let run = (0..=most).fold(u64::MAX, |run, bits| match bits {
            0 => run & numbers[word],
            _ => run & by(numbers[word], numbers[word - 1], bits),
        });
        let mut left = run;
        while left != 0 {
            let starts = self.starts[word] & numbers[word];
            left = by(starts, self.starts[word - 1] & numbers[word - 1], most) & run & !starts;
            self.starts[word] |= left;
        }
    }

    #[inline(always)]
    fn contract(&mut self, kind: Contraction, apostrophes: u64, text: &[u8], word: usize) {
        let planes = &self.planes;
        let suffix = kind == Contraction::Suffix;
        let letters_ahead = ahead(&planes[UPPERS], word) | ahead(&planes[LOWERS], word);
        let may = if suffix { after(&self.words, word) } else { self.openers[word] };
        let mut left = apostrophes & letters_ahead & may;
        while left != 0 {
            let at = 64 * (word - 1) + left.trailing_zeros() as usize;
            left &= left - 1;
            let end = scan::contraction_at(text, at, kind != Contraction::PieceLower);
            if end == at {
                continue;
            }
            for inside in at + usize::from(!suffix)..end {
                set(&mut self.starts, inside, false);
            }
            if !suffix {
                set(&mut self.starts, end, true);
            } else if text.get(end).is_some_and(|byte| {
                *byte == b'\'' || byte.is_ascii_alphabetic() || !byte.is_ascii()
            }) {
                set(&mut self.doubts, at, true);
            }
        }
    }
}
