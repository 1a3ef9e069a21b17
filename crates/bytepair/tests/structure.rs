//! Patterns are recognised by what they mean: other spellings take the scanner and give the pieces of
//! the general engine, and what means something else does not take it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use bytepair::pretokenize::{NAMED, Pattern, Pretokenizer};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Whether a scanner does the work: only it knows where a text may be cut.
fn is_scanned(pattern: &Pattern) -> bool {
    Pretokenizer::new(pattern).is_ok_and(|fast| fast.safe_cut("one two", 1).is_some())
}

fn regex(text: &str) -> Pattern {
    Pattern::Regex(text.to_owned())
}

const PARTS: [&str; 46] = [
    "a", "A", "b", "word", "Éa", "é", "ß", "ſ", "K", "好", "的", "한", "か", "ー", "ʰ", "ǅ", "1",
    "12", "345", "٣", "½", "Ⅷ", "²", "'s", "'S", "'ſ", "'ll", "'Re", "'", "!", "?!", "...", "/",
    "€", "_", " ", " ", "  ", "   ", "\t", "\n", "\r\n", "\u{a0}", "\u{3000}", "\u{301}",
    "\u{200d}",
];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(select(PARTS.to_vec()), 0..30).prop_map(|parts| parts.concat())
}

/// Ways to write the parts that patterns are made of, by what they mean.
const SPELLINGS: [&[&str]; 16] = [
    &[
        "'s|'t|'re|'ve|'m|'ll|'d",
        "'(?:[sdmt]|ll|ve|re)",
        "'(?:re|ve|ll|[tmds])",
        "'[smtd]|'(?:[vr]e|ll)",
    ],
    &[
        "(?i:'s|'t|'re|'ve|'m|'ll|'d)",
        "'(?i:[sdmt]|ll|ve|re)",
        "(?i:'(?:[sdmt]|ll|ve|re))",
        "'[sS\u{17f}]|'(?i:[dmt]|re|ve|ll)",
        "(?:'(?:[dmtDMT]|(?i:s|re|ve)|[lL][Ll]))",
    ],
    &[
        "\\p{L}",
        "\\p{Letter}",
        "[\\p{Lu}\\p{Ll}\\p{Lt}\\p{Lm}\\p{Lo}]",
        "(?:\\p{L})",
        "[\\p{L}]",
        "\\pL",
    ],
    &["\\p{N}", "\\p{Number}", "[\\p{Nd}\\p{Nl}\\p{No}]", "(\\p{N})", "\\pN"],
    &["\\p{M}", "\\p{Mark}", "[\\p{Mn}\\p{Mc}\\p{Me}]"],
    &[
        "[^\\r\\n\\p{L}\\p{N}]?",
        "[^\\p{N}\\n\\p{L}\\r]?+",
        "(?:[^\\x0d\\x0A\\p{Letter}\\p{N}])?",
        "[^\\n\\r\\p{L}\\p{N}]{0,1}",
    ],
    &[
        "[^\\s\\p{L}\\p{N}]",
        "[^\\p{N}\\p{L}\\s]",
        "(?:[^\\p{Letter}\\s\\p{N}])",
        "[\\S&&[^\\p{L}\\p{N}]]",
    ],
    &["[\\r\\n]*", "[\\n\\r]*+", "(?:\\r|\\n)*", "(?>[\\r\\n]*)"],
    &["[\\r\\n/]*", "(?:[\\n/\\r])*", "[\\r/\\n]*+"],
    &["\\s*[\\r\\n]+", "\\s*[\\n\\r]", "\\s*(?:\\r|\\n)+", "\\s*[\\r\\n]++"],
    &["\\s+(?!\\S)", "\\s{1,}(?!\\S)", "[\\s]+(?![^\\s])", "(?:\\s)+(?!\\S)"],
    &["\\s+", "\\s", "\\s++", "(?:\\s+)"],
    &[" ?", "[ ]?", "\\x20?", " ?+", "(?: )?"],
    &["\\s++$", "\\s+$", "\\s+(?![\\s\\S])", "\\s++\\z"],
    &["{1,3}", "{1,3}+"],
    // Before marks, which it may be itself, it must be given back: `?+` means something else.
    &[
        "[^\\r\\n\\p{L}\\p{N}]?",
        "(?:[^\\x0d\\x0A\\p{Letter}\\p{N}])?",
        "[^\\n\\r\\p{L}\\p{N}]{0,1}",
    ],
];

