//! A job: what an engine is asked to do, and with which key.

use std::fmt;

use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{
    ensure,
    exponent::Exponent,
    ledger::Reason,
    op::{Layout, Op},
};

/// Bits of the smallest and the largest modulus that a job may ask for.
pub const MODULUS_BITS: std::ops::RangeInclusive<usize> = 256..=16384;

/// The most threads that a job may ask for.
pub const MAX_THREADS: usize = 1024;

/// The most items that a job may hand over in one call.
pub const MAX_BATCH: usize = 1 << 16;

/// Which question a figure answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// How long does one call take: a sample is one call on one thread.
    Latency,
    /// How long does one call take while all threads are at work: a sample is one call, timed by the thread that makes
    /// it.
    Concurrent,
    /// How many operations are done in a time: a sample is all threads working through their share of the inputs.
    Throughput,
}

impl Mode {
    /// The word in plans and in tables.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Latency => "latency",
            Mode::Concurrent => "concurrent",
            Mode::Throughput => "throughput",
        }
    }
}

/// One thing to be measured on one engine.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// The operation.
    pub op: Op,
    /// Bits of the modulus.
    pub bits: usize,
    /// Threads that run at once.
    pub threads: usize,
    /// Items handed to the engine in one call.
    pub batch: usize,
    /// Which question is asked.
    pub mode: Mode,
    /// One of the engine's own variants (`powm`, `powm_sec`), or none for its default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Without blinding and without the check of the result, as bare peers work. Our own engine only.
    #[serde(default)]
    pub bare: bool,
    /// The public exponent.
    pub exponent: Exponent,
    /// Raw blocks: bits of the message that is raised to the public exponent, or whose power is raised to the private
    /// one. None: blocks are any numbers below the modulus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_bits: Option<usize>,
    /// Text operations: bytes of the whole text. Otherwise 0.
    #[serde(default)]
    pub symbols: usize,
    /// Text operations: bytes of text in one block. Otherwise 0.
    #[serde(default)]
    pub block_symbols: usize,
}

impl Job {
    /// One item on one thread, timed call by call, with the exponent 65537 and whatever else is the default.
    pub fn new(op: Op, bits: usize) -> Self {
        Job {
            op,
            bits,
            threads: 1,
            batch: 1,
            mode: Mode::Latency,
            variant: None,
            bare: false,
            exponent: Exponent::F4,
            message_bits: None,
            symbols: 0,
            block_symbols: 0,
        }
    }

    /// The shape of one item.
    pub fn layout(&self) -> Layout {
        self.op.layout(self.bits, self.block_symbols)
    }

    /// Blocks that a text of the job takes; 0 for operations without a text.
    pub fn text_blocks(&self) -> usize {
        self.symbols
            .checked_div(self.block_symbols)
            .map_or(0, |_| self.symbols.div_ceil(self.block_symbols))
    }

    /// Bytes of all inputs where the job fixes them: texts, and operations without input. Otherwise any number of items
    /// will do.
    pub fn input_len(&self) -> Option<usize> {
        match self.op {
            Op::Keygen | Op::PrimePair => Some(0),
            Op::TextEncrypt => Some(self.symbols),
            Op::TextDecrypt => Some(self.text_blocks() * self.layout().input),
            Op::Private | Op::Public | Op::Totient | Op::PrivateExponent | Op::Sign | Op::Verify | Op::PrimeSearch => {
                None
            }
        }
    }

    /// The job as the engine sees it: the harness cuts a text into blocks, and the engine does the block operation.
    pub fn engine_job(&self) -> Job {
        let op = match self.op {
            Op::TextEncrypt => Op::Public,
            Op::TextDecrypt => Op::Private,
            other => other,
        };
        Job {
            op,
            symbols: 0,
            block_symbols: 0,
            ..self.clone()
        }
    }

