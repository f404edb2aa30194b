//! Operations of keys on batches: parts of a batch go to threads, each with a runner of its own.

use std::ops::Range;

use pyo3::prelude::*;
use rsalab_rsa::{
    Error, PrivateKey, PublicKey, Status,
    encryption::{Decryptor, Encryptor},
    format::Purpose,
    hash::Hash,
    random::SystemRng,
    scheme::{EncryptionScheme, SignatureScheme},
    signing::{Signer, Verifier, VerifyingKey},
};
use zeroize::Zeroizing;

use crate::{
    errors::{LengthError, SchemeError, raised},
    parallel,
    ready::Ready,
};

/// Private operations of one part: a few passes of the widest kernel, a millisecond or two.
const PRIVATE_PART: usize = 32;
/// Public operations of one part, which take a fiftieth of the time.
const PUBLIC_PART: usize = 512;
/// Signatures that are screened together: a product has a price of its own, of as many as some hundreds cost.
const SCREENED_PART: usize = 1 << 14;

/// Messages, or digests of them.
#[derive(Clone, Copy)]
pub(crate) struct Messages<'a> {
    pub(crate) items: &'a [&'a [u8]],
    pub(crate) are_digests: bool,
}

/// Refuses digests of another length than the hash function's.
pub(crate) fn check_digests(messages: Messages<'_>, hash: Hash) -> PyResult<()> {
    let len = hash.digest_len();
    let wrong = messages.items.iter().position(|item| item.len() != len);
    match wrong.filter(|_| messages.are_digests) {
        None => Ok(()),
        Some(item) => Err(LengthError::new_err(format!(
            "a digest of {hash} has {len} bytes, and item {item} has {}",
            messages.items[item].len()
        ))),
    }
}

/// Refuses a list that does not have one for each message.
pub(crate) fn check_count(what: &str, got: usize, messages: usize) -> PyResult<()> {
    match got == messages {
        true => Ok(()),
        false => Err(LengthError::new_err(format!(
            "there are {messages} messages and {got} {what}"
        ))),
    }
}

/// Puts the digests of messages one after another.
fn digest(hash: Hash, items: &[&[u8]], are_digests: bool, digests: &mut Vec<u8>) {
    digests.clear();
    for item in items {
        match are_digests {
            true => digests.extend_from_slice(item),
            false => digests.extend_from_slice(&hash.digest(item)),
        }
    }
}

/// The numbers that items of a batch have in the caller's list, where they are some of it.
pub(crate) type Numbers<'a> = Option<&'a [usize]>;

fn number(numbers: Numbers<'_>, item: usize) -> usize {
    numbers.map_or(item, |numbers| numbers[item])
}

/// The error with the number of its item in the caller's list.
fn placed(error: Error, part: usize, len: usize, numbers: Numbers<'_>) -> Error {
    match error {
        Error::Fault { item } => Error::Fault {
            item: number(numbers, part * len + item),
        },
        other => other,
    }
}

/// The signatures of messages, of the modulus's length each. All of them, or an exception.
pub(crate) fn sign(
    py: Python<'_>,
    key: &Ready<PrivateKey>,
    scheme: SignatureScheme,
    messages: Messages<'_>,
    numbers: Numbers<'_>,
    threads: usize,
) -> PyResult<Vec<u8>> {
    let own = &key.loaded;
    let (bits, k, hash) = (own.key.bits(), own.key.modulus_len(), scheme.hash());
    own.check(Purpose::Sign(&scheme)).map_err(raised)?;
    check_digests(messages, hash)?;
    // An empty batch is refused for its scheme, too.
    Signer::new(key.runner().map_err(raised)?, bits, scheme).map_err(raised)?;
    let mut signatures = vec![0; messages.items.len() * k];
    let parts = messages.items.chunks(PRIVATE_PART);
    let parts = parts.zip(signatures.chunks_mut(PRIVATE_PART * k)).enumerate();
    let prepare = || Ok((Signer::new(key.runner()?, bits, scheme)?, Vec::new()));
    parallel::run(
        py,
        parts,
        threads,
        prepare,
        |(signer, digests), (part, (items, signatures))| {
            digest(hash, items, messages.are_digests, digests);
            let mut status = vec![Status::Done; items.len()];
            signer.sign(digests, signatures, &mut status, &mut SystemRng)?;
            match status.iter().position(|status| *status != Status::Done) {
                None => Ok(()),
                Some(item) => Err(placed(Error::Fault { item }, part, PRIVATE_PART, numbers)),
            }
        },
    )?;
    Ok(signatures)
}

