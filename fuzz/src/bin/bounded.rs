//! Runs the targets on random inputs for some seconds, on a stable compiler.
//!
//!     bounded --seconds 20 [--seed N] [TARGET ...]
//!
//! Less clever than libFuzzer, which sees what code an input reaches, but it needs nothing installed.
//! Inputs are random bytes and mutations of earlier inputs. The same seed gives the same inputs; a
//! failing one is written to `fuzz/artifacts/TARGET/`, and its path is printed.

use std::collections::VecDeque;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fs, panic};

use bytepair_fuzz::{TARGETS, Target};

/// Inputs kept to make others from.
const KEPT: usize = 64;
const LONGEST: usize = 4096;

/// xorshift64*: any sequence will do, if it is the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap_or(0) % end.max(1)
    }

    fn bytes(&mut self) -> Vec<u8> {
        // Most inputs short, some long.
        let most = 1 << (3 + self.below(10));
        let length = self.below(most);
        // Few different bytes make what repeats.
        let kinds = [2, 4, 16, 256][self.below(4)];
        let first = self.below(256);
        (0..length).map(|_| (first + self.below(kinds)).to_le_bytes()[0]).collect()
    }

    /// An input made of one or two earlier ones.
    fn mutated(&mut self, kept: &VecDeque<Vec<u8>>) -> Vec<u8> {
        let mut bytes = kept[self.below(kept.len())].clone();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len() + 1);
            match self.below(4) {
                0 => bytes.insert(at, self.next().to_le_bytes()[0]),
                1 if at < bytes.len() => bytes[at] = self.next().to_le_bytes()[0],
                2 => {
                    let other = &kept[self.below(kept.len())];
                    let from = self.below(other.len() + 1);
                    bytes.truncate(at);
                    bytes.extend_from_slice(&other[from..]);
                }
                _ => {
                    let end = (at + self.below(16)).min(bytes.len());
                    bytes.drain(at..end);
                }
            }
        }
        bytes.truncate(LONGEST);
        bytes
    }
}

/// Runs one target until `end`; gives how many inputs it took, or the one that failed.
fn run((_, target): Target, seed: u64, end: Instant) -> Result<u64, Vec<u8>> {
    let mut random = Random(seed | 1);
    let mut kept = VecDeque::from([Vec::new()]);
    let mut count = 0;
    while Instant::now() < end {
        let fresh = random.below(3) == 0;
        let input = if fresh { random.bytes() } else { random.mutated(&kept) };
        if panic::catch_unwind(|| target(&input)).is_err() {
            return Err(input);
        }
        count += 1;
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(input);
    }
    Ok(count)
}

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let (mut seconds, mut seed, mut names) = (20, 1, Vec::new());
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().and_then(|value| value.parse::<u64>().ok());
        match argument.as_str() {
            "--seconds" => seconds = number().unwrap_or(seconds),
            "--seed" => seed = number().unwrap_or(seed),
            _ => names.push(argument),
        }
    }
    if let Some(unknown) = names.iter().find(|name| TARGETS.iter().all(|(known, _)| known != name))
    {
        let known: Vec<&str> = TARGETS.iter().map(|&(name, _)| name).collect();
        eprintln!("unknown target {unknown:?}: the targets are {}", known.join(", "));
        return ExitCode::from(2);
    }
    let chosen: Vec<Target> = TARGETS
        .iter()
        .copied()
        .filter(|(name, _)| names.is_empty() || names.iter().any(|wanted| wanted == name))
        .collect();
    let share = Duration::from_secs(seconds) / u32::try_from(chosen.len()).unwrap_or(1);
    for target in chosen {
        match run(target, seed, Instant::now() + share) {
            Ok(count) => println!("{}: {count} inputs", target.0),
            Err(input) => {
                let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts").join(target.0);
                let path = folder.join(format!("seed-{seed}"));
                let written = fs::create_dir_all(&folder).and_then(|()| fs::write(&path, &input));
                match written {
                    Ok(()) => eprintln!("{}: failed on {}", target.0, path.display()),
                    Err(error) => eprintln!("{}: failed on {input:?} ({error})", target.0),
                }
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
