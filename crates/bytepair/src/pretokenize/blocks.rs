//! Cuts text by a family, 64 bytes at a time.
//!
//! In: a span and a piece boundary in it. Out: the ends of the pieces up to a place that no text
//! behind it can move. The bytes are sorted by class into words of bits ([`crate::simd`]), a
//! character beyond ASCII into all of its bytes; then a piece begins where the classes of
//! neighbours say so, which is a few dozen operations on words, the same for every family (see
//! [`super::rules`]).
//!
//! What the words cannot settle, or is too rare to be worth it, they mark as doubtful. Between the
//! two nearest safe cuts (see [`super::scan::safe_cut`]) around a doubtful place the scanner, which
//! also is the slow twin, decides. So do it where no safe cut is near, and at the end of the text.

use super::Seams;
use super::algebra::after;
use super::classes::{self, CASELESS, Class, KANA_HAN, LOWER, MARK, NUMBER, SYMBOL, UPPER, WHITE};
use super::family::Family;
use super::rules::Rules;
use super::scan;
use crate::simd::{HIGH, INSIDE, Leads, Level, PLANES, Work};

/// Words of a long text that are cut at once, and one more on either side, so that every word has
/// neighbours.
const LONG: usize = 128 + 2;
/// The same for shorter texts, for which it would take too long to go over the others.
const MIDDLE: usize = 16 + 2;
const SHORT: usize = 4 + 2;
/// From so many bytes on a text is not short, and it is long.
const MIDDLE_LEAST: usize = 512;
const LONG_LEAST: usize = 4096;
/// Fewer bytes are left to the scanner.
pub(super) const LEAST: usize = 24;

pub(super) type Plane<const LEN: usize> = [u64; LEN];

// The planes; the first eight are the bits of a byte's class.
pub(super) const UPPERS: usize = 0;
pub(super) const LOWERS: usize = 1;
pub(super) const NUMBERS: usize = 2;
pub(super) const SYMBOLS: usize = 3;
pub(super) const WHITES: usize = 4;
/// U+0020 among white space, the apostrophe among symbols.
pub(super) const ONE: usize = 5;
/// `\r` and `\n` among white space, the slash among symbols.
pub(super) const TWO: usize = 6;
pub(super) const OTHERS: usize = 7;
pub(super) const CASELESSES: usize = PLANES;
pub(super) const MARKS: usize = PLANES + 1;
pub(super) const KANA_HANS: usize = PLANES + 2;
const ALL: usize = PLANES + 3;

/// The bits of each ASCII byte's class.
const CLASSES: [u8; 128] = byte_classes();

const fn byte_classes() -> [u8; 128] {
    let mut table = [0; 128];
    let mut byte = 0;
    while byte < 128 {
        let class = classes::ASCII[byte];
        let plane = plane_of(class);
        table[byte] = 1 << plane;
        if byte == b' ' as usize || byte == b'\'' as usize {
            table[byte] |= 1 << ONE;
        }
        if byte == b'\r' as usize || byte == b'\n' as usize || byte == b'/' as usize {
            table[byte] |= 1 << TWO;
        }
        byte += 1;
    }
    table
}

/// The planes that [`LEADS`] has a bit for, in the order of the bits.
const LEAD_PLANES: [usize; 6] = [UPPERS, LOWERS, CASELESSES, MARKS, SYMBOLS, KANA_HANS];

/// [`classes::LEADS`] as planes.
const LEADS: Leads = leads();

const fn leads() -> Leads {
    let mut leads = Leads { below: [0x80; 64], above: [0xC0; 64], classes: [[0; 64]; 2] };
    let mut lead = 0;
    while lead < 64 {
        let sides = [classes::LEADS.below[lead], classes::LEADS.above[lead]];
        (leads.below[lead], leads.above[lead]) = (sides[0].0, sides[1].0);
        let mut side = 0;
        while side < 2 {
            let class = sides[side].1;
            let mut bit = 0;
            while bit < LEAD_PLANES.len() {
                let is_kana_han = class & KANA_HAN != 0;
                let plane = LEAD_PLANES[bit];
                if class != 0 && (plane == plane_of(class) || plane == KANA_HANS && is_kana_han) {
                    leads.classes[side][lead] |= 1 << bit;
                }
                bit += 1;
            }
            side += 1;
        }
        lead += 1;
    }
    leads
}

const fn plane_of(class: Class) -> usize {
    if class & UPPER != 0 {
        UPPERS
    } else if class & LOWER != 0 {
        LOWERS
    } else if class & CASELESS != 0 {
        CASELESSES
    } else if class & MARK != 0 {
        MARKS
    } else if class & NUMBER != 0 {
        NUMBERS
    } else if class & SYMBOL != 0 {
        SYMBOLS
    } else if class & WHITE != 0 {
        WHITES
    } else {
        OTHERS
    }
}

