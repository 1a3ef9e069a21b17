//! Merges learned so far, in a file of a checkpoint.
//!
//! In: what is learned. Out: a file that is replaced as a whole, and what was learned back from it.

use std::fs;
use std::path::Path;

use super::Learned;
use super::position::replace;
use super::runs::checksum;
use super::store::failed;
use crate::error::{Error, Result};

const NAME: &str = "merges";
const MAGIC: &[u8; 8] = b"bpmerge1";
/// Left, right, count, tokens saved, tie.
const ENTRY: usize = 25;

/// Writes what is learned into the folder of a checkpoint.
pub fn save_learned(folder: &Path, learned: &Learned) -> Result<()> {
    let mut bytes = MAGIC.to_vec();
    let Learned { merges, counts, ties, saved } = learned;
    for (((merge, count), tie), saved) in merges.iter().zip(counts).zip(ties).zip(saved) {
        bytes.extend(merge.0.to_le_bytes());
        bytes.extend(merge.1.to_le_bytes());
        bytes.extend(count.to_le_bytes());
        bytes.extend(saved.to_le_bytes());
        bytes.push(u8::from(*tie));
    }
    bytes.extend(checksum(0, &bytes).to_le_bytes());
    replace(&folder.join(NAME), &bytes)
}

/// What [`save_learned`] wrote; nothing learned if it did not; [`Error::Format`] if it is damaged.
pub fn load_learned(folder: &Path) -> Result<Learned> {
    let path = folder.join(NAME);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Learned::default());
        }
        Err(source) => return Err(failed(&path, source)),
    };
    parse(&bytes).ok_or_else(|| {
        Error::Format(format!(
            "{}: the file of merges is damaged or cut off; remove it, and they are learned again",
            path.display()
        ))
    })
}

fn parse(bytes: &[u8]) -> Option<Learned> {
    let (rest, sum) = bytes.split_last_chunk::<8>()?;
    let entries = rest.strip_prefix(MAGIC)?;
    if u64::from_le_bytes(*sum) != checksum(0, rest) || entries.len() % ENTRY != 0 {
        return None;
    }
    let mut learned = Learned::default();
    for entry in entries.chunks_exact(ENTRY) {
        let (left, entry) = entry.split_first_chunk()?;
        let (right, entry) = entry.split_first_chunk()?;
        let (count, entry) = entry.split_first_chunk()?;
        let (saved, tie) = entry.split_first_chunk()?;
        learned.merges.push((u32::from_le_bytes(*left), u32::from_le_bytes(*right)));
        learned.counts.push(u64::from_le_bytes(*count));
        learned.saved.push(u64::from_le_bytes(*saved));
        learned.ties.push(tie == [1]);
    }
    Some(learned)
}
