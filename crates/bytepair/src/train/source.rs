//! Where the bytes of a corpus come from: files, or anything that can be read from front to back.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

use crate::error::Result;

use super::corpus::io_error;

/// What opens a source, each time it is called.
pub type Open = Box<dyn Fn() -> io::Result<Box<dyn Read + Send>> + Send + Sync>;

/// A text that is read block by block.
pub enum Source {
    /// A file of UTF-8 text.
    File(PathBuf),
    /// Another reader of UTF-8 text.
    Reader {
        /// What errors call it.
        name: String,
        /// Opens it.
        open: Open,
    },
}

impl Source {
    /// Opens it and passes over its first bytes.
    pub(super) fn open_at(&self, offset: u64) -> io::Result<Box<dyn Read + Send>> {
        match self {
            Self::File(path) => {
                let mut file = File::open(path)?;
                if offset > 0 {
                    file.seek(SeekFrom::Start(offset))?;
                }
                Ok(Box::new(file))
            }
            Self::Reader { open, .. } => {
                let mut reader = open()?;
                io::copy(&mut (&mut reader).take(offset), &mut io::sink())?;
                Ok(reader)
            }
        }
    }

    pub(super) fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Reader { name, .. } => name.clone(),
        }
    }

    /// The bytes of all sources; 0, unknown, if one is no file.
    pub(super) fn total(sources: &[Self]) -> Result<u64> {
        let mut known = true;
        let mut sum: u64 = 0;
        for source in sources {
            match source {
                Self::File(path) => {
                    let metadata = path
                        .metadata()
                        .map_err(|source| io_error(path.display().to_string(), source))?;
                    sum = sum.saturating_add(metadata.len());
                }
                Self::Reader { .. } => known = false,
            }
        }
        Ok(if known { sum } else { 0 })
    }
}

/// Reads what packed bytes of zstd hold: all frames, in the memory of one window (at most 128 MiB).
pub fn unpack_zstd(packed: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    Ok(Box::new(zstd::Decoder::new(packed)?))
}
