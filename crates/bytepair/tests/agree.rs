//! Fast paths against their slow twins, on random vocabularies and random text.
//!
//! Vocabularies are trained on random text over a few letters, so that merges overlap, repeat and
//! tie as they do in real ones but far more often.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use bytepair::batch::encode_batch;
use bytepair::merge::heap::Heap;
use bytepair::merge::{Merge, MergeTable, Merges, Model, NO_RANK, join, naive, scan};
use bytepair::pretokenize::{Pattern, Pretokenizer};
use bytepair::special::{Choice, Finder, Policy, SpecialTokens};
use bytepair::stream::StreamEncoder;
use bytepair::tokenizer::Tokenizer;
use bytepair::train::{LearnOptions, NoWatch, PieceCounts, learn};
use bytepair::vocab::Vocab;
use bytepair::{bundle, error::Result};
use proptest::prelude::*;

/// The tokens and merges that training on `pieces` gives.
fn trained(pieces: &[String], merges: usize) -> (Vec<Vec<u8>>, Vec<(u32, u32)>) {
    let mut counts = PieceCounts::new();
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        counts.add(piece.as_bytes(), 1).expect("small counts");
    }
    let learned = learn(&counts, &LearnOptions::new(merges), &NoWatch).expect("it learns");
    (learned.tokens(), learned.merges)
}

fn vocab(tokens: &[Vec<u8>]) -> Vocab {
    Vocab::new((0u32..).zip(tokens)).expect("a vocab")
}

fn merges(tokens: &[Vec<u8>], pairs: &[(u32, u32)]) -> Merges {
    let mut table = MergeTable::with_capacity(pairs.len());
    for (rank, &(left, right)) in (0u32..).zip(pairs) {
        table.insert(left, right, Merge { rank, id: 256 + rank });
    }
    let vocab = vocab(tokens);
    Merges::new(std::array::from_fn(|byte| vocab.id(&[u8::try_from(byte).unwrap()])), table)
}

/// Text of few letters with spaces, so that pieces repeat.
fn text() -> impl Strategy<Value = String> {
    proptest::string::string_regex("[ab \n]{0,60}|[abc]{0,80}|[a-e é你<|>]{0,60}").unwrap()
}

fn by_pairs(tokens: &[Vec<u8>], pairs: &[(u32, u32)], special: &[&str]) -> Tokenizer {
    let model = Model::from_merges(vocab(tokens), pairs.to_vec(), false).unwrap();
    tokenizer(model, special)
}

fn tokenizer(model: Model, special: &[&str]) -> Tokenizer {
    let named = special.iter().map(|token| (*token).to_owned()).zip(100_000..);
    let special = SpecialTokens::new(named, []).unwrap();
    Tokenizer::new(Arc::new(model), special, &Pattern::named("gpt2").unwrap()).unwrap()
}

/// Encoding by the definition: pieces of the general engine, merged naively, no cache.
fn by_definition(tokenizer: &Tokenizer, merges: &Merges, text: &str) -> Result<Vec<u32>> {
    let pretokenizer = Pretokenizer::general(tokenizer.pretokenizer().pattern())?;
    let mut ids = Vec::new();
    for piece in pretokenizer.pieces(text)? {
        naive::merge(merges, piece.as_bytes(), &mut ids)?;
    }
    Ok(ids)
}

