//! How much memory counting may take, and where counts go that have no room.

use std::path::PathBuf;
use std::time::Duration;

/// Bytes read from a file at once.
const FILE_BLOCK: usize = 1 << 22;
/// Bytes of a text given to a thread at once.
const TEXT_BLOCK: usize = 1 << 20;
/// Pieces of a thread's own table, and bytes of long pieces there, before it is added to the shared
/// one.
const OWN_PIECES: usize = 20_000;
const OWN_BYTES: usize = 1 << 20;
/// Bytes of a piece in a table, about, that has grown lately.
const PIECE_BYTES: usize = 48;

/// Limits of counting, for [`Counter::bounded`](super::Counter::bounded).
#[derive(Debug, Clone, Default)]
pub struct Bounds {
    /// The most bytes that tables and blocks may take, of which a text that can nowhere be cut is
    /// one. The longest piece comes on top.
    pub memory: Option<usize>,
    /// Where a folder is made for counts that have no room; it is removed in the end.
    pub temp_dir: PathBuf,
    /// A folder that keeps counts, and how often they are saved there.
    pub checkpoint: Option<(PathBuf, Duration)>,
}

/// A limit divided among what counting holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    pub(super) limit: Option<usize>,
    /// Bytes of the shared tables. As much again may wait to be written.
    pub(super) tables: usize,
    /// Pieces of a thread's own table, and bytes of long ones.
    pub(super) own: (usize, usize),
    pub(super) file_block: usize,
    pub(super) text_block: usize,
    /// The most bytes of a text that is nowhere cut.
    pub(super) block_most: usize,
}

impl Budget {
    pub(super) fn new(limit: Option<usize>, threads: usize) -> Self {
        let Some(memory) = limit else {
            return Self {
                limit,
                tables: usize::MAX,
                own: (OWN_PIECES, OWN_BYTES),
                file_block: FILE_BLOCK,
                text_block: TEXT_BLOCK,
                block_most: usize::MAX,
            };
        };
        // A sixteenth of each thread's share is a block, as much its table.
        let part = memory / (threads + 1) / 16;
        let file_block = part.clamp(1 << 14, FILE_BLOCK);
        let own_bytes = part.clamp(1 << 12, OWN_BYTES);
        let fixed = (threads + 1) * (2 * file_block + 3 * own_bytes);
        let tables = memory.saturating_sub(fixed).max(memory / 4) / 2;
        Self {
            limit,
            tables,
            own: ((own_bytes / PIECE_BYTES).min(OWN_PIECES), own_bytes),
            file_block,
            text_block: file_block.min(TEXT_BLOCK),
            block_most: memory.max(1 << 20),
        }
    }
}
