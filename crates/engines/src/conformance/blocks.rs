//! Raw blocks, alone and as those of a text.

use super::suite::{Suite, Tried, wrong};
use crate::{client::SessionError, inputs::inputs, job::Job, op::Op, protocol::FaultKind};

/// Engines whose library refuses 0, 1 and n − 1, which no padding makes. A refusal by any other engine is a failure.
const REFUSE_OWN_POWERS: [&str; 1] = ["aws-lc"];

impl Suite<'_> {
    /// Private and public blocks.
    pub(super) fn blocks(&mut self, op: Op, items: usize) -> Result<(), SessionError> {
        if !self.random_inputs(op, items)? {
            return Ok(());
        }
        self.edges(op)?;
        self.batches(op, items.min(9))?;
        self.too_large(op)?;
        self.lengths(op)?;
        // After all the refusals the worker must still be itself.
        self.timed(op)
    }

    /// Numbers that are their own power whatever the exponent, multiples of a prime, and long runs of ones.
    fn edges(&mut self, op: Op) -> Result<(), SessionError> {
        let k = self.key.n.len();
        let padded = |number: &[u8]| [&vec![0; k - number.len()][..], number].concat();
        let mut last = self.key.n.clone();
        // n is odd.
        last[k - 1] -= 1;
        let job = self.job(op);
        for (name, block) in [("0", padded(&[0])), ("1", padded(&[1])), ("n − 1", last)] {
            self.case(&job, name, |suite| suite.own_power(&job, name, &block))?;
        }
        let job = Job { batch: 3, ..job };
        let mut ones = vec![0xFF; k];
        ones[0] = self.key.n[0] >> 1;
        let edges = [padded(&[2]), padded(&self.key.p), padded(&self.key.q), ones].concat();
        self.case(&job, "2, p, q, ones", |suite| suite.verified(&job, &edges))
    }

    /// A block that is its own power. The libraries known for it may refuse it; then there is no answer to look at.
    fn own_power(&mut self, job: &Job, name: &str, block: &[u8]) -> Tried {
        match self.outputs(job, block) {
            Ok(output) if output == block => Ok(1),
            Ok(_) => wrong(format!("{name} must be its own power")),
            Err(SessionError::Fault(fault))
                if fault.kind == FaultKind::Library
                    && REFUSE_OWN_POWERS.contains(&self.session.info().name.as_str()) =>
            {
                Ok(0)
            }
            Err(SessionError::Fault(fault)) => wrong(format!("refused, but as {:?}: {fault}", fault.kind)),
            Err(lost) => Err(lost.into()),
        }
    }

    /// Blocks that are not smaller than the modulus: refused, each by its place.
    fn too_large(&mut self, op: Op) -> Result<(), SessionError> {
        let k = self.key.n.len();
        let modulus = self.key.n.clone();
        let mut next = modulus.clone();
        // n is odd and its last byte may be 255: add 2 to the last byte but one instead of carrying by hand.
        next[k - 2] = next[k - 2].saturating_add(2);
        let job = Job {
            batch: 2,
            ..self.job(op)
        };
        for (name, block) in [("n", modulus), ("above n", next), ("all ones", vec![0xFF; k])] {
            if block < self.key.n {
                continue;
            }
            for place in [0, 2] {
                let mut inputs = inputs(&job, self.key, self.seed, 32 + op as u64, 3);
                inputs[place * k..][..k].copy_from_slice(&block);
                self.case(&job, &format!("{name} as input {place}"), |suite| {
                    suite.refused(&job, &inputs, |fault| {
                        fault.kind == FaultKind::InputOutOfRange && fault.item == Some(place)
                    })
                })?;
            }
        }
        Ok(())
    }

    /// Texts of awkward lengths, on more threads than blocks where there are threads.
    pub(super) fn texts(&mut self, op: Op) -> Result<(), SessionError> {
        let block = self.key.n.len() - 1;
        let threads = if self.scope.threads > 1 { 3 } else { 1 };
        for symbols in [0, 1, block, block + 1, 2 * block - 1] {
            let job = Job {
                threads,
                symbols,
                block_symbols: block,
                ..self.job(op)
            };
            if !self.offers(&job)? {
                return Ok(());
            }
            let given = inputs(&job, self.key, self.seed, 64 + op as u64, 1);
            self.case(&job, &format!("a text of {symbols} symbols"), |suite| {
                suite.verified(&job, &given)
            })?;
        }
        Ok(())
    }
}
