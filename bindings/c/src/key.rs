//! Keys: read, written, asked, freed.

use std::{ffi::c_char, sync::Arc};

use once_cell::race::OnceBox;
use rsalab_rsa::{
    Backend, BlockRunner, CpuBackend, Pooled, Prepared, PrivateKey, PublicKey,
    blind::token_key,
    format::{
        Annotations, Encoding, Limits, Loaded, PrivateFormat, PublicFormat, encode_encrypted_annotated,
        encode_private_annotated, encode_public_for, load_private_within, load_public_within,
    },
    random::SystemRng,
};

use crate::{
    memory,
    pointer::{Measured, Out, array, free, glance, handle_out, reference},
    status::{Failure, Status, guard, guard_free, guard_value, guard_with},
};

/// A private key with its public half. Does not change, so that threads may share it. Wiped when it is freed.
pub struct PrivateKeyHandle {
    pub(crate) key: Arc<Ready<PrivateKey>>,
}

/// A public key. Does not change, so that threads may share it.
pub struct PublicKeyHandle {
    pub(crate) key: Ready<PublicKey>,
}

/// A key of either kind.
pub(crate) trait Handle {
    fn bits(&self) -> usize;
}

impl Handle for PrivateKeyHandle {
    fn bits(&self) -> usize {
        self.key.loaded.key.bits()
    }
}

impl Handle for PublicKeyHandle {
    fn bits(&self) -> usize {
        self.key.loaded.key.bits()
    }
}

/// How much memory a call about so many items with a key takes at most.
///
/// # Safety
///
/// As for [`reference`].
pub(crate) unsafe fn memory_with<K: Handle>(key: *const K, count: usize) -> usize {
    // SAFETY: the caller's promise.
    memory::items(count, unsafe { glance(key, K::bits) })
}

/// How a private key is written.
#[repr(C)]
pub enum PrivateForm {
    /// PKCS#8 in PEM: "PRIVATE KEY", or with a password "ENCRYPTED PRIVATE KEY".
    Pkcs8Pem = 1,
    /// PKCS#8 in DER.
    Pkcs8Der = 2,
    /// PKCS#1 in PEM: "RSA PRIVATE KEY".
    Pkcs1Pem = 3,
    /// PKCS#1 in DER.
    Pkcs1Der = 4,
}

/// How a public key is written.
#[repr(C)]
pub enum PublicForm {
    /// SubjectPublicKeyInfo in PEM: "PUBLIC KEY".
    SpkiPem = 1,
    /// SubjectPublicKeyInfo in DER.
    SpkiDer = 2,
    /// PKCS#1 in PEM: "RSA PUBLIC KEY".
    Pkcs1Pem = 3,
    /// PKCS#1 in DER.
    Pkcs1Der = 4,
    /// SubjectPublicKeyInfo in DER as an issuer of tokens publishes its key (RFC 9578, 6.5): of RSASSA-PSS with SHA-384
    /// and a salt of 48 bytes.
    TokenDer = 5,
}

/// A key with what its file says of it, prepared for the arithmetic when it is first used.
pub(crate) struct Ready<K> {
    pub(crate) loaded: Loaded<K>,
    /// Threads that come first side by side prepare it each, and one of them is kept: nobody waits for another, who in
    /// a child of a fork may be a thread of the parent's.
    prepared: OnceBox<Pooled>,
}

impl<K> Ready<K> {
    /// Of so many bits.
    pub(crate) fn new(loaded: Loaded<K>, bits: usize) -> Self {
        memory::note(bits);
        Ready {
            loaded,
            prepared: OnceBox::new(),
        }
    }

    fn prepared_by(
        &self,
        prepare: impl FnOnce(&CpuBackend, &K) -> rsalab_rsa::Result<Box<dyn Prepared>>,
    ) -> Result<&Pooled, Failure> {
        let new = || prepare(&CpuBackend::auto(), &self.loaded.key).map(|prepared| Box::new(Pooled::new(prepared)));
        Ok(self.prepared.get_or_try_init(new)?)
    }
}

impl Ready<PrivateKey> {
    /// Does the private operation.
    pub(crate) fn runner(&self) -> Result<impl BlockRunner, Failure> {
        let prepared = self.prepared_by(|backend, key| backend.prepare_private(key))?;
        Ok(prepared.runner()?)
    }
}

impl Ready<PublicKey> {
    /// Does the public operation.
    pub(crate) fn runner(&self) -> Result<impl BlockRunner, Failure> {
        let prepared = self.prepared_by(|backend, key| backend.prepare_public(key))?;
        Ok(prepared.runner()?)
    }
}

/// A new handle, which the caller frees.
pub(crate) fn private_handle(loaded: Loaded<PrivateKey>) -> *mut PrivateKeyHandle {
    let bits = loaded.key.bits();
    Box::into_raw(Box::new(PrivateKeyHandle {
        key: Arc::new(Ready::new(loaded, bits)),
    }))
}

