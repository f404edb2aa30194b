//! Keys of and for the package `cryptography`, which is imported when it is asked for.

use pyo3::{
    exceptions::{PyModuleNotFoundError, PyTypeError},
    prelude::*,
    types::{PyBytes, PyDict},
};
use rsalab_rsa::{
    PrivateKey, PublicKey,
    format::{Loaded, load_private, load_public},
};

use crate::{
    buffers::Bytes,
    errors::{ExtraMissingError, raised},
};

fn serialization(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    let module = py.import("cryptography.hazmat.primitives.serialization");
    module.map_err(|error| match error.is_instance_of::<PyModuleNotFoundError>(py) {
        true => ExtraMissingError::new_err("this needs the package cryptography: pip install 'rsalab[cryptography]'"),
        false => error,
    })
}

/// A private key of `cryptography`, out of PKCS#8 in DER that was checked.
pub(crate) fn private_to_cryptography<'py>(py: Python<'py>, der: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let options = PyDict::new(py);
    options.set_item("unsafe_skip_rsa_key_validation", true)?;
    let load = serialization(py)?.getattr("load_der_private_key")?;
    let der = PyBytes::new(py, der);
    match load.call((der.clone(), py.None()), Some(&options)) {
        // Versions before 39, such as that of Debian 12, have no such option, and test the primes of every key.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => load.call1((der, py.None())),
        loaded => loaded,
    }
}

/// A public key of `cryptography`.
pub(crate) fn public_to_cryptography<'py>(py: Python<'py>, der: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    serialization(py)?
        .getattr("load_der_public_key")?
        .call1((PyBytes::new(py, der),))
}

/// The key in an object of `cryptography`, whose primes are not tested here.
pub(crate) fn private_from_cryptography(key: &Bound<'_, PyAny>) -> PyResult<Loaded<PrivateKey>> {
    let py = key.py();
    let names = serialization(py)?;
    let der = names.getattr("Encoding")?.getattr("DER")?;
    let pkcs8 = names.getattr("PrivateFormat")?.getattr("PKCS8")?;
    let plain = names.getattr("NoEncryption")?.call0()?;
    let write = key.getattr("private_bytes").map_err(|_| no_key("private"))?;
    let der = Bytes::of(&write.call1((der, pkcs8, plain))?, "the key")?;
    load_private(der.as_ref(), None).map_err(raised)
}

/// The key in an object of `cryptography`.
pub(crate) fn public_from_cryptography(key: &Bound<'_, PyAny>) -> PyResult<Loaded<PublicKey>> {
    let py = key.py();
    let names = serialization(py)?;
    let der = names.getattr("Encoding")?.getattr("DER")?;
    let spki = names.getattr("PublicFormat")?.getattr("SubjectPublicKeyInfo")?;
    let write = key.getattr("public_bytes").map_err(|_| no_key("public"))?;
    let der = Bytes::of(&write.call1((der, spki))?, "the key")?;
    load_public(der.as_ref(), None).map_err(raised)
}

fn no_key(half: &str) -> PyErr {
    PyTypeError::new_err(format!("this is no {half} key of the package cryptography"))
}
