//! `SentencePiece`'s character maps: texts of a few characters, each with what it becomes.
//!
//! In: a span. Out: the span with each text of the map replaced, from left to right, the longest that
//! begins at a place first. Most maps are NFKC with some white space folded (`nmt_nfkc`). The layout is
//! that of `precompiled_charsmap` in `SentencePiece`'s models: the size of a trie in bytes; the trie,
//! a double array of u32 as darts-clone has it; and the results, each ending in a zero byte. A map is
//! not checked as a whole: what is wrong in it is an error where a text leads there.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::watched::Ear;

/// The longest text of a map, in bytes, and the longest that one becomes; real ones have tens.
const MOST: usize = 1 << 10;

/// A character map, and texts that it leaves alone.
#[derive(Debug)]
pub struct CharsMap {
    /// The map as base64, then the texts that are left alone.
    words: Vec<String>,
    units: Vec<u32>,
    results: String,
    /// The texts left alone by their first character, the longest first.
    kept: BTreeMap<char, Vec<String>>,
}

impl CharsMap {
    /// The map whose bytes are `words[0]`, in base64; the other words are left alone.
    ///
    /// # Errors
    /// [`Error::Value`] when it is not base64 or no map.
    pub fn new(words: Vec<String>) -> Result<Self> {
        let content = words.first().and_then(|text| decode(text.as_bytes()));
        let content = content.ok_or_else(|| damaged("it is not base64"))?;
        let (size, rest) = content.split_first_chunk().ok_or_else(|| damaged("it is cut short"))?;
        let trie = rest.split_at_checked(u32::from_le_bytes(*size) as usize);
        let (trie, results) = trie.ok_or_else(|| damaged("its trie is cut short"))?;
        let (units, []) = trie.as_chunks() else {
            return Err(damaged("its trie is no array of u32"));
        };
        let results = std::str::from_utf8(results).map_err(|_| damaged("it is not UTF-8"))?;
        let mut kept: BTreeMap<char, Vec<String>> = BTreeMap::new();
        for text in &words[1..] {
            if let Some(character) = text.chars().next() {
                kept.entry(character).or_default().push(text.clone());
            }
        }
        for texts in kept.values_mut() {
            texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        }
        let units = units.iter().map(|unit| u32::from_le_bytes(*unit)).collect();
        Ok(Self { units, results: results.to_owned(), kept, words })
    }

    /// What [`CharsMap::new`] makes this map of.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(String::as_str)
    }

    /// The span rewritten; nothing where nothing changes.
    ///
    /// # Errors
    /// [`Error::Value`] where the map is damaged.
    pub(crate) fn apply(&self, span: &str, ear: &Ear<'_>) -> Result<Option<String>> {
        let mut text = String::with_capacity(span.len());
        let mut from = 0;
        while !ear.hears()
            && let Some(character) = span[from..].chars().next()
        {
            let rest = &span[from..];
            if let Some(kept) = self.kept(character, rest) {
                text.push_str(kept);
                from += kept.len();
            } else if let Some((size, result)) = self.longest(rest)? {
                text.push_str(result);
                from += size;
            } else {
                text.push(character);
                from += character.len_utf8();
            }
        }
        Ok((text != span).then_some(text))
    }

    fn kept(&self, first: char, rest: &str) -> Option<&str> {
        let texts = self.kept.get(&first)?;
        texts.iter().find(|text| rest.starts_with(text.as_str())).map(String::as_str)
    }

    /// The size of the longest text of the map that `rest` begins with, and what it becomes.
    fn longest(&self, rest: &str) -> Result<Option<(usize, &str)>> {
        let Some(root) = self.units.first() else { return Ok(None) };
        let mut found = None;
        let mut node = offset(*root);
        for (size, byte) in (1..).zip(rest.bytes().take(MOST)) {
            node ^= u32::from(byte);
            let Some(&unit) = self.units.get(node as usize) else { break };
            // The mark of a unit that holds a value is in the highest bit.
            if unit & 0x8000_00FF != u32::from(byte) {
                break;
            }
            node ^= offset(unit);
            if unit >> 8 & 1 == 1 {
                let value = self.units.get(node as usize);
                let value = value.ok_or_else(|| damaged("its trie points out of itself"))?;
                found = Some((size, value & 0x7FFF_FFFF));
            }
        }
        let Some((size, value)) = found.filter(|&(size, _)| rest.is_char_boundary(size)) else {
            return Ok(None);
        };
        let result = self.results.get(value as usize..);
        let end = result.and_then(|result| result.bytes().take(MOST).position(|byte| byte == 0));
        match (result, end) {
            (Some(result), Some(end)) => Ok(Some((size, &result[..end]))),
            _ => Err(damaged("a text in it has no result, or too long a one")),
        }
    }
}

