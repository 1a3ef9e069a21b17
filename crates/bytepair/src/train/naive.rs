//! The definition of learning, word for word: a full recount for every merge.

use std::collections::BTreeMap;

use super::counts::PieceCounts;
use super::watch::{Pulse, Watch};
use super::{LearnOptions, Learned, TieBreak};
use crate::error::{Error, Result};

/// Learns as [`learn`](super::learn()) does, by recounting all pairs for every merge.
///
/// Slow (the corpus times the merges) and short: what [`learn`](super::learn()) is tested against.
///
/// ```
/// use bytepair::train::{LearnOptions, NoWatch, PieceCounts, learn_naive};
///
/// let mut counts = PieceCounts::new();
/// counts.add(b"aaabdaaabac", 1)?;
/// let learned = learn_naive(&counts, &LearnOptions::new(1), &NoWatch)?;
/// assert_eq!(learned.merges, [(97, 97)]);
/// assert_eq!(learned.counts, [4]);
/// # Ok::<(), bytepair::Error>(())
/// ```
pub fn learn_naive(
    counts: &PieceCounts,
    options: &LearnOptions,
    watch: &dyn Watch,
) -> Result<Learned> {
    options.check()?;
    let mut pulse = Pulse::new(watch);
    let ordered = counts.in_order();
    if options.tie_break == TieBreak::FirstSeen && ordered.is_none() {
        return Err(Error::Value("the counts do not know the order of pieces".to_owned()));
    }
    let mut words: Vec<(Vec<u32>, u64)> = ordered
        .unwrap_or_else(|| counts.iter().collect())
        .into_iter()
        .map(|(piece, count)| (piece.iter().map(|&byte| u32::from(byte)).collect(), count))
        .collect();
    let mut learned = Learned::default();
    let mut tokens = learned.tokens();
    while learned.merges.len() < options.merges {
        pulse.beat(learned.merges.len() as u64, options.merges as u64)?;
        let mut pairs: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        for (word, count) in &words {
            for pair in word.windows(2) {
                *pairs.entry((pair[0], pair[1])).or_default() += count;
            }
        }
        let size = |pair: (u32, u32)| tokens[pair.0 as usize].len() + tokens[pair.1 as usize].len();
        pairs.retain(|&pair, count| {
            *count >= options.min_count
                && options.max_token_bytes.is_none_or(|most| size(pair) <= most)
        });
        let Some(most) = pairs.values().copied().max() else { break };
        learned.ties.push(pairs.values().filter(|&&count| count == most).count() > 1);
        let ties = pairs.into_iter().filter(|&(_, count)| count == most).map(|(pair, _)| pair);
        let first_place = |&pair: &(u32, u32)| {
            let place = |word: &Vec<u32>| word.windows(2).position(|two| two == [pair.0, pair.1]);
            words.iter().enumerate().find_map(|(at, (word, _))| Some((at, place(word)?)))
        };
        let first = match options.tie_break {
            TieBreak::FirstSeen => ties.min_by_key(first_place),
            rule => first(rule, ties, &tokens),
        };
        let Some(pair) = first else { break };
        let id = u32::try_from(tokens.len()).expect("memory ends before 2^32 tokens");
        tokens.push([&tokens[pair.0 as usize][..], &tokens[pair.1 as usize]].concat());
        learned.merges.push(pair);
        learned.counts.push(most);
        let mut saved = 0;
        for (word, count) in &mut words {
            let shorter = merged(word, pair, id);
            saved += (word.len() - shorter.len()) as u64 * *count;
            *word = shorter;
        }
        learned.saved.push(saved);
    }
    Ok(learned)
}

/// The pair that wins among equals.
fn first(
    rule: TieBreak,
    ties: impl Iterator<Item = (u32, u32)>,
    tokens: &[Vec<u8>],
) -> Option<(u32, u32)> {
    // Hugging Face writes byte 0x21..=0x7E, 0xA1..=0xAC, 0xAE..=0xFF as the character of the same
    // number and the k-th other byte as character 256 + k, and numbers bytes by character.
    let alphabet = |id: u32| match id {
        0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF => id,
        0..=0x20 => 256 + id,
        0x7F..=0xA0 => 256 + 33 + id - 0x7F,
        0xAD => 256 + 67,
        _ => id + 1000,
    };
    match rule {
        TieBreak::Lexicographic => {
            ties.max_by_key(|&(left, right)| (&tokens[left as usize], &tokens[right as usize]))
        }
        TieBreak::LowestIds | TieBreak::FirstSeen => ties.min(),
        TieBreak::HuggingFace => {
            ties.min_by_key(|&(left, right)| (alphabet(left), alphabet(right)))
        }
    }
}

/// The word with every place of the pair replaced, from left to right.
fn merged(word: &[u32], pair: (u32, u32), id: u32) -> Vec<u32> {
    let mut out = Vec::with_capacity(word.len());
    let mut at = 0;
    while at < word.len() {
        if word[at] == pair.0 && word.get(at + 1) == Some(&pair.1) {
            out.push(id);
            at += 2;
        } else {
            out.push(word[at]);
            at += 1;
        }
    }
    out
}
