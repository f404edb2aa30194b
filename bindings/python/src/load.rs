//! Keys, read.

use std::{fs::File, io, path::PathBuf};

use pyo3::{
    exceptions::{PyOSError, PyTypeError},
    prelude::*,
    types::{PyList, PyString},
};
use rsalab_rsa::{
    PrivateKey as Key,
    format::{self, Limits, Loaded, Reading, load_many, load_public_with},
    keys::MAX_BITS,
    primality::ROUNDS_BEFORE_USE,
};
use zeroize::Zeroizing;

use crate::{
    arguments::{Count, Rounds, Threads},
    buffers::{Bytes, password},
    errors::{ArgumentError, raised},
    private::PrivateKey,
    public::PublicKey,
};

const ROUNDS: Rounds = Rounds(ROUNDS_BEFORE_USE);
const MOST_BITS: Count = Count(Limits::QUICK.most_bits);

/// How files are to be read, from the arguments of a call.
fn reading<'a>(password: Option<&'a Bytes<'_>>, max_bits: Count, name: Option<&'a str>) -> PyResult<Reading<'a>> {
    let most_bits = match max_bits.0 {
        most_bits @ ..=MAX_BITS => most_bits,
        _ => return Err(ArgumentError::new_err(format!("max_bits may be {MAX_BITS} at most"))),
    };
    Ok(Reading {
        password: password.map(AsRef::as_ref),
        limits: Limits { most_bits },
        name,
    })
}

/// Reads a private key, and checks it. Returns a PrivateKey.
///
/// data: the contents of a file: PKCS #8 or PKCS #1, in PEM or DER, encrypted or not; a JSON Web Key, or a set; or
/// OpenSSH's own format. Which it is is found out. (For a path, see load_private_keys.)
/// password: bytes, for an encrypted key.
/// rounds: of the Miller–Rabin test with random bases that each prime stands; 0 for none, at most 1024. All relations
/// between the numbers are checked in any case.
/// max_bits: a longer modulus is refused before anything is computed with it; at most 16384.
/// name: of several keys, which: its kid, or a fingerprint.
///
/// Raises InvalidKeyError, UnsupportedKeyError, PasswordMissingError, PasswordWrongError. No message repeats what the
/// data holds.
#[pyfunction]
#[pyo3(
    signature = (data, password=None, *, rounds=ROUNDS, max_bits=MOST_BITS, name=None),
    text_signature = "(data, password=None, *, rounds=8, max_bits=8192, name=None)"
)]
pub(crate) fn load_private_key(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    password: Option<&Bound<'_, PyAny>>,
    rounds: Rounds,
    max_bits: Count,
    name: Option<&str>,
) -> PyResult<PrivateKey> {
    let (data, given) = (Bytes::of(data, "the data")?, self::password(password)?);
    let reading = reading(given.as_ref(), max_bits, name)?;
    let data = data.as_ref();
    let first = rounds.0.min(ROUNDS_BEFORE_USE);
    let loaded = py.detach(|| load_many(&[data], &reading, first, 1).remove(0));
    let key = loaded.map(PrivateKey::of_file).map_err(raised)?;
    if rounds.0 > first {
        key.check_rounds(py, rounds.0 - first)?;
    }
    Ok(key)
}

/// Reads a public key. Returns a PublicKey.
///
/// data: the contents of a file: SubjectPublicKeyInfo or PKCS #1, in PEM or DER; a JSON Web Key, or a set; a line of
/// authorized_keys; a certificate, which is not verified; or a private key. password, max_bits, name: as for
/// load_private_key.
///
/// Raises what load_private_key raises.
#[pyfunction]
#[pyo3(
    signature = (data, password=None, *, max_bits=MOST_BITS, name=None),
    text_signature = "(data, password=None, *, max_bits=8192, name=None)"
)]
pub(crate) fn load_public_key(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    password: Option<&Bound<'_, PyAny>>,
    max_bits: Count,
    name: Option<&str>,
) -> PyResult<PublicKey> {
    let (data, given) = (Bytes::of(data, "the data")?, self::password(password)?);
    let reading = reading(given.as_ref(), max_bits, name)?;
    let data = data.as_ref();
    let loaded = py.detach(|| load_public_with(data, &reading));
    loaded.map(PublicKey::of_file).map_err(raised)
}

/// A file, or its contents.
enum Source<'py> {
    Contents(Bytes<'py>),
    Path(PathBuf),
}

