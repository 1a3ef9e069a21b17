//! What training promises, on random corpora: the fast ways give what the definitions give.
//!
//! `PROPTEST_CASES=100000 cargo test --release --test train_properties` looks harder.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use bytepair::pretokenize::{Pattern, Pretokenizer};
use bytepair::train::{
    Counter, LearnOptions, NoWatch, PieceCounts, SpecialCutter, TieBreak, learn, learn_naive,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

const GPT2: &str = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

fn cases(default: u32) -> ProptestConfig {
    // A busy machine must not make a test fail; the variable asks for more.
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { cases: cases.unwrap_or(default), ..ProptestConfig::default() }
}

fn rules() -> impl Strategy<Value = TieBreak> {
    select(vec![TieBreak::Lexicographic, TieBreak::LowestIds, TieBreak::HuggingFace])
}

/// Pieces of few different bytes (which the rules order differently), with runs; some are long
/// enough for the storage of long pieces.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let byte = select(vec![b'a', b'b', b'a', b'b', b'c', b' ', 0xAD, 0xE4]);
    let few = vec(select(vec![b'a', b'b']), 0..12);
    let more = vec(byte.clone(), 0..12);
    let runs = vec((byte.clone(), 1..9usize), 0..6)
        .prop_map(|runs| runs.iter().flat_map(|&(byte, n)| vec![byte; n]).collect());
    let period = (vec(select(vec![b'a', b'b', b' ']), 1..4), 1..60usize, vec(byte, 0..3))
        .prop_map(|(unit, n, end)| [unit.repeat(n), end].concat());
    prop_oneof![3 => few, 3 => more, 2 => runs, 1 => period]
}

fn corpus() -> impl Strategy<Value = Vec<(Vec<u8>, u64)>> {
    let n = prop_oneof![4 => 1..4u64, 2 => 1..200u64, 1 => Just(1u64 << 33)];
    vec((piece(), n), 0..12)
}

fn counts(pieces: &[(Vec<u8>, u64)]) -> PieceCounts {
    let mut counts = PieceCounts::new();
    for (piece, n) in pieces {
        counts.add(piece, *n).unwrap();
    }
    counts
}

fn options() -> impl Strategy<Value = LearnOptions> {
    let merges = prop_oneof![0..10usize, 0..60usize, Just(1000usize)];
    let min_count = prop_oneof![3 => Just(1u64), 1 => 1..40u64];
    let max_token_bytes = prop_oneof![2 => Just(None), 1 => (0..9usize).prop_map(Some)];
    (merges, rules(), min_count, max_token_bytes).prop_map(
        |(merges, tie_break, min_count, max_token_bytes)| LearnOptions {
            merges,
            tie_break,
            min_count,
            max_token_bytes,
        },
    )
}

proptest! {
    #![proptest_config(cases(6000))]

    #[test]
    fn learning_is_the_definition(pieces in corpus(), options in options()) {
        let counts = counts(&pieces);
        let learned = learn(&counts, &options, &NoWatch).unwrap();
        prop_assert_eq!(&learned, &learn_naive(&counts, &options, &NoWatch).unwrap());
        // No two merges give the same bytes, and counts never rise.
        let tokens = learned.tokens();
        prop_assert_eq!(tokens.iter().collect::<BTreeSet<_>>().len(), tokens.len());
        prop_assert!(learned.counts.is_sorted_by(|a, b| a >= b));
        prop_assert!(learned.counts.iter().all(|&count| count >= options.min_count));
    }
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn the_first_seen_is_the_definition(pieces in corpus(), options in options()) {
        let options = LearnOptions { tie_break: TieBreak::FirstSeen, ..options };
        let mut counts = PieceCounts::ordered();
        for (piece, n) in &pieces {
            counts.add(piece, *n).unwrap();
        }
        let learned = learn(&counts, &options, &NoWatch).unwrap();
        prop_assert_eq!(learned, learn_naive(&counts, &options, &NoWatch).unwrap());
    }
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn fewer_merges_are_the_first_ones(pieces in corpus(), options in options(), cut in 0..30usize) {
        let counts = counts(&pieces);
        let learned = learn(&counts, &options, &NoWatch).unwrap();
        let fewer = LearnOptions { merges: cut.min(options.merges), ..options };
        let fewer = learn(&counts, &fewer, &NoWatch).unwrap();
        prop_assert!(learned.merges.starts_with(&fewer.merges));
    }

    #[test]
    fn the_order_of_adding_does_not_matter(
        pieces in corpus().prop_shuffle(),
        options in options(),
        at in any::<prop::sample::Index>(),
    ) {
        let whole = counts(&pieces);
        let mut reversed = pieces.clone();
        reversed.reverse();
        let (first, second) = reversed.split_at(at.index(reversed.len() + 1));
        let mut joined = counts(first);
        joined.merge(&counts(second)).unwrap();
        prop_assert_eq!(&joined, &whole);
        prop_assert!(joined.iter().eq(whole.iter()));
        let learn = |counts| learn(counts, &options, &NoWatch).unwrap();
        prop_assert_eq!(learn(&joined), learn(&whole));
    }

    #[test]
    fn piece_counts_are_a_map(pieces in corpus(), scale in 1..4u64) {
        let mut expected: BTreeMap<&[u8], u64> = BTreeMap::new();
        for (piece, n) in &pieces {
            *expected.entry(piece).or_default() += n * scale;
        }
        let mut counts = counts(&pieces);
        counts.scale(scale).unwrap();
        prop_assert_eq!(counts.len(), expected.len());
        prop_assert!(expected.iter().all(|(piece, &n)| counts.get(piece) == n));
        let sorted: BTreeMap<&[u8], u64> = counts.iter().collect();
        prop_assert_eq!(sorted, expected);
    }
}

