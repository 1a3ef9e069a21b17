//! What pretokenization promises, on random text: the scanners give what the regex engine gives.
//!
//! `PROPTEST_CASES=100000 cargo test --release --test pretokenize_properties` looks harder.

#![expect(clippy::unwrap_used, reason = "a test may fail there")]

use std::sync::LazyLock;

use bytepair::pretokenize::{NAMED, Pattern, Pretokenizer};
use bytepair::simd::Level;
use proptest::prelude::*;
use proptest::sample::select;

/// A pattern in one of its spellings, with both engines.
struct Pair {
    pattern: Pattern,
    fast: Pretokenizer,
    general: Pretokenizer,
}

/// Every spelling of every named pattern.
static PAIRS: LazyLock<Vec<Pair>> = LazyLock::new(|| {
    let spelled = |text: &&str| Pattern::Regex((*text).to_owned());
    let patterns = NAMED.iter().flat_map(|named| {
        std::iter::once(named.pattern()).chain(named.spellings.iter().map(spelled))
    });
    let pair = |pattern: Pattern| Pair {
        fast: Pretokenizer::new(&pattern).unwrap(),
        general: Pretokenizer::general(&pattern).unwrap(),
        pattern,
    };
    patterns.map(pair).collect()
});

/// Patterns that no scanner knows.
static GENERAL: LazyLock<Vec<Pretokenizer>> = LazyLock::new(|| {
    let one = |text: &str| Pattern::Regex(text.to_owned());
    let many = |texts: &[&str]| Pattern::Sequence(texts.iter().map(|&t| t.to_owned()).collect());
    let patterns = [
        one(r"\w+"),
        one(r"a*"),
        one(r"(?=a)|\d"),
        one(r"(?<=\s)\S|[ab]{2}"),
        one(r"(?i)[a-m]+|$"),
        many(&[r"\p{N}+", r"(?=(\d{3})+(?!\d))"]),
        many(&[r"\s", r"\p{L}+", r"a", r"(?!^)b"]),
        many(&[r"[\p{P}\$\+<=>\^~\|`]+", NAMED[0].regexes[0], r"[0-9][0-9][0-9]"]),
    ];
    patterns.iter().map(|pattern| Pretokenizer::new(pattern).unwrap()).collect()
});

/// Characters of every class and every special case, singly or as the snippets in which rules meet.
const PARTS: &[&str] = &[
    "a",
    "e",
    "l",
    "r",
    "s",
    "v",
    "A",
    "E",
    "L",
    "S",
    "Z",
    "\u{df}",
    "\u{e9}",
    "\u{c9}",
    "\u{1c5}",
    "\u{17f}",
    "\u{212a}",
    "\u{2b0}",
    "\u{aa}",
    "\u{4e00}",
    "\u{65e5}",
    "\u{9fa5}",
    "\u{9fa6}",
    "\u{20000}",
    "\u{3042}",
    "\u{30ab}",
    "\u{30fb}",
    "\u{309b}",
    "\u{3099}",
    "\u{3097}",
    "\u{3040}",
    "\u{30fc}",
    "\u{e01}",
    "\u{e31}",
    "\u{ac00}",
    "\u{10400}",
    "\u{10428}",
    "0",
    "1",
    "2",
    "9",
    "\u{969}",
    "\u{2460}",
    "\u{bd}",
    "\u{3007}",
    "\u{2167}",
    "\u{301}",
    "\u{308}",
    "\u{93f}",
    "\u{fe0f}",
    "\u{e0100}",
    "'",
    "'",
    "'",
    "\u{2019}",
    " ",
    " ",
    " ",
    "\t",
    "\r",
    "\n",
    "\n",
    "\u{b}",
    "\u{85}",
    "\u{a0}",
    "\u{2003}",
    "\u{2028}",
    "\u{3000}",
    "\u{180e}",
    "\u{200b}",
    "\u{200d}",
    "\u{feff}",
    "\u{1c}",
    "\0",
    "\u{fffd}",
    "\u{e000}",
    "\u{10ffff}",
    "\u{378}",
    ".",
    "/",
    "/",
    "-",
    "_",
    "(",
    "\"",
    "$",
    "+",
    "\u{3001}",
    "\u{1f469}",
    "\u{1f3fb}",
    "'s",
    "'S",
    "'ll",
    "'Re",
    "'v",
    "'\u{17f}",
    "  ",
    "\r\n",
    " \n",
    "\n ",
    "123",
    "Ab",
    "aB",
    "\u{1f469}\u{200d}\u{1f4bb}",
    "hello",
];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(select(PARTS), 0..24).prop_map(|parts| parts.concat())
}

/// All ends, in calls of at most `most`, with the number of settled ones.
fn ends(pretokenizer: &Pretokenizer, span: &str, most: usize) -> (Vec<usize>, usize) {
    let (mut ends, mut settled, mut next) = (Vec::new(), 0, 0);
    while next < span.len() {
        let before = ends.len();
        let filled = pretokenizer.fill(span, next, &mut ends, most).unwrap();
        assert_eq!(filled.next, *ends.last().unwrap());
        assert!(filled.settled <= ends.len() - before);
        if settled == before {
            settled += filled.settled;
        }
        next = filled.next;
    }
    (ends, settled)
}

