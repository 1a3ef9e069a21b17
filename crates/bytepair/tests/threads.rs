//! Many threads against one: long texts are cut, and nobody may see where.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use bytepair::batch::{count_batch, encode_batch};
use bytepair::merge::Model;
use bytepair::normalize::Normalizer;
use bytepair::pretokenize::{NAMED, Pattern};
use bytepair::special::{Choice, SpecialTokens};
use bytepair::tokenizer::Tokenizer;
use bytepair::train::{LearnOptions, NoWatch, PieceCounts, learn};
use bytepair::vocab::Vocab;
use proptest::prelude::*;
use proptest::sample::select;

/// Where text is likely to be cut, and what may stand around it.
const PARTS: &[&str] = &[
    "word",
    " word",
    "It's",
    "'",
    "'s",
    "s",
    "A",
    "é",
    "e\u{301}",
    "\u{301}",
    "\u{939}\u{93c}",
    "\u{212b}",
    "\u{958}",
    "\u{1100}\u{1161}",
    "\u{11a8}",
    "中文",
    "。",
    "かな",
    "ไทย",
    "1",
    "22",
    "333",
    "²",
    " ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    "\u{a0}",
    "\u{3000}",
    ".",
    "...",
    "!?",
    "_",
    "/",
    "<|",
    "<|x",
    "<|x|>",
    "|>",
    "😀",
    "\u{200d}",
    "\0",
    "x<",
    "9<|x|>9",
];

fn text(parts: &[&str], repeat: usize) -> String {
    parts.concat().repeat(repeat)
}

fn tokenizer(pattern: &Pattern, normalizer: Option<Normalizer>) -> Tokenizer {
    let mut counts = PieceCounts::new();
    for part in PARTS {
        counts.add(part.as_bytes(), 3).unwrap();
        counts.add(format!("{part}{part}").as_bytes(), 1).unwrap();
    }
    // So that a piece that was cut in two has other ids.
    for joined in ["\u{93c}.", "\u{93c} ", "a.", "\u{301}.", "11", "9.", "a\u{301}", "中.", ". a"]
    {
        counts.add(joined.as_bytes(), 50).unwrap();
    }
    let learned = learn(&counts, &LearnOptions::new(120), &NoWatch).unwrap();
    let vocab = Vocab::new((0u32..).zip(learned.tokens())).unwrap();
    let model = Model::from_merges(vocab, learned.merges, false).unwrap();
    let named = [("<|x|>".to_owned(), 9000), ("<|x|>9".to_owned(), 9001), ("9<".to_owned(), 9002)];
    let special =
        SpecialTokens::new(named, []).unwrap().with_added([("word9".to_owned(), 9003)]).unwrap();
    Tokenizer::new(Arc::new(model), special, pattern).unwrap().with_normalizer(normalizer)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn threads_change_nothing(
        parts in prop::collection::vec(select(PARTS), 1..40),
        others in prop::collection::vec(prop::collection::vec(select(PARTS), 0..6), 0..8),
        threads in 2usize..5,
        named in select((0..NAMED.len()).collect::<Vec<_>>()),
        normalizer: bool,
        policy in 0..4,
    ) {
        let normalizer = normalizer.then(Normalizer::nfc);
        let tokenizer = tokenizer(&NAMED[named].pattern(), normalizer);
        let none = Choice::These(Vec::new());
        let some = Choice::These(vec!["<|x|>".to_owned()]);
        let policy = match policy {
            0 => tokenizer.everything().clone(),
            1 => tokenizer.plain().clone(),
            2 => tokenizer.policy(&some, &Choice::All).unwrap(),
            _ => tokenizer.policy(&none, &some).unwrap(),
        };
        let long = text(&parts, 600_000 / parts.concat().len());
        let mut one = Vec::new();
        let expected = tokenizer.encode(&long, &policy, &mut one);
        let mut many = vec![7];
        let got = tokenizer.encode_on(threads, &long, &policy, &mut many);
        prop_assert_eq!(expected.is_err(), got.is_err());
        if let (Err(expected), Err(got)) = (expected, got) {
            prop_assert_eq!(expected.to_string(), got.to_string());
            return Ok(());
        }
        prop_assert_eq!(&many[1..], &one[..]);
        prop_assert_eq!(tokenizer.count_on(threads, &long, &policy).unwrap(), one.len());
        // Among short ones, before and behind it.
        let others: Vec<String> = others.iter().map(|parts| text(parts, 1)).collect();
        let mut texts: Vec<&str> = others.iter().map(String::as_str).collect();
        texts.insert(others.len() / 2, &long);
        let rows = encode_batch(&tokenizer, &texts, &policy, 1);
        let counts = count_batch(&tokenizer, &texts, &policy, threads);
        match (rows, encode_batch(&tokenizer, &texts, &policy, threads)) {
            (Ok(rows), Ok(many)) => {
                prop_assert!(rows == many);
                let offsets = many.offsets();
                let lengths: Vec<usize> = offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
                prop_assert_eq!(counts.unwrap(), lengths);
                prop_assert_eq!(many.into_ids(), rows.into_ids());
            }
            (Err(one), Err(many)) => prop_assert_eq!(one.to_string(), many.to_string()),
            _ => prop_assert!(false, "one failed and the other did not"),
        }
    }
}

#[test]
fn an_empty_batch_has_no_rows() {
    let tokenizer = tokenizer(&Pattern::named("gpt2").unwrap(), None);
    for threads in [1, 4] {
        let rows = encode_batch(&tokenizer, &[], tokenizer.plain(), threads).unwrap();
        assert!(rows.is_empty());
        assert_eq!((rows.len(), rows.ids(), rows.offsets()), (0, &[][..], vec![0]));
        let rows = encode_batch(&tokenizer, &["", "word", ""], tokenizer.plain(), threads).unwrap();
        assert_eq!(rows.len(), 3);
        assert_eq!(count_batch(&tokenizer, &["", ""], tokenizer.plain(), threads).unwrap(), [0, 0]);
    }
}

/// Each cut of such a text has the same neighbours, so a wrong one shows.
#[test]
fn no_neighbours_of_a_cut_matter() {
    let before =
        ["a", "1", "é", "e\u{301}", "\u{958}", "\u{212b}", "\u{1100}\u{1161}", "中", "word", "9"];
    let behind = [".", " ", "\n", "\u{301}", "\u{93c}.", "\u{11a8}", "'s", "<|x|>", "1", "a"];
    for (pattern, normalizer) in
        [("gpt2", None), ("gpt2", Some(Normalizer::nfc())), ("o200k", None)]
    {
        let tokenizer = tokenizer(&Pattern::named(pattern).unwrap(), normalizer.clone());
        let policy = tokenizer.everything();
        for left in before {
            for right in behind {
                let long = text(&[left, right], 300_000 / (left.len() + right.len()));
                let (mut one, mut many) = (Vec::new(), Vec::new());
                tokenizer.encode(&long, policy, &mut one).unwrap();
                tokenizer.encode_on(2, &long, policy, &mut many).unwrap();
                assert!(one == many, "{pattern} {normalizer:?} {left:?} {right:?}");
            }
        }
    }
}
