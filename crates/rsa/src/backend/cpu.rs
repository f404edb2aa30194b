//! The backend on this CPU, over `arith`.

use std::convert::identity;

#[cfg(feature = "hazmat")]
use rsalab_arith::bare::{BarePrivateContext, BarePrivateScratch};
use rsalab_arith::{
    Kernel, MultiKeyContext, Operation, PrivateContext, PrivateScratch, PublicContext, PublicScratch,
    candidate::{PreTester, Tester},
};

use super::by_batch::ByBatch;
use super::{Backend, BlockRunner, CandidateTester, MultiKeyRunner, Prepared, PreparedMultiKey, Sieve, Status};
use crate::{Error, PrivateKey, PublicKey, Result};

const NAME: &str = "cpu";

/// RSA on this CPU: with one kernel for everything, or with the one that suits each batch.
#[derive(Clone, Copy, Debug)]
pub struct CpuBackend {
    kernel: Kernel,
    /// `true` if batches that another kernel does faster may run on that.
    chooses: bool,
}

impl CpuBackend {
    /// With a kernel of the caller's choice.
    pub fn new(kernel: Kernel) -> Self {
        let chooses = false;
        CpuBackend { kernel, chooses }
    }

    /// With the kernels that suit this CPU best: the widest one for batches, for a few items under one key that which
    /// is fastest for as many ([`Kernel::for_batch`]).
    pub fn auto() -> Self {
        CpuBackend {
            kernel: Kernel::auto(),
            chooses: true,
        }
    }

    /// With the kernel of this name, as [`kernels`](rsalab_arith::kernels) lists them.
    ///
    /// # Errors
    ///
    /// If there is no such kernel, or none for this machine.
    pub fn named(name: &str) -> Result<Self> {
        Kernel::named(name).map(CpuBackend::new).map_err(failed)
    }
}

impl CpuBackend {
    /// Makes a private key ready without the CRT, blinded and checked as ever: to be compared with programs that do
    /// without.
    ///
    /// # Errors
    ///
    /// As for [`prepare_private`](Backend::prepare_private).
    pub fn prepare_private_without_crt(&self, key: &PrivateKey) -> Result<Box<dyn Prepared>> {
        let context = PrivateContext::without_crt(key.checked(), self.kernel).map_err(failed)?;
        Ok(Box::new(context))
    }

    fn public<P: Prepared + 'static>(&self, key: &PublicKey, wrap: fn(PublicContext) -> P) -> Box<dyn Prepared> {
        if !self.chooses {
            return Box::new(wrap(PublicContext::new(key.checked(), self.kernel)));
        }
        let (bits, key) = (key.bits(), key.clone());
        let choose = |items| Kernel::for_batch(Operation::Public, bits, items);
        let prepare = move |kernel| -> Box<dyn Prepared> { Box::new(wrap(PublicContext::new(key.checked(), kernel))) };
        Box::new(ByBatch::new(Operation::Public, bits, choose, prepare))
    }
}

/// Bare mode: for comparisons with libraries that have no protections.
#[cfg(feature = "hazmat")]
impl CpuBackend {
    /// Makes a private key ready for CRT **without blinding and without a check of the result**.
    ///
    /// # Errors
    ///
    /// As for [`prepare_private`](Backend::prepare_private).
    pub fn prepare_bare_private(&self, key: &PrivateKey) -> Result<Box<dyn Prepared>> {
        Ok(Box::new(BarePrivateContext::new(key.checked(), self.kernel)))
    }

