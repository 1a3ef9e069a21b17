//! Speed of the steps of the core: encoding, counting, decoding and learning, on prose, code and Han
//! text, with a vocabulary trained on them; and of what a server does all day: 100 characters, 30 ids,
//! one step of a stream.
//!
//! Every run first asserts that the result is right: ids that decode to the text, a count that is
//! theirs, merges that the naive trainer finds too.

use std::hint::black_box;
use std::sync::Arc;

use bytepair::merge::Model;
use bytepair::pretokenize::{Pattern, Pretokenizer};
use bytepair::special::SpecialTokens;
use bytepair::stream_decode::{Invalid, StreamDecoder};
use bytepair::tokenizer::Tokenizer;
use bytepair::train::{LearnOptions, NoWatch, PieceCounts, learn, learn_naive};
use bytepair::vocab::Vocab;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const SAMPLE: &str = include_str!("../../../python/bytepair/data/sample_corpus.txt");
const MERGES: usize = 2000;

fn counts(text: &str) -> PieceCounts {
    let pattern = Pattern::named("cl100k").expect("a named pattern");
    let pretokenizer = Pretokenizer::new(&pattern).expect("a named pattern");
    let mut counts = PieceCounts::new();
    for piece in pretokenizer.pieces(text).expect("a scanner never fails") {
        counts.add(piece.as_bytes(), 1).expect("small counts");
    }
    counts
}

fn tokenizer() -> Tokenizer {
    let learned = learn(&counts(SAMPLE), &LearnOptions::new(MERGES), &NoWatch).expect("it learns");
    let vocab = Vocab::new((0u32..).zip(learned.tokens())).expect("a vocab");
    let model = Model::from_merges(vocab, learned.merges, false).expect("its own merges");
    let special = SpecialTokens::new([], []).expect("none");
    let pattern = Pattern::named("cl100k").expect("a named pattern");
    Tokenizer::new(Arc::new(model), special, &pattern).expect("a named pattern")
}

/// A quarter of a megabyte of each kind of text in the sample corpus.
fn texts() -> Vec<(String, String)> {
    let documents = SAMPLE.split("<|endoftext|>").filter(|text| text.len() > 1000);
    let kind = |text: &str| {
        let han = text.chars().filter(|&c| ('\u{4e00}'..'\u{a000}').contains(&c)).count();
        let signs = text.chars().filter(|c| "(){}=_[]".contains(*c)).count();
        if han * 4 > text.chars().count() {
            "han"
        } else if signs * 40 > text.len() {
            "code"
        } else {
            "prose"
        }
    };
    let mut texts: Vec<(String, String)> = Vec::new();
    for name in ["prose", "code", "han"] {
        let text: String = documents.clone().filter(|text| kind(text) == name).collect();
        if !text.is_empty() {
            texts.push((name.to_owned(), text.repeat((1 << 18) / text.len() + 1)));
        }
    }
    texts
}

fn coding(criterion: &mut Criterion) {
    let tokenizer = tokenizer();
    let plain = tokenizer.plain();
    for (name, text) in texts() {
        let (mut ids, mut bytes) = (Vec::new(), Vec::new());
        tokenizer.encode(&text, plain, &mut ids).expect("all bytes are tokens");
        tokenizer.decode(&ids, &mut bytes).expect("its own ids");
        assert_eq!(bytes, text.as_bytes());
        assert_eq!(tokenizer.count(&text, plain, None).expect("it encodes"), ids.len());
        let mut group = criterion.benchmark_group("core");
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(BenchmarkId::new("encode", &name), |bencher| {
            let mut ids = Vec::new();
            bencher.iter(|| {
                ids.clear();
                tokenizer.encode(black_box(&text), plain, &mut ids).expect("it encodes");
                ids.len()
            });
        });
        group.bench_function(BenchmarkId::new("count", &name), |bencher| {
            bencher.iter(|| tokenizer.count(black_box(&text), plain, None).expect("it encodes"));
        });
        group.bench_function(BenchmarkId::new("decode", &name), |bencher| {
            let mut bytes = Vec::new();
            bencher.iter(|| {
                bytes.clear();
                tokenizer.decode(black_box(&ids), &mut bytes).expect("its own ids");
                bytes.len()
            });
        });
        group.finish();
    }
}

fn learning(criterion: &mut Criterion) {
    let counts = counts(SAMPLE);
    let few = LearnOptions::new(20);
    let learned = learn(&counts, &few, &NoWatch).expect("it learns");
    assert_eq!(learned, learn_naive(&counts, &few, &NoWatch).expect("it learns"));
    criterion.bench_function("core/learn", |bencher| {
        let options = LearnOptions::new(MERGES);
        bencher.iter(|| learn(black_box(&counts), &options, &NoWatch).expect("it learns"));
    });
}

fn small(criterion: &mut Criterion) {
    let tokenizer = Arc::new(tokenizer());
    let text: String = SAMPLE.chars().take(100).collect();
    let (mut ids, mut bytes) = (Vec::new(), Vec::new());
    tokenizer.encode(SAMPLE, tokenizer.plain(), &mut ids).expect("all bytes are tokens");
    ids.truncate(3000);
    tokenizer.decode(&ids, &mut bytes).expect("its own ids");
    let mut stream = StreamDecoder::new(Arc::clone(&tokenizer), Invalid::Replace);
    let mut streamed = String::new();
    for &id in &ids {
        streamed.push_str(stream.feed(&[id]).expect("its own ids"));
    }
    streamed.push_str(stream.finish().expect("it replaces"));
    assert_eq!(streamed, String::from_utf8_lossy(&bytes));
    let mut group = criterion.benchmark_group("core/small");
    group.bench_function("encode 100 characters", |bencher| {
        let mut ids = Vec::with_capacity(100);
        bencher.iter(|| {
            ids.clear();
            tokenizer.encode(black_box(&text), tokenizer.plain(), &mut ids).expect("it encodes");
            ids.len()
        });
    });
    group.bench_function("decode 30 ids", |bencher| {
        let mut bytes = Vec::with_capacity(300);
        bencher.iter(|| {
            bytes.clear();
            tokenizer.decode(black_box(&ids[..30]), &mut bytes).expect("its own ids");
            bytes.len()
        });
    });
    group.bench_function("step of a stream", |bencher| {
        let mut next = ids.iter().cycle();
        bencher.iter(|| {
            let id = *next.next().expect("it goes round");
            stream.feed(black_box(&[id])).expect("its own ids").len()
        });
    });
    group.finish();
}

criterion_group!(benches, coding, small, learning);
criterion_main!(benches);
