//! Random draws: candidates, starts and bases, each redrawn until it lies in its range.

use rand_core::TryCryptoRng;
use rsalab_arith::integer;
use zeroize::Zeroizing;

use crate::{Error, Result};

/// Draws after which a generator that never gives anything acceptable is taken for broken. The standard would draw on
/// for ever; of good draws three in ten are accepted, so this many fail in a row with a probability of `2^-500` (of
/// five primes as few as one in fourteen: `2^-100`).
pub(super) const MAX_DRAWS: usize = 1000;

/// Requirements on primes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// Bits of the modulus.
    pub(super) modulus: usize,
    /// How many primes it has.
    pub(super) primes: usize,
}

impl Size {
    /// Bits of each prime.
    pub(super) fn prime(self) -> usize {
        self.modulus.div_ceil(self.primes)
    }

    /// Bytes of each prime.
    pub(super) fn prime_len(self) -> usize {
        self.prime().div_ceil(8)
    }

    /// Returns whether two primes are further apart than `2^(prime − 100)`: step 5.4, which has it for primes of half a
    /// modulus.
    pub(super) fn differ_enough(self, one: &[u8], other: &[u8]) -> bool {
        integer::differ_enough(one, other, 2 * self.prime())
    }
}

/// Steps 4.2 to 4.4, or 5.2 to 5.5: a random odd number of a prime's bits, not too small, and not too close to the
/// other prime.
pub(super) fn candidate<R: TryCryptoRng + ?Sized>(
    rng: &mut R,
    size: Size,
    other: Option<&[u8]>,
) -> Result<Zeroizing<Vec<u8>>> {
    for _ in 0..MAX_DRAWS {
        // Steps 4.2 and 4.3, 5.2 and 5.3.
        let mut candidate = bits(rng, size.prime(), size.prime_len())?;
        let last = candidate.len() - 1;
        candidate[last] |= 1;
        // Steps 4.4, 5.4 and 5.5; the distance from the other prime is the cheaper question.
        if other.is_some_and(|other| !size.differ_enough(other, &candidate)) {
            continue;
        }
        if is_root(&candidate, size) {
            return Ok(candidate);
        }
    }
    Err(stuck())
}

/// FIPS 186-5, B.3.1, steps 4.1 and 4.2: a random base `b` with `1 < b < w − 1`, for a `w` of `w_bits` bits.
pub(crate) fn base<R: TryCryptoRng + ?Sized>(rng: &mut R, w: &[u8], w_bits: usize) -> Result<Zeroizing<Vec<u8>>> {
    // The candidate is odd.
    let mut predecessor = Zeroizing::new(w.to_vec());
    let last = predecessor.len() - 1;
    predecessor[last] &= !1;
    for _ in 0..MAX_DRAWS {
        let base = bits(rng, w_bits, w.len())?;
        if integer::is_less(&[1], &base) && integer::is_less(&base, &predecessor) {
            return Ok(base);
        }
    }
    Err(stuck())
}

/// A number of `bits` random bits in `len` bytes.
pub(super) fn bits<R: TryCryptoRng + ?Sized>(rng: &mut R, bits: usize, len: usize) -> Result<Zeroizing<Vec<u8>>> {
    let mut number = Zeroizing::new(vec![0; len]);
    let random = &mut number[len - bits.div_ceil(8)..];
    rng.try_fill_bytes(random).map_err(Error::randomness)?;
    random[0] &= 0xff >> (random.len() * 8 - bits);
    Ok(number)
}

/// A random word.
pub(super) fn word<R: TryCryptoRng + ?Sized>(rng: &mut R) -> Result<u64> {
    rng.try_next_u64().map_err(Error::randomness)
}

/// The error of a generator whose numbers are never of use.
pub(super) fn stuck() -> Error {
    Error::randomness("many numbers in a row were of no use; they do not seem to be random")
}

/// Returns whether the power of as many equal factors as there are primes is as long as the modulus: then the product
/// of any such numbers is. For two primes, whether `candidate ≥ √2·2^(bits−1)`, exactly.
pub(super) fn is_root(candidate: &[u8], size: Size) -> bool {
    let mut power = integer::multiply(candidate, candidate);
    for _ in 2..size.primes {
        power = integer::multiply(&power, candidate);
    }
    integer::bits_vartime(&power) == size.modulus
}
