//! What pretokenization promises, on examples: exact pieces, nothing lost, bounded work.

#![expect(clippy::unwrap_used, reason = "a test may fail there")]

use std::time::{Duration, Instant};

use bytepair::Error;
use bytepair::pretokenize::{Filled, NAMED, Pattern, Pretokenizer, pattern_names};
use bytepair::simd::Level;

fn regex(text: &str) -> Pattern {
    Pattern::Regex(text.to_owned())
}

fn sequence(texts: &[&str]) -> Pattern {
    Pattern::Sequence(texts.iter().map(|&text| text.to_owned()).collect())
}

fn named(name: &str) -> Pretokenizer {
    Pretokenizer::new(&Pattern::named(name).unwrap()).unwrap()
}

/// The scanner and the regex engine both give these pieces, on every spelling.
#[track_caller]
fn check(name: &str, text: &str, pieces: &[&str]) {
    let entry = NAMED.iter().find(|n| n.name == name).unwrap();
    let spellings = entry.spellings.iter().map(|&spelling| regex(spelling));
    for pattern in spellings.chain([entry.pattern()]) {
        let fast = Pretokenizer::new(&pattern).unwrap();
        assert_eq!(fast.pieces(text).unwrap(), pieces, "{name} on {text:?}");
        let general = Pretokenizer::general(&pattern).unwrap();
        assert_eq!(general.pieces(text).unwrap(), pieces, "general {name} on {text:?}");
    }
}

/// The general engine, for a pattern without scanner.
#[track_caller]
fn check_general(pattern: &Pattern, text: &str, pieces: &[&str]) {
    let found = Pretokenizer::new(pattern).unwrap();
    assert_eq!(found.pieces(text).unwrap(), pieces, "{pattern:?} on {text:?}");
}

#[test]
fn a_contraction_is_a_piece_or_the_end_of_a_word() {
    check("gpt2", "I'm we'Ll", &["I", "'m", " we", "'", "Ll"]);
    check("gpt2", "'sup", &["'s", "up"]);
    check("cl100k", "I'M we'll 'RE", &["I", "'M", " we", "'ll", " '", "RE"]);
    check("cl100k", "x'\u{17f}a", &["x", "'\u{17f}", "a"]);
    check("o200k", "I'M we'll'll", &["I'M", " we'll", "'ll"]);
    check("o200k", "x'\u{17f}a 'sup", &["x'\u{17f}", "a", " '", "sup"]);
    check("tekken", "What's", &["What", "'s"]);
    check("deepseek_v3", "What's", &["What", "'s"]);
}

#[test]
fn a_word_may_have_a_lead() {
    check("gpt2", " a\tb.c", &[" a", "\t", "b", ".", "c"]);
    check("cl100k", " a\tb.c\nd", &[" a", "\tb", ".c", "\n", "d"]);
    check("cl100k", "(a ((b", &["(a", " ((", "b"]);
    check("qwen2", "e\u{301}a", &["e", "\u{301}a"]);
    check("qwen3_5", "e\u{301}a!\u{301}", &["e\u{301}a", "!\u{301}"]);
    check("deepseek_v3", "'a\u{e9} \u{1}b", &["'a", "\u{e9}", " ", "\u{1}b"]);
}

#[test]
fn case_cuts_words() {
    check("o200k", "HTMLParser camelCase", &["HTMLParser", " camel", "Case"]);
    check("o200k", "aBC", &["a", "BC"]);
    // A caseless letter may begin, end or go between; upper letters after the last are left over.
    check("o200k", "A\u{4e00}B\u{4e00}CD", &["A\u{4e00}B\u{4e00}", "CD"]);
    check("o200k", "\u{301}AB a", &["\u{301}", "AB", " a"]);
    check("o200k", "\u{301}ABc", &["\u{301}ABc"]);
    // Title case is upper here.
    check("o200k", "x\u{1c5}y", &["x", "\u{1c5}y"]);
}

#[test]
fn numbers_are_cut_by_length() {
    check("gpt2", " 12345", &[" 12345"]);
    check("cl100k", " 12345", &[" ", "123", "45"]);
    check("nanochat", "12345", &["12", "34", "5"]);
    check("qwen2", "12", &["1", "2"]);
    check("starcoder", " 12a", &[" ", "1", "2", "a"]);
    check("cl100k", "\u{969}\u{2460}\u{bd}7", &["\u{969}\u{2460}\u{bd}", "7"]);
}

