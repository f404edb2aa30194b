//! The library's tests, as one program: it is linked once.

mod candidate;
mod contexts;
mod integer;
mod keys;
mod multi_key;
mod multi_prime;
