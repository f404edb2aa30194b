//! Signatures of digests, in batches: the padding, and the private or the public operation.

use rsalab_rsa::{
    BlockRunner, Status,
    hash::Hash,
    random::SystemRng,
    scheme::SignatureScheme,
    signing::{Signer, Verifier},
};

use super::{block::all_done, library};
use crate::{
    engine::{EngineError, Prepared, RunStats, Runner, check_items},
    job::Job,
    op::{DIGEST_BYTES, Layout},
};

/// What is measured.
const SCHEME: SignatureScheme = SignatureScheme::Pkcs1v15(Hash::Sha256);

/// A key made ready for signing.
pub(crate) struct Signing {
    key: Box<dyn rsalab_rsa::Prepared>,
    bits: usize,
    layout: Layout,
}

impl Signing {
    pub(crate) fn new(key: Box<dyn rsalab_rsa::Prepared>, job: &Job) -> Self {
        Signing {
            key,
            bits: job.bits,
            layout: job.layout(),
        }
    }
}

impl Prepared for Signing {
    fn kernel(&self) -> String {
        self.key.kernel().to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        let runner = self.key.runner().map_err(library("preparing a thread"))?;
        Ok(Box::new(SigningRunner {
            signer: Signer::new(runner, self.bits, SCHEME)
                .map_err(library("preparing a thread"))?,
            layout: self.layout,
            status: Vec::new(),
        }))
    }
}

struct SigningRunner<R> {
    signer: Signer<R>,
    layout: Layout,
    status: Vec<Status>,
}

impl<R: BlockRunner> Runner for SigningRunner<R> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        let items = check_items(self.layout, inputs, outputs)?;
        self.status.resize(items, Status::Done);
        self.signer
            .sign(inputs, outputs, &mut self.status, &mut SystemRng)
            .map_err(library("signing"))?;
        all_done(&self.status)?;
        Ok(RunStats::default())
    }
}

/// A key made ready for verifying.
pub(crate) struct Verifying {
    key: Box<dyn rsalab_rsa::Prepared>,
    bits: usize,
    layout: Layout,
}

impl Verifying {
    pub(crate) fn new(key: Box<dyn rsalab_rsa::Prepared>, job: &Job) -> Self {
        Verifying {
            key,
            bits: job.bits,
            layout: job.layout(),
        }
    }
}

impl Prepared for Verifying {
    fn kernel(&self) -> String {
        self.key.kernel().to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        let runner = self.key.runner().map_err(library("preparing a thread"))?;
        Ok(Box::new(VerifyingRunner {
            verifier: Verifier::new(runner, self.bits, SCHEME)
                .map_err(library("preparing a thread"))?,
            layout: self.layout,
            digests: Vec::new(),
            signatures: Vec::new(),
            is_right: Vec::new(),
        }))
    }
}

struct VerifyingRunner<R> {
    verifier: Verifier<R>,
    layout: Layout,
    digests: Vec<u8>,
    signatures: Vec<u8>,
    is_right: Vec<bool>,
}

impl<R: BlockRunner> Runner for VerifyingRunner<R> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        let items = check_items(self.layout, inputs, outputs)?;
        self.is_right.resize(items, false);
        self.digests.clear();
        self.signatures.clear();
        for item in inputs.chunks(self.layout.input) {
            let (digest, signature) = item.split_at(DIGEST_BYTES);
            self.digests.extend_from_slice(digest);
            self.signatures.extend_from_slice(signature);
        }
        self.verifier
            .verify(&self.digests, &self.signatures, &mut self.is_right)
            .map_err(library("verifying"))?;
        for (verdict, is_right) in outputs.iter_mut().zip(&self.is_right) {
            *verdict = u8::from(*is_right);
        }
        Ok(RunStats::default())
    }
}
