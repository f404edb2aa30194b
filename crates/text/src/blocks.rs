//! How a text becomes blocks, and a text again.
//!
//! One symbol of text is one byte. The text is cut into blocks of `symbols` bytes, the last as short as it comes out;
//! each block is padded with zero bytes on the left to the length `k` of the modulus, and the public operation makes
//! `k` bytes of ciphertext of it. With at most `k − 1` symbols every block is smaller than the modulus, whose first
//! byte is not zero. Padding carries no length, so decryption needs the length of the text: the caller knows it, or the
//! file's [container](crate::container) holds it.
//!
//! **Raw RSA blocks are for study only.** Encryption is deterministic, so equal blocks have equal ciphertexts and a
//! guess can be confirmed; ciphertexts multiply, so they can be altered without a trace; and with a small public
//! exponent a short block is not even reduced by the modulus. This is how the articles behind this laboratory encrypt,
//! and it is here to be measured.

use std::sync::atomic::{AtomicU64, Ordering};

use zeroize::Zeroizing;

use rsalab_rsa::{BlockRunner, Prepared, Status};

use crate::{
    BlockFault, Error,
    outcome::Outcome,
    work::{self, BlockWorker, Threads, Work},
};

/// Blocks that a worker hands to its runner at once, at least.
const MIN_BATCH: usize = 16;

/// Batches of this many times the kernel's lanes keep every lane busy.
const BATCHES_OF_LANES: usize = 4;

/// How a text is cut for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    modulus_len: usize,
    symbols: usize,
}

impl Blocks {
    /// Blocks of `symbols` bytes of text for a modulus of `modulus_len` bytes; of `modulus_len − 1` if not given.
    ///
    /// # Errors
    ///
    /// [`Error::Blocks`] unless `symbols` lies between 1 and `modulus_len − 1`.
    pub fn new(modulus_len: usize, symbols: Option<usize>) -> Result<Self, Error> {
        let most = modulus_len.saturating_sub(1);
        let symbols = symbols.unwrap_or(most);
        if (1..=most).contains(&symbols) {
            return Ok(Blocks { modulus_len, symbols });
        }
        Err(Error::Blocks {
            reason: format!(
                "blocks of {symbols} symbols do not fit a modulus of {modulus_len} bytes: choose 1 to {most}"
            ),
        })
    }

    /// Bytes of text in a full block.
    pub fn symbols(&self) -> usize {
        self.symbols
    }

    /// Bytes of the modulus, and of each block of ciphertext.
    pub fn modulus_len(&self) -> usize {
        self.modulus_len
    }

    /// Blocks that a text of `text_len` bytes takes; none for the empty text.
    pub fn count(&self, text_len: usize) -> usize {
        text_len.div_ceil(self.symbols)
    }

    /// Bytes of the ciphertext of a text of `text_len` bytes.
    pub fn cipher_len(&self, text_len: usize) -> usize {
        self.count(text_len) * self.modulus_len
    }
}

/// An operation on a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Text to ciphertext, by the public operation.
    Encrypt,
    /// Ciphertext to text, by the private operation.
    Decrypt,
}

impl Blocks {
    /// The work of encrypting a text of `text_len` bytes, or of decrypting it.
    pub fn work<'a>(&self, direction: Direction, input: &'a [u8], text_len: usize) -> Work<'a> {
        match direction {
            Direction::Encrypt => Work {
                input,
                input_block: self.symbols,
                output_len: self.cipher_len(text_len),
                output_block: self.modulus_len,
            },
            Direction::Decrypt => Work {
                input,
                input_block: self.modulus_len,
                output_len: text_len,
                output_block: self.symbols,
            },
        }
    }
}

/// Encrypts a text with a prepared public key.
///
/// The ciphertext does not depend on the number of threads.
///
/// # Errors
///
/// [`Error::Blocks`] if the blocks are not cut for the key, [`Error::Layout`] for an impossible number of threads,
/// [`Error::Workers`] if workers failed.
pub fn encrypt(key: &dyn Prepared, blocks: Blocks, text: &[u8], threads: Threads<'_>) -> Result<Outcome, Error> {
    over_threads(key, blocks, Direction::Encrypt, (text, text.len()), threads)
}

/// Decrypts the ciphertext of a text of `text_len` bytes with a prepared private key.
///
/// # Errors
///
/// [`Error::Block`] names the first block that is not what encryption makes; [`Error::Layout`] if the ciphertext has
/// not as many blocks as the text, or for an impossible number of threads; [`Error::Blocks`] if the blocks are not cut
/// for the key; [`Error::Workers`] if workers failed.
pub fn decrypt(
    key: &dyn Prepared,
    blocks: Blocks,
    ciphertext: &[u8],
    text_len: usize,
    threads: Threads<'_>,
) -> Result<Outcome, Error> {
    over_threads(key, blocks, Direction::Decrypt, (ciphertext, text_len), threads)
}

/// Raises blocks as long as the modulus to the key's exponent, public or private, without any padding. The output is as
/// long as the input.
///
/// # Errors
///
/// [`Error::Block`] names the first block that is not below the modulus; [`Error::Layout`] for an impossible number of
/// threads; [`Error::Workers`] if workers failed.
///
/// # Panics
///
/// If `input` is not a number of whole blocks.
pub fn raise(key: &dyn Prepared, input: &[u8], threads: Threads<'_>) -> Result<Outcome, Error> {
    let modulus_len = key.modulus_len();
    assert!(
        input.len().is_multiple_of(modulus_len),
        "the input has {} bytes, which is not a multiple of the {modulus_len} bytes of a block",
        input.len()
    );
    // A block of text that is as long as the modulus is padded with nothing.
    let blocks = Blocks {
        modulus_len,
        symbols: modulus_len,
    };
    encrypt(key, blocks, input, threads)
}

