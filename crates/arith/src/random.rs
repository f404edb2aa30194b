//! The operating system's random numbers, used only if they look like random numbers.
//!
//! Whatever draws from the system in this crate and above it draws here. Before a process gets its first byte, two
//! blocks of 1024 bytes are drawn and tested; they are thrown away afterwards. A source that fails is not used: neither
//! then nor later in this process.
//!
//! ```text
//! repetition count     the same byte 11 times in a row               NIST SP 800-90B, 4.4.1
//! adaptive proportion  a window's first byte 30 times in 512 bytes   NIST SP 800-90B, 4.4.2
//! repeated pieces      the same 16 bytes at two multiples of 16      covers blocks that are the same, and short periods
//! ```
//!
//! The first two are the standard's start-up tests (section 4.3: at least 1024 samples) for samples of 8 bits with 8
//! bits of entropy, which is what a generator's output claims to have. A good source fails one of them with a
//! probability below 2^-66 for each process: the cutoffs are for α = 2^-80, as the tests run whenever a program starts.
//! The standard recommends 2^-20 to 2^-40; the faults that are looked for here are complete ones (a system call that is
//! stubbed out, a device that reads as zeros), which no cutoff misses. What they cannot find is a source that somebody
//! knows and that looks random.

use std::fmt;

use crate::Error;
use once_cell::race::OnceBox;
use zeroize::Zeroizing;

/// Fills bytes from the operating system's generator, whose health was tested once in this process.
///
/// # Errors
/// [`Error::Randomness`] if the system gives nothing, or if the test failed: then nothing is written, in this call and
/// in all later ones.
pub fn fill(bytes: &mut [u8]) -> Result<(), Error> {
    static VERDICT: OnceBox<Result<(), Fault>> = OnceBox::new();
    let verdict = match VERDICT.get() {
        Some(verdict) => *verdict,
        // What the system did not give is asked for again by the next call. Threads that come at once test each for
        // itself.
        None => {
            let verdict = examine(system)?;
            *VERDICT.get_or_init(|| Box::new(verdict))
        }
    };
    verdict.map_err(|fault| {
        Error::Randomness(format!(
            "its health test found {fault}; such numbers are not random, and no use is made of them"
        ))
    })?;
    system(bytes)
}

fn system(bytes: &mut [u8]) -> Result<(), Error> {
    getrandom::fill(bytes).map_err(|error| Error::Randomness(error.to_string()))
}

/// A fault of a source of random bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Repetition,
    Proportion,
    RepeatedPiece,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Repetition => write!(f, "the same byte {REPETITIONS} times in a row"),
            Fault::Proportion => {
                write!(f, "the same byte {PROPORTION} times in {WINDOW} bytes")
            }
            Fault::RepeatedPiece => write!(f, "the same {PIECE} bytes twice"),
        }
    }
}

/// Bytes of each of the two blocks.
const BLOCK: usize = 1024;
/// Equal bytes in a row that are too many: 1 + ⌈80 / 8⌉ (section 4.4.1).
const REPETITIONS: usize = 11;
/// Bytes of a window (section 4.4.2, for samples that are not bits).
const WINDOW: usize = 512;
/// The least number of times that a window's first byte stands in it, if that is too often: a test computes it.
const PROPORTION: usize = 30;
/// Bytes that must not come twice.
const PIECE: usize = 16;

/// Draws two blocks from a source, in two calls, and tests them.
fn examine(mut source: impl FnMut(&mut [u8]) -> Result<(), Error>) -> Result<Result<(), Fault>, Error> {
    let mut blocks = Zeroizing::new([0; 2 * BLOCK]);
    for block in blocks.chunks_exact_mut(BLOCK) {
        source(block)?;
    }
    Ok(verdict(&*blocks))
}

