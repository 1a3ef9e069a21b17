//! Counting within bounds gives what counting without them gives, wherever it spills, stops or dies.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytepair::Error;
use bytepair::pretokenize::{Pattern, Pretokenizer};
use bytepair::train::{
    Bounds, Counter, LearnOptions, Learned, NoWatch, PieceCounts, Pieces, Session, SpecialCutter,
    TieBreak, Watch, learn, learn_on, load_learned, save_learned,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// A folder of its own for a test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("bytepair-{name}-{}-{number}", std::process::id());
        // Thousands of files, many of them synced: in memory, where the system has such a folder.
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let path = parent.join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn files(&self) -> usize {
        fs::read_dir(&self.0).unwrap().count()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn cutter() -> SpecialCutter {
    SpecialCutter::new(&["<|e|>"]).unwrap()
}

fn words() -> Pretokenizer {
    Pretokenizer::new(&Pattern::Regex(r"\w+|\W".to_owned())).unwrap()
}

/// Words that follow no pattern, the same at every run; some are long.
fn text(words: usize, seed: u64) -> String {
    let mut state = seed | 1;
    let mut next = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(seed);
        (state >> 33) % n
    };
    let mut text = String::new();
    for _ in 0..words {
        let len = if next(50) == 0 { 15 + next(90) } else { 1 + next(6) };
        for _ in 0..len {
            text.push(char::from(b'a' + u8::try_from(next(4)).unwrap()));
        }
        text.push_str(if next(40) == 0 { "<|e|>" } else { " " });
    }
    text
}

fn simply(texts: &[&str]) -> PieceCounts {
    let (pretokenizer, cutter) = (words(), cutter());
    let mut counter = Counter::new(&pretokenizer, &cutter, 1);
    counter.feed(texts, &NoWatch).unwrap();
    counter.finish().unwrap()
}

fn bounds(memory: Option<usize>, temp_dir: &Path) -> Bounds {
    Bounds { memory, temp_dir: temp_dir.to_owned(), checkpoint: None }
}

fn sorted(pieces: &dyn Pieces) -> Vec<(Vec<u8>, u64)> {
    let mut all = Vec::new();
    let mut push = |piece: &[u8], count| {
        all.push((piece.to_vec(), count));
        Ok(())
    };
    pieces.each(&mut || Ok(()), &mut push).unwrap();
    all.sort();
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn spilling_changes_no_count(
        size in 1..1500usize,
        seed in 1..1000u64,
        memory in select(vec![1usize, 3000, 20_000, 60_000, 1 << 20]),
        threads in select(vec![1usize, 2, 8]),
        block in 1..3000usize,
        least in 1..4u64,
    ) {
        let texts = [text(size, seed), text(size / 3, seed), text(size, seed + 7)];
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut expected = simply(&texts);
        expected.retain(least).unwrap();
        let folder = Folder::new("spill");
        let (pretokenizer, cutter) = (words(), cutter());
        let counter = || {
            let counter = Counter::new(&pretokenizer, &cutter, threads);
            let mut counter = counter
                .bounded(&bounds(Some(memory), &folder.0))
                .unwrap()
                .with_block_sizes(block, block / 2);
            counter.feed(&texts[..1], &NoWatch).unwrap();
            counter.feed(&texts[1..], &NoWatch).unwrap();
            counter
        };
        let stored = counter().finish_to_learn(least, &NoWatch);
        match &stored {
            Ok(counted) => {
                prop_assert_eq!(sorted(counted.pieces()), sorted(&expected));
                prop_assert_eq!(counted.pieces().totals(), expected.totals());
                let options = LearnOptions::new(60);
                let learned = learn(counted.pieces(), &options, &NoWatch).unwrap();
                prop_assert_eq!(learned, learn(&expected, &options, &NoWatch).unwrap());
            }
            Err(error) => {
                let needed = expected.totals().learning_bytes();
                prop_assert!(needed > memory as u64, "{}", error);
                prop_assert!(error.to_string().contains("memory_limit"), "{}", error);
            }
        }
        drop(stored);
        match counter().finish_in_memory(least, &NoWatch) {
            Ok(counts) => prop_assert_eq!(counts, expected),
            Err(error) => prop_assert!(error.to_string().contains("memory_limit"), "{}", error),
        }
        prop_assert_eq!(folder.files(), 0);
    }
}

#[test]
fn many_runs_are_joined_to_fewer() {
    let text = text(60_000, 5);
    let expected = simply(&[&text]);
    for threads in [1, 2, 8] {
        let folder = Folder::new("runs");
        let (pretokenizer, cutter) = (words(), cutter());
        let mut counter = Counter::new(&pretokenizer, &cutter, threads)
            .bounded(&bounds(Some(1), &folder.0))
            .unwrap()
            .with_block_sizes(100, 50);
        counter.feed(&[&text], &NoWatch).unwrap();
        let inside = fs::read_dir(&folder.0).unwrap().next().unwrap().unwrap().path();
        let runs = fs::read_dir(inside).unwrap().count();
        assert!(runs > 1 && runs < 200, "{runs}");
        let mut sum = PieceCounts::new();
        // One piece at a time is in memory; no limit holds for what is made of them here.
        let stored = counter.finish_to_learn(1, &NoWatch);
        assert!(stored.is_err());
        drop(stored);
        assert_eq!(folder.files(), 0);
        let counter = Counter::new(&pretokenizer, &cutter, threads);
        let mut counter =
            counter.bounded(&bounds(Some(4 << 20), &folder.0)).unwrap().with_block_sizes(2000, 50);
        counter.feed(&[&text], &NoWatch).unwrap();
        let stored = counter.finish_to_learn(1, &NoWatch).unwrap();
        for (piece, n) in sorted(stored.pieces()) {
            sum.add(&piece, n).unwrap();
        }
        assert_eq!(sum, expected);
    }
}

#[test]
fn the_refusal_says_what_would_do() {
    let text = text(20_000, 3);
    let counts = simply(&[&text]);
    let totals = counts.totals();
    let error = totals.check_limit(totals.learning_bytes() - 1).unwrap_err().to_string();
    assert!(error.contains("min_piece_count=2"), "{error}");
    let error = totals.check_limit(1).unwrap_err().to_string();
    assert!(error.contains("is not enough"), "{error}");
    totals.check_limit(totals.learning_bytes()).unwrap();
}

#[test]
fn the_order_of_pieces_is_not_spilled() {
    let (pretokenizer, cutter) = (words(), cutter());
    let folder = Folder::new("order");
    let counter = Counter::new(&pretokenizer, &cutter, 1).keep_order();
    let error = counter.bounded(&bounds(Some(1), &folder.0)).err().unwrap();
    assert!(error.to_string().contains("first_seen"));
    assert_eq!(folder.files(), 0);
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let (pretokenizer, cutter) = (words(), cutter());
    let counter = Counter::new(&pretokenizer, &cutter, 1);
    let error = counter.bounded(&bounds(Some(1), Path::new("/no/such/folder"))).err().unwrap();
    assert!(matches!(error, Error::Store { .. }), "{error}");
    assert!(error.to_string().contains("/no/such/folder"));
}

/// Stops after so many beats.
struct After(AtomicU64);

impl Watch for After {
    fn progress(&self, _done: u64, _total: u64) -> bool {
        let left = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
        left.is_ok()
    }
}

fn checkpoint(folder: &Path, memory: Option<usize>) -> Bounds {
    let checkpoint = Some((folder.to_owned(), Duration::ZERO));
    Bounds { memory, temp_dir: PathBuf::new(), checkpoint }
}

#[test]
fn counting_that_was_stopped_goes_on() {
    let folder = Folder::new("resume");
    let corpus = Folder::new("corpus");
    let texts: Vec<String> = (0..4).map(|seed| text(4000, seed + 1)).collect();
    let paths: Vec<PathBuf> = (0..4).map(|n| corpus.0.join(n.to_string())).collect();
    for (path, text) in paths.iter().zip(&texts) {
        fs::write(path, text).unwrap();
    }
    let all: Vec<&str> = texts.iter().map(String::as_str).collect();
    let expected = simply(&[&all[..], &all[1..]].concat());
    let (pretokenizer, cutter) = (words(), cutter());
    for (threads, memory) in [(1, None), (2, Some(2 << 20)), (8, Some(1)), (3, None)] {
        let store = Folder::new("checkpoint");
        let mut resumed = 0;
        let counts = loop {
            // Each process gets a little further than the one before, and then dies.
            resumed += 1;
            assert!(resumed < 5000, "it does not come to an end");
            let watch = After(AtomicU64::new(resumed));
            let mut counter = Counter::new(&pretokenizer, &cutter, threads)
                .bounded(&checkpoint(&store.0, memory))
                .unwrap()
                .with_block_sizes(1500, 700);
            let mut work = || {
                if counter.is_complete() {
                    return Ok(());
                }
                if counter.next_part(true)? {
                    counter.feed_files(&paths, &watch)?;
                }
                if counter.next_part(false)? {
                    for text in &all[1..] {
                        counter.feed(&[text], &watch)?;
                    }
                }
                Ok::<(), Error>(())
            };
            match work() {
                Ok(()) => break counter.finish_to_learn(1, &NoWatch),
                Err(Error::Interrupted) => {}
                Err(error) => panic!("{error}"),
            }
        };
        assert!(resumed > 3, "it was never stopped");
        let counts = if memory == Some(1) {
            assert!(counts.is_err());
            continue;
        } else {
            counts.unwrap()
        };
        assert_eq!(sorted(counts.pieces()), sorted(&expected));
        assert_eq!(store.files(), 1, "the counts alone are left");
        let again = Counter::new(&pretokenizer, &cutter, 1).bounded(&checkpoint(&store.0, None));
        let again = again.unwrap();
        assert!(again.is_complete());
        assert_eq!(sorted(again.finish_to_learn(1, &NoWatch).unwrap().pieces()), sorted(&expected));
    }
    drop(folder);
}

#[test]
fn other_texts_are_refused() {
    let (pretokenizer, cutter) = (words(), cutter());
    let store = Folder::new("other");
    let counter = || {
        let counter = Counter::new(&pretokenizer, &cutter, 1);
        let mut counter = counter.bounded(&checkpoint(&store.0, None)).unwrap();
        assert!(counter.next_part(true).unwrap());
        counter
    };
    let mut first = counter();
    first.feed(&["one two", "three"], &NoWatch).unwrap();
    drop(first);
    let error = counter().feed(&["one two", "tree"], &NoWatch).unwrap_err();
    assert!(error.to_string().contains("another corpus"), "{error}");
    let mut shorter = counter();
    shorter.feed(&["one two"], &NoWatch).unwrap();
    assert!(shorter.finish_to_learn(1, &NoWatch).is_err());
    let mut same = counter();
    same.feed(&["one two"], &NoWatch).unwrap();
    same.feed(&["three", "four"], &NoWatch).unwrap();
    let counts = same.finish_in_memory(1, &NoWatch).unwrap();
    assert_eq!(counts, simply(&["one two", "three", "four"]));
}

#[test]
fn damaged_files_of_a_checkpoint_are_refused() {
    let (pretokenizer, cutter) = (words(), cutter());
    let text = text(3000, 2);
    for damage in 0..30u64 {
        let store = Folder::new("damage");
        let open = || Counter::new(&pretokenizer, &cutter, 1).bounded(&checkpoint(&store.0, None));
        let mut counter = open().unwrap();
        counter.feed(&[&text], &NoWatch).unwrap();
        drop(counter);
        let files: Vec<PathBuf> =
            fs::read_dir(&store.0).unwrap().map(|entry| entry.unwrap().path()).collect();
        let path = &files[usize::try_from(damage).unwrap() % files.len()];
        let mut bytes = fs::read(path).unwrap();
        let at = usize::try_from(damage * 7919).unwrap() % bytes.len();
        if damage % 3 == 0 {
            bytes.truncate(at);
        } else {
            bytes[at] ^= 1;
        }
        fs::write(path, bytes).unwrap();
        let result = open().and_then(|mut counter| {
            counter.feed(&[&text], &NoWatch)?;
            counter.finish_in_memory(1, &NoWatch)
        });
        match result {
            Err(Error::Format(message)) => assert!(message.contains("damaged"), "{message}"),
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("{} damaged at {at} was taken for whole", path.display()),
        }
    }
}

fn rules() -> impl Strategy<Value = TieBreak> {
    select(vec![TieBreak::Lexicographic, TieBreak::LowestIds, TieBreak::HuggingFace])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn learning_goes_on_from_any_merge(
        pieces in vec((vec(select(vec![b'a', b'b', b' ']), 0..90), 1..9u64), 0..10),
        rule in rules(),
        (merges, at, min_count) in (0..50usize, 0..50usize, 1..4u64),
    ) {
        let mut counts = PieceCounts::new();
        for (piece, n) in &pieces {
            counts.add(piece, *n).unwrap();
        }
        let options = LearnOptions { tie_break: rule, min_count, ..LearnOptions::new(merges) };
        let expected = learn(&counts, &options, &NoWatch).unwrap();
        let known = expected.clone().first(at);
        let mut kept: Vec<Learned> = Vec::new();
        let mut keep = |learned: &Learned| {
            kept.push(learned.clone());
            Ok(())
        };
        let session =
            Session { base: None, known, keep: Some((Duration::ZERO, &mut keep)) };
        prop_assert_eq!(&learn_on(&counts, &options, session, &NoWatch).unwrap(), &expected);
        for learned in kept {
            prop_assert!(learned.merges.len() >= at.min(expected.merges.len()));
            prop_assert_eq!(&learned, &expected.clone().first(learned.merges.len()));
        }
    }
}

#[test]
fn merges_are_kept_in_a_file() {
    let folder = Folder::new("merges");
    assert_eq!(load_learned(&folder.0).unwrap(), Learned::default());
    let counts = simply(&[&text(500, 1)]);
    let learned = learn(&counts, &LearnOptions::new(100), &NoWatch).unwrap();
    save_learned(&folder.0, &Learned::default()).unwrap();
    save_learned(&folder.0, &learned).unwrap();
    assert_eq!(load_learned(&folder.0).unwrap(), learned);
    assert_eq!(folder.files(), 1);
    let path = folder.0.join("merges");
    let whole = fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(97) {
        let mut bytes = whole.clone();
        bytes[at] ^= 4;
        fs::write(&path, &bytes).unwrap();
        assert!(load_learned(&folder.0).is_err());
        fs::write(&path, &whole[..at]).unwrap();
        assert!(load_learned(&folder.0).is_err());
    }
}
