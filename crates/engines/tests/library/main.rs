//! The library's tests, as one program: it is linked once.

mod conformance;
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
