//! Exceptions. Their classes are Python's, in `rsalab/errors.py`.

use pyo3::{PyErr, Python, import_exception};
use rsalab_rsa::Error;

import_exception!(rsalab.errors, ArgumentError);
import_exception!(rsalab.errors, ClosedError);
import_exception!(rsalab.errors, DecryptionError);
import_exception!(rsalab.errors, ExtraMissingError);
import_exception!(rsalab.errors, FaultError);
import_exception!(rsalab.errors, ForkedError);
import_exception!(rsalab.errors, InternalError);
import_exception!(rsalab.errors, InvalidKeyError);
import_exception!(rsalab.errors, InvalidSignature);
import_exception!(rsalab.errors, LengthError);
import_exception!(rsalab.errors, PasswordMissingError);
import_exception!(rsalab.errors, PasswordWrongError);
import_exception!(rsalab.errors, RandomnessError);
import_exception!(rsalab.errors, RestrictedKeyError);
import_exception!(rsalab.errors, SchemeError);
import_exception!(rsalab.errors, UnsupportedKeyError);

/// Imports the classes.
pub(crate) fn import(py: Python<'_>) {
    py.get_type::<ArgumentError>();
    py.get_type::<ClosedError>();
    py.get_type::<DecryptionError>();
    py.get_type::<ExtraMissingError>();
    py.get_type::<FaultError>();
    py.get_type::<ForkedError>();
    py.get_type::<InternalError>();
    py.get_type::<InvalidKeyError>();
    py.get_type::<InvalidSignature>();
    py.get_type::<LengthError>();
    py.get_type::<PasswordMissingError>();
    py.get_type::<PasswordWrongError>();
    py.get_type::<RandomnessError>();
    py.get_type::<RestrictedKeyError>();
    py.get_type::<SchemeError>();
    py.get_type::<UnsupportedKeyError>();
}

/// The exception of an error, whose sentences repeat nothing of what a file holds.
pub(crate) fn raised(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::InvalidKey { .. } | Error::KeySize { .. } | Error::Format { .. } | Error::Several { .. } => {
            InvalidKeyError::new_err(text)
        }
        Error::Unsupported { .. } => UnsupportedKeyError::new_err(text),
        Error::PasswordMissing => PasswordMissingError::new_err(text),
        Error::PasswordWrong => PasswordWrongError::new_err(text),
        Error::Restricted { .. } => RestrictedKeyError::new_err(text),
        Error::Scheme { .. } => SchemeError::new_err(text),
        Error::Length { .. } => LengthError::new_err(text),
        Error::Fault { .. } => FaultError::new_err(text),
        Error::Randomness { .. } => RandomnessError::new_err(text),
        Error::Generation { .. } => ArgumentError::new_err(text),
        _ => InternalError::new_err(text),
    }
}
