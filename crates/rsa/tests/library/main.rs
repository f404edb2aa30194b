//! The library's tests, as one program: it is linked once.

mod backend;
mod batches;
mod blind;
mod bulk;
mod failing;
mod fixed_keys;
mod format;
mod kernels;
mod keys;
mod many;
mod multi_prime;
mod other_formats;
mod schemes;
mod screening;
mod shake;
mod stopping;
mod weakness;
mod wycheproof;
