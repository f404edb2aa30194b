//! Many faults in many operations of one key, and what came of them: see [`crate::fault`].

#[cfg(feature = "hazmat")]
use crate::context::bare::{BarePrivateContext, BarePrivateScratch};
use crate::context::{MultiKeyContext, MultiKeyRunner, PrivateContext, PrivateScratch, PublicContext};
use crate::fault::{Fault, Place, sizes, with_fault};
use crate::{CheckedPrivateKey, Error, Kernel, Status};

/// A form of the private operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// [`PrivateContext::new`].
    Crt,
    /// [`PrivateContext::without_crt`].
    WithoutCrt,
    /// [`MultiKeyContext`], with one key.
    MultiKey,
    /// [`BarePrivateContext::new`]: without protections, to see that faults are found at all.
    #[cfg(feature = "hazmat")]
    Bare,
}

/// Operations by what came of the one bit that was flipped in each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// All results were right: the bit was not used, or made no difference.
    pub harmless: u64,
    /// A result was withheld, and every other one was right.
    pub withheld: u64,
    /// A wrong result was released.
    pub wrong: u64,
}

impl Outcome {
    /// Operations in all.
    pub fn faults(&self) -> u64 {
        self.harmless + self.withheld + self.wrong
    }
}

/// One key, prepared for one kernel, and a batch of inputs whose results are known.
pub struct Campaign<'a> {
    key: &'a CheckedPrivateKey,
    kernel: Kernel,
    way: Way,
    inputs: Vec<u8>,
    expected: Vec<u8>,
    /// State of the generator of places (splitmix64; Steele, Lea and Flood 2014). Nothing secret depends on it.
    state: u64,
}

/// A prepared key of any form.
enum Prepared {
    Checked(Box<PrivateContext>, Box<PrivateScratch>),
    MultiKey(Box<MultiKeyContext>),
    #[cfg(feature = "hazmat")]
    Bare(Box<BarePrivateContext>, Box<BarePrivateScratch>),
}

impl<'a> Campaign<'a> {
    /// Prepares a batch of as many inputs as the kernel has lanes. `seed` decides the inputs, and which bits are
    /// flipped.
    ///
    /// # Errors
    /// The errors of the form's context.
    ///
    /// # Panics
    /// If results without a fault are not those of the public operation's inverse.
    pub fn new(key: &'a CheckedPrivateKey, kernel: Kernel, way: Way, seed: u64) -> Result<Self, Error> {
        let public = PublicContext::new(key.public(), kernel);
        let (len, items) = (public.modulus_len(), kernel.lanes());
        let mut campaign = Self {
            key,
            kernel,
            way,
            inputs: Vec::new(),
            expected: vec![0; items * len],
            state: seed,
        };
        campaign.inputs = (0..items * len)
            .map(|at| if at % len == 0 { 0 } else { campaign.random(256) as u8 })
            .collect();
        let (results, status) = campaign.apply(&mut campaign.prepare()?)?;
        assert!(status.iter().all(|&status| status == Status::Done));
        let (mut inputs, mut status) = (vec![0; items * len], vec![Status::Fault; items]);
        public.apply_vartime(&mut public.scratch(), &results, &mut inputs, &mut status)?;
        assert_eq!(inputs, campaign.inputs, "results without a fault");
        campaign.expected = results;
        Ok(campaign)
    }

