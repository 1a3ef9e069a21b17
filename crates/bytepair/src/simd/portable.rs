//! The definition, in plain Rust: eight bytes at a time.

use super::turn::{
    FIELDS, Found, KEY_MOST, Key, Keys, Line, MORE, Missed, NO_IDS, NONE, Pieces, unpack as fields,
};
use super::{HIGH, INSIDE, prefetch};

/// Turns an 8 by 8 matrix of bits, a row in each byte, over its diagonal.
///
/// Source: Warren, Hacker's Delight, 7-3.
fn transpose(mut x: u64) -> u64 {
    for (shift, mask) in
        [(7, 0x00AA_00AA_00AA_00AA), (14, 0x0000_CCCC_0000_CCCC), (28, 0x0000_0000_F0F0_F0F0_u64)]
    {
        let swap = (x ^ (x >> shift)) & mask;
        x ^= swap ^ (swap << shift);
    }
    x
}

pub(super) fn classify<const N: usize>(text: &[u8], classes: &[u8; 128], planes: &mut [[u64; N]]) {
    for (word, block) in (1..).zip(text.as_chunks::<64>().0) {
        let mut found = [0; 8];
        let (mut high, mut inside) = (0, 0);
        for (eight, bytes) in block.as_chunks::<8>().0.iter().enumerate() {
            let row = bytes.map(|byte| classes.get(usize::from(byte)).copied().unwrap_or(0));
            let columns = transpose(u64::from_le_bytes(row)).to_le_bytes();
            for (plane, column) in found.iter_mut().zip(columns) {
                *plane |= u64::from(column) << (8 * eight);
            }
            for (bit, &byte) in bytes.iter().enumerate() {
                high |= u64::from(byte >> 7) << (8 * eight + bit);
                inside |= u64::from(byte & 0xC0 == 0x80) << (8 * eight + bit);
            }
        }
        for (plane, bits) in planes.iter_mut().zip(found) {
            plane[word] = bits;
        }
        planes[HIGH][word] = high;
        planes[INSIDE][word] = inside;
    }
}

pub(super) fn places(words: &[u64], first: u32, places: &mut Vec<u32>) {
    for (start, &word) in (first..).step_by(64).zip(words) {
        let mut left = word;
        // Eight by eight, so that the end of the loop is seldom guessed wrong.
        while left != 0 {
            let mut eight = [0; 8];
            let count = left.count_ones().min(8) as usize;
            for place in &mut eight {
                *place = start + (left.trailing_zeros() & 63);
                left &= left.wrapping_sub(1);
            }
            places.extend_from_slice(&eight);
            places.truncate(places.len() - 8 + count);
        }
    }
}

pub(super) fn keys(pieces: Pieces<'_>, lines: &[Line], keys: &mut Keys) {
    let Pieces { text, start, ends, .. } = pieces;
    let mut start = start as usize;
    for (index, &end) in ends.iter().enumerate() {
        let end = end as usize;
        if end - start > KEY_MOST {
            keys.long[index / 64] |= 1 << (index % 64);
        } else {
            let key = Key::of(text, start, end);
            let line = key.line(lines.len());
            prefetch(lines, line as usize);
            (keys.low[index], keys.high[index], keys.line[index]) = (key.low, key.high, line);
        }
        start = end;
    }
}

pub(super) fn probe(lines: &[Line], keys: &Keys, count: usize, found: &mut Found) {
    (found.count, found.misses) = (0, 0);
    for index in 0..count {
        let Line([slot, _]) = &lines[keys.line[index] as usize];
        let words = &mut found.words[found.count..];
        if slot.key != keys.get(index) || slot.ids == MORE | NO_IDS {
            words[..2].fill(NO_IDS);
            let place_of = |at: usize| u16::try_from(at).expect("a few hundred");
            found.missed[found.misses] =
                Missed { place: place_of(found.count), index: place_of(index) };
            (found.count, found.misses) = (found.count + 2, found.misses + 1);
        } else if slot.ids & MORE != 0 {
            words[..2].copy_from_slice(&[slot.ids & NO_IDS, slot.more]);
            found.count += 2;
        } else {
            words[0] = slot.ids;
            found.count += 1;
        }
    }
}

pub(super) fn unpack(words: &[u64], out: &mut [u32]) -> usize {
    let mut count = 0;
    for &word in words {
        let ids = fields(word);
        out[count..count + FIELDS].copy_from_slice(&ids);
        count += ids.iter().filter(|&&id| id != NONE).count();
    }
    count
}

#[cfg(test)]
mod tests {
    use super::super::pairs::{self, Filter};
    use super::super::turn::{
        Found, Key, Keys, Line, MORE, NO_IDS, NONE, Pieces, Slot, TURN, pack, unpack,
    };
    use super::super::{Leads, Level, PLANES};

