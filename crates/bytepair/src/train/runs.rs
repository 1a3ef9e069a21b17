//! Runs: files of pieces in the order of their bytes, each with its count.
//!
//! A piece is written as what it shares with the one before and the rest, lengths and count as
//! numbers of variable length. The end of the file holds the [`Totals`] and a checksum, so that a
//! file that was cut off or damaged is not taken for counts. Reading needs one buffer and one piece.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::totals::Totals;
use crate::error::{Error, Result};

const MAGIC: &[u8; 8] = b"bprun\x001\n";
/// Totals, checksum and [`MAGIC`] again.
const FOOTER: usize = Totals::ENCODED + 16;
/// The most bytes of an encoded number.
const VARINT: usize = 10;
const WRITE_BUFFER: usize = 1 << 16;

/// Pieces and counts in the order of the pieces' bytes.
pub(super) trait Sorted {
    /// Goes to the next piece; `false` at the end.
    fn advance(&mut self) -> Result<bool>;
    /// The piece here; [`Sorted::advance`] was called and gave `true`.
    fn piece(&self) -> &[u8];
    /// Its count.
    fn count(&self) -> u64;
}

/// A run on disk.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) path: PathBuf,
    pub(super) totals: Totals,
}

impl Run {
    /// A run that was written before; [`Error::Format`] if it is none, or not whole.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let mut file = File::open(path).map_err(|source| failed(path, source))?;
        let totals = read_footer(path, &mut file)?.0;
        Ok(Self { path: path.to_owned(), totals })
    }

    /// Reads it from its beginning, through a buffer of this size.
    pub(super) fn read(&self, buffer: usize) -> Result<RunReader> {
        RunReader::open(&self.path, buffer)
    }
}

fn failed(path: &Path, source: io::Error) -> Error {
    Error::Store { path: path.display().to_string(), source }
}

fn damaged(path: &Path) -> Error {
    Error::Format(format!(
        "{}: the file of piece counts is damaged or cut off; remove it and count again",
        path.display()
    ))
}

fn read_footer(path: &Path, file: &mut File) -> Result<(Totals, u64, u64)> {
    let size = file.metadata().map_err(|source| failed(path, source))?.len();
    let Some(end) = size.checked_sub(FOOTER as u64).filter(|&end| end >= MAGIC.len() as u64) else {
        return Err(damaged(path));
    };
    let mut head = [0; MAGIC.len()];
    let mut footer = [0; FOOTER];
    let read = file
        .read_exact(&mut head)
        .and_then(|()| file.seek(SeekFrom::Start(end)))
        .and_then(|_| file.read_exact(&mut footer));
    read.map_err(|source| failed(path, source))?;
    let (totals, rest) = footer.split_at(Totals::ENCODED);
    if &head != MAGIC || &rest[8..] != MAGIC {
        return Err(damaged(path));
    }
    let mut check = [0; 8];
    check.copy_from_slice(&rest[..8]);
    Ok((Totals::decode(totals), u64::from_le_bytes(check), end))
}

