//! GMP 6.3, built for the CPU at hand, or for every one, by `gmp-mpfr-sys`, as the engine `gmp`.
//!
//! GMP offers modular exponentiation and primality tests, and no RSA: the operations here are put together from its
//! functions as its manual suggests, bytes in and bytes out. None of the private operations is blinded or checked.
//!
//! | variant | private operation |
//! |---|---|
//! | `powm_sec` (default) | CRT, in constant time throughout, by `mpn_sec_powm` and its kin |
//! | `powm` | CRT by `mpz_powm`, whose time depends on the key |
//! | `plain_powm_sec`, `plain_powm` | the same without CRT |
//!
//! | variant | keys and pairs of primes |
//! |---|---|
//! | `random` (default) | independent random candidates, `mpz_probab_prime_p` |
//! | `nextprime` | the first prime after a random start, `mpz_nextprime`: faster, and biased towards primes after long gaps |
//!
//! | question | file |
//! |---|---|
//! | which jobs are done, and under which conditions | [`engine`] |
//! | numbers of any size, owned; bytes and limbs | `number`, `limbs` |
//! | private and public operations on numbers | `block` |
//! | the constant-time private operation | `secret` |
//! | keys and primes | `generate` |
//! | the totient and the private exponent | `arithmetic` |
//! | which of GMP's code was compiled | [`path`] |
//! | which of it a build for every CPU takes | `cpuid` |
//!
//! GMP and its binding are under the LGPL 3 (or GPL 2), which is why the worker `rsalab-peer-gmp` is a program of its
//! own. `NOTES.md` has build facts and figures. The build needs `m4`.

mod arithmetic;
mod block;
#[cfg(gmp_fat)]
mod cpuid;
pub mod engine;
mod generate;
mod limbs;
mod number;
pub mod path;
mod secret;

pub use engine::GmpEngine;
