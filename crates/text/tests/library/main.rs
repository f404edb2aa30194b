//! The library's tests, as one program: it is linked once.

mod raw_blocks;
mod text;
mod threads;
mod work;
