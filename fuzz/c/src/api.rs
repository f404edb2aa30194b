//! The entry points of the C library that are called here, as `bindings/c/include/rsalab.h` declares them.

use std::ffi::{CStr, c_char, c_int};

/// A private key.
#[repr(C)]
pub(crate) struct PrivateKey([u8; 0]);
/// A public key.
#[repr(C)]
pub(crate) struct PublicKey([u8; 0]);
/// A batcher.
#[repr(C)]
pub(crate) struct Batcher([u8; 0]);
/// The state of a blind signature.
#[repr(C)]
pub(crate) struct BlindState([u8; 0]);

/// `rsalab_bytes`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Bytes {
    pub(crate) data: *const u8,
    pub(crate) len: usize,
}

impl Bytes {
    pub(crate) fn of(bytes: &[u8]) -> Bytes {
        Bytes {
            data: bytes.as_ptr(),
            len: bytes.len(),
        }
    }
}

/// `rsalab_signature_scheme`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct SignatureScheme {
    pub(crate) padding: u32,
    pub(crate) hash: u32,
    pub(crate) mgf_hash: u32,
    pub(crate) salt_len: i32,
}

/// `rsalab_encryption_scheme`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct EncryptionScheme {
    pub(crate) padding: u32,
    pub(crate) hash: u32,
    pub(crate) mgf_hash: u32,
    pub(crate) label: Bytes,
}

/// `rsalab_batcher_options`.
#[repr(C)]
pub(crate) struct BatcherOptions {
    pub(crate) passes: usize,
    pub(crate) waiting: usize,
    pub(crate) linger_us: u64,
}

/// Links the library.
use rsalab as _;

