//! A model as flat bytes: what pickles are made of.
//!
//! In: a model, or such bytes. Out: the other, in a small part of the time that text takes, since
//! nothing is spelled. It is no file format: only the version that wrote such bytes is sure to read
//! them. They are checked as any other input is, so that damaged ones are an error.
//!
//! Layout, in u32, little endian: [`MAGIC`]; flags; the number of tokens, their ids, their lengths,
//! their bytes; the number of merges and their two ids, unless merging is by rank; and where it begins
//! with characters what is missing, which tokens are frozen, and the ranks.

use crate::error::{Error, Result};
use crate::merge::{MergeRule, Model};
use crate::symbols::{Missing, Order, Symbols};
use crate::vocab::Vocab;

/// The first bytes; the number is the version.
pub const MAGIC: &[u8; 8] = b"bpflat_1";
const BY_RANK: u32 = 1;
const WHOLE_PIECES: u32 = 2;
const SYMBOLS: u32 = 4;
const MISSING_BYTES: u32 = 0;
const MISSING_UNKNOWN: u32 = 1;
const MISSING_REFUSED: u32 = 2;

/// The bytes of a model.
///
/// # Errors
/// [`Error::Value`] when it has 2³² tokens or merges.
pub fn write(model: &Model) -> Result<Vec<u8>> {
    let vocab = model.vocab();
    let mut out = Writer(MAGIC.to_vec());
    let by_rank = model.rule() == MergeRule::Ranks;
    let flags = [
        (by_rank, BY_RANK),
        (model.whole_pieces(), WHOLE_PIECES),
        (model.symbols().is_some(), SYMBOLS),
    ];
    out.number(flags.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).sum());
    out.length(vocab.len())?;
    vocab.iter().for_each(|(id, _)| out.number(id));
    for (_, bytes) in vocab.iter() {
        out.length(bytes.len())?;
    }
    vocab.iter().for_each(|(_, bytes)| out.0.extend_from_slice(bytes));
    if !by_rank {
        out.pairs(model.merges())?;
    }
    if let Some(symbols) = model.symbols() {
        out.symbols(symbols)?;
    }
    Ok(out.0)
}

/// The model of such bytes.
///
/// # Errors
/// [`Error::Format`] when they are none, and what the constructors of [`Model`] refuse.
pub fn read(flat: &[u8]) -> Result<Model> {
    let others = "its first bytes are not those that this version writes";
    let rest = flat.strip_prefix(MAGIC).ok_or_else(|| damaged(others))?;
    let mut reader = Reader(rest);
    let flags = reader.number()?;
    let ids = reader.numbers()?;
    let lengths = reader.some(ids.len())?;
    let mut tokens = Vec::with_capacity(ids.len());
    for (id, length) in ids.into_iter().zip(lengths) {
        tokens.push((id, reader.take(length as usize)?));
    }
    let by_rank = flags & BY_RANK != 0;
    let pairs = if by_rank { Vec::new() } else { reader.pairs()? };
    if flags & SYMBOLS == 0 {
        reader.end()?;
        let vocab = Vocab::new(tokens)?;
        return if by_rank {
            Model::from_ranks(vocab)
        } else {
            Model::from_merges(vocab, pairs, flags & WHOLE_PIECES != 0)
        };
    }
    let missing = reader.missing()?;
    let frozen = reader.numbers()?;
    let order = if by_rank { Order::Ranks(reader.pairs()?) } else { Order::Pairs(pairs) };
    reader.end()?;
    let last: &[u32] = if let Missing::Bytes(ids) = &missing { &ids[..] } else { &[] };
    let vocab = Vocab::with_last(tokens, last)?;
    if let Some((byte, id)) =
        (0u8..=255).zip(last).find(|&(byte, &id)| vocab.bytes(id) != Some(&[byte]))
    {
        return Err(damaged(&format!("id {id} is to stand for byte {byte}, but is not it")));
    }
    Model::from_symbols(vocab, order, missing, frozen)
}

fn damaged(what: &str) -> Error {
    Error::Format(format!("not a pickled model, or a damaged one: {what}"))
}

struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, number: u32) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn length(&mut self, length: usize) -> Result<()> {
        let number = u32::try_from(length)
            .map_err(|_| Error::Value(format!("{length} are too many to pickle")))?;
        self.number(number);
        Ok(())
    }

    fn pairs(&mut self, pairs: &[(u32, u32)]) -> Result<()> {
        self.length(pairs.len())?;
        for &(one, other) in pairs {
            self.number(one);
            self.number(other);
        }
        Ok(())
    }

    fn symbols(&mut self, symbols: &Symbols) -> Result<()> {
        match symbols.missing() {
            Missing::Bytes(ids) => {
                self.number(MISSING_BYTES);
                ids.iter().for_each(|&id| self.number(id));
            }
            Missing::Unknown { id, fuse } => {
                self.number(MISSING_UNKNOWN);
                self.number(*id);
                self.number(u32::from(*fuse));
            }
            Missing::Refused => self.number(MISSING_REFUSED),
        }
        self.length(symbols.frozen().len())?;
        symbols.frozen().iter().for_each(|&id| self.number(id));
        if let Order::Ranks(ranks) = symbols.order() {
            self.pairs(ranks)?;
        }
        Ok(())
    }
}

struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn take(&mut self, size: usize) -> Result<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(size).ok_or_else(|| {
            damaged(&format!("{size} bytes are wanted and {} are left", self.0.len()))
        })?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u32> {
        Ok(self.some(1)?[0])
    }

    fn some(&mut self, count: usize) -> Result<Vec<u32>> {
        let bytes = self.take(count.saturating_mul(4))?;
        let (numbers, _) = bytes.as_chunks();
        Ok(numbers.iter().map(|number| u32::from_le_bytes(*number)).collect())
    }

    fn numbers(&mut self) -> Result<Vec<u32>> {
        let count = self.number()?;
        self.some(count as usize)
    }

    fn pairs(&mut self) -> Result<Vec<(u32, u32)>> {
        let count = self.number()? as usize;
        let numbers = self.some(count.saturating_mul(2))?;
        let (pairs, _) = numbers.as_chunks();
        Ok(pairs.iter().map(|&[one, other]| (one, other)).collect())
    }

    fn missing(&mut self) -> Result<Missing> {
        match self.number()? {
            MISSING_BYTES => {
                let ids = self.some(256)?;
                Ok(Missing::Bytes(Box::new(std::array::from_fn(|byte| ids[byte]))))
            }
            MISSING_UNKNOWN => {
                Ok(Missing::Unknown { id: self.number()?, fuse: self.number()? != 0 })
            }
            MISSING_REFUSED => Ok(Missing::Refused),
            other => Err(damaged(&format!("nothing missing is of kind {other}"))),
        }
    }

    fn end(&self) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        Err(damaged(&format!("{} bytes are left over", self.0.len())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_and(more: &[&str]) -> Vec<(u32, Vec<u8>)> {
        let bytes = (0..=255u8).map(|byte| vec![byte]);
        let more = more.iter().map(|text| text.as_bytes().to_vec());
        (0u32..).step_by(3).zip(bytes.chain(more)).collect()
    }

    /// A model of each kind.
    fn models() -> Vec<Model> {
        let tokens = || Vocab::new(bytes_and(&["ab", "abc", "zzz"])).unwrap();
        let pair = |left: u8, right: u32| (u32::from(left) * 3, right);
        let merges = vec![pair(b'a', u32::from(b'b') * 3), (256 * 3, u32::from(b'c') * 3)];
        let mut characters = bytes_and(&["\u{e9}", "\u{e9}a"]);
        characters.push((1000, b"a".to_vec()));
        let ids: [u32; 256] = std::array::from_fn(|byte| u32::try_from(byte).unwrap() * 3);
        let symbols = |order, missing, frozen| {
            let last = if matches!(missing, Missing::Bytes(_)) { &ids[..] } else { &[] };
            let vocab = Vocab::with_last(characters.clone(), last).unwrap();
            Model::from_symbols(vocab, order, missing, frozen).unwrap()
        };
        vec![
            Model::from_merges(Vocab::new(bytes_and(&[])).unwrap(), Vec::new(), false).unwrap(),
            Model::from_merges(tokens(), merges.clone(), false).unwrap(),
            Model::from_merges(tokens(), merges, true).unwrap(),
            Model::from_ranks(tokens()).unwrap(),
            symbols(Order::Pairs(vec![(768, 1000)]), Missing::Bytes(Box::new(ids)), Vec::new()),
            symbols(
                Order::Ranks(vec![(291, 1), (768, 1), (771, 0)]),
                Missing::Unknown { id: 5000, fuse: true },
                vec![771],
            ),
            symbols(Order::Pairs(Vec::new()), Missing::Refused, Vec::new()),
        ]
    }

    #[test]
    fn what_is_written_is_read() {
        for model in models() {
            let flat = write(&model).unwrap();
            assert_eq!(read(&flat).unwrap(), model);
            assert_eq!(write(&read(&flat).unwrap()).unwrap(), flat);
        }
    }

    #[test]
    fn damaged_bytes_are_an_error_or_another_model() {
        for model in models() {
            let flat = write(&model).unwrap();
            assert!((0..flat.len()).step_by(7).all(|size| read(&flat[..size]).is_err()));
            assert!(read(&[&flat[..], b"x"].concat()).is_err());
            for at in (0..flat.len()).step_by(3) {
                for value in [0, 1, 0xFF] {
                    let mut other = flat.clone();
                    other[at] = value;
                    // Neither a panic nor a model that cannot be written.
                    if let Ok(model) = read(&other) {
                        write(&model).unwrap();
                    }
                }
            }
        }
    }
}