fn over_threads(
    key: &dyn Prepared,
    blocks: Blocks,
    direction: Direction,
    (input, text_len): (&[u8], usize),
    threads: Threads<'_>,
) -> Result<Outcome, Error> {
    check_modulus(key, blocks)?;
    if direction == Direction::Decrypt && !input.len().is_multiple_of(blocks.modulus_len) {
        return Err(Error::Layout {
            reason: format!(
                "the ciphertext has {} bytes, which is not a multiple of the {} bytes of a block",
                input.len(),
                blocks.modulus_len
            ),
        });
    }
    let work = blocks.work(direction, input, text_len);
    work::run(work, threads, |_| {
        let runner = Counting {
            runner: key.runner()?,
            done: threads.done,
        };
        Ok(BlockCipher::new(runner, blocks, direction, key.lanes()))
    })
    .map_err(Error::from)
}

/// A runner that counts the blocks that it has done, if that is wanted.
struct Counting<'a> {
    runner: Box<dyn BlockRunner + 'a>,
    done: Option<&'a AtomicU64>,
}

impl BlockRunner for Counting<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<(), rsalab_rsa::Error> {
        self.runner.run(inputs, outputs, status)?;
        if let Some(done) = self.done {
            done.fetch_add(status.len() as u64, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Encrypts or decrypts the blocks of one thread, over any runner of the public or the private operation.
pub struct BlockCipher<R> {
    runner: R,
    blocks: Blocks,
    direction: Direction,
    padded: Zeroizing<Vec<u8>>,
    status: Vec<Status>,
}

impl<R: BlockRunner> BlockCipher<R> {
    /// For a runner whose kernel has `lanes` lanes.
    pub fn new(runner: R, blocks: Blocks, direction: Direction, lanes: usize) -> Self {
        let batch = (lanes * BATCHES_OF_LANES).max(MIN_BATCH);
        BlockCipher {
            runner,
            blocks,
            direction,
            padded: vec![0; batch * blocks.modulus_len].into(),
            status: vec![Status::Done; batch],
        }
    }

    /// Encrypts one batch, whose first block is `first` of the whole text.
    fn encrypt(&mut self, first: usize, text: &[u8], ciphers: &mut [u8]) -> Result<(), Error> {
        let Blocks { modulus_len, symbols } = self.blocks;
        let padded = &mut self.padded[..ciphers.len()];
        for (text, padded) in text.chunks(symbols).zip(padded.chunks_mut(modulus_len)) {
            let (zeros, value) = padded.split_at_mut(modulus_len - text.len());
            zeros.fill(0);
            value.copy_from_slice(text);
        }
        let status = &mut self.status[..ciphers.len() / modulus_len];
        self.runner.run(padded, ciphers, status)?;
        all_done(status, first)
    }

    /// Decrypts one batch, whose first block is `first` of the whole text.
    fn decrypt(&mut self, first: usize, ciphers: &[u8], text: &mut [u8]) -> Result<(), Error> {
        let Blocks { modulus_len, symbols } = self.blocks;
        let padded = &mut self.padded[..ciphers.len()];
        let status = &mut self.status[..ciphers.len() / modulus_len];
        self.runner.run(ciphers, padded, status)?;
        all_done(status, first)?;
        let items = text.chunks_mut(symbols).zip(padded.chunks(modulus_len));
        for (place, (text, padded)) in items.enumerate() {
            let (zeros, value) = padded.split_at(modulus_len - text.len());
            if zeros.iter().fold(0, |seen, byte| seen | byte) != 0 {
                return Err(Error::Block {
                    block: first + place,
                    reason: BlockFault::Padding,
                });
            }
            text.copy_from_slice(value);
        }
        Ok(())
    }
}

impl<R: BlockRunner> BlockWorker for BlockCipher<R> {
    type Error = Error;

    fn work(&mut self, first_block: usize, input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        let batch = self.status.len();
        let shape = self.blocks.work(self.direction, &[], 0);
        let batches = input
            .chunks(batch * shape.input_block)
            .zip(output.chunks_mut(batch * shape.output_block));
        for (index, (input, output)) in batches.enumerate() {
            let first = first_block + index * batch;
            match self.direction {
                Direction::Encrypt => self.encrypt(first, input, output)?,
                Direction::Decrypt => self.decrypt(first, input, output)?,
            }
        }
        Ok(())
    }
}

fn check_modulus(key: &dyn Prepared, blocks: Blocks) -> Result<(), Error> {
    if key.modulus_len() == blocks.modulus_len {
        return Ok(());
    }
    Err(Error::Blocks {
        reason: format!(
            "the blocks are cut for a modulus of {} bytes, but the key has one of {}",
            blocks.modulus_len,
            key.modulus_len()
        ),
    })
}

fn all_done(status: &[Status], first_block: usize) -> Result<(), Error> {
    let fault = status.iter().enumerate().find_map(|(place, status)| {
        let reason = match status {
            Status::Done => return None,
            Status::OutOfRange => BlockFault::OutOfRange,
            Status::Fault => BlockFault::Check,
        };
        Some(Error::Block {
            block: first_block + place,
            reason,
        })
    });
    fault.map_or(Ok(()), Err)
}
