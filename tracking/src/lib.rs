//! Private operations, prime searches, derivations of keys and openings of ciphertexts, with what is secret in them
//! named: for two programs that look for branches and addresses that depend on it.
//!
//! | program | how |
//! |---|---|
//! | `rsalab-tracking` | valgrind takes the secrets for undefined, and reports each branch and address made of one (feature `valgrind`) |
//! | `rsalab-traces` | this machine steps through its own instructions, and what different secrets make of them is compared (feature `traces`) |
//!
//! `scripts/timing.sh` runs both.
#![forbid(unsafe_code)]

use num_bigint::BigUint;
use rsalab_arith::{
    CheckedPrivateKey, CheckedPublicKey, Kernel, MultiKeyContext, PrivateContext, PrivateParts, PublicContext, Status,
    candidate::{PreTester, Sieve, Tester, has_small_factor},
    integer,
};
use rsalab_rsa::{
    BlockRunner, CpuBackend, Error, PrivateKey, PublicKey,
    blind::{BlindingKey, InputMessage, Variant},
    encryption::Decryptor,
    format::{self, Encoding, PrivateFormat},
    hash::Hash,
    random::SystemRng,
    scheme::{EncryptionScheme, Oaep},
};

#[path = "../../crates/arith/tests/library/keys/mod.rs"]
#[allow(dead_code, reason = "the library's tests use all of it, and this package a part")]
mod keys;

use keys::E;

/// Whether a use of bytes shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State {
    /// A branch or an address that depends on them is to be reported.
    Secret,
    /// They are public.
    Public,
}

/// A function that hears in which state bytes are.
pub type Mark = fn(&[u8], State);

/// For programs that find out otherwise.
pub const UNMARKED: Mark = |_, _| ();

/// A copy that is in the state.
fn marked(mark: Mark, bytes: &[u8], state: State) -> Vec<u8> {
    let bytes = bytes.to_vec();
    mark(&bytes, state);
    bytes
}

/// A prime, or a candidate, secret but for what is public: its length, so the highest word, and that it is odd.
fn hidden(mark: Mark, number: &[u8]) -> Vec<u8> {
    let mut hidden = marked(mark, number, State::Secret);
    hidden[..8].copy_from_slice(&number[..8]);
    // The lowest bit alone is known then.
    let last = hidden.last_mut().expect("it has bytes");
    *last = *last & !1 | 1;
    hidden
}

/// A key whose secrets are the subject.
pub struct Key(keys::Key);

impl Key {
    /// One of random primes, the same in every run.
    #[must_use]
    pub fn nth(i: u64, bits: usize) -> Self {
        Self(keys::Key::nth(i, bits, &E))
    }

    /// One of two primes of almost nothing but zeros: the lowest above 2^(b-1) + 2^(b-2), for primes of b bits.
    ///
    /// # Panics
    /// If b is no multiple of 64.
    #[must_use]
    pub fn sparse(bits: usize) -> Self {
        let len = bits / 16;
        let mut tester = Tester::new(Kernel::auto(), len);
        let mut is_prime = |number: &BigUint| {
            let number = keys::bytes(number, len);
            let mut passed = [false];
            !has_small_factor(&number) && integer::is_coprime_to_predecessor(&number, &E) && {
                let base = keys::bytes(&2u8.into(), len);
                tester.round(&number, &base, &mut passed).expect("in range");
                passed[0]
            }
        };
        let lowest = BigUint::from(3u8) << (bits / 2 - 2);
        let primes: Vec<_> = (1u32..)
            .step_by(2)
            .map(|offset| &lowest + offset)
            .filter(&mut is_prime)
            .take(2)
            .collect();
        Self(keys::Key::new(&primes[0], &primes[1], &E))
    }

    /// The bits of each number that stands in an encoding of the key, which has one byte more or less for some.
    #[must_use]
    pub fn lengths(&self) -> [u64; 8] {
        let Self(keys::Key { p, q, rest, .. }) = self;
        [p, q, &rest.n, &rest.d, &rest.dp, &rest.dq, &rest.qinv, &E.to_vec()]
            .map(|number| BigUint::from_bytes_be(number).bits())
    }

    /// Takes another key's numbers for its own, where they are: what reads them finds both at the same addresses.
    ///
    /// # Panics
    /// If their lengths differ.
    pub fn copy_from(&mut self, Self(other): &Self) {
        let Self(key) = self;
        key.p.copy_from_slice(&other.p);
        key.q.copy_from_slice(&other.q);
        key.rest.n.copy_from_slice(&other.rest.n);
        key.rest.d.copy_from_slice(&other.rest.d);
        key.rest.dp.copy_from_slice(&other.rest.dp);
        key.rest.dq.copy_from_slice(&other.rest.dq);
        key.rest.qinv.copy_from_slice(&other.rest.qinv);
    }

