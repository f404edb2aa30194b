//! Arithmetic behind the schemes: a key is prepared once, and its operations run in batches.
//!
//! These are raw operations: a block is raised as it stands, whatever padding it has. Private ones are blinded and
//! checked. [`signing`](crate::signing) and [`encryption`](crate::encryption) are what most programs want.
//!
//! Integers are big-endian byte strings of fixed length, a batch is contiguous: `inputs` holds `status.len()` blocks of
//! the modulus's length `k = ceil(bits / 8)`, and so does `outputs`. A backend never shows how it lays numbers out.

mod by_batch;
mod cpu;
mod pooled;

use rsalab_arith::Kernel;

use crate::{PrivateKey, PublicKey, Result, error::check_len};

pub use cpu::CpuBackend;
pub use pooled::Pooled;
pub use rsalab_arith::{
    Status,
    candidate::{Interval, Sieve},
};

/// An implementation of RSA's arithmetic on some device.
pub trait Backend: Send + Sync {
    /// Its name, such as `cpu`.
    fn name(&self) -> &str;

    /// The kernel that its operations run on, for the record.
    fn kernel(&self) -> &str;

    /// Items that the kernel works on at once; batches of a multiple of it are the fastest.
    fn lanes(&self) -> usize;

    /// Makes a private key ready. The operation is `c^d mod n` with CRT, blinded, and checked before it is released.
    fn prepare_private(&self, key: &PrivateKey) -> Result<Box<dyn Prepared>>;

    /// Makes private keys of one size ready to be used together, each item of a batch with its own: for a service that
    /// has many keys, and too few requests for each to fill the lanes of a kernel. The operation is that of
    /// [`prepare_private`](Self::prepare_private).
    ///
    /// # Errors
    ///
    /// If there are none, if moduli or primes differ in length, and those of `prepare_private`.
    fn prepare_multi_key(&self, keys: &[PrivateKey]) -> Result<Box<dyn PreparedMultiKey>>;

    /// Makes a public key ready. The operation is `m^e mod n` in variable time: its inputs are public.
    fn prepare_public(&self, key: &PublicKey) -> Result<Box<dyn Prepared>>;

    /// Makes a public key ready for secret inputs, such as a blinding factor: `m^e mod n` in a time that depends on n,
    /// e, and which inputs are not below n. A backend without such an operation takes [`CpuBackend`]'s.
    fn prepare_public_for_secrets(&self, key: &PublicKey) -> Result<Box<dyn Prepared>>;

    /// Makes the sieve of candidates of `bits` bits ready, which runs on this CPU whatever the backend.
    fn sieve(&self, bits: usize) -> Sieve {
        Sieve::new(Kernel::auto(), bits)
    }

    /// Searches for primes that are worth interleaving.
    fn searches(&self) -> usize {
        16
    }

    /// A per-thread runner that tests candidates of `bits` bits each.
    fn tester(&self, bits: usize) -> Result<Box<dyn CandidateTester + '_>>;
}

/// A key made ready, shared by the threads that will use it.
pub trait Prepared: Send + Sync {
    /// Bytes of the modulus, and so of each block.
    fn modulus_len(&self) -> usize;

    /// The kernel that will run, for the record; of several that share the work, the widest one.
    fn kernel(&self) -> &str;

    /// The kernels that a call with so many items runs on, in the order of the items.
    fn kernels_for(&self, _items: usize) -> Vec<&str> {
        vec![self.kernel()]
    }

    /// Items that the kernel works on at once.
    fn lanes(&self) -> usize;

    /// The scratch of one thread at a time.
    fn runner(&self) -> Result<Box<dyn BlockRunner + Send + '_>>;
}

/// A per-thread runner of a prepared key.
pub trait BlockRunner {
    /// Does the key's operation on each block.
    ///
    /// A block that cannot be done does not stop the others: its status says why, and its output is zero.
    ///
    /// # Errors
    ///
    /// If the lengths of the buffers do not belong together, if there is no randomness for blinding, and if the backend
    /// fails as a whole, such as a device that is lost.
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<()>;
}

/// Keys of one size made ready, shared by the threads that will use them.
pub trait PreparedMultiKey: Send + Sync {
    /// Bytes of every modulus, and so of each block.
    fn modulus_len(&self) -> usize;

    /// The kernel that will run, for the record.
    fn kernel(&self) -> &str;

    /// Items that the kernel works on at once.
    fn lanes(&self) -> usize;

    /// The scratch of one thread at a time.
    fn runner(&self) -> Box<dyn MultiKeyRunner + Send + '_>;

    /// Sets for each key, by its place, whether it gives back what was raised to its private and then to its public
    /// exponent. For new keys, on one secret random number for each: nothing is blinded, and no result given out.
    ///
    /// # Errors
    ///
    /// If the lengths of the buffers do not belong together.
    fn check(&self, inputs: &[u8], passed: &mut [bool]) -> Result<()>;
}

/// A per-thread runner of several keys.
pub trait MultiKeyRunner {
    /// Does its own key's operation on each block: `keys` names, for each, the key's place among those prepared.
    ///
    /// A block that cannot be done does not stop the others: its status says why, and its output is zero.
    ///
    /// # Errors
    ///
    /// If the lengths of the buffers do not belong together, if there is no such key, or if the operating system gives
    /// no random bytes.
    fn run(&mut self, keys: &[usize], inputs: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<()>;
}

/// A per-thread runner that tests candidates.
pub trait CandidateTester {
    /// A cheap test of each candidate that every prime passes and hardly a composite: to base 2, and so no round of the
    /// Miller–Rabin test.
    ///
    /// `candidates` holds one odd integer of the tester's length for each entry of `passed`. Constant time in the
    /// values.
    ///
    /// # Errors
    ///
    /// If lengths or values are not as said.
    fn pre_test(&mut self, candidates: &[u8], passed: &mut [bool]) -> Result<()>;

    /// One Miller–Rabin round for each candidate: whether it is a strong probable prime to its base.
    ///
    /// `candidates` and `bases` hold one integer of the tester's length for each entry of `passed`; candidates are odd
    /// and above 4, and each base lies above 1 and below its candidate less 1. Constant time in the values of both.
    ///
    /// # Errors
    ///
    /// If lengths or values are not as said.
    fn round(&mut self, candidates: &[u8], bases: &[u8], passed: &mut [bool]) -> Result<()>;
}

impl<R: BlockRunner + ?Sized> BlockRunner for Box<R> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<()> {
        (**self).run(inputs, outputs, status)
    }
}

/// Refuses a batch whose buffers do not hold as many blocks as there are statuses: the first thing that a runner does.
///
/// # Errors
///
/// [`Error::Length`](crate::Error::Length).
pub fn check_batch(modulus_len: usize, inputs: &[u8], outputs: &[u8], status: &[Status]) -> Result<()> {
    let expected = status.len() * modulus_len;
    check_len("the input buffer", inputs.len(), expected)?;
    check_len("the output buffer", outputs.len(), expected)
}
