//! A job: what an engine is asked to do, and with which key.

use std::fmt;

use rsalab_rsa::keys::most_primes;
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

/// The most keys that the items of a batch may be under.
pub const MAX_KEYS: usize = 256;

/// The most bytes that a message to be signed may have.
pub const MAX_MESSAGE_BYTES: usize = 1 << 22;

/// The most bytes that the messages of a batch may have together.
pub const MAX_BATCH_BYTES: usize = 1 << 26;

/// Bytes of a message to be signed where nobody says how many.
const MESSAGE_BYTES: usize = 1024;

/// Primes that the modulus of a job's key may have.
pub const PRIMES: std::ops::RangeInclusive<usize> = 2..=5;

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
    /// Primes of the key's modulus.
    #[serde(default = "two", skip_serializing_if = "is_two")]
    pub primes: usize,
    /// Keys that the items of a batch are under: item `i` is under key `i mod keys`. They divide the batch.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub keys: usize,
    /// Raw blocks: bits of the message that is raised to the public exponent, or whose power is raised to the private
    /// one. None: blocks are any numbers below the modulus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_bits: Option<usize>,
    /// Messages to be signed: bytes of each. Otherwise 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub message_bytes: usize,
    /// Text operations: bytes of the whole text. Otherwise 0.
    #[serde(default)]
    pub symbols: usize,
    /// Text operations: bytes of text in one block. Otherwise 0.
    #[serde(default)]
    pub block_symbols: usize,
}

fn two() -> usize {
    2
}

fn is_two(primes: &usize) -> bool {
    *primes == 2
}

fn one() -> usize {
    1
}

fn is_one(keys: &usize) -> bool {
    *keys == 1
}

fn is_zero(bytes: &usize) -> bool {
    *bytes == 0
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
            primes: 2,
            keys: 1,
            message_bits: None,
            message_bytes: if op == Op::SignMessage { MESSAGE_BYTES } else { 0 },
            symbols: 0,
            block_symbols: 0,
        }
    }

    /// The shape of one item.
    pub fn layout(&self) -> Layout {
        let bytes = match self.op {
            Op::SignMessage => self.message_bytes,
            _ => self.block_symbols,
        };
        self.op.layout(self.bits, bytes)
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
            Op::Private
            | Op::Public
            | Op::Totient
            | Op::PrivateExponent
            | Op::Sign
            | Op::Verify
            | Op::PrimeSearch
            | Op::ImportPrivate
            | Op::ImportVerify
            | Op::SignMessage
            | Op::Handshake
            | Op::HandshakeServer
            | Op::HandshakeResumed
            | Op::Screen => None,
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
        let primes = self.primes;
        ensure!(
            primes == 2 || op.uses_primes(),
            "'{op}' does not use the primes of its key, so it takes keys of two"
        );
        let most = most_primes(*bits);
        ensure!(
            (2..=most).contains(&primes),
            "keys of {primes} primes; {bits} bits have 2 to {most}, so that none is short enough to be found"
        );
        ensure!(
            primes == 2 || self.exponent != Exponent::Random,
            "random exponents come with keys of two primes only"
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
        let keys = self.keys;
        ensure!(
            keys == 1 || op.takes_several_keys(),
            "'{op}' is not done under several keys"
        );
        ensure!(
            (1..=MAX_KEYS).contains(&keys) && self.batch.is_multiple_of(keys),
            "a batch of {} under {keys} keys; 1 to {MAX_KEYS} are possible, and they divide the batch",
            self.batch
        );
        ensure!(
            keys == 1 || (primes == 2 && self.exponent != Exponent::Random),
            "several keys have two primes and one public exponent"
        );
        let message = self.message_bytes;
        ensure!(*op == Op::SignMessage || message == 0, "'{op}' does not sign a message");
        ensure!(
            *op != Op::SignMessage || (1..=MAX_MESSAGE_BYTES).contains(&message),
            "a message of {message} bytes; 1 to {MAX_MESSAGE_BYTES} are possible"
        );
        ensure!(
            message.saturating_mul(self.batch) <= MAX_BATCH_BYTES,
            "a batch of {} messages of {message} bytes is longer than {MAX_BATCH_BYTES} bytes",
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
    /// The primes from the third on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<StudyPrime>,
}

/// A prime of a study's key from the third on (RFC 8017, section 3.2); each number takes the bytes of that prime.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
#[serde(deny_unknown_fields)]
pub struct StudyPrime {
    /// The prime.
    #[serde(with = "hex::serde")]
    pub r: Vec<u8>,
    /// `d mod (r−1)`.
    #[serde(with = "hex::serde")]
    pub d: Vec<u8>,
    /// The inverse modulo `r` of the product of all primes before it.
    #[serde(with = "hex::serde")]
    pub t: Vec<u8>,
}

impl fmt::Debug for StudyPrime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StudyPrime").finish_non_exhaustive()
    }
}

impl fmt::Debug for StudyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StudyKey")
            .field("bits", &self.bits)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