    /// Bytes of the modulus.
    fn modulus_len(&self) -> usize {
        self.0.rest.n.len()
    }

    /// An encoding of bytes of this key's own, none of them zero.
    fn encoding(&self) -> Vec<u8> {
        let bytes = self.0.rest.d.iter().map(|byte| byte | 1).cycle();
        bytes.take(self.modulus_len()).collect()
    }

    /// Inputs below n.
    fn inputs(&self, mark: Mark, items: usize) -> Vec<u8> {
        let len = self.modulus_len();
        let mut inputs = self.0.rest.d.repeat(2 * items);
        inputs.resize(items * len, 7);
        inputs.iter_mut().step_by(len).for_each(|high| *high = 0);
        marked(mark, &inputs, State::Secret)
    }
}

/// The secret parts of a key.
struct Secrets([Vec<u8>; 6]);

impl Secrets {
    fn of(mark: Mark, Key(key): &Key) -> Self {
        let rest = &key.rest;
        let [p, q] = [&key.p, &key.q].map(|prime| hidden(mark, prime));
        let [d, dp, dq, qinv] = [&rest.d, &rest.dp, &rest.dq, &rest.qinv].map(|part| marked(mark, part, State::Secret));
        Self([p, q, d, dp, dq, qinv])
    }

    fn parts<'a>(&'a self, Key(key): &'a Key) -> PrivateParts<'a> {
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

/// How a private operation is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    /// By the Chinese remainder theorem.
    Crt,
    /// With d and n alone.
    WithoutCrt,
}

/// A key prepared, and so many items.
///
/// # Panics
/// If a result is withheld.
pub fn private_operation(mark: Mark, kernel: Kernel, key: &Key, way: Way, items: usize) {
    let secrets = Secrets::of(mark, key);
    let checked = CheckedPrivateKey::new(&secrets.parts(key)).expect("the key is sound");
    let context = match way {
        Way::Crt => PrivateContext::new(&checked, kernel),
        Way::WithoutCrt => PrivateContext::without_crt(&checked, kernel).expect("the key is sound"),
    };
    let mut scratch = context.scratch().expect("there is randomness");
    let mut outputs = vec![0; items * key.modulus_len()];
    let mut status = vec![Status::Fault; items];
    context
        .apply(&mut scratch, &key.inputs(mark, items), &mut outputs, &mut status)
        .expect("lengths fit");
    assert!(status.iter().all(|status| *status == Status::Done));
}

/// Items of two keys: which key each is for.
///
/// # Panics
/// If a result is withheld.
pub fn multi_key_operation(mark: Mark, kernel: Kernel, keys: [&Key; 2], of: &[usize]) {
    let secrets = keys.map(|key| Secrets::of(mark, key));
    let checked: Vec<_> = secrets
        .iter()
        .zip(keys)
        .map(|(s, key)| CheckedPrivateKey::new(&s.parts(key)).expect("the key is sound"))
        .collect();
    let context = MultiKeyContext::new(&checked.iter().collect::<Vec<_>>(), kernel).expect("the keys are sound");
    let len = context.modulus_len();
    let mut outputs = vec![0; of.len() * len];
    let mut status = vec![Status::Fault; of.len()];
    context
        .runner()
        .apply(of, &keys[0].inputs(mark, of.len()), &mut outputs, &mut status)
        .expect("lengths fit");
    assert!(status.iter().all(|status| *status == Status::Done));
}

/// A start sieved, and so many of its survivors picked and put to the first test.
///
/// # Panics
/// If the start leaves no room.
pub fn sieve(mark: Mark, kernel: Kernel, key: &Key, picks: usize) {
    let Key(keys::Key { p, rest, .. }) = key;
    let (bits, len) = (8 * p.len(), p.len());
    let sieve = Sieve::new(kernel, bits);
    let mut interval = sieve.interval(&hidden(mark, p)).expect("it has room");
    let mut candidates = vec![0; picks * len];
    for (candidate, random) in candidates.chunks_exact_mut(len).zip(rest.d.chunks_exact(8).cycle()) {
        let random = marked(mark, random, State::Secret).try_into().expect("eight bytes");
        let is_picked = interval.pick(u64::from_be_bytes(random), candidate);
        assert_eq!(is_picked, Ok(true));
        // What was picked is as secret as the start, and known in the same places.
        let known = marked(mark, candidate, State::Public);
        candidate.copy_from_slice(&hidden(mark, &known));
    }
    let mut before = PreTester::new(kernel, bits);
    before.test(&candidates, &mut vec![false; picks]).expect("in range");
}

/// Two primes put to one round each.
///
/// # Panics
/// If one does not pass.
pub fn rounds(mark: Mark, kernel: Kernel, Key(key): &Key) {
    let len = key.p.len();
    let mut rounds = Tester::new(kernel, len);
    let bases = [vec![1; len], vec![2; len]].concat();
    let twice = [hidden(mark, &key.p), hidden(mark, &key.q)].concat();
    let mut passed = [false; 2];
    rounds.round(&twice, &bases, &mut passed).expect("in range");
    assert_eq!(passed, [true; 2]);
}

/// A key made of its primes.
///
/// # Panics
/// If none can be made of them.
pub fn derivation(mark: Mark, Key(key): &Key) {
    let primes = [&key.p, &key.q].map(|prime| hidden(mark, prime));
    integer::derive(&[&primes[0], &primes[1]], &E).expect("two primes make a key");
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

/// What padding a ciphertext turns out to have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Padding {
    /// PKCS#1 v1.5 around half of the block.
    Pkcs1v15,
    /// PKCS#1 v1.5 that ends too early, so that a message is made up.
    WrongPkcs1v15,
    /// OAEP that is wrong, in a place of this key's own.
    WrongOaep,
}

/// A padding taken off what is secret.
///
/// # Panics
/// If the lengths do not fit.
pub fn opening(mark: Mark, key: &Key, padding: Padding) {
    let len = key.modulus_len();
    let whole = PrivateKey::from_parts(&key.0.parts()).expect("the key is sound");
    let mut encoding = key.encoding();
    let scheme = match padding {
        Padding::Pkcs1v15 | Padding::WrongPkcs1v15 => {
            encoding[..2].copy_from_slice(&[0, 2]);
            encoding[len / 2] = 0;
            if padding == Padding::WrongPkcs1v15 {
                encoding[3] = 0;
            }
            EncryptionScheme::Pkcs1v15
        }
        Padding::WrongOaep => EncryptionScheme::Oaep(Oaep::new(Hash::Sha256)),
    };
    let encoding = marked(mark, &encoding, State::Secret);
    let mut decryptor = Decryptor::new(Raised(&encoding), &whole, &scheme).expect("it has room");
    let mut message = vec![0; len];
    decryptor
        .decrypt(&vec![7; len], &mut message, &mut [None])
        .expect("lengths fit");
}

/// A key written as PKCS#8 in PEM.
///
/// # Panics
/// If the key is not sound.
pub fn writing(Key(key): &Key) -> impl AsRef<[u8]> {
    let whole = PrivateKey::from_parts(&key.parts()).expect("the key is sound");
    format::encode_private(&whole, PrivateFormat::Pkcs8, Encoding::Pem)
}

/// A key read from what [`writing`] wrote.
///
/// # Panics
/// If it cannot be read.
pub fn reading(text: &[u8]) {
    format::decode_private(text).expect("it was written so");
}

/// A client's blinding factor: inverted, raised, and multiplied with. What finalizing makes of the inverse is a
/// signature, and public.
///
/// # Panics
/// If the factor has no inverse.
pub fn blinding(mark: Mark, kernel: Kernel, key: &Key) {
    let public = PublicKey::new(&key.0.rest.n, &E).expect("the key is sound");
    let variant = Variant::PssRandomized;
    let client = BlindingKey::with_backend(&public, variant, &CpuBackend::new(kernel)).expect("it has room");
    let message = InputMessage::prepare(variant, b"message").expect("there is randomness");
    let mut factor = key.encoding();
    factor[0] = 0;
    client
        .blind_with_factor(&mut SystemRng, &message, &marked(mark, &factor, State::Secret))
        .expect("it has an inverse");
}

/// A leak that must be reported: a public operation whose exponent is secret. Returns its size in bits.
///
/// # Panics
/// If the key is not sound.
pub fn leak(mark: Mark, kernel: Kernel, Key(key): &Key, exponent: u8) -> usize {
    let e = marked(mark, &[exponent], State::Secret);
    let checked = CheckedPublicKey::new(&key.rest.n, &e).expect("the key is sound");
    let len = key.rest.n.len();
    let context = PublicContext::new(&checked, kernel);
    let mut status = [Status::Fault];
    let mut scratch = context.scratch();
    context
        .apply(&mut scratch, &vec![0x55; len][..len], &mut vec![0; len], &mut status)
        .expect("lengths fit");
    context.modulus_bits()
}
