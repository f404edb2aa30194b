//! The version that studies and artefacts name.

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