fn verdict(bytes: &[u8]) -> Result<(), Fault> {
    let is_constant = |run: &[u8]| run.iter().all(|byte| *byte == run[0]);
    if bytes.windows(REPETITIONS).any(is_constant) {
        return Err(Fault::Repetition);
    }
    let is_common = |window: &[u8]| {
        let first = window.iter().filter(|byte| **byte == window[0]);
        first.count() >= PROPORTION
    };
    if bytes.chunks_exact(WINDOW).any(is_common) {
        return Err(Fault::Proportion);
    }
    let mut pieces = bytes.chunks_exact(PIECE);
    while let Some(piece) = pieces.next() {
        if pieces.clone().any(|other| other == piece) {
            return Err(Fault::RepeatedPiece);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use rand_chacha::{
        ChaCha20Rng,
        rand_core::{Rng, SeedableRng},
    };

    #[test]
    fn sources_that_are_not_random_are_found() {
        for byte in [0, 1, 0x55, 0xff] {
            let constant = examine(|bytes| {
                bytes.fill(byte);
                Ok(())
            });
            assert_eq!(constant, Ok(Err(Fault::Repetition)), "{byte}");
        }
        // Every call gives the same block.
        let mut block = [0; BLOCK];
        ChaCha20Rng::from_seed([1; 32]).fill_bytes(&mut block);
        let same = examine(|bytes| {
            bytes.copy_from_slice(&block);
            Ok(())
        });
        assert_eq!(same, Ok(Err(Fault::RepeatedPiece)));
        // A counter of bytes, in each call from 0 on.
        let counter = examine(|bytes| {
            bytes
                .iter_mut()
                .enumerate()
                .for_each(|(place, byte)| *byte = place as u8);
            Ok(())
        });
        assert_eq!(counter, Ok(Err(Fault::RepeatedPiece)));
        // Every eighth byte is the same, as of a structure that is read in the place of random bytes.
        let mut rng = ChaCha20Rng::from_seed([2; 32]);
        let biased = examine(|bytes| {
            rng.fill_bytes(bytes);
            bytes.iter_mut().step_by(8).for_each(|byte| *byte = 7);
            Ok(())
        });
        assert_eq!(biased, Ok(Err(Fault::Proportion)));
        // Only the second call is constant.
        let mut calls = 0;
        let then_constant = examine(|bytes| {
            calls += 1;
            match calls {
                1 => rng.fill_bytes(bytes),
                _ => bytes.fill(3),
            }
            Ok(())
        });
        assert_eq!(then_constant, Ok(Err(Fault::Repetition)));
        // A source that reports an error passes it on.
        let failing = examine(|_| Err(Error::Randomness("none".to_owned())));
        assert_eq!(failing, Err(Error::Randomness("none".to_owned())));
    }

    #[test]
    fn good_sources_pass() {
        let mut rng = ChaCha20Rng::from_seed([3; 32]);
        for _ in 0..5_000 {
            let good = examine(|bytes| {
                rng.fill_bytes(bytes);
                Ok(())
            });
            assert_eq!(good, Ok(Ok(())));
        }
        let mut bytes = [[0; 64]; 2];
        for bytes in &mut bytes {
            fill(bytes).expect("this system has a generator");
        }
        assert_ne!(bytes[0], bytes[1]);
    }

    /// Section 4.4.2: 1 + CRITBINOM(512, 2^-8, 1 − 2^-80), in whole numbers: the terms of the distribution times
    /// 256^512.
    #[test]
    fn the_cutoff_is_the_standards() {
        let power = |base: u32, exponent: usize| BigUint::from(base).pow(exponent as u32);
        let mut binomial = BigUint::from(1_u8);
        let mut below = BigUint::ZERO;
        let all = power(256, WINDOW);
        let critical = (0..=WINDOW).find(|&count| {
            below += &binomial * power(255, WINDOW - count);
            binomial = &binomial * (WINDOW - count) / (count + 1);
            // P(X > count) ≤ 2^-80
            ((&all - &below) << 80) <= all
        });
        assert_eq!(critical.map(|count| 1 + count), Some(PROPORTION));
        assert_eq!(REPETITIONS, 1 + 80 / 8);
    }
}
