//! The cost of hashing and padding: batches of signatures and verifications of messages of 32 bytes, beside the raw
//! operations that they are made of. Both are measured in interleaved blocks, 2 ms each, so that drift hits both; the
//! ratio is that of each round.
//!
//! `cargo bench -p rsalab-rsa --bench schemes [-- BITS [verify]]`, pinned to a CPU; `verify` leaves signing out.
#![forbid(unsafe_code)]

use std::time::{Duration, Instant};

use rsalab_rsa::{
    Backend, BlockRunner, CpuBackend, Error, PrivateKey, Status,
    generate::{DEFAULT_EXPONENT, generate_strict},
    hash::Hash,
    random::{InsecureStudySeed, SystemRng},
    scheme::{Pss, SignatureScheme},
    signing::{Signer, Verifier},
};

/// Messages in a batch: two passes of eight lanes, and many.
const BATCHES: [usize; 2] = [16, 1024];
const MESSAGE: usize = 32;
const ROUNDS: usize = 1001;
const BLOCK: Duration = Duration::from_millis(2);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let bits = arguments
        .iter()
        .find_map(|argument| argument.parse().ok())
        .unwrap_or(2048);
    let signs = !arguments.iter().any(|argument| argument == "verify");
    let backend = CpuBackend::auto();
    let mut rng = InsecureStudySeed::new([1; 32]).stream(0);
    let key = generate_strict(bits, DEFAULT_EXPONENT, &mut rng).expect("a key").key;
    println!("{bits} bits, kernel {}", backend.kernel());
    for batch in BATCHES {
        println!("batch {batch}");
        for scheme in [
            SignatureScheme::Pkcs1v15(Hash::Sha256),
            SignatureScheme::Pss(Pss::new(Hash::Sha256)),
        ] {
            measure(&key, scheme, batch, signs);
        }
    }
}

/// Measures one scheme with batches of so many messages.
fn measure(key: &PrivateKey, scheme: SignatureScheme, batch: usize, signs: bool) {
    let (backend, bits, k) = (CpuBackend::auto(), key.bits(), key.modulus_len());
    let private = backend.prepare_private(key).expect("prepares");
    let public = backend.prepare_public(key.public()).expect("prepares");
    let messages: Vec<u8> = (0..batch * MESSAGE).map(|byte| (byte ^ (byte >> 8)) as u8).collect();
    let words: Vec<&[u8]> = messages.chunks(MESSAGE).collect();
    let blocks: Vec<u8> = (0..batch * k)
        .map(|byte| if byte % k == 0 { 0 } else { byte as u8 })
        .collect();
    let mut signatures = vec![0; batch * k];
    let mut status = vec![Status::Done; batch];
    let mut signer = Signer::new(private.runner().expect("scratch"), bits, scheme).expect("it fits");
    let mut sign = || {
        let digests = Hash::Sha256.digest_many(&words);
        signer
            .sign(&digests, &mut signatures, &mut status, &mut SystemRng)
            .expect("signed");
    };
    let (mut raw, mut raw_status) = (vec![0; batch * k], vec![Status::Done; batch]);
    match signs {
        true => {
            let mut runner = private.runner().expect("scratch");
            let raw = || runner.run(&blocks, &mut raw, &mut raw_status).expect("raised");
            compare(&format!("sign {scheme:?}"), batch, sign, raw);
        }
        false => sign(),
    }
    let mut verifier = Verifier::new(public.runner().expect("scratch"), bits, scheme).expect("it fits");
    let mut runner = public.runner().expect("scratch");
    let mut is_valid = vec![false; batch];
    compare(
        &format!("verify {scheme:?}"),
        batch,
        || {
            let digests = Hash::Sha256.digest_many(&words);
            verifier.verify(&digests, &signatures, &mut is_valid).expect("verified");
        },
        // Of the same numbers: multipliers are faster on alike ones in all lanes.
        || runner.run(&signatures, &mut raw, &mut raw_status).expect("raised"),
    );
    assert!(is_valid.iter().all(|is_valid| *is_valid));
    // What is not the power: by a runner that only copies.
    let encodings = messages.chunks(MESSAGE).flat_map(|message| {
        let digest = Hash::Sha256.digest(message);
        scheme.encode(bits, &digest, &mut SystemRng).expect("encoded")
    });
    let mut checker = Verifier::new(Copying(encodings.collect()), bits, scheme).expect("it fits");
    let mut rest = || {
        let digests = Hash::Sha256.digest_many(&words);
        checker.verify(&digests, &signatures, &mut is_valid).expect("verified");
    };
    let mut times: Vec<f64> = (0..ROUNDS).map(|_| 1e9 / (rate(&mut rest) * batch as f64)).collect();
    times.sort_by(f64::total_cmp);
    assert!(is_valid.iter().all(|is_valid| *is_valid));
    println!(
        "  all but the power: {:.0} ns ({:.0} at best)",
        times[ROUNDS / 2],
        times[0]
    );
}

/// Gives back what it was made with.
struct Copying(Vec<u8>);

impl BlockRunner for Copying {
    fn run(&mut self, _: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<(), Error> {
        outputs.copy_from_slice(&self.0);
        status.fill(Status::Done);
        Ok(())
    }
}

/// Prints the rate of one as a share of the other's: the median over rounds, the middle half of them, and the share of
/// the two best rates, which a busy machine disturbs least.
fn compare(name: &str, batch: usize, mut one: impl FnMut(), mut other: impl FnMut()) {
    let rates: Vec<[f64; 2]> = (0..ROUNDS).map(|_| [rate(&mut one), rate(&mut other)]).collect();
    let mut ratios: Vec<f64> = rates.iter().map(|[one, other]| one / other).collect();
    ratios.sort_by(f64::total_cmp);
    let at = |share: f64| ratios[(share * (ROUNDS - 1) as f64) as usize];
    let best = |which: usize| rates.iter().map(|rates| rates[which]).fold(0.0, f64::max);
    println!(
        "{name}: {:.3} ({:.3}–{:.3}) of the raw rate, {:.3} at best: one in {:.0} ns, raw {:.0}",
        at(0.5),
        at(0.25),
        at(0.75),
        best(0) / best(1),
        1e9 / (best(0) * batch as f64),
        1e9 / (best(1) * batch as f64),
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
