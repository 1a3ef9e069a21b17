//! Threads on one tokenizer: what they share is working memory, caches and the cuts of pieces.
//!
//! Small enough for Miri and for the thread sanitizer (`make races` runs it there); the larger test
//! is the package's, in `tests/limits/test_soak.py`, and `threads.rs` holds many threads to one.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;
use std::thread;

use bytepair::batch;
use bytepair::cut;
use bytepair::merge::Model;
use bytepair::pretokenize::Pattern;
use bytepair::special::SpecialTokens;
use bytepair::stream::StreamEncoder;
use bytepair::stream_decode::{Invalid, StreamDecoder};
use bytepair::tokenizer::Tokenizer;
use bytepair::vocab::Vocab;
use bytepair::watched::Pulse;

const ROUNDS: usize = if cfg!(miri) { 1 } else { 40 };

fn tokenizer() -> Arc<Tokenizer> {
    let single = (0..=255u8).map(|byte| vec![byte]);
    let tokens = single.chain([b"ab".to_vec(), b"abab".to_vec(), "中文".into()]);
    let merges = vec![(97, 98), (256, 256)];
    let model = Model::from_merges(Vocab::new((0..).zip(tokens)).unwrap(), merges, false).unwrap();
    let special = SpecialTokens::new([("<s>".to_owned(), 300)], []).unwrap();
    let pattern = Pattern::named("gpt2").unwrap();
    Arc::new(Tokenizer::new(Arc::new(model), special, &pattern).unwrap())
}

fn texts() -> Vec<String> {
    let long = if cfg!(miri) { 20 } else { 4_000 };
    vec![
        "abab ab a <s> ba".repeat(3),
        "ab".repeat(long),
        format!("{} 中文中文 tail", "word ab ".repeat(long)),
        String::new(),
    ]
}

fn encode(tokenizer: &Tokenizer, text: &str) -> Vec<u32> {
    let mut ids = Vec::new();
    tokenizer.encode(text, tokenizer.everything(), &mut ids).unwrap();
    ids
}

/// Everything that one thread may do with a tokenizer, checked against what is expected.
fn work(tokenizer: &Arc<Tokenizer>, text: &str, expected: &[u32]) {
    let everything = tokenizer.everything();
    assert_eq!(encode(tokenizer, text), expected);
    assert_eq!(tokenizer.count(text, everything, None).unwrap(), expected.len());
    let mut stream = StreamEncoder::new(Arc::clone(tokenizer), everything.clone());
    let middle = text.floor_char_boundary(text.len() / 2);
    let mut ids = stream.feed(&text[..middle]).unwrap().to_vec();
    ids.extend_from_slice(stream.feed(&text[middle..]).unwrap());
    ids.extend_from_slice(stream.finish().unwrap());
    assert_eq!(ids, expected);
    let mut decoder = StreamDecoder::new(Arc::clone(tokenizer), Invalid::Replace);
    assert_eq!(decoder.feed(&ids).unwrap(), text);
    let end = cut::prefix(tokenizer, text, everything, 5, &Pulse::free()).unwrap();
    assert!(encode(tokenizer, &text[..end]).len() <= 5);
}

#[test]
fn threads_share_one_tokenizer() {
    let tokenizer = tokenizer();
    let texts = texts();
    let expected: Vec<Vec<u32>> = texts.iter().map(|text| encode(&tokenizer, text)).collect();
    thread::scope(|scope| {
        for first in 0..4 {
            let (tokenizer, texts, expected) = (&tokenizer, &texts, &expected);
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let at = (first + round) % texts.len();
                    work(tokenizer, &texts[at], &expected[at]);
                }
            });
        }
    });
}

#[test]
fn batches_of_several_threads_share_one_tokenizer() {
    let tokenizer = tokenizer();
    let texts = texts();
    // Enough of them that threads are started.
    let copies = if cfg!(miri) { 1 } else { 12 };
    let many: Vec<&str> = texts.iter().map(String::as_str).cycle().take(4 * copies).collect();
    let expected: Vec<u32> = many.iter().flat_map(|text| encode(&tokenizer, text)).collect();
    let everything = tokenizer.everything();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let found = batch::encode_batch(&tokenizer, &many, everything, 3).unwrap();
                assert_eq!(found.into_ids(), expected);
            });
        }
    });
}
