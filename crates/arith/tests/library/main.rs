//! The library's tests, as one program: it is linked once.

mod base_two;
mod candidate;
mod contexts;
mod integer;
mod keys;
#[path = "../../src/model.rs"]
#[expect(dead_code, reason = "unit tests use all of it")]
mod model;
mod multi_key;
mod multi_prime;
mod product;
mod recover;
