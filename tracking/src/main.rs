//! Private operations whose secrets valgrind takes for undefined: it reports each branch and each address that depends
//! on one (Langley, *ctgrind*, 2010). `scripts/timing.sh` runs it; run alone it does the same work and finds nothing.
//!
//! | argument | what is done |
//! |---|---|
//! | none | keys prepared and used on every kernel whose instructions valgrind knows, secret primes, exponents and inputs; candidates sieved and tested; paddings taken off; a client's blinding factor used |
//! | `leak` | a public operation whose exponent is marked secret: valgrind must report it |
//!
//! The kernels are those of `arith`'s table. valgrind knows neither AVX-512 nor AArch64: in the place of a kernel that
//! needs them runs what the table says, the same source compiled for arrays or for another length of registers, and a
//! line of output says so. Its assembly is not run then (`mont52x2_ifma`: all rows): `arith`'s `tests/machine_code`
//! follows the digits through that.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use crabgrind::memcheck::{self, MemState};
use keys::{E, Key};
use rsalab_arith::{
    CheckedPrivateKey, CheckedPublicKey, Kernel, MultiKeyContext, PrivateContext, PrivateParts, PublicContext, Status,
    candidate::{PreTester, Sieve, Tester},
    declassify, kernels,
};
use rsalab_rsa::{
    BlockRunner, CpuBackend, Error, PrivateKey, PublicKey,
    blind::{BlindingKey, InputMessage, Variant},
    encryption::Decryptor,
    hash::Hash,
    random::SystemRng,
    scheme::{EncryptionScheme, Oaep},
};

#[path = "../../crates/arith/tests/library/keys/mod.rs"]
#[allow(dead_code, reason = "the library's tests use all of it, and this program a part")]
mod keys;

/// One tile, one and a half, two, and three, of numbers and of their halves.
const BITS: [usize; 4] = [1024, 1536, 2048, 3072];
/// Items: a part of the lanes, and more than all.
const BATCHES: [usize; 2] = [3, 9];

/// A copy that valgrind takes for undefined.
fn secret(bytes: &[u8]) -> Vec<u8> {
    mark(bytes.to_vec(), MemState::Undefined)
}

fn mark(bytes: Vec<u8>, state: MemState) -> Vec<u8> {
    // Without valgrind there is nothing to mark.
    let _ = memcheck::mark_memory(bytes.as_ptr().cast(), bytes.len(), state);
    bytes
}

/// A prime, or a candidate, marked but for what is public: its length, so the highest word, and that it is odd.
fn hidden(number: &[u8]) -> Vec<u8> {
    let mut marked = secret(number);
    marked[..8].copy_from_slice(&number[..8]);
    // The lowest bit alone is known then.
    let last = marked.last_mut().expect("it has bytes");
    *last = *last & !1 | 1;
    marked
}

/// The secret parts of a key, marked.
struct Secrets([Vec<u8>; 6]);

impl Secrets {
    fn of(key: &Key) -> Self {
        let rest = &key.rest;
        let [p, q] = [&key.p, &key.q].map(|prime| hidden(prime));
        let [d, dp, dq, qinv] = [&rest.d, &rest.dp, &rest.dq, &rest.qinv].map(|part| secret(part));
        Self([p, q, d, dp, dq, qinv])
    }

    fn parts<'a>(&'a self, key: &'a Key) -> PrivateParts<'a> {
        let [p, q, d, dp, dq, qinv] = &self.0;
        PrivateParts {
            n: &key.rest.n,
            e: &E,
            d,
            p,
            q,
            dp,
            dq,
            qinv,
            others: &[],
        }
    }
}

/// Inputs below n, marked.
fn inputs(len: usize, items: usize) -> Vec<u8> {
    let inputs = (0..items * len).map(|i| if i % len == 0 { 0 } else { i as u8 });
    mark(inputs.collect(), MemState::Undefined)
}

fn private_operations(kernel: Kernel, key: &Key) {
    let secrets = Secrets::of(key);
    let key_of = CheckedPrivateKey::new(&secrets.parts(key)).expect("the key is sound");
    let len = key.rest.n.len();
    let with_crt = PrivateContext::new(&key_of, kernel);
    let without = PrivateContext::without_crt(&key_of, kernel).expect("the key is sound");
    for context in [with_crt, without] {
        let mut scratch = context.scratch().expect("there is randomness");
        for items in BATCHES {
            let mut outputs = vec![0; items * len];
            let mut status = vec![Status::Fault; items];
            context
                .apply(&mut scratch, &inputs(len, items), &mut outputs, &mut status)
                .expect("lengths fit");
            assert_eq!(status, vec![Status::Done; items]);
        }
    }
}

fn multi_key_operations(kernel: Kernel, keys: &[Key]) {
    let secrets: Vec<_> = keys.iter().map(Secrets::of).collect();
    let checked: Vec<_> = secrets
        .iter()
        .zip(keys)
        .map(|(s, key)| CheckedPrivateKey::new(&s.parts(key)).expect("the key is sound"))
        .collect();
    let context = MultiKeyContext::new(&checked.iter().collect::<Vec<_>>(), kernel).expect("the keys are sound");
    let len = context.modulus_len();
    let of = [0, 1, 1, 0, 1, 0, 0, 0, 1];
    let mut outputs = vec![0; of.len() * len];
    let mut status = vec![Status::Fault; of.len()];
    context
        .runner()
        .apply(&of, &inputs(len, of.len()), &mut outputs, &mut status)
        .expect("lengths fit");
    assert_eq!(status, vec![Status::Done; of.len()]);
}

