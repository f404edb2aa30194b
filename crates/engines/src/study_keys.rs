//! Keys for studies: everyone may know them.

use rand_core::Rng;
use rsalab_rsa::{
    Error, PrivateKey,
    generate::{DEFAULT_EXPONENT, generate_strict},
    random::InsecureStudySeed,
};

use crate::{exponent::Exponent, job::StudyKey};

impl StudyKey {
    /// The key of `bits` bits and public exponent `exponent` that belongs to a seed: always the same.
    ///
    /// # Errors
    /// Those of [`generate_strict`].
    pub fn from_seed(seed: &InsecureStudySeed, bits: usize, exponent: Exponent) -> Result<Self, Error> {
        StudyKey::numbered(seed, bits, exponent, 0)
    }

    /// One of many such keys; 0 is that of [`StudyKey::from_seed`].
    ///
    /// # Errors
    /// Those of [`generate_strict`].
    ///
    /// # Panics
    /// `number` is 2^48 or more.
    pub fn numbered(seed: &InsecureStudySeed, bits: usize, exponent: Exponent, number: u64) -> Result<Self, Error> {
        // Streams of the upper half are for keys, those of the lower half for inputs. Sizes are below 2^15.
        const KEYS: u64 = 1 << 63;
        assert!(number < 1 << 48, "there is no stream for key {number}");
        let mut rng = seed.stream(KEYS | number << 15 | bits as u64);
        let first = match exponent {
            Exponent::Fixed(exponent) => exponent,
            Exponent::Random => DEFAULT_EXPONENT,
        };
        let made = generate_strict(bits, first, &mut rng)?.key;
        match exponent {
            Exponent::Fixed(_) => Ok(StudyKey::from(&made)),
            Exponent::Random => with_random_exponent(&made, &mut rng),
        }
    }
}

/// The key with another pair of exponents: `e` odd, below the modulus and prime to φ(n). Article (d) draws it below
/// φ(n) itself, from which this differs once in 2^(bits/2).
fn with_random_exponent(key: &PrivateKey, rng: &mut impl Rng) -> Result<StudyKey, Error> {
    // One odd number in four is prime to φ(n), or more: thousands in a row that are not are no chance.
    const DRAWS: usize = 10_000;
    let n = key.public().n();
    let mut e = vec![0; n.len()];
    let mut refused = None;
    for _ in 0..DRAWS {
        rng.fill_bytes(&mut e);
        e[0] &= u8::MAX >> n[0].leading_zeros();
        *e.last_mut().expect("a modulus has bytes") |= 1;
        if e[..] >= *n {
            continue;
        }
        match PrivateKey::from_primes(key.p(), key.q(), &e) {
            Ok(key) => return Ok(StudyKey::from(&key)),
            Err(error) => refused = Some(error),
        }
    }
    Err(refused.expect("half of the numbers as long as the modulus are below it"))
}

impl From<&PrivateKey> for StudyKey {
    /// The key as workers receive it. Only for keys made for a study: what a user brings never leaves the process.
    fn from(key: &PrivateKey) -> Self {
        StudyKey {
            bits: key.bits(),
            n: key.public().n().to_vec(),
            e: key.public().e().to_vec(),
            d: key.d().to_vec(),
            p: key.p().to_vec(),
            q: key.q().to_vec(),
            dp: key.dp().to_vec(),
            dq: key.dq().to_vec(),
            qinv: key.qinv().to_vec(),
        }
    }
}