impl<'py> Source<'py> {
    fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let is_path = object.is_instance_of::<PyString>() || object.hasattr("__fspath__")?;
        match is_path {
            true => Ok(Source::Path(object.extract()?)),
            false => Bytes::of(object, "a key").map(Source::Contents),
        }
    }
}

/// Why there is no key.
enum Fault {
    Unread(PathBuf, io::Error),
    Refused(rsalab_rsa::Error),
}

impl Fault {
    fn exception(self) -> PyErr {
        match self {
            Fault::Refused(error) => raised(error),
            // With a number it becomes FileNotFoundError and others.
            Fault::Unread(path, error) => {
                PyOSError::new_err((error.raw_os_error(), error.to_string(), path.into_os_string()))
            }
        }
    }
}

/// Keys that each thread reads before somebody looks for Ctrl-C.
const AT_ONCE: usize = 64;

/// Reads and checks many private keys, whose primes are tested together in the lanes of the CPU. Returns a list with a
/// verdict for each, in order: a PrivateKey, or the exception that load_private_key would have raised (an OSError for a
/// file that cannot be read).
///
/// sources: an iterable of contents of files, as bytes or other buffers, or of paths, as str or os.PathLike.
/// password: of those that are encrypted.
/// rounds, max_bits: as for load_private_key. threads: as for sign_many.
///
/// The interpreter runs on meanwhile.
#[pyfunction]
#[pyo3(
    signature = (sources, password=None, *, rounds=ROUNDS, max_bits=MOST_BITS, threads=Threads::default()),
    text_signature = "(sources, password=None, *, rounds=8, max_bits=8192, threads=None)"
)]
pub(crate) fn load_private_keys<'py>(
    py: Python<'py>,
    sources: &Bound<'py, PyAny>,
    password: Option<&Bound<'py, PyAny>>,
    rounds: Rounds,
    max_bits: Count,
    threads: Threads,
) -> PyResult<Bound<'py, PyList>> {
    if Bytes::of(sources, "").is_ok() || sources.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("sources must be a list of files, not one"));
    }
    let sources: Vec<Source<'_>> = sources
        .try_iter()?
        .map(|source| Source::of(&source?))
        .collect::<PyResult<_>>()?;
    let given = self::password(password)?;
    let reading = reading(given.as_ref(), max_bits, None)?;
    let verdicts = PyList::empty(py);
    for sources in sources.chunks(AT_ONCE * threads.0) {
        let sources: Vec<Result<&[u8], &PathBuf>> = sources
            .iter()
            .map(|source| match source {
                Source::Contents(bytes) => Ok(bytes.as_ref()),
                Source::Path(path) => Err(path),
            })
            .collect();
        let loaded = py.detach(|| load(&sources, &reading, rounds.0, threads.0));
        for loaded in loaded {
            match loaded {
                Ok(loaded) => verdicts.append(PrivateKey::of_file(loaded))?,
                Err(fault) => verdicts.append(fault.exception().into_value(py))?,
            }
        }
        py.check_signals()?;
    }
    Ok(verdicts)
}

/// Verdicts on contents of files, and on files by their paths.
fn load(
    sources: &[Result<&[u8], &PathBuf>],
    reading: &Reading<'_>,
    rounds: usize,
    threads: usize,
) -> Vec<Result<Loaded<Key>, Fault>> {
    let read: Vec<io::Result<Contents<'_>>> = sources
        .iter()
        .map(|source| match source {
            Ok(bytes) => Ok(Contents::Given(bytes)),
            Err(path) => File::open(path).and_then(format::read).map(Contents::Read),
        })
        .collect();
    let contents: Vec<&[u8]> = read.iter().flatten().map(AsRef::as_ref).collect();
    let mut loaded = load_many(&contents, reading, rounds, threads).into_iter();
    let verdict = |(source, read): (&Result<&[u8], &PathBuf>, io::Result<Contents<'_>>)| match (source, read) {
        (Err(path), Err(error)) => Err(Fault::Unread((*path).clone(), error)),
        _ => loaded
            .next()
            .expect("there is one for each that was read")
            .map_err(Fault::Refused),
    };
    sources.iter().zip(read).map(verdict).collect()
}

/// The contents of a file.
enum Contents<'a> {
    Given(&'a [u8]),
    Read(Zeroizing<Vec<u8>>),
}

impl AsRef<[u8]> for Contents<'_> {
    fn as_ref(&self) -> &[u8] {
        match self {
            Contents::Given(bytes) => bytes,
            Contents::Read(bytes) => bytes,
        }
    }
}
