//! Signatures of digests, in batches: the padding, and the private or the public operation.

use rsalab_rsa::{
    BlockRunner, Status,
    hash::Hash,
    random::SystemRng,
    scheme::SignatureScheme,
    signing::{Signer, Verifier},
};

use super::{block::all_done, keys::library};
use crate::{
    engine::{EngineError, RunStats, Runner, check_items},
    job::Job,
    op::{DIGEST_BYTES, Layout, Op},
};

/// The scheme that is measured.
pub(super) const SCHEME: SignatureScheme = SignatureScheme::Pkcs1v15(Hash::Sha256);

/// One thread's runner for signing.
pub(super) struct SigningRunner<R> {
    signer: Signer<R>,
    layout: Layout,
    status: Vec<Status>,
}

impl<R: BlockRunner> SigningRunner<R> {
    pub(super) fn new(runner: R, job: &Job) -> Result<Self, EngineError> {
        let signer = Signer::new(runner, job.bits, SCHEME);
        Ok(SigningRunner {
            signer: signer.map_err(library("preparing a thread"))?,
            layout: job.layout(),
            status: Vec::new(),
        })
    }
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

/// One thread's runner for signing messages: their digests, then as [`SigningRunner`].
pub(super) struct HashingRunner<R> {
    signing: SigningRunner<R>,
    message: usize,
    digests: Vec<u8>,
}

impl<R: BlockRunner> HashingRunner<R> {
    pub(super) fn new(runner: R, job: &Job) -> Result<Self, EngineError> {
        let of_digests = Job {
            op: Op::Sign,
            message_bytes: 0,
            ..job.clone()
        };
        Ok(HashingRunner {
            signing: SigningRunner::new(runner, &of_digests)?,
            message: job.message_bytes,
            digests: Vec::new(),
        })
    }
}

impl<R: BlockRunner> Runner for HashingRunner<R> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        let layout = Layout {
            input: self.message,
            ..self.signing.layout
        };
        check_items(layout, inputs, outputs)?;
        self.digests.clear();
        for message in inputs.chunks_exact(self.message) {
            self.digests.extend_from_slice(&Hash::Sha256.digest(message));
        }
        self.signing.run(&self.digests, outputs)
    }
}

/// One thread's runner for verifying.
pub(super) struct VerifyingRunner<R> {
    verifier: Verifier<R>,
    layout: Layout,
    digests: Vec<u8>,
    signatures: Vec<u8>,
    is_valid: Vec<bool>,
}

impl<R: BlockRunner> VerifyingRunner<R> {
    pub(super) fn new(runner: R, job: &Job) -> Result<Self, EngineError> {
        let verifier = Verifier::new(runner, job.bits, SCHEME);
        Ok(VerifyingRunner {
            verifier: verifier.map_err(library("preparing a thread"))?,
            layout: job.layout(),
            digests: Vec::new(),
            signatures: Vec::new(),
            is_valid: Vec::new(),
        })
    }
}

impl<R: BlockRunner> Runner for VerifyingRunner<R> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        let items = check_items(self.layout, inputs, outputs)?;
        self.is_valid.resize(items, false);
        self.digests.clear();
        self.signatures.clear();
        for item in inputs.chunks(self.layout.input) {
            let (digest, signature) = item.split_at(DIGEST_BYTES);
            self.digests.extend_from_slice(digest);
            self.signatures.extend_from_slice(signature);
        }
        self.verifier
            .verify(&self.digests, &self.signatures, &mut self.is_valid)
            .map_err(library("verifying"))?;
        for (verdict, is_valid) in outputs.iter_mut().zip(&self.is_valid) {
            *verdict = u8::from(*is_valid);
        }
        Ok(RunStats::default())
    }
}
