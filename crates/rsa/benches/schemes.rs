//! The cost of padding: batches of signatures and verifications of messages of 32 bytes, beside the raw operations that
//! they are made of. Both are measured in interleaved blocks, 100 ms each, so that drift hits both; the ratio is that
//! of each round.
//!
//! `cargo bench -p rsalab-rsa --bench schemes [-- BITS]`, pinned to a CPU.
#![forbid(unsafe_code)]

use std::time::{Duration, Instant};

use rsalab_rsa::{
    Backend, BlockRunner, CpuBackend, Status,
    generate::{DEFAULT_EXPONENT, generate_strict},
    hash::Hash,
    random::{InsecureStudySeed, SystemRng},
    scheme::{Pss, SignatureScheme},
    signing::{Signer, Verifier},
};

/// Messages in a batch: two passes of eight lanes.
const BATCH: usize = 16;
const MESSAGE: usize = 32;
const ROUNDS: usize = 41;
const BLOCK: Duration = Duration::from_millis(100);

fn main() {
    let bits = std::env::args()
        .filter_map(|argument| argument.parse().ok())
        .next()
        .unwrap_or(2048);
    let backend = CpuBackend::auto();
    let mut rng = InsecureStudySeed::new([1; 32]).stream(0);
    let key = generate_strict(bits, DEFAULT_EXPONENT, &mut rng).expect("a key").key;
    let k = key.modulus_len();
    let private = backend.prepare_private(&key).expect("prepares");
    let public = backend.prepare_public(key.public()).expect("prepares");
    let messages: Vec<u8> = (0..BATCH * MESSAGE).map(|byte| byte as u8).collect();
    let blocks: Vec<u8> = (0..BATCH * k)
        .map(|byte| if byte % k == 0 { 0 } else { byte as u8 })
        .collect();
    println!("{bits} bits, batch {BATCH}, kernel {}", backend.kernel());
    for scheme in [
        SignatureScheme::Pkcs1v15(Hash::Sha256),
        SignatureScheme::Pss(Pss::new(Hash::Sha256)),
    ] {
        let hash_all = |digests: &mut [u8]| {
            for (message, digest) in messages.chunks(MESSAGE).zip(digests.chunks_mut(32)) {
                digest.copy_from_slice(&Hash::Sha256.digest(message));
            }
        };
        let mut digests = [0; 32 * BATCH];
        let mut signatures = vec![0; BATCH * k];
        let mut status = [Status::Done; BATCH];
        let mut signer = Signer::new(private.runner().expect("scratch"), bits, scheme).expect("it fits");
        let mut runner = private.runner().expect("scratch");
        let mut raw = vec![0; BATCH * k];
        let mut raw_status = [Status::Done; BATCH];
        compare(
            &format!("sign {scheme:?}"),
            || {
                hash_all(&mut digests);
                signer
                    .sign(&digests, &mut signatures, &mut status, &mut SystemRng)
                    .expect("signed");
            },
            || runner.run(&blocks, &mut raw, &mut raw_status).expect("raised"),
        );
        let mut verifier = Verifier::new(public.runner().expect("scratch"), bits, scheme).expect("it fits");
        let mut runner = public.runner().expect("scratch");
        let mut is_valid = [false; BATCH];
        compare(
            &format!("verify {scheme:?}"),
            || {
                hash_all(&mut digests);
                verifier.verify(&digests, &signatures, &mut is_valid).expect("verified");
            },
            || runner.run(&blocks, &mut raw, &mut raw_status).expect("raised"),
        );
        assert_eq!(is_valid, [true; BATCH]);
    }
}

/// Prints the rate of one as a share of the other's: the median over rounds, and the middle half of them.
fn compare(name: &str, mut one: impl FnMut(), mut other: impl FnMut()) {
    let mut ratios: Vec<f64> = (0..ROUNDS).map(|_| rate(&mut one) / rate(&mut other)).collect();
    ratios.sort_by(f64::total_cmp);
    let at = |share: f64| ratios[(share * (ROUNDS - 1) as f64) as usize];
    let raw_ns = 1e9 / (rate(&mut other) * BATCH as f64);
    println!(
        "{name}: {:.3} ({:.3}–{:.3}) of the raw rate, which is one in {raw_ns:.0} ns",
        at(0.5),
        at(0.25),
        at(0.75)
    );
}

fn rate(work: &mut impl FnMut()) -> f64 {
    let begun = Instant::now();
    let mut batches = 0;
    while begun.elapsed() < BLOCK {
        work();
        batches += 1;
    }
    f64::from(batches) / begun.elapsed().as_secs_f64()
}