/// The regular expressions of named patterns, with each part as its number in [`SPELLINGS`].
const SHAPES: [(&str, &str); 9] = [
    ("gpt2", "<0>|<12><2>+|<12><3>+|<12><6>+|<10>|<11>"),
    ("gpt2", "<0>|<12><2>++|<12><3>++|<12><6>++|<13>|<10>|<11>"),
    ("cl100k", "<1>|<5><2>+|<3><14>|<12><6>+<7>|<13>|<9>|<10>|<11>"),
    ("llama3", "<1>|<5><2>+|<3><14>|<12><6>+<7>|<9>|<10>|<11>"),
    ("qwen2", "<1>|<5><2>+|<3>|<12><6>+<7>|<9>|<10>|<11>"),
    ("nanochat", "<1>|<5><2>++|<3>{1,2}|<12><6>++<7>|<9>|<10>|<11>"),
    ("numbers of four", "<1>|<5><2>+|<3>{1,4}|<12><6>+<7>|<9>|<10>|<11>"),
    ("numbers", "<1>|<5><2>+|<3>+|<12><6>+<7>|<9>|<10>|<11>"),
    (
        "o200k",
        "<15>[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?:<1>)?\
         |<15>[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{M}\\p{Ll}\\p{Lm}\\p{Lo}]*(?:<1>)?\
         |<3><14>|<12><6>+<8>|<9>|<10>|<11>",
    ),
];

/// A shape with its parts spelled in ways that `choose` picks.
fn spell(shape: &str, mut choose: impl FnMut(usize) -> usize) -> String {
    let mut text = String::new();
    let mut rest = shape;
    while let Some((before, after)) = rest.split_once('<') {
        let (number, after) = after.split_once('>').unwrap();
        let ways = SPELLINGS[number.parse::<usize>().unwrap()];
        text.push_str(before);
        text.push_str(ways[choose(ways.len())]);
        rest = after;
    }
    text + rest
}

fn same_pieces(pattern: &Pattern, texts: &[String]) -> Result<(), TestCaseError> {
    let (fast, general) = (Pretokenizer::new(pattern), Pretokenizer::general(pattern));
    let (fast, general) = (fast.unwrap(), general.unwrap());
    texts.iter().try_for_each(|text| same_pieces_of(&fast, &general, text))
}

fn same_pieces_of(
    fast: &Pretokenizer,
    general: &Pretokenizer,
    text: &str,
) -> Result<(), TestCaseError> {
    let expected = general.pieces(text).unwrap();
    prop_assert_eq!(fast.pieces(text).unwrap(), &expected[..], "{:?}", fast.pattern());
    let mut ends = Vec::new();
    let (mut at, mut pieces) = (0, Vec::new());
    while at < text.len() {
        ends.clear();
        let next = fast.chunk(text, at, &mut ends).unwrap();
        let mut start = at;
        for end in ends.iter().map(|&end| at + end as usize) {
            pieces.push(&text[start..end]);
            start = end;
        }
        at = next;
    }
    prop_assert_eq!(pieces, expected, "{:?}", fast.pattern());
    Ok(())
}

