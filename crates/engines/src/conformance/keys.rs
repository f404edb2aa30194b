//! Keys, pairs of primes, and the primes among given candidates.

use super::{
    case::VALIDITY,
    suite::{Suite, wrong},
};
use crate::{client::SessionError, inputs::inputs, job::Job, op::Op, protocol::FaultKind, verify::verify};

impl Suite<'_> {
    /// Keys and prime pairs: valid, and no two the same.
    pub(super) fn made(&mut self, op: Op, count: usize) -> Result<(), SessionError> {
        let job = Job {
            batch: count,
            ..self.job(op)
        };
        if !self.offers(&job)? {
            return Ok(());
        }
        self.case(&job, VALIDITY, |suite| {
            let made = suite.outputs(&job, &[])?;
            if made.len() != count * job.layout().output {
                return wrong(format!("{} bytes for {count} items", made.len()));
            }
            match verify(&job, suite.key, &[], &made) {
                Ok(()) => Ok(count),
                Err(error) => wrong(error.to_string()),
            }
        })
    }

    /// Sequences of candidates whose primes are where they are in the mean, or elsewhere, or not there.
    pub(super) fn given_candidates(&mut self, items: usize) -> Result<(), SessionError> {
        let op = Op::PrimeSearch;
        if !self.random_inputs(op, items)? {
            return Ok(());
        }
        let job = self.job(op);
        let average = inputs(&job, self.key, self.seed, 96, 1);
        let prime = self.key.p.len();
        let of_one = average.len() / 2 / prime;
        let place = |place: usize| place * prime..(place + 1) * prime;
        let (p, q) = (self.key.p.clone(), self.key.q.clone());
        let composite = average[place(0)].to_vec();
        let moved = |p_place: usize, q_place: usize| {
            let mut moved = average.clone();
            for (from, to) in [(of_one - 1, p_place), (2 * of_one - 1, q_place)] {
                moved[place(from)].copy_from_slice(&composite);
                moved[place(to)].copy_from_slice(if from < of_one { &p } else { &q });
            }
            moved
        };
        for (first, second) in [(0, 1), (0, of_one), (3, 5), (of_one, of_one + 9)] {
            let name = format!("primes as candidates {first} and {second}");
            self.case(&job, &name, |suite| {
                match suite.outputs(&job, &moved(first, second))? == [&p[..], &q].concat() {
                    true => Ok(1),
                    false => wrong("the first two primes are others"),
                }
            })?;
        }
        let mut one_prime = average.clone();
        one_prime[place(of_one - 1)].copy_from_slice(&composite);
        self.case(&job, "one prime only", |suite| {
            suite.refused(&job, &one_prime, |fault| fault.kind == FaultKind::Library)
        })?;
        self.lengths(op)
    }
}
