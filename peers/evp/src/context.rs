//! `EVP_PKEY_CTX`, owned: one operation with one key, for one thread.

use std::{
    ffi::{CStr, CString},
    ptr,
};

use rsalab_engines::EngineError;

use crate::{
    count,
    key::{KIND_RSA, Key},
    library::Libcrypto,
    owned::Owned,
    table::PkeyCtx,
};

/// An operation made ready.
pub(crate) struct Context<'a>(Owned<'a, PkeyCtx>);

/// One of the operations on a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockOperation {
    /// `EVP_PKEY_decrypt`: `c^d mod n`.
    Decrypt,
    /// `EVP_PKEY_encrypt`: `m^e mod n`.
    Encrypt,
}

impl BlockOperation {
    /// The function that does it.
    pub(crate) fn call(self) -> &'static str {
        match self {
            Self::Decrypt => "EVP_PKEY_decrypt",
            Self::Encrypt => "EVP_PKEY_encrypt",
        }
    }
}

impl<'a> Context<'a> {
    /// For blocks without padding. The context keeps the key alive by itself.
    pub(crate) fn for_blocks(
        library: &'a Libcrypto,
        key: &Key<'_>,
        operation: BlockOperation,
    ) -> Result<Self, EngineError> {
        let context = Self::of_key(library, key)?;
        let (call, initialise) = match operation {
            BlockOperation::Decrypt => ("EVP_PKEY_decrypt_init", library.table.EVP_PKEY_decrypt_init),
            BlockOperation::Encrypt => ("EVP_PKEY_encrypt_init", library.table.EVP_PKEY_encrypt_init),
        };
        // SAFETY: the context is live and exclusively ours.
        library.done(call, unsafe { initialise(context.0.as_ptr()) })?;
        context.set(c"rsa_padding_mode", c"none")?;
        Ok(context)
    }

    /// For PKCS#1 v1.5 signatures of SHA-256 digests: to make them, or else to verify them.
    pub(crate) fn for_signatures(library: &'a Libcrypto, key: &Key<'_>, makes: bool) -> Result<Self, EngineError> {
        let context = Self::of_key(library, key)?;
        let (call, initialise) = match makes {
            true => ("EVP_PKEY_sign_init", library.table.EVP_PKEY_sign_init),
            false => ("EVP_PKEY_verify_init", library.table.EVP_PKEY_verify_init),
        };
        // SAFETY: the context is live and exclusively ours.
        library.done(call, unsafe { initialise(context.0.as_ptr()) })?;
        context.set(c"rsa_padding_mode", c"pkcs1")?;
        context.set(c"digest", c"SHA256")?;
        Ok(context)
    }

    fn of_key(library: &'a Libcrypto, key: &Key<'_>) -> Result<Self, EngineError> {
        let table = &library.table;
        // SAFETY: the key is live; no engine. What it returns is ours to free and holds its own reference to the key.
        unsafe {
            let raw = (table.EVP_PKEY_CTX_new)(key.as_ptr(), ptr::null_mut());
            Owned::new(library, "EVP_PKEY_CTX_new", raw, table.EVP_PKEY_CTX_free).map(Self)
        }
    }

    /// For the generation of keys; the progress is counted by [`count`].
    pub(crate) fn for_keygen(library: &'a Libcrypto, bits: usize, exponent: u64) -> Result<Self, EngineError> {
        let table = &library.table;
        // SAFETY: no engine. What it returns is ours to free.
        let context = unsafe {
            let raw = (table.EVP_PKEY_CTX_new_id)(KIND_RSA, ptr::null_mut());
            Owned::new(library, "EVP_PKEY_CTX_new_id", raw, table.EVP_PKEY_CTX_free).map(Self)
        }?;
        // SAFETY: the context is live and exclusively ours.
        library.done("EVP_PKEY_keygen_init", unsafe {
            (library.table.EVP_PKEY_keygen_init)(context.0.as_ptr())
        })?;
        context.set(c"rsa_keygen_bits", &decimal(bits))?;
        context.set(c"rsa_keygen_pubexp", &decimal(exponent))?;
        // SAFETY: the context is live; the callback is a function, and asks for nothing that could have gone.
        unsafe { (library.table.EVP_PKEY_CTX_set_cb)(context.0.as_ptr(), Some(count::keygen_event)) };
        Ok(context)
    }

