//! The functions of `worker.c`, owned.

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    marker::PhantomData,
    ptr::{self, NonNull},
};

use rsalab_engines::{EngineError, Job, Layout, StudyKey};

#[repr(C)]
struct Number<'a> {
    bytes: *const u8,
    length: usize,
    borrowed: PhantomData<&'a [u8]>,
}

unsafe extern "C" {
    safe fn rsalab_openmp_version() -> *const c_char;
    fn rsalab_openmp_new(bits: usize, exponent: u64, seed: *const u8, parts: *const Number<'_>) -> *mut c_void;
    fn rsalab_openmp_free(worker: *mut c_void);
    fn rsalab_openmp_run(
        worker: *mut c_void,
        operation: c_int,
        input: *const u8,
        input_length: usize,
        output: *mut u8,
        tests: *mut u64,
    ) -> bool;
}

/// GMP's version, as the library states it.
pub(crate) fn version() -> String {
    // SAFETY: a static string that ends with NUL.
    unsafe { CStr::from_ptr(rsalab_openmp_version()) }
        .to_string_lossy()
        .into_owned()
}

/// An operation on an item, in the order of the C code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Operation {
    PrivatePlain,
    PrivateCrt,
    Public,
    PublicSecret,
    Keygen,
    PrimePair,
    Totient,
    PrivateExponent,
    SignPlain,
    SignCrt,
    Verify,
    PrimeSearch,
}

/// A key, numbers and a generator for one thread, for jobs of one size.
pub(crate) struct Worker {
    worker: NonNull<c_void>,
    operation: Operation,
    layout: Layout,
}

impl Worker {
    pub(crate) fn new(operation: Operation, job: &Job, key: Option<&StudyKey>) -> Result<Self, EngineError> {
        let failed = |call, message: String| EngineError::Library { call, message };
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| failed("getrandom", error.to_string()))?;
        let parts = key.map(|key| {
            [&key.n, &key.e, &key.d, &key.p, &key.q, &key.dp, &key.dq, &key.qinv].map(|part| Number {
                bytes: part.as_ptr(),
                length: part.len(),
                borrowed: PhantomData,
            })
        });
        let parts = parts.as_ref().map_or(ptr::null(), |parts| parts.as_ptr());
        // SAFETY: the seed has the 32 bytes that are read, the parts are null or the eight that are, each of its
        // length.
        let worker =
            unsafe { rsalab_openmp_new(job.bits, job.exponent.fixed().unwrap_or_default(), seed.as_ptr(), parts) };
        Ok(Worker {
            worker: NonNull::new(worker).ok_or_else(|| failed("calloc", "there is no memory left".to_owned()))?,
            operation,
            layout: job.layout(),
        })
    }

    /// Does the operation on one item, laid out as the job says. Returns the primality tests done.
    ///
    /// # Panics
    /// A buffer has another length.
    pub(crate) fn run(&mut self, input: &[u8], output: &mut [u8]) -> Result<u64, EngineError> {
        let lengths = (input.len(), output.len());
        assert_eq!(lengths, (self.layout.input, self.layout.output));
        let mut tests = 0;
        // SAFETY: the worker is live, and has a key if its operation takes one; the buffers have the lengths that the
        // operation reads and writes at the job's size, as was just asserted.
        let is_done = unsafe {
            rsalab_openmp_run(
                self.worker.as_ptr(),
                self.operation as c_int,
                input.as_ptr(),
                input.len(),
                output.as_mut_ptr(),
                &mut tests,
            )
        };
        match is_done {
            true => Ok(tests),
            false => Err(EngineError::Library {
                call: "rsalab_openmp_run",
                message: "a number is too long, has no inverse, or too few are prime".to_owned(),
            }),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // SAFETY: it is live and ours; nothing refers to it after this.
        unsafe { rsalab_openmp_free(self.worker.as_ptr()) };
    }
}
