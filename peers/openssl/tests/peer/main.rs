//! All tests in one program: linking each takes longer than running it.

mod conformance;
mod engine;
