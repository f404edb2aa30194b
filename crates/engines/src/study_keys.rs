//! Keys for studies: everyone may know them.

use rsalab_rsa::{CpuBackend, Error, PrivateKey, generate::generate, random::InsecureStudySeed};

use crate::job::StudyKey;

impl StudyKey {
    /// The key of `bits` bits and public exponent `exponent` that belongs to a seed: always the same.
    ///
    /// # Errors
    /// Those of [`generate`].
    pub fn from_seed(seed: &InsecureStudySeed, bits: usize, exponent: u64) -> Result<Self, Error> {
        StudyKey::numbered(seed, bits, exponent, 0)
    }

    /// One of many such keys; 0 is that of [`StudyKey::from_seed`].
    ///
    /// # Errors
    /// Those of [`generate`].
    ///
    /// # Panics
    /// `number` is 2^48 or more.
    pub fn numbered(
        seed: &InsecureStudySeed,
        bits: usize,
        exponent: u64,
        number: u64,
    ) -> Result<Self, Error> {
        // Streams of the upper half are for keys, those of the lower half for inputs. Sizes are below 2^15.
        const KEYS: u64 = 1 << 63;
        assert!(number < 1 << 48, "there is no stream for key {number}");
        let mut rng = seed.stream(KEYS | number << 15 | bits as u64);
        generate(bits, exponent, &mut rng, &CpuBackend::auto())
            .map(|made| StudyKey::from(&made.key))
    }
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