    /// Bytes that look random, the same in each run.
    fn noise(len: usize) -> Vec<u8> {
        let mut state = 1_u64;
        let mut byte = || {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            state.to_be_bytes()[0]
        };
        (0..len).map(|_| byte()).collect()
    }

    #[test]
    fn every_level_classifies_alike() {
        let text = noise(64 * 6 + 17);
        let classes: [u8; 128] = noise(128).try_into().expect("128 bytes");
        for level in Level::all() {
            let mut planes = [[7; 8]; PLANES];
            level.classify(&text, &classes, &mut planes);
            for (at, &byte) in text.iter().enumerate().take(64 * 6) {
                let bit = |plane: usize| planes[plane][at / 64 + 1] >> (at % 64) & 1;
                let class = classes.get(usize::from(byte)).copied().unwrap_or(0);
                for plane in 0..8 {
                    assert_eq!(bit(plane), u64::from(class >> plane & 1), "{level:?} {byte}");
                }
                assert_eq!(bit(8), u64::from(byte >= 0x80));
                assert_eq!(bit(9), u64::from((0x80..0xC0).contains(&byte)));
            }
            assert!(
                planes.iter().all(|plane| plane[0] == 7 && plane[7] == 7),
                "only its own words"
            );
        }
    }

    #[test]
    fn every_level_finds_the_set_bits() {
        let words: Vec<u64> = noise(8 * 40)
            .as_chunks::<8>()
            .0
            .iter()
            .map(|word| u64::from_le_bytes(*word))
            .chain([0, u64::MAX, 1, 1 << 63])
            .collect();
        let expected: Vec<u32> = (0..64 * 44)
            .filter(|&at: &u32| words[at as usize / 64] >> (at % 64) & 1 == 1)
            .map(|at| at + 1000)
            .collect();
        for level in Level::all() {
            let mut places = vec![3];
            level.places(&words, 1000, &mut places);
            assert_eq!(places[1..], expected, "{level:?}");
        }
    }

    #[test]
    fn every_level_sorts_by_the_first_two_bytes_alike_or_not_at_all() {
        let text = noise(65 * 20);
        let table = |seed: usize| noise(64 * 9)[64 * seed..][..64].try_into().expect("64 bytes");
        let (below, above) = (table(5), table(6));
        let leads = Leads { below, above, classes: [table(7), table(8)] };
        for bytes in text.as_chunks::<65>().0 {
            let mut expected = [0_u64; 6];
            for (at, pair) in bytes.windows(2).enumerate().filter(|(_, pair)| pair[0] >= 0xC0) {
                let lead = usize::from(pair[0] - 0xC0);
                let class = if pair[1] >= leads.above[lead] {
                    leads.classes[1][lead]
                } else if pair[1] < leads.below[lead] {
                    leads.classes[0][lead]
                } else {
                    0
                };
                for (bit, places) in expected.iter_mut().enumerate() {
                    *places |= u64::from(class >> bit & 1) << at;
                }
            }
            for level in Level::all() {
                let found = level.leads::<6>(bytes, &leads);
                assert!(found == expected || found == [0; 6], "{level:?}");
            }
        }
    }

    /// Pieces of 1 to 20 bytes: a text, and where they end.
    fn pieces(count: usize) -> (Vec<u8>, Vec<u32>) {
        let mut end = 3;
        let ends: Vec<u32> = noise(count)
            .into_iter()
            .map(|byte| {
                end += u32::from(byte) % 20 + 1;
                end
            })
            .collect();
        (noise(end as usize), ends)
    }

    #[test]
    fn every_level_finds_the_same_keys() {
        let empty = Slot { key: Key { low: 1, high: 0 }, ids: MORE | NO_IDS, more: 0 };
        let lines = vec![Line([empty; 2]); 64];
        for count in [0, 1, 7, 8, 9, 64, 100, TURN] {
            let (text, ends) = pieces(count);
            for level in Level::all() {
                let mut keys = Keys::new();
                let pieces = Pieces { text: &text, start: 3, ends: &ends, ahead: 9 };
                level.keys(pieces, &lines, &mut keys);
                let mut start = 3;
                for (index, &end) in ends.iter().enumerate() {
                    let (from, end) = (start as usize, end as usize);
                    let long = keys.long[index / 64] >> (index % 64) & 1;
                    assert_eq!(long == 1, end - from > 15, "{level:?} {index}");
                    if long == 0 {
                        let key = Key::of(&text, from, end);
                        assert_eq!(keys.get(index), key, "{level:?} {index}");
                        assert_eq!(keys.line[index], key.line(64), "{level:?} {index}");
                        let mut bytes = [0; 16];
                        bytes[..end - from].copy_from_slice(&text[from..end]);
                        bytes[15] = u8::try_from(end - from).expect("at most 15");
                        assert_eq!([key.low.to_le_bytes(), key.high.to_le_bytes()].concat(), bytes);
                    }
                    start = ends[index];
                }
            }
        }
    }