#[test]
fn symbols_take_newlines_and_slashes() {
    check("gpt2", "a ..\n\nb", &["a", " ..", "\n", "\n", "b"]);
    check("cl100k", "a ..\n\nb", &["a", " ..\n\n", "b"]);
    check("o200k", "a .\n/\n b", &["a", " .\n/\n", " b"]);
    check("qwen2", "(\n/a", &["(\n", "/a"]);
}

#[test]
fn white_space_leaves_its_last_to_what_follows() {
    check("gpt2", "a  b", &["a", " ", " b"]);
    check("gpt2", "a\n\n b", &["a", "\n\n", " b"]);
    check("cl100k", "a \n \n  b", &["a", " \n \n", " ", " b"]);
    check("gpt2", "\u{2003}\u{2003}b", &["\u{2003}", "\u{2003}", "b"]);
    check("cl100k", "\u{2003}\u{2003}b", &["\u{2003}", "\u{2003}b"]);
    check("gpt2", "!\u{85}", &["!", "\u{85}"]);
    // Not white space.
    check("gpt2", " \u{200b}\u{180e}\u{1c}", &[" \u{200b}\u{180e}\u{1c}"]);
}

#[test]
fn only_cl100k_keeps_white_space_that_ends_the_text_whole() {
    check("cl100k", "foo\n  ", &["foo", "\n  "]);
    check("llama3", "foo\n  ", &["foo", "\n", "  "]);
    check("o200k", "foo\n  ", &["foo", "\n", "  "]);
    check("cl100k", "foo\n  x", &["foo", "\n", " ", " x"]);
}

#[test]
fn a_sequence_never_joins_what_an_earlier_pattern_cut() {
    check("deepseek_v3", "ab\u{65e5}\u{672c}c 12", &["ab", "\u{65e5}\u{672c}", "c", " ", "12"]);
    // The middle dot is in the range of kana, but punctuation for the third pattern.
    check("deepseek_v3", "\u{30a2}\u{30fb}\na", &["\u{30a2}", "\u{30fb}", "\n", "a"]);
    check("deepseek_v3", "a  1", &["a", "  ", "1"]);
    check("deepseek_v3", "\u{1}\u{1}a\0\0", &["\u{1}", "\u{1}a", "\0\0"]);
}

#[test]
fn text_that_nothing_matches_is_kept() {
    check_general(&regex(r"\d+"), "ab12cd", &["ab", "12", "cd"]);
    check_general(&regex("z"), "ab", &["ab"]);
    check_general(&Pattern::None, "a b", &["a b"]);
    check_general(&sequence(&[]), "a b", &["a b"]);
    check_general(&Pattern::None, "", &[]);
}

/// As in Hugging Face's `Split`: there is no empty piece, but an empty match parts.
#[test]
fn an_empty_match_only_parts() {
    check_general(&regex(r"(?=(\d{3})+(?!\d))"), "1234567", &["1", "234", "567"]);
    check_general(&regex("a*"), "baac", &["b", "aa", "c"]);
    check_general(&regex("(?=a)|ab"), "ab12", &["ab12"]);
    check_general(&regex("(?=a)|ab"), "aab", &["a", "ab"]);
    check_general(&regex("$|^"), "ab", &["ab"]);
}

#[test]
fn a_pattern_sees_its_piece_alone() {
    check_general(&sequence(&["b", "^a", "a$"]), "aabaa", &["a", "a", "b", "a", "a"]);
    check_general(&regex("(?<=a)b"), "abb", &["a", "b", "b"]);
}

/// tiktoken's engine and this one: a brace followed by `+` is possessive, not repeated.
#[test]
fn a_possessive_brace_is_no_repetition() {
    check_general(&regex(r"\p{N}{1,3}+|x"), "12345", &["123", "45"]);
}

