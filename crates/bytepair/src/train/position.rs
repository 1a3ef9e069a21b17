//! How far counting was when it was saved: a small text file beside the runs of a checkpoint.
//!
//! In: a place in the corpus, and the runs that hold what was counted up to it. The file is replaced
//! as a whole, so a process that dies leaves the old place or the new one.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use super::runs::checksum;
use super::store::failed;
use crate::error::{Error, Result};

const NAME: &str = "position";
const HEAD: &str = "bytepair counting 1";

/// A place in a corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Position {
    /// Which of the corpus's parts (files, texts).
    pub(super) part: u64,
    /// Which of its files, and the byte in it.
    pub(super) source: u64,
    pub(super) offset: u64,
    /// How many of its texts, and their checksum.
    pub(super) texts: u64,
    pub(super) chain: u64,
    /// Bytes counted, for the progress.
    pub(super) done: u64,
}

/// A [`Position`] and the numbers and levels of runs.
pub(super) type Saved = (Position, Vec<(u64, u32)>);

/// Writes a file as a whole.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let part = path.with_extension("part");
    let write = || {
        let mut file = File::create(&part)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&part, path)
    };
    write().map_err(|source| failed(path, source))
}

pub(super) fn save(
    folder: &Path,
    position: &Position,
    runs: impl Iterator<Item = (u64, u32)>,
) -> Result<()> {
    let Position { part, source, offset, texts, chain, done } = position;
    let mut text = format!("{HEAD}\n{part} {source} {offset} {texts} {chain} {done}\n");
    for (number, level) in runs {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{number} {level}");
    }
    let sum = checksum(0, text.as_bytes());
    let _ = writeln!(text, "end {sum}");
    replace(&folder.join(NAME), text.as_bytes())
}

/// What [`save`] wrote, if it did; [`Error::Format`] if the file is damaged.
pub(super) fn load(folder: &Path) -> Result<Option<Saved>> {
    let path = folder.join(NAME);
    let text = match fs::read(&path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(failed(&path, source)),
    };
    let damaged = || {
        Error::Format(format!(
            "{}: the file is damaged; remove the checkpoint and begin again",
            path.display()
        ))
    };
    parse(&text).map(Some).ok_or_else(damaged)
}

fn parse(text: &str) -> Option<Saved> {
    let end = text.rfind("end ")?;
    let sum: u64 = text[end + 4..].strip_suffix('\n')?.parse().ok()?;
    if sum != checksum(0, &text.as_bytes()[..end]) {
        return None;
    }
    let mut lines = text[..end].lines();
    if lines.next()? != HEAD {
        return None;
    }
    let numbers = |line: &str| -> Option<Vec<u64>> {
        line.split(' ').map(|number| number.parse().ok()).collect()
    };
    let [part, source, offset, texts, chain, done] = numbers(lines.next()?)?[..] else {
        return None;
    };
    let runs = lines.map(|line| match numbers(line)?[..] {
        [number, level] => Some((number, u32::try_from(level).ok()?)),
        _ => None,
    });
    Some((Position { part, source, offset, texts, chain, done }, runs.collect::<Option<_>>()?))
}

/// Removes the file, if there is one.
pub(super) fn remove(folder: &Path) -> Result<()> {
    let path = folder.join(NAME);
    match fs::remove_file(&path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(failed(&path, source)),
        _ => Ok(()),
    }
}
