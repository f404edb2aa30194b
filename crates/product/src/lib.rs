//! Products of big integers by number-theoretic transforms, and factors that public moduli share.
//!
//! | question | file |
//! |---|---|
//! | How is a residue multiplied, on which instructions? | `kernel`: doubles, eight at once; a form for each instruction set |
//! | Which primes, which roots? | `field`, `table` |
//! | How is a transform taken? | `butterfly`: levels; `transform`: caches, columns; `twist`: between columns and rows; `odd`: lengths of 3 and 5 times a power of two |
//! | How does a number become a polynomial, and back? | `digits` |
//! | How many primes, how long a transform? | `plan` |
//! | How is a product taken? | `product`: [`Multiplier`], transforms that are used again, the middle of a product |
//! | Which moduli share a factor? | `shared`: [`shared_factors`]; `tree`, `reciprocal`, `gcd` |
//! | Which, if they are too many for a memory or a machine, or if some are new? | `subset`: [`Subset`]; `divisor` |
//!
//! Time depends on the numbers: they must be public. No function of this crate is for secrets.

#![deny(unsafe_code)]

#[cfg(test)]
mod bounds;
mod butterfly;
mod digits;
mod divisor;
mod field;
mod gcd;
mod kernel;
mod natural;
mod odd;
mod plan;
mod pool;
mod product;
mod reciprocal;
mod shared;
mod subset;
mod table;
mod team;
mod transform;
mod tree;
mod twist;

pub use kernel::Kernel;
pub use product::{Multiplier, Transformed};
pub use shared::shared_factors;
pub use subset::{Product, Subset};
pub use tree::Levels;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
