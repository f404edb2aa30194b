//! Ratios between engines that are known, whatever the CPU, within wide bounds.
//!
//! The bounds are several times as wide as what was seen on Zen 4, Zen 5 and Sapphire Rapids (`docs/results`, the notes
//! of the peers): there are CPUs on which a library has only its portable code.

/// Speeds of private operations and signatures on one thread with keys of 1024 to 4096 bits: an engine's divided by
/// that of one of [`REFERENCES`].
pub(super) const PRIVATE: [(&str, f64, f64); 10] = [
    ("own", 0.3, 20.0),
    ("openssl", 0.2, 5.0),
    ("libcrypto", 0.1, 5.0),
    ("aws-lc", 0.2, 8.0),
    ("gmp", 0.05, 5.0),
    ("rustcrypto", 0.01, 1.5),
    ("cryptopp", 0.02, 3.0),
    ("go", 0.02, 3.0),
    ("jca", 0.01, 3.0),
    ("textbook", 0.0001, 0.5),
];

/// Engines that others are compared with, the first that a group has.
pub(super) const REFERENCES: [&str; 3] = ["openssl", "libcrypto", "aws-lc"];

/// Bits at which these bounds hold.
pub(super) const BITS: std::ops::RangeInclusive<usize> = 1024..=4096;

/// The speed of a private operation at twice the bits, divided by that at the bits: it nears the cube of a half, and
/// some kernels serve some lengths alone.
pub(super) const DOUBLED: (f64, f64) = (0.04, 0.5);

/// The public operation is so many times as fast as the private one of the same key at least, with the exponent 65537
/// and one engine.
pub(super) const PUBLIC: f64 = 3.0;
