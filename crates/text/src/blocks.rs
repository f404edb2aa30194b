//! How a text becomes blocks, and a text again.
//!
//! One symbol of text is one byte. The text is cut into blocks of `symbols` bytes, the last as short as it comes out;
//! each block is padded with zero bytes on the left to the length `k` of the modulus, and the public operation makes `k`
//! bytes of ciphertext of it. With at most `k − 1` symbols every block is smaller than the modulus, whose first byte is
//! not zero. Padding carries no length, so decryption must be told the length of the text: the caller knows it, or the
//! file's [container](crate::container) holds it.
//!
//! **Raw RSA blocks are for study only.** Encryption is deterministic, so equal blocks have equal ciphertexts and a guess
//! can be confirmed; ciphertexts multiply, so they can be altered without a trace; and with a small public exponent a
//! short block is not even reduced by the modulus. This is how the articles behind this laboratory encrypt, and it is
//! here to be measured.

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
            return Ok(Blocks {
                modulus_len,
                symbols,
            });
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

/// Encrypts a text with a prepared public key.
///
/// The ciphertext does not depend on the number of threads.
///
/// # Errors
///
/// [`Error::Blocks`] if the blocks are not cut for the key, [`Error::Layout`] for an impossible number of threads, [`Error::Workers`] if
/// workers failed.
pub fn encrypt(
    key: &dyn Prepared,
    blocks: Blocks,
    text: &[u8],
    threads: Threads<'_>,
) -> Result<Outcome, Error> {
    check_modulus(key, blocks)?;
    let work = Work {
        input: text,
        input_block: blocks.symbols,
        output_len: blocks.cipher_len(text.len()),
        output_block: blocks.modulus_len,
    };
    work::run(work, threads, |_| Encryptor::new(key, blocks)).map_err(Error::from)
}

/// Decrypts the ciphertext of a text of `text_len` bytes with a prepared private key.
///
/// # Errors
///
/// [`Error::Block`] names the first block that is not what encryption makes; [`Error::Layout`] if the ciphertext has
/// not as many blocks as the text, or for an impossible number of threads; [`Error::Blocks`] if the blocks are not cut for the key;
/// [`Error::Workers`] if workers failed.
pub fn decrypt(
    key: &dyn Prepared,
    blocks: Blocks,
    ciphertext: &[u8],
    text_len: usize,
    threads: Threads<'_>,
) -> Result<Outcome, Error> {
    check_modulus(key, blocks)?;
    if !ciphertext.len().is_multiple_of(blocks.modulus_len) {
        return Err(Error::Layout {
            reason: format!(
                "the ciphertext has {} bytes, which is not a multiple of the {} bytes of a block",
                ciphertext.len(),
                blocks.modulus_len
            ),
        });
    }
    let work = Work {
        input: ciphertext,
        input_block: blocks.modulus_len,
        output_len: text_len,
        output_block: blocks.symbols,
    };
    work::run(work, threads, |_| Decryptor::new(key, blocks)).map_err(Error::from)
}

/// The block operation of encryption, over any public operation.
pub struct Encryptor<R> {
    runner: R,
    blocks: Blocks,
    padded: Zeroizing<Vec<u8>>,
    status: Vec<Status>,
}

impl<'key> Encryptor<Box<dyn BlockRunner + 'key>> {
    /// One thread's runner of a prepared public key.
    pub fn new(key: &'key dyn Prepared, blocks: Blocks) -> Result<Self, Error> {
        check_modulus(key, blocks)?;
        Ok(Self::over(key.runner()?, blocks, key.lanes()))
    }
}

impl<R: BlockRunner> Encryptor<R> {
    /// One thread's blocks over any runner of the public operation, whose kernel has `lanes` lanes.
    pub fn over(runner: R, blocks: Blocks, lanes: usize) -> Self {
        let batch = batch(lanes);
        Encryptor {
            runner,
            blocks,
            padded: vec![0; batch * blocks.modulus_len].into(),
            status: vec![Status::Done; batch],
        }
    }
}

impl<R: BlockRunner> BlockWorker for Encryptor<R> {
    type Error = Error;

    fn work(&mut self, first_block: usize, input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        let Blocks {
            modulus_len,
            symbols,
        } = self.blocks;
        let batch = self.status.len();
        let batches = input
            .chunks(batch * symbols)
            .zip(output.chunks_mut(batch * modulus_len));
        for (index, (texts, ciphers)) in batches.enumerate() {
            let count = texts.len().div_ceil(symbols);
            for (text, padded) in texts
                .chunks(symbols)
                .zip(self.padded.chunks_mut(modulus_len))
            {
                let (zeros, value) = padded.split_at_mut(modulus_len - text.len());
                zeros.fill(0);
                value.copy_from_slice(text);
            }
            let status = &mut self.status[..count];
            self.runner
                .run(&self.padded[..count * modulus_len], ciphers, status)?;
            all_done(status, first_block + index * batch)?;
        }
        Ok(())
    }
}

/// The block operation of decryption, over any private operation.
pub struct Decryptor<R> {
    runner: R,
    blocks: Blocks,
    padded: Zeroizing<Vec<u8>>,
    status: Vec<Status>,
}

impl<'key> Decryptor<Box<dyn BlockRunner + 'key>> {
    /// One thread's runner of a prepared private key.
    pub fn new(key: &'key dyn Prepared, blocks: Blocks) -> Result<Self, Error> {
        check_modulus(key, blocks)?;
        Ok(Self::over(key.runner()?, blocks, key.lanes()))
    }
}

impl<R: BlockRunner> Decryptor<R> {
    /// One thread's blocks over any runner of the private operation, whose kernel has `lanes` lanes.
    pub fn over(runner: R, blocks: Blocks, lanes: usize) -> Self {
        let batch = batch(lanes);
        Decryptor {
            runner,
            blocks,
            padded: vec![0; batch * blocks.modulus_len].into(),
            status: vec![Status::Done; batch],
        }
    }
}

impl<R: BlockRunner> BlockWorker for Decryptor<R> {
    type Error = Error;

    fn work(&mut self, first_block: usize, input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        let Blocks {
            modulus_len,
            symbols,
        } = self.blocks;
        let batch = self.status.len();
        let batches = input
            .chunks(batch * modulus_len)
            .zip(output.chunks_mut(batch * symbols));
        for (index, (ciphers, texts)) in batches.enumerate() {
            let first = first_block + index * batch;
            let count = ciphers.len() / modulus_len;
            let status = &mut self.status[..count];
            self.runner
                .run(ciphers, &mut self.padded[..ciphers.len()], status)?;
            all_done(status, first)?;
            for (place, (text, padded)) in texts
                .chunks_mut(symbols)
                .zip(self.padded.chunks(modulus_len))
                .enumerate()
            {
                let (zeros, value) = padded.split_at(modulus_len - text.len());
                if zeros.iter().fold(0, |seen, byte| seen | byte) != 0 {
                    return Err(Error::Block {
                        block: first + place,
                        reason: BlockFault::Padding,
                    });
                }
                text.copy_from_slice(value);
            }
        }
        Ok(())
    }
}

fn batch(lanes: usize) -> usize {
    (lanes * BATCHES_OF_LANES).max(MIN_BATCH)
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
