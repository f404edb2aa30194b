//! Failures: of a call ([`Error`]), and with one item of a batch ([`Status`]).

/// A refusal of a whole call. Nothing was written to the outputs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Montgomery arithmetic needs an odd modulus.
    #[error("the modulus is even; an RSA modulus is a product of odd primes")]
    EvenModulus,
    /// The modulus lies outside the supported sizes.
    #[error("a modulus of {bits} bits is not supported; it must have 256 to 16384 bits")]
    ModulusSize {
        /// Length of the refused modulus, in bits.
        bits: usize,
    },
    /// The public exponent is even, below 3, or not below the modulus.
    #[error("the public exponent must be odd, at least 3, and below the modulus")]
    Exponent,
    /// A buffer has the wrong length.
    #[error("{what} must be {expected} bytes long, but {got} were given")]
    Length {
        /// The buffer.
        what: &'static str,
        /// Length it must have, in bytes (or items, for a status list).
        expected: usize,
        /// Length it had.
        got: usize,
    },
    /// An argument lies outside its range.
    #[error("{what} is out of range")]
    OutOfRange {
        /// The argument, and its range.
        what: &'static str,
    },
    /// The value has no inverse.
    #[error("the value has no inverse for this modulus: they share a factor")]
    NotInvertible,
    /// The parts of a private key contradict each other.
    #[error("the private key is inconsistent: {0}")]
    InconsistentKey(&'static str),
    /// No kernel has this name.
    #[error("no kernel is called \"{0}\"; `kernels()` lists them")]
    UnknownKernel(String),
    /// The kernel exists but not on this machine.
    #[error("the kernel {name} is not available here: {reason}")]
    KernelUnavailable {
        /// The kernel's name.
        name: &'static str,
        /// The instructions that this machine lacks, or that the kernel is disabled.
        reason: String,
    },
    /// A kernel that must stay: the one that every machine has, or one that may be in use.
    #[error("the kernel {0} cannot be disabled")]
    KernelIsNeeded(&'static str),
    /// Keys that are to share lanes differ in size, or there are none.
    #[error("keys that share a batch must be of one size, and there must be one at least")]
    MixedSizes,
    /// The operating system gave no random bytes.
    #[error("the operating system's random generator failed: {0}")]
    Randomness(String),
}

/// The outcome of one item of a batch. The output of an item that is not `Done` is all zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Status {
    /// The output holds the result.
    #[default]
    Done,
    /// The input was not below the modulus.
    OutOfRange,
    /// The result failed its check and was withheld.
    Fault,
}