/// Returns of each signature if it is its message's: exactly, and of the modulus's length.
pub(crate) fn verify(
    py: Python<'_>,
    key: &Ready<PublicKey>,
    scheme: SignatureScheme,
    messages: Messages<'_>,
    signatures: &[&[u8]],
    threads: usize,
) -> PyResult<Vec<bool>> {
    let own = &key.loaded;
    let (bits, k, hash) = (own.key.bits(), own.key.modulus_len(), scheme.hash());
    let scheme = own.usage.narrowed(scheme);
    own.check(Purpose::Verify(&scheme)).map_err(raised)?;
    check_digests(messages, hash)?;
    check_count("signatures", signatures.len(), messages.items.len())?;
    Verifier::new(key.runner().map_err(raised)?, bits, scheme).map_err(raised)?;
    let mut are_valid = vec![false; signatures.len()];
    let parts = messages.items.chunks(PUBLIC_PART).zip(signatures.chunks(PUBLIC_PART));
    let parts = parts.zip(are_valid.chunks_mut(PUBLIC_PART));
    let prepare = || Ok((Verifier::new(key.runner()?, bits, scheme)?, Vec::new(), Vec::new()));
    parallel::run(
        py,
        parts,
        threads,
        prepare,
        |(verifier, digests, blocks), ((items, signatures), are_valid)| {
            digest(hash, items, messages.are_digests, digests);
            gather(signatures, k, blocks);
            verifier.verify(digests, blocks, are_valid)?;
            for (is_valid, signature) in are_valid.iter_mut().zip(signatures) {
                *is_valid &= signature.len() == k;
            }
            Ok(())
        },
    )?;
    Ok(are_valid)
}

/// Returns of each signature of PKCS#1 v1.5 if it was accepted by screening.
pub(crate) fn screen(
    py: Python<'_>,
    key: &Ready<PublicKey>,
    hash: Hash,
    messages: Messages<'_>,
    signatures: &[&[u8]],
    threads: usize,
) -> PyResult<Vec<bool>> {
    let own = &key.loaded;
    let scheme = SignatureScheme::Pkcs1v15(hash);
    own.check(Purpose::Verify(&scheme)).map_err(raised)?;
    check_digests(messages, hash)?;
    check_count("signatures", signatures.len(), messages.items.len())?;
    let verifying = VerifyingKey::new(&own.key, scheme).map_err(raised)?;
    let mut are_accepted = vec![false; signatures.len()];
    let parts = messages
        .items
        .chunks(SCREENED_PART)
        .zip(signatures.chunks(SCREENED_PART));
    let parts = parts.zip(are_accepted.chunks_mut(SCREENED_PART));
    parallel::run(
        py,
        parts,
        threads,
        || Ok(()),
        |(), ((items, signatures), are_accepted)| {
            let pairs: Vec<_> = items.iter().copied().zip(signatures.iter().copied()).collect();
            are_accepted.copy_from_slice(&match messages.are_digests {
                true => verifying.screen_digests(&pairs)?,
                false => verifying.screen_batch(&pairs)?,
            });
            Ok(())
        },
    )?;
    Ok(are_accepted)
}

