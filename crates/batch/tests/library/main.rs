//! The library's tests, as one program: it is linked once. `orders` has a scheduler in the place of the system's.

mod batcher;
mod jobs;
mod keys;
mod support;
