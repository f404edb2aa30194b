//! The private operation: x^d mod n, by CRT or without, blinded, checked before release, in constant time.

use crate::batch::{self, Raise};
use crate::crt::CrtParts;
use crate::guard::{Blinding, Guard};
use crate::integer;
use crate::limbs::aligned::Aligned;
use crate::limbs::{Modulus, Nat, limbs_for_bits, words};
use crate::plain;
use crate::public::public_key;
use crate::{Error, Kernel, Status};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The parts of a private key, big-endian, of any length (leading zeros are harmless).
#[derive(Clone, Copy)]
pub struct PrivateParts<'a> {
    /// Modulus, p q.
    pub n: &'a [u8],
    /// Public exponent.
    pub e: &'a [u8],
    /// Private exponent: the inverse of e modulo p - 1 and q - 1.
    pub d: &'a [u8],
    /// First prime.
    pub p: &'a [u8],
    /// Second prime; either may be the larger.
    pub q: &'a [u8],
    /// d mod (p - 1).
    pub dp: &'a [u8],
    /// d mod (q - 1).
    pub dq: &'a [u8],
    /// q^-1 mod p.
    pub qinv: &'a [u8],
}

/// A private key, prepared once for one kernel. Shared by any number of threads; wiped on drop.
pub struct PrivateContext {
    id: u64,
    kernel: Kernel,
    modulus: Modulus,
    power: Box<dyn Raise>,
    guard: Box<dyn Guard>,
}

/// Working memory and blinding of one thread for one [`PrivateContext`]. Wiped on drop.
pub struct PrivateScratch {
    context: u64,
    blinding: Blinding,
    inputs: Aligned,
    values: Aligned,
    working: Aligned,
}

/// Contexts made so far. A scratch is tied to its context, for its blinding fits no other key.
static CONTEXTS: AtomicU64 = AtomicU64::new(0);

impl PrivateContext {
    /// Prepares a key after checking every relation between its parts.
    ///
    /// # Errors
    /// [`Error::InconsistentKey`]; and those of [`PublicContext::new`](crate::PublicContext::new).
    pub fn new(parts: &PrivateParts<'_>, kernel: Kernel) -> Result<Self, Error> {
        Self::with_power(parts, kernel, crt_power)
    }

    /// The same without the CRT: one power by the whole of d, blinded and checked all the same. For measurement: it is
    /// slower, and nothing is gained by it.
    ///
    /// # Errors
    /// Those of [`new`](Self::new); [`Error::InconsistentKey`] also for a d that is not below n.
    pub fn without_crt(parts: &PrivateParts<'_>, kernel: Kernel) -> Result<Self, Error> {
        Self::with_power(parts, kernel, plain_power)
    }

    fn with_power(
        parts: &PrivateParts<'_>,
        kernel: Kernel,
        power: PreparePower,
    ) -> Result<Self, Error> {
        let (modulus, e) = public_key(parts.n, parts.e)?;
        let guard = kernel.guard(&modulus, &e);
        let power = power(kernel, &modulus, parts)?;
        Ok(Self {
            id: CONTEXTS.fetch_add(1, Relaxed),
            kernel,
            modulus,
            power,
            guard,
        })
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
        let values = self.guard.items() * self.modulus.limbs();
        let working = self.power.working_words().max(self.guard.working_words());
        let mut scratch = PrivateScratch {
            context: self.id,
            blinding: self.guard.blinding(),
            inputs: Aligned::zero(values),
            values: Aligned::zero(values),
            working: Aligned::zero(working),
        };
        // A source of randomness that fails is better known now.
        self.guard
            .advance(&mut scratch.blinding, &mut scratch.working)?;
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
    /// [`Error::Length`] if the buffers disagree, before anything is written; [`Error::Randomness`] when blinding cannot
    /// be renewed: the outputs are all zero then, and `status` means nothing.
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
        assert_eq!(
            scratch.context, self.id,
            "the scratch belongs to another context"
        );
        let len = self.modulus_len();
        batch::check_layout(len, inputs, outputs, status)?;
        scratch.blinding.check_process();
        let step = self.guard.items();
        let applied = inputs
            .chunks(step * len)
            .zip(outputs.chunks_mut(step * len))
            .zip(status.chunks_mut(step))
            .try_for_each(|((inputs, outputs), status)| {
                self.apply_step(scratch, inputs, outputs, status)
            });
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
        values.copy_from_slice(given);
        self.guard.advance(blinding, working)?;
        self.guard.blind(blinding, values, working);
        for values in values.chunks_mut(self.power.items() * limbs) {
            self.power.raise(values, working);
        }
        self.guard.release(blinding, given, values, working, status);
        if status.contains(&Status::Fault) {
            // The fault may have been in the pairs themselves.
            blinding.discard();
        }
        batch::write(modulus, values, outputs, status);
        Ok(())
    }
}

