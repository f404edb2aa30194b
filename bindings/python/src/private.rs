//! Private keys.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::{
    prelude::*,
    types::{PyBytes, PyString, PyTuple},
};
use rsalab_rsa::{
    PrivateKey as Key,
    format::{
        self, Encoding, Loaded, PrivateFormat, encode_encrypted_annotated, encode_private_annotated, jwk, openssh,
    },
    primality::{ROUNDS, ROUNDS_BEFORE_USE},
    random::SystemRng,
};
use zeroize::Zeroizing;

use crate::{
    arguments::{HashName, Rounds},
    batches::{self, Messages},
    buffers::{Bytes, password},
    errors::{ArgumentError, ClosedError, DecryptionError, raised},
    interop,
    padding::{EncryptionPadding, SignaturePadding},
    parallel,
    public::{PublicKey, number},
    ready::Ready,
};

/// A private key with its public half. Made by rsalab.generate, rsalab.load_private_key and others.
///
/// It does not change, and threads may share it. It is wiped from memory with the last reference to it, or when it is
/// closed; a with statement closes it. It cannot be pickled or copied.
#[pyclass(frozen, module = "rsalab", weakref)]
pub(crate) struct PrivateKey {
    /// None once it is closed. Locked for a look alone, by threads that are attached to the interpreter.
    key: Mutex<Option<Arc<Ready<Key>>>>,
    public: Arc<Ready<rsalab_rsa::PublicKey>>,
}

impl PrivateKey {
    pub(crate) fn new(ready: Ready<Key>) -> Self {
        PrivateKey {
            public: Arc::new(ready.public()),
            key: Mutex::new(Some(Arc::new(ready))),
        }
    }

    pub(crate) fn of_file(loaded: Loaded<Key>) -> Self {
        PrivateKey::new(Ready::new(loaded))
    }

    /// The key, unless it is closed.
    pub(crate) fn ready(&self) -> PyResult<Arc<Ready<Key>>> {
        let key = self.key.lock().unwrap_or_else(PoisonError::into_inner);
        key.clone()
            .ok_or_else(|| ClosedError::new_err("this private key is closed"))
    }

    pub(crate) fn public_half(&self) -> Arc<Ready<rsalab_rsa::PublicKey>> {
        Arc::clone(&self.public)
    }

    /// Tests the primes, as many rounds at a time as fill the lanes of a kernel: in between somebody looks for signals.
    pub(crate) fn check_rounds(&self, py: Python<'_>, rounds: usize) -> PyResult<()> {
        let key = self.ready()?;
        // With no rounds there is trial division.
        let parts = rounds.div_ceil(ROUNDS_BEFORE_USE).max(1);
        let parts = (0..parts).map(|part| (rounds - part * ROUNDS_BEFORE_USE).min(ROUNDS_BEFORE_USE));
        let work = |(): &mut (), rounds| key.loaded.key.check_primes(rounds, &mut SystemRng);
        parallel::run(py, parts, 1, || Ok(()), work)
    }

    /// The key as a file in DER, unencrypted.
    pub(crate) fn pkcs8(&self) -> PyResult<Zeroizing<Vec<u8>>> {
        let ready = self.ready()?;
        let own = &ready.loaded;
        encode_private_annotated(
            &own.key,
            &own.usage,
            &own.annotations,
            PrivateFormat::Pkcs8,
            Encoding::Der,
        )
        .map_err(raised)
    }

    fn written<'py>(
        &self,
        py: Python<'py>,
        given: Option<&Bound<'py, PyAny>>,
        format: &str,
        encoding: Encoding,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let structure = match format {
            "pkcs8" => PrivateFormat::Pkcs8,
            "pkcs1" => PrivateFormat::Pkcs1,
            _ => {
                return Err(ArgumentError::new_err(
                    "the format of a private key is 'pkcs8' or 'pkcs1'",
                ));
            }
        };
        let ready = self.ready()?;
        let own = &ready.loaded;
        let given = password(given)?;
        let written = match &given {
            None => encode_private_annotated(&own.key, &own.usage, &own.annotations, structure, encoding),
            Some(_) if structure == PrivateFormat::Pkcs1 => {
                return Err(ArgumentError::new_err("PKCS #1 takes no password; take 'pkcs8'"));
            }
            Some(given) => {
                let given = given.as_ref();
                py.detach(|| {
                    let (key, usage, annotations) = (&own.key, &own.usage, &own.annotations);
                    encode_encrypted_annotated(key, usage, annotations, given, encoding, &mut SystemRng)
                })
            }
        };
        Ok(PyBytes::new(py, &written.map_err(raised)?))
    }
}

#[pymethods]
impl PrivateKey {
    /// Bits of the modulus.
    #[getter]
    fn bits(&self) -> usize {
        self.public.loaded.key.bits()
    }

