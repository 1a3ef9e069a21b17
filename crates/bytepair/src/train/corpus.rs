//! Cuts a corpus into blocks that threads count apart, with the same pieces as uncut.
//!
//! A block begins and ends where a text does, behind a special token, or where the pretokenizer
//! proves that a cut changes no piece. Where there is none of these (no pretokenizer, or a general
//! regular expression, and no special token) a text is one block, whatever its size.

use std::fmt;
use std::io::{self, Read};

use aho_corasick::{AhoCorasick, MatchKind};

use super::source::Source;
use crate::error::{Error, Result};
use crate::pretokenize::Pretokenizer;

/// Finds special tokens, so that they are not counted and no piece crosses one.
///
/// Where special tokens overlap, the leftmost starts first, and among those that start together the
/// longest wins. One automaton finds them all, whatever their number.
///
/// ```
/// use bytepair::train::SpecialCutter;
///
/// let cutter = SpecialCutter::new(&["<|end|>", "<|end|><|end|>"])?;
/// let spans: Vec<_> = cutter.spans("one<|end|><|end|>two<|end|>").collect();
/// assert_eq!(spans, ["one", "two"]);
/// # Ok::<(), bytepair::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct SpecialCutter {
    automata: Option<Automata>,
    longest: usize,
}

#[derive(Debug, Clone)]
struct Automata {
    leftmost: AhoCorasick,
    /// Finds every occurrence, overlapping ones too.
    all: AhoCorasick,
}

impl SpecialCutter {
    /// A cutter for these special tokens; [`Error::Value`] if one is empty.
    pub fn new<S: AsRef<str>>(tokens: &[S]) -> Result<Self> {
        let tokens: Vec<&str> = tokens.iter().map(AsRef::as_ref).collect();
        if let Some(at) = tokens.iter().position(|token| token.is_empty()) {
            return Err(Error::Value(format!(
                "special token {at} is empty; an empty string would be found everywhere"
            )));
        }
        let Some(longest) = tokens.iter().map(|token| token.len()).max() else {
            return Ok(Self::default());
        };
        let build = |kind| {
            let automaton = AhoCorasick::builder().match_kind(kind).build(&tokens);
            automaton.map_err(|error| Error::Value(format!("too many special tokens: {error}")))
        };
        let leftmost = build(MatchKind::LeftmostLongest)?;
        let all = build(MatchKind::Standard)?;
        Ok(Self { automata: Some(Automata { leftmost, all }), longest })
    }

    /// The spans of a text: what lies between its special tokens, without empty ones.
    pub fn spans<'t>(&'t self, text: &'t str) -> impl Iterator<Item = &'t str> + 't {
        let found = self.automata.as_ref().map(|automata| automata.leftmost.find_iter(text));
        let ends = found.into_iter().flatten().map(|found| (found.start(), found.end()));
        let ends = ends.chain(std::iter::once((text.len(), text.len())));
        let mut start = 0;
        ends.map(move |(end, next)| &text[std::mem::replace(&mut start, next)..end])
            .filter(|span| !span.is_empty())
    }

    /// The end of the last special token in `text[from..]` that is one whatever stands before
    /// `from` and behind `text`: no other, nor any part of one, overlaps it.
    fn last_certain(&self, text: &[u8], from: usize) -> Option<usize> {
        let all = &self.automata.as_ref()?.all;
        let first = if from == 0 { 0 } else { from + self.longest - 1 };
        let certain =
            |start: usize, end: usize| start >= first && end + self.longest <= text.len() + 1;
        // Occurrences come in the order of their ends; overlapping ones are joined to groups.
        let (mut last, mut group, mut alone) = (None, 0..0, false);
        for found in all.find_overlapping_iter(&text[from..]) {
            let (start, end) = (from + found.start(), from + found.end());
            if start < group.end {
                (group, alone) = (group.start.min(start)..end, false);
                continue;
            }
            if alone && certain(group.start, group.end) {
                last = Some(group.end);
            }
            (group, alone) = (start..end, true);
        }
        if alone && certain(group.start, group.end) { Some(group.end) } else { last }
    }

    /// The last span of `text`, which goes on behind its end: as far as no special token that
    /// begins in it can be missed.
    fn last_span<'t>(&self, text: &'t str) -> (usize, &'t str) {
        let known = floor(text, (text.len() + 1).saturating_sub(self.longest.max(1)));
        let mut start = 0;
        if let Some(automata) = &self.automata {
            for found in automata.leftmost.find_iter(text).take_while(|found| found.start() < known)
            {
                start = found.end();
            }
        }
        (start, &text[start..known.max(start)])
    }
}

