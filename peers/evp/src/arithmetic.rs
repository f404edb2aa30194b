//! The two steps of key set-up that article (b) times by themselves: the totient, and the private exponent.

use rsalab_engines::{EngineError, Job, Prepared, kit};

use crate::{
    library::Libcrypto,
    number::{Number, Scratch},
};

/// `n = p·q` and `φ(n) = (p−1)(q−1)`, by `BN_mul` and `BN_sub_word`.
pub(crate) fn totient<'a>(library: &'a Libcrypto, job: &Job) -> Box<dyn Prepared + 'a> {
    kit::items("BN_mul", job, move || {
        let mut p = Number::secret(library)?;
        let mut q = Number::secret(library)?;
        let mut product = Number::secret(library)?;
        let mut scratch = Scratch::new(library)?;
        Ok(move |primes: &[u8], output: &mut [u8]| {
            let (p_bytes, q_bytes) = primes.split_at(primes.len() / 2);
            let (n, phi) = output.split_at_mut(output.len() / 2);
            p.read(p_bytes)?;
            q.read(q_bytes)?;
            if p.bits() == 0 || q.bits() == 0 {
                return Err(EngineError::Key("a prime is zero".to_owned()));
            }
            product.set_product(&p, &q, &mut scratch)?;
            if !product.write(n) {
                return Err(EngineError::Key(
                    "the product of the primes is longer than the modulus".to_owned(),
                ));
            }
            p.subtract_word(1)?;
            q.subtract_word(1)?;
            product.set_product(&p, &q, &mut scratch)?;
            assert!(product.write(phi), "φ(n) is smaller than n");
            Ok(())
        })
    })
}

/// `d = e⁻¹ mod φ(n)`, by `BN_mod_inverse` with `φ(n)` marked as secret, as OpenSSL's own key generation calls it.
pub(crate) fn private_exponent<'a>(library: &'a Libcrypto, job: &Job) -> Box<dyn Prepared + 'a> {
    let e = job.fixed_exponent().to_be_bytes();
    kit::items("BN_mod_inverse", job, move || {
        let mut exponent = Number::new(library)?;
        exponent.read(&e)?;
        let mut totient = Number::secret(library)?;
        let mut inverse = Number::secret(library)?;
        let mut scratch = Scratch::new(library)?;
        Ok(move |phi: &[u8], d: &mut [u8]| {
            totient.read(phi)?;
            if !inverse.set_inverse(&exponent, &totient, &mut scratch) {
                return Err(EngineError::Key(
                    "the public exponent has no inverse modulo φ(n)".to_owned(),
                ));
            }
            assert!(inverse.write(d), "an inverse is smaller than its modulus");
            Ok(())
        })
    })
}
