//! The two steps of key set-up that article (b) times by themselves: the totient, and the private exponent.

use rsalab_engines::{EngineError, Job, Layout, Prepared, RunStats, Runner, check_items};

use crate::{
    library::Libcrypto,
    number::{Number, Scratch},
};

/// `n = p·q` and `φ(n) = (p−1)(q−1)`, by `BN_mul` and `BN_sub_word`.
pub(crate) struct PreparedTotient<'a> {
    library: &'a Libcrypto,
    layout: Layout,
}

impl<'a> PreparedTotient<'a> {
    pub(crate) fn new(library: &'a Libcrypto, job: &Job) -> Self {
        Self {
            library,
            layout: job.layout(),
        }
    }
}

impl Prepared for PreparedTotient<'_> {
    fn kernel(&self) -> String {
        "BN_mul".to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        Ok(Box::new(TotientRunner {
            layout: self.layout,
            p: Number::secret(self.library)?,
            q: Number::secret(self.library)?,
            product: Number::secret(self.library)?,
            scratch: Scratch::new(self.library)?,
        }))
    }
}

struct TotientRunner<'a> {
    layout: Layout,
    p: Number<'a>,
    q: Number<'a>,
    product: Number<'a>,
    scratch: Scratch<'a>,
}

impl Runner for TotientRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        check_items(self.layout, inputs, outputs)?;
        let Self {
            layout,
            p,
            q,
            product,
            scratch,
        } = self;
        for (index, (input, output)) in inputs
            .chunks_exact(layout.input)
            .zip(outputs.chunks_exact_mut(layout.output))
            .enumerate()
        {
            let (p_bytes, q_bytes) = input.split_at(layout.input / 2);
            let (n, phi) = output.split_at_mut(layout.output / 2);
            p.read(p_bytes)?;
            q.read(q_bytes)?;
            if p.bits() == 0 || q.bits() == 0 {
                return Err(EngineError::Key(format!(
                    "a prime of input {index} is zero"
                )));
            }
            product.set_product(p, q, scratch)?;
            if !product.write(n) {
                return Err(EngineError::Key(format!(
                    "the product of the primes of input {index} is longer than the modulus"
                )));
            }
            p.subtract_word(1)?;
            q.subtract_word(1)?;
            product.set_product(p, q, scratch)?;
            assert!(product.write(phi), "φ(n) is smaller than n");
        }
        Ok(RunStats::default())
    }
}

/// `d = e⁻¹ mod φ(n)`, by `BN_mod_inverse` with `φ(n)` marked as secret, as OpenSSL's own key generation calls it.
pub(crate) struct PreparedExponent<'a> {
    library: &'a Libcrypto,
    exponent: u64,
    layout: Layout,
}

impl<'a> PreparedExponent<'a> {
    pub(crate) fn new(library: &'a Libcrypto, job: &Job) -> Self {
        Self {
            library,
            exponent: job.fixed_exponent(),
            layout: job.layout(),
        }
    }
}

impl Prepared for PreparedExponent<'_> {
    fn kernel(&self) -> String {
        "BN_mod_inverse".to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        let mut exponent = Number::new(self.library)?;
        exponent.read(&self.exponent.to_be_bytes())?;
        Ok(Box::new(ExponentRunner {
            layout: self.layout,
            exponent,
            totient: Number::secret(self.library)?,
            inverse: Number::secret(self.library)?,
            scratch: Scratch::new(self.library)?,
        }))
    }
}

struct ExponentRunner<'a> {
    layout: Layout,
    exponent: Number<'a>,
    totient: Number<'a>,
    inverse: Number<'a>,
    scratch: Scratch<'a>,
}

impl Runner for ExponentRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        check_items(self.layout, inputs, outputs)?;
        let Self {
            layout,
            exponent,
            totient,
            inverse,
            scratch,
        } = self;
        for (index, (input, output)) in inputs
            .chunks_exact(layout.input)
            .zip(outputs.chunks_exact_mut(layout.output))
            .enumerate()
        {
            totient.read(input)?;
            if !inverse.set_inverse(exponent, totient, scratch) {
                return Err(EngineError::Key(format!(
                    "the public exponent has no inverse modulo input {index}"
                )));
            }
            assert!(
                inverse.write(output),
                "an inverse is smaller than its modulus"
            );
        }
        Ok(RunStats::default())
    }
}