/// The count of all pieces of uncut texts, one after the other.
fn count_simply(texts: &[&str], pretokenizer: &Pretokenizer, special: &[&str]) -> PieceCounts {
    let mut counts = PieceCounts::ordered();
    for text in texts {
        let (mut start, mut at) = (0, 0);
        let mut spans = Vec::new();
        while at < text.len() {
            let here = special.iter().filter(|token| text[at..].starts_with(**token));
            if let Some(longest) = here.map(|token| token.len()).max() {
                spans.push(&text[start..at]);
                at += longest;
                start = at;
            } else {
                at += text[at..].chars().next().unwrap().len_utf8();
            }
        }
        spans.push(&text[start..]);
        for span in spans {
            for piece in pretokenizer.pieces(span).unwrap() {
                counts.add(piece.as_bytes(), 1).unwrap();
            }
        }
    }
    counts
}

/// Special tokens that overlap each other and themselves.
const SPECIAL: [&[&str]; 4] = [
    &[],
    &["<|e|>"],
    &["<|e|>", "<|e|><|e|>", "|>x", "e|><|"],
    &["好", " a", "aa", "aaaaa", "'s "],
];

fn text() -> impl Strategy<Value = String> {
    let part = select(vec![
        "a", "aa", " ", "  ", "   ", "\n", "'s", "'", "12", "3", "x", "好", "的", "é", "e\u{301}",
        "😀", ".", "!?", "<|e|>", "<|e|>", "<|", "|>", "e", " a", "\u{3000}", "\0",
    ]);
    vec(part, 0..80).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn cuts_change_no_count(
        texts in vec(text(), 0..4),
        special in select(SPECIAL.to_vec()),
        (block, window) in (1..60usize, 1..60usize),
        threads in select(vec![1, 2, 3]),
        pattern in select(vec![GPT2, r"\w+|\s", ""]),
    ) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let pattern = match pattern {
            "" => Pattern::None,
            pattern => Pattern::Regex(pattern.to_owned()),
        };
        let pretokenizer = Pretokenizer::new(&pattern).unwrap();
        let expected = count_simply(&texts, &pretokenizer, special);
        let cutter = SpecialCutter::new(special).unwrap();
        let counter = || {
            Counter::new(&pretokenizer, &cutter, threads).with_block_sizes(block, window)
        };
        let mut of_texts = counter();
        of_texts.feed(&texts, &NoWatch).unwrap();
        prop_assert_eq!(of_texts.finish().unwrap(), expected.clone());
        let folder = Folder::new();
        let paths = folder.write(&texts);
        let mut of_files = counter();
        of_files.feed_files(&paths, &NoWatch).unwrap();
        prop_assert_eq!(of_files.finish().unwrap(), expected.clone());
        let mut in_order = counter().keep_order();
        in_order.feed(&texts, &NoWatch).unwrap();
        let in_order = in_order.finish().unwrap();
        prop_assert_eq!(in_order.in_order(), expected.in_order());
        prop_assert_eq!(in_order, expected);
    }
}

struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("bytepair-cuts-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, texts: &[&str]) -> Vec<PathBuf> {
        let paths = (0..texts.len()).map(|index| self.0.join(index.to_string()));
        let paths: Vec<PathBuf> = paths.collect();
        for (path, text) in paths.iter().zip(texts) {
            fs::write(path, text).unwrap();
        }
        paths
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
