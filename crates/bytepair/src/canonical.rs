//! A tokenizer as bytes: what fingerprints are made of.

use crate::merge::MergeRule;
use crate::pretokenize::Pattern;
use crate::symbols::{Missing, Order, Symbols};
use crate::tokenizer::Tokenizer;

impl Tokenizer {
    /// All that the ids depend on, as bytes: equal for equal tokenizers and for no others, in every
    /// version. Numbers are u64, little endian; a string follows its length.
    pub fn canonical(&self) -> Vec<u8> {
        let mut out = Canonical(b"bytepair tokenizer 1".to_vec());
        out.number(u64::from(self.model().rule() == MergeRule::Ranks));
        out.number(u64::from(self.model().whole_pieces()));
        out.length(self.model().vocab().len());
        for (id, bytes) in self.model().vocab().iter() {
            out.number(u64::from(id));
            out.string(bytes);
        }
        out.length(self.model().merges().len());
        for &(left, right) in self.model().merges() {
            out.number(u64::from(left) << 32 | u64::from(right));
        }
        out.length(self.special().len());
        for (token, id) in self.special().iter() {
            out.string(token.as_bytes());
            out.number(u64::from(id));
            out.number(u64::from(self.special().token(id) == Some(token)));
        }
        match self.pretokenizer().pattern() {
            Pattern::None => out.length(0),
            Pattern::Regex(regex) => {
                out.length(1);
                out.string(regex.as_bytes());
            }
            Pattern::Sequence(regexes) => {
                out.length(2);
                out.length(regexes.len());
                for regex in regexes {
                    out.string(regex.as_bytes());
                }
            }
        }
        self.rarer(&mut out);
        out.0
    }

    /// What most tokenizers have not: it comes last and only where it is, so that their bytes stay.
    fn rarer(&self, out: &mut Canonical) {
        if self.special().added().len() > 0 {
            out.string(b"added tokens");
            out.length(self.special().added().len());
            for (token, id) in self.special().added() {
                out.string(token.as_bytes());
                out.number(u64::from(id));
            }
        }
        if let Some(normalizer) = self.normalizer() {
            out.string(b"normalizer");
            for step in normalizer.steps() {
                for word in step.words() {
                    out.string(word.as_bytes());
                }
            }
        }
        if self.drops_space() {
            out.string(b"drops space");
        }
        if let Some(symbols) = self.model().symbols() {
            out.symbols(symbols);
        }
        if self.special().flags().len() > 0 {
            out.string(b"flags");
            for (token, flags) in self.special().flags() {
                out.string(token.as_bytes());
                for flag in [flags.left, flags.right, flags.word] {
                    out.number(u64::from(flag));
                }
            }
        }
    }
}

struct Canonical(Vec<u8>);

impl Canonical {
    fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn symbols(&mut self, symbols: &Symbols) {
        self.string(b"symbols");
        match symbols.missing() {
            Missing::Bytes(ids) => ids.iter().for_each(|&id| self.number(u64::from(id))),
            Missing::Unknown { id, fuse } => {
                self.string(b"unknown");
                self.number(u64::from(*id));
                self.number(u64::from(*fuse));
            }
            Missing::Refused => self.string(b"refused"),
        }
        self.length(symbols.frozen().len());
        symbols.frozen().iter().for_each(|&id| self.number(u64::from(id)));
        if let Order::Ranks(ranks) = symbols.order() {
            self.length(ranks.len());
            for &(id, rank) in ranks {
                self.number(u64::from(id) << 32 | u64::from(rank));
            }
        }
    }

    fn length(&mut self, length: usize) {
        self.number(length as u64);
    }

    fn string(&mut self, bytes: &[u8]) {
        self.length(bytes.len());
        self.0.extend_from_slice(bytes);
    }
}
