//! Public keys.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use pyo3::{
    prelude::*,
    types::{PyBytes, PyInt},
};
use rsalab_rsa::{
    PublicKey as Key,
    format::{self, Encoding, Loaded, PublicFormat, encode_public_for, jwk, openssh},
};

use crate::{
    arguments::HashName,
    batches::{self, Messages},
    buffers::Bytes,
    errors::{ArgumentError, InvalidSignature, raised},
    interop,
    padding::{EncryptionPadding, SignaturePadding},
    ready::Ready,
};

/// A public key. Made by rsalab.load_public_key, and by PrivateKey.public_key.
///
/// It does not change, and threads may share it. Keys with the same numbers are equal.
#[pyclass(frozen, module = "rsalab", weakref)]
pub(crate) struct PublicKey(Arc<Ready<Key>>);

impl PublicKey {
    pub(crate) fn of_file(loaded: Loaded<Key>) -> Self {
        PublicKey(Arc::new(Ready::new(loaded)))
    }

    pub(crate) fn shared(ready: Arc<Ready<Key>>) -> Self {
        PublicKey(ready)
    }

    pub(crate) fn ready(&self) -> Arc<Ready<Key>> {
        Arc::clone(&self.0)
    }

    fn key(&self) -> &Key {
        &self.0.loaded.key
    }

    fn written<'py>(&self, py: Python<'py>, format: &str, encoding: Encoding) -> PyResult<Bound<'py, PyBytes>> {
        let structure = match format {
            "spki" => PublicFormat::Spki,
            "pkcs1" => PublicFormat::Pkcs1,
            _ => {
                return Err(ArgumentError::new_err(
                    "the format of a public key is 'spki' or 'pkcs1'",
                ));
            }
        };
        let written = encode_public_for(self.key(), &self.0.loaded.usage, structure, encoding);
        Ok(PyBytes::new(py, &written.map_err(raised)?))
    }
}

/// An integer of Python.
pub(crate) fn number<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    py.get_type::<PyInt>()
        .call_method1("from_bytes", (PyBytes::new(py, bytes), "big"))
}

/// Bytes in hexadecimal.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[pymethods]
impl PublicKey {
    /// Bits of the modulus.
    #[getter]
    fn bits(&self) -> usize {
        self.key().bits()
    }

    /// The modulus.
    #[getter]
    fn n<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        number(py, self.key().n())
    }

    /// The public exponent.
    #[getter]
    fn e<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        number(py, self.key().e())
    }

    /// Bytes of the modulus, of a signature and of a ciphertext.
    #[getter]
    fn size(&self) -> usize {
        self.key().modulus_len()
    }

    /// The name of the key: SHA-256 of its SubjectPublicKeyInfo, in hexadecimal.
    #[getter]
    fn fingerprint(&self) -> String {
        hexadecimal(&format::fingerprint(self.key()))
    }

    /// Returns if the signature is that of the data, or with prehashed of the digest. Arguments are those of
    /// PrivateKey.sign; a PSS padding with the salt length "auto" takes any.
    ///
    /// Raises InvalidSignature if it is not, whatever is wrong with it.
    #[pyo3(
        signature = (signature, data, padding=SignaturePadding::PSS, hash=HashName::SHA256, *, prehashed=false),
        text_signature = "($self, signature, data, padding='pss', hash='sha256', *, prehashed=False)"
    )]
    fn verify(
        &self,
        py: Python<'_>,
        signature: &Bound<'_, PyAny>,
        data: &Bound<'_, PyAny>,
        padding: SignaturePadding,
        hash: HashName,
        prehashed: bool,
    ) -> PyResult<()> {
        let signature = Bytes::of(signature, "the signature")?;
        let data = Bytes::of(data, "the data")?;
        let messages = Messages {
            items: &[data.as_ref()],
            are_digests: prehashed,
        };
        let scheme = padding.scheme(hash);
        match batches::verify(py, &self.0, scheme, messages, &[signature.as_ref()], 1)?[..] {
            [true] => Ok(()),
            _ => Err(InvalidSignature::new_err("the signature is not that of the data")),
        }
    }

    /// Encrypts one message. Returns size bytes.
    ///
    /// padding: "oaep" (SHA-256), "pkcs1v15", rsalab.OAEP or rsalab.PKCS1v15.
    ///
    /// Raises SchemeError for a message that is too long, and for a key that is too short; RestrictedKeyError.
    #[pyo3(
        signature = (plaintext, padding=EncryptionPadding::oaep()),
        text_signature = "($self, plaintext, padding='oaep')"
    )]
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        plaintext: &Bound<'py, PyAny>,
        padding: EncryptionPadding,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let plaintext = Bytes::of(plaintext, "the plaintext")?;
        let ciphertext = batches::encrypt(py, &self.0, &padding.0, &[plaintext.as_ref()], None, 1)?;
        Ok(PyBytes::new(py, &ciphertext))
    }

    /// The key in PEM. format: "spki" or "pkcs1".
    #[pyo3(signature = (*, format="spki"))]
    fn to_pem<'py>(&self, py: Python<'py>, format: &str) -> PyResult<Bound<'py, PyBytes>> {
        self.written(py, format, Encoding::Pem)
    }

    /// The key in DER. format: "spki" or "pkcs1".
    #[pyo3(signature = (*, format="spki"))]
    fn to_der<'py>(&self, py: Python<'py>, format: &str) -> PyResult<Bound<'py, PyBytes>> {
        self.written(py, format, Encoding::Der)
    }

    /// The key as a JSON Web Key: text, on one line.
    fn to_jwk(&self) -> String {
        let own = &self.0.loaded;
        jwk::public(&own.key, &own.restrictions, &own.annotations)
    }

    /// The key as a line of authorized_keys, without its end.
    #[pyo3(signature = (comment=""))]
    fn to_openssh<'py>(&self, py: Python<'py>, comment: &str) -> Bound<'py, PyBytes> {
        PyBytes::new(py, openssh::public(self.key(), comment).as_bytes())
    }

    /// The key as an object of the package cryptography.
    fn to_cryptography<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let own = &self.0.loaded;
        let der = encode_public_for(&own.key, &own.usage, PublicFormat::Spki, Encoding::Der).map_err(raised)?;
        interop::public_to_cryptography(py, &der)
    }

    /// A key of the package cryptography.
    #[staticmethod]
    fn from_cryptography(key: &Bound<'_, PyAny>) -> PyResult<PublicKey> {
        interop::public_from_cryptography(key).map(PublicKey::of_file)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other
            .cast::<PublicKey>()
            .is_ok_and(|other| other.get().key() == self.key())
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.key().hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        format!("<rsalab.PublicKey of {} bits>", self.bits())
    }
}