    /// Makes a private key ready without the CRT, **without blinding and without a check of the result**.
    ///
    /// # Errors
    ///
    /// As for [`prepare_private`](Backend::prepare_private).
    pub fn prepare_bare_private_without_crt(&self, key: &PrivateKey) -> Result<Box<dyn Prepared>> {
        let context = BarePrivateContext::without_crt(key.checked(), self.kernel).map_err(failed)?;
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

    fn prepare_private(&self, key: &PrivateKey) -> Result<Box<dyn Prepared>> {
        if !self.chooses {
            return Ok(Box::new(PrivateContext::new(key.checked(), self.kernel)));
        }
        let (bits, primes, key) = (key.bits(), key.primes(), key.clone());
        let choose = |items| Kernel::for_multi_prime(bits, primes, items);
        let prepare = move |kernel| -> Box<dyn Prepared> { Box::new(PrivateContext::new(key.checked(), kernel)) };
        Ok(Box::new(ByBatch::new(Operation::Private, bits, choose, prepare)))
    }

    fn prepare_multi_key(&self, keys: &[PrivateKey]) -> Result<Box<dyn PreparedMultiKey>> {
        let keys: Vec<_> = keys.iter().map(PrivateKey::checked).collect();
        let context = MultiKeyContext::new(&keys, self.kernel).map_err(failed)?;
        Ok(Box::new(context))
    }

    fn prepare_public(&self, key: &PublicKey) -> Result<Box<dyn Prepared>> {
        Ok(self.public(key, identity))
    }

    fn prepare_public_for_secrets(&self, key: &PublicKey) -> Result<Box<dyn Prepared>> {
        Ok(self.public(key, ForSecrets))
    }

    fn sieve(&self, bits: usize) -> Sieve {
        Sieve::new(self.kernel, bits)
    }

    fn tester(&self, bits: usize) -> Result<Box<dyn CandidateTester + '_>> {
        Ok(Box::new(Testers {
            before: PreTester::new(self.kernel, bits),
            rounds: Tester::new(self.kernel, bits.div_ceil(8)),
        }))
    }
}

/// Tests of `arith` on candidates, for one thread.
struct Testers {
    before: PreTester,
    rounds: Tester,
}

impl CandidateTester for Testers {
    fn pre_test(&mut self, candidates: &[u8], passed: &mut [bool]) -> Result<()> {
        self.before.test(candidates, passed).map_err(failed)
    }

    fn round(&mut self, candidates: &[u8], bases: &[u8], passed: &mut [bool]) -> Result<()> {
        self.rounds.round(candidates, bases, passed).map_err(failed)
    }
}

/// A public key whose inputs are secret.
struct ForSecrets(PublicContext);

impl ForSecrets {
    fn modulus_len(&self) -> usize {
        self.0.modulus_len()
    }

    fn kernel(&self) -> Kernel {
        self.0.kernel()
    }

    fn scratch(&self) -> Result<PublicScratch, rsalab_arith::Error> {
        Ok(self.0.scratch())
    }

    fn apply(
        &self,
        scratch: &mut PublicScratch,
        inputs: &[u8],
        outputs: &mut [u8],
        status: &mut [Status],
    ) -> Result<(), rsalab_arith::Error> {
        self.0.apply(scratch, inputs, outputs, status)
    }
}

/// A context of `arith` with the scratch of one thread.
struct ContextRunner<'key, C, S> {
    context: &'key C,
    scratch: S,
}

/// The contexts differ in their types and in the names of their operations only.
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

            fn runner(&self) -> Result<Box<dyn BlockRunner + Send + '_>> {
                let scratch = $new_scratch(self).map_err(failed)?;
                Ok(Box::new(ContextRunner {
                    context: self,
                    scratch,
                }))
            }
        }

        impl BlockRunner for ContextRunner<'_, $context, $scratch> {
            fn run(&mut self, inputs: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<()> {
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
prepared!(ForSecrets, PublicScratch, ForSecrets::scratch, apply);
prepared!(PrivateContext, PrivateScratch, PrivateContext::scratch, apply);
#[cfg(feature = "hazmat")]
prepared!(
    BarePrivateContext,
    BarePrivateScratch,
    |key: &BarePrivateContext| Ok(key.scratch()),
    apply
);

impl PreparedMultiKey for MultiKeyContext {
    fn modulus_len(&self) -> usize {
        MultiKeyContext::modulus_len(self)
    }

    fn kernel(&self) -> &str {
        MultiKeyContext::kernel(self).name()
    }

    fn lanes(&self) -> usize {
        MultiKeyContext::kernel(self).lanes()
    }

    fn runner(&self) -> Box<dyn MultiKeyRunner + Send + '_> {
        Box::new(MultiKeyContext::runner(self))
    }

    fn check(&self, inputs: &[u8], passed: &mut [bool]) -> Result<()> {
        MultiKeyContext::check(self, inputs, passed).map_err(failed)
    }
}

impl MultiKeyRunner for rsalab_arith::MultiKeyRunner<'_> {
    fn run(&mut self, keys: &[usize], inputs: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<()> {
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
