//! Requests of many threads, done together.

use std::{
    collections::BTreeMap,
    process,
    sync::{Arc, RwLock},
    time::Duration,
};

use rsalab_batch::{Batcher, Error, Key};
use rsalab_rsa::{PrivateKey, encryption::Unpadder, format::Purpose, random::SystemRng, scheme::SignatureScheme};
use zeroize::Zeroizing;

use crate::{
    blind::check_issuer,
    encrypt::wrong_ciphertext,
    key::{PrivateKeyHandle, Ready},
    memory,
    pointer::{Measured, Out, array, free, handle_out, reference},
    scheme::{EncryptionParameters, SignatureParameters, label_memory, of_encryption, of_signature},
    sign::wrong_digest,
    status::{Failure, Status, guard, guard_free, guard_value, guard_with, more_memory},
};

/// Answers private operations that threads ask for one by one, those that are asked for side by side together. Threads
/// may share it, and are meant to.
pub struct BatcherHandle {
    batcher: Batcher,
    /// By the numbers of the batcher.
    keys: RwLock<BTreeMap<usize, Member>>,
    /// In another one, a fork, a lock may be held by a thread that it does not have.
    process: u32,
}

/// A key of a batcher. A call looks it up once, as it begins: then it is answered though the key is removed.
#[derive(Clone)]
struct Member {
    /// With the contents of its file.
    ready: Arc<Ready<PrivateKey>>,
    /// The batcher's copy.
    own: Arc<Key>,
}

/// The limits of a batcher. All 0, or no options at all, is a good choice.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct BatcherOptions {
    /// How many passes run at once, and as many again if they are full; 0 for as many as there are CPUs.
    pub passes: usize,
    /// How many requests wait at most, before threads wait for room; 0 for 4096.
    pub waiting: usize,
    /// How many microseconds a pass that is not full waits for more requests. 0, the default, waits for none: batches
    /// form by themselves.
    pub linger_us: u64,
}

/// Makes a batcher. keys: `count` private keys, numbered from 0; those of one size share passes. They may be freed
/// afterwards. With none of them, keys are added later. options: NULL for the defaults. batcher: gets the batcher, to
/// be freed with rsalab_batcher_free. After a fork, only the process that made it can use it.
///
/// Returns NULL, ARGUMENT, INTERNAL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_batcher_new(
    keys: *const *const PrivateKeyHandle,
    count: usize,
    options: *const BatcherOptions,
    batcher: *mut *mut BatcherHandle,
) -> Status {
    guard_with(memory::list(count), || {
        // SAFETY: callers promise it in the header.
        let (keys, options, out) = unsafe {
            let options = options.as_ref().copied().unwrap_or_default();
            let out = handle_out(batcher, "batcher")?;
            (keys_of(keys, count)?, options, out)
        };
        let mut builder = Batcher::builder();
        if options.passes > 0 {
            builder = builder.passes(options.passes);
        }
        if options.waiting > 0 {
            builder = builder.waiting(options.waiting);
        }
        if options.linger_us > 0 {
            builder = builder.linger(Duration::from_micros(options.linger_us));
        }
        let handle = BatcherHandle {
            batcher: builder.build()?,
            keys: RwLock::default(),
            process: process::id(),
        };
        handle.add(keys)?;
        out.put(&[Box::into_raw(Box::new(handle))]);
        Ok(())
    })
}

/// The keys of handles, which may be freed while these are used.
///
/// # Safety
///
/// As for [`array`], and each is NULL or refers to a key.
unsafe fn keys_of(keys: *const *const PrivateKeyHandle, count: usize) -> Result<Vec<Arc<Ready<PrivateKey>>>, Failure> {
    // SAFETY: the caller's promise.
    let given = unsafe { array(keys, count, "keys") }?.iter();
    given
        // SAFETY: the caller's promise.
        .map(|&key| Ok(Arc::clone(&unsafe { reference(key, "a key of keys") }?.key)))
        .collect()
}

