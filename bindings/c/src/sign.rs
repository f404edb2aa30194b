//! Signatures, many at once.

use rsalab_rsa::{
    PrivateKey, PublicKey, Status as Outcome,
    format::Purpose,
    hash::{Digest, Hash},
    random::SystemRng,
    scheme::SignatureScheme,
    signing::{Signer, Verifier},
};

use crate::{
    key::{PrivateKeyHandle, PublicKeyHandle, Ready, memory_with},
    outcomes::Outcomes,
    pointer::{Bytes, Out, items, reference},
    scheme::{SignatureParameters, of_signature},
    status::{Failure, Status, guard_with},
};

/// Signs messages with one key, together in the lanes of the CPU, on the thread that calls.
///
/// messages: `count` of them. signatures: gets count * k bytes, k = (bits + 7) / 8; signature i begins at i * k, and is
/// zeros if item i failed. signatures_len: room there, in bytes. statuses: gets `count` statuses, or NULL.
///
/// Returns OK if all are signed, ITEMS if not; else nothing is written: BUFFER, SCHEME, RESTRICTED, RANDOMNESS, NULL,
/// ARGUMENT. Of an item: FAULT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_sign_messages(
    key: *const PrivateKeyHandle,
    scheme: *const SignatureParameters,
    messages: *const Bytes,
    count: usize,
    signatures: *mut u8,
    signatures_len: usize,
    statuses: *mut Status,
) -> Status {
    // SAFETY: callers promise it in the header.
    guard_with(unsafe { memory_with(key, count) }, || {
        // SAFETY: callers promise it in the header.
        let (key, scheme, messages, signatures, statuses) = unsafe {
            (
                reference(key, "key")?,
                of_signature(scheme)?,
                items(messages, count, "messages")?,
                Out::new(signatures, signatures_len, "signatures")?,
                Out::optional(statuses, count),
            )
        };
        let digests = digested(scheme.hash(), &messages);
        let digests: Vec<&[u8]> = digests.iter().map(|digest| &digest[..]).collect();
        sign(&key.key, scheme, &digests, signatures, statuses)
    })
}

/// As rsalab_sign_messages, of digests by the scheme's hash function. Of an item as well: LENGTH.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_sign_digests(
    key: *const PrivateKeyHandle,
    scheme: *const SignatureParameters,
    digests: *const Bytes,
    count: usize,
    signatures: *mut u8,
    signatures_len: usize,
    statuses: *mut Status,
) -> Status {
    // SAFETY: callers promise it in the header.
    guard_with(unsafe { memory_with(key, count) }, || {
        // SAFETY: callers promise it in the header.
        let (key, scheme, digests, signatures, statuses) = unsafe {
            (
                reference(key, "key")?,
                of_signature(scheme)?,
                items(digests, count, "digests")?,
                Out::new(signatures, signatures_len, "signatures")?,
                Out::optional(statuses, count),
            )
        };
        sign(&key.key, scheme, &digests, signatures, statuses)
    })
}

/// Verifies signatures by one key, together in the lanes of the CPU, on the thread that calls.
///
/// messages, signatures: `count` of each. statuses: gets `count` statuses, or NULL.
///
/// Returns OK if and only if every signature is that of its message, ITEMS if not; else nothing is written: SCHEME,
/// RESTRICTED, NULL, ARGUMENT. Of an item: VERIFICATION, whatever is wrong with the signature.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_verify_messages(
    key: *const PublicKeyHandle,
    scheme: *const SignatureParameters,
    messages: *const Bytes,
    signatures: *const Bytes,
    count: usize,
    statuses: *mut Status,
) -> Status {
    // SAFETY: callers promise it in the header.
    guard_with(unsafe { memory_with(key, count) }, || {
        // SAFETY: callers promise it in the header.
        let (key, scheme, messages, signatures, statuses) = unsafe {
            (
                reference(key, "key")?,
                of_signature(scheme)?,
                items(messages, count, "messages")?,
                items(signatures, count, "signatures")?,
                Out::optional(statuses, count),
            )
        };
        let digests = digested(scheme.hash(), &messages);
        let digests = digests.iter().map(|digest| Ok(&digest[..]));
        verify(&key.key, scheme, digests, &signatures, statuses)
    })
}

