//! Hash functions, numbers of threads and of rounds, as Python names them.

use std::{num::NonZero, thread};

use pyo3::{exceptions::PyTypeError, prelude::*, types::PyString};
use rsalab_rsa::hash::Hash;

use crate::errors::ArgumentError;

/// A hash function by its name, or by an object with one, such as those of `cryptography` and `hashlib`.
#[derive(Clone, Copy)]
pub(crate) struct HashName(pub(crate) Hash);

impl HashName {
    pub(crate) const SHA256: HashName = HashName(Hash::Sha256);
}

impl<'py> FromPyObject<'_, 'py> for HashName {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let own_name = || object.getattr("name").ok()?.cast_into::<PyString>().ok();
        let name = match object.cast::<PyString>() {
            Ok(name) => name.to_owned(),
            Err(_) => own_name().ok_or_else(|| PyTypeError::new_err("a hash function is a name, such as 'sha256'"))?,
        };
        let name = name.to_str()?;
        // hashlib has sha3_256 and sha512_256 where others have dashes.
        let known = name.to_ascii_lowercase().replace(['_', '/'], "-");
        known
            .parse()
            .map(HashName)
            .map_err(|error: rsalab_rsa::Error| ArgumentError::new_err(error.to_string()))
    }
}

/// A number of threads: `None` for as many as this process may use CPUs.
#[derive(Clone, Copy)]
pub(crate) struct Threads(pub(crate) usize);

/// More threads than any machine has CPUs.
const MOST_THREADS: usize = 4096;

impl<'py> FromPyObject<'_, 'py> for Threads {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if object.is_none() {
            return Ok(Threads::default());
        }
        match count(&object, "threads")? {
            0 => Err(ArgumentError::new_err("threads must be at least 1")),
            threads => Ok(Threads(threads.min(MOST_THREADS))),
        }
    }
}

impl Default for Threads {
    fn default() -> Self {
        Threads(thread::available_parallelism().map_or(1, NonZero::get))
    }
}

/// A number of things, such as bits or keys.
#[derive(Clone, Copy)]
pub(crate) struct Count(pub(crate) usize);

impl<'py> FromPyObject<'_, 'py> for Count {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        count(&object, "the number").map(Count)
    }
}

/// Rounds of the Miller–Rabin test.
#[derive(Clone, Copy)]
pub(crate) struct Rounds(pub(crate) usize);

/// More than anybody needs: a larger number is a mistake that would take for ever.
const MOST_ROUNDS: usize = 1024;

impl<'py> FromPyObject<'_, 'py> for Rounds {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match count(&object, "the number of rounds")? {
            rounds @ ..=MOST_ROUNDS => Ok(Rounds(rounds)),
            _ => Err(ArgumentError::new_err(format!(
                "there are {MOST_ROUNDS} rounds at most"
            ))),
        }
    }
}

/// The sizes of keys: a number, or several.
pub(crate) struct Sizes(pub(crate) Vec<Count>);

impl Sizes {
    pub(crate) fn one(bits: Count) -> Self {
        Sizes(vec![bits])
    }
}

impl<'py> FromPyObject<'_, 'py> for Sizes {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if object.hasattr("__index__")? {
            return Ok(Sizes::one(object.extract()?));
        }
        let sizes = object
            .try_iter()
            .map_err(|_| PyTypeError::new_err("a size is an integer, or several are a list"))?;
        sizes.map(|bits| bits?.extract()).collect::<PyResult<_>>().map(Sizes)
    }
}

fn count(object: &Bound<'_, PyAny>, what: &str) -> PyResult<usize> {
    // What is no integer is a TypeError; one that does not fit is out of range.
    let number = object
        .call_method0("__index__")
        .map_err(|_| PyTypeError::new_err(format!("{what} must be an integer")))?;
    number
        .extract()
        .map_err(|_| ArgumentError::new_err(format!("{what} is out of range")))
}
