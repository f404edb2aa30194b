//! Is this number prime? Small factors first, then a test to base two, then rounds of the Miller–Rabin test.

mod base_two;
mod crossing;
mod odd_primes;
mod power_of_two;
mod rounds;
mod sieve;
mod small_factor;
mod tester;

pub use base_two::PreTester;
pub(crate) use crossing::{Crossing, cross};
pub(crate) use power_of_two::{PowerOfTwo, power_of_two};
pub(crate) use rounds::{Rounds, StrongTest};
pub use sieve::{Interval, Sieve};
pub use small_factor::has_small_factor;
pub use tester::Tester;