/// How a key's power is prepared once its modulus is.
pub(crate) type PreparePower =
    fn(Kernel, &Modulus, &PrivateParts<'_>) -> Result<Box<dyn Raise>, Error>;

/// With the CRT.
pub(crate) fn crt_power(
    kernel: Kernel,
    modulus: &Modulus,
    parts: &PrivateParts<'_>,
) -> Result<Box<dyn Raise>, Error> {
    Ok(kernel.private(&crt_parts(modulus.clone(), parts)?))
}

/// Without.
pub(crate) fn plain_power(
    kernel: Kernel,
    modulus: &Modulus,
    parts: &PrivateParts<'_>,
) -> Result<Box<dyn Raise>, Error> {
    let d = plain::exponent(modulus, parts)?;
    Ok(kernel.plain(modulus, &d, modulus.bits()))
}

/// Checks a private key and brings its CRT parameters into limb form.
pub(crate) fn crt_parts(modulus: Modulus, parts: &PrivateParts<'_>) -> Result<CrtParts, Error> {
    integer::check(parts)?;
    let (p, q) = (Nat::from_be(parts.p), Nat::from_be(parts.q));
    let (p_bits, q_bits) = (words::bits_vartime(&p), words::bits_vartime(&q));
    let half = limbs_for_bits(p_bits.max(q_bits));
    Ok(CrtParts {
        modulus,
        p: Modulus::new(&p, p_bits, half),
        q: Modulus::new(&q, q_bits, half),
        dp: Nat::from_be(parts.dp).resized(half),
        dq: Nat::from_be(parts.dq).resized(half),
        qinv: Nat::from_be(parts.qinv).resized(half),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integer::{Derived, derive};

    /// A power that goes wrong for the last item of each call, as a fault would make it.
    struct Faulty {
        power: Box<dyn Raise>,
        limbs: usize,
    }

    impl Raise for Faulty {
        fn kernel(&self) -> &'static str {
            self.power.kernel()
        }

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

    fn key() -> (Vec<u8>, Vec<u8>, Derived) {
        // 2^521 - 1 and 2^127 - 1.
        let (p, q) = (
            [vec![1], vec![0xff; 65]].concat(),
            [vec![0x7f], vec![0xff; 15]].concat(),
        );
        let derived = derive(&p, &q, &[1, 0, 1]).unwrap();
        (p, q, derived)
    }

    fn context() -> PrivateContext {
        let (p, q, Derived { n, d, dp, dq, qinv }) = key();
        let (p, q) = (&p, &q);
        let parts = PrivateParts {
            n: &n,
            e: &[1, 0, 1],
            d: &d,
            p,
            q,
            dp: &dp,
            dq: &dq,
            qinv: &qinv,
        };
        PrivateContext::new(&parts, Kernel::auto()).unwrap()
    }

    #[test]
    fn a_fault_is_withheld_and_harms_no_neighbour() {
        let mut context = context();
        let len = context.modulus_len();
        let input: Vec<u8> = (0..3 * len)
            .map(|i| if i % len == 0 { 0 } else { i as u8 })
            .collect();
        let (mut sound, mut status) = (vec![0; 3 * len], [Status::Fault; 3]);
        let mut scratch = context.scratch().unwrap();
        context
            .apply(&mut scratch, &input, &mut sound, &mut status)
            .unwrap();
        assert_eq!(status, [Status::Done; 3]);

        let items = context.power.items();
        context.power = Box::new(Faulty {
            power: context.power,
            limbs: context.modulus.limbs(),
        });
        let mut output = vec![0xaa; 3 * len];
        context
            .apply(&mut scratch, &input, &mut output, &mut status)
            .unwrap();
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
        let _ = context().apply(
            &mut scratch,
            &vec![0; len],
            &mut vec![0; len],
            &mut [Status::Done],
        );
    }

    #[test]
    fn every_call_is_blinded_anew() {
        let context = context();
        let len = context.modulus_len();
        let mut scratch = context.scratch().unwrap();
        let mut seen = Vec::new();
        for _ in 0..5 {
            context
                .apply(
                    &mut scratch,
                    &vec![0; len],
                    &mut vec![0; len],
                    &mut [Status::Done],
                )
                .unwrap();
            let inverses = scratch.blinding.inverses().to_vec();
            assert!(!seen.contains(&inverses));
            seen.push(inverses);
        }
    }
}