/// Where the children of a unit are, to be combined with their byte.
fn offset(unit: u32) -> u32 {
    unit >> 10 << ((unit & 1 << 9) >> 6)
}

fn damaged(what: &str) -> Error {
    Error::Value(format!("the character map is damaged: {what}"))
}

/// The bytes of base64, padded or not.
fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let text = text.strip_suffix(b"=").unwrap_or(text);
    let text = text.strip_suffix(b"=").unwrap_or(text);
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for group in text.chunks(4) {
        let mut bits = 0;
        for &letter in group {
            bits = bits << 6 | u32::from(six(letter)?);
        }
        let size = match group.len() {
            4 => 3,
            3 => 2,
            2 => 1,
            _ => return None,
        };
        bits <<= 6 * (4 - group.len());
        bytes.extend_from_slice(&bits.to_be_bytes()[1..=size]);
    }
    Some(bytes)
}

fn six(letter: u8) -> Option<u8> {
    match letter {
        b'A'..=b'Z' => Some(letter - b'A'),
        b'a'..=b'z' => Some(letter - b'a' + 26),
        b'0'..=b'9' => Some(letter - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_decoded() {
        for (text, wanted) in
            [("", ""), ("YQ==", "a"), ("YWI=", "ab"), ("YWI", "ab"), ("YWJj", "abc")]
        {
            assert_eq!(decode(text.as_bytes()).as_deref(), Some(wanted.as_bytes()));
        }
        assert_eq!(decode(b"YWJj/+//").as_deref(), Some(&b"abc\xff\xef\xff"[..]));
        assert_eq!(decode(b"Y"), None);
        assert_eq!(decode(b"YW J"), None);
    }

    fn apply(map: &CharsMap, text: &str) -> Result<Option<String>> {
        map.apply(text, &Ear::new(&|| false))
    }

    /// A map of one text, `a`, which becomes what value 0 is.
    fn map(results: &[u8], kept: &[&str]) -> Result<CharsMap> {
        let mut units = vec![0u32; 512];
        units[0] = 256 << 10;
        let letter = 256 ^ u32::from(b'a');
        // Its value is where its own byte is taken back and 1 is put on.
        units[letter as usize] = (letter ^ 0x101) << 10 | 1 << 8 | u32::from(b'a');
        units[257] = 1 << 31;
        let mut content = u32::try_from(units.len() * 4).unwrap().to_le_bytes().to_vec();
        content.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
        content.extend(results);
        let mut words = vec![encode(&content)];
        words.extend(kept.iter().map(|&text| text.to_owned()));
        CharsMap::new(words)
    }

    fn encode(bytes: &[u8]) -> String {
        let letters: Vec<char> =
            ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/']).collect();
        let mut text = String::new();
        for group in bytes.chunks(3) {
            let bits = group.iter().fold(0usize, |bits, &byte| bits << 8 | usize::from(byte));
            let bits = bits << (8 * (3 - group.len()));
            text.extend((0..=group.len()).map(|at| letters[bits >> (18 - 6 * at) & 63]));
        }
        text
    }

    #[test]
    fn a_map_of_one_text() {
        let ours = map(b"xy\0", &["ba", "b"]).unwrap();
        assert_eq!(apply(&ours, "").unwrap(), None);
        assert_eq!(apply(&ours, "c\u{e9}").unwrap(), None);
        assert_eq!(apply(&ours, "aca").unwrap().as_deref(), Some("xycxy"));
        // `ba` is left alone, and `b` is no beginning of another `ba`.
        assert_eq!(apply(&ours, "babaa").unwrap().as_deref(), Some("babaxy"));
        assert_eq!(apply(&map(b"\0", &[]).unwrap(), "bab").unwrap().as_deref(), Some("bb"));
    }

    #[test]
    fn damaged_maps_are_errors() {
        assert!(apply(&map(b"xy", &[]).unwrap(), "a").is_err());
        assert!(apply(&map(b"", &[]).unwrap(), "a").is_err());
        assert!(apply(&map(&[b'x'; 2000], &[]).unwrap(), "a").is_err());
        assert!(map(b"\xff\0", &[]).is_err());
        for text in ["", "AA", "////", "BQAAAAAAAAAA"] {
            assert!(CharsMap::new(vec![text.to_owned()]).is_err(), "{text}");
        }
    }
}
