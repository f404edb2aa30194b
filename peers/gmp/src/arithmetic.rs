//! The two steps of key set-up that article (b) times by themselves: the totient, and the private exponent.

use rsalab_engines::{EngineError, Job, Prepared, kit};

use crate::number::Number;

/// `n = p·q` and `φ(n) = (p−1)(q−1)`, by `mpz_mul`.
pub(crate) fn totient(job: &Job) -> Box<dyn Prepared> {
    let bits = 8 * job.layout().output;
    kit::items("mpz_mul", job, move || {
        let number = || Number::with_capacity(bits);
        let (mut p, mut q, mut product) = (number(), number(), number());
        let (mut p_less_one, mut q_less_one) = (number(), number());
        Ok(move |primes: &[u8], output: &mut [u8]| {
            let (p_bytes, q_bytes) = primes.split_at(primes.len() / 2);
            let (n, phi) = output.split_at_mut(output.len() / 2);
            p.read(p_bytes);
            q.read(q_bytes);
            if p.is_zero() || q.is_zero() {
                return Err(EngineError::Key("a prime is zero".to_owned()));
            }
            product.set_product(&p, &q);
            if !product.write(n) {
                return Err(EngineError::Key(
                    "the product of the primes is longer than the modulus".to_owned(),
                ));
            }
            p_less_one.set_less_word(&p, 1);
            q_less_one.set_less_word(&q, 1);
            product.set_product(&p_less_one, &q_less_one);
            assert!(product.write(phi), "φ(n) is smaller than n");
            Ok(())
        })
    })
}

/// `d = e⁻¹ mod φ(n)`, by `mpz_invert`.
pub(crate) fn private_exponent(job: &Job) -> Box<dyn Prepared> {
    let e = job.fixed_exponent().to_be_bytes();
    let bits = 8 * job.layout().output;
    kit::items("mpz_invert", job, move || {
        let exponent = Number::from_bytes(&e);
        let (mut totient, mut inverse) = (Number::with_capacity(bits), Number::with_capacity(bits));
        Ok(move |phi: &[u8], d: &mut [u8]| {
            totient.read(phi);
            if !inverse.set_inverse(&exponent, &totient) {
                return Err(EngineError::Key(
                    "the public exponent has no inverse modulo φ(n)".to_owned(),
                ));
            }
            assert!(inverse.write(d), "an inverse is smaller than its modulus");
            Ok(())
        })
    })
}