    #[test]
    fn every_level_looks_up_and_unpacks_alike() {
        let (text, ends) = pieces(TURN);
        let empty = Slot { key: Key { low: 1, high: 0 }, ids: MORE | NO_IDS, more: 0 };
        let mut lines = vec![Line([empty; 2]); 256];
        let mut keys = Keys::new();
        super::keys(Pieces { text: &text, start: 3, ends: &ends, ahead: 0 }, &lines, &mut keys);
        let word_of = |index: u32| {
            let ids: Vec<u32> = (0..index % 4).map(|n| (index * 79_191 + n) % NONE).collect();
            pack(&ids).expect("at most three, and each fits")
        };
        let words: Vec<u64> = (0..).take(TURN).map(word_of).collect();
        for index in (0..TURN).filter(|index| index % 3 != 0) {
            let more = if index % 5 == 0 { MORE } else { 0 };
            let (ids, rest) = if index % 11 == 0 { (NO_IDS, 7) } else { (words[index], words[0]) };
            lines[keys.line[index] as usize].0[index % 7 / 6] =
                Slot { key: keys.get(index), ids: ids | more, more: rest };
        }
        for count in [0, 1, 8, 13, TURN] {
            let mut expected = None;
            for level in Level::all() {
                let mut found = Found::new();
                level.probe(&lines, &keys, count, &mut found);
                let missed = found.missed[..found.misses].to_vec();
                let result = (found.words[..found.count].to_vec(), missed);
                assert_eq!(expected.get_or_insert(result.clone()), &result, "{level:?}");

                let mut out = vec![0; 3 * count + 16];
                let len = level.unpack(&words[..count], &mut out);
                let plain = words[..count].iter().flat_map(|&word| unpack(word));
                assert!(plain.filter(|&id| id != NONE).eq(out[..len].iter().copied()), "{level:?}");
            }
            let (found, missed) = expected.expect("there is a level");
            let (mut found, mut missed) = (found.into_iter(), missed.into_iter().peekable());
            for index in 0..count {
                let key = keys.get(index);
                let slot = lines[key.line(256) as usize].0[0];
                let place = u16::try_from(index).expect("a few");
                let is_missed = missed.next_if(|missed| missed.index == place).is_some();
                assert_eq!(is_missed, slot.key != key || slot.ids == MORE | NO_IDS, "{index}");
                let (word, more) = if is_missed { (NO_IDS, NO_IDS) } else { (slot.ids, slot.more) };
                assert_eq!(found.next(), Some(word & NO_IDS), "{index}");
                assert!(!is_missed && word & MORE == 0 || found.next() == Some(more), "{index}");
            }
            assert_eq!((found.next(), missed.next()), (None, None));
        }
    }

    #[test]
    fn every_level_finds_the_same_pairs_lacking() {
        let mut filter = Filter::new();
        let bytes = noise(64 * 1024);
        let (numbers, _) = bytes.as_chunks::<8>();
        for number in numbers {
            filter.add_pair(u64::from_le_bytes(*number) >> 40, u64::from_be_bytes(*number) >> 40);
            filter.add_part(number[0] | 0x80, number[1] | 0xC0);
        }
        let characters = noise(400).into_iter().map(|byte| match byte % 4 {
            0 => char::from(0xA0 | byte),
            1 => char::from_u32(0x4E00 + u32::from(byte) * 7).expect("a letter"),
            2 => char::from_u32(0x1_F600 + u32::from(byte)).expect("a symbol"),
            _ => char::from(byte & 0x7F),
        });
        let text: String = characters.collect();
        let text = text.as_bytes();
        let (mut seen, mut lacked) = (0, 0);
        for first in (0..text.len() - 64).step_by(13) {
            let meets = |at: &usize| at > &0 && text[*at] >= 0xC0 && text[*at - 1] >= 0x80;
            let places =
                (first..first + 64).filter(meets).fold(0, |bits, at| bits | 1 << (at - first));
            let expected = pairs::lacking(&filter, text, first, places);
            for level in Level::all() {
                assert_eq!(level.lacking(&filter, text, first, places), expected, "{level:?}");
            }
            seen += places.count_ones();
            lacked += expected.count_ones();
        }
        assert!(lacked > 100 && seen - lacked > 20, "{lacked} of {seen}");
    }
}
