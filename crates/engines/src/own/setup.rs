//! The two steps of key set-up that article (b) times by themselves, on secret values and so in constant time.

use rsalab_arith::integer;

use crate::{
    engine::{EngineError, Prepared, RunStats, Runner, check_items},
    job::Job,
    op::Layout,
};

/// `n = p·q` and `φ(n) = (p−1)(q−1)`.
pub(super) struct Totients {
    layout: Layout,
}

impl Totients {
    pub(super) fn new(job: &Job) -> Self {
        Totients {
            layout: job.layout(),
        }
    }
}

impl Prepared for Totients {
    fn kernel(&self) -> String {
        "integer-multiply".to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        Ok(Box::new(self))
    }
}

impl Runner for &Totients {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        check_items(self.layout, inputs, outputs)?;
        let items = inputs
            .chunks_exact(self.layout.input)
            .zip(outputs.chunks_exact_mut(self.layout.output));
        for (input, output) in items {
            let (p, q) = input.split_at(input.len() / 2);
            let (n, phi) = integer::totient(p, q);
            let (n_place, phi_place) = output.split_at_mut(output.len() / 2);
            put(&n, n_place)?;
            put(&phi, phi_place)?;
        }
        Ok(RunStats::default())
    }
}

/// `d = e⁻¹ mod φ(n)`.
pub(super) struct PrivateExponents {
    exponent: [u8; 8],
    layout: Layout,
}

impl PrivateExponents {
    pub(super) fn new(job: &Job) -> Self {
        PrivateExponents {
            exponent: job.fixed_exponent().to_be_bytes(),
            layout: job.layout(),
        }
    }
}

impl Prepared for PrivateExponents {
    fn kernel(&self) -> String {
        "integer-safegcd".to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        Ok(Box::new(self))
    }
}

impl Runner for &PrivateExponents {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        check_items(self.layout, inputs, outputs)?;
        let items = inputs
            .chunks_exact(self.layout.input)
            .zip(outputs.chunks_exact_mut(self.layout.output));
        for (phi, output) in items {
            let d = integer::private_exponent(&self.exponent, phi).map_err(|error| {
                EngineError::Library {
                    call: "the inversion of the public exponent",
                    message: error.to_string(),
                }
            })?;
            put(&d, output)?;
        }
        Ok(RunStats::default())
    }
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
