//! The private operation without its protections, to be measured against peers that have none.
//!
//! Only `engines` may use it; `cargo xtask tidy` fails on any other crate above that names it.

/// Says, where it is called, that a bare operation is wanted, and what for.
#[derive(Clone, Copy, Debug)]
pub struct ForMeasurement;
