//! Paddings: classes, and the short names of those that nearly everybody takes.

use pyo3::{exceptions::PyTypeError, prelude::*, types::PyString};
use rsalab_rsa::{
    hash::Hash,
    scheme::{EncryptionScheme, Oaep as OaepParameters, Pss as PssParameters, SaltLen, SignatureScheme},
};

use crate::{
    arguments::HashName,
    buffers::Bytes,
    errors::{ArgumentError, raised},
};

/// PKCS #1 v1.5 padding: RSASSA-PKCS1-v1_5 for signatures, RSAES-PKCS1-v1_5 for encryption.
///
/// Decryption never says that a padding is bad: a wrong ciphertext of the right length gives a pseudorandom message
/// (implicit rejection).
#[pyclass(frozen, eq, hash, module = "rsalab", name = "PKCS1v15")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Pkcs1v15;

#[pymethods]
impl Pkcs1v15 {
    #[new]
    fn new() -> Self {
        Pkcs1v15
    }

    fn __repr__(&self) -> &'static str {
        "PKCS1v15()"
    }
}

/// RSASSA-PSS, for signatures.
///
/// salt_length: bytes of the salt; or "digest", as many as the digest has; or "max", as many as the key allows; or
/// "auto", any, to verify only.
/// mgf_hash: the hash of the mask, by default that of the message.
#[pyclass(frozen, eq, hash, module = "rsalab", name = "PSS")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Pss {
    salt_len: SaltLen,
    mgf_hash: Option<Hash>,
}

/// RSAES-OAEP, for encryption.
///
/// hash: the hash of the label. mgf_hash: the hash of the mask, by default the same. label: bytes that both sides know.
#[pyclass(frozen, eq, hash, module = "rsalab", name = "OAEP")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Oaep(OaepParameters);

/// A length of salt: a name, or bytes.
struct Salt(SaltLen);

impl<'py> FromPyObject<'_, 'py> for Salt {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(name) = object.cast::<PyString>() {
            return match name.to_str()? {
                "digest" => Ok(Salt(SaltLen::Digest)),
                "max" => Ok(Salt(SaltLen::Max)),
                "auto" => Ok(Salt(SaltLen::Any)),
                _ => Err(ArgumentError::new_err(
                    "salt_length is a number of bytes, 'digest', 'max' or 'auto'",
                )),
            };
        }
        let bytes = object
            .call_method0("__index__")
            .map_err(|_| PyTypeError::new_err("salt_length is an integer, or one of 'digest', 'max' and 'auto'"))?;
        let bytes: Result<u16, _> = bytes.extract();
        let bytes = bytes.map_err(|_| ArgumentError::new_err("salt_length is from 0 to 65535 bytes"))?;
        Ok(Salt(SaltLen::Bytes(bytes.into())))
    }
}

#[pymethods]
impl Pss {
    #[new]
    #[pyo3(
        signature = (salt_length=Salt(SaltLen::Digest), *, mgf_hash=None),
        text_signature = "(salt_length='digest', *, mgf_hash=None)"
    )]
    fn new(salt_length: Salt, mgf_hash: Option<HashName>) -> Self {
        Pss {
            salt_len: salt_length.0,
            mgf_hash: mgf_hash.map(|HashName(hash)| hash),
        }
    }

    /// Bytes of the salt, or "digest", "max" or "auto".
    #[getter]
    fn salt_length<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.salt_len {
            SaltLen::Bytes(bytes) => Ok(bytes.into_pyobject(py)?.into_any()),
            SaltLen::Max => Ok("max".into_pyobject(py)?.into_any()),
            SaltLen::Any | SaltLen::AtLeast(_) => Ok("auto".into_pyobject(py)?.into_any()),
            SaltLen::Digest => Ok("digest".into_pyobject(py)?.into_any()),
        }
    }

    /// The hash of the mask; None for that of the message.
    #[getter]
    fn mgf_hash(&self) -> Option<&'static str> {
        self.mgf_hash.map(Hash::name)
    }

    fn __repr__(&self) -> String {
        let salt = match self.salt_len {
            SaltLen::Bytes(bytes) => bytes.to_string(),
            SaltLen::Max => "'max'".to_owned(),
            SaltLen::Any | SaltLen::AtLeast(_) => "'auto'".to_owned(),
            SaltLen::Digest => "'digest'".to_owned(),
        };
        match self.mgf_hash {
            None => format!("PSS({salt})"),
            Some(hash) => format!("PSS({salt}, mgf_hash='{hash}')"),
        }
    }
}

