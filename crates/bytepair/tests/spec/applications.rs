//! The entries about streams of ids, spans, limits and bytes.

use std::sync::Arc;

use bytepair::breaks::Break;
use bytepair::cut;
use bytepair::offsets::{Span, Unit, encode_with_offsets};
use bytepair::stream_decode::{Invalid, StreamDecoder};
use bytepair::watched::Pulse;
use serde::Deserialize;

use crate::suite::{self, Bytes, PatternText, Special};
use crate::{base, decode};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StreamDecodeCase {
    name: String,
    #[serde(rename = "source")]
    _source: Option<String>,
    encoding: Option<String>,
    prompt: Option<Vec<u32>>,
    ids: Option<Vec<u32>>,
    bytes: Option<Bytes>,
    texts: Vec<String>,
    #[serde(default)]
    finish: String,
}

#[test]
fn stream_decode() {
    for case in suite::file::<StreamDecodeCase>("stream_decode.toml").cases {
        let tokenizer = base(case.encoding.as_ref(), None, None).unwrap();
        let of_bytes = |bytes: &Bytes| bytes.get().into_iter().map(u32::from).collect();
        let ids = case.ids.unwrap_or_else(|| case.bytes.as_ref().map(of_bytes).unwrap());
        let prompt = case.prompt.unwrap_or_default();
        let mut stream =
            StreamDecoder::after(Arc::clone(&tokenizer), Invalid::Replace, &prompt).unwrap();
        let texts: Vec<String> =
            ids.iter().map(|&id| stream.feed(&[id]).unwrap().to_owned()).collect();
        assert_eq!(texts, case.texts, "{}", case.name);
        assert_eq!(stream.finish().unwrap(), case.finish, "{}", case.name);
        // All at once, after the same prompt.
        let mut stream = StreamDecoder::after(tokenizer, Invalid::Replace, &prompt).unwrap();
        assert_eq!(stream.feed(&ids).unwrap(), case.texts.concat(), "{}", case.name);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BytesCase {
    name: String,
    #[serde(rename = "source")]
    _source: Option<String>,
    encoding: Option<String>,
    bytes: Bytes,
    ids: Vec<u32>,
}

#[test]
fn encode_bytes() {
    for case in suite::file::<BytesCase>("encode_bytes.toml").cases {
        let tokenizer = base(case.encoding.as_ref(), None, None).unwrap();
        let (bytes, everything) = (case.bytes.get(), tokenizer.everything());
        let mut ids = Vec::new();
        tokenizer.encode_bytes(&bytes, everything, &mut ids).unwrap();
        assert_eq!(ids, case.ids, "{}", case.name);
        assert_eq!(decode(&tokenizer, &ids).unwrap(), bytes, "{}", case.name);
        assert_eq!(tokenizer.count_bytes(&bytes, everything, None).unwrap(), ids.len());
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OffsetsCase {
    name: String,
    #[serde(rename = "source")]
    _source: Option<String>,
    encoding: Option<String>,
    special_tokens: Option<Special>,
    text: String,
    chars: Vec<Span>,
    bytes: Vec<Span>,
    utf16: Vec<Span>,
}

#[test]
fn offsets() {
    for case in suite::file::<OffsetsCase>("offsets.toml").cases {
        let tokenizer = base(case.encoding.as_ref(), case.special_tokens.as_ref(), None).unwrap();
        for (unit, expected) in
            [(Unit::Char, &case.chars), (Unit::Byte, &case.bytes), (Unit::Utf16, &case.utf16)]
        {
            let everything = tokenizer.everything();
            let (ids, spans) =
                encode_with_offsets(&tokenizer, &case.text, everything, unit, &Pulse::free())
                    .unwrap();
            assert_eq!(decode(&tokenizer, &ids).unwrap(), case.text.as_bytes(), "{}", case.name);
            assert_eq!(spans, *expected, "{}, {unit:?}", case.name);
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CutCase {
    name: String,
    #[serde(rename = "source")]
    _source: Option<String>,
    encoding: Option<String>,
    special_tokens: Option<Special>,
    pattern: Option<PatternText>,
    text: String,
    most: usize,
    right: String,
    left: String,
    middle: String,
    #[serde(default)]
    prefer: Vec<String>,
    chunks: Option<Vec<String>>,
}

#[test]
fn cuts() {
    for case in suite::file::<CutCase>("cut.toml").cases {
        let tokenizer =
            base(case.encoding.as_ref(), case.special_tokens.as_ref(), case.pattern.as_ref())
                .unwrap();
        let (text, everything) = (case.text.as_str(), tokenizer.everything());
        let right = cut::prefix(&tokenizer, text, everything, case.most, &Pulse::free()).unwrap();
        assert_eq!(text[..right], case.right, "{}", case.name);
        let left = cut::suffix(&tokenizer, text, everything, case.most, &Pulse::free()).unwrap();
        assert_eq!(text[left..], case.left, "{}", case.name);
        let (start, end) =
            cut::middle(&tokenizer, text, everything, case.most, &Pulse::free()).unwrap();
        assert_eq!(format!("{}{}", &text[..start], &text[end..]), case.middle, "{}", case.name);
        if let Some(chunks) = case.chunks {
            let prefer: Vec<Break> =
                case.prefer.iter().map(|name| Break::named(name).unwrap()).collect();
            let spans =
                cut::chunks(&tokenizer, text, everything, (case.most, 0), &prefer, &Pulse::free())
                    .unwrap();
            let texts: Vec<&str> = spans.iter().map(|&(start, end)| &text[start..end]).collect();
            assert_eq!(texts, chunks, "{}", case.name);
        }
    }
}
