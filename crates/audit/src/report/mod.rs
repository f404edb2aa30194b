//! Reports for other programs.
//!
//! | form | for | file |
//! |---|---|---|
//! | JSON lines | scripts | [`json_lines`] |
//! | SARIF 2.1.0 | code scanning of forges | [`sarif`] |
//! | JUnit XML | test views of CI servers | [`junit`] |

mod json;
mod junit;
mod sarif;

pub use json::json_lines;
pub use junit::junit;
pub use sarif::sarif;
