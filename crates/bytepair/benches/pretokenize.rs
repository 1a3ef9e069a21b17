//! Speed of pretokenization: each named pattern on prose, code and Han text.
//!
//! Every run first asserts that the scanner gives the pieces of the general engine on its input.

use std::hint::black_box;

use bytepair::pretokenize::{NAMED, Pretokenizer};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const PROSE: &str = "It wasn't the first time that she'd counted the boats (there were 14), \
    but the harbour had changed: new lamps, a longer pier, and \u{201c}closed\u{201d} on the \
    caf\u{e9} door.\n\n";
const CODE: &str =
    "    def add(self, x: int = 10) -> int:\n        return self._total + x  # 0x1F\n\n";
const HAN: &str = "\u{6e2f}\u{53e3}\u{7684}\u{706f}\u{90fd}\u{4eae}\u{4e86}\u{ff0c}\u{4e00}\
    \u{5171}\u{6709}14\u{6761}\u{8239}\u{3002}\u{5979}\u{6570}\u{4e86}\u{4e24}\u{904d}\u{3002}\n";

fn benches(criterion: &mut Criterion) {
    for (kind, unit) in [("prose", PROSE), ("code", CODE), ("han", HAN)] {
        let text = unit.repeat(256 * 1024 / unit.len());
        let mut group = criterion.benchmark_group(format!("pretokenize/{kind}"));
        group.throughput(Throughput::Bytes(text.len() as u64));
        for named in NAMED {
            let pattern = named.pattern();
            let fast = Pretokenizer::new(&pattern).expect("a named pattern compiles");
            let general = Pretokenizer::general(&pattern).expect("a named pattern compiles");
            let sample = unit.repeat(8);
            assert_eq!(
                fast.pieces(&sample).expect("a scanner never fails"),
                general.pieces(&sample).expect("the engine takes a short text"),
            );
            let mut ends = Vec::new();
            group.bench_function(BenchmarkId::from_parameter(named.name), |bencher| {
                bencher.iter(|| {
                    let mut next = 0;
                    while next < text.len() {
                        ends.clear();
                        let filled = fast.fill(black_box(&text), next, &mut ends, 256);
                        next = filled.expect("a scanner never fails").next;
                    }
                    ends.len()
                });
            });
        }
        group.finish();
    }
}

criterion_group!(pretokenize, benches);
criterion_main!(pretokenize);