fn cases(default: u32) -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { cases: cases.unwrap_or(default), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn another_spelling_is_the_same_pattern(
        (name, shape) in select(SHAPES.to_vec()),
        ways in prop::collection::vec(0..60usize, 24),
        texts in prop::collection::vec(text(), 20),
    ) {
        let mut ways = ways.into_iter();
        let spelled = spell(shape, |most| ways.next().unwrap_or(0) % most);
        let pattern = regex(&spelled);
        prop_assert!(is_scanned(&pattern), "{}: {}", name, spelled);
        same_pieces(&pattern, &texts)?;
        // A name says the same as its other spellings.
        if let Some(named) = Pattern::named(name) {
            let (named, other) = (Pretokenizer::new(&named), Pretokenizer::new(&pattern));
            let (named, other) = (named.unwrap(), other.unwrap());
            for text in &texts {
                prop_assert_eq!(named.pieces(text).unwrap(), other.pieces(text).unwrap());
            }
        }
    }

    /// Whatever a spelling becomes when parts of it are lost, doubled, exchanged or put elsewhere: it
    /// takes the scanner only if it still means what the scanner does.
    #[test]
    fn what_means_something_else_is_not_taken_for_it(
        (_, shape) in select(SHAPES.to_vec()),
        ways in prop::collection::vec(0..60usize, 24),
        changes in prop::collection::vec((0..5usize, any::<Index>(), any::<Index>()), 1..3),
        texts in prop::collection::vec(text(), 12),
    ) {
        let mut ways = ways.into_iter();
        let mut tokens = tokens(&spell(shape, |most| ways.next().unwrap_or(0) % most));
        for (change, at, other) in changes {
            let (at, other) = (at.index(tokens.len()), other.index(tokens.len()));
            match change {
                0 => drop(tokens.remove(at)),
                1 => tokens.insert(at, tokens[other].clone()),
                2 => tokens.swap(at, other),
                3 => tokens[at] = NEW[other % NEW.len()].to_owned(),
                _ => tokens.insert(at, NEW[other % NEW.len()].to_owned()),
            }
            if tokens.is_empty() {
                return Ok(());
            }
        }
        let pattern = regex(&tokens.concat());
        if is_scanned(&pattern) && Pretokenizer::general(&pattern).is_ok() {
            same_pieces(&pattern, &texts)?;
        }
    }
}

/// What is put into patterns.
const NEW: [&str; 22] = [
    "+", "*", "?", "++", "{1,2}", "{2,3}", "|", "\\s", "\\S", "\\w", "\\d", "\\p{L}", "\\p{N}",
    "\\p{M}", "\\p{P}", "$", "(?!\\S)", "(?=\\s)", "[\\r\\n]", ".", " ", "a",
];

/// A pattern in parts that are mostly whole: classes, escapes, quantifiers, signs.
fn tokens(pattern: &str) -> Vec<String> {
    let signs: Vec<char> = pattern.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < signs.len() {
        let close = |sign: char| signs[at..].iter().position(|&here| here == sign).unwrap_or(0);
        let len = match (signs[at], signs.get(at + 1)) {
            ('\\', Some('p')) if signs.get(at + 2) == Some(&'{') => close('}') + 1,
            ('\\', Some('x')) => 4,
            ('\\', Some('p')) => 3,
            ('\\', Some(_)) => 2,
            ('[', _) => close(']') + 1,
            ('{', _) => close('}') + 1,
            _ => 1,
        };
        let end = (at + len).min(signs.len());
        tokens.push(signs[at..end].iter().collect());
        at = end;
    }
    tokens
}