/// Adds bytes to a checksum. It finds accidents, not forgers.
pub(super) fn checksum(state: u64, bytes: &[u8]) -> u64 {
    let fold = |state: u64, word: u64| {
        let product = u128::from(state ^ word ^ 0xF39C_C060_5CED_C835)
            * u128::from(0x9E37_79B9_7F4A_7C15_u64);
        #[expect(clippy::cast_possible_truncation, reason = "the two halves are meant")]
        let folded = (product as u64) ^ ((product >> 64) as u64);
        folded
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let state = words.iter().fold(state, |state, word| fold(state, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    fold(fold(state, u64::from_le_bytes(last)), bytes.len() as u64 | 1 << 63)
}

/// Writes a run.
pub(super) struct RunWriter {
    path: PathBuf,
    file: BufWriter<File>,
    /// The piece before.
    last: Vec<u8>,
    entry: Vec<u8>,
    check: u64,
    totals: Totals,
}

impl RunWriter {
    /// Makes the file; there must be none of this name.
    pub(super) fn create(path: PathBuf) -> Result<Self> {
        let file = File::create_new(&path).map_err(|source| failed(&path, source))?;
        let mut file = BufWriter::with_capacity(WRITE_BUFFER, file);
        file.write_all(MAGIC).map_err(|source| failed(&path, source))?;
        let totals = Totals::default();
        Ok(Self { path, file, last: Vec::new(), entry: Vec::new(), check: 0, totals })
    }

    /// Appends a piece, which follows the one before in the order of bytes.
    pub(super) fn push(&mut self, piece: &[u8], count: u64) -> Result<()> {
        let shared = self.last.iter().zip(piece).take_while(|(a, b)| a == b).count();
        self.entry.clear();
        for number in [shared as u64, (piece.len() - shared) as u64, count] {
            push_varint(&mut self.entry, number);
        }
        self.entry.extend_from_slice(&piece[shared..]);
        self.check = checksum(self.check, &self.entry);
        self.last.truncate(shared);
        self.last.extend_from_slice(&piece[shared..]);
        self.totals.add(piece, count);
        self.file.write_all(&self.entry).map_err(|source| failed(&self.path, source))
    }

    /// Completes the file; with `sync` it is on the disk itself when this returns.
    pub(super) fn finish(self, sync: bool) -> Result<Run> {
        let Self { path, mut file, check, totals, .. } = self;
        let write = || -> io::Result<()> {
            let totals = totals.encode();
            file.write_all(&totals)?;
            file.write_all(&checksum(check, &totals).to_le_bytes())?;
            file.write_all(MAGIC)?;
            let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
            if sync { file.sync_all() } else { Ok(()) }
        };
        write().map_err(|source| failed(&path, source))?;
        Ok(Run { path, totals })
    }
}

fn push_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 0x7F {
        #[expect(clippy::cast_possible_truncation, reason = "seven bits are meant")]
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    #[expect(clippy::cast_possible_truncation, reason = "less than eight bits are left")]
    bytes.push(number as u8);
}

/// Reads a run.
pub(super) struct RunReader {
    path: PathBuf,
    file: File,
    buffer: Vec<u8>,
    /// What is read and not used yet is `buffer[at..end]`.
    at: usize,
    end: usize,
    /// Bytes of entries that are still in the file.
    left: u64,
    pieces: u64,
    piece: Vec<u8>,
    count: u64,
    entry: Vec<u8>,
    check: u64,
    /// The checksum after all entries and these bytes.
    expected: u64,
    totals: [u8; Totals::ENCODED],
}

impl RunReader {
    fn open(path: &Path, buffer: usize) -> Result<Self> {
        let mut file = File::open(path).map_err(|source| failed(path, source))?;
        let (totals, expected, end) = read_footer(path, &mut file)?;
        let start = MAGIC.len() as u64;
        file.seek(SeekFrom::Start(start)).map_err(|source| failed(path, source))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            buffer: vec![0; buffer.max(4 * VARINT)],
            at: 0,
            end: 0,
            left: end - start,
            pieces: totals.pieces,
            piece: Vec::new(),
            count: 0,
            entry: Vec::new(),
            check: 0,
            expected,
            totals: totals.encode(),
        })
    }

    /// Reads on, behind what is left in the buffer.
    fn refill(&mut self) -> Result<()> {
        self.buffer.copy_within(self.at..self.end, 0);
        (self.at, self.end) = (0, self.end - self.at);
        let room = self.buffer.len() - self.end;
        let size = usize::try_from(self.left).map_or(room, |left| left.min(room));
        if size == 0 {
            return Ok(());
        }
        let target = &mut self.buffer[self.end..self.end + size];
        self.file.read_exact(target).map_err(|source| failed(&self.path, source))?;
        self.end += size;
        self.left -= size as u64;
        Ok(())
    }

    fn varint(&mut self) -> Result<u64> {
        let (mut number, mut shift) = (0, 0);
        while self.at < self.end && shift < 64 {
            let byte = self.buffer[self.at];
            self.at += 1;
            self.entry.push(byte);
            number |= u64::from(byte & 0x7F) << shift;
            shift += 7;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(damaged(&self.path))
    }

    /// Reads `size` bytes into the entry.
    fn bytes(&mut self, mut size: u64) -> Result<()> {
        if size > self.left + (self.end - self.at) as u64 {
            return Err(damaged(&self.path));
        }
        while size > 0 {
            if self.at == self.end {
                self.refill()?;
            }
            let here = self.end - self.at;
            let n = usize::try_from(size).map_or(here, |size| size.min(here));
            self.entry.extend_from_slice(&self.buffer[self.at..self.at + n]);
            self.at += n;
            size -= n as u64;
        }
        Ok(())
    }
}

impl Sorted for RunReader {
    fn advance(&mut self) -> Result<bool> {
        if self.pieces == 0 {
            let same = checksum(self.check, &self.totals) == self.expected;
            let whole = same && self.left == 0 && self.at == self.end;
            return if whole { Ok(false) } else { Err(damaged(&self.path)) };
        }
        self.pieces -= 1;
        if self.end - self.at < 3 * VARINT {
            self.refill()?;
        }
        self.entry.clear();
        let (shared, rest, count) = (self.varint()?, self.varint()?, self.varint()?);
        let Some(shared) = usize::try_from(shared).ok().filter(|&n| n <= self.piece.len()) else {
            return Err(damaged(&self.path));
        };
        let head = self.entry.len();
        self.bytes(rest)?;
        self.piece.truncate(shared);
        self.piece.extend_from_slice(&self.entry[head..]);
        self.check = checksum(self.check, &self.entry);
        self.count = count;
        Ok(true)
    }

    fn piece(&self) -> &[u8] {
        &self.piece
    }

    fn count(&self) -> u64 {
        self.count
    }
}
