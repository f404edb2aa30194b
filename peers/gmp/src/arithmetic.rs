//! The two steps of key set-up that article (b) times by themselves: the totient, and the private exponent.

use rsalab_engines::{EngineError, Job, Layout, Prepared, RunStats, Runner, check_items};

use crate::number::Number;

/// `n = p·q` and `φ(n) = (p−1)(q−1)`, by `mpz_mul`.
pub(crate) struct PreparedTotient {
    layout: Layout,
}

impl PreparedTotient {
    pub(crate) fn new(job: &Job) -> Self {
        Self {
            layout: job.layout(),
        }
    }
}

impl Prepared for PreparedTotient {
    fn kernel(&self) -> String {
        "mpz_mul".to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        let number = || Number::with_room(8 * self.layout.output);
        Ok(Box::new(TotientRunner {
            layout: self.layout,
            p: number(),
            q: number(),
            p_less_one: number(),
            q_less_one: number(),
            product: number(),
        }))
    }
}

struct TotientRunner {
    layout: Layout,
    p: Number,
    q: Number,
    p_less_one: Number,
    q_less_one: Number,
    product: Number,
}

impl Runner for TotientRunner {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        check_items(self.layout, inputs, outputs)?;
        let Self {
            layout,
            p,
            q,
            p_less_one,
            q_less_one,
            product,
        } = self;
        let items = inputs
            .chunks_exact(layout.input)
            .zip(outputs.chunks_exact_mut(layout.output));
        for (index, (input, output)) in items.enumerate() {
            let (p_bytes, q_bytes) = input.split_at(layout.input / 2);
            let (n, phi) = output.split_at_mut(layout.output / 2);
            p.read(p_bytes);
            q.read(q_bytes);
            if p.is_zero() || q.is_zero() {
                return Err(EngineError::Key(format!(
                    "a prime of input {index} is zero"
                )));
            }
            product.set_product(p, q);
            if !product.write(n) {
                return Err(EngineError::Key(format!(
                    "the product of the primes of input {index} is longer than the modulus"
                )));
            }
            p_less_one.set_less_word(p, 1);
            q_less_one.set_less_word(q, 1);
            product.set_product(p_less_one, q_less_one);
            assert!(product.write(phi), "φ(n) is smaller than n");
        }
        Ok(RunStats::default())
    }
}

/// `d = e⁻¹ mod φ(n)`, by `mpz_invert`.
pub(crate) struct PreparedExponent {
    exponent: u64,
    layout: Layout,
}

impl PreparedExponent {
    pub(crate) fn new(job: &Job) -> Self {
        Self {
            exponent: job.fixed_exponent(),
            layout: job.layout(),
        }
    }
}

impl Prepared for PreparedExponent {
    fn kernel(&self) -> String {
        "mpz_invert".to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        Ok(Box::new(ExponentRunner {
            layout: self.layout,
            exponent: Number::from_bytes(&self.exponent.to_be_bytes()),
            totient: Number::with_room(8 * self.layout.input),
            inverse: Number::with_room(8 * self.layout.output),
        }))
    }
}

struct ExponentRunner {
    layout: Layout,
    exponent: Number,
    totient: Number,
    inverse: Number,
}

impl Runner for ExponentRunner {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        check_items(self.layout, inputs, outputs)?;
        let Self {
            layout,
            exponent,
            totient,
            inverse,
        } = self;
        let items = inputs
            .chunks_exact(layout.input)
            .zip(outputs.chunks_exact_mut(layout.output));
        for (index, (input, output)) in items.enumerate() {
            totient.read(input);
            if !inverse.set_inverse(exponent, totient) {
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
