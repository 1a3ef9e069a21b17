//! SHA-256, for the sums of long lists of ids; not worth a dependency.

/// The SHA-256 of some bytes, in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let primes: Vec<u32> =
        (2u32..312).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0)).collect();
    // The constants are the first 32 bits of the fractions of roots of primes.
    let constants: Vec<u32> = primes.iter().take(64).map(|&p| fraction(p, 3)).collect();
    let mut state: [u32; 8] = std::array::from_fn(|at| fraction(primes[at], 2));
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64), 0);
    if padded.len() - bytes.len() < 9 {
        padded.resize(padded.len() + 64, 0);
    }
    let end = padded.len() - 8;
    padded[end..].copy_from_slice(&(bytes.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks_exact(64) {
        compress(&mut state, block, &constants);
    }
    let words = state.map(|word| format!("{word:08x}"));
    words.concat()
}

/// The first 32 bits of the fraction of the root of `prime`, exactly: `floor(root · 2^32)` by
/// bisection, without its whole part.
fn fraction(prime: u32, degree: u32) -> u32 {
    let target = u128::from(prime) << (32 * degree);
    let (mut low, mut high) = (0u128, 1u128 << 37);
    while high - low > 1 {
        let middle = u128::midpoint(low, high);
        if middle.pow(degree) <= target { low = middle } else { high = middle }
    }
    u32::try_from(low & 0xFFFF_FFFF).expect("32 bits")
}

fn compress(state: &mut [u32; 8], block: &[u8], constants: &[u32]) {
    let mut words: Vec<u32> =
        block.chunks_exact(4).map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]])).collect();
    for t in 16..64 {
        let (x, y) = (words[t - 15], words[t - 2]);
        let s0 = x.rotate_right(7) ^ x.rotate_right(18) ^ (x >> 3);
        let s1 = y.rotate_right(17) ^ y.rotate_right(19) ^ (y >> 10);
        words.push(words[t - 16].wrapping_add(s0).wrapping_add(words[t - 7]).wrapping_add(s1));
    }
    let mut v = *state;
    for t in 0..64 {
        let s1 = v[4].rotate_right(6) ^ v[4].rotate_right(11) ^ v[4].rotate_right(25);
        let choice = (v[4] & v[5]) ^ (!v[4] & v[6]);
        let sum = constants[t].wrapping_add(words[t]);
        let one = v[7].wrapping_add(s1).wrapping_add(choice).wrapping_add(sum);
        let s0 = v[0].rotate_right(2) ^ v[0].rotate_right(13) ^ v[0].rotate_right(22);
        let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        v.rotate_right(1);
        v[4] = v[4].wrapping_add(one);
        v[0] = one.wrapping_add(s0.wrapping_add(majority));
    }
    for (word, add) in state.iter_mut().zip(v) {
        *word = word.wrapping_add(add);
    }
}

#[test]
fn known_sums() {
    assert_eq!(hex(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_eq!(hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    // The SHA-256 of a million letters is in the standard; lengths about a block are where padding fails.
    let million = vec![b'a'; 1_000_000];
    assert_eq!(hex(&million), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    let sums: std::collections::BTreeSet<String> = (50..70).map(|n| hex(&million[..n])).collect();
    assert_eq!(sums.len(), 20);
}
