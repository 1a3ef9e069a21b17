//! Normalizers: rewriting text before it is cut into pieces.
//!
//! In: a span (text without special tokens). Out: the span as the vocabulary was trained to see it.
//! Decoding gives the rewritten text. Most text is in NFC already, and is then not copied; finding
//! that out costs a look at each byte, and at each character from the first above U+02FF on.
//!
//! The tables are those of Unicode 9, by the crate that Hugging Face's tokenizers uses: the ids must be
//! the same, and later versions gave some characters another place in the order of marks.

use std::borrow::Cow;

use unicode_normalization_alignments::char::canonical_combining_class;
use unicode_normalization_alignments::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// What is done to a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Normalizer {
    /// Unicode normalization form C: characters composed where they can be (Qwen).
    Nfc,
}

/// Characters below U+0300 are in NFC wherever they stand, and their first byte is below this.
const FIRST_BYTE: u8 = 0xCC;

impl Normalizer {
    /// The normalizer of that name.
    ///
    /// ```
    /// use bytepair::normalize::Normalizer;
    /// assert_eq!(Normalizer::named("NFC"), Some(Normalizer::Nfc));
    /// assert_eq!(Normalizer::named("none"), None);
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        (name == "NFC").then_some(Self::Nfc)
    }

    /// Its name, as Hugging Face files have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nfc => "NFC",
        }
    }

    /// The span rewritten; borrowed where nothing changes and that is quick to see.
    ///
    /// ```
    /// use bytepair::normalize::Normalizer;
    /// assert_eq!(Normalizer::Nfc.apply("cafe\u{301}"), "caf\u{e9}");
    /// ```
    pub fn apply(self, span: &str) -> Cow<'_, str> {
        match self {
            Self::Nfc => {
                let Some(at) = span.bytes().position(|byte| byte >= FIRST_BYTE) else {
                    return Cow::Borrowed(span);
                };
                // No mark stands before that place, so none can belong in front of one there.
                if is_nfc_quick(span[at..].chars()) == IsNormalized::Yes {
                    return Cow::Borrowed(span);
                }
                let normal: String = span.nfc().map(|(character, _)| character).collect();
                if normal == span { Cow::Borrowed(span) } else { Cow::Owned(normal) }
            }
        }
    }

    /// The end of the longest part of `span` that is rewritten alike whatever text follows `span`.
    pub fn settled(self, span: &str) -> usize {
        let mut ends = span.char_indices().rev();
        ends.find(|&(_, character)| starts(character)).map_or(0, |(at, _)| at)
    }

    /// The last place where `span` may be cut so that the first part, rewritten, ends at one of
    /// `ends` (ascending); and that end. `(0, 0)` for none.
    pub fn last_cut(self, span: &str, ends: &[usize]) -> (usize, usize) {
        let (mut cut, mut start, mut length) = ((0, 0), 0, 0);
        for (at, character) in span.char_indices().chain([(span.len(), 'a')]) {
            if starts(character) && at > start {
                length += self.apply(&span[start..at]).len();
                start = at;
                if ends.binary_search(&length).is_ok() {
                    cut = (at, length);
                }
            }
        }
        cut
    }
}

/// Whether no text before this character changes with it: it neither composes with what is before
/// nor moves in front of it.
fn starts(character: char) -> bool {
    canonical_combining_class(character) == 0
        && is_nfc_quick(std::iter::once(character)) == IsNormalized::Yes
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [&str; 7] = [
        "",
        "plain",
        "cafe\u{301} x",
        "e\u{323}\u{307} q\u{307}\u{323} \u{301}x",
        "\u{1100}\u{1161}\u{11a8}\u{1100}\u{1161} \u{ac00}\u{11a8}",
        "\u{212b}\u{2126}\u{f900} \u{2f800}",
        "a\u{344} \u{fb1d}\u{5b4}",
    ];

    fn nfc(text: &str) -> String {
        text.nfc().map(|(character, _)| character).collect()
    }

    #[test]
    fn it_is_nfc() {
        for text in TEXTS {
            assert_eq!(Normalizer::Nfc.apply(text), nfc(text), "{text:?}");
        }
    }

    #[test]
    fn what_is_settled_stays() {
        for text in TEXTS {
            for next in TEXTS {
                let at = Normalizer::Nfc.settled(text);
                let whole = format!("{text}{next}");
                assert_eq!(nfc(&whole[..at]) + &nfc(&whole[at..]), nfc(&whole), "{whole:?}");
            }
        }
    }

    #[test]
    fn cuts_are_those_of_both_texts() {
        // Rewritten, `e` and the accent are one character of two bytes.
        assert_eq!(Normalizer::Nfc.last_cut("e\u{301} x", &[2]), (3, 2));
        assert_eq!(Normalizer::Nfc.last_cut("e\u{301} x", &[1]), (0, 0));
        assert_eq!(Normalizer::Nfc.last_cut("e\u{301} x", &[2, 3, 4]), (5, 4));
    }
}
