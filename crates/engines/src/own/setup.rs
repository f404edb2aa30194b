//! The two steps of key set-up that article (b) times by themselves, on secret values and so in constant time.

use rsalab_arith::integer;

use crate::{
    engine::{EngineError, Prepared},
    job::Job,
    kit,
};

/// `n = p·q` and `φ(n) = (p−1)(q−1)`.
pub(super) fn totients(job: &Job) -> Box<dyn Prepared> {
    kit::items("integer-multiply", job, || {
        Ok(|primes: &[u8], output: &mut [u8]| {
            let (p, q) = primes.split_at(primes.len() / 2);
            let (n, phi) = integer::totient(p, q);
            let (n_place, phi_place) = output.split_at_mut(output.len() / 2);
            put(&n, n_place)?;
            put(&phi, phi_place)
        })
    })
}

/// `d = e⁻¹ mod φ(n)`.
pub(super) fn private_exponents(job: &Job) -> Box<dyn Prepared> {
    let exponent = job.fixed_exponent().to_be_bytes();
    kit::items("integer-safegcd", job, move || {
        Ok(move |phi: &[u8], output: &mut [u8]| {
            let d = integer::private_exponent(&exponent, phi);
            let d = d.map_err(|error| EngineError::library("the inversion of the public exponent", error))?;
            put(&d, output)
        })
    })
}

/// Right-aligns a number whose leading zeros may be more or fewer than the place has.
fn put(number: &[u8], place: &mut [u8]) -> Result<(), EngineError> {
    let excess = number.len().saturating_sub(place.len());
    let (leading, value) = number.split_at(excess);
    if leading.iter().any(|&byte| byte != 0) {
        return Err(EngineError::Length {
            what: "the number",
            expected: place.len(),
            got: number.len(),
        });
    }
    let (zeros, end) = place.split_at_mut(place.len() - value.len());
    zeros.fill(0);
    end.copy_from_slice(value);
    Ok(())
}