#[test]
fn differences_that_matter_are_kept_apart() {
    const REST: &str = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*";
    let with = |first: &str, last: &str| regex(&format!("{first}|{REST}|{last}"));
    let any_case = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
    let pieces = |pattern: &Pattern, text: &str| {
        let pieces = Pretokenizer::new(pattern).unwrap();
        pieces.pieces(text).unwrap().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let llama3 = with(any_case, r"\s*[\r\n]+|\s+(?!\S)|\s+");
    let cl100k = with(any_case, r"\s+$|\s*[\r\n]+|\s+(?!\S)|\s+");
    assert!(is_scanned(&llama3) && is_scanned(&cl100k));
    let Some(Pattern::Regex(o200k)) = Pattern::named("o200k") else { unreachable!() };
    assert_eq!(pieces(&llama3, "foo\n  "), ["foo", "\n", "  "]);
    assert_eq!(pieces(&cl100k, "foo\n  "), ["foo", "\n  "]);
    for pattern in [
        with(any_case, r"[\r\n]+|\s+(?!\S)|\s+"),
        with(any_case, r"\s*+[\r\n]+|\s+(?!\S)|\s+"),
        with(any_case, r"\s*[\r\n]+|\s++(?!\S)|\s+"),
        with(any_case, r"\s*?[\r\n]+|\s+(?!\S)|\s+"),
        with(any_case, r"\s*[\r\n]+|\s+(?=\S)|\s+"),
        with(any_case, r"\s*[\r\n]+|\s+(?!\s)|\s+"),
        with(any_case, r"\s*[\r\n]+|\s+|\s+(?!\S)"),
        with(any_case, r"\s*[\r\n]+|\s+(?!\S)"),
        with(any_case, r"\s+(?!\S)|\s*[\r\n]+|\s+"),
        with(any_case, r"(?m:\s+$)|\s*[\r\n]+|\s+(?!\S)|\s+"),
        with(any_case, r"\s+\Z|\s*[\r\n]+|\s+(?!\S)|\s+"),
        with("'s|'t|'re|'ve|'m|'ll|'d", r"\s*[\r\n]+|\s+(?!\S)|\s+"),
        with("(?i:'s|'t|'re|'ve|'m|'ll)", r"\s*[\r\n]+|\s+(?!\S)|\s+"),
        with("(?i:'s|'t|'re|'ve|'m|'l|'ll|'d)", r"\s*[\r\n]+|\s+(?!\S)|\s+"),
        with("(?i)'s|'t|'re|'ve|'m|'ll|'d|x", r"\s*[\r\n]+|\s+(?!\S)|\s+"),
        regex(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|\w+|\s+(?!\S)|\s+"),
        regex(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}{1,3}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"),
        regex(r"'s|'t|'re|'ve|'m|'ll|'d|\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"),
        regex(r"'s|'t|'re|'ve|'m|'ll|'d| *\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"),
        regex(r"(?x)'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"),
        regex(""),
        regex("a"),
        regex(r"(a)\1"),
        regex(r"(?<=a)b"),
        regex(&o200k.replacen("]?[", "]?+[", 1)),
    ] {
        assert!(!is_scanned(&pattern), "{pattern:?}");
    }
}

#[test]
fn a_sequence_is_recognised_by_its_parts() {
    let gpt2 = r"'(?:ll|ve|re|[tdsm])| ?\pL+| ?\pN+| ?[^\pL\pN\s]+|\s+(?!\S)|\s";
    let sequence =
        |parts: &[&str]| Pattern::Sequence(parts.iter().map(|&s| s.to_owned()).collect());
    assert!(is_scanned(&sequence(&[r"[\p{N}]", gpt2])));
    assert!(is_scanned(&sequence(&[gpt2])));
    assert!(!is_scanned(&sequence(&[gpt2, r"\p{N}"])));
    assert!(!is_scanned(&sequence(&[r"\p{Nd}", gpt2])));
    for named in NAMED {
        assert!(is_scanned(&named.pattern()), "{}", named.name);
    }
}

#[test]
fn hostile_patterns_end() {
    let deep = format!("{}a{}", "(".repeat(900), ")".repeat(900));
    let wide = "(?:a|bc)".repeat(200);
    let huge = format!("[{}]+", "a".repeat(5000));
    for text in [&deep, &wide, &huge, &"(?:[a-z]|[A-Z]x)".repeat(100)] {
        assert!(!is_scanned(&regex(text)));
    }
}