#[test]
fn names_lead_to_patterns_and_back() {
    let names: Vec<&str> = pattern_names().collect();
    assert_eq!(names.len(), NAMED.len());
    for named in NAMED {
        assert_eq!(named.pattern().name(), Some(named.name));
        for name in named.aliases.iter().chain([&named.name]) {
            assert_eq!(Pattern::named(name), Some(named.pattern()), "{name}");
            assert!(names.contains(name) == (*name == named.name), "{name} is given twice");
        }
        for spelling in named.spellings {
            assert_eq!(regex(spelling).name(), Some(named.name));
        }
    }
    assert_eq!(Pattern::named(""), None);
    assert_eq!(Pattern::None.name(), None);
    assert_eq!(regex("").name(), None);
}

#[test]
fn a_piece_is_settled_when_nothing_that_follows_can_change_it() {
    let settled = |name: &str, text: &str| {
        let mut ends = Vec::new();
        let Filled { next, settled } = named(name).fill(text, 0, &mut ends, usize::MAX).unwrap();
        assert_eq!(next, text.len());
        (ends.len(), settled)
    };
    assert_eq!(settled("gpt2", "one two"), (2, 1));
    assert_eq!(settled("gpt2", "one "), (2, 1));
    assert_eq!(settled("cl100k", "12345"), (2, 1));
    assert_eq!(settled("cl100k", "123"), (1, 1));
    assert_eq!(settled("o200k", "it'"), (2, 0));
    assert_eq!(settled("cl100k", "a\n "), (2, 1));
    assert_eq!(settled("llama3", "a\n "), (3, 1));
}

#[test]
fn a_call_goes_on_where_the_last_one_stopped() {
    let (pretokenizer, text) = (named("gpt2"), "one two three");
    let mut ends = vec![7];
    let filled = pretokenizer.fill(text, 0, &mut ends, 2).unwrap();
    assert_eq!((ends.as_slice(), filled), (&[7, 3, 7][..], Filled { next: 7, settled: 2 }));
    let filled = pretokenizer.fill(text, 7, &mut ends, 2).unwrap();
    assert_eq!((ends.as_slice(), filled), (&[7, 3, 7, 13][..], Filled { next: 13, settled: 0 }));
    assert_eq!(pretokenizer.fill(text, 0, &mut ends, 0).unwrap(), Filled { next: 0, settled: 0 });
    assert_eq!(ends.len(), 4);
}

/// Characters of two to four bytes at every place of a word of 64, and texts of every length.
#[test]
fn words_of_bits_are_right_at_every_length() {
    let text = "\u{6587}\u{4ef6}\u{5b58}\u{5728}\u{ff0c}x\u{e9}\u{438}\u{41c}\u{301}\u{ac00}\u{1f600} 7\u{660}";
    let text = text.repeat(40);
    for entry in NAMED {
        let fast = Pretokenizer::new(&entry.pattern()).unwrap();
        for start in [0, 3, 6, 9, 12, 15, 16, 18] {
            let text = &text[start..];
            for (end, _) in text.char_indices().skip(20).take(500) {
                let text = &text[..end];
                let mut expected = Vec::new();
                fast.fill(text, 0, &mut expected, usize::MAX).unwrap();
                for level in Level::all() {
                    let (mut from, mut found) = (0, Vec::new());
                    while from < text.len() {
                        let mut ends = Vec::new();
                        let next = fast.chunk_at(level, text, from, &mut ends).unwrap();
                        found.extend(ends.into_iter().map(|end| from + end as usize));
                        from = next;
                    }
                    assert_eq!(found, expected, "{} {level:?} {end} bytes", entry.name);
                }
            }
        }
    }
}

#[test]
fn a_long_text_is_cut_between_words_or_after_numbers() {
    for name in pattern_names() {
        let pretokenizer = named(name);
        assert_eq!(pretokenizer.safe_cut("one two", 0), Some(3), "{name}");
        assert_eq!(pretokenizer.safe_cut("it's 12a", 0), Some(4), "{name}");
        assert_eq!(pretokenizer.safe_cut("it's 12a", 5), Some(7), "{name}");
        assert_eq!(pretokenizer.safe_cut("\u{65e5}\u{672c}\u{3002}", 1), Some(6), "{name}");
        assert_eq!(pretokenizer.safe_cut("word", 0), None, "{name}");
        assert_eq!(pretokenizer.safe_cut("one two", 99), None, "{name}");
    }
    assert_eq!(Pretokenizer::new(&regex(r"\w+")).unwrap().safe_cut("one two", 0), None);
}

