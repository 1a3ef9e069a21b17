//! Many small corpora, each counted and learned in every way: all give what a naive recount gives.
//!
//! A corpus comes as texts, one by one, as files or as readers; 1, 2 and 8 threads count it; memory
//! may be so small that counts spill; or its texts are counted apart and the counts are added in a
//! shuffled order. `BYTEPAIR_CORPORA=1000000 cargo test --release --test train_many` looks harder.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use bytepair::pretokenize::{Pattern, Pretokenizer};
use bytepair::train::{
    Bounds, Counted, Counter, LearnOptions, Learned, NoWatch, PieceCounts, Source, SpecialCutter,
    TieBreak, learn, learn_naive, learn_twice,
};

const GPT2: &str = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
const RULES: [TieBreak; 3] = [TieBreak::Lexicographic, TieBreak::LowestIds, TieBreak::HuggingFace];
const THREADS: [usize; 3] = [1, 2, 8];
const SPECIAL: &str = "<|e|>";
/// What corpora are made of; each takes a few of these, so that equal counts are common.
const UNITS: [&str; 14] =
    ["a", "b", "a", "b", "c", " ", " a", "é", "好", "\n", "'s", "1", SPECIAL, "\0"];
/// A limit of memory within which all of them can be learned from.
const LIMIT: usize = 1 << 20;

/// A generator of numbers (`SplitMix64`).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).unwrap()
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// A few texts of few different units; some hold a run that is longer than a short piece.
    fn texts(&mut self) -> Vec<String> {
        let units: Vec<&str> = (0..=1 + self.below(4)).map(|_| UNITS[self.below(14)]).collect();
        let mut texts = Vec::new();
        for _ in 0..self.below(4) {
            let mut text = String::new();
            for _ in 0..self.below(20) {
                let times = if self.below(60) == 0 { 40 } else { 1 + self.below(3) };
                text.push_str(&units[self.below(units.len())].repeat(times));
            }
            texts.push(text);
        }
        texts
    }
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: usize) -> Self {
        let name = format!("bytepair-many-{}-{name}", std::process::id());
        // A hundred thousand small files: in memory, where the system has such a folder.
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let path = parent.join(name);
        fs::create_dir_all(path.join("spilled")).unwrap();
        Self(path)
    }

    fn spilled(&self) -> PathBuf {
        self.0.join("spilled")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Gives at most seven bytes at once.
struct Little(Cursor<Vec<u8>>);

impl Read for Little {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(7);
        self.0.read(&mut buffer[..most])
    }
}

fn files(folder: &Path, texts: &[&str]) -> Vec<Source> {
    let write = |(number, text): (usize, &&str)| {
        let path = folder.join(number.to_string());
        fs::write(&path, text).unwrap();
        Source::File(path)
    };
    texts.iter().enumerate().map(write).collect()
}

fn readers(texts: &[&str]) -> Vec<Source> {
    let reader = |text: &&str| {
        let bytes = text.as_bytes().to_vec();
        let open = move || -> io::Result<Box<dyn Read + Send>> {
            Ok(Box::new(Little(Cursor::new(bytes.clone()))))
        };
        Source::Reader { name: "reader".to_owned(), open: Box::new(open) }
    };
    texts.iter().map(reader).collect()
}

/// How corpora are cut.
struct Rules {
    pretokenizer: Pretokenizer,
    cutter: SpecialCutter,
}

impl Rules {
    fn all() -> Vec<Self> {
        let patterns =
            [Pattern::Regex(GPT2.to_owned()), Pattern::Regex(r"\w+|\s".to_owned()), Pattern::None];
        let rules = |pattern| Self {
            pretokenizer: Pretokenizer::new(&pattern).unwrap(),
            cutter: SpecialCutter::new(&[SPECIAL]).unwrap(),
        };
        patterns.map(rules).into()
    }

    /// The definition: whole texts, split at the special token.
    fn count_simply(&self, texts: &[&str]) -> PieceCounts {
        let mut counts = PieceCounts::ordered();
        for span in texts.iter().flat_map(|text| text.split(SPECIAL)) {
            for piece in self.pretokenizer.pieces(span).unwrap() {
                counts.add(piece.as_bytes(), 1).unwrap();
            }
        }
        counts
    }

