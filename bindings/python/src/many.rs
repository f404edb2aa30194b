//! Functions on many messages.

use std::sync::Arc;

use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    types::{PyBytes, PyList},
};
use rsalab_rsa::{PrivateKey as Private, PublicKey as Public};

use crate::{
    arguments::{HashName, Threads},
    batches::{self, Messages},
    buffers::{Items, rows},
    padding::{EncryptionPadding, SignaturePadding},
    private::PrivateKey,
    public::PublicKey,
    ready::Ready,
    several,
};

/// Keys of a call: one for all items, or one for each.
enum Keys<K> {
    One(Arc<Ready<K>>),
    Each(Vec<Arc<Ready<K>>>),
}

impl<K> Keys<K> {
    /// Of a key, or of an iterable of as many keys as there are items.
    fn of(
        object: &Bound<'_, PyAny>,
        items: usize,
        key: impl Fn(&Bound<'_, PyAny>) -> PyResult<Option<Arc<Ready<K>>>>,
    ) -> PyResult<Self> {
        if let Some(one) = key(object)? {
            return Ok(Keys::One(one));
        }
        let no_key = || PyTypeError::new_err("a key must be one of rsalab, of the kind that this call needs");
        let each = object.try_iter().map_err(|_| no_key())?;
        let each = each.map(|object| key(&object?)?.ok_or_else(no_key));
        let each = each.collect::<PyResult<Vec<_>>>()?;
        batches::check_count("keys", each.len(), items)?;
        Ok(Keys::Each(each))
    }
}

fn private(object: &Bound<'_, PyAny>) -> PyResult<Option<Arc<Ready<Private>>>> {
    let key = object.cast::<PrivateKey>().ok();
    key.map(|key| key.get().ready()).transpose()
}

/// The public half of either kind of key.
fn public(object: &Bound<'_, PyAny>) -> PyResult<Option<Arc<Ready<Public>>>> {
    if let Ok(key) = object.cast::<PublicKey>() {
        return Ok(Some(key.get().ready()));
    }
    let key = object.cast::<PrivateKey>().ok();
    Ok(key.map(|key| key.get().public_half()))
}

/// One `bytes` object each.
fn list<'py>(py: Python<'py>, items: &[Vec<u8>]) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, items.iter().map(|item| PyBytes::new(py, item)))
}

/// Signs many messages, together in the lanes of the CPU. Returns a list of signatures, in order.
///
/// key: a PrivateKey; or an iterable of them, one for each message, of any sizes: those of one size share lanes.
/// messages: an iterable of bytes or other buffers; or one buffer of bytes with two dimensions, a message a row.
/// prehashed: they are digests by hash, of its length each.
/// padding, hash: as for PrivateKey.sign.
/// threads: how many compute, the caller among them; None for as many as this process may use CPUs.
///
/// The interpreter runs on meanwhile. Raises what PrivateKey.sign raises; there are no signatures then.
#[pyfunction]
#[pyo3(
    signature = (
        key, messages, padding=SignaturePadding::PSS, hash=HashName::SHA256, *, prehashed=false,
        threads=Threads::default()
    ),
    text_signature = "(key, messages, padding='pss', hash='sha256', *, prehashed=False, threads=None)"
)]
pub(crate) fn sign_many<'py>(
    py: Python<'py>,
    key: &Bound<'py, PyAny>,
    messages: &Bound<'py, PyAny>,
    padding: SignaturePadding,
    hash: HashName,
    prehashed: bool,
    threads: Threads,
) -> PyResult<Bound<'py, PyList>> {
    let messages = Items::of(messages, "messages")?;
    let messages = Messages {
        items: &messages.slices(),
        are_digests: prehashed,
    };
    let scheme = padding.scheme(hash);
    match Keys::of(key, messages.items.len(), private)? {
        Keys::One(key) => {
            let signatures = batches::sign(py, &key, scheme, messages, None, threads.0)?;
            rows(py, &signatures, key.loaded.key.modulus_len())
        }
        Keys::Each(keys) => list(py, &several::sign(py, &keys, scheme, messages, threads.0)?),
    }
}

/// Verifies many signatures, together in the lanes of the CPU. Returns a list of bool, in order: True where the
/// signature is that of its message.
///
/// key: a PublicKey or a PrivateKey; or an iterable of them, one for each message.
/// messages, signatures: as many of each, as messages of sign_many. Other arguments are those of sign_many.
///
/// Raises SchemeError, LengthError, RestrictedKeyError. A signature of another length is False.
#[pyfunction]
#[pyo3(
    signature = (
        key, messages, signatures, padding=SignaturePadding::PSS, hash=HashName::SHA256, *, prehashed=false,
        threads=Threads::default()
    ),
    text_signature = "(key, messages, signatures, padding='pss', hash='sha256', *, prehashed=False, threads=None)"
)]
#[allow(clippy::too_many_arguments, reason = "they have names in Python")]
pub(crate) fn verify_many<'py>(
    py: Python<'py>,
    key: &Bound<'py, PyAny>,
    messages: &Bound<'py, PyAny>,
    signatures: &Bound<'py, PyAny>,
    padding: SignaturePadding,
    hash: HashName,
    prehashed: bool,
    threads: Threads,
) -> PyResult<Bound<'py, PyList>> {
    let messages = Items::of(messages, "messages")?;
    let signatures = Items::of(signatures, "signatures")?;
    let messages = Messages {
        items: &messages.slices(),
        are_digests: prehashed,
    };
    let (scheme, signatures) = (padding.scheme(hash), signatures.slices());
    PyList::new(
        py,
        match Keys::of(key, messages.items.len(), public)? {
            Keys::One(key) => batches::verify(py, &key, scheme, messages, &signatures, threads.0)?,
            Keys::Each(keys) => several::verify(py, &keys, scheme, messages, &signatures, threads.0)?,
        },
    )
}

