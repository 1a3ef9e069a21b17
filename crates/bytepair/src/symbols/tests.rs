//! The engine against its definition, the cuts against whole pieces, and each rule by example.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;

const PARTS: &[&str] = &["a", "b", "c", " ", "\u{e9}", "\u{4e2d}", "\u{1f600}"];

fn text(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(select(PARTS), 0..most).prop_map(|parts| parts.concat())
}

/// A vocab of the characters but the last, of 256 bytes and of some tokens made of these.
fn vocab(made: &[String]) -> (Vocab, Missing) {
    let mut tokens: Vec<(u32, Vec<u8>)> =
        (0..=255u8).map(|byte| (u32::from(byte), vec![byte])).collect();
    let plain = PARTS[..PARTS.len() - 1].iter().map(|&part| part.to_owned());
    let mut seen = Vec::new();
    for token in plain.chain(made.iter().cloned()).filter(|token| !token.contains('\u{1f600}')) {
        if !token.is_empty() && !seen.contains(&token) {
            tokens.push((u32::try_from(tokens.len()).unwrap(), token.clone().into_bytes()));
            seen.push(token);
        }
    }
    let last: Vec<u32> = (0..256).collect();
    let ids = std::array::from_fn(|byte| u32::try_from(byte).unwrap());
    (Vocab::with_last(tokens, &last).unwrap(), Missing::Bytes(Box::new(ids)))
}

/// All splits of the tokens, as pairs in some order or ranked with many ties.
fn orders(vocab: &Vocab, seed: usize) -> [Order; 2] {
    let plain = vocab.iter().filter(|&(id, _)| id > 255);
    let ranks: Vec<(u32, u32)> =
        plain.map(|(id, _)| (id, id.wrapping_mul(2_654_435_761) % 5)).collect();
    let mut pairs: Vec<(u32, u32)> =
        by_ranks(vocab, &ranks).unwrap().iter().map(|&(left, right, _)| (left, right)).collect();
    if !pairs.is_empty() {
        let middle = seed % pairs.len();
        pairs.rotate_left(middle);
    }
    [Order::Pairs(pairs), Order::Ranks(ranks)]
}

proptest! {
    #[test]
    fn engines_and_cuts_give_what_the_definition_gives(
        made in prop::collection::vec(text(5), 0..20),
        piece in text(150),
        seed: usize,
    ) {
        let (vocab, missing) = vocab(&made);
        for order in orders(&vocab, seed) {
            let (symbols, _) = Symbols::new(&vocab, order, missing.clone(), Vec::new()).unwrap();
            let mut expected = Vec::new();
            symbols.split(piece.as_bytes(), &mut expected).unwrap();
            engine::naive(&symbols.table, &mut expected);
            let mut ids = Vec::new();
            symbols.merge(piece.as_bytes(), &mut ids).unwrap();
            prop_assert_eq!(&ids, &expected);
            let mut ends = Vec::new();
            let filled = symbols.fill(&piece, 0, &mut ends, usize::MAX);
            prop_assert_eq!(filled.next, piece.len());
            ids.clear();
            let mut start = 0;
            for &end in &ends {
                prop_assert_eq!(symbols.safe_cut(&piece, start + 1).unwrap_or(piece.len()), end);
                symbols.merge(&piece.as_bytes()[start..end], &mut ids).unwrap();
                start = end;
            }
            prop_assert_eq!(&ids, &expected);
        }
    }
}

fn small(order: Order, missing: Missing) -> Symbols {
    let tokens = ["<unk>", "a", "b", "aa", "aaa", "ab"];
    Symbols::new(&Vocab::new((0..).zip(tokens)).unwrap(), order, missing, Vec::new()).unwrap().0
}

fn ids(symbols: &Symbols, piece: &str) -> Vec<u32> {
    let mut ids = Vec::new();
    symbols.merge(piece.as_bytes(), &mut ids).unwrap();
    ids
}

#[test]
fn equal_ranks_go_from_the_left() {
    let ranks = vec![(1, 9), (2, 9), (3, 0), (4, 1), (5, 0)];
    let symbols = small(Order::Ranks(ranks), Missing::Refused);
    assert_eq!(ids(&symbols, "aab"), [3, 2]);
    assert_eq!(ids(&symbols, "aaab"), [3, 5]);
    // As pairs `a + b` may go first.
    let symbols = small(Order::Pairs(vec![(1, 2), (1, 1)]), Missing::Refused);
    assert_eq!(ids(&symbols, "aab"), [1, 5]);
}

#[test]
fn unknown_characters_are_fused_or_not() {
    let unknown = |fuse| Missing::Unknown { id: 0, fuse };
    let symbols = small(Order::Pairs(Vec::new()), unknown(true));
    assert_eq!(ids(&symbols, "axyazz"), [1, 0, 1, 0]);
    assert_eq!(symbols.safe_cut("xyz", 1), None);
    let symbols = small(Order::Pairs(Vec::new()), unknown(false));
    assert_eq!(ids(&symbols, "axya"), [1, 0, 0, 1]);
    let symbols = small(Order::Pairs(Vec::new()), Missing::Refused);
    let error = symbols.merge("ax".as_bytes(), &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("'x'"), "{error}");
}

#[test]
fn what_no_merge_can_use_is_refused() {
    let (vocab, missing) = vocab(&["ab".to_owned()]);
    for (pair, words) in [((97, 98), "stands for a byte"), ((256, 9999), "9999")] {
        let error = Symbols::new(&vocab, Order::Pairs(vec![pair]), missing.clone(), Vec::new())
            .unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
    let error =
        Symbols::new(&vocab, Order::Pairs(vec![(257, 256)]), missing, Vec::new()).unwrap_err();
    assert!(error.to_string().contains("not in the vocab"), "{error}");
}

#[test]
fn a_long_run_takes_no_square_time() {
    let symbols = small(Order::Ranks(vec![(1, 9), (2, 9), (3, 0), (4, 1)]), Missing::Refused);
    assert_eq!(ids(&symbols, &"a".repeat(1 << 20)).len(), 1 << 19);
}

#[test]
fn frozen_tokens_are_found_first_and_never_merged() {
    let tokens = ["a", "b", "ab", "ba", "bab", "aab"];
    let vocab = Vocab::new((0..).zip(tokens)).unwrap();
    let ranks = vec![(0, 9), (1, 9), (2, 0), (5, 1)];
    let order = Order::Ranks(ranks);
    let symbols = Symbols::new(&vocab, order, Missing::Refused, vec![4, 3]).unwrap().0;
    assert_eq!(ids(&symbols, "aababab"), [0, 0, 4, 2]);
    assert_eq!(symbols.frozen(), [3, 4]);
    for text in ["aababab", "aabab", "babbabaab", "aab", "ba"] {
        let mut ends = Vec::new();
        let filled = symbols.fill(text, 0, &mut ends, usize::MAX);
        let (mut cut, mut start) = (Vec::new(), 0);
        for &end in &ends {
            symbols.merge(&text.as_bytes()[start..end], &mut cut).unwrap();
            start = end;
        }
        assert_eq!(cut, ids(&symbols, text), "{text}");
        // What is settled stays, whatever comes.
        for more in ["", "a", "b", "ab", "bab"] {
            let mut again = Vec::new();
            symbols.fill(&format!("{text}{more}"), 0, &mut again, usize::MAX);
            assert_eq!(again[..filled.settled], ends[..filled.settled], "{text} {more}");
        }
    }
}
