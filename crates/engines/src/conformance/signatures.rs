//! Signatures: made, verified, and rejected.

use super::suite::{Suite, wrong};
use crate::{
    client::SessionError,
    inputs::inputs,
    job::Job,
    number::private_power_vartime,
    op::{DIGEST_BYTES, Op},
    padding::emsa_pkcs1_v1_5,
};

impl Suite<'_> {
    /// Signing, or verifying.
    pub(super) fn signatures(&mut self, op: Op, items: usize) -> Result<(), SessionError> {
        // Enough that some of those to be verified are spoilt.
        let items = items.max(8);
        if !self.random_inputs(op, items)? {
            return Ok(());
        }
        if matches!(op, Op::Verify | Op::Screen) {
            self.wrong_signatures(op)?;
        }
        self.batches(op, items.min(9))?;
        self.lengths(op)?;
        self.timed(op)
    }

    /// Screening, of engines that do it: no word of those that do not.
    pub(super) fn screening(&mut self, items: usize) -> Result<(), SessionError> {
        match self.session.supports(&self.job(Op::Screen))? {
            Ok(_) => self.signatures(Op::Screen, items),
            Err(_) => Ok(()),
        }
    }

    /// Signatures that must be rejected, and no more than that, whatever is wrong with them: by screening, too, as each
    /// is in a batch without another that would undo it.
    fn wrong_signatures(&mut self, op: Op) -> Result<(), SessionError> {
        let job = Job {
            batch: 3,
            ..self.job(op)
        };
        let k = self.key.n.len();
        let right = inputs(&job, self.key, self.seed, 80, 1);
        let (digest, signature) = right.split_at(DIGEST_BYTES);
        // Right powers of encodings that are not PKCS#1's.
        let power_of = |change: fn(&mut [u8])| {
            let mut encoding = emsa_pkcs1_v1_5(digest, k);
            change(&mut encoding);
            private_power_vartime(&encoding, self.key)
        };
        let cases: [(&str, Vec<u8>); 8] = [
            ("0", vec![0; k]),
            ("1", [vec![0; k - 1], vec![1]].concat()),
            ("n", self.key.n.clone()),
            ("all ones", vec![0xFF; k]),
            ("that of a block of another type", power_of(|block| block[1] = 2)),
            ("that of a gap in the padding", power_of(|block| block[9] = 0)),
            (
                "that of another hash's name",
                power_of(|block| block[block.len() - DIGEST_BYTES - 5] ^= 3),
            ),
            ("that of another digest", power_of(|block| block[block.len() - 1] ^= 1)),
        ];
        for (name, bad) in cases {
            // Between two right ones, to see that they are not harmed.
            let signed = [&right[..], digest, &bad, digest, signature].concat();
            self.case(&job, &format!("the signature {name}"), |suite| {
                match suite.outputs(&job, &signed)?[..] {
                    [1, 0, 1] => Ok(3),
                    ref verdicts => wrong(format!("the verdicts were {verdicts:?} instead of [1, 0, 1]")),
                }
            })?;
        }
        Ok(())
    }
}
