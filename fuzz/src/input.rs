//! The bytes of an input, taken apart.

/// What texts are made of where the input does not say it letter by letter: what patterns, merges and
/// normalizers look at.
const PARTS: &[&str] = &[
    "a",
    "b",
    "ab",
    "the",
    " the",
    "It's",
    "'",
    "'ll",
    "\u{2019}s",
    "A",
    "Ab",
    "\u{e9}",
    "e\u{301}",
    "\u{301}",
    "\u{939}\u{93c}",
    "\u{958}",
    "\u{212b}",
    "\u{1100}\u{1161}",
    "\u{4e2d}\u{56fd}",
    "\u{3002}",
    "\u{304b}",
    "\u{e44}\u{e17}",
    "1",
    "22",
    "12345",
    "\u{b2}",
    "\u{660}",
    " ",
    "  ",
    "\n",
    "\r\n",
    "\n\n",
    "\t",
    "\u{a0}",
    "\u{3000}",
    ".",
    "...",
    "!?",
    "_",
    "/",
    "<|x|>",
    "<|",
    "|>",
    "\u{1f600}\u{200d}\u{1f600}",
    "\0",
    "\u{ffff}",
];

/// An input and how far it was read. Where it is at its end it gives zeros.
pub(crate) struct Input<'a> {
    data: &'a [u8],
}

impl<'a> Input<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Self {
        Self { data }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// A number below `end`, which is not zero.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let number = self.bytes(2).iter().fold(0, |number, &byte| number << 8 | usize::from(byte));
        number % end
    }

    /// The next bytes, at most `most`.
    pub(crate) fn bytes(&mut self, most: usize) -> &'a [u8] {
        let (bytes, rest) = self.data.split_at(most.min(self.data.len()));
        self.data = rest;
        bytes
    }

    /// A text of at most `most` bytes of input: either they are its UTF-8, or each names a part.
    pub(crate) fn text(&mut self, most: usize) -> String {
        if self.below(2) == 0 {
            return String::from_utf8_lossy(self.bytes(most)).into_owned();
        }
        let parts = self.bytes(most / 4).iter();
        parts.map(|&byte| PARTS[usize::from(byte) % PARTS.len()]).collect()
    }
}