/// What the passes leave for each other.
pub(super) struct Blocks<const LEN: usize> {
    pub(super) planes: [Plane<LEN>; ALL],
    pub(super) symbols: Plane<LEN>,
    /// Characters of words.
    pub(super) words: Plane<LEN>,
    /// Newlines, and slashes among them, that belong to the symbols before.
    pub(super) tails: Plane<LEN>,
    /// Symbols that begin a piece: they are the first of a run, without a space before.
    pub(super) openers: Plane<LEN>,
    /// What a word after it may begin with, all bytes of it.
    pub(super) leads: Plane<LEN>,
    pub(super) starts: Plane<LEN>,
    pub(super) doubts: Plane<LEN>,
    /// Places where the text may be cut in two.
    pub(super) cuts: Plane<LEN>,
}

/// What [`Pretokenizer::chunk`](super::Pretokenizer::chunk) is told besides the text.
#[derive(Debug)]
pub(super) struct Job<'a, S> {
    pub(super) family: &'a Family,
    pub(super) rules: &'a Rules,
    pub(super) level: Level,
    pub(super) seams: Option<&'a S>,
    /// Whether nothing follows the text.
    pub(super) is_all: bool,
}

/// Appends the ends of pieces of `text`, and returns the last of them: 0 when the scanner must go on.
/// They do not depend on what follows, unless nothing does.
pub(super) fn fill<S: Seams>(job: &Job<'_, S>, text: &[u8], ends: &mut Vec<u32>) -> usize {
    if text.len() >= LONG_LEAST {
        return whole_words::<_, LONG>(job, text, ends);
    }
    if text.len() >= MIDDLE_LEAST {
        return whole_words::<_, MIDDLE>(job, text, ends);
    }
    if text.len() < LEAST {
        return 0;
    }
    // Zeros behind the text, which are of no class that a piece before them asks for. Only what lies
    // before the last cut in the text itself counts, or all of it.
    let mut padded = [0; 64 * (SHORT - 2) + 4];
    let most = text.len().min(64 * (SHORT - 2));
    let copied = text.len().min(padded.len());
    padded[..copied].copy_from_slice(&text[..copied]);
    let words = most.div_ceil(64);
    let is_all = job.is_all && most == text.len();
    job.level.run(Fill::<_, SHORT> { job, text: &padded, words, most, is_all, ends })
}

/// [`fill`] of words that end before the text does.
fn whole_words<S: Seams, const LEN: usize>(
    job: &Job<'_, S>,
    text: &[u8],
    ends: &mut Vec<u32>,
) -> usize {
    let words = (text.len() / 64).min(LEN - 2);
    let text = &text[..text.len().min(64 * words + 4)];
    job.level.run(Fill::<_, LEN> { job, text, words, most: 64 * words, is_all: false, ends })
}

struct Fill<'a, S, const LEN: usize> {
    job: &'a Job<'a, S>,
    /// `words` of 64 bytes and what a character that begins there goes on with.
    text: &'a [u8],
    words: usize,
    /// How much of it is the caller's.
    most: usize,
    /// Whether nothing follows that.
    is_all: bool,
    ends: &'a mut Vec<u32>,
}

impl<S: Seams, const LEN: usize> Work for Fill<'_, S, LEN> {
    type Out = usize;

    #[inline(always)]
    fn run(self) -> usize {
        let Self { job, text, words, most, is_all, ends } = self;
        let &Job { family, rules, level, seams, .. } = job;
        let mut blocks = Blocks::<LEN>::new();
        blocks.sort(level, text, words);
        blocks.seed(rules, words);
        blocks.decide(rules);
        blocks.mend(rules, text, words);
        // White space alone asks whether the text ends.
        let (end, text) = if is_all && !is_set(&blocks.planes[WHITES], most - 1) {
            (most, &text[..most])
        } else {
            (blocks.cut_before(most - 1), text)
        };
        if end == 0 {
            return 0;
        }
        blocks.resolve(family, text, end);
        if let Some(seams) = seams {
            blocks.part(level, seams, text, end);
        }
        blocks.finish(level, end, ends);
        end
    }
}

impl<const LEN: usize> Blocks<LEN> {
    fn new() -> Self {
        Self {
            planes: [[0; LEN]; ALL],
            symbols: [0; LEN],
            words: [0; LEN],
            tails: [0; LEN],
            openers: [0; LEN],
            leads: [0; LEN],
            starts: [0; LEN],
            doubts: [0; LEN],
            cuts: [0; LEN],
        }
    }

    /// Sorts the first 64 * `count` bytes of `text` into the planes. The bytes behind are read for a
    /// character that goes on there.
    #[inline(always)]
    fn sort(&mut self, level: Level, text: &[u8], count: usize) {
        level.classify(&text[..64 * count], &CLASSES, &mut self.planes);
        // Characters of one class mostly come together, and a run is one write.
        let (mut start, mut end, mut class) = (0, 0, 0);
        for word in 1..=count {
            if self.planes[HIGH][word] == 0 {
                continue;
            }
            let mut firsts = self.planes[HIGH][word] & !self.planes[INSIDE][word];
            firsts &= !self.put_known(level, text, word);
            while firsts != 0 {
                let at = 64 * (word - 1) + firsts.trailing_zeros() as usize;
                firsts &= firsts - 1;
                let (found, length) = classes::at(text, at);
                if found != class || at != end {
                    self.put_run(start, end, class);
                    (start, class) = (at, found);
                }
                end = at + length;
            }
        }
        self.put_run(start, end, class);
    }

