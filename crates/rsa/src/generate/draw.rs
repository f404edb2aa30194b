//! What is drawn at random: candidates, starts and bases, each redrawn until it lies in its range.

use rand_core::TryCryptoRng;
use rsalab_arith::integer;
use zeroize::Zeroizing;

use crate::{Error, Result, keys::prime_len};

/// Draws after which a generator that never gives anything acceptable is taken for broken. The standard would draw on for
/// ever; of good draws three in ten are accepted, so this many fail in a row with a probability of `2^-500`.
const MAX_DRAWS: usize = 1000;

/// Steps 4.2 to 4.4, or 5.2 to 5.5: a random odd number of half the bits of a modulus of `bits` bits, not too small, and
/// not too close to the other prime.
pub(super) fn candidate<R: TryCryptoRng + ?Sized>(
    rng: &mut R,
    bits: usize,
    other: Option<&[u8]>,
) -> Result<Zeroizing<Vec<u8>>> {
    for _ in 0..MAX_DRAWS {
        // Steps 4.2 and 4.3, 5.2 and 5.3.
        let mut candidate = self::bits(rng, bits / 2, prime_len(bits))?;
        let last = candidate.len() - 1;
        candidate[last] |= 1;
        // Steps 4.4, 5.4 and 5.5; the distance from the other prime is the cheaper question.
        if other.is_some_and(|other| !integer::differ_enough(other, &candidate, bits)) {
            continue;
        }
        if is_large_enough(&candidate, bits / 2) {
            return Ok(candidate);
        }
    }
    Err(stuck())
}

/// FIPS 186-5, B.3.1, steps 4.1 and 4.2: a random base `b` with `1 < b < w − 1`, for a `w` of `w_bits` bits.
pub(crate) fn base<R: TryCryptoRng + ?Sized>(
    rng: &mut R,
    w: &[u8],
    w_bits: usize,
) -> Result<Zeroizing<Vec<u8>>> {
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
pub(super) fn bits<R: TryCryptoRng + ?Sized>(
    rng: &mut R,
    bits: usize,
    len: usize,
) -> Result<Zeroizing<Vec<u8>>> {
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

/// What to say of a generator whose numbers are never of use.
pub(super) fn stuck() -> Error {
    Error::randomness("many numbers in a row were of no use; they do not seem to be random")
}

/// Whether `candidate ≥ √2·2^(bits−1)`, exactly: whether its square has `2·bits` bits.
pub(super) fn is_large_enough(candidate: &[u8], bits: usize) -> bool {
    integer::bits_vartime(&integer::multiply(candidate, candidate)) == 2 * bits
}