/// Adds keys to a batcher, while threads use it: for a server that loads a certificate. They are prepared on this
/// thread, and nobody waits for that. Many are added by one call rather than one by one.
///
/// keys: `count` private keys, which may be freed afterwards. numbers: gets their numbers; a number is given once.
///
/// Returns FORKED, NULL, ARGUMENT, INTERNAL; no key is added then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_batcher_add(
    batcher: *const BatcherHandle,
    keys: *const *const PrivateKeyHandle,
    count: usize,
    numbers: *mut usize,
) -> Status {
    guard_with(memory::list(count), || {
        // SAFETY: callers promise it in the header.
        let (batcher, keys, out) = unsafe {
            (
                reference(batcher, "batcher")?,
                keys_of(keys, count)?,
                Out::new(numbers, count, "numbers")?,
            )
        };
        out.put(&batcher.add(keys)?);
        Ok(())
    })
}

/// Removes keys from a batcher, while threads use it. Calls that have begun with them are answered; the batcher's copy
/// is wiped with the last of these.
///
/// numbers: `count` numbers of keys. Returns ARGUMENT if one is unknown, FORKED, NULL, INTERNAL; no key is removed
/// then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_batcher_remove(
    batcher: *const BatcherHandle,
    numbers: *const usize,
    count: usize,
) -> Status {
    guard_with(memory::list(count), || {
        // SAFETY: callers promise it in the header.
        let (batcher, numbers) = unsafe { (reference(batcher, "batcher")?, array(numbers, count, "numbers")?) };
        batcher.remove(numbers)
    })
}

/// Frees a batcher. No thread may be in a call of it. NULL is nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_batcher_free(batcher: *mut BatcherHandle) {
    guard_free(|| {
        // SAFETY: callers promise it in the header.
        unsafe { free(batcher) };
    });
}

/// Signs one message. Blocks; the thread that calls may be one that computes for others too.
///
/// key: its number in the batcher. message, message_len: the message. signature: gets k = (bits + 7) / 8 bytes.
/// signature_len: room there, in bytes.
///
/// Returns BUFFER, ARGUMENT, SCHEME, RESTRICTED, RANDOMNESS, FAULT, FORKED, NULL, INTERNAL; nothing is written then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_batcher_sign_message(
    batcher: *const BatcherHandle,
    key: usize,
    scheme: *const SignatureParameters,
    message: *const u8,
    message_len: usize,
    signature: *mut u8,
    signature_len: usize,
) -> Status {
    guard(|| {
        // SAFETY: callers promise it in the header.
        let (batcher, scheme, message, out) = unsafe {
            (
                reference(batcher, "batcher")?,
                of_signature(scheme)?,
                array(message, message_len, "message")?,
                Out::new(signature, signature_len, "signature")?,
            )
        };
        let key = batcher.key(key)?;
        batcher.sign(&key, scheme, &scheme.hash().digest(message), out)
    })
}

/// As rsalab_batcher_sign_message, of a digest by the scheme's hash function. Returns LENGTH for a digest of another
/// length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_batcher_sign_digest(
    batcher: *const BatcherHandle,
    key: usize,
    scheme: *const SignatureParameters,
    digest: *const u8,
    digest_len: usize,
    signature: *mut u8,
    signature_len: usize,
) -> Status {
    guard(|| {
        // SAFETY: callers promise it in the header.
        let (batcher, scheme, digest, out) = unsafe {
            (
                reference(batcher, "batcher")?,
                of_signature(scheme)?,
                array(digest, digest_len, "digest")?,
                Out::new(signature, signature_len, "signature")?,
            )
        };
        let key = batcher.key(key)?;
        if let Some(failure) = wrong_digest(scheme.hash(), digest) {
            return Err(failure);
        }
        batcher.sign(&key, scheme, digest, out)
    })
}