#[pymethods]
impl Oaep {
    #[new]
    #[pyo3(
        signature = (hash=HashName::SHA256, *, mgf_hash=None, label=None),
        text_signature = "(hash='sha256', *, mgf_hash=None, label=None)"
    )]
    fn new(hash: HashName, mgf_hash: Option<HashName>, label: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let label = label.map(|label| Bytes::of(label, "the label")).transpose()?;
        let own = OaepParameters {
            hash: hash.0,
            mgf_hash: mgf_hash.map_or(hash.0, |HashName(hash)| hash),
            label: label.map(|label| label.as_ref().to_vec()).unwrap_or_default(),
        };
        EncryptionScheme::Oaep(own.clone()).check_functions().map_err(raised)?;
        Ok(Oaep(own))
    }

    /// The hash of the label.
    #[getter]
    fn hash(&self) -> &'static str {
        self.0.hash.name()
    }

    /// The hash of the mask.
    #[getter]
    fn mgf_hash(&self) -> &'static str {
        self.0.mgf_hash.name()
    }

    /// The label.
    #[getter]
    fn label(&self) -> &[u8] {
        &self.0.label
    }

    fn __repr__(&self) -> String {
        let label = match self.0.label.len() {
            0 => String::new(),
            len => format!(", label=<{len} bytes>"),
        };
        format!("OAEP('{}', mgf_hash='{}'{label})", self.0.hash, self.0.mgf_hash)
    }
}

/// The padding of a signature, as an argument.
pub(crate) enum SignaturePadding {
    Pkcs1v15,
    Pss(Pss),
}

impl SignaturePadding {
    /// PSS with a salt as long as the digest.
    pub(crate) const PSS: SignaturePadding = SignaturePadding::Pss(Pss {
        salt_len: SaltLen::Digest,
        mgf_hash: None,
    });

    /// With the hash of the message.
    pub(crate) fn scheme(&self, hash: HashName) -> SignatureScheme {
        let HashName(hash) = hash;
        match self {
            SignaturePadding::Pkcs1v15 => SignatureScheme::Pkcs1v15(hash),
            SignaturePadding::Pss(pss) => SignatureScheme::Pss(PssParameters {
                hash,
                mgf_hash: pss.mgf_hash.unwrap_or(hash),
                salt_len: pss.salt_len,
            }),
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for SignaturePadding {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(name) = object.cast::<PyString>() {
            return match name.to_str()? {
                "pkcs1v15" => Ok(SignaturePadding::Pkcs1v15),
                "pss" => Ok(SignaturePadding::PSS),
                _ => Err(ArgumentError::new_err(
                    "the padding of a signature is 'pss' or 'pkcs1v15'",
                )),
            };
        }
        if object.is_instance_of::<Pkcs1v15>() {
            return Ok(SignaturePadding::Pkcs1v15);
        }
        match object.cast::<Pss>() {
            Ok(pss) => Ok(SignaturePadding::Pss(pss.get().clone())),
            Err(_) => Err(PyTypeError::new_err(
                "the padding of a signature is 'pss', 'pkcs1v15', rsalab.PSS or rsalab.PKCS1v15",
            )),
        }
    }
}

/// The padding of an encryption, as an argument.
pub(crate) struct EncryptionPadding(pub(crate) EncryptionScheme);

impl EncryptionPadding {
    /// OAEP with SHA-256.
    pub(crate) fn oaep() -> EncryptionPadding {
        EncryptionPadding(EncryptionScheme::Oaep(OaepParameters::new(Hash::Sha256)))
    }
}

impl<'py> FromPyObject<'_, 'py> for EncryptionPadding {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(name) = object.cast::<PyString>() {
            return match name.to_str()? {
                "pkcs1v15" => Ok(EncryptionPadding(EncryptionScheme::Pkcs1v15)),
                "oaep" => Ok(EncryptionPadding::oaep()),
                _ => Err(ArgumentError::new_err(
                    "the padding of an encryption is 'oaep' or 'pkcs1v15'",
                )),
            };
        }
        if object.is_instance_of::<Pkcs1v15>() {
            return Ok(EncryptionPadding(EncryptionScheme::Pkcs1v15));
        }
        match object.cast::<Oaep>() {
            Ok(oaep) => Ok(EncryptionPadding(EncryptionScheme::Oaep(oaep.get().0.clone()))),
            Err(_) => Err(PyTypeError::new_err(
                "the padding of an encryption is 'oaep', 'pkcs1v15', rsalab.OAEP or rsalab.PKCS1v15",
            )),
        }
    }
}
