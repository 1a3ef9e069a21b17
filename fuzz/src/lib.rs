//! What fuzzing checks: each fast path against its slow twin.
//!
//! In: any bytes. Out: nothing; a panic is a finding. The same functions are run by cargo-fuzz
//! (`fuzz_targets/`) and by a driver for a stable compiler (`src/bin/bounded.rs`). Inputs are kept
//! short, because the slow twins take time in the square of them.

mod input;
mod vocabs;

use std::sync::Arc;

use bytepair::batch::{count_batch, encode_batch};
use bytepair::bundle;
use bytepair::merge::heap::Heap;
use bytepair::merge::{NO_RANK, join, naive, scan};
use bytepair::normalize::{Normalizer, Place};
use bytepair::pretokenize::{NAMED, Pattern, Pretokenizer};
use bytepair::simd::Level;
use bytepair::stream::StreamEncoder;
use bytepair::stream_decode::{Invalid, StreamDecoder};
use bytepair::train::{LearnOptions, NoWatch, PieceCounts, TieBreak, learn, learn_naive};
use unicode_normalization_alignments::UnicodeNormalization;

use crate::input::Input;
use crate::vocabs::{by_definition, encoded, trained};

/// A target: its name and what it does with an input.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: &[Target] = &[
    ("decode", decode),
    ("encode", encode),
    ("merge", merge),
    ("normalize", normalize),
    ("pretokenize", pretokenize),
    ("stream", stream),
    ("tables", tables),
    ("threads", threads),
    ("train", train),
];

fn named(input: &mut Input<'_>) -> Pattern {
    NAMED[input.below(NAMED.len())].pattern()
}

/// A pattern's scanner against the general engine, all at once and piece by piece.
pub fn pretokenize(data: &[u8]) {
    let mut input = Input::new(data);
    let pattern = named(&mut input);
    let most = 1 + input.below(9);
    let text = input.text(4096);
    let fast = Pretokenizer::new(&pattern).expect("a named pattern");
    let general = Pretokenizer::general(&pattern).expect("a named pattern");
    let Ok(expected) = general.pieces(&text) else { return };
    assert_eq!(fast.pieces(&text).expect("a scanner never fails"), expected);
    let (mut ends, mut next) = (Vec::new(), 0);
    while next < text.len() {
        next = fast.fill(&text, next, &mut ends, most).expect("a scanner never fails").next;
    }
    let mut at = 0;
    let sums: Vec<usize> = expected
        .iter()
        .map(|piece| {
            at += piece.len();
            at
        })
        .collect();
    assert_eq!(ends, sums);
    for level in Level::all() {
        let (mut ends, mut next, mut found) = (Vec::new(), 0, Vec::new());
        while next < text.len() {
            let from = next;
            ends.clear();
            next = fast.chunk_at(level, &text, from, &mut ends).expect("a scanner never fails");
            found.extend(ends.iter().map(|&end| from + end as usize));
        }
        assert_eq!(found, sums, "{level:?}");
    }
    if let Some(cut) = fast.safe_cut(&text, input.below(text.len() + 1)) {
        let (left, right) = text.split_at(cut);
        let mut parts = fast.pieces(left).expect("a scanner never fails");
        parts.extend(fast.pieces(right).expect("a scanner never fails"));
        assert_eq!(parts, expected);
    }
}

/// The merge engines against the definition.
pub fn merge(data: &[u8]) {
    let mut input = Input::new(data);
    let vocabulary = trained(&mut input);
    let (merges, vocab) = (&vocabulary.merges, vocabulary.vocab());
    let mut heap = Heap::new();
    let window = input.below(join::WINDOW + 2);
    for most in [scan::MOST, 600] {
        let piece = input.bytes(most);
        let (mut expected, mut got) = (Vec::new(), Vec::new());
        naive::merge(merges, piece, &mut expected).expect("all bytes are tokens");
        heap.merge(merges, piece, NO_RANK, &mut got).expect("all bytes are tokens");
        assert_eq!(got, expected);
        got.clear();
        join::merge(merges, &vocab, piece, window, &mut heap, &mut got).expect("all are tokens");
        assert_eq!(got, expected);
        if piece.len() <= scan::MOST {
            got.clear();
            scan::merge(merges, piece, &mut got).expect("all bytes are tokens");
            assert_eq!(got, expected);
        }
    }
}

