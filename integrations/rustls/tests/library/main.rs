//! The library's tests, as one program: it is linked once.

mod example;
mod handshakes;
mod support;
