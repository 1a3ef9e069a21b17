//! The instruction sets behind one safe interface.
//!
//! In: bytes, or words of bits. Out: bits for each class of byte, or the places of set bits. The
//! set is found once per process, and `BYTEPAIR_SIMD=avx512|avx2|portable` lowers it, so that every
//! path can be tested on one machine. What the paths compute is the same; `portable.rs` has no
//! intrinsics and is what the others are tested against.
//!
//! Code that is written once and compiled for each set implements `Work`.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub(crate) mod lanes;
pub(crate) mod pairs;
mod portable;
pub(crate) mod turn;

use std::sync::OnceLock;

use lanes::{Lanes, Table};
use turn::{Found, Keys, Line, Pieces, TURN};

/// The environment variable that chooses the level.
pub const VARIABLE: &str = "BYTEPAIR_SIMD";

/// Bits of a byte's class that [`Level::classify`] sorts out, and after them the bytes beyond ASCII
/// and, of these, all but the first of each character.
pub(crate) const PLANES: usize = 10;
/// The plane of bytes beyond ASCII.
pub(crate) const HIGH: usize = 8;
/// The plane of bytes that go on with a character.
pub(crate) const INSIDE: usize = 9;

/// What the first two bytes of a character beyond ASCII tell of it: bits for each first byte from
/// 0xC0 on, where the second is less than `below`, and where it is not less than `above`.
pub(crate) struct Leads {
    pub(crate) below: [u8; 64],
    pub(crate) above: [u8; 64],
    pub(crate) classes: [[u8; 64]; 2],
}

/// An instruction set that this machine has: only [`Level::all`] and [`Level::get`] make one, and
/// the safety of the calls below rests on that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level(Set);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Set {
    /// No more than the compiler's target.
    Portable,
    /// AVX2 and BMI.
    Avx2,
    /// AVX-512 with VBMI2.
    Avx512,
}

impl Set {
    #[cfg(target_arch = "x86_64")]
    fn most() -> Self {
        if avx512::is_here() {
            Self::Avx512
        } else if avx2::is_here() {
            Self::Avx2
        } else {
            Self::Portable
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn most() -> Self {
        Self::Portable
    }
}

/// Code to be compiled for each level: `run` must be `#[inline(always)]`.
pub(crate) trait Work {
    /// What it gives.
    type Out;
    /// Does it.
    fn run(self) -> Self::Out;
}

impl Level {
    /// All levels that this machine has, the least first.
    pub fn all() -> Vec<Self> {
        let most = Set::most();
        let sets = [Set::Portable, Set::Avx2, Set::Avx512].into_iter();
        sets.filter(|&set| set <= most).map(Self).collect()
    }

    /// The level in use: the machine's, or a lower one that the environment asks for.
    pub fn get() -> Self {
        static LEVEL: OnceLock<Level> = OnceLock::new();
        *LEVEL.get_or_init(|| {
            let asked = match std::env::var(VARIABLE).as_deref() {
                Ok("portable") => Set::Portable,
                Ok("avx2") => Set::Avx2,
                _ => Set::Avx512,
            };
            Self(asked.min(Set::most()))
        })
    }

    /// Runs `work` compiled for this level.
    #[inline]
    pub(crate) fn run<W: Work>(self, work: W) -> W::Out {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => avx512::run(work),
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => avx2::run(work),
            _ => work.run(),
        }
    }

    /// For each 64 bytes of `text` a word in each plane: in plane `k < 8` bit `b` says whether bit
    /// `k` of `classes[byte b]` is set. Bytes behind the last 64 are left out.
    pub(crate) fn classify<const N: usize>(
        self,
        text: &[u8],
        classes: &[u8; 128],
        planes: &mut [[u64; N]],
    ) {
        assert!(planes.len() >= PLANES && text.len() / 64 + 2 <= N, "room for each word");
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => avx512::classify(text, classes, planes),
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => avx2::classify(text, classes, planes),
            _ => portable::classify(text, classes, planes),
        }
    }

    /// For each bit of the classes of `leads` the places of the characters that begin in the first 64
    /// bytes and have it. Where this takes longer than to look at each character, there are none.
    #[inline(always)]
    pub(crate) fn leads<const N: usize>(self, bytes: &[u8; 65], leads: &Leads) -> [u64; N] {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => avx512::leads(bytes, leads),
            _ => [0; N],
        }
    }

    /// Which of `places`, bits for the 64 bytes of `text` from `first` on at which two characters beyond
    /// ASCII meet, have a pair there that `filter` lacks.
    #[inline(always)]
    pub(crate) fn lacking(
        self,
        filter: &pairs::Filter,
        text: &[u8],
        first: usize,
        places: u64,
    ) -> u64 {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 if first >= 4 && text.len() >= first + 64 + 4 => {
                avx512::lacking(filter, &text[first - 4..][..72], places)
            }
            _ => pairs::lacking(filter, text, first, places),
        }
    }

    /// Appends the number of each set bit of `words` to `places`, from `first` on.
    pub(crate) fn places(self, words: &[u64], first: u32, places: &mut Vec<u32>) {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => avx512::places(words, first, places),
            _ => portable::places(words, first, places),
        }
    }

    /// Finds the keys of pieces, but for those that are long, and asks for the memory of their lines
    /// and of the text ahead.
    #[inline]
    pub(crate) fn keys(self, pieces: Pieces<'_>, lines: &[Line], keys: &mut Keys) {
        assert!(pieces.ends.len() <= TURN && lines.len().is_power_of_two(), "at most a turn");
        keys.long = [0; TURN / 64];
        let done = match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => avx512::keys(pieces, lines, keys),
            _ => false,
        };
        if !done {
            portable::keys(pieces, lines, keys);
        }
    }

    /// Looks the first `count` of `keys` up in the first slots of `lines`.
    #[inline]
    pub(crate) fn probe(self, lines: &[Line], keys: &Keys, count: usize, found: &mut Found) {
        assert!(count <= TURN && lines.len().is_power_of_two(), "at most a turn");
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => avx512::probe(lines, keys, count, found),
            _ => portable::probe(lines, keys, count, found),
        }
    }

    /// Whether [`Level::merge`] is of use.
    pub(crate) fn has_lanes(self) -> bool {
        self.0 == Set::Avx512
    }

    /// Merges the pieces of `lanes`, if this level [has lanes](Self::has_lanes).
    pub(crate) fn merge(self, table: Table<'_>, lanes: &mut Lanes) {
        #[cfg(target_arch = "x86_64")]
        if self.0 == Set::Avx512 {
            avx512::merge(table, lanes);
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (table, lanes);
    }

    /// Writes the ids that `words` hold to `out`, and returns how many.
    #[inline]
    pub(crate) fn unpack(self, words: &[u64], out: &mut [u32]) -> usize {
        assert!(out.len() >= 3 * words.len() + 16, "room for each id");
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => avx512::unpack(words, out),
            _ => portable::unpack(words, out),
        }
    }
}

/// Asks for the memory of an item ahead of time.
#[inline(always)]
pub(crate) fn prefetch<T>(items: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    avx512::prefetch(items, index);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, index);
}