/// How a corpus is cut into blocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cutting<'a> {
    pub(super) pretokenizer: &'a Pretokenizer,
    pub(super) special: &'a SpecialCutter,
    /// Bytes of a block, about.
    pub(super) block: usize,
    /// Bytes at the end of a block where a cut is looked for.
    pub(super) window: usize,
    /// The most bytes of a block; a file that cannot be cut within them is refused.
    pub(super) most: usize,
}

impl Cutting<'_> {
    /// Where to cut `text`, which begins a block and goes on behind its end; `None` if there is no
    /// certain place near the end.
    fn cut(&self, text: &[u8]) -> Option<usize> {
        let from = text.len().saturating_sub(self.window);
        let certain = self.special.last_certain(text, from);
        certain.or_else(|| self.cut_in_span(text)).filter(|&cut| cut > 0)
    }

    fn cut_in_span(&self, text: &[u8]) -> Option<usize> {
        let text = match std::str::from_utf8(text) {
            Ok(text) => text,
            // The last character may lie across the end.
            Err(error) if error.error_len().is_none() => {
                std::str::from_utf8(&text[..error.valid_up_to()]).ok()?
            }
            Err(_) => return None,
        };
        let (start, span) = self.special.last_span(text);
        let from = floor(span, span.len().saturating_sub(self.window));
        let cut = self.pretokenizer.safe_cut(span, from)?;
        // A cut looks at the characters beside it; stay away from where the text is not known.
        (cut + 16 <= span.len()).then_some(start + cut)
    }
}

/// Where a block is from: which text or file, and the byte in it.
pub(super) type Place = (usize, u64);

/// Something to count.
pub(super) enum Block<'t> {
    /// Whole texts.
    Texts(&'t [&'t str]),
    /// Part of a text.
    Part(&'t str),
    /// Part of a file, not yet known to be UTF-8.
    Bytes(Vec<u8>),
}

/// Gives blocks, in order.
pub(super) trait Supply<'t>: Send {
    /// The next block.
    fn next(&mut self) -> Result<Option<(Place, Block<'t>)>, (Place, Error)>;
    /// What the text or file of a place is called.
    fn name(&self, place: Place) -> String;
}

/// The blocks of some texts.
pub(super) struct TextSupply<'t> {
    cutting: Cutting<'t>,
    texts: &'t [&'t str],
    index: usize,
    offset: usize,
}

impl<'t> TextSupply<'t> {
    pub(super) fn new(cutting: Cutting<'t>, texts: &'t [&'t str]) -> Self {
        Self { cutting, texts, index: 0, offset: 0 }
    }
}

impl<'t> Supply<'t> for TextSupply<'t> {
    fn next(&mut self) -> Result<Option<(Place, Block<'t>)>, (Place, Error)> {
        let block = self.cutting.block;
        let (index, offset) = (self.index, self.offset);
        let place = (index, offset as u64);
        let Some(text) = self.texts.get(index) else { return Ok(None) };
        if offset == 0 {
            let mut bytes = 0;
            let small = self.texts[index..].iter().take_while(|text| {
                bytes += text.len();
                bytes <= block
            });
            let count = small.count();
            if count > 0 {
                self.index += count;
                return Ok(Some((place, Block::Texts(&self.texts[index..index + count]))));
            }
        }
        let rest = &text[offset..];
        let mut size = block;
        while size < rest.len() {
            if let Some(cut) = self.cutting.cut(&rest.as_bytes()[..size]) {
                self.offset += cut;
                return Ok(Some((place, Block::Part(&rest[..cut]))));
            }
            size *= 2;
        }
        (self.index, self.offset) = (index + 1, 0);
        Ok(Some((place, Block::Part(rest))))
    }

