//! The private operation: x^d mod n, by CRT or without, blinded, checked before release, in constant time.

use crate::batch;
use crate::fault::{self, Place};
use crate::limbs::aligned::Aligned;
use crate::limbs::{Modulus, Nat};
use crate::power::Exponentiation;
use crate::power::blinded_check::{BlindedCheck, Blinding};
use crate::power::crt::CrtParts;
use crate::{CheckedPrivateKey, Error, Kernel, Status, integer};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A private key, prepared once for one kernel. Shared by any number of threads; wiped on drop.
pub struct PrivateContext {
    id: u64,
    kernel: Kernel,
    modulus: Modulus,
    power: Box<dyn Exponentiation>,
    check: Box<dyn BlindedCheck>,
}

/// Working memory and blinding of one thread for one [`PrivateContext`]. Wiped on drop.
pub struct PrivateScratch {
    context: u64,
    blinding: Blinding,
    inputs: Aligned,
    values: Aligned,
    working: Aligned,
}

/// Raises to the whole of d.
pub(super) fn plain_power(
    modulus: &Modulus,
    key: &CheckedPrivateKey,
    kernel: Kernel,
) -> Result<Box<dyn Exponentiation>, Error> {
    let d = key.parts().d;
    // Larger exponents are right too, but the windows are as many as n has bits for.
    if !integer::is_less(d, key.public().n()) {
        return Err(Error::InconsistentKey("d is not below n"));
    }
    let d = Nat::from_be(d).resized(modulus.limbs());
    Ok(kernel.plain(modulus, &d, modulus.bits()))
}

/// Contexts made so far. A scratch is tied to its context, for its blinding fits no other key.
static CONTEXTS: AtomicU64 = AtomicU64::new(0);

impl PrivateContext {
    /// Prepares a key.
    pub fn new(key: &CheckedPrivateKey, kernel: Kernel) -> Self {
        let modulus = key.public().modulus();
        let power = kernel.private(&CrtParts::new(&modulus, key));
        Self::with_power(key, kernel, modulus, power)
    }

    /// Prepares a key without the CRT: one power by the whole of d, blinded and checked all the same. For measurement:
    /// it is slower, and nothing is gained by it.
    ///
    /// # Errors
    /// [`Error::InconsistentKey`] for a d that is not below n.
    pub fn without_crt(key: &CheckedPrivateKey, kernel: Kernel) -> Result<Self, Error> {
        let modulus = key.public().modulus();
        let power = plain_power(&modulus, key, kernel)?;
        Ok(Self::with_power(key, kernel, modulus, power))
    }

    fn with_power(
        key: &CheckedPrivateKey,
        kernel: Kernel,
        mut modulus: Modulus,
        power: Box<dyn Exponentiation>,
    ) -> Self {
        let check = kernel.blinded_check(&modulus, &key.public().exponent());
        modulus.for_each_number(&mut |words| fault::pass(Place::KeyModulus, words));
        Self {
            id: CONTEXTS.fetch_add(1, Relaxed),
            kernel,
            check,
            modulus,
            power,
        }
    }

    /// Length of n, in bits.
    pub fn modulus_bits(&self) -> usize {
        self.modulus.bits()
    }

    /// Length of n, and of each input and output, in bytes.
    pub fn modulus_len(&self) -> usize {
        self.modulus.bits().div_ceil(8)
    }

    /// The kernel that runs.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Working memory and fresh blinding for one thread.
    ///
    /// # Errors
    /// [`Error::Randomness`].
    pub fn scratch(&self) -> Result<PrivateScratch, Error> {
        let values = self.check.items() * self.modulus.limbs();
        let working = self.power.working_words().max(self.check.working_words());
        let mut scratch = PrivateScratch {
            context: self.id,
            blinding: self.check.blinding(),
            inputs: Aligned::zero(values),
            values: Aligned::zero(values),
            working: Aligned::zero(working),
        };
        // A source of randomness that fails is better known now.
        self.check.advance(&mut scratch.blinding, &mut scratch.working)?;
        Ok(scratch)
    }

    /// Raises every input to d. Time and addresses depend on the key's lengths, on e, and on which inputs are in range,
    /// never on the key's secrets, the inputs' values or the results.
    ///
    /// `inputs` and `outputs` hold one number of [`modulus_len`](Self::modulus_len) big-endian bytes for each entry of
    /// `status`. An input that is not below n gets [`Status::OutOfRange`], a result that fails its check
    /// [`Status::Fault`]; both get a zero output and harm no neighbour.
    ///
    /// # Errors
    /// [`Error::Length`] if the buffers disagree, before anything is written; [`Error::Randomness`] when blinding
    /// cannot be renewed: the outputs are all zero then, and `status` means nothing.
    ///
    /// # Panics
    /// If `scratch` comes from another context.
    pub fn apply(
        &self,
        scratch: &mut PrivateScratch,
        inputs: &[u8],
        outputs: &mut [u8],
        status: &mut [Status],
    ) -> Result<(), Error> {
        assert_eq!(scratch.context, self.id, "the scratch belongs to another context");
        let len = self.modulus_len();
        batch::check_layout(len, inputs, outputs, status)?;
        scratch.blinding.check_process();
        let step = self.check.items();
        let applied = inputs
            .chunks(step * len)
            .zip(outputs.chunks_mut(step * len))
            .zip(status.chunks_mut(step))
            .try_for_each(|((inputs, outputs), status)| self.apply_step(scratch, inputs, outputs, status));
        if applied.is_err() {
            outputs.fill(0);
        }
        applied
    }

