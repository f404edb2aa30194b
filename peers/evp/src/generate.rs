//! Keys, pairs of primes, and the primes of given candidates.

use rsalab_engines::{Job, Prepared, kit};

use crate::{
    context::Context,
    count::{self, Search},
    library::Libcrypto,
    number::{Callback, Number, Scratch},
};

/// Whole keys, by `EVP_PKEY_keygen`.
pub(crate) fn keys<'a>(library: &'a Libcrypto, job: &Job) -> Box<dyn Prepared + 'a> {
    let (bits, exponent) = (job.bits, job.fixed_exponent());
    let search = library.key_search(bits, exponent);
    kit::items("EVP_PKEY_keygen", job, move || {
        let mut context = Context::for_keygen(library, bits, exponent)?;
        Ok(move |_: &[u8], output: &mut [u8]| {
            let info = library.table.EVP_PKEY_CTX_get_keygen_info;
            let (key, tests) = count::tests_of(search, info, || context.generate());
            let [p, q, d] = kit::split_key(bits, output);
            key?.write(p, q, d)?;
            Ok((search != Search::Independent).then_some(tests))
        })
    })
}

/// Pairs of primes, by `BN_generate_prime_ex`.
pub(crate) fn prime_pairs<'a>(library: &'a Libcrypto, job: &Job) -> Box<dyn Prepared + 'a> {
    let (bits, exponent) = (job.bits, job.fixed_exponent());
    kit::items("BN_generate_prime_ex", job, move || {
        let mut prime = Number::secret(library)?;
        let mut callback = Callback::new(library)?;
        Ok(move |_: &[u8], output: &mut [u8]| {
            let info = library.table.EVP_PKEY_CTX_get_keygen_info;
            let (found, tests) = count::tests_of(library.prime_search(), info, || {
                let [p, q, _] = kit::split_key(bits, output);
                kit::fit_pair(bits / 2, exponent, p, q, |out| {
                    prime.set_prime(bits / 2, &mut callback)?;
                    assert!(prime.write(out), "a prime has the bits asked for");
                    Ok(())
                })
            });
            found.map(|()| tests)
        })
    })
}

/// The primes among given candidates, by `BN_is_prime_fasttest_ex`.
pub(crate) fn candidates<'a>(library: &'a Libcrypto, job: &Job) -> Box<dyn Prepared + 'a> {
    kit::items("BN_is_prime_fasttest_ex", job, move || {
        let mut number = Number::secret(library)?;
        let mut scratch = Scratch::new(library)?;
        Ok(move |candidates: &[u8], output: &mut [u8]| {
            kit::first_two_primes(candidates, output, |candidate| {
                number.read(candidate)?;
                number.is_prime(&mut scratch)
            })
        })
    })
}
