//! Is this number prime? Small factors first, then a test to base two, then rounds of the Miller–Rabin test.

mod base_two;
mod odd_primes;
mod sieve;
mod small_factor;
mod strong_test;

pub use base_two::PreTester;
pub(crate) use base_two::{PowerOfTwo, power_of_two};
pub(crate) use sieve::{Crossing, cross};
pub use sieve::{Interval, Sieve};
pub use small_factor::has_small_factor;
pub use strong_test::Tester;
pub(crate) use strong_test::{Rounds, StrongTest};