fn public_handle(loaded: Loaded<PublicKey>) -> *mut PublicKeyHandle {
    let bits = loaded.key.bits();
    Box::into_raw(Box::new(PublicKeyHandle {
        key: Ready::new(loaded, bits),
    }))
}

/// The longest modulus that is ever read.
const MOST_BITS: usize = Limits::NONE.most_bits;

pub(crate) fn limits(most_bits: usize) -> Result<Limits, Failure> {
    match most_bits {
        0 => Ok(Limits::QUICK),
        most_bits if most_bits <= MOST_BITS => Ok(Limits { most_bits }),
        _ => Err(Failure::new(
            Status::Argument,
            format!("most_bits is {most_bits}, and may be {MOST_BITS} at most"),
        )),
    }
}

/// A password, if there is one.
///
/// # Safety
///
/// `password` is NULL, or refers to `len` bytes.
pub(crate) unsafe fn password_of<'a>(password: *const u8, len: usize) -> Result<Option<&'a [u8]>, Failure> {
    match password.is_null() && len == 0 {
        true => Ok(None),
        // SAFETY: the caller's promise.
        false => unsafe { array(password, len, "password") }.map(Some),
    }
}

/// Reads a private key: PKCS#1 or PKCS#8, in DER or PEM, encrypted or not (PBES2), a JSON Web Key, or OpenSSH's own
/// format. Which it is is found out. All relations between its numbers are checked; that its primes are prime is not.
///
/// bytes, len: the file, at most 1 MiB. password: for an encrypted one, else NULL; it is not kept. most_bits: a longer
/// modulus is refused before anything is computed with it; 0 for 8192, at most 16384. key: gets the key, to be freed
/// with rsalab_private_key_free.
///
/// Returns KEY, UNSUPPORTED, PASSWORD_MISSING, PASSWORD_WRONG, NULL; ARGUMENT if most_bits is more than 16384.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_private_key_read(
    bytes: *const u8,
    len: usize,
    password: *const c_char,
    password_len: usize,
    most_bits: usize,
    key: *mut *mut PrivateKeyHandle,
) -> Status {
    guard_with(memory::file(len, !password.is_null()), || {
        // SAFETY: callers promise it in the header.
        let (bytes, password, out) = unsafe {
            (
                array(bytes, len, "bytes")?,
                password_of(password.cast(), password_len)?,
                handle_out(key, "key")?,
            )
        };
        let loaded = load_private_within(bytes, password, limits(most_bits)?)?;
        out.put(&[private_handle(loaded)]);
        Ok(())
    })
}

/// Reads a public key: PKCS#1 or SubjectPublicKeyInfo, in DER or PEM, a JSON Web Key, or a line of OpenSSH's
/// authorized_keys; or takes it out of an X.509 certificate, which is not verified, or of a private key. Parameters are
/// those of rsalab_private_key_read; free with rsalab_public_key_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_public_key_read(
    bytes: *const u8,
    len: usize,
    password: *const c_char,
    password_len: usize,
    most_bits: usize,
    key: *mut *mut PublicKeyHandle,
) -> Status {
    guard_with(memory::file(len, !password.is_null()), || {
        // SAFETY: callers promise it in the header.
        let (bytes, password, out) = unsafe {
            (
                array(bytes, len, "bytes")?,
                password_of(password.cast(), password_len)?,
                handle_out(key, "key")?,
            )
        };
        let loaded = load_public_within(bytes, password, limits(most_bits)?)?;
        out.put(&[public_handle(loaded)]);
        Ok(())
    })
}

/// The public half of a private key, to be freed with rsalab_public_key_free; it may outlive the private key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_private_key_public(
    key: *const PrivateKeyHandle,
    public_key: *mut *mut PublicKeyHandle,
) -> Status {
    guard(|| {
        // SAFETY: callers promise it in the header.
        let (key, out) = unsafe { (reference(key, "key")?, handle_out(public_key, "public_key")?) };
        let own = &key.key.loaded;
        out.put(&[public_handle(Loaded {
            key: own.key.public().clone(),
            usage: own.usage.clone(),
            restrictions: own.restrictions.clone(),
            // The attributes are those of the private half.
            annotations: Annotations::default(),
            content: own.content,
            encryption: own.encryption.clone(),
        })]);
        Ok(())
    })
}

/// Frees a private key and wipes it. Batchers that were made with it keep what they need. NULL is nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_private_key_free(key: *mut PrivateKeyHandle) {
    guard_free(|| {
        // SAFETY: callers promise it in the header.
        unsafe { free(key) };
    });
}

/// Frees a public key. NULL is nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_public_key_free(key: *mut PublicKeyHandle) {
    guard_free(|| {
        // SAFETY: callers promise it in the header.
        unsafe { free(key) };
    });
}

/// Bits of the modulus; 0 for NULL. The modulus, a signature and a ciphertext take (bits + 7) / 8 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_private_key_bits(key: *const PrivateKeyHandle) -> usize {
    // SAFETY: callers promise it in the header.
    guard_value(|| unsafe { glance(key, Handle::bits) })
}