/// Signs one blinded message, as rsalab_blind_sign does many: for issuers that are asked for one at a time. Blocks.
///
/// key: its number in the batcher. variant: an rsalab_blind_variant. blinded, blinded_len: the blinded message, of k =
/// (bits + 7) / 8 bytes. signature: gets k bytes. signature_len: room there, in bytes.
///
/// Returns LENGTH, RANGE, BUFFER, ARGUMENT, SCHEME, RESTRICTED, FAULT, FORKED, NULL, INTERNAL; nothing is written then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_batcher_blind_sign(
    batcher: *const BatcherHandle,
    key: usize,
    variant: u32,
    blinded: *const u8,
    blinded_len: usize,
    signature: *mut u8,
    signature_len: usize,
) -> Status {
    guard(|| {
        // SAFETY: callers promise it in the header.
        let (batcher, blinded, out) = unsafe {
            (
                reference(batcher, "batcher")?,
                array(blinded, blinded_len, "blinded")?,
                Out::new(signature, signature_len, "signature")?,
            )
        };
        let key = batcher.key(key)?;
        out.check(Some(key.ready.loaded.key.modulus_len()), "signature")?;
        check_issuer(&key.ready, variant)?;
        match batcher.batcher.private_with(&key.own, blinded) {
            Err(error @ Error::OutOfRange) => Err(Failure::new(Status::Range, error.to_string())),
            answer => {
                out.put(&answer?);
                Ok(())
            }
        }
    })
}

/// Decrypts one ciphertext. Blocks, as rsalab_batcher_sign_message does.
///
/// ciphertext, ciphertext_len: k = (bits + 7) / 8 bytes. message: where the message goes. *message_len: room there,
/// then the length of the message; k bytes are always enough. Wiping the message is the caller's. With PKCS#1 v1.5 bad
/// padding gives a pseudorandom message and OK (implicit rejection).
///
/// Returns DECRYPTION, BUFFER, ARGUMENT, SCHEME, RESTRICTED, RANDOMNESS, FAULT, FORKED, NULL, INTERNAL; no message is
/// written then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_batcher_decrypt(
    batcher: *const BatcherHandle,
    key: usize,
    scheme: *const EncryptionParameters,
    ciphertext: *const u8,
    ciphertext_len: usize,
    message: *mut u8,
    message_len: *mut usize,
) -> Status {
    guard(|| {
        // SAFETY: callers promise it in the header.
        let _memory = unsafe { label_memory(scheme) }?;
        // SAFETY: callers promise it in the header.
        let (batcher, scheme, ciphertext, out) = unsafe {
            (
                reference(batcher, "batcher")?,
                of_encryption(scheme)?,
                array(ciphertext, ciphertext_len, "ciphertext")?,
                Measured::new(message, message_len, "message_len")?,
            )
        };
        let key = batcher.key(key)?;
        let own = &key.ready.loaded;
        own.check(Purpose::Decrypt(Some(&scheme)))?;
        let unpadder = Unpadder::new(&own.key, &scheme)?;
        let mut block = match batcher.batcher.private_with(&key.own, ciphertext) {
            Err(Error::OutOfRange | Error::Length { .. }) => return Err(wrong_ciphertext()),
            block => block?,
        };
        let mut room = Zeroizing::new(vec![0; block.len()]);
        let place = unpadder.unpad(ciphertext, &mut block, &mut room);
        let place = place.ok_or_else(wrong_ciphertext)?;
        out.put(&block[place], "message")
    })
}

const NEVER: &str = "nothing panics under this lock";

impl BatcherHandle {
    fn check_fork(&self) -> Result<(), Failure> {
        match self.process == process::id() {
            true => Ok(()),
            false => Err(Error::Forked.into()),
        }
    }

    fn add(&self, keys: Vec<Arc<Ready<PrivateKey>>>) -> Result<Vec<usize>, Failure> {
        self.check_fork()?;
        let bits = keys.iter().map(|key| key.loaded.key.bits());
        let _memory = more_memory(memory::shared_keys(bits))?;
        let prepared: Vec<_> = keys.iter().map(|key| key.loaded.key.clone()).collect();
        let numbers = self.batcher.add(&prepared)?;
        let member = |(&number, ready)| {
            let own = self.batcher.key(number)?;
            Ok((number, Member { ready, own }))
        };
        let members = numbers.iter().zip(keys).map(member);
        let members = members.collect::<Result<Vec<_>, Error>>()?;
        self.keys.write().expect(NEVER).extend(members);
        Ok(numbers)
    }

    fn remove(&self, numbers: &[usize]) -> Result<(), Failure> {
        self.check_fork()?;
        let mut keys = self.keys.write().expect(NEVER);
        for &number in numbers {
            known(&keys, number)?;
        }
        let removed: Vec<_> = numbers.iter().map(|number| keys.remove(number)).collect();
        drop(keys);
        drop(removed);
        // Those that were here are there, and nobody else removes them.
        Ok(self.batcher.remove(numbers)?)
    }

