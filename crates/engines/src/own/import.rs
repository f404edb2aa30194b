//! Keys imported from bytes, through the function that every key of a user passes: each relation between the numbers
//! is checked. On request the primes are tested too, as `rsalab` does before it uses a key: those of a batch together.

use rsalab_rsa::{
    Backend, CpuBackend, PrivateKey, format::decode_private, format::decode_public, hash::Hash,
    primality::ROUNDS_BEFORE_USE, random::SystemRng, scheme::SignatureScheme, signing::Verifier,
};

use crate::{
    engine::{EngineError, Prepared, RunStats, Runner, check_items},
    job::Job,
    kit, loading,
    op::{DIGEST_BYTES, Layout, public_key_bytes},
};

/// Private keys; with tests of their primes on a backend, where there is one.
pub(super) fn private_keys(job: &Job, tested_on: Option<CpuBackend>) -> Box<dyn Prepared> {
    Box::new(Importing {
        layout: job.layout(),
        tested_on,
    })
}

struct Importing {
    layout: Layout,
    tested_on: Option<CpuBackend>,
}

struct ImportingRunner<'a>(&'a Importing);

impl Prepared for Importing {
    fn kernel(&self) -> String {
        match &self.tested_on {
            None => "decode_private".to_owned(),
            Some(backend) => format!("decode_private, check_many on {}", backend.name()),
        }
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        Ok(Box::new(ImportingRunner(self)))
    }
}

impl Runner for ImportingRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        let Importing { layout, tested_on } = self.0;
        check_items(*layout, inputs, outputs)?;
        let read = |item: &[u8]| decode_private(loading::der(item)?).map_err(refused);
        let keys: Vec<PrivateKey> = inputs.chunks_exact(layout.input).map(read).collect::<Result<_, _>>()?;
        if let Some(backend) = tested_on {
            let all: Vec<&PrivateKey> = keys.iter().collect();
            let verdicts = PrivateKey::check_many_on(&all, ROUNDS_BEFORE_USE, &mut SystemRng, backend);
            for verdict in verdicts.map_err(refused)? {
                verdict.map_err(refused)?;
            }
        }
        for (key, output) in keys.iter().zip(outputs.chunks_exact_mut(layout.output)) {
            output.copy_from_slice(key.public().n());
        }
        Ok(RunStats::default())
    }
}

/// A public key, made ready for the one signature that it verifies.
pub(super) fn verifications(job: &Job, backend: CpuBackend) -> Box<dyn Prepared> {
    let bits = job.bits;
    kit::items("decode_public, Verifier", job, move || {
        Ok(move |item: &[u8], verdict: &mut [u8]| {
            let (key, signed) = item.split_at(public_key_bytes(bits));
            let (digest, signature) = signed.split_at(DIGEST_BYTES);
            let key = decode_public(loading::der(key)?).map_err(refused)?;
            let prepared = backend.prepare_public(&key).map_err(refused)?;
            let runner = prepared.runner().map_err(refused)?;
            let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
            let mut verifier = Verifier::new(runner, bits, scheme).map_err(refused)?;
            let mut is_valid = [false];
            verifier.verify(digest, signature, &mut is_valid).map_err(refused)?;
            verdict[0] = u8::from(is_valid[0]);
            Ok(())
        })
    })
}

fn refused(error: rsalab_rsa::Error) -> EngineError {
    EngineError::Key(error.to_string())
}