    /// Puts the characters of a word whose first two bytes tell their class into the planes, and returns
    /// where these begin.
    #[inline(always)]
    fn put_known(&mut self, level: Level, text: &[u8], word: usize) -> u64 {
        let rest = &text[64 * (word - 1)..];
        // Where the text ends with the word, so does its last character.
        let bytes = rest.first_chunk().copied().unwrap_or_else(|| {
            let mut padded = [0; 65];
            padded[..64].copy_from_slice(&rest[..64]);
            padded
        });
        let found: [u64; LEAD_PLANES.len()] = level.leads(&bytes, &LEADS);
        let inside = self.planes[INSIDE][word];
        let mut known = 0;
        for (plane, firsts) in LEAD_PLANES.into_iter().zip(found) {
            let plane = &mut self.planes[plane];
            let mut all = firsts | plane[word - 1] >> 63 & inside;
            all |= all << 1 & inside;
            all |= all << 1 & inside;
            plane[word] |= all;
            known |= firsts;
        }
        known
    }

    /// Puts the bytes from `start` to `end`, of characters of `class`, into the planes.
    #[inline(always)]
    fn put_run(&mut self, start: usize, end: usize, class: Class) {
        let mut at = start;
        while at < end {
            let (word, bit) = (at / 64 + 1, at % 64);
            let length = (end - at).min(64 - bit);
            let bits = u64::MAX >> (64 - length) << bit;
            self.planes[plane_of(class)][word] |= bits;
            if class & KANA_HAN != 0 {
                self.planes[KANA_HANS][word] |= bits;
            }
            at += length;
        }
    }

    /// Lets the scanner decide about what is doubtful before `end`, which is a cut.
    fn resolve(&mut self, family: &Family, text: &[u8], end: usize) {
        let mut word = 1;
        while 64 * (word - 1) < end {
            let doubts = self.doubts[word];
            if doubts == 0 {
                word += 1;
                continue;
            }
            let at = 64 * (word - 1) + doubts.trailing_zeros() as usize;
            if at >= end {
                return;
            }
            let first = self.cut_before(at);
            set(&mut self.starts, first, true);
            let mut place = first;
            let mut reader = scan::Reader::new(text);
            loop {
                let next = family.piece(&mut reader, place);
                for inside in place + 1..next {
                    set(&mut self.starts, inside, false);
                }
                for inside in place..next {
                    set(&mut self.doubts, inside, false);
                }
                place = next;
                if place >= end || (place > at && is_set(&self.cuts, place)) {
                    break;
                }
                set(&mut self.starts, place, true);
            }
            set(&mut self.starts, place, true);
        }
    }

    /// Cuts pieces at the seams before `end`.
    #[inline(always)]
    fn part(&mut self, level: Level, seams: &impl Seams, text: &[u8], end: usize) {
        for word in 1..=end.div_ceil(64) {
            let planes = &self.planes;
            let firsts = planes[HIGH][word] & !planes[INSIDE][word];
            let between = firsts & after(&planes[HIGH], word) & !self.starts[word];
            if between != 0 {
                self.starts[word] |= seams.seams(level, text, 64 * (word - 1), between);
            }
        }
    }

    /// The last cut at or before `at`, or 0.
    fn cut_before(&self, at: usize) -> usize {
        let last = at / 64 + 1;
        for word in (1..=last).rev() {
            let seen = if word == last { u64::MAX >> (63 - at % 64) } else { u64::MAX };
            let cuts = self.cuts[word] & seen;
            if cuts != 0 {
                return 64 * word - 1 - cuts.leading_zeros() as usize;
            }
        }
        0
    }

    /// Appends the ends of the pieces before `end` and `end`.
    fn finish(&mut self, level: Level, end: usize, ends: &mut Vec<u32>) {
        let last = end / 64 + 1;
        self.starts[1] &= !1;
        self.starts[last] &= (1 << (end % 64)) - 1;
        level.places(&self.starts[1..=last], 0, ends);
        ends.push(u32::try_from(end).expect("a few thousand"));
    }
}

pub(super) fn set<const LEN: usize>(plane: &mut Plane<LEN>, at: usize, value: bool) {
    let bit = 1 << (at % 64);
    if let Some(word) = plane.get_mut(at / 64 + 1) {
        *word = if value { *word | bit } else { *word & !bit };
    }
}

fn is_set<const LEN: usize>(plane: &Plane<LEN>, at: usize) -> bool {
    plane.get(at / 64 + 1).is_some_and(|word| word >> (at % 64) & 1 == 1)
}