unsafe extern "C" {
    pub(crate) fn rsalab_private_key_read(
        bytes: *const u8,
        len: usize,
        password: *const c_char,
        password_len: usize,
        most_bits: usize,
        key: *mut *mut PrivateKey,
    ) -> c_int;
    pub(crate) fn rsalab_public_key_read(
        bytes: *const u8,
        len: usize,
        password: *const c_char,
        password_len: usize,
        most_bits: usize,
        key: *mut *mut PublicKey,
    ) -> c_int;
    pub(crate) fn rsalab_private_keys_read(
        files: *const Bytes,
        count: usize,
        password: *const c_char,
        password_len: usize,
        most_bits: usize,
        rounds: usize,
        threads: usize,
        keys: *mut *mut PrivateKey,
        statuses: *mut c_int,
    ) -> c_int;
    pub(crate) fn rsalab_private_keys_generate(
        bits: usize,
        exponent: u64,
        threads: usize,
        keys: *mut *mut PrivateKey,
        count: usize,
    ) -> c_int;
    pub(crate) fn rsalab_private_key_public(key: *const PrivateKey, public_key: *mut *mut PublicKey) -> c_int;
    pub(crate) fn rsalab_private_key_free(key: *mut PrivateKey);
    pub(crate) fn rsalab_public_key_free(key: *mut PublicKey);
    pub(crate) fn rsalab_private_key_bits(key: *const PrivateKey) -> usize;
    pub(crate) fn rsalab_public_key_bits(key: *const PublicKey) -> usize;
    pub(crate) fn rsalab_public_key_modulus(key: *const PublicKey, modulus: *mut u8, len: *mut usize) -> c_int;
    pub(crate) fn rsalab_public_key_exponent(key: *const PublicKey, exponent: *mut u8, len: *mut usize) -> c_int;
    pub(crate) fn rsalab_private_key_write(
        key: *const PrivateKey,
        format: u32,
        password: *const c_char,
        password_len: usize,
        bytes: *mut u8,
        len: *mut usize,
    ) -> c_int;
    pub(crate) fn rsalab_public_key_write(key: *const PublicKey, format: u32, bytes: *mut u8, len: *mut usize)
    -> c_int;
    pub(crate) fn rsalab_sign_messages(
        key: *const PrivateKey,
        scheme: *const SignatureScheme,
        messages: *const Bytes,
        count: usize,
        signatures: *mut u8,
        signatures_len: usize,
        statuses: *mut c_int,
    ) -> c_int;
    pub(crate) fn rsalab_sign_digests(
        key: *const PrivateKey,
        scheme: *const SignatureScheme,
        digests: *const Bytes,
        count: usize,
        signatures: *mut u8,
        signatures_len: usize,
        statuses: *mut c_int,
    ) -> c_int;
    pub(crate) fn rsalab_verify_messages(
        key: *const PublicKey,
        scheme: *const SignatureScheme,
        messages: *const Bytes,
        signatures: *const Bytes,
        count: usize,
        statuses: *mut c_int,
    ) -> c_int;
    pub(crate) fn rsalab_verify_digests(
        key: *const PublicKey,
        scheme: *const SignatureScheme,
        digests: *const Bytes,
        signatures: *const Bytes,
        count: usize,
        statuses: *mut c_int,
    ) -> c_int;
    pub(crate) fn rsalab_encrypt_max_len(key: *const PublicKey, scheme: *const EncryptionScheme) -> usize;
    pub(crate) fn rsalab_encrypt(
        key: *const PublicKey,
        scheme: *const EncryptionScheme,
        messages: *const Bytes,
        count: usize,
        ciphertexts: *mut u8,
        ciphertexts_len: usize,
        statuses: *mut c_int,
    ) -> c_int;
    pub(crate) fn rsalab_decrypt(
        key: *const PrivateKey,
        scheme: *const EncryptionScheme,
        ciphertexts: *const Bytes,
        count: usize,
        messages: *mut u8,
        messages_len: usize,
        lens: *mut usize,
        statuses: *mut c_int,
    ) -> c_int;
    pub(crate) fn rsalab_blind(
        key: *const PublicKey,
        variant: u32,
        messages: *const Bytes,
        count: usize,
        blinded: *mut u8,
        blinded_len: usize,
        states: *mut *mut BlindState,
    ) -> c_int;
    pub(crate) fn rsalab_blind_sign(
        key: *const PrivateKey,
        variant: u32,
        blinded: *const Bytes,
        count: usize,
        signatures: *mut u8,
        signatures_len: usize,
        statuses: *mut c_int,
    ) -> c_int;
    pub(crate) fn rsalab_blind_finalize(
        key: *const PublicKey,
        variant: u32,
        messages: *const Bytes,
        states: *const *const BlindState,
        blind_signatures: *const Bytes,
        count: usize,
        signatures: *mut u8,
        signatures_len: usize,
        statuses: *mut c_int,
    ) -> c_int;
    pub(crate) fn rsalab_blind_verify(
        key: *const PublicKey,
        variant: u32,
        prefixes: *const Bytes,
        messages: *const Bytes,
        signatures: *const Bytes,
        count: usize,
        statuses: *mut c_int,
    ) -> c_int;
    pub(crate) fn rsalab_blind_state_prefix(state: *const BlindState, prefix: *mut u8, len: *mut usize) -> c_int;
    pub(crate) fn rsalab_blind_state_write(state: *const BlindState, bytes: *mut u8, len: *mut usize) -> c_int;
    pub(crate) fn rsalab_blind_state_read(
        key: *const PublicKey,
        bytes: *const u8,
        len: usize,
        state: *mut *mut BlindState,
    ) -> c_int;
    pub(crate) fn rsalab_blind_state_free(state: *mut BlindState);
    pub(crate) fn rsalab_batcher_new(
        keys: *const *const PrivateKey,
        count: usize,
        options: *const BatcherOptions,
        batcher: *mut *mut Batcher,
    ) -> c_int;
    pub(crate) fn rsalab_batcher_add(
        batcher: *const Batcher,
        keys: *const *const PrivateKey,
        count: usize,
        numbers: *mut usize,
    ) -> c_int;
    pub(crate) fn rsalab_batcher_remove(batcher: *const Batcher, numbers: *const usize, count: usize) -> c_int;
    pub(crate) fn rsalab_batcher_free(batcher: *mut Batcher);
    pub(crate) fn rsalab_batcher_sign_message(
        batcher: *const Batcher,
        key: usize,
        scheme: *const SignatureScheme,
        message: *const u8,
        message_len: usize,
        signature: *mut u8,
        signature_len: usize,
    ) -> c_int;
    pub(crate) fn rsalab_batcher_sign_digest(
        batcher: *const Batcher,
        key: usize,
        scheme: *const SignatureScheme,
        digest: *const u8,
        digest_len: usize,
        signature: *mut u8,
        signature_len: usize,
    ) -> c_int;
    pub(crate) fn rsalab_batcher_blind_sign(
        batcher: *const Batcher,
        key: usize,
        variant: u32,
        blinded: *const u8,
        blinded_len: usize,
        signature: *mut u8,
        signature_len: usize,
    ) -> c_int;
    pub(crate) fn rsalab_batcher_decrypt(
        batcher: *const Batcher,
        key: usize,
        scheme: *const EncryptionScheme,
        ciphertext: *const u8,
        ciphertext_len: usize,
        message: *mut u8,
        message_len: *mut usize,
    ) -> c_int;
    pub(crate) fn rsalab_batcher_waiting(batcher: *const Batcher) -> usize;
    pub(crate) fn rsalab_batcher_passes(batcher: *const Batcher, passes: *mut u64, count: *mut usize) -> c_int;
    pub(crate) fn rsalab_batcher_waits(batcher: *const Batcher, waits: *mut u64, count: *mut usize) -> c_int;
    pub(crate) safe fn rsalab_status_text(status: c_int) -> *const c_char;
    pub(crate) safe fn rsalab_last_error() -> *const c_char;
}

pub(crate) const OK: c_int = 0;
pub(crate) const ITEMS: c_int = 1;
pub(crate) const BUFFER: c_int = 4;

/// The statuses that no argument may lead to: a panic, or a machine that fails.
const NEVER: [(c_int, &str); 5] = [
    (14, "FAULT"),
    (15, "RANDOMNESS"),
    (16, "FORKED"),
    (17, "INTERNAL"),
    (19, "MEMORY"),
];

/// The status of a call, which must be one that arguments lead to; one that is not OK has a text.
pub(crate) fn checked(status: c_int) -> c_int {
    assert!((0..20).contains(&status), "there is no status {status}");
    let text = |text: *const c_char| {
        // SAFETY: the header says that texts are strings of C, and live until the next call at least.
        unsafe { CStr::from_ptr(text) }.to_str().expect("texts are UTF-8")
    };
    if let Some((_, name)) = NEVER.iter().find(|(never, _)| *never == status) {
        panic!("{name}: {}", text(rsalab_last_error()));
    }
    assert!(!text(rsalab_status_text(status)).is_empty());
    assert!(status == OK || !text(rsalab_last_error()).is_empty());
    status
}
