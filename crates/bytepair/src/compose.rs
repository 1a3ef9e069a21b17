//! Unicode normalization form C of text that mostly has it already.
//!
//! In: a span. Out: its form C, or nothing where that is the span itself. A character that neither
//! moves in front of another nor composes with what is before (combining class 0 and quick check
//! "yes") begins a part of its own (UAX #15, 9.1). So only the characters that may change are
//! normalized, each with the one before it and the others behind it up to such a beginning. Most
//! characters are found to be beginnings by one bit of a table of 8 KiB, made when it is first needed.

use std::iter::once;
use std::sync::LazyLock;

use unicode_normalization_alignments::char::canonical_combining_class;
use unicode_normalization_alignments::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::watched::Ear;

/// Characters below U+0300 begin a part wherever they stand, and their first byte is below this.
const FIRST_BYTE: u8 = 0xCC;

/// A bit for each character below U+10000 that begins a part.
static BEGINNINGS: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let mut table = vec![0; 1 << 10];
    for character in '\0'..='\u{FFFF}' {
        let code = character as usize;
        table[code / 64] |= u64::from(begins(character)) << (code % 64);
    }
    table
});

/// Whether a part begins with this character, whatever stands before it.
fn begins(character: char) -> bool {
    canonical_combining_class(character) == 0 && is_nfc_quick(once(character)) == IsNormalized::Yes
}

fn begins_by_table(character: char) -> bool {
    let code = character as usize;
    let by_table = || BEGINNINGS.get(code / 64).map(|word| word >> (code % 64) & 1 == 1);
    code < 0x300 || by_table().unwrap_or_else(|| begins(character))
}

/// The least place at or after `from` of a character that begins a part, or that does not.
fn find(span: &str, from: usize, wanted: bool) -> Option<usize> {
    let is_wanted = |&(_, character): &(usize, char)| begins_by_table(character) == wanted;
    if wanted {
        return span[from..].char_indices().find(is_wanted).map(|(at, _)| from + at);
    }
    let bytes = span.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        // Sixty-four bytes at a time while all are below: the loop has no branch, so it is one of few
        // instructions.
        while let Some(block) = bytes[at..].first_chunk::<64>()
            && block.iter().fold(0, |most, &byte| most.max(byte)) < FIRST_BYTE
        {
            at += 64;
        }
        let end = span.ceil_char_boundary((at + 64).min(bytes.len()));
        // A character that began before the block was looked at with what came before.
        at = span.ceil_char_boundary(at);
        if let Some((found, _)) = span[at..end].char_indices().find(is_wanted) {
            return Some(at + found);
        }
        at = end;
    }
    None
}

/// The characters, without what the crate says about the places where they were.
pub(crate) fn collect<T>(characters: impl Iterator<Item = (char, T)>, ear: &Ear<'_>) -> String {
    ear.until(characters).map(|(character, _)| character).collect()
}

/// The form C of `span`; nothing where nothing changes.
pub(crate) fn nfc(span: &str, ear: &Ear<'_>) -> Option<String> {
    let mut changed: Option<String> = None;
    let (mut copied, mut at) = (0, 0);
    while !ear.hears()
        && let Some(open) = find(span, at, false)
    {
        let start = span[..open].char_indices().next_back().map_or(0, |(start, _)| start);
        let end = find(span, open, true).unwrap_or(span.len());
        let part = &span[start..end];
        let normal = collect(ear.until(part.chars()).nfc(), ear);
        if normal != part {
            let text = changed.get_or_insert_default();
            text.push_str(&span[copied..start]);
            text.push_str(&normal);
            copied = end;
        }
        at = end;
    }
    changed.map(|mut text| {
        text.push_str(&span[copied..]);
        text
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn nfc(text: &str) -> Option<String> {
        super::nfc(text, &Ear::new(&|| false))
    }

    fn whole(text: &str) -> String {
        text.nfc().map(|(character, _)| character).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn parts_give_the_form_of_the_whole(
            text in "([a-zé中가-각ᄀ-ᇿ\u{300}-\u{345}\u{958}\u{f73}-\u{f81}が😀\u{1d15e}\u{1d165} ]|\\PC){0,200}",
            ascii in 0_usize..150,
        ) {
            let text = [&"x".repeat(ascii), text.as_str()].concat();
            let expected = whole(&text);
            prop_assert_eq!(nfc(&text).unwrap_or_else(|| text.clone()), expected.as_str());
            prop_assert_eq!(nfc(&text).is_some(), expected != text);
        }
    }

    #[test]
    fn every_character_alone_and_behind_others() {
        for character in '\u{80}'..=char::MAX {
            for text in [
                format!("{character}"),
                format!("e{character}\u{323}"),
                format!("\u{1100}{character}"),
            ] {
                let expected = whole(&text);
                assert_eq!(nfc(&text).unwrap_or(text.clone()), expected, "{text:?}");
            }
        }
    }
}
