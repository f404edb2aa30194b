//! Randomness: the system's for keys that are to be kept, a seed's for keys that are to be measured with.

use std::convert::Infallible;

use chacha20::ChaCha20Rng;
use rand_core::{SeedableRng, TryCryptoRng, TryRng};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{Error, Result};

/// The operating system's generator. What every key that protects anything must come from.
///
/// Before it gives the first byte in a process, it is tested (`rsalab_arith::random`, which draws for all of this
/// crate): a source that gives the same byte or the same block again and again is refused, then and for as long as the
/// process lives.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRng;

/// Why [`SystemRng`] gave nothing: what the system said, or what the test of its generator found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct SystemRngError {
    reason: String,
}

impl TryRng for SystemRng {
    type Error = SystemRngError;

    fn try_next_u32(&mut self) -> Result<u32, SystemRngError> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, SystemRngError> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), SystemRngError> {
        rsalab_arith::random::fill(bytes).map_err(|error| SystemRngError {
            reason: match error {
                rsalab_arith::Error::Randomness(reason) => reason,
                other => other.to_string(),
            },
        })
    }
}

impl TryCryptoRng for SystemRng {}

/// A thread's own generator for many keys: ChaCha20 with a key from the system, so that the system is asked once and
/// not for each candidate. Wiped on drop. It cannot be copied or stored, and two threads never share one.
///
/// A child of a fork has a copy all the same, which would give the numbers that its parent gets: it makes another.
/// [`Generator`](crate::generate::Generator) sees to that for keys.
pub struct WorkerRng(ChaCha20Rng);

impl WorkerRng {
    /// With a new key from the system.
    ///
    /// # Errors
    ///
    /// [`Error::Randomness`] if the system gives none.
    pub fn from_system() -> Result<Self> {
        let rng = ChaCha20Rng::try_from_rng(&mut SystemRng).map_err(Error::randomness)?;
        Ok(WorkerRng(rng))
    }
}

/// The seed of keys that can be made again from it, and are therefore **insecure on purpose**: whoever has the study
/// has its seed, and whoever has the seed has its keys.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct InsecureStudySeed([u8; 32]);

impl InsecureStudySeed {
    /// The seed of these bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        InsecureStudySeed(bytes)
    }

    /// The bytes, to be stored with the study.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The generator of one of the seed's 2^64 independent streams: ChaCha20 with the seed as its key and the stream as
    /// its nonce.
    pub fn stream(&self, stream: u64) -> InsecureStudyRng {
        let mut rng = ChaCha20Rng::from_seed(self.0);
        rng.set_stream(stream);
        InsecureStudyRng(rng)
    }
}

impl std::fmt::Debug for InsecureStudySeed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("InsecureStudySeed")
    }
}

/// A generator that gives the same bytes whenever it is made from the same seed and stream.
pub struct InsecureStudyRng(ChaCha20Rng);

/// Both are ChaCha20; they differ only in where the key comes from.
macro_rules! generator {
    ($rng:ty) => {
        impl TryRng for $rng {
            type Error = Infallible;

            fn try_next_u32(&mut self) -> Result<u32, Infallible> {
                self.0.try_next_u32()
            }

            fn try_next_u64(&mut self) -> Result<u64, Infallible> {
                self.0.try_next_u64()
            }

            fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
                self.0.try_fill_bytes(bytes)
            }
        }

        /// In the sense that key generation asks for: its output cannot be distinguished from noise without the key.
        impl TryCryptoRng for $rng {}
    };
}

generator!(WorkerRng);
generator!(InsecureStudyRng);
