//! The packed form of a rank table: what the bundled encodings are shipped in.
//!
//! In: a vocabulary whose ids are ranks, every token of two or more bytes the merge of two tokens of
//! lower rank (as BPE training makes them). Out: a few hundred kilobytes that load in milliseconds.
//! A token is stored as its two parts, so neither its bytes nor its merge need searching for.
//!
//! Layout, all in one zstd frame that says its size: [`MAGIC`]; the number of ids `n` (u32, little endian); then, as
//! six planes of `n` bytes each (low, middle and high byte, which compress better apart), the left
//! and the right part of each id. The left part `BYTE` says that the token is the single byte
//! given as right part, `HOLE` that no token has the id.

use zstd::zstd_safe;

use crate::error::{Error, Result};
use crate::merge::{Model, RANKED_MOST, TrueMerges};
use crate::vocab::Vocab;

/// The first bytes of the unpacked form; the number is the version.
pub const MAGIC: &[u8; 8] = b"bpranks1";
const BYTE: u32 = 0xFF_FFFF;
const HOLE: u32 = 0xFF_FFFE;
/// The most ids a table can have: parts are stored in three bytes.
const IDS_MOST: usize = HOLE as usize;
const PLANES: usize = 6;
/// How many ids before a merge is added its place in the table is asked for: a line takes that long.
const AHEAD: usize = 12;
/// The most bytes all tokens may have together, so that a hostile file cannot take all memory.
const ARENA_MOST: usize = 1 << 30;

/// Packs a model that merges by rank.
///
/// # Errors
/// [`Error::Vocab`] when a token is not the merge of two of lower rank; [`Error::Value`] when an id
/// is too great.
pub fn pack(model: &Model) -> Result<Vec<u8>> {
    let vocab = model.vocab();
    let count = vocab.greatest_id().map_or(0, |id| id as usize + 1);
    if count > IDS_MOST {
        return Err(Error::Value(format!("{count} ids are too many to pack; at most {IDS_MOST}")));
    }
    let mut parts = vec![(HOLE, 0); count];
    let mut merges = model.merges().iter();
    for (id, bytes) in vocab.iter() {
        parts[id as usize] = if let [byte] = bytes {
            (BYTE, u32::from(*byte))
        } else {
            let merge = merges.next().filter(|&&(left, right)| {
                let (left, right) = (vocab.bytes(left), vocab.bytes(right));
                left.zip(right).is_some_and(|(left, right)| bytes == [left, right].concat())
            });
            *merge.ok_or_else(|| {
                Error::Vocab(format!(
                    "token {id} is not the merge of two tokens of lower rank, so the table cannot be packed"
                ))
            })?
        };
    }
    let mut plain = MAGIC.to_vec();
    plain.extend(u32::try_from(count).expect("at most IDS_MOST").to_le_bytes());
    for shift in [0, 8, 16] {
        plain.extend(parts.iter().map(|(left, _)| byte_of(*left, shift)));
    }
    for shift in [0, 8, 16] {
        plain.extend(parts.iter().map(|(_, right)| byte_of(*right, shift)));
    }
    zstd::bulk::compress(&plain, 22)
        .map_err(|source| Error::Io { path: "packing a rank table".into(), source })
}

fn byte_of(part: u32, shift: u32) -> u8 {
    part.to_le_bytes()[shift as usize / 8]
}

/// Loads a packed rank table.
///
/// # Errors
/// [`Error::Format`] when `packed` is not one, or is damaged.
pub fn unpack(packed: &[u8]) -> Result<Model> {
    let damaged = |what: &str| Error::Format(format!("not a packed rank table: {what}"));
    // Of a known size it is unpacked in place, without a window to copy from.
    let size = zstd_safe::get_frame_content_size(packed).ok().flatten();
    let size = size.ok_or_else(|| damaged("it does not say its size"))?;
    let most = MAGIC.len() + 4 + PLANES * IDS_MOST;
    let size = usize::try_from(size).ok().filter(|&size| size <= most);
    let size = size.ok_or_else(|| damaged("it is too long"))?;
    let plain =
        zstd::bulk::decompress(packed, size).map_err(|error| damaged(&error.to_string()))?;
    let rest = plain.strip_prefix(MAGIC).ok_or_else(|| damaged("its first bytes are others"))?;
    let (count, planes) = rest.split_first_chunk().ok_or_else(|| damaged("it is cut short"))?;
    let count = u32::from_le_bytes(*count) as usize;
    if planes.len() != count * PLANES {
        return Err(damaged("its length does not fit its number of ids"));
    }
    let part = |plane: usize, id: usize| {
        let byte = |plane: usize| u32::from(planes[plane * count + id]);
        byte(plane) | byte(plane + 1) << 8 | byte(plane + 2) << 16
    };
    let mut starts: Vec<u32> = vec![0; count + 1];
    let mut merges = TrueMerges::with_capacity(count);
    let mut byte_ids = [None; 256];
    for (id, number) in (0..count).zip(0u32..) {
        let (left, right) = (part(0, id), part(3, id));
        if id + AHEAD < count {
            merges.expect(part(0, id + AHEAD), part(3, id + AHEAD));
        }
        let len = match left {
            HOLE => 0,
            BYTE => {
                let byte = u8::try_from(right).map_err(|_| damaged("a byte is above 255"))?;
                byte_ids[usize::from(byte)].get_or_insert(number);
                1
            }
            _ => {
                if left.max(right) >= number {
                    return Err(damaged("a token is made of later ones"));
                }
                let len = |part: u32| starts[part as usize + 1] - starts[part as usize];
                if len(left) == 0 || len(right) == 0 {
                    return Err(damaged("a token is made of one that is none"));
                }
                merges.push(number, left, right);
                len(left) + len(right)
            }
        };
        if len as usize > RANKED_MOST {
            return Err(damaged("a token is too long"));
        }
        starts[id + 1] = starts[id] + len;
        if starts[id + 1] as usize > ARENA_MOST {
            return Err(damaged("its tokens are too long"));
        }
    }
    let arena = arena_of(&starts, |id| (part(0, id), part(3, id)));
    let vocab = Vocab::of_arena(starts, arena);
    Ok(merges.model(vocab, &byte_ids))
}

/// The bytes of all tokens: token `id`, of the parts `parts(id)`, goes to `starts[id]`. Some zeros stand
/// behind the last.
fn arena_of(starts: &[u32], parts: impl Fn(usize) -> (u32, u32)) -> Vec<u8> {
    /// Copying so many bytes is cheaper than copying just those of a token; the next one overwrites
    /// what is too much.
    const WINDOW: usize = 16;
    let end = starts.last().map_or(0, |&end| end as usize);
    let mut arena = vec![0; end + WINDOW];
    for id in 0..starts.len() - 1 {
        let mut to = starts[id] as usize;
        let (left, right) = parts(id);
        match left {
            HOLE => continue,
            BYTE => {
                arena[to] = right.to_le_bytes()[0];
                continue;
            }
            _ => {}
        }
        for part in [left as usize, right as usize] {
            let (from, part_end) = (starts[part] as usize, starts[part + 1] as usize);
            if part_end - from <= WINDOW {
                arena.copy_within(from..from + WINDOW, to);
            } else {
                arena.copy_within(from..part_end, to);
            }
            to += part_end - from;
        }
    }
    arena.truncate(end);
    arena
}