fn at_boundary(text: &str, place: usize) -> usize {
    (0..=place.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap()
}

proptest! {
    #[test]
    fn a_scanner_gives_the_pieces_of_the_regex_engine(text in text()) {
        for pair in PAIRS.iter() {
            let expected = pair.general.pieces(&text).unwrap();
            prop_assert_eq!(pair.fast.pieces(&text).unwrap(), expected, "{:?}", &pair.pattern);
        }
    }

    #[test]
    fn nothing_is_lost(text in text(), most in 1_usize..5) {
        let fast = PAIRS.iter().map(|pair| &pair.fast);
        for pretokenizer in fast.chain(GENERAL.iter()) {
            let (ends, _) = ends(pretokenizer, &text, usize::MAX);
            prop_assert!(ends.is_sorted_by(|a, b| a < b), "{:?}", pretokenizer.pattern());
            prop_assert!(ends.iter().all(|&end| end > 0 && text.is_char_boundary(end)));
            prop_assert_eq!(ends.last().copied().unwrap_or(0), text.len());
            prop_assert_eq!(self::ends(pretokenizer, &text, most).0, ends);
        }
    }

    #[test]
    fn settled_pieces_stay_whatever_follows(text in text(), place in 0_usize..80) {
        let head = &text[..at_boundary(&text, place)];
        for pretokenizer in PAIRS.iter().map(|pair| &pair.fast) {
            let (whole, _) = ends(pretokenizer, &text, usize::MAX);
            let (part, settled) = ends(pretokenizer, head, 2);
            prop_assert!(whole.starts_with(&part[..settled]), "{:?}", pretokenizer.pattern());
        }
    }

    /// As the stream encoder goes: it keeps the text from the last settled piece on.
    #[test]
    fn settled_pieces_of_growing_text_are_those_of_the_whole(text in text()) {
        for pretokenizer in PAIRS.iter().map(|pair| &pair.fast) {
            let (mut found, mut start) = (Vec::new(), 0);
            for (place, c) in text.char_indices() {
                let seen = &text[start..place + c.len_utf8()];
                let (ends, settled) = ends(pretokenizer, seen, usize::MAX);
                found.extend(ends[..settled].iter().map(|end| start + end));
                start = found.last().copied().unwrap_or(0);
            }
            let (rest, _) = ends(pretokenizer, &text[start..], usize::MAX);
            found.extend(rest.iter().map(|end| start + end));
            prop_assert_eq!(found, ends(pretokenizer, &text, usize::MAX).0);
        }
    }

    /// Cutting texts relies on it.
    #[test]
    fn parts_of_a_piece_of_one_kind_are_pieces(
        text in "[a-cA-C]{1,6}|[a-c\u{e9}\u{17f}\u{2b0}\u{4e2d}\u{3042}\u{ac00}\u{e01}\u{345}\u{903}\u{93e}\u{24d0}\u{2170}\u{10428}]{1,6}|[!-/:-@\\[-`{-~]{1,6}|[/.']{1,6}|[ \t\u{a0}\u{3000}\u{2028}\u{85}\u{b}]{1,6}",
    ) {
        let is_one = |pretokenizer: &Pretokenizer, text| {
            ends(pretokenizer, text, usize::MAX).0 == [text.len()]
        };
        for pretokenizer in PAIRS.iter().map(|pair| &pair.fast) {
            if pretokenizer.pattern().name().is_none() || !is_one(pretokenizer, &text) {
                continue;
            }
            for (at, _) in text.char_indices().skip(1) {
                prop_assert!(is_one(pretokenizer, &text[..at]), "{:?}", pretokenizer.pattern());
                prop_assert!(is_one(pretokenizer, &text[at..]), "{:?}", pretokenizer.pattern());
            }
        }
    }

    #[test]
    fn a_safe_cut_changes_no_piece(text in text(), from in 0_usize..80) {
        for pretokenizer in PAIRS.iter().map(|pair| &pair.fast) {
            let Some(cut) = pretokenizer.safe_cut(&text, from) else { continue };
            prop_assert!(cut >= from && cut > 0 && cut < text.len());
            let mut apart = pretokenizer.pieces(&text[..cut]).unwrap();
            apart.extend(pretokenizer.pieces(&text[cut..]).unwrap());
            prop_assert_eq!(apart, pretokenizer.pieces(&text).unwrap());
        }
    }
}

/// Texts of one block and of many, so that every special case meets their edges and the end.
fn long_text() -> impl Strategy<Value = String> {
    let parts = |count| prop::collection::vec(select(PARTS), count);
    let parts = prop_oneof![parts(3..60), parts(60..900)];
    (parts, 0..3_usize).prop_map(|(parts, spread)| {
        // Plain words between the parts, so that not every block is doubtful.
        let plain = ["", "word ", "a longer line of words, with 12345 numbers.\n"][spread];
        parts.iter().flat_map(|part| [part, plain]).collect()
    })
}

proptest! {
    /// The blocks give what the scanner gives, at every level, from every piece boundary.
    #[test]
    fn blocks_give_what_the_scanner_gives(text in long_text(), skip in 0..40_usize) {
        for pair in PAIRS.iter() {
            let mut expected = Vec::new();
            pair.fast.fill(&text, 0, &mut expected, usize::MAX).unwrap();
            let start = expected.get(skip).copied().unwrap_or(0);
            expected.retain(|&end| end > start);
            for level in Level::all() {
                let (mut found, mut ends, mut from) = (Vec::new(), Vec::new(), start);
                while from < text.len() {
                    ends.clear();
                    let next = pair.fast.chunk_at(level, &text, from, &mut ends).unwrap();
                    found.extend(ends.iter().map(|&end| from + end as usize));
                    prop_assert_eq!(found.last(), Some(&next));
                    from = next;
                }
                prop_assert_eq!(&found, &expected, "{:?} {:?}", level, pair.pattern);
            }
        }
    }
}
