//! The library's tests, as one program: it is linked once.

mod coverage;
mod properties;