    /// A number below `bound`, by the remainder: a bias of 2^-40 chooses places as well.
    fn random(&mut self, bound: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    fn prepare(&self) -> Result<Prepared, Error> {
        let checked = |context: PrivateContext| -> Result<Prepared, Error> {
            let scratch = context.scratch()?;
            Ok(Prepared::Checked(Box::new(context), Box::new(scratch)))
        };
        match self.way {
            Way::Crt => checked(PrivateContext::new(self.key, self.kernel)),
            Way::WithoutCrt => checked(PrivateContext::without_crt(self.key, self.kernel)?),
            Way::MultiKey => Ok(Prepared::MultiKey(Box::new(MultiKeyContext::new(
                &[self.key],
                self.kernel,
            )?))),
            #[cfg(feature = "hazmat")]
            Way::Bare => {
                let context = BarePrivateContext::new(self.key, self.kernel);
                let scratch = context.scratch();
                Ok(Prepared::Bare(Box::new(context), Box::new(scratch)))
            }
        }
    }

    /// One batch: outputs, and their statuses.
    fn apply(&self, prepared: &mut Prepared) -> Result<(Vec<u8>, Vec<Status>), Error> {
        let items = self.kernel.lanes();
        let (mut outputs, mut status) = (vec![0xaa; self.inputs.len()], vec![Status::Done; items]);
        match prepared {
            Prepared::Checked(context, scratch) => context.apply(scratch, &self.inputs, &mut outputs, &mut status),
            Prepared::MultiKey(context) => {
                let mut runner: MultiKeyRunner<'_> = context.runner();
                runner.apply(&vec![0; items], &self.inputs, &mut outputs, &mut status)
            }
            #[cfg(feature = "hazmat")]
            Prepared::Bare(context, scratch) => context.apply(scratch, &self.inputs, &mut outputs, &mut status),
        }?;
        Ok((outputs, status))
    }

    /// Flips single random bits at a place, one in each of so many operations: every visit to the place and every bit
    /// of it is as likely. Memory of a key is flipped when the key has been prepared, and two operations follow; they
    /// count as one.
    ///
    /// The outcome has no operation in it if this form of the operation does not come by the place.
    ///
    /// # Errors
    /// [`Error::Randomness`].
    pub fn run(&mut self, place: Place, faults: u64) -> Result<Outcome, Error> {
        let mut prepared = self.prepare()?;
        // Pairs are drawn for the first operation, and squared for the others.
        self.apply(&mut prepared)?;
        let mut counted = Ok(());
        let visits = sizes(place, || {
            counted = match place.is_of_key() {
                true => self.prepare().map(drop),
                false => self.apply(&mut prepared).map(drop),
            };
        });
        counted?;
        let bits: usize = visits.iter().sum();
        let mut outcome = Outcome::default();
        if bits == 0 {
            return Ok(outcome);
        }
        for _ in 0..faults {
            let mut bit = self.random(bits as u64) as usize;
            let visit = visits.iter().position(|&size| {
                let is_here = bit < size;
                bit -= if is_here { 0 } else { size };
                is_here
            });
            let visit = visit.expect("the bit is below the sum of the sizes");
            let fault = Fault { place, visit, bit };
            let (is_right, is_withheld) = if place.is_of_key() {
                let (faulty, flipped) = with_fault(fault, || self.prepare());
                assert!(flipped, "{fault:?} was not reached");
                let mut faulty = faulty?;
                let first = self.judge(&mut faulty)?;
                let second = self.judge(&mut faulty)?;
                (first.0 && second.0, first.1 || second.1)
            } else {
                let (judged, flipped) = with_fault(fault, || self.judge(&mut prepared));
                assert!(flipped, "{fault:?} was not reached");
                judged?
            };
            match (is_right, is_withheld) {
                (false, _) => outcome.wrong += 1,
                (true, true) => outcome.withheld += 1,
                (true, false) => outcome.harmless += 1,
            }
        }
        Ok(outcome)
    }

    /// One batch: is each result right or withheld, and is one withheld? What is withheld must be zero.
    fn judge(&self, prepared: &mut Prepared) -> Result<(bool, bool), Error> {
        let (outputs, status) = self.apply(prepared)?;
        let len = self.inputs.len() / status.len();
        let mut items = outputs
            .chunks_exact(len)
            .zip(self.expected.chunks_exact(len))
            .zip(&status);
        let is_right = items.all(|((output, expected), status)| match status {
            Status::Done => output == expected,
            Status::OutOfRange | Status::Fault => output.iter().all(|&byte| byte == 0),
        });
        Ok((is_right, status.iter().any(|&status| status != Status::Done)))
    }
}