fn encoded(tokenizer: &Tokenizer, text: &str, policy: &Policy) -> Vec<u32> {
    let mut ids = Vec::new();
    tokenizer.encode(text, policy, &mut ids).unwrap();
    ids
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn engines_agree(
        corpus in prop::collection::vec("[abc]{0,12}|[ab]{20,60}", 1..6),
        piece in "[abc]{1,48}",
        long in "[ab]{49,300}",
    ) {
        let (tokens, pairs) = trained(&corpus, 40);
        let merges = merges(&tokens, &pairs);
        let mut heap = Heap::new();
        for piece in [piece.as_bytes(), long.as_bytes(), b""] {
            let (mut expected, mut got) = (Vec::new(), Vec::new());
            naive::merge(&merges, piece, &mut expected).unwrap();
            heap.merge(&merges, piece, NO_RANK, &mut got).unwrap();
            prop_assert_eq!(&got, &expected);
            for window in [0, 2, 3, 7, 31, join::WINDOW] {
                got.clear();
                join::merge(&merges, &vocab(&tokens), piece, window, &mut heap, &mut got).unwrap();
                prop_assert_eq!(&got, &expected, "windows of {}", window);
            }
            if piece.len() <= scan::MOST {
                got.clear();
                scan::merge(&merges, piece, &mut got).unwrap();
                prop_assert_eq!(&got, &expected);
            }
        }
    }

    #[test]
    fn encoding_is_the_definition(
        corpus in prop::collection::vec(text(), 1..4),
        texts in prop::collection::vec(text(), 1..4),
    ) {
        let (tokens, pairs) = trained(&corpus, 60);
        let merges = merges(&tokens, &pairs);
        let tokenizer = by_pairs(&tokens, &pairs, &[]);
        // Twice, so that the second time comes from the cache.
        for text in texts.iter().chain(&texts) {
            let expected = by_definition(&tokenizer, &merges, text).unwrap();
            prop_assert_eq!(&encoded(&tokenizer, text, &Policy::ordinary()), &expected);
            let count = tokenizer.count(text, &Policy::ordinary(), None).unwrap();
            prop_assert_eq!(count, expected.len());
            let mut bytes = Vec::new();
            tokenizer.decode(&expected, &mut bytes).unwrap();
            prop_assert_eq!(bytes, text.as_bytes());
        }
    }

    /// What training made, merged by rank of the result, gives what merging by pair gives: the one
    /// true merge of each token is enough, and so it is after packing and unpacking.
    #[test]
    fn ranks_are_pairs_for_a_trained_vocab(
        corpus in prop::collection::vec(text(), 1..4),
        text in text(),
    ) {
        let (tokens, pairs) = trained(&corpus, 60);
        let model = Model::from_ranks(vocab(&tokens)).unwrap();
        prop_assert_eq!(model.merges(), &pairs[..]);
        let packed = bundle::pack(&model).unwrap();
        let expected = encoded(&by_pairs(&tokens, &pairs, &[]), &text, &Policy::ordinary());
        for model in [model, bundle::unpack(&packed).unwrap()] {
            let ranked = tokenizer(model, &[]);
            prop_assert_eq!(&encoded(&ranked, &text, &Policy::ordinary()), &expected);
        }
    }

    /// A vocab with a token that no merge makes takes every split of every token, as tiktoken does.
    #[test]
    fn ranks_of_any_vocab_are_as_the_definition(
        extra in prop::collection::btree_set("[ab]{2,5}", 1..8),
        piece in "[ab]{1,40}",
    ) {
        let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
        tokens.extend(extra.iter().map(|token| token.as_bytes().to_vec()));
        let model = Model::from_ranks(vocab(&tokens)).unwrap();
        let mut got = Vec::new();
        model.merge(piece.as_bytes(), &mut Heap::new(), &mut got).unwrap();
        prop_assert_eq!(got, merged_by_rank(&vocab(&tokens), piece.as_bytes()));
    }

    #[test]
    fn a_stream_is_the_whole_text(
        corpus in prop::collection::vec(text(), 1..3),
        text in "([ab \n'é你]|<e>|<e><e>|<e){0,30}",
        cuts in prop::collection::vec(0usize..60, 0..8),
    ) {
        let (tokens, pairs) = trained(&corpus, 40);
        let tokenizer = Arc::new(by_pairs(&tokens, &pairs, &["<e>", "<e><e>", "e>"]));
        for policy in [tokenizer.everything().clone(), Policy::ordinary()] {
            let expected = encoded(&tokenizer, &text, &policy);
            let mut stream = StreamEncoder::new(Arc::clone(&tokenizer), policy);
            let mut got = Vec::new();
            for chunk in chunks(&text, &cuts) {
                got.extend_from_slice(stream.feed(chunk).unwrap());
            }
            got.extend_from_slice(stream.finish().unwrap());
            prop_assert_eq!(got, expected);
        }
    }

    /// A forbidden special token is found wherever the chunks end, and only then.
    #[test]
    fn a_stream_refuses_what_the_whole_text_refuses(
        text in "([ab]|<e>|<f>|<e){0,12}",
        cuts in prop::collection::vec(0usize..40, 0..6),
    ) {
        let (tokens, pairs) = trained(&["ab".to_owned()], 1);
        let tokenizer = Arc::new(by_pairs(&tokens, &pairs, &["<e>", "<f>", "b<f"]));
        let allowed = Choice::These(vec!["<e>".to_owned(), "b<f".to_owned()]);
        let policy = tokenizer.policy(&allowed, &Choice::All).unwrap();
        let refused = tokenizer.encode(&text, &policy, &mut Vec::new()).is_err();
        let mut stream = StreamEncoder::new(Arc::clone(&tokenizer), policy);
        let fed: Result<()> = chunks(&text, &cuts)
            .into_iter()
            .try_for_each(|chunk| stream.feed(chunk).map(drop))
            .and_then(|()| stream.finish().map(drop));
        prop_assert_eq!(fed.is_err(), refused);
    }

    /// The automaton against trying every string at every place.
    #[test]
    fn the_finder_takes_the_leftmost_and_of_those_the_longest(
        strings in prop::collection::btree_set("[ab<>]{1,4}", 1..6),
        text in "[ab<>é]{0,20}",
        from in 0usize..20,
    ) {
        let finder = Finder::new(strings.iter().cloned()).unwrap().unwrap();
        let from = (0..=from.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap();
        let expected = (from..text.len())
            .filter(|&at| text.is_char_boundary(at))
            .find_map(|at| {
                let here = strings.iter().filter(|string| text[at..].starts_with(string.as_str()));
                here.max_by_key(|string| string.len()).map(|string| (string.as_str(), at))
            });
        let got = finder.find(&text, from).map(|found| (found.string, found.start));
        prop_assert_eq!(got, expected);
        let open = (0..text.len())
            .filter(|&at| text.is_char_boundary(at))
            .find(|&at| strings.iter().any(|s| s.len() > text.len() - at && s.starts_with(&text[at..])));
        prop_assert_eq!(finder.open_from(&text), open.unwrap_or(text.len()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn threads_change_nothing(texts in prop::collection::vec(text(), 0..12), threads in 2usize..5) {
        let (tokens, pairs) = trained(&texts, 30);
        let tokenizer = by_pairs(&tokens, &pairs, &["<|>"]);
        // Long enough in all that threads are started.
        let long: Vec<String> = texts.iter().map(|text| text.repeat(2000)).collect();
        let long: Vec<&str> = long.iter().map(String::as_str).collect();
        let one = encode_batch(&tokenizer, &long, tokenizer.everything(), 1).unwrap();
        let many = encode_batch(&tokenizer, &long, tokenizer.everything(), threads).unwrap();
        prop_assert_eq!(one, many);
    }

    /// Whatever the file holds: a model or an error, never a panic.
    #[test]
    fn damaged_tables_are_refused(
        count in 0u32..6,
        planes in prop::collection::vec(prop_oneof![Just(0u8), Just(1), Just(0xFE), Just(0xFF), any::<u8>()], 0..40),
    ) {
        let mut plain = bundle::MAGIC.to_vec();
        plain.extend(count.to_le_bytes());
        plain.extend(planes);
        let packed = zstd::bulk::compress(&plain, 1).unwrap();
        let _ = bundle::unpack(&packed);
        let sizeless = zstd::encode_all(plain.as_slice(), 1).unwrap();
        assert!(bundle::unpack(&sizeless).is_err());
        let _ = bundle::unpack(&plain);
        let _ = bundle::unpack(&packed[..packed.len() / 2]);
    }
}

/// `text` cut at the offsets that lie between characters.
fn chunks<'t>(text: &'t str, cuts: &[usize]) -> Vec<&'t str> {
    let mut cuts: Vec<usize> =
        cuts.iter().copied().filter(|&at| text.is_char_boundary(at.min(text.len()))).collect();
    cuts.sort_unstable();
    let mut from = 0;
    let mut chunks = Vec::new();
    for at in cuts.into_iter().map(|at| at.min(text.len())).chain([text.len()]) {
        chunks.push(&text[from..at]);
        from = at;
    }
    chunks
}

/// tiktoken's rule, from its words: a piece that is a token is taken whole; else the pair of parts
/// whose joined bytes have the lowest rank is merged, the leftmost first.
fn merged_by_rank(vocab: &Vocab, piece: &[u8]) -> Vec<u32> {
    if let Some(id) = vocab.id(piece) {
        return vec![id];
    }
    let mut parts: Vec<Vec<u8>> = piece.iter().map(|&byte| vec![byte]).collect();
    loop {
        let best = parts
            .windows(2)
            .enumerate()
            .filter_map(|(at, pair)| vocab.id(&pair.concat()).map(|rank| (rank, at)))
            .min();
        let Some((_, at)) = best else { break };
        let right = parts.remove(at + 1);
        parts[at].extend(right);
    }
    parts.iter().map(|part| vocab.id(part).expect("a token")).collect()
}

#[test]
fn more_pieces_than_the_cache_holds_are_right() {
    let corpus: Vec<String> = (0..200).map(|n| format!("w{n}x")).collect();
    let (tokens, pairs) = trained(&corpus, 100);
    let merges = merges(&tokens, &pairs);
    let tokenizer = by_pairs(&tokens, &pairs, &[]);
    let words: Vec<String> = (0..200_000).map(|n| format!(" w{n}x")).collect();
    let text = words.concat();
    let mut expected = Vec::new();
    for piece in tokenizer.pretokenizer().pieces(&text).unwrap() {
        naive::merge(&merges, piece.as_bytes(), &mut expected).unwrap();
    }
    for _ in 0..2 {
        assert!(encoded(&tokenizer, &text, &Policy::ordinary()) == expected);
    }
}

#[test]
fn a_limit_ends_the_count() {
    let (tokens, pairs) = trained(&["ab".to_owned()], 1);
    let tokenizer = by_pairs(&tokens, &pairs, &["<e>"]);
    let text = "<e>ab ".repeat(3000);
    let exact = tokenizer.count(&text, tokenizer.everything(), None).unwrap();
    for limit in [0, 1, 100, exact - 1, exact, exact + 1, usize::MAX] {
        let count = tokenizer.count(&text, tokenizer.everything(), Some(limit)).unwrap();
        assert_eq!(count, exact.min(limit.saturating_add(1)));
    }
}