/// As rsalab_verify_messages, of digests by the scheme's hash function. Of an item as well: LENGTH, for a digest of
/// another length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_verify_digests(
    key: *const PublicKeyHandle,
    scheme: *const SignatureParameters,
    digests: *const Bytes,
    signatures: *const Bytes,
    count: usize,
    statuses: *mut Status,
) -> Status {
    // SAFETY: callers promise it in the header.
    guard_with(unsafe { memory_with(key, count) }, || {
        // SAFETY: callers promise it in the header.
        let (key, scheme, digests, signatures, statuses) = unsafe {
            (
                reference(key, "key")?,
                of_signature(scheme)?,
                items(digests, count, "digests")?,
                items(signatures, count, "signatures")?,
                Out::optional(statuses, count),
            )
        };
        let digests = digests.iter().map(|digest| {
            let failure = wrong_digest(scheme.hash(), digest);
            failure.map_or(Ok(*digest), Err)
        });
        verify(&key.key, scheme, digests, &signatures, statuses)
    })
}

fn digested(hash: Hash, messages: &[&[u8]]) -> Vec<Digest> {
    messages.iter().map(|message| hash.digest(message)).collect()
}

/// The length of a digest that is none of the hash function's.
pub(crate) fn wrong_digest(hash: Hash, digest: &[u8]) -> Option<Failure> {
    (digest.len() != hash.digest_len()).then(|| {
        let (len, needed) = (digest.len(), hash.digest_len());
        let text = format!("a digest of {hash} has {needed} bytes, and this one {len}");
        Failure::new(Status::Length, text)
    })
}

fn sign(
    key: &Ready<PrivateKey>,
    scheme: SignatureScheme,
    digests: &[&[u8]],
    out: Out<u8>,
    statuses: Out<Status>,
) -> Result<(), Failure> {
    let own = &key.loaded;
    let (bits, k) = (own.key.bits(), own.key.modulus_len());
    out.check(digests.len().checked_mul(k), "signatures")?;
    own.check(Purpose::Sign(&scheme))?;
    let mut signer = Signer::new(key.runner()?, bits, scheme)?;
    let mut outcomes = Outcomes::new(digests.len());
    let mut wanted = Vec::new();
    for (item, digest) in digests.iter().enumerate() {
        match wrong_digest(scheme.hash(), digest) {
            None => wanted.push(item),
            Some(failure) => outcomes.fail(item, failure),
        }
    }
    let sound: Vec<&[u8]> = wanted.iter().map(|&item| digests[item]).collect();
    let mut made = vec![0; sound.len() * k];
    let mut status = vec![Outcome::Done; sound.len()];
    signer.sign(&sound.concat(), &mut made, &mut status, &mut SystemRng)?;
    let mut signatures = vec![0; digests.len() * k];
    for ((made, status), item) in made.chunks(k).zip(status).zip(wanted) {
        match status {
            Outcome::Done => signatures[item * k..][..k].copy_from_slice(made),
            _ => outcomes.fail(item, rsalab_rsa::Error::Fault { item }.into()),
        }
    }
    out.put(&signatures);
    outcomes.finish(statuses)
}

/// Verifies the signature of each digest; an item without a digest has failed already.
pub(crate) fn verify<'a>(
    key: &Ready<PublicKey>,
    scheme: SignatureScheme,
    digests: impl ExactSizeIterator<Item = Result<&'a [u8], Failure>>,
    signatures: &[&[u8]],
    statuses: Out<Status>,
) -> Result<(), Failure> {
    let own = &key.loaded;
    let (bits, k) = (own.key.bits(), own.key.modulus_len());
    let scheme = own.usage.narrowed(scheme);
    own.check(Purpose::Verify(&scheme))?;
    let mut verifier = Verifier::new(key.runner()?, bits, scheme)?;
    let mut outcomes = Outcomes::new(digests.len());
    let mut wanted = Vec::new();
    let (mut sound_digests, mut sound_signatures) = (Vec::new(), Vec::new());
    let refuse = || Failure::new(Status::Verification, "the signature is not that of the message");
    for (item, (digest, signature)) in digests.zip(signatures).enumerate() {
        match digest {
            Err(failure) => outcomes.fail(item, failure),
            Ok(_) if signature.len() != k => outcomes.fail(item, refuse()),
            Ok(digest) => {
                wanted.push(item);
                sound_digests.extend_from_slice(digest);
                sound_signatures.extend_from_slice(signature);
            }
        }
    }
    let mut is_valid = vec![false; wanted.len()];
    verifier.verify(&sound_digests, &sound_signatures, &mut is_valid)?;
    for (item, is_valid) in wanted.into_iter().zip(is_valid) {
        if !is_valid {
            outcomes.fail(item, refuse());
        }
    }
    outcomes.finish(statuses)
}
