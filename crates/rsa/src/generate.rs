//! Generation of keys by FIPS 186-5, appendix A.1.3: random primes that are probably prime. Steps are numbered as
//! there.
//!
//! | generator | file |
//! |---|---|
//! | fast: random starts, sieved, and many searches interleaved | [`bulk`]: [`generate`], [`Generator`]; its preparations: [`Generation`] |
//! | strict: every candidate drawn anew, to the letter | [`strict`](mod@strict): [`generate_strict`], [`prime_pair_strict`], [`first_primes_of`] |
//! | what both take and return | `parameters` |
//! | what both draw | `crate::draw` |
//! | what both check | `consistency` |
//!
//! Where both depart from the standard: moduli from 256 bits and public exponents from 3 are generated too, because
//! both are measured here (the standard wants 2048 bits and more, and `2^16 < e < 2^256`); and candidates with a small
//! factor are rejected before their `gcd` and their Miller–Rabin rounds, which would reject them too. Where the fast
//! one departs further is said in [`bulk`].

mod acceptance;
pub mod bulk;
mod consistency;
mod generation;
mod parameters;
pub mod strict;

pub use crate::keys::most_primes;
pub use acceptance::check_acceptance;
pub use bulk::{Generator, generate, generate_on};
pub use generation::Generation;
pub use parameters::{Counts, DEFAULT_EXPONENT, Generated, PrimePair, PublicExponent, miller_rabin_rounds};
pub use strict::{first_primes_of, generate_strict, generate_strict_on, prime_pair_strict};
