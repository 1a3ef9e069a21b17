//! Stream decoding, any bytes, and cutting, against their definitions.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use bytepair::cut;
use bytepair::merge::Model;
use bytepair::pretokenize::Pattern;
use bytepair::special::SpecialTokens;
use bytepair::stream_decode::{Invalid, StreamDecoder};
use bytepair::tokenizer::Tokenizer;
use bytepair::vocab::Vocab;
use bytepair::watched::Pulse;
use proptest::prelude::*;

/// All single bytes, and tokens that join halves of characters.
fn tokenizer(pattern: &Pattern) -> Arc<Tokenizer> {
    let more: [&[u8]; 6] =
        [b"ab", b"abab", &[0xA9, 0x61], &[0x9F, 0x99], &[0xF0, 0x9F, 0x99], &[0xFF, 0xFE]];
    let single = (0..=255u8).map(|byte| vec![byte]);
    let vocab = Vocab::new((0..).zip(single.chain(more.map(<[u8]>::to_vec)))).unwrap();
    let id = |byte: u8| u32::from(byte);
    let merges = vec![
        (id(b'a'), id(b'b')),
        (256, 256),
        (id(0xA9), id(0x61)),
        (id(0x9F), id(0x99)),
        (id(0xF0), 259),
        (id(0xFF), id(0xFE)),
    ];
    let model = Arc::new(Model::from_merges(vocab, merges, false).unwrap());
    let special = SpecialTokens::new([("<s>".to_owned(), 300)], []).unwrap();
    Arc::new(Tokenizer::new(model, special, pattern).unwrap())
}

fn gpt2() -> Arc<Tokenizer> {
    tokenizer(&Pattern::named("gpt2").unwrap())
}

fn ids() -> impl Strategy<Value = Vec<u32>> {
    let some = prop::sample::select(vec![0xC3, 0xA9, 0xF0, 0x9F, 0x99, 0x82, 0xED, 0xA0, 258, 260]);
    prop::collection::vec(prop_oneof![some, 0..262u32], 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_stream_is_the_text(ids in ids(), cuts in prop::collection::vec(0..40usize, 0..8)) {
        let tokenizer = gpt2();
        let mut bytes = Vec::new();
        tokenizer.decode(&ids, &mut bytes).unwrap();
        let kept: String = bytes.utf8_chunks().map(|chunk| chunk.valid()).collect();
        let lossy = String::from_utf8_lossy(&bytes).into_owned();
        for (invalid, expected) in [(Invalid::Replace, lossy), (Invalid::Ignore, kept)] {
            let mut stream = StreamDecoder::new(Arc::clone(&tokenizer), invalid);
            let mut ends: Vec<usize> = cuts.iter().map(|&cut| cut.min(ids.len())).collect();
            ends.push(ids.len());
            ends.sort_unstable();
            // Twice: a stream that has ended is at its start.
            for _ in 0..2 {
                let (mut text, mut from) = (String::new(), 0);
                for &end in &ends {
                    text.push_str(stream.feed(&ids[from..end]).unwrap());
                    from = end;
                }
                text.push_str(stream.finish().unwrap());
                prop_assert_eq!(&text, &expected);
            }
        }
        let mut strict = StreamDecoder::new(tokenizer, Invalid::Refuse);
        let passed = strict.feed(&ids).is_ok() && strict.finish().is_ok();
        prop_assert_eq!(passed, std::str::from_utf8(&bytes).is_ok());
    }

    #[test]
    fn a_prompt_is_the_start(prompt in ids(), ids in ids()) {
        let tokenizer = gpt2();
        let mut whole = StreamDecoder::new(Arc::clone(&tokenizer), Invalid::Replace);
        whole.feed(&prompt).unwrap();
        let mut rest = StreamDecoder::after(tokenizer, Invalid::Replace, &prompt).unwrap();
        prop_assert_eq!(whole.feed(&ids).unwrap(), rest.feed(&ids).unwrap());
        prop_assert_eq!(whole.finish().unwrap(), rest.finish().unwrap());
    }

    #[test]
    fn any_bytes_come_back(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let tokenizer = gpt2();
        let (mut ids, mut back) = (Vec::new(), Vec::new());
        tokenizer.encode_bytes(&bytes, tokenizer.everything(), &mut ids).unwrap();
        tokenizer.decode(&ids, &mut back).unwrap();
        prop_assert_eq!(&back, &bytes);
        let everything = tokenizer.everything();
        prop_assert_eq!(tokenizer.count_bytes(&bytes, everything, None).unwrap(), ids.len());
    }

    #[test]
    fn cuts_are_the_longest(text in "(ab|a|b|é|🙂| |<s>|<|12){0,30}", most in 0..20usize) {
        for pattern in [Pattern::named("gpt2").unwrap(), Pattern::None] {
            let tokenizer = tokenizer(&pattern);
            let everything = tokenizer.everything();
            let fits =
                |text: &str| tokenizer.count(text, everything, Some(most)).unwrap() <= most;
            let mut places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            places.push(text.len());
            let end = places.iter().rev().find(|&&end| fits(&text[..end])).unwrap();
            prop_assert_eq!(cut::prefix(&tokenizer, &text, everything, most, &Pulse::free()).unwrap(), *end);
            let start = places.iter().find(|&&start| fits(&text[start..])).unwrap();
            prop_assert_eq!(cut::suffix(&tokenizer, &text, everything, most, &Pulse::free()).unwrap(), *start);
        }
    }
}

#[test]
fn a_failed_step_changes_nothing() {
    let mut stream = StreamDecoder::new(gpt2(), Invalid::Refuse);
    assert_eq!(stream.feed(&[0xF0, 0x9F]).unwrap(), "");
    assert!(stream.feed(&[0x99, 1000]).unwrap_err().to_string().contains("position 3"));
    assert!(stream.feed(&[0x61]).is_err());
    assert_eq!(stream.feed(&[0x99, 0x82]).unwrap(), "🙂");
    assert_eq!(stream.finish().unwrap(), "");
}

/// Long stretches without a safe cut, from parts in which more text is sometimes fewer tokens.
fn long_text() -> impl Strategy<Value = String> {
    let part = "(ab|abab|a|b|éa|é|🙂){1,4}";
    (prop::collection::vec(part, 1..5), 80..400usize).prop_map(|(parts, times)| {
        let parts: Vec<String> = parts;
        parts.iter().map(String::as_str).cycle().take(times).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn long_cuts_are_the_longest(text in long_text(), most in 0..900usize) {
        let custom = Pattern::Regex(r"a+(?=b)|\p{L}{1,20}|.".to_owned());
        for pattern in [Pattern::named("gpt2").unwrap(), Pattern::None, custom] {
            let tokenizer = tokenizer(&pattern);
            let everything = tokenizer.everything();
            let fits =
                |text: &str| tokenizer.count(text, everything, Some(most)).unwrap() <= most;
            let mut places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            places.push(text.len());
            let end = places.iter().rev().find(|&&end| fits(&text[..end])).unwrap();
            prop_assert_eq!(cut::prefix(&tokenizer, &text, everything, most, &Pulse::free()).unwrap(), *end);
            let start = places.iter().find(|&&start| fits(&text[start..])).unwrap();
            prop_assert_eq!(cut::suffix(&tokenizer, &text, everything, most, &Pulse::free()).unwrap(), *start);
        }
    }
}