    /// A counter with tables so small that it spills, or one without a limit.
    fn counter(&self, random: &mut Random, threads: usize, spill: Option<PathBuf>) -> Counter<'_> {
        let mut counter = Counter::new(&self.pretokenizer, &self.cutter, threads);
        if let Some(temp_dir) = spill {
            let bounds = Bounds { memory: Some(LIMIT), temp_dir, checkpoint: None };
            counter = counter.bounded(&bounds).unwrap().with_tables(64 << random.below(7));
        }
        counter.with_block_sizes(1 + random.below(40), 1 + random.below(40))
    }

    /// Counts in one of the ways a corpus can come.
    fn count(
        &self,
        random: &mut Random,
        threads: usize,
        texts: &[&str],
        folder: &Folder,
    ) -> Counted {
        let spill = random.below(2) == 0;
        let mut counter = self.counter(random, threads, spill.then(|| folder.spilled()));
        match random.below(4) {
            0 => counter.feed(texts, &NoWatch).unwrap(),
            1 => texts.iter().for_each(|text| counter.feed(&[text], &NoWatch).unwrap()),
            2 => counter.feed_sources(&files(&folder.0, texts), &NoWatch).unwrap(),
            _ => counter.feed_sources(&readers(texts), &NoWatch).unwrap(),
        }
        counter.finish_to_learn(1, &NoWatch).unwrap()
    }

    /// Counts each text apart, spilling, and adds the counts in some order.
    fn count_apart(&self, random: &mut Random, texts: &[&str], folder: &Folder) -> PieceCounts {
        let mut apart: Vec<PieceCounts> = Vec::new();
        for text in texts {
            let threads = THREADS[random.below(3)];
            let mut counter = self.counter(random, threads, Some(folder.spilled()));
            counter.feed(&[text], &NoWatch).unwrap();
            apart.push(counter.finish_in_memory(1, &NoWatch).unwrap());
        }
        random.shuffle(&mut apart);
        let mut sum = PieceCounts::new();
        for counts in &apart {
            sum.merge(counts).unwrap();
        }
        sum
    }
}

/// All that is to be equal for one corpus. Whether its counts were on disk, in how many ways.
fn check(number: u64, rules: &[Rules], folder: &Folder) -> u64 {
    let mut random = Random(number);
    let texts = random.texts();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let rules = &rules[random.below(rules.len())];
    let options = |tie_break| LearnOptions { tie_break, ..LearnOptions::new(25) };
    let expected = rules.count_simply(&texts);
    let naive = |rule| learn_naive(&expected, &options(rule), &NoWatch).unwrap();
    let learned: [Learned; 3] = RULES.map(naive);
    let turn = random.below(3);
    let mut on_disk = 0;
    for (at, threads) in THREADS.into_iter().enumerate() {
        let counted = rules.count(&mut random, threads, &texts, folder);
        on_disk += u64::from(matches!(counted, Counted::Stored(_)));
        let rule = (at + turn) % 3;
        let got = learn(counted.pieces(), &options(RULES[rule]), &NoWatch).unwrap();
        assert_eq!(got, learned[rule], "corpus {number}, {threads} threads: {texts:?}");
        if at == 0 {
            let places = random.below(4);
            let got = learn_twice(counted.pieces(), &options(RULES[rule]), places).unwrap();
            assert_eq!(got, learned[rule], "corpus {number}, twice: {texts:?}");
        }
    }
    let sum = rules.count_apart(&mut random, &texts, folder);
    assert_eq!(sum, expected, "corpus {number}: {texts:?}");
    let got = learn(&sum, &options(RULES[turn]), &NoWatch).unwrap();
    assert_eq!(got, learned[turn], "corpus {number}, added up: {texts:?}");
    let mut in_order = rules.counter(&mut random, 8, None).keep_order();
    in_order.feed_sources(&readers(&texts), &NoWatch).unwrap();
    let in_order = in_order.finish().unwrap();
    let got = learn(&in_order, &options(TieBreak::FirstSeen), &NoWatch).unwrap();
    assert_eq!(got, naive(TieBreak::FirstSeen), "corpus {number}: {texts:?}");
    on_disk
}

#[test]
fn every_way_gives_the_naive_recount() {
    let wanted = std::env::var("BYTEPAIR_CORPORA").ok().and_then(|number| number.parse().ok());
    let wanted: u64 = wanted.unwrap_or(20_000);
    let (next, on_disk) = (AtomicU64::new(0), AtomicU64::new(0));
    let work = |name| {
        let (folder, rules) = (Folder::new(name), Rules::all());
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= wanted {
                break;
            }
            on_disk.fetch_add(check(number, &rules, &folder), Ordering::Relaxed);
        }
        assert_eq!(fs::read_dir(folder.spilled()).unwrap().count(), 0, "something is left behind");
    };
    thread::scope(|scope| {
        for name in 0..2 {
            let work = &work;
            scope.spawn(move || work(name));
        }
    });
    let on_disk = on_disk.into_inner();
    assert!(on_disk * 2 >= wanted, "only {on_disk} of {wanted} corpora spilled");
}