    /// Does the operation on one block. The output must have the modulus's length, and is filled exactly.
    pub(crate) fn apply(
        &mut self,
        operation: BlockOperation,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), EngineError> {
        let function = match operation {
            BlockOperation::Decrypt => self.0.library.table.EVP_PKEY_decrypt,
            BlockOperation::Encrypt => self.0.library.table.EVP_PKEY_encrypt,
        };
        let mut written = output.len();
        // SAFETY: the context is live, exclusively borrowed and was made for this operation; the input is readable and
        // the output writable for the lengths given, which the library checks against the modulus before it writes.
        let code = unsafe {
            function(
                self.0.as_ptr(),
                output.as_mut_ptr(),
                &mut written,
                input.as_ptr(),
                input.len(),
            )
        };
        self.0.library.done(operation.call(), code)?;
        is_whole("a block from the library", output, written)
    }

    /// Signs one digest. The signature must have the modulus's length, and is filled exactly.
    pub(crate) fn sign(&mut self, digest: &[u8], signature: &mut [u8]) -> Result<(), EngineError> {
        let mut written = signature.len();
        // SAFETY: the context is live, exclusively borrowed and was made for signing; the digest is readable and the
        // signature writable for the lengths given, which the library checks before it writes.
        let code = unsafe {
            (self.0.library.table.EVP_PKEY_sign)(
                self.0.as_ptr(),
                signature.as_mut_ptr(),
                &mut written,
                digest.as_ptr(),
                digest.len(),
            )
        };
        self.0.library.done("EVP_PKEY_sign", code)?;
        is_whole("a signature from the library", signature, written)
    }

    /// Returns whether a signature is the digest's.
    pub(crate) fn verify(&mut self, digest: &[u8], signature: &[u8]) -> bool {
        // SAFETY: the context is live, exclusively borrowed and was made for verifying; digest and signature are
        // readable for the lengths given.
        let code = unsafe {
            (self.0.library.table.EVP_PKEY_verify)(
                self.0.as_ptr(),
                signature.as_ptr(),
                signature.len(),
                digest.as_ptr(),
                digest.len(),
            )
        };
        // Whatever is wrong with a signature is said by 0 or by a negative number, and why in the queue of errors.
        if code != 1 {
            self.0.library.forget_errors();
        }
        code == 1
    }

    /// Generates one key.
    pub(crate) fn generate(&mut self) -> Result<Key<'a>, EngineError> {
        const CALL: &str = "EVP_PKEY_keygen";
        let mut raw = ptr::null_mut();
        // SAFETY: the context is live, exclusively borrowed and was made for key generation; a null key asks for a new
        // one.
        let code = unsafe { (self.0.library.table.EVP_PKEY_keygen)(self.0.as_ptr(), &mut raw) };
        // SAFETY: a key that the call left was made for us.
        let key = unsafe { Key::from_raw(self.0.library, CALL, raw) }?;
        self.0.library.done(CALL, code).map(|()| key)
    }

    fn set(&self, name: &CStr, value: &CStr) -> Result<(), EngineError> {
        // SAFETY: the context is live and exclusively ours; both strings end with NUL and are copied.
        self.0.library.done("EVP_PKEY_CTX_ctrl_str", unsafe {
            (self.0.library.table.EVP_PKEY_CTX_ctrl_str)(self.0.as_ptr(), name.as_ptr(), value.as_ptr())
        })
    }
}

fn decimal(number: impl ToString) -> CString {
    CString::new(number.to_string()).expect("digits hold no NUL")
}

/// Returns whether the library wrote as many bytes as the output has.
fn is_whole(what: &'static str, output: &[u8], written: usize) -> Result<(), EngineError> {
    match written == output.len() {
        true => Ok(()),
        false => Err(EngineError::Length {
            what,
            expected: output.len(),
            got: written,
        }),
    }
}
