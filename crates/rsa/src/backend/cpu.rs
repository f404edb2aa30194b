//! The backend on this CPU, over `arith`.

use rsalab_arith::{
    Kernel, PrivateContext, PrivateRing, PrivateRingRunner, PrivateScratch, PublicContext,
    PublicScratch,
    bare::{BarePrivateContext, BarePrivateScratch},
    candidate::{PreTester, Tester},
};

use super::{
    Backend, BlockRunner, CandidateTester, Prepared, PreparedRing, RingRunner, Sieve, Status,
};
use crate::{Error, PrivateKey, PublicKey, bare};

const NAME: &str = "cpu";

/// RSA on this CPU with one kernel for everything.
#[derive(Clone, Copy, Debug)]
pub struct CpuBackend {
    kernel: Kernel,
}

impl CpuBackend {
    /// With a kernel of the caller's choice.
    pub fn new(kernel: Kernel) -> Self {
        CpuBackend { kernel }
    }

    /// With the kernel that suits this CPU best.
    pub fn auto() -> Self {
        CpuBackend::new(Kernel::auto())
    }

    /// With the kernel of this name, as [`kernels`](rsalab_arith::kernels) lists them.
    ///
    /// # Errors
    ///
    /// If there is no such kernel, or none for this machine.
    pub fn named(name: &str) -> Result<Self, Error> {
        Kernel::named(name).map(CpuBackend::new).map_err(failed)
    }

    /// Makes a private key ready for CRT **without blinding and without a check of the result**.
    ///
    /// # Errors
    ///
    /// As for [`prepare_private`](Backend::prepare_private).
    pub fn prepare_bare_private(
        &self,
        key: &PrivateKey,
        _purpose: bare::ForMeasurement,
    ) -> Result<Box<dyn Prepared>, Error> {
        let context = BarePrivateContext::new(&key.parts(), self.kernel).map_err(failed)?;
        Ok(Box::new(context))
    }

    /// Makes a private key ready without the CRT, blinded and checked as ever: to be measured beside programs that do
    /// without.
    ///
    /// # Errors
    ///
    /// As for [`prepare_private`](Backend::prepare_private).
    pub fn prepare_private_without_crt(
        &self,
        key: &PrivateKey,
    ) -> Result<Box<dyn Prepared>, Error> {
        let context = PrivateContext::without_crt(&key.parts(), self.kernel).map_err(failed)?;
        Ok(Box::new(context))
    }

    /// Makes a private key ready without the CRT, **without blinding and without a check of the result**.
    ///
    /// # Errors
    ///
    /// As for [`prepare_private`](Backend::prepare_private).
    pub fn prepare_bare_private_without_crt(
        &self,
        key: &PrivateKey,
        _purpose: bare::ForMeasurement,
    ) -> Result<Box<dyn Prepared>, Error> {
        let context = BarePrivateContext::without_crt(&key.parts(), self.kernel).map_err(failed)?;
        Ok(Box::new(context))
    }
}

impl Backend for CpuBackend {
    fn name(&self) -> &str {
        NAME
    }

    fn kernel(&self) -> &str {
        self.kernel.name()
    }

    fn lanes(&self) -> usize {
        self.kernel.lanes()
    }

    fn prepare_private(&self, key: &PrivateKey) -> Result<Box<dyn Prepared>, Error> {
        let context = PrivateContext::new(&key.parts(), self.kernel).map_err(failed)?;
        Ok(Box::new(context))
    }

    fn prepare_private_ring(&self, keys: &[PrivateKey]) -> Result<Box<dyn PreparedRing>, Error> {
        let parts: Vec<_> = keys.iter().map(PrivateKey::parts).collect();
        let ring = PrivateRing::new(&parts, self.kernel).map_err(failed)?;
        Ok(Box::new(ring))
    }