/// Encoding and counting, of text and of bytes, against the definition: twice, so that the second
/// time comes from the cache.
pub fn encode(data: &[u8]) {
    let mut input = Input::new(data);
    let pattern = named(&mut input);
    let vocabulary = trained(&mut input);
    let tokenizer = vocabulary.tokenizer(&pattern, None);
    let text = input.text(2048);
    let plain = tokenizer.plain();
    let Some(expected) = by_definition(&tokenizer, &vocabulary.merges, &text) else { return };
    for _ in 0..2 {
        assert_eq!(encoded(&tokenizer, &text, plain), expected);
        let count = tokenizer.count(&text, plain, None).expect("it encodes");
        assert_eq!(count, expected.len());
        let mut ids = Vec::new();
        tokenizer.encode_bytes(text.as_bytes(), plain, &mut ids).expect("it encodes");
        assert_eq!(ids, expected);
    }
    let bytes = input.bytes(256);
    let (mut ids, mut back) = (Vec::new(), Vec::new());
    tokenizer.encode_bytes(bytes, tokenizer.everything(), &mut ids).expect("it encodes");
    tokenizer.decode(&ids, &mut back).expect("ids of its own");
    assert_eq!(back, bytes);
}

/// A text in chunks against the text in one.
pub fn stream(data: &[u8]) {
    let mut input = Input::new(data);
    let pattern = named(&mut input);
    let normalizer = (input.below(3) == 0).then(Normalizer::nfc);
    let tokenizer = Arc::new(trained(&mut input).tokenizer(&pattern, normalizer));
    let steps: Vec<usize> = (0..4).map(|_| 1 + input.below(40)).collect();
    let text = input.text(2048);
    let policy = tokenizer.everything().clone();
    let expected = encoded(&tokenizer, &text, &policy);
    let mut stream = StreamEncoder::new(Arc::clone(&tokenizer), policy);
    let (mut ids, mut from) = (Vec::new(), 0);
    for step in steps.iter().cycle().take(text.len()) {
        let end = text.ceil_char_boundary((from + step).min(text.len()));
        ids.extend_from_slice(stream.feed(&text[from..end]).expect("it encodes"));
        from = end;
    }
    ids.extend_from_slice(stream.finish().expect("it encodes"));
    assert_eq!(ids, expected);
}

/// Decoding at once against token by token, and against a stream of ids.
pub fn decode(data: &[u8]) {
    let mut input = Input::new(data);
    let tokenizer = Arc::new(trained(&mut input).tokenizer(&Pattern::None, None));
    let most = u32::try_from(tokenizer.vocab_size()).expect("few tokens") + 2;
    let ids: Vec<u32> = input.bytes(600).iter().map(|&byte| u32::from(byte) * 7 % most).collect();
    let known = ids.iter().take_while(|&&id| tokenizer.token_bytes(id).is_some()).count();
    let token = |&id: &u32| tokenizer.token_bytes(id).unwrap_or_default();
    let expected: Vec<u8> = ids[..known].iter().flat_map(token).copied().collect();
    let mut bytes = Vec::new();
    assert_eq!(tokenizer.decode(&ids, &mut bytes).is_ok(), known == ids.len());
    bytes.clear();
    tokenizer.decode(&ids[..known], &mut bytes).expect("known ids");
    assert_eq!(bytes, expected);
    let mut stream = StreamDecoder::new(Arc::clone(&tokenizer), Invalid::Replace);
    let mut text = String::new();
    for chunk in ids[..known].chunks(1 + input.below(5)) {
        text.push_str(stream.feed(chunk).expect("known ids"));
    }
    text.push_str(stream.finish().expect("known ids"));
    assert_eq!(text, String::from_utf8_lossy(&expected));
}