    /// The public exponent of an operation that makes primes for it, or its inverse.
    ///
    /// # Panics
    /// It is random, which [`Job::check`] refuses for these operations.
    pub fn fixed_exponent(&self) -> u64 {
        let fixed = self.exponent.fixed();
        fixed.expect("an operation that takes no key has a fixed exponent: the job was checked")
    }

    /// Checks that the job makes sense, whoever does it.
    pub fn check(&self) -> Result<(), Reason> {
        let Job { op, bits, .. } = self;
        let (least, most) = (MODULUS_BITS.start(), MODULUS_BITS.end());
        ensure!(
            MODULUS_BITS.contains(bits),
            "the modulus has {bits} bits; {least} to {most} are possible"
        );
        ensure!(
            self.exponent.is_possible(),
            "the public exponent is {}; it must be odd and at least 3",
            self.exponent
        );
        ensure!(
            self.exponent != Exponent::Random || op.takes_random_exponent(),
            "a random exponent comes with a key, which '{op}' does not work with"
        );
        let threads = self.threads;
        ensure!(
            (1..=MAX_THREADS).contains(&threads),
            "{threads} threads; 1 to {MAX_THREADS} are possible"
        );
        ensure!(
            (1..=MAX_BATCH).contains(&self.batch),
            "a batch of {}; 1 to {MAX_BATCH} are possible",
            self.batch
        );
        ensure!(
            self.mode != Mode::Latency || threads == 1 || op.is_text(),
            "latency is the time of one call on one thread, and the job asks for {threads} threads"
        );
        ensure!(
            self.mode != Mode::Concurrent || (!op.is_text() && self.batch == 1),
            "calls are timed one by one for single items only"
        );
        if let Some(message) = self.message_bits {
            let largest = bits - 1;
            ensure!(matches!(op, Op::Private | Op::Public), "'{op}' takes no message");
            ensure!(
                (1..=largest).contains(&message),
                "messages of {message} bits; 1 to {largest} fit a modulus of {bits} bits"
            );
        }
        let largest = bits.div_ceil(8) - 1;
        ensure!(
            !op.is_text() || (1..=largest).contains(&self.block_symbols),
            "blocks of {} symbols; 1 to {largest} fit a modulus of {bits} bits",
            self.block_symbols
        );
        ensure!(
            op.is_text() || (self.symbols == 0 && self.block_symbols == 0),
            "'{op}' takes no text"
        );
        Ok(())
    }
}

/// A key made for a study from a seed stored with it: insecure on purpose, never a user's key.
///
/// Integers are big-endian; `n` and `d` take the bytes of the modulus, the others the bytes of a prime.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
#[serde(deny_unknown_fields)]
pub struct StudyKey {
    /// Bits of the modulus.
    pub bits: usize,
    /// Modulus.
    #[serde(with = "hex::serde")]
    pub n: Vec<u8>,
    /// Public exponent, as few bytes as it needs.
    #[serde(with = "hex::serde")]
    pub e: Vec<u8>,
    /// Private exponent.
    #[serde(with = "hex::serde")]
    pub d: Vec<u8>,
    /// First prime.
    #[serde(with = "hex::serde")]
    pub p: Vec<u8>,
    /// Second prime.
    #[serde(with = "hex::serde")]
    pub q: Vec<u8>,
    /// `d mod (p−1)`.
    #[serde(with = "hex::serde")]
    pub dp: Vec<u8>,
    /// `d mod (q−1)`.
    #[serde(with = "hex::serde")]
    pub dq: Vec<u8>,
    /// `q⁻¹ mod p`.
    #[serde(with = "hex::serde")]
    pub qinv: Vec<u8>,
}

