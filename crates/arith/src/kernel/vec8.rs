//! Memory of the eight-lane kernels.

/// The words of eight lanes.
pub(crate) type Vec8 = [u64; 8];
