//! Bytes out of Python's objects.

use pyo3::{
    buffer::{PyBuffer, PyUntypedBuffer},
    exceptions::PyTypeError,
    prelude::*,
    types::{PyBytes, PyList, PyString},
};
use zeroize::Zeroizing;

/// The bytes of one object.
pub(crate) enum Bytes<'py> {
    /// Where they lie: nobody can change them.
    InPlace(Bound<'py, PyBytes>),
    /// A copy, which is wiped.
    Copied(Zeroizing<Vec<u8>>),
}

impl<'py> Bytes<'py> {
    /// Of an object with the buffer protocol.
    ///
    /// # Errors
    ///
    /// `TypeError` for another object; nothing of it is repeated.
    pub(crate) fn of(object: &Bound<'py, PyAny>, what: &str) -> PyResult<Self> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Bytes::InPlace(bytes.clone()));
        }
        if object.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err(format!(
                "{what} must be bytes or another buffer, not str; encode it"
            )));
        }
        let no_buffer = |_| {
            let name = object.get_type().name();
            let name = name.map_or_else(|_| String::new(), |name| format!(", not {name}"));
            PyTypeError::new_err(format!("{what} must be bytes or another buffer of bytes{name}"))
        };
        let buffer = PyBuffer::<u8>::get(object).map_err(no_buffer)?;
        Ok(Bytes::Copied(Zeroizing::new(buffer.to_vec(object.py())?)))
    }
}

impl AsRef<[u8]> for Bytes<'_> {
    fn as_ref(&self) -> &[u8] {
        match self {
            Bytes::InPlace(bytes) => bytes.as_bytes(),
            Bytes::Copied(bytes) => bytes,
        }
    }
}

/// The bytes of many items.
pub(crate) enum Items<'py> {
    Each(Vec<Bytes<'py>>),
    /// Rows of one buffer, of `stride` bytes each, which is not 0.
    Rows {
        bytes: Zeroizing<Vec<u8>>,
        stride: usize,
    },
}

impl<'py> Items<'py> {
    /// Of an iterable of objects with the buffer protocol, or of the rows of one buffer with two dimensions.
    ///
    /// # Errors
    ///
    /// `TypeError` for another object, and what the iterable raises.
    pub(crate) fn of(object: &Bound<'py, PyAny>, what: &str) -> PyResult<Self> {
        let buffer = PyUntypedBuffer::get(object).ok();
        let is_other = |buffer: &PyUntypedBuffer| match buffer.dimensions() {
            0 | 1 => buffer.item_size() == 1,
            dimensions => dimensions > 2,
        };
        if buffer.as_ref().is_some_and(is_other) || object.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err(format!(
                "{what} must be a list, or a buffer with two dimensions, not the bytes of one"
            )));
        }
        if let Some(buffer) = buffer.filter(|buffer| buffer.dimensions() == 2) {
            let stride = buffer.shape()[1];
            let no_bytes = |_| PyTypeError::new_err(format!("{what} must be a buffer of bytes"));
            let buffer = buffer.into_typed::<u8>().map_err(no_bytes)?;
            let bytes = Zeroizing::new(buffer.to_vec(object.py())?);
            return match stride {
                0 => Ok(Items::Each(
                    (0..buffer.shape()[0])
                        .map(|_| Bytes::Copied(Zeroizing::default()))
                        .collect(),
                )),
                stride => Ok(Items::Rows { bytes, stride }),
            };
        }
        let each = object.try_iter()?.map(|item| Bytes::of(&item?, what));
        Ok(Items::Each(each.collect::<PyResult<_>>()?))
    }

    /// The bytes of each.
    pub(crate) fn slices(&self) -> Vec<&[u8]> {
        match self {
            Items::Each(items) => items.iter().map(AsRef::as_ref).collect(),
            Items::Rows { bytes, stride } => bytes.chunks_exact(*stride).collect(),
        }
    }
}

/// A password, if there is one.
pub(crate) fn password<'py>(object: Option<&Bound<'py, PyAny>>) -> PyResult<Option<Bytes<'py>>> {
    object.map(|object| Bytes::of(object, "the password")).transpose()
}

/// One `bytes` object a row.
pub(crate) fn rows<'py>(py: Python<'py>, bytes: &[u8], stride: usize) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, bytes.chunks_exact(stride).map(|row| PyBytes::new(py, row)))
}
