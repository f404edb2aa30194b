//! The private operation by two exponentiations of half the size (RFC 8017, section 5.1.2, step 2.b), each by the
//! article's algorithms.

use num_bigint::BigUint;

use super::montgomery::Modulus;
use crate::{engine::EngineError, job::StudyKey};

/// A key's CRT parameters, set up. Variable time, as all of this engine.
pub(super) struct Crt {
    p: Half,
    q: Half,
    /// `q⁻¹ mod p`.
    qinv: BigUint,
}

/// One prime with its exponent.
pub(super) struct Half {
    prime: Modulus,
    exponent: BigUint,
}

impl Crt {
    pub(super) fn new(key: &StudyKey) -> Result<Self, EngineError> {
        let half = |prime: &[u8], exponent: &[u8]| -> Result<Half, EngineError> {
            Ok(Half {
                prime: Modulus::new(BigUint::from_bytes_be(prime))
                    .ok_or_else(|| EngineError::Key("a prime is even, or 1".to_owned()))?,
                exponent: BigUint::from_bytes_be(exponent),
            })
        };
        let crt = Crt {
            p: half(&key.p, &key.dp)?,
            q: half(&key.q, &key.dq)?,
            qinv: BigUint::from_bytes_be(&key.qinv),
        };
        // What the recombination counts on when it says that its result fits.
        match &crt.p.prime.n * &crt.q.prime.n == BigUint::from_bytes_be(&key.n) {
            true => Ok(crt),
            false => Err(EngineError::Key("p·q is not n".to_owned())),
        }
    }

    /// (i) `m1 = c^dP mod p`.
    pub(super) fn half_p_vartime(&self, c: &BigUint) -> BigUint {
        self.p.power_vartime(c)
    }

    /// (i) `m2 = c^dQ mod q`.
    pub(super) fn half_q_vartime(&self, c: &BigUint) -> BigUint {
        self.q.power_vartime(c)
    }

    /// (iii) `h = (m1 − m2)·qInv mod p`; (iv) `m = m2 + q·h`, which is below `n`.
    pub(super) fn recombined_vartime(&self, m1: BigUint, m2: BigUint) -> BigUint {
        let p = &self.p.prime.n;
        let h = (m1 + p - &m2 % p) * &self.qinv % p;
        m2 + &self.q.prime.n * h
    }
}

impl Half {
    fn power_vartime(&self, c: &BigUint) -> BigUint {
        self.prime.mon_exp_vartime(&(c % &self.prime.n), &self.exponent)
    }
}
