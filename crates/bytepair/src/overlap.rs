//! How much of a string's beginning a text ends with.
//!
//! In: a text and a string. Out: a number of bytes. Costs time in proportion to both (Knuth, Morris and
//! Pratt 1977), where trying every place costs their product.

/// The length of the longest beginning of `string`, short of all of it, that `text` ends with.
pub(crate) fn overlap(text: &[u8], string: &[u8]) -> usize {
    let tail = &text[text.len().saturating_sub(string.len().saturating_sub(1))..];
    let start = &string[..tail.len()];
    if start.is_empty() {
        return 0;
    }
    // For each beginning of `start`, the longest shorter one that it ends with.
    let mut shorter = vec![0; start.len()];
    for at in 1..start.len() {
        shorter[at] = longer(start, &shorter, shorter[at - 1], start[at]);
    }
    tail.iter().fold(0, |matched, &byte| longer(start, &shorter, matched, byte))
}

/// The longest beginning of `start` behind `byte`, where it was `matched` long before.
fn longer(start: &[u8], shorter: &[usize], mut matched: usize, byte: u8) -> usize {
    while matched > 0 && start.get(matched) != Some(&byte) {
        matched = shorter[matched - 1];
    }
    matched + usize::from(start.get(matched) == Some(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition.
    fn naive(text: &[u8], string: &[u8]) -> usize {
        (0..string.len()).rev().find(|&length| text.ends_with(&string[..length])).unwrap_or(0)
    }

    #[test]
    fn it_is_the_definition() {
        // All words of two letters up to a length.
        let words = |most: u32| {
            (0..=most).flat_map(|length| {
                (0..1_u32 << length).map(move |bits| -> Vec<u8> {
                    (0..length).map(|at| b'a' + u8::from(bits >> at & 1 == 1)).collect()
                })
            })
        };
        for text in words(7) {
            for string in words(7) {
                assert_eq!(overlap(&text, &string), naive(&text, &string), "{text:?} {string:?}");
            }
        }
    }
}