impl fmt::Debug for StudyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StudyKey")
            .field("bits", &self.bits)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(op: Op) -> Job {
        Job {
            op,
            bits: 1024,
            threads: 2,
            batch: 8,
            mode: Mode::Throughput,
            variant: None,
            bare: false,
            exponent: Exponent::F4,
            message_bits: None,
            symbols: 0,
            block_symbols: 0,
        }
    }

    fn text(op: Op, symbols: usize, block_symbols: usize) -> Job {
        Job {
            symbols,
            block_symbols,
            ..job(op)
        }
    }

    #[test]
    fn a_sensible_job_of_each_operation_passes() {
        for op in Op::ALL {
            let job = if op.is_text() { text(op, 0, 127) } else { job(op) };
            assert_eq!(job.check(), Ok(()), "{op}");
        }
    }

    #[test]
    fn each_senseless_job_is_refused_with_the_number_that_is_wrong() {
        let base = job(Op::Private);
        let cases = [
            (
                Job {
                    bits: 255,
                    ..base.clone()
                },
                "255",
            ),
            (
                Job {
                    bits: 16385,
                    ..base.clone()
                },
                "16385",
            ),
            (
                Job {
                    exponent: Exponent::Fixed(1),
                    ..base.clone()
                },
                "is 1;",
            ),
            (
                Job {
                    exponent: Exponent::Fixed(65536),
                    ..base.clone()
                },
                "65536",
            ),
            (
                Job {
                    exponent: Exponent::Random,
                    ..job(Op::PrimePair)
                },
                "a random exponent",
            ),
            (
                Job {
                    threads: 0,
                    ..base.clone()
                },
                "0 threads",
            ),
            (
                Job {
                    threads: 1_000_000,
                    ..base.clone()
                },
                "1000000 threads",
            ),
            (
                Job {
                    batch: 0,
                    ..base.clone()
                },
                "batch of 0",
            ),
            (
                Job {
                    mode: Mode::Latency,
                    ..base.clone()
                },
                "2 threads",
            ),
            (
                Job {
                    symbols: 5,
                    ..base.clone()
                },
                "takes no text",
            ),
            (
                Job {
                    mode: Mode::Concurrent,
                    ..base.clone()
                },
                "single items",
            ),
            (
                Job {
                    message_bits: Some(1024),
                    ..base.clone()
                },
                "messages of 1024 bits",
            ),
            (
                Job {
                    message_bits: Some(8),
                    ..job(Op::Keygen)
                },
                "takes no message",
            ),
            (text(Op::TextEncrypt, 5, 0), "0 symbols"),
            (text(Op::TextDecrypt, 5, 128), "128 symbols"),
        ];
        for (job, part) in cases {
            let reason = job.check().expect_err(part).0;
            assert!(reason.contains(part), "{reason}");
        }
    }

    #[test]
    fn a_text_takes_its_blocks() {
        for (symbols, blocks) in [(0, 0), (1, 1), (127, 1), (128, 2), (254, 2), (255, 3)] {
            let encrypt = text(Op::TextEncrypt, symbols, 127);
            assert_eq!(encrypt.text_blocks(), blocks);
            assert_eq!(encrypt.input_len(), Some(symbols));
            let decrypt = text(Op::TextDecrypt, symbols, 127);
            assert_eq!(decrypt.input_len(), Some(blocks * 128));
        }
        assert_eq!(job(Op::Private).text_blocks(), 0);
    }

    #[test]
    fn the_engine_sees_the_block_operation_of_a_text() {
        let seen = text(Op::TextDecrypt, 1000, 100).engine_job();
        assert_eq!(seen, job(Op::Private));
        assert_eq!(seen.check(), Ok(()));
    }

    #[test]
    fn a_key_does_not_show_itself() {
        let secret = vec![0xAB; 64];
        let key = StudyKey {
            bits: 1024,
            n: secret.clone(),
            e: vec![1, 0, 1],
            d: secret.clone(),
            p: secret.clone(),
            q: secret.clone(),
            dp: secret.clone(),
            dq: secret.clone(),
            qinv: secret,
        };
        let shown = format!("{key:?}");
        assert!(
            !shown.contains("171") && !shown.to_lowercase().contains("ab"),
            "{shown}"
        );
    }
}
