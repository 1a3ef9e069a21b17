//! Character classes: what the scanners know of a character.
//!
//! In: a position in UTF-8 text. Out: a [`Class`], a set of bits, so that "is it one of these" is
//! one AND. ASCII costs one table look-up, the rest a decode and two. The data is in `tables.rs`.

use super::tables::{BLOCK, BLOCKS, INDEX};

/// A set of classes. A character has exactly one, and [`KANA_HAN`] besides where that applies.
pub(super) type Class = u16;

/// `\p{Lu}` and `\p{Lt}`.
pub(super) const UPPER: Class = 1 << 1;
/// `\p{Ll}`.
pub(super) const LOWER: Class = 1 << 2;
/// `\p{Lm}` and `\p{Lo}`.
pub(super) const CASELESS: Class = 1 << 3;
/// `\p{M}`.
pub(super) const MARK: Class = 1 << 4;
/// `\p{N}`.
pub(super) const NUMBER: Class = 1 << 5;
/// `\p{P}` and `\p{S}`.
pub(super) const SYMBOL: Class = 1 << 6;
/// White space but U+0020, `\r` and `\n`.
pub(super) const BLANK: Class = 1 << 7;
/// U+0020.
pub(super) const SPACE: Class = 1 << 8;
/// `\r` and `\n`.
pub(super) const NEWLINE: Class = 1 << 9;
/// What is left: controls, formats, private use, unassigned.
pub(super) const OTHER: Class = 1 << 10;
/// U+3040 to U+30FF and U+4E00 to U+9FA5, whatever else they are (`deepseek_v3` sets them apart).
pub(super) const KANA_HAN: Class = 1 << 11;

/// `\p{L}`.
pub(super) const LETTER: Class = UPPER | LOWER | CASELESS;
/// `\s`.
pub(super) const WHITE: Class = BLANK | SPACE | NEWLINE;
/// Every character.
pub(super) const ANY: Class = LETTER | MARK | NUMBER | SYMBOL | WHITE | OTHER;

/// The bits for each number of the table (0 is a surrogate, so never met, or beyond the text).
const BITS: [Class; 16] = [
    0,
    UPPER,
    LOWER,
    CASELESS,
    MARK,
    NUMBER,
    SYMBOL,
    BLANK,
    SPACE,
    NEWLINE,
    OTHER,
    CASELESS | KANA_HAN,
    MARK | KANA_HAN,
    SYMBOL | KANA_HAN,
    OTHER | KANA_HAN,
    0,
];

/// The class of each ASCII byte; 0 for the bytes of longer characters.
pub(super) const ASCII: [Class; 256] = ascii();

const fn ascii() -> [Class; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = BITS[(BLOCKS[byte] & 15) as usize];
        byte += 1;
    }
    table
}

/// The class of the character with this code.
#[inline]
const fn of_code(code: u32) -> Class {
    // The table ends after the last letter; beyond are only the variation selectors.
    let code = code as usize;
    if code / BLOCK < INDEX.len() {
        let block = INDEX[code / BLOCK] as usize;
        BITS[(BLOCKS[block * BLOCK + code % BLOCK] & 15) as usize]
    } else if 0xE_0100 <= code && code < 0xE_01F0 {
        MARK
    } else {
        OTHER
    }
}

/// What the first two bytes tell of the class of a character of two or three bytes: for each first
/// byte from 0xC0 on, the class where the second is below a bound, and that where it is not below
/// another. The class is 0 where the two bytes do not tell it.
pub(super) struct Leads {
    pub(super) below: [(u8, Class); 64],
    pub(super) above: [(u8, Class); 64],
}

pub(super) const LEADS: Leads = leads();

const fn leads() -> Leads {
    let mut leads = Leads { below: [(0x80, 0); 64], above: [(0xC0, 0); 64] };
    let mut lead = 2;
    while lead < 48 {
        let below = class_of_two(lead, 0x80);
        let mut bound = 0x80;
        while below != 0 && bound < 0xC0 && class_of_two(lead, bound) == below {
            bound += 1;
        }
        leads.below[lead] = (bound, below);
        let above = class_of_two(lead, 0xBF);
        let mut bound = 0xC0;
        while above != 0 && bound > 0x80 && class_of_two(lead, bound - 1) == above {
            bound -= 1;
        }
        leads.above[lead] = (bound, above);
        lead += 1;
    }
    leads
}

/// The class that all characters have which begin with the bytes 0xC0 + `lead` and `second`, or 0.
const fn class_of_two(lead: usize, second: u8) -> Class {
    #[expect(clippy::cast_possible_truncation, reason = "below 64")]
    let (lead, low) = (lead as u32, (second & 0x3F) as u32);
    if lead < 0x20 {
        return of_code(lead << 6 | low);
    }
    let first = (lead - 0x20) << 12 | low << 6;
    // Shorter characters and surrogates are not spelt so.
    if first < 0x800 {
        return 0;
    }
    let class = of_code(first);
    let mut code = first + 1;
    while code < first + 64 {
        if of_code(code) != class {
            return 0;
        }
        code += 1;
    }
    class
}

