//! Long pieces of real vocabularies: by windows as by the heap.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;

use bytepair::bundle;
use bytepair::merge::heap::Heap;
use bytepair::merge::{Merge, MergeTable, Merges, Model, NO_RANK, join};

fn model(table: &str) -> Model {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/bytepair/data");
    bundle::unpack(&fs::read(data.join(table).with_extension("bpranks")).unwrap()).unwrap()
}

fn merges_of(model: &Model) -> Merges {
    let vocab = model.vocab();
    let mut table = MergeTable::with_capacity(model.merges().len());
    for &(left, right) in model.merges() {
        let bytes = [vocab.bytes(left).unwrap(), vocab.bytes(right).unwrap()].concat();
        let id = vocab.id(&bytes).unwrap();
        table.insert(left, right, Merge { rank: id, id });
    }
    Merges::new(std::array::from_fn(|byte| vocab.id(&[u8::try_from(byte).unwrap()])), table)
}

/// `len` bytes at random out of `letters`.
fn random(letters: &[u8], len: usize, seed: &mut u64) -> Vec<u8> {
    let mut next = || {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        usize::try_from(*seed % letters.len() as u64).unwrap()
    };
    (0..len).map(|_| letters[next()]).collect()
}

#[test]
fn windows_give_what_the_heap_gives() {
    let mut seed = 0x9E37_79B9_7F4A_7C15;
    let any: Vec<u8> = (0..=255).collect();
    let alphabets: [&[u8]; 9] = [
        b"abcdefghijklmnopqrstuvwxyz",
        b"01",
        b"0123456789",
        b" ",
        b" \n",
        b" \n\t",
        b"!?.,;:-_()",
        b"aA",
        &any,
    ];
    for table in ["r50k_base", "cl100k_base", "o200k_base"] {
        let model = model(table);
        let merges = merges_of(&model);
        let (mut heap, mut whole, mut got) = (Heap::new(), Vec::new(), Vec::new());
        for letters in alphabets {
            for len in [63, 64, 65, 111, 112, 113, 513, 3000, 20_000] {
                let mut piece = random(letters, len, &mut seed);
                // And one that comes again and again, a little out of step with the windows.
                for again in [piece.len(), 1 + len / 7, 48, 5] {
                    for at in again..piece.len() {
                        piece[at] = piece[at - again];
                    }
                    whole.clear();
                    heap.merge(&merges, &piece, NO_RANK, &mut whole).unwrap();
                    for window in [join::WINDOW, 33, 8] {
                        got.clear();
                        join::merge(&merges, model.vocab(), &piece, window, &mut heap, &mut got)
                            .unwrap();
                        assert!(got == whole, "{table} {len} {again} {window}: {piece:?}");
                    }
                    got.clear();
                    model.merge(&piece, &mut heap, &mut got).unwrap();
                    assert!(got == whole, "{table} {len} {again}: {piece:?}");
                }
            }
        }
    }
}
