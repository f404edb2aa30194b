//! Encryption of messages that fit one block, many at once.

use rsalab_rsa::{
    encryption::{Decryptor, Encryptor},
    format::Purpose,
    random::SystemRng,
};
use zeroize::Zeroizing;

use crate::{
    key::{PrivateKeyHandle, PublicKeyHandle, memory_with},
    outcomes::Outcomes,
    pointer::{Bytes, Out, items, reference},
    scheme::{EncryptionParameters, label_memory, of_encryption},
    status::{Failure, Status, guard, guard_with},
};

/// Bytes of the longest message that a key encrypts with a scheme; 0 if there is none, which an empty message tells
/// apart, or if an argument is wrong.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_encrypt_max_len(
    key: *const PublicKeyHandle,
    scheme: *const EncryptionParameters,
) -> usize {
    let mut most = 0;
    guard(|| {
        // SAFETY: callers promise it in the header.
        let (key, _memory, scheme) = unsafe { (reference(key, "key")?, label_memory(scheme)?, of_encryption(scheme)?) };
        most = scheme.max_len(key.key.loaded.key.bits())?;
        Ok(())
    });
    most
}

/// Encrypts messages for one key, together in the lanes of the CPU, on the thread that calls.
///
/// messages: `count` of them, each at most rsalab_encrypt_max_len bytes. ciphertexts: gets count * k bytes, where
/// k = (bits + 7) / 8; ciphertext i begins at i * k, and is zeros if item i failed. ciphertexts_len: room there, in
/// bytes. statuses: gets `count` statuses, or NULL.
///
/// Returns OK if all are encrypted, ITEMS if not; else nothing is written: BUFFER, SCHEME, RESTRICTED, RANDOMNESS,
/// NULL, ARGUMENT. Of an item: LENGTH, for a message that is too long.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_encrypt(
    key: *const PublicKeyHandle,
    scheme: *const EncryptionParameters,
    messages: *const Bytes,
    count: usize,
    ciphertexts: *mut u8,
    ciphertexts_len: usize,
    statuses: *mut Status,
) -> Status {
    // SAFETY: callers promise it in the header.
    guard_with(unsafe { memory_with(key, count) }, || {
        // SAFETY: callers promise it in the header.
        let _memory = unsafe { label_memory(scheme) }?;
        // SAFETY: callers promise it in the header.
        let (key, scheme, messages, out, statuses) = unsafe {
            (
                &reference(key, "key")?.key,
                of_encryption(scheme)?,
                items(messages, count, "messages")?,
                Out::new(ciphertexts, ciphertexts_len, "ciphertexts")?,
                Out::optional(statuses, count),
            )
        };
        let own = &key.loaded;
        let (bits, k) = (own.key.bits(), own.key.modulus_len());
        out.check(count.checked_mul(k), "ciphertexts")?;
        own.check(Purpose::Encrypt(Some(&scheme)))?;
        let most = scheme.max_len(bits)?;
        let mut outcomes = Outcomes::new(count);
        for (item, message) in messages.iter().enumerate() {
            if message.len() > most {
                let len = message.len();
                let text = format!("the message has {len} bytes, and may have {most}");
                outcomes.fail(item, Failure::new(Status::Length, text));
            }
        }
        let wanted: Vec<usize> = (0..count).filter(|&item| outcomes.is_ok(item)).collect();
        let sound: Vec<&[u8]> = wanted.iter().map(|&item| messages[item]).collect();
        let mut made = vec![0; sound.len() * k];
        Encryptor::new(key.runner()?, bits, scheme)?.encrypt(&sound, &mut made, &mut SystemRng)?;
        let mut all = vec![0; count * k];
        for (made, item) in made.chunks(k).zip(wanted) {
            all[item * k..][..k].copy_from_slice(made);
        }
        out.put(&all);
        outcomes.finish(statuses)
    })
}

/// Decrypts ciphertexts with one key, together in the lanes of the CPU, on the thread that calls.
///
/// ciphertexts: `count` of them, of k = (bits + 7) / 8 bytes each. messages: gets count * k bytes; message i begins at
/// i * k, and zeros fill the rest. messages_len: room there, in bytes. lens: gets the `count` lengths of the messages.
/// statuses: gets `count` statuses, or NULL. Wiping the messages is the caller's.
///
/// With PKCS#1 v1.5 bad padding gives a pseudorandom message and OK (implicit rejection); failures of OAEP cannot be
/// told apart.
///
/// Returns OK if all are decrypted, ITEMS if not; else nothing is written: BUFFER, SCHEME, RESTRICTED, RANDOMNESS,
/// FAULT, NULL, ARGUMENT. Of an item: DECRYPTION.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_decrypt(
    key: *const PrivateKeyHandle,
    scheme: *const EncryptionParameters,
    ciphertexts: *const Bytes,
    count: usize,
    messages: *mut u8,
    messages_len: usize,
    lens: *mut usize,
    statuses: *mut Status,
) -> Status {
    // SAFETY: callers promise it in the header.
    guard_with(unsafe { memory_with(key, count) }, || {
        // SAFETY: callers promise it in the header.
        let _memory = unsafe { label_memory(scheme) }?;
        // SAFETY: callers promise it in the header.
        let (key, scheme, ciphertexts, out, lens, statuses) = unsafe {
            (
                &reference(key, "key")?.key,
                of_encryption(scheme)?,
                items(ciphertexts, count, "ciphertexts")?,
                Out::new(messages, messages_len, "messages")?,
                Out::new(lens, count, "lens")?,
                Out::optional(statuses, count),
            )
        };
        let own = &key.loaded;
        let k = own.key.modulus_len();
        out.check(count.checked_mul(k), "messages")?;
        own.check(Purpose::Decrypt(Some(&scheme)))?;
        // One of another length fails, and everybody can see it: zeros stand in its place.
        let mut blocks = vec![0; count * k];
        for (ciphertext, block) in ciphertexts.iter().zip(blocks.chunks_mut(k)) {
            if ciphertext.len() == k {
                block.copy_from_slice(ciphertext);
            }
        }
        let mut placed = Zeroizing::new(vec![0; count * k]);
        let mut places = vec![None; count];
        let mut decryptor = Decryptor::new(key.runner()?, &own.key, &scheme)?;
        decryptor.decrypt(&blocks, &mut placed, &mut places)?;
        let mut outcomes = Outcomes::new(count);
        let mut all = Zeroizing::new(vec![0; count * k]);
        let mut found = vec![0; count];
        for (item, place) in places.into_iter().enumerate() {
            match place.filter(|_| ciphertexts[item].len() == k) {
                Some(place) => {
                    let message = &placed[item * k..][place];
                    all[item * k..][..message.len()].copy_from_slice(message);
                    found[item] = message.len();
                }
                None => outcomes.fail(item, wrong_ciphertext()),
            }
        }
        out.put(&all);
        lens.put(&found);
        outcomes.finish(statuses)
    })
}

pub(crate) fn wrong_ciphertext() -> Failure {
    Failure::new(Status::Decryption, "the ciphertext does not decrypt")
}