    /// The public exponent.
    #[getter]
    fn e<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        number(py, self.public.loaded.key.e())
    }

    /// The modulus.
    #[getter]
    fn n<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        number(py, self.public.loaded.key.n())
    }

    /// Bytes of the modulus, of a signature and of a ciphertext.
    #[getter]
    fn size(&self) -> usize {
        self.public.loaded.key.modulus_len()
    }

    /// How many primes it has, 2 to 5.
    #[getter]
    fn primes(&self) -> PyResult<usize> {
        Ok(self.ready()?.loaded.key.primes())
    }

    /// The name of the key: SHA-256 of its SubjectPublicKeyInfo, in hexadecimal.
    #[getter]
    fn fingerprint(&self) -> String {
        crate::public::hexadecimal(&format::fingerprint(&self.public.loaded.key))
    }

    /// The public half.
    fn public_key(&self) -> PublicKey {
        PublicKey::shared(self.public_half())
    }

    /// Signs one message, or with prehashed its digest. Returns size bytes.
    ///
    /// padding: "pss" (a salt as long as the digest), "pkcs1v15", rsalab.PSS or rsalab.PKCS1v15.
    /// hash: a name out of rsalab.hashes, or an object with such a name.
    ///
    /// Raises SchemeError for a padding or hash that does not suit the key, and for SHA-1; LengthError for a digest of
    /// another length; RestrictedKeyError; FaultError for a result that failed its check and is withheld.
    #[pyo3(
        signature = (data, padding=SignaturePadding::PSS, hash=HashName::SHA256, *, prehashed=false),
        text_signature = "($self, data, padding='pss', hash='sha256', *, prehashed=False)"
    )]
    fn sign<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        padding: SignaturePadding,
        hash: HashName,
        prehashed: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let key = self.ready()?;
        let data = Bytes::of(data, "the data")?;
        let messages = Messages {
            items: &[data.as_ref()],
            are_digests: prehashed,
        };
        let signature = batches::sign(py, &key, padding.scheme(hash), messages, None, 1)?;
        Ok(PyBytes::new(py, &signature))
    }

    /// Decrypts one ciphertext.
    ///
    /// padding: "oaep" (SHA-256), "pkcs1v15", rsalab.OAEP or rsalab.PKCS1v15. With PKCS #1 v1.5 a wrong ciphertext
    /// gives a pseudorandom message.
    ///
    /// Raises DecryptionError, without saying why it does not decrypt.
    #[pyo3(
        signature = (ciphertext, padding=EncryptionPadding::oaep()),
        text_signature = "($self, ciphertext, padding='oaep')"
    )]
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        ciphertext: &Bound<'py, PyAny>,
        padding: EncryptionPadding,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let key = self.ready()?;
        let ciphertext = Bytes::of(ciphertext, "the ciphertext")?;
        let decrypted = batches::decrypt(py, &key, &padding.0, &[ciphertext.as_ref()], 1)?;
        match decrypted.iter().next().flatten() {
            Some(message) => Ok(PyBytes::new(py, message)),
            None => Err(DecryptionError::new_err("the ciphertext does not decrypt")),
        }
    }

    /// Tests the primes, with so many rounds of the Miller–Rabin test with random bases. A composite that somebody
    /// chose passes one in four; 64 rounds are beyond doubt, and 1024 the most.
    ///
    /// Raises InvalidKeyError, ArgumentError.
    #[pyo3(signature = (rounds=Rounds(ROUNDS)), text_signature = "($self, rounds=64)")]
    fn check(&self, py: Python<'_>, rounds: Rounds) -> PyResult<()> {
        self.check_rounds(py, rounds.0)
    }

    /// The key in PEM. format: "pkcs8" or "pkcs1". password: what encrypts it (PKCS #8 only; PBES2 with scrypt and
    /// AES-256-CBC).
    #[pyo3(signature = (password=None, *, format="pkcs8"))]
    fn to_pem<'py>(
        &self,
        py: Python<'py>,
        password: Option<&Bound<'py, PyAny>>,
        format: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.written(py, password, format, Encoding::Pem)
    }

    /// The key in DER; arguments are those of to_pem.
    #[pyo3(signature = (password=None, *, format="pkcs8"))]
    fn to_der<'py>(
        &self,
        py: Python<'py>,
        password: Option<&Bound<'py, PyAny>>,
        format: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.written(py, password, format, Encoding::Der)
    }

    /// The key as a JSON Web Key: text, on one line.
    fn to_jwk<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        let ready = self.ready()?;
        let own = &ready.loaded;
        let text = jwk::private(&own.key, &own.restrictions, &own.annotations);
        Ok(PyString::new(py, &text))
    }

    /// The key in OpenSSH's own format, unencrypted.
    #[pyo3(signature = (comment=""))]
    fn to_openssh<'py>(&self, py: Python<'py>, comment: &str) -> PyResult<Bound<'py, PyBytes>> {
        let ready = self.ready()?;
        let text = openssh::private(&ready.loaded.key, comment).map_err(raised)?;
        Ok(PyBytes::new(py, text.as_bytes()))
    }

    /// The key as an object of the package cryptography, which does not test its primes again from its version 39 on.
    fn to_cryptography<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        interop::private_to_cryptography(py, &self.pkcs8()?)
    }

    /// A key of the package cryptography. The relations between its numbers are checked. Its primes are tested with
    /// so many rounds: by default with none, since cryptography tests them, unless its caller skips that.
    #[staticmethod]
    #[pyo3(signature = (key, *, rounds=Rounds(0)), text_signature = "(key, *, rounds=0)")]
    fn from_cryptography(py: Python<'_>, key: &Bound<'_, PyAny>, rounds: Rounds) -> PyResult<PrivateKey> {
        let own = PrivateKey::of_file(interop::private_from_cryptography(key)?);
        if rounds.0 > 0 {
            own.check_rounds(py, rounds.0)?;
        }
        Ok(own)
    }

    /// Forgets the private half. Calls that are under way end as they would have; others raise ClosedError.
    fn close(&self) {
        self.key.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// True once it is closed.
    #[getter]
    fn closed(&self) -> bool {
        self.key.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    fn __enter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        slf.get().ready()?;
        Ok(slf)
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) {
        self.close();
    }

    fn __repr__(&self) -> String {
        let closed = if self.closed() { ", closed" } else { "" };
        format!("<rsalab.PrivateKey of {} bits{closed}>", self.bits())
    }
}