/// A message names the pattern, what is wrong and the place.
#[track_caller]
fn refused(pattern: &Pattern, parts: &[&str]) {
    let start = Instant::now();
    let Err(Error::Pattern(message)) = Pretokenizer::new(pattern) else {
        panic!("{pattern:?} must be refused")
    };
    assert!(start.elapsed() < Duration::from_secs(30), "{pattern:?} took {:?}", start.elapsed());
    assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    assert!(message.len() < 1000, "{message}");
}

#[test]
fn a_pattern_that_cannot_be_used_is_refused_at_once() {
    refused(&regex("a(b"), &[r#"pattern "a(b" cannot be used"#, "parenthesis"]);
    refused(&sequence(&["a", "[b-"]), &[r#"pattern "[b-" cannot be used"#, "position 3"]);
    refused(&regex(r"\Ga"), &[r"\G are not supported"]);
    refused(&regex(r"a\Kb"), &[r"\K and"]);
    refused(&regex("(a{1000}){1000}"), &["(a{1000}){1000}"]);
    refused(&regex(r"(\p{L}{1,100}){1,100}"), &[r"{1,100}"]);
    refused(&regex("(a{1000}){1000}(?!b)"), &["(?!b)"]);
    refused(&regex(r"(?<=(\w{1,100}){1,100})x"), &[r"{1,100}"]);
    refused(&regex(&"(".repeat(50_000)), &["deeply nested"]);
    refused(&regex(&"ab".repeat(100_000)), &["200000 bytes", "100000"]);
}

#[test]
fn a_hostile_pattern_gives_up_with_an_error() {
    for (pattern, text) in [
        (r"(\w+\s?)+(?<!x)!", "word ".repeat(100)),
        (r"(.*)(.*)(.*)(.*)(?!a)b", "a".repeat(3000)),
        (r"(a*)*\1c", "a".repeat(100_000)),
    ] {
        let start = Instant::now();
        let found = Pretokenizer::new(&regex(pattern)).unwrap().pieces(&text).map(|p| p.len());
        let Err(Error::Pattern(message)) = found else { panic!("{pattern}: {found:?}") };
        assert!(message.contains(&format!("{pattern:?} gave up at character 0")), "{message}");
        assert!(start.elapsed() < Duration::from_secs(100), "{pattern}: {:?}", start.elapsed());
    }
}

/// Long runs of anything, on a small stack, with every pattern and both engines.
#[test]
fn long_runs_take_neither_stack_nor_time() {
    let texts = [
        " ".repeat(1_000_100),
        " ".repeat(1_000_100) + "x",
        // The general engine takes such runs 512 at a time.
        " ".repeat(512 * 1954) + "x",
        " ".repeat(512 * 1954 + 1) + "x",
        "\n".repeat(1_000_200) + "x",
        " \n".repeat(300_000) + "x",
        "^".repeat(1_000_000),
        "a".repeat(1_000_000),
        "A".repeat(1_000_000),
        "1".repeat(300_000),
        "\0".repeat(300_000),
        "'".repeat(300_000),
        "e\u{301}".repeat(200_000),
        "\u{65e5}A".repeat(100_000),
        "aZ3+".repeat(100_000),
    ];
    let work = move || {
        for text in &texts {
            for named in NAMED {
                let pattern = named.pattern();
                let start = Instant::now();
                let fast = Pretokenizer::new(&pattern).unwrap().pieces(text).unwrap();
                let took = start.elapsed();
                // Milliseconds, but the machine may be busy; quadratic work would take hours.
                assert!(took < Duration::from_secs(30), "{}: {took:?}", named.name);
                let general = Pretokenizer::general(&pattern).unwrap();
                assert!(general.pieces(text).unwrap() == fast, "{} {:.20?}", named.name, text);
            }
        }
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(work).unwrap().join().unwrap();
}

#[test]
fn pieces_of_the_gpt2_newline_run_are_known() {
    let text = "\n".repeat(1_000_200) + "x";
    let pieces = named("gpt2").pieces(&text).unwrap();
    assert_eq!(pieces.iter().map(|piece| piece.len()).collect::<Vec<_>>(), [1_000_199, 1, 1]);
}
