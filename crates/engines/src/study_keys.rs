//! Keys for studies: everyone may know them.

use rand_core::Rng;
use rsalab_rsa::{
    Error, PrivateKey,
    generate::{DEFAULT_EXPONENT, Generation, PublicExponent, generate_strict},
    random::InsecureStudySeed,
};

use crate::{
    exponent::Exponent,
    job::{StudyKey, StudyPrime},
};

impl StudyKey {
    /// The key of `bits` bits and public exponent `exponent` that belongs to a seed: always the same.
    ///
    /// # Errors
    /// Those of [`generate_strict`].
    pub fn from_seed(seed: &InsecureStudySeed, bits: usize, exponent: Exponent) -> Result<Self, Error> {
        StudyKey::numbered(seed, bits, exponent, 2, 0)
    }

    /// One of many such keys, of so many primes; 0 of two is that of [`StudyKey::from_seed`].
    ///
    /// # Errors
    /// Those of [`generate_strict`] and [`Generation::with_primes`].
    ///
    /// # Panics
    /// `number` is 2^45 or more, or `primes` below 2.
    pub fn numbered(
        seed: &InsecureStudySeed,
        bits: usize,
        exponent: Exponent,
        primes: usize,
        number: u64,
    ) -> Result<Self, Error> {
        // Streams of the upper half are for keys, those of the lower half for inputs. Sizes are below 2^15, and there
        // are five primes at most.
        const KEYS: u64 = 1 << 63;
        assert!(number < 1 << 45, "there is no stream for key {number}");
        let more = primes.checked_sub(2).expect("a key has two primes or more") as u64;
        let mut rng = seed.stream(KEYS | more << 60 | number << 15 | bits as u64);
        if primes > 2 {
            let exponent = match exponent {
                Exponent::Fixed(exponent) => PublicExponent::Fixed(exponent),
                Exponent::Random => PublicExponent::Random,
            };
            let generation = Generation::new(bits, exponent)?.with_primes(primes)?;
            let made = generation.generator(rng)?.keys(1)?;
            return Ok(StudyKey::from(&made[0].key));
        }
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
            others: key
                .others()
                .iter()
                .map(|other| StudyPrime {
                    r: other.r.to_vec(),
                    d: other.d.to_vec(),
                    t: other.t.to_vec(),
                })
                .collect(),
        }
    }
}