/// Screens many signatures under one key by products of all, which takes a quarter to a seventh of the time of
/// verify_many. Returns a list of bool, in order: True where the signature was accepted.
///
/// If all are accepted, the owner of the key has signed each of these messages at some time, or somebody can forge
/// signatures. It is not shown that each signature is that of its message: whoever has valid signatures can exchange,
/// negate or multiply them so that their product stays the same, and they pass. Take it where many messages are
/// accepted or refused as one, and verify_many where a signature is stored, passed on or argued about.
///
/// A valid signature is always accepted. Where the product is wrong, 256 at a time are screened, and each signature of
/// a part that does not pass is verified: that finds what is bad, unless it was made to cancel out.
///
/// key: a PublicKey or a PrivateKey. messages, signatures, hash, prehashed, threads: as for verify_many; a thread
/// screens up to 16384 at a time. The padding is that of PKCS#1 v1.5: nobody knows the encodings of PSS.
///
/// Raises SchemeError, LengthError, RestrictedKeyError. A signature of another length is False.
#[pyfunction]
#[pyo3(
    signature = (key, messages, signatures, hash=HashName::SHA256, *, prehashed=false, threads=Threads::default()),
    text_signature = "(key, messages, signatures, hash='sha256', *, prehashed=False, threads=None)"
)]
pub(crate) fn screen_many<'py>(
    py: Python<'py>,
    key: &Bound<'py, PyAny>,
    messages: &Bound<'py, PyAny>,
    signatures: &Bound<'py, PyAny>,
    hash: HashName,
    prehashed: bool,
    threads: Threads,
) -> PyResult<Bound<'py, PyList>> {
    let no_key = || PyTypeError::new_err("a key must be one of rsalab: a PublicKey or a PrivateKey");
    let key = public(key)?.ok_or_else(no_key)?;
    let messages = Items::of(messages, "messages")?;
    let signatures = Items::of(signatures, "signatures")?;
    let messages = Messages {
        items: &messages.slices(),
        are_digests: prehashed,
    };
    let signatures = signatures.slices();
    PyList::new(py, batches::screen(py, &key, hash.0, messages, &signatures, threads.0)?)
}

/// Encrypts many messages, together in the lanes of the CPU. Returns a list of ciphertexts, in order.
///
/// key: as for verify_many.
/// messages: as those of sign_many, each as short as PublicKey.encrypt takes it. padding: as for PublicKey.encrypt.
/// threads: as for sign_many.
///
/// Raises what PublicKey.encrypt raises; there are no ciphertexts then.
#[pyfunction]
#[pyo3(
    signature = (key, messages, padding=EncryptionPadding::oaep(), *, threads=Threads::default()),
    text_signature = "(key, messages, padding='oaep', *, threads=None)"
)]
pub(crate) fn encrypt_many<'py>(
    py: Python<'py>,
    key: &Bound<'py, PyAny>,
    messages: &Bound<'py, PyAny>,
    padding: EncryptionPadding,
    threads: Threads,
) -> PyResult<Bound<'py, PyList>> {
    let messages = Items::of(messages, "messages")?;
    let messages = messages.slices();
    match Keys::of(key, messages.len(), public)? {
        Keys::One(key) => {
            let ciphertexts = batches::encrypt(py, &key, &padding.0, &messages, None, threads.0)?;
            rows(py, &ciphertexts, key.loaded.key.modulus_len())
        }
        Keys::Each(keys) => list(py, &several::encrypt(py, &keys, &padding.0, &messages, threads.0)?),
    }
}

/// Decrypts many ciphertexts with one key, together in the lanes of the CPU. Returns a list, in order: the message, or
/// None where the ciphertext does not decrypt. It is not said why.
///
/// ciphertexts: as messages of sign_many. padding: as for PrivateKey.decrypt. threads: as for sign_many.
#[pyfunction]
#[pyo3(
    signature = (key, ciphertexts, padding=EncryptionPadding::oaep(), *, threads=Threads::default()),
    text_signature = "(key, ciphertexts, padding='oaep', *, threads=None)"
)]
pub(crate) fn decrypt_many<'py>(
    py: Python<'py>,
    key: &Bound<'py, PrivateKey>,
    ciphertexts: &Bound<'py, PyAny>,
    padding: EncryptionPadding,
    threads: Threads,
) -> PyResult<Bound<'py, PyList>> {
    let key = key.get().ready()?;
    let ciphertexts = Items::of(ciphertexts, "ciphertexts")?;
    let decrypted = batches::decrypt(py, &key, &padding.0, &ciphertexts.slices(), threads.0)?;
    PyList::new(
        py,
        decrypted
            .iter()
            .map(|message| message.map(|message| PyBytes::new(py, message))),
    )
}