/// Puts items of `k` bytes one after another; zeros stand for one of another length.
fn gather(items: &[&[u8]], k: usize, blocks: &mut Vec<u8>) {
    blocks.clear();
    for item in items {
        match item.len() == k {
            true => blocks.extend_from_slice(item),
            false => blocks.resize(blocks.len() + k, 0),
        }
    }
}

/// The ciphertexts of messages, of the modulus's length each. All of them, or an exception.
pub(crate) fn encrypt(
    py: Python<'_>,
    key: &Ready<PublicKey>,
    scheme: &EncryptionScheme,
    messages: &[&[u8]],
    numbers: Numbers<'_>,
    threads: usize,
) -> PyResult<Vec<u8>> {
    let own = &key.loaded;
    let (bits, k) = (own.key.bits(), own.key.modulus_len());
    own.check(Purpose::Encrypt(Some(scheme))).map_err(raised)?;
    let most = scheme.max_len(bits).map_err(raised)?;
    if let Some(item) = messages.iter().position(|message| message.len() > most) {
        return Err(SchemeError::new_err(format!(
            "message {} has {} bytes; with this key and padding one has {most} at most",
            number(numbers, item),
            messages[item].len()
        )));
    }
    let mut ciphertexts = vec![0; messages.len() * k];
    let parts = messages.chunks(PUBLIC_PART);
    let parts = parts.zip(ciphertexts.chunks_mut(PUBLIC_PART * k)).enumerate();
    let prepare = || Encryptor::new(key.runner()?, bits, scheme.clone());
    parallel::run(
        py,
        parts,
        threads,
        prepare,
        |encryptor, (part, (messages, ciphertexts))| {
            let encrypted = encryptor.encrypt(messages, ciphertexts, &mut SystemRng);
            encrypted.map_err(|error| placed(error, part, PUBLIC_PART, numbers))
        },
    )?;
    Ok(ciphertexts)
}

/// Messages, each within a block of the modulus's length.
pub(crate) struct Decrypted {
    blocks: Zeroizing<Vec<u8>>,
    /// The bytes of each message in its block; none if it failed.
    places: Vec<Option<Range<usize>>>,
    k: usize,
}

impl Decrypted {
    /// Each message; none for a ciphertext that does not decrypt.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = Option<&[u8]>> {
        let items = self.blocks.chunks_exact(self.k).zip(&self.places);
        items.map(|(block, place)| Some(&block[place.clone()?]))
    }
}

/// The messages of ciphertexts.
pub(crate) fn decrypt(
    py: Python<'_>,
    key: &Ready<PrivateKey>,
    scheme: &EncryptionScheme,
    ciphertexts: &[&[u8]],
    threads: usize,
) -> PyResult<Decrypted> {
    let own = &key.loaded;
    let k = own.key.modulus_len();
    own.check(Purpose::Decrypt(Some(scheme))).map_err(raised)?;
    scheme.max_len(own.key.bits()).map_err(raised)?;
    let mut blocks = Zeroizing::new(vec![0; ciphertexts.len() * k]);
    let mut places = vec![None; ciphertexts.len()];
    let parts = ciphertexts
        .chunks(PRIVATE_PART)
        .zip(blocks.chunks_mut(PRIVATE_PART * k));
    let parts = parts.zip(places.chunks_mut(PRIVATE_PART)).enumerate();
    let prepare = || Ok((Decryptor::new(key.runner()?, &own.key, scheme)?, Vec::new()));
    parallel::run(
        py,
        parts,
        threads,
        prepare,
        |(decryptor, gathered), (part, ((ciphertexts, blocks), places))| {
            gather(ciphertexts, k, gathered);
            let decrypted = decryptor.decrypt(gathered, blocks, places);
            decrypted.map_err(|error| placed(error, part, PRIVATE_PART, None))?;
            for (place, ciphertext) in places.iter_mut().zip(ciphertexts) {
                // One of another length is wrong, and everybody can see it.
                *place = place.take().filter(|_| ciphertext.len() == k);
            }
            Ok(())
        },
    )?;
    Ok(Decrypted { blocks, places, k })
}
