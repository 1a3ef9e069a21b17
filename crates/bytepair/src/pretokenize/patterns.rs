//! The named patterns, as data.
//!
//! In: a name, or the text of a regular expression. Out: the pattern, or the name. A pattern is
//! added by adding an entry here; how its text is scanned is said in [`super::family`].
//!
//! A *regex* here never uses a possessive brace (`{1,3}+`), which Hugging Face's engine reads as a
//! repeated group, so that it may be written into any file. The one exception to "any engine gives
//! the same pieces" is said at its entry.

use super::Pattern;

/// A pattern that has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// Its name.
    pub name: &'static str,
    /// Other names of the same pattern.
    pub aliases: &'static [&'static str],
    /// One regular expression, or several to be applied in order.
    pub regexes: &'static [&'static str],
    /// Other spellings, of exactly the same pieces on every text (one regular expression each).
    pub spellings: &'static [&'static str],
    /// Who brought it, and who else uses it.
    pub source: &'static str,
}

const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

const GPT2_TIKTOKEN: &str =
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s";

const CL100K: &str = concat!(
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*",
    r"|\s+(?![\s\S])|\s*[\r\n]|\s+(?!\S)|\s"
);

const CL100K_TIKTOKEN: &str = concat!(
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+",
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
);

const LLAMA3: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);

const MINBPE_GPT4: &str = concat!(
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}",
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
);

const NANOCHAT: &str = concat!(
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,2}",
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
);

const QWEN2: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);

const QWEN3_5: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}",
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);

const O200K: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);

const TEKKEN: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);

const DEEPSEEK_V3: [&str; 3] = [
    r"\p{N}{1,3}",
    "[\u{4e00}-\u{9fa5}\u{3040}-\u{309f}\u{30a0}-\u{30ff}]+",
    concat!(
        r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"##,
        r"|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*",
        r"|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
];

/// Every named pattern, in the order in which they are listed to people.
pub const NAMED: &[Named] = &[
    Named {
        name: "gpt2",
        aliases: &["r50k", "p50k"],
        regexes: &[GPT2],
        spellings: &[GPT2_TIKTOKEN],
        source: "GPT-2; also r50k_base, p50k_base, p50k_edit, OLMo 1",
    },
    // White space that holds a newline and ends the text is one piece, unlike in llama3: so it is
    // in tiktoken since 0.8 ("foo\n  " is `foo`, `\n  ` here and `foo`, `\n`, `  ` there).
    Named {
        name: "cl100k",
        aliases: &[],
        regexes: &[CL100K],
        spellings: &[CL100K_TIKTOKEN],
        source: "cl100k_base as tiktoken cuts it (GPT-3.5, GPT-4)",
    },
    Named {
        name: "o200k",
        aliases: &[],
        regexes: &[O200K],
        spellings: &[],
        source: "o200k_base, o200k_harmony (GPT-4o, gpt-oss)",
    },
    Named {
        name: "llama3",
        aliases: &["olmo3"],
        regexes: &[LLAMA3],
        spellings: &[MINBPE_GPT4],
        source: "Llama 3; also OLMo 2 and 3, and cl100k_base as Hugging Face files spell it",
    },
    Named {
        name: "qwen2",
        aliases: &["qwen3"],
        regexes: &[QWEN2],
        spellings: &[],
        source: "Qwen 2, 2.5 and 3 (their normalizer is NFC)",
    },
    Named {
        name: "qwen3_5",
        aliases: &[],
        regexes: &[QWEN3_5],
        spellings: &[],
        source: "Qwen 3.5 and 3.6 (their normalizer is NFC)",
    },
    Named {
        name: "deepseek_v3",
        aliases: &[],
        regexes: &DEEPSEEK_V3,
        spellings: &[],
        source: "DeepSeek V3, R1",
    },
    Named {
        name: "tekken",
        aliases: &[],
        regexes: &[TEKKEN],
        spellings: &[],
        source: "Mistral's tekken (Nemo and later)",
    },
    Named {
        name: "starcoder",
        aliases: &["smollm"],
        regexes: &[r"\p{N}", GPT2],
        spellings: &[],
        source: "StarCoder 1 and 2, SmolLM, Command R: each digit alone, then GPT-2",
    },
    Named {
        name: "nanochat",
        aliases: &[],
        regexes: &[NANOCHAT],
        spellings: &[],
        source: "nanochat: as llama3 with numbers of at most two digits",
    },
];

/// The names of the named patterns, without aliases.
pub fn pattern_names() -> impl Iterator<Item = &'static str> {
    NAMED.iter().map(|named| named.name)
}

impl Named {
    /// The pattern itself.
    pub fn pattern(&self) -> Pattern {
        match self.regexes {
            [regex] => Pattern::Regex((*regex).to_owned()),
            many => Pattern::Sequence(many.iter().map(|&regex| regex.to_owned()).collect()),
        }
    }

    /// Whether `pattern` is this one, in one of its spellings.
    fn is(&self, pattern: &Pattern) -> bool {
        let texts: &[String] = match pattern {
            Pattern::None => return false,
            Pattern::Regex(text) => std::slice::from_ref(text),
            Pattern::Sequence(texts) => texts,
        };
        let spelled = |spelling: &str| matches!(texts, [text] if text == spelling);
        texts == self.regexes || self.spellings.iter().any(|&spelling| spelled(spelling))
    }
}

impl Pattern {
    /// The pattern of that name or alias, in its canonical spelling.
    ///
    /// ```
    /// use bytepair::pretokenize::Pattern;
    /// assert_eq!(Pattern::named("r50k"), Pattern::named("gpt2"));
    /// assert_eq!(Pattern::named("no such"), None);
    /// ```
    pub fn named(name: &str) -> Option<Pattern> {
        let named = NAMED.iter().find(|n| n.name == name || n.aliases.contains(&name))?;
        Some(named.pattern())
    }

    /// The name of this pattern, in whichever of its known spellings it is written.
    ///
    /// ```
    /// use bytepair::pretokenize::Pattern;
    /// assert_eq!(Pattern::named("qwen3").unwrap().name(), Some("qwen2"));
    /// assert_eq!(Pattern::Regex(r"\w+".to_owned()).name(), None);
    /// ```
    pub fn name(&self) -> Option<&'static str> {
        NAMED.iter().find(|named| named.is(self)).map(|named| named.name)
    }
}