    fn key(&self, number: usize) -> Result<Member, Failure> {
        self.check_fork()?;
        let keys = self.keys.read().expect(NEVER);
        Ok(known(&keys, number)?.clone())
    }

    fn sign(&self, key: &Member, scheme: SignatureScheme, digest: &[u8], out: Out<u8>) -> Result<(), Failure> {
        let own = &key.ready.loaded;
        out.check(Some(own.key.modulus_len()), "signature")?;
        own.check(Purpose::Sign(&scheme))?;
        let encoding = scheme.encode(own.key.bits(), digest, &mut SystemRng)?;
        let signature = self.batcher.private_with(&key.own, &encoding)?;
        out.put(&signature);
        Ok(())
    }
}

fn known(keys: &BTreeMap<usize, Member>, number: usize) -> Result<&Member, Error> {
    keys.get(&number).ok_or(Error::UnknownKey {
        key: number,
        keys: keys.len(),
    })
}

/// Requests that wait for a pass now; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_batcher_waiting(batcher: *const BatcherHandle) -> usize {
    // SAFETY: callers promise it in the header.
    guard_value(|| unsafe { reference(batcher, "batcher") }.map_or(0, |own| own.batcher.waiting()))
}

/// How many passes had i requests so far, for every i from 0 to the most that a pass has: a histogram. The sum of i *
/// passes[i] is the number of requests.
///
/// passes: where the numbers go; *count: room there, in numbers, then how many there are. With `passes` NULL their
/// number is asked for, and BUFFER returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_batcher_passes(
    batcher: *const BatcherHandle,
    passes: *mut u64,
    count: *mut usize,
) -> Status {
    guard(|| {
        // SAFETY: callers promise it in the header.
        let (batcher, out) = unsafe { (reference(batcher, "batcher")?, Measured::new(passes, count, "count")?) };
        out.put(batcher.batcher.statistics().passes(), "passes")
    })
}

/// How many requests waited for their pass to begin: number i counts those that waited below 2^i microseconds, and not
/// below half of that. One that was computed for at once is in number 0. Parameters are those of rsalab_batcher_passes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_batcher_waits(
    batcher: *const BatcherHandle,
    waits: *mut u64,
    count: *mut usize,
) -> Status {
    guard(|| {
        // SAFETY: callers promise it in the header.
        let (batcher, out) = unsafe { (reference(batcher, "batcher")?, Measured::new(waits, count, "count")?) };
        out.put(batcher.batcher.statistics().waits(), "waits")
    })
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use rsalab_rsa::{hash::Hash, signing::VerifyingKey};

    use super::*;
    use crate::{generate, key::rsalab_private_key_free};

    #[test]
    fn a_call_that_has_begun_is_answered_though_its_key_is_removed() {
        let key = PrivateKey::generate(1024).unwrap();
        let handle = generate::handle(key.clone());
        let mut batcher = ptr::null_mut();
        // SAFETY: pointers to what lives until the end of the block, and the handles are freed once.
        unsafe {
            let status = rsalab_batcher_new(&handle.cast_const(), 1, ptr::null(), &mut batcher);
            assert_eq!(status, Status::Ok);
            rsalab_private_key_free(handle);
        }
        // SAFETY: it was made above.
        let own = unsafe { reference(batcher.cast_const(), "batcher") }.unwrap();
        let begun = own.key(0).unwrap();
        own.remove(&[0]).unwrap();
        assert_eq!(own.key(0).map(drop).unwrap_err().status, Status::Argument);
        let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
        let mut signature = [0; 128];
        // SAFETY: so many bytes may be written.
        let out = unsafe { Out::new(signature.as_mut_ptr(), signature.len(), "signature") }.unwrap();
        let digest = Hash::Sha256.digest(b"message");
        own.sign(&begun, scheme, &digest, out).unwrap();
        let verifying = VerifyingKey::new(key.public(), scheme).unwrap();
        assert!(verifying.verify(b"message", &signature));
        // SAFETY: nobody uses it any more.
        unsafe { rsalab_batcher_free(batcher) };
    }
}
