//! Where a reader would cut a text: behind a paragraph, a line or a sentence.
//!
//! In: a text and a place in it. Out: the last such end at or before the place. These are rules about
//! characters, not about language: "e.g. this" ends a sentence behind the second point.

/// An end that a reader sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Break {
    /// Behind a blank line.
    Paragraph,
    /// Behind a line end.
    Line,
    /// Behind the sign that ends a sentence and what closes it (quotes, brackets), where white space
    /// follows; behind a full-width sign whatever follows.
    Sentence,
}

/// How many closing signs may follow the end of a sentence.
const CLOSING_MOST: usize = 8;

impl Break {
    /// All of them, with their names.
    pub const NAMED: [(&str, Self); 3] =
        [("paragraph", Self::Paragraph), ("line", Self::Line), ("sentence", Self::Sentence)];

    /// The break of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMED.iter().find(|(known, _)| *known == name).map(|&(_, kind)| kind)
    }

    /// The ends of this kind in `text`, from `at` backwards.
    ///
    /// ```
    /// use bytepair::breaks::Break;
    ///
    /// let text = "One. Two.\nThree.";
    /// assert_eq!(Break::Sentence.before(text, 12).collect::<Vec<_>>(), [9, 4]);
    /// assert_eq!(Break::Line.before(text, 12).next(), Some(10));
    /// ```
    pub fn before(self, text: &str, at: usize) -> impl Iterator<Item = usize> {
        self.between(text, 0, at)
    }

    /// The ends of this kind in `text` behind `after`, from `at` backwards; what is before is not
    /// looked through.
    ///
    /// ```
    /// use bytepair::breaks::Break;
    ///
    /// assert_eq!(Break::Sentence.between("One. Two. 3", 4, 11).collect::<Vec<_>>(), [9]);
    /// ```
    pub fn between(self, text: &str, after: usize, at: usize) -> impl Iterator<Item = usize> {
        let places = (after + 1..=at).rev();
        places.filter(move |&at| text.is_char_boundary(at) && self.is_at(text, at))
    }

    fn is_at(self, text: &str, at: usize) -> bool {
        let (before, after) = text.split_at(at);
        match self {
            Self::Line => ends_line(before, after),
            Self::Paragraph => {
                ends_line(before, after) && {
                    let line = before.trim_end_matches(['\n', '\r']);
                    let ends = before[line.len()..].replace("\r\n", "\n").len();
                    ends > 1 || {
                        let blank = line.trim_end_matches([' ', '\t']);
                        blank.len() < line.len() && ends_line(blank, " ")
                    }
                }
            }
            Self::Sentence => {
                let mut signs = before.chars().rev().take(CLOSING_MOST + 1);
                match signs.find(|&sign| !is_closing(sign)) {
                    Some(sign) if is_full_width_end(sign) => !after.starts_with(is_closing),
                    Some('.' | '!' | '?' | '\u{2026}' | '\u{61f}' | '\u{6d4}' | '\u{964}') => {
                        after.is_empty() || after.starts_with(char::is_whitespace)
                    }
                    _ => false,
                }
            }
        }
    }
}

fn ends_line(before: &str, after: &str) -> bool {
    match before.chars().next_back() {
        Some('\n' | '\u{2028}' | '\u{2029}') => true,
        Some('\r') => !after.starts_with('\n'),
        _ => false,
    }
}

fn is_closing(sign: char) -> bool {
    matches!(sign, '"' | '\'' | ')' | ']' | '}')
        || matches!(sign, '\u{bb}' | '\u{2019}' | '\u{201d}')
        || matches!(sign, '\u{300d}' | '\u{300f}' | '\u{3011}' | '\u{ff09}')
}

fn is_full_width_end(sign: char) -> bool {
    matches!(sign, '\u{3002}' | '\u{ff01}' | '\u{ff1f}' | '\u{ff61}')
}
