//! The library's tests, as one program: it is linked once.

mod conformance;
#[path = "../../../gpu/tests/library/expected.rs"]
mod expected;
mod external;
mod faults;
mod gpu;
mod harness;
mod imports;
mod java;
mod several_keys;
mod stop;
mod support;
mod texts;
mod transcript;
