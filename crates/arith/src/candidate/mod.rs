//! Is this number prime? Small factors first, then rounds of the Miller–Rabin test.

mod small_factor;
mod strong_test;

pub use small_factor::has_small_factor;
pub use strong_test::Tester;
pub(crate) use strong_test::{Rounds, StrongTest};