    fn name(&self, place: Place) -> String {
        format!("text {}", place.0)
    }
}

/// The blocks of some files. At most one block, as a rule, is in its memory.
pub(super) struct FileSupply<'t> {
    cutting: Cutting<'t>,
    sources: &'t [Source],
    index: usize,
    file: Option<Box<dyn Read + Send>>,
    /// Read and not given out yet, from `offset` on in the file.
    rest: Vec<u8>,
    offset: u64,
}

impl<'t> FileSupply<'t> {
    pub(super) fn new(cutting: Cutting<'t>, sources: &'t [Source]) -> Self {
        Self { cutting, sources, index: 0, file: None, rest: Vec::new(), offset: 0 }
    }

    /// Begins at a place that [`FileSupply::position`] gave.
    pub(super) fn begin_at(&mut self, index: usize, offset: u64) {
        (self.index, self.offset) = (index, offset);
    }

    /// Where what was not given out yet begins; `None` at the end.
    pub(super) fn position(&self) -> Option<(usize, u64)> {
        (self.index < self.sources.len()).then_some((self.index, self.offset))
    }

    fn error(&self, source: &Source, error: io::Error) -> Error {
        if error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<NoCut>) {
            return Error::Value(format!(
                "{}: from byte {} on there is no place where the text can be cut within the \
                 memory_limit of {} MB; give a larger one, a named pattern, or a special token that \
                 stands between texts",
                source.name(),
                self.offset,
                self.cutting.most / 1_000_000
            ));
        }
        io_error(source.name(), error)
    }

    fn read_block(&mut self, source: &Source) -> io::Result<Option<Vec<u8>>> {
        let mut file = match self.file.take() {
            Some(file) => file,
            None => source.open_at(self.offset)?,
        };
        let mut block = std::mem::take(&mut self.rest);
        loop {
            // What is there already counts twice, so that a text without cuts is not searched
            // again and again.
            let size = self.cutting.block.max(2 * block.len()) - block.len();
            if block.len() > self.cutting.most {
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, NoCut));
            }
            block.reserve(size);
            let read = (&mut file).take(size as u64).read_to_end(&mut block)?;
            if read < size {
                return Ok((!block.is_empty()).then_some(block));
            }
            if let Some(cut) = self.cutting.cut(&block) {
                self.rest = block.split_off(cut);
                self.file = Some(file);
                return Ok(Some(block));
            }
        }
    }
}

impl<'t> Supply<'t> for FileSupply<'t> {
    fn next(&mut self) -> Result<Option<(Place, Block<'t>)>, (Place, Error)> {
        while let Some(source) = self.sources.get(self.index) {
            let place = (self.index, self.offset);
            let block = self.read_block(source);
            let block = block.map_err(|error| (place, self.error(source, error)))?;
            self.offset += block.as_ref().map_or(0, |block| block.len() as u64);
            if self.file.is_none() {
                (self.index, self.offset) = (self.index + 1, 0);
            }
            if let Some(block) = block {
                return Ok(Some((place, Block::Bytes(block))));
            }
        }
        Ok(None)
    }

    fn name(&self, place: Place) -> String {
        self.sources[place.0].name()
    }
}

/// A text has no place to be cut.
#[derive(Debug)]
struct NoCut;

impl fmt::Display for NoCut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no place to cut")
    }
}

impl std::error::Error for NoCut {}

/// The last place between characters that is at most `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

pub(super) fn io_error(path: String, source: io::Error) -> Error {
    Error::Io { path, source }
}