    fn prepare_public(&self, key: &PublicKey) -> Result<Box<dyn Prepared>, Error> {
        let context = PublicContext::new(key.n(), key.e(), self.kernel).map_err(failed)?;
        Ok(Box::new(context))
    }

    fn sieve(&self, bits: usize) -> Sieve {
        Sieve::new(self.kernel, bits)
    }

    fn tester(&self, bits: usize) -> Result<Box<dyn CandidateTester + '_>, Error> {
        Ok(Box::new(Testers {
            before: PreTester::new(self.kernel, bits),
            rounds: Tester::new(self.kernel, bits.div_ceil(8)),
        }))
    }
}

/// What `arith` tests candidates with, for one thread.
struct Testers {
    before: PreTester,
    rounds: Tester,
}

impl CandidateTester for Testers {
    fn pre_test(&mut self, candidates: &[u8], passed: &mut [bool]) -> Result<(), Error> {
        self.before.test(candidates, passed).map_err(failed)
    }

    fn round(&mut self, candidates: &[u8], bases: &[u8], passed: &mut [bool]) -> Result<(), Error> {
        self.rounds.round(candidates, bases, passed).map_err(failed)
    }
}

/// A context of `arith` with the scratch of one thread.
struct Hands<'key, C, S> {
    context: &'key C,
    scratch: S,
}

/// The three contexts differ in their types and in the names of their operations only.
macro_rules! prepared {
    ($context:ty, $scratch:ty, $new_scratch:expr, $apply:ident) => {
        impl Prepared for $context {
            fn modulus_len(&self) -> usize {
                <$context>::modulus_len(self)
            }

            fn kernel(&self) -> &str {
                <$context>::kernel(self).name()
            }

            fn lanes(&self) -> usize {
                <$context>::kernel(self).lanes()
            }

            fn runner(&self) -> Result<Box<dyn BlockRunner + '_>, Error> {
                let scratch = $new_scratch(self).map_err(failed)?;
                Ok(Box::new(Hands {
                    context: self,
                    scratch,
                }))
            }
        }

        impl BlockRunner for Hands<'_, $context, $scratch> {
            fn run(
                &mut self,
                inputs: &[u8],
                outputs: &mut [u8],
                status: &mut [Status],
            ) -> Result<(), Error> {
                self.context
                    .$apply(&mut self.scratch, inputs, outputs, status)
                    .map_err(failed)
            }
        }
    };
}

prepared!(
    PublicContext,
    PublicScratch,
    |key: &PublicContext| Ok(key.scratch()),
    apply_vartime
);
prepared!(
    PrivateContext,
    PrivateScratch,
    PrivateContext::scratch,
    apply
);
prepared!(
    BarePrivateContext,
    BarePrivateScratch,
    BarePrivateContext::scratch,
    apply
);

impl PreparedRing for PrivateRing {
    fn modulus_len(&self) -> usize {
        PrivateRing::modulus_len(self)
    }

    fn kernel(&self) -> &str {
        PrivateRing::kernel(self).name()
    }

    fn lanes(&self) -> usize {
        PrivateRing::kernel(self).lanes()
    }

    fn runner(&self) -> Box<dyn RingRunner + '_> {
        Box::new(PrivateRing::runner(self))
    }

    fn check(&self, inputs: &[u8], passed: &mut [bool]) -> Result<(), Error> {
        PrivateRing::check(self, inputs, passed).map_err(failed)
    }
}

impl RingRunner for PrivateRingRunner<'_> {
    fn run(
        &mut self,
        keys: &[usize],
        inputs: &[u8],
        outputs: &mut [u8],
        status: &mut [Status],
    ) -> Result<(), Error> {
        self.apply(keys, inputs, outputs, status).map_err(failed)
    }
}

fn failed(error: rsalab_arith::Error) -> Error {
    match error {
        rsalab_arith::Error::Randomness(reason) => Error::Randomness { reason },
        other => Error::Backend {
            backend: NAME,
            reason: other.to_string(),
        },
    }
}
