//! Memory that the library initialises and then owns the contents of: numbers, and whatever else it has states for.

use std::ffi::c_int;

use rsalab_engines::EngineError;
use zeroize::Zeroizing;

use super::ffi::{BigNum, Functions, Status};

/// A state of the library's, in memory of ours that never moves: the library keeps addresses into it. Wiped when
/// dropped.
pub(crate) struct State<T> {
    /// Words, for the alignment.
    memory: Zeroizing<Box<[u64]>>,
    kind: std::marker::PhantomData<*mut T>,
}

impl<T> State<T> {
    /// Memory of as many bytes as the library asks for.
    pub(crate) fn of_bytes(bytes: c_int) -> Self {
        let bytes = usize::try_from(bytes).expect("a size from a call that succeeded");
        State {
            memory: Zeroizing::new(vec![0; bytes.div_ceil(8)].into_boxed_slice()),
            kind: std::marker::PhantomData,
        }
    }

    pub(crate) fn as_ptr(&self) -> *const T {
        self.memory.as_ptr().cast()
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut T {
        self.memory.as_mut_ptr().cast()
    }
}

/// Asks for a size: `call` writes it to the place it is given.
pub(crate) fn size(
    functions: &Functions,
    name: &'static str,
    call: impl FnOnce(*mut c_int) -> Status,
) -> Result<c_int, EngineError> {
    let mut size = 0;
    functions.done(name, call(&mut size))?;
    Ok(size)
}

/// A length as C takes it.
pub(crate) fn int(length: usize) -> c_int {
    c_int::try_from(length).expect("a key of this program has less than 2 GiB")
}

/// A number that is not negative.
pub(crate) struct Number<'a> {
    functions: &'a Functions,
    state: State<BigNum>,
}

impl<'a> Number<'a> {
    /// Zero, with capacity for `bits` bits.
    pub(crate) fn with_capacity(functions: &'a Functions, bits: usize) -> Result<Self, EngineError> {
        let words = int(bits.div_ceil(32).max(1));
        let bytes = size(functions, "ippsBigNumGetSize", |size| {
            // SAFETY: the size is written to a place that lives.
            unsafe { (functions.ippsBigNumGetSize)(words, size) }
        })?;
        let mut state = State::of_bytes(bytes);
        // SAFETY: the memory has the size asked for, and words' alignment.
        functions.done("ippsBigNumInit", unsafe {
            (functions.ippsBigNumInit)(words, state.as_mut_ptr())
        })?;
        Ok(Self { functions, state })
    }

    /// The number of a big-endian string, with capacity for no larger one.
    pub(crate) fn from_bytes(functions: &'a Functions, bytes: &[u8]) -> Result<Self, EngineError> {
        let mut number = Self::with_capacity(functions, 8 * bytes.len())?;
        number.read(bytes)?;
        Ok(number)
    }

    /// Takes the value of a big-endian string.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<(), EngineError> {
        // SAFETY: the bytes are readable, and the number is initialised; the library refuses a string too long for it.
        let status =
            unsafe { (self.functions.ippsSetOctString_BN)(bytes.as_ptr(), int(bytes.len()), self.state.as_mut_ptr()) };
        self.functions.done("ippsSetOctString_BN", status)
    }

    /// Fills a big-endian string, with zeros in front.
    pub(crate) fn write(&self, bytes: &mut [u8]) -> Result<(), EngineError> {
        // SAFETY: the bytes are writable, and the number is initialised; the library refuses a string too short for it.
        let status =
            unsafe { (self.functions.ippsGetOctString_BN)(bytes.as_mut_ptr(), int(bytes.len()), self.state.as_ptr()) };
        self.functions.done("ippsGetOctString_BN", status)
    }

    pub(crate) fn as_ptr(&self) -> *const BigNum {
        self.state.as_ptr()
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut BigNum {
        self.state.as_mut_ptr()
    }
}