/// Bits of the modulus; 0 for NULL. The modulus, a signature and a ciphertext take (bits + 7) / 8 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_public_key_bits(key: *const PublicKeyHandle) -> usize {
    // SAFETY: callers promise it in the header.
    guard_value(|| unsafe { glance(key, Handle::bits) })
}

/// Copies the modulus, big-endian, (bits + 7) / 8 bytes. *len: room in `modulus`, then bytes needed. Returns BUFFER if
/// there are fewer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_public_key_modulus(
    key: *const PublicKeyHandle,
    modulus: *mut u8,
    len: *mut usize,
) -> Status {
    guard(|| {
        // SAFETY: callers promise it in the header.
        let (key, out) = unsafe { (reference(key, "key")?, Measured::new(modulus, len, "modulus")?) };
        out.put(key.key.loaded.key.n(), "modulus")
    })
}

/// Copies the public exponent, big-endian without leading zeros. *len: room in `exponent`, then bytes needed. Returns
/// BUFFER if there are fewer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_public_key_exponent(
    key: *const PublicKeyHandle,
    exponent: *mut u8,
    len: *mut usize,
) -> Status {
    guard(|| {
        // SAFETY: callers promise it in the header.
        let (key, out) = unsafe { (reference(key, "key")?, Measured::new(exponent, len, "exponent")?) };
        out.put(key.key.loaded.key.e(), "exponent")
    })
}

/// Writes a private key, byte for byte as OpenSSL does; PEM is not terminated by a zero.
///
/// format: an rsalab_private_format. password: NULL, or what encrypts it (PKCS#8 only; PBES2 with scrypt and
/// AES-256-CBC). *len: room in `bytes`, then bytes needed; with `bytes` NULL the length is asked for, and BUFFER
/// returned. Wiping what was written is the caller's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_private_key_write(
    key: *const PrivateKeyHandle,
    format: u32,
    password: *const c_char,
    password_len: usize,
    bytes: *mut u8,
    len: *mut usize,
) -> Status {
    guard_with(memory::file(0, !password.is_null()), || {
        // SAFETY: callers promise it in the header.
        let (key, password, out) = unsafe {
            (
                reference(key, "key")?,
                password_of(password.cast(), password_len)?,
                Measured::new(bytes, len, "len")?,
            )
        };
        let (structure, encoding) = match format {
            x if x == PrivateForm::Pkcs8Pem as u32 => (PrivateFormat::Pkcs8, Encoding::Pem),
            x if x == PrivateForm::Pkcs8Der as u32 => (PrivateFormat::Pkcs8, Encoding::Der),
            x if x == PrivateForm::Pkcs1Pem as u32 => (PrivateFormat::Pkcs1, Encoding::Pem),
            x if x == PrivateForm::Pkcs1Der as u32 => (PrivateFormat::Pkcs1, Encoding::Der),
            _ => return Err(no_format(format)),
        };
        let own = &key.key.loaded;
        let written = match password {
            None => encode_private_annotated(&own.key, &own.usage, &own.annotations, structure, encoding)?,
            Some(_) if structure == PrivateFormat::Pkcs1 => {
                return Err(Failure::new(Status::Argument, "PKCS#1 takes no password; take PKCS#8"));
            }
            Some(password) => encode_encrypted_annotated(
                &own.key,
                &own.usage,
                &own.annotations,
                password,
                encoding,
                &mut SystemRng,
            )?,
        };
        out.put(&written, "bytes")
    })
}

/// Writes a public key. format: an rsalab_public_format. *len: room in `bytes`, then bytes needed; with `bytes` NULL
/// the length is asked for, and BUFFER returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_public_key_write(
    key: *const PublicKeyHandle,
    format: u32,
    bytes: *mut u8,
    len: *mut usize,
) -> Status {
    guard(|| {
        // SAFETY: callers promise it in the header.
        let (key, out) = unsafe { (reference(key, "key")?, Measured::new(bytes, len, "len")?) };
        if format == PublicForm::TokenDer as u32 {
            return out.put(&token_key(&key.key.loaded.key), "bytes");
        }
        let (structure, encoding) = match format {
            x if x == PublicForm::SpkiPem as u32 => (PublicFormat::Spki, Encoding::Pem),
            x if x == PublicForm::SpkiDer as u32 => (PublicFormat::Spki, Encoding::Der),
            x if x == PublicForm::Pkcs1Pem as u32 => (PublicFormat::Pkcs1, Encoding::Pem),
            x if x == PublicForm::Pkcs1Der as u32 => (PublicFormat::Pkcs1, Encoding::Der),
            _ => return Err(no_format(format)),
        };
        let own = &key.key.loaded;
        let written = encode_public_for(&own.key, &own.usage, structure, encoding)?;
        out.put(&written, "bytes")
    })
}

fn no_format(format: u32) -> Failure {
    Failure::new(Status::Argument, format!("{format} is no format of a key"))
}

/// Memory for handles.
pub(crate) type KeysOut = Out<*mut PrivateKeyHandle>;
