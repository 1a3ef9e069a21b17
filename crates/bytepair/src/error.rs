//! The one error type of the crate.
//!
//! Every variant carries the offending value, its place where there is one, and says the way out.
//! The binding maps variants to Python exceptions in one `match`; nothing else translates errors.

use std::fmt;

/// A `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Which text of several it is in, counted from 0.
    pub row: Option<usize>,
    /// Its offset in bytes of UTF-8.
    pub byte: usize,
    /// Its offset in characters, where the text before it is known to be text.
    pub character: Option<usize>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { row, byte, character } = *self;
        match character {
            Some(character) if character == byte => write!(f, "character {character}")?,
            Some(character) => write!(f, "character {character} (byte {byte})")?,
            None => write!(f, "byte {byte}")?,
        }
        row.map_or(Ok(()), |row| write!(f, " of text {row}"))
    }
}

/// Everything that can go wrong in the crate.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An option or argument is out of its range; the text names it and the way out.
    Value(String),
    /// The vocabulary, merges or special tokens do not fit together.
    Vocab(String),
    /// An id that no token has.
    UnknownToken {
        /// The id asked for.
        id: u64,
        /// Its position in the ids given.
        index: usize,
        /// The vocab size (greatest id + 1).
        vocab_size: u64,
    },
    /// A byte that no token covers, met while encoding.
    UnknownByte {
        /// The byte.
        byte: u8,
    },
    /// Bytes of decoded ids that are not UTF-8, where that is refused.
    NotText {
        /// The bytes.
        bytes: Vec<u8>,
        /// Their offset in the bytes of all ids.
        offset: usize,
    },
    /// A regular expression that cannot be used, or that gave up on a text.
    Pattern(String),
    /// Text holds a special token that the caller forbade.
    SpecialToken {
        /// The special token.
        token: String,
        /// Where it begins.
        place: Place,
    },
    /// A corpus file that is not valid UTF-8.
    Utf8 {
        /// The file, or how the text was named.
        source: String,
        /// Byte offset of the first invalid byte.
        offset: u64,
    },
    /// A file that cannot be read or written.
    Io {
        /// The file.
        path: String,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// A file of piece counts, written while counting, that cannot be read or written.
    Store {
        /// The file or folder.
        path: String,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// A file that is not what its format says.
    Format(String),
    /// The caller's `keep_going` hook asked to stop (Ctrl-C in Python).
    Interrupted,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Value(text)
            | Error::Vocab(text)
            | Error::Pattern(text)
            | Error::Format(text) => f.write_str(text),
            Error::UnknownToken { id, index, vocab_size } => write!(
                f,
                "unknown id {id} at position {index}: the vocab size is {vocab_size} and no token has this id"
            ),
            Error::UnknownByte { byte } => write!(
                f,
                "byte 0x{byte:02x} is in no token of this vocab, so the text cannot be encoded; \
                 add the 256 single bytes to the vocab"
            ),
            Error::NotText { offset, .. } => write!(
                f,
                "the ids' bytes at {offset} are not UTF-8; decode with errors=\"replace\" or take the bytes"
            ),
            Error::SpecialToken { token, place } => write!(
                f,
                "the text holds the special token {token:?} at {place}, which is disallowed here; \
                 to encode it as its id, add it to allowed_special; to encode it as plain text, take it \
                 out of disallowed_special or call encode_ordinary"
            ),
            Error::Utf8 { source, offset } => {
                write!(
                    f,
                    "{source}: byte {offset} is not valid UTF-8; convert the file to UTF-8 first"
                )
            }
            Error::Io { path, source } | Error::Store { path, source } => {
                write!(f, "{path}: {source}")
            }
            Error::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { source, .. } | Error::Store { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl Error {
    /// The same about ids that stand behind `first` others.
    #[must_use]
    pub fn behind(mut self, first: usize) -> Self {
        if let Error::UnknownToken { index, .. } = &mut self {
            *index += first;
        }
        self
    }

    /// A piece of `bytes` bytes, which is too many.
    pub(crate) fn long_piece(bytes: usize) -> Self {
        Self::Value(format!(
            "a piece of {bytes} bytes is too long; pieces must stay below 4 GiB, so use a pattern that \
             cuts this text"
        ))
    }
}