    fn apply_step(
        &self,
        scratch: &mut PrivateScratch,
        inputs: &[u8],
        outputs: &mut [u8],
        status: &mut [Status],
    ) -> Result<(), Error> {
        let (modulus, limbs) = (&self.modulus, self.modulus.limbs());
        let PrivateScratch {
            context: _,
            blinding,
            inputs: given,
            values,
            working,
        } = scratch;
        let given = &mut given[..status.len() * limbs];
        let values = &mut values[..status.len() * limbs];
        batch::read(modulus, inputs, given, status);
        fault::pass(Place::Input, given);
        values.copy_from_slice(given);
        self.check.advance(blinding, working)?;
        self.check.blind(blinding, values, working);
        for values in values.chunks_mut(self.power.items() * limbs) {
            self.power.raise(values, working);
        }
        // Read once more: what the power was taken of is compared with what the caller gave.
        batch::read(modulus, inputs, given, status);
        self.check.release(blinding, given, values, working, status);
        batch::withhold_unreduced(modulus, values, status);
        if status.contains(&Status::Fault) {
            // The fault may have been in the pairs themselves.
            blinding.discard();
        }
        batch::write(modulus, values, outputs, status);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A power that goes wrong for the last item of each call, as a fault would make it.
    struct Faulty {
        power: Box<dyn Exponentiation>,
        limbs: usize,
    }

    impl Exponentiation for Faulty {
        fn items(&self) -> usize {
            self.power.items()
        }

        fn working_words(&self) -> usize {
            self.power.working_words()
        }

        fn raise(&self, values: &mut [u64], working: &mut [u64]) {
            self.power.raise(values, working);
            let last = values.len() - self.limbs;
            values[last] ^= 1;
        }
    }

    fn context() -> PrivateContext {
        // 2^521 - 1 and 2^127 - 1.
        let (p, q) = (
            [vec![1], vec![0xff; 65]].concat(),
            [vec![0x7f], vec![0xff; 15]].concat(),
        );
        let key = CheckedPrivateKey::from_primes(&p, &q, &[1, 0, 1]).unwrap();
        // What protects a power is asked here, and the CRT has tests of its own. Without it they take less compiling.
        PrivateContext::without_crt(&key, Kernel::auto()).unwrap()
    }

    #[test]
    fn a_fault_is_withheld_and_harms_no_neighbour() {
        let mut context = context();
        let len = context.modulus_len();
        let input: Vec<u8> = (0..3 * len).map(|i| if i % len == 0 { 0 } else { i as u8 }).collect();
        let (mut sound, mut status) = (vec![0; 3 * len], [Status::Fault; 3]);
        let mut scratch = context.scratch().unwrap();
        context.apply(&mut scratch, &input, &mut sound, &mut status).unwrap();
        assert_eq!(status, [Status::Done; 3]);

        let items = context.power.items();
        context.power = Box::new(Faulty {
            power: context.power,
            limbs: context.modulus.limbs(),
        });
        let mut output = vec![0xaa; 3 * len];
        context.apply(&mut scratch, &input, &mut output, &mut status).unwrap();
        for (i, (output, sound)) in output.chunks(len).zip(sound.chunks(len)).enumerate() {
            if (i + 1).is_multiple_of(items) || i == 2 {
                assert_eq!(status[i], Status::Fault);
                assert!(output.iter().all(|&byte| byte == 0));
            } else {
                assert_eq!((status[i], output), (Status::Done, sound));
            }
        }
        assert!(status.contains(&Status::Fault));
    }

    #[test]
    fn a_fault_in_the_blinding_does_not_stay() {
        let context = context();
        let len = context.modulus_len();
        let mut scratch = context.scratch().unwrap();
        let apply = |scratch: &mut PrivateScratch| {
            let mut status = [Status::Done];
            context
                .apply(scratch, &vec![0x01; len], &mut vec![0; len], &mut status)
                .unwrap();
            status[0]
        };
        assert_eq!(apply(&mut scratch), Status::Done);
        scratch.blinding.break_pairs();
        assert_eq!(apply(&mut scratch), Status::Fault);
        assert_eq!(apply(&mut scratch), Status::Done);
    }

    #[test]
    #[should_panic(expected = "belongs to another context")]
    fn a_scratch_of_another_context_is_refused() {
        let mut scratch = context().scratch().unwrap();
        let len = context().modulus_len();
        let _ = context().apply(&mut scratch, &vec![0; len], &mut vec![0; len], &mut [Status::Done]);
    }

    #[test]
    fn every_call_is_blinded_anew() {
        let context = context();
        let len = context.modulus_len();
        let mut scratch = context.scratch().unwrap();
        let mut seen = Vec::new();
        for _ in 0..5 {
            context
                .apply(&mut scratch, &vec![0; len], &mut vec![0; len], &mut [Status::Done])
                .unwrap();
            let inverses = scratch.blinding.inverses().to_vec();
            assert!(!seen.contains(&inverses));
            seen.push(inverses);
        }
    }
}