/// A start sieved, its survivors picked and tested, and a prime put to its rounds: all that is secret in a search.
fn search(kernel: Kernel, key: &Key) {
    let bits = 8 * key.p.len();
    let len = key.p.len();
    let sieve = Sieve::new(kernel, bits);
    let mut interval = sieve.interval(&hidden(&key.p)).expect("it has room");
    let mut candidates = vec![0; 9 * len];
    for candidate in candidates.chunks_exact_mut(len) {
        let random = secret(&[0x55; 8]).try_into().expect("eight bytes");
        let is_picked = interval.pick(u64::from_be_bytes(random), candidate);
        assert_eq!(is_picked, Ok(true));
        // What was picked is as secret as the start, and known in the same places.
        let known = mark(candidate.to_vec(), MemState::Defined);
        candidate.copy_from_slice(&hidden(&known));
    }
    let mut passed = vec![false; 9];
    let mut before = PreTester::new(kernel, bits);
    before.test(&candidates, &mut passed).expect("in range");
    let mut rounds = Tester::new(kernel, len);
    let bases = [vec![1; len], vec![2; len]].concat();
    let twice = [hidden(&key.p), hidden(&key.q)].concat();
    rounds.round(&twice, &bases, &mut [false; 2]).expect("in range");
}

/// The result of a private operation, for messages to be taken out of: nothing is raised here.
struct Raised<'a>(&'a [u8]);

impl BlockRunner for Raised<'_> {
    fn run(&mut self, _: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<(), Error> {
        outputs.copy_from_slice(self.0);
        status.fill(Status::Done);
        Ok(())
    }
}

/// Paddings taken off what is secret, whether they are right or wrong.
fn openings(key: &Key) {
    let rest = &key.rest;
    let len = rest.n.len();
    let whole = PrivateKey::from_parts(&PrivateParts {
        n: &rest.n,
        e: &E,
        d: &rest.d,
        p: &key.p,
        q: &key.q,
        dp: &rest.dp,
        dq: &rest.dq,
        qinv: &rest.qinv,
        others: &[],
    })
    .expect("the key is sound");
    let mut right = vec![0x55; len];
    right[..2].copy_from_slice(&[0, 2]);
    right[len / 2] = 0;
    let mut wrong = right.clone();
    wrong[3] = 0;
    for scheme in [
        EncryptionScheme::Pkcs1v15,
        EncryptionScheme::Oaep(Oaep::new(Hash::Sha256)),
    ] {
        for encoding in [&right, &wrong] {
            let encoding = secret(encoding);
            let mut decryptor = Decryptor::new(Raised(&encoding), &whole, &scheme).expect("it has room");
            let mut message = vec![0; len];
            decryptor
                .decrypt(&vec![7; len], &mut message, &mut [None])
                .expect("lengths fit");
        }
    }
}

/// A client's blinding factor: inverted, raised, and multiplied with. What finalizing makes of the inverse is a
/// signature, and public.
fn blinding(kernel: Kernel, key: &Key) {
    let public = PublicKey::new(&key.rest.n, &E).expect("the key is sound");
    let variant = Variant::PssRandomized;
    let client = BlindingKey::with_backend(&public, variant, &CpuBackend::new(kernel)).expect("it has room");
    let message = InputMessage::prepare(variant, b"message").expect("there is randomness");
    let mut factor = vec![0x55; key.rest.n.len()];
    factor[0] = 0;
    client
        .blind_with_factor(&mut SystemRng, &message, &secret(&factor))
        .expect("it has an inverse");
}

/// A leak that must be reported.
fn leak(kernel: Kernel) {
    let key = Key::nth(0, 512, &E);
    let e = secret(&E);
    let checked = CheckedPublicKey::new(&key.rest.n, &e).expect("the key is sound");
    let context = PublicContext::new(&checked, kernel);
    println!("{} bits", context.modulus_bits());
}

fn main() -> ExitCode {
    // What becomes public is defined from there on.
    let _ = declassify::HOOK.set(|bytes| {
        let _ = memcheck::mark_memory(bytes.as_ptr().cast(), bytes.len(), MemState::Defined);
    });
    match std::env::args().nth(1).as_deref() {
        None => {
            for bits in BITS {
                let keys = [Key::nth(0, bits, &E), Key::nth(1, bits, &E)];
                openings(&keys[0]);
                for info in kernels() {
                    let (name, tracked_as) = (info.name, info.tracked_as());
                    if tracked_as != name {
                        println!("{name}, {bits} bits: valgrind does not know its instructions; see {tracked_as}");
                        continue;
                    }
                    let Ok(kernel) = Kernel::named(name) else {
                        eprintln!("SKIPPED: {name}, which this machine cannot run");
                        continue;
                    };
                    private_operations(kernel, &keys[0]);
                    multi_key_operations(kernel, &keys);
                    search(kernel, &keys[0]);
                    blinding(kernel, &keys[0]);
                    println!("{name}, {bits} bits: done");
                }
            }
            ExitCode::SUCCESS
        }
        Some("leak") => {
            leak(Kernel::named("mont64x1_portable").expect("every machine has it"));
            ExitCode::SUCCESS
        }
        Some(other) => {
            eprintln!("rsalab-tracking: no such thing as {other:?}; give nothing, or `leak`");
            ExitCode::from(2)
        }
    }
}
