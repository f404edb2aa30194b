//! The library's tests, as one program: it is linked once.

mod c;
mod go;
mod header;
mod support;