/// A long text on many threads against one.
pub fn threads(data: &[u8]) {
    let mut input = Input::new(data);
    let pattern = named(&mut input);
    let normalizer = (input.below(3) == 0).then(Normalizer::nfc);
    let tokenizer = trained(&mut input).tokenizer(&pattern, normalizer);
    let count = 2 + input.below(3);
    let text = input.text(3000);
    let policy = tokenizer.everything();
    let long = text.repeat(300_000 / text.len().max(1));
    let expected = encoded(&tokenizer, &long, policy);
    let mut ids = Vec::new();
    tokenizer.encode_on(count, &long, policy, &mut ids).expect("it encodes");
    assert!(ids == expected);
    assert_eq!(tokenizer.count_on(count, &long, policy).expect("it encodes"), expected.len());
    let texts = [&text[..], &long, "", &text];
    let one = encode_batch(&tokenizer, &texts, policy, 1).expect("it encodes");
    assert!(encode_batch(&tokenizer, &texts, policy, count).expect("it encodes") == one);
    let counts = count_batch(&tokenizer, &texts, policy, count).expect("it encodes");
    assert_eq!(counts.iter().sum::<usize>(), one.ids().len());
}

/// Learning with counts kept up to date against the definition.
pub fn train(data: &[u8]) {
    let mut input = Input::new(data);
    let ties = [TieBreak::Lexicographic, TieBreak::LowestIds, TieBreak::HuggingFace];
    let mut options = LearnOptions::new(1 + input.below(30));
    options.tie_break = ties[input.below(ties.len())];
    let mut counts = PieceCounts::new();
    while !input.is_empty() {
        let count = 1 + input.below(5) as u64;
        let length = 1 + input.below(24);
        let piece = input.bytes(length);
        if !piece.is_empty() {
            counts.add(piece, count).expect("small counts");
        }
    }
    let fast = learn(&counts, &options, &NoWatch).expect("it learns");
    assert_eq!(fast, learn_naive(&counts, &options, &NoWatch).expect("it learns"));
}

/// Whatever a packed table holds: a model that packs to the same, or an error, and never a panic.
pub fn tables(data: &[u8]) {
    let mut input = Input::new(data);
    let whole = input.below(2) == 0;
    let bytes = input.bytes(4096);
    let packed = if whole {
        let mut plain = bundle::MAGIC.to_vec();
        let count = bytes.len() / 6;
        plain.extend(u32::try_from(count).expect("a few").to_le_bytes());
        plain.extend(&bytes[..count * 6]);
        zstd::encode_all(plain.as_slice(), 1).expect("into memory")
    } else {
        bytes.to_vec()
    };
    let Ok(model) = bundle::unpack(&packed) else { return };
    if let Ok(again) = bundle::pack(&model) {
        assert!(bundle::unpack(&again).expect("packed just now") == model);
    }
}

/// The normalizer against the plain definition of NFC, and its promise about what may follow.
pub fn normalize(data: &[u8]) {
    let mut input = Input::new(data);
    let text = input.text(1024);
    let at = text.floor_char_boundary(input.below(text.len() + 1));
    let plain = |text: &str| text.nfc().map(|(character, _)| character).collect::<String>();
    let nfc = Normalizer::nfc();
    let whole = nfc.apply(&text, Place::FIRST).expect("NFC has no regular expression");
    assert_eq!(whole, plain(&text));
    let settled = nfc.settled(&text[..at]);
    let (done, rest) = text.split_at(settled);
    assert_eq!(plain(done) + &plain(rest), plain(&text));
}