/// The class of the character at byte `at` of valid UTF-8, and its length in bytes.
/// Nothing is there: `(0, 0)`.
#[inline]
pub(super) fn at(text: &[u8], at: usize) -> (Class, usize) {
    match text.get(at) {
        Some(&byte) if byte < 0x80 => (ASCII[usize::from(byte)], 1),
        Some(&byte) => longer(text, at, byte),
        None => (0, 0),
    }
}

/// [`at`] for a character of two bytes or more, of which `first` is the first.
#[inline]
fn longer(text: &[u8], at: usize, first: u8) -> (Class, usize) {
    // Past the end are zeros, as in a character that is cut off.
    let four = text[at..].first_chunk().copied().unwrap_or_else(|| {
        let mut four = [0; 4];
        let rest = &text[at..];
        four[..rest.len()].copy_from_slice(rest);
        four
    });
    let [_, second, third, fourth] = four.map(|byte| u32::from(byte & 0x3F));
    let first = u32::from(first);
    let (code, length) = if first < 0xE0 {
        ((first & 0x1F) << 6 | second, 2)
    } else if first < 0xF0 {
        ((first & 0x0F) << 12 | second << 6 | third, 3)
    } else {
        ((first & 0x07) << 18 | second << 12 | third << 6 | fourth, 4)
    };
    (of_code(code), length)
}

/// The class of the last character of `text[..end]`, where `end` lies between characters.
pub(super) fn before(text: &[u8], end: usize) -> Class {
    let head = text.get(..end).unwrap_or_default();
    let start = head.iter().rposition(|byte| byte & 0xC0 != 0x80).unwrap_or(0);
    at(head, start).0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every code point has the class that the general engine gives it.
    #[test]
    fn classes_are_those_of_the_regex_engine() {
        let regexes = [
            (UPPER, r"[\p{Lu}\p{Lt}]"),
            (LOWER, r"\p{Ll}"),
            (CASELESS, r"[\p{Lm}\p{Lo}]"),
            (LETTER, r"\p{L}"),
            (MARK, r"\p{M}"),
            (NUMBER, r"\p{N}"),
            (SYMBOL, r"[\p{P}\p{S}]"),
            (WHITE, r"\s"),
            (SPACE, " "),
            (NEWLINE, r"[\r\n]"),
            (OTHER, r"[^\p{L}\p{M}\p{N}\p{P}\p{S}\s]"),
            (KANA_HAN, "[\u{4e00}-\u{9fa5}\u{3040}-\u{309f}\u{30a0}-\u{30ff}]"),
        ];
        let all: String = ('\0'..=char::MAX).collect();
        for (class, regex) in regexes {
            let regex = fancy_regex::Regex::new(regex).unwrap();
            let mut expected = vec![false; all.len()];
            for found in regex.find_iter(&all) {
                expected[found.unwrap().start()] = true;
            }
            for (place, c) in all.char_indices() {
                let (found, length) = at(all.as_bytes(), place);
                assert_eq!(found & class != 0, expected[place], "U+{:04X} {class:b}", u32::from(c));
                assert_eq!(length, c.len_utf8());
                assert_eq!((found & ANY).count_ones(), 1, "U+{:04X}", u32::from(c));
            }
        }
    }

    #[test]
    fn two_bytes_tell_nothing_wrong() {
        let mut told = 0;
        for c in '\u{80}'..'\u{10000}' {
            let mut bytes = [0; 4];
            let bytes = c.encode_utf8(&mut bytes).as_bytes();
            let lead = usize::from(bytes[0] - 0xC0);
            let ((below, class_below), (above, class_above)) =
                (LEADS.below[lead], LEADS.above[lead]);
            for told_class in [(bytes[1] < below, class_below), (bytes[1] >= above, class_above)] {
                if let (true, class @ 1..) = told_class {
                    assert_eq!(class, at(bytes, 0).0, "U+{:04X}", u32::from(c));
                    told += 1;
                }
            }
        }
        assert!(told > 40_000, "most of CJK: {told}");
    }

    #[test]
    fn the_character_before_an_end_is_found() {
        let text = "a\u{e9}\u{4e00}\u{1f600} ".as_bytes();
        assert_eq!(before(text, 1), LOWER);
        assert_eq!(before(text, 3), LOWER);
        assert_eq!(before(text, 6), CASELESS | KANA_HAN);
        assert_eq!(before(text, 10), SYMBOL);
        assert_eq!(before(text, 11), SPACE);
        assert_eq!(before(text, 0), 0);
    }
}
