//! What the passes over one turn of pieces leave for each other, and the shape of the cache they look
//! in: see [`crate::merge::memory`], which puts the passes together.
//!
//! Up to three ids of a piece lie in one word, [`FIELD`] bits each, the first lowest. A field that is
//! all ones is no id. The highest bit of a word in the cache is set where there is more than it tells.

/// Pieces of one turn: their lines of the cache fit the nearest cache of the processor.
pub(crate) const TURN: usize = 256;

/// Bits of an id in a word.
pub(crate) const FIELD: u32 = 21;
/// A field without an id; greater ids do not fit.
pub(crate) const NONE: u32 = (1 << FIELD) - 1;
/// Ids in a word.
pub(crate) const FIELDS: usize = 3;
/// In the ids of a slot: `more` of the slot tells the rest.
pub(crate) const MORE: u64 = 1 << 63;
/// A word without ids.
pub(crate) const NO_IDS: u64 = MORE - 1;

/// The longest piece that is its own key, in bytes.
pub(crate) const KEY_MOST: usize = 15;

/// Pieces of a text: the ends of a turn, and where the first begins.
#[derive(Clone, Copy)]
pub(crate) struct Pieces<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) start: u32,
    pub(crate) ends: &'a [u32],
    /// How far behind each piece the text is asked for: without it, the first look at each chunk of a
    /// long text is a wait.
    pub(crate) ahead: usize,
}

impl<'a> Pieces<'a> {
    pub(crate) fn get(self, index: usize) -> &'a [u8] {
        let start = index.checked_sub(1).map_or(self.start, |last| self.ends[last]);
        &self.text[start as usize..self.ends[index] as usize]
    }
}

/// A piece and its ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Slot {
    pub(crate) key: Key,
    /// Up to three ids.
    pub(crate) ids: u64,
    /// With [`MORE`]: up to three further ids, or the place of all of them in the store.
    pub(crate) more: u64,
}

/// The bytes of a piece of at most [`KEY_MOST`] and, in the highest byte, their number; or a hash of a
/// longer one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Key {
    pub(crate) low: u64,
    pub(crate) high: u64,
}

/// One line of the processor's cache.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Line(pub(crate) [Slot; 2]);

/// The keys of the pieces of a turn.
#[derive(Debug)]
pub(crate) struct Keys {
    pub(crate) low: [u64; TURN],
    pub(crate) high: [u64; TURN],
    pub(crate) line: [u32; TURN],
    /// A bit for each piece longer than [`KEY_MOST`]: its key is still to be made.
    pub(crate) long: [u64; TURN / 64],
}

impl Keys {
    pub(crate) fn new() -> Self {
        Self { low: [0; TURN], high: [0; TURN], line: [0; TURN], long: [0; TURN / 64] }
    }

    pub(crate) fn get(&self, index: usize) -> Key {
        Key { low: self.low[index], high: self.high[index] }
    }
}

/// What is found for the pieces of a turn.
#[derive(Debug)]
pub(crate) struct Found {
    /// The words of ids, in the order of the pieces: one for each, and two where one does not tell all.
    pub(crate) words: [u64; 2 * TURN],
    pub(crate) count: usize,
    /// Pieces whose two words are still to be found: there is no id in them.
    pub(crate) missed: [Missed; TURN],
    pub(crate) misses: usize,
}

/// A piece that was not found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Missed {
    /// Where its words are.
    pub(crate) place: u16,
    /// Which of the turn it is.
    pub(crate) index: u16,
}

impl Found {
    pub(crate) fn new() -> Self {
        let missed = [Missed { place: 0, index: 0 }; TURN];
        Self { words: [NO_IDS; 2 * TURN], count: 0, missed, misses: 0 }
    }
}

/// The factors of [`Key::line`], odd and without a pattern.
pub(crate) const FACTORS: [u32; 2] = [0x9E37_79B1, 0x85EB_CA77];
/// By how much the upper half of a key is turned before the lower is put to it: the length comes to lie
/// beside the bytes of short pieces.
pub(crate) const TURNED: i32 = 29;

impl Key {
    /// The key of the piece `text[start..end]`, of at most [`KEY_MOST`] bytes.
    #[inline(always)]
    pub(crate) fn of(text: &[u8], start: usize, end: usize) -> Self {
        let len = end - start;
        let window = if let Some(window) = text.get(start..start + 16) {
            window.try_into().expect("a window of 16 bytes")
        } else {
            let mut window = [0; 16];
            window[..len].copy_from_slice(&text[start..end]);
            window
        };
        let bytes = u128::from_le_bytes(window) & ((1 << (8 * len)) - 1);
        #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
        let (low, high) = (bytes as u64, (bytes >> 64) as u64);
        Self { low, high: high | (len as u64) << 56 }
    }

    /// Its line in a cache of `lines` lines, a power of two.
    #[inline(always)]
    pub(crate) fn line(self, lines: usize) -> u32 {
        let [one, two] = FACTORS.map(u64::from);
        let both = self.low ^ self.high.rotate_left(TURNED.unsigned_abs());
        let sum = ((both & u64::from(u32::MAX)) * one).wrapping_add((both >> 32) * two);
        #[expect(clippy::cast_possible_truncation, reason = "masked to the number of lines")]
        let line = (sum ^ sum >> 32) as u32 & (lines as u32).wrapping_sub(1);
        line
    }
}

/// The word of `ids`, if they are few enough and fit.
pub(crate) fn pack(ids: &[u32]) -> Option<u64> {
    if ids.len() > FIELDS || ids.iter().any(|&id| id >= NONE) {
        return None;
    }
    let fields = ids.iter().copied().chain(std::iter::repeat(NONE)).take(FIELDS);
    Some(
        (0..)
            .step_by(FIELD as usize)
            .zip(fields)
            .fold(0, |word, (bit, id)| word | u64::from(id) << bit),
    )
}

/// The two words of `ids`, if they are few enough and fit.
pub(crate) fn pack_two(ids: &[u32]) -> Option<[u64; 2]> {
    let (first, rest) = ids.split_at(ids.len().min(FIELDS));
    Some([pack(first)?, pack(rest)?])
}

/// The fields of a word.
#[inline(always)]
pub(crate) fn unpack(word: u64) -> [u32; FIELDS] {
    #[expect(clippy::cast_possible_truncation, reason = "masked to a field")]
    let field = |bit: u32| (word >> bit) as u32 & NONE;
    [field(0), field(FIELD), field(2 * FIELD)]
}
