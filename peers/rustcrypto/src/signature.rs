//! PKCS#1 v1.5 signatures of SHA-256 digests: made, and verified.

use rand_chacha::ChaCha20Rng;
use rsa::{Pkcs1v15Sign, RsaPrivateKey, RsaPublicKey};
use rsalab_engines::{
    EngineError, Job, Layout, Prepared, RunStats, Runner, StudyKey, check_items, op::DIGEST_BYTES,
    padding::SHA256_DIGEST_INFO,
};

use crate::{
    block::{PrivateForm, private_key, public_key},
    generate::random,
};

/// SHA-256, by its length and its name in DER.
fn scheme() -> Pkcs1v15Sign {
    Pkcs1v15Sign {
        hash_len: Some(DIGEST_BYTES),
        prefix: SHA256_DIGEST_INFO.into(),
    }
}

/// A private key, shared by all threads.
pub(crate) struct PreparedSigning {
    form: PrivateForm,
    key: RsaPrivateKey,
    layout: Layout,
}

impl PreparedSigning {
    pub(crate) fn new(form: PrivateForm, job: &Job, key: &StudyKey) -> Result<Self, EngineError> {
        Ok(Self {
            form,
            key: private_key(key)?,
            layout: job.layout(),
        })
    }
}

impl Prepared for PreparedSigning {
    fn kernel(&self) -> String {
        match self.form {
            PrivateForm::Blinded => "sign_with_rng",
            PrivateForm::Unblinded | PrivateForm::Unchecked => "sign",
        }
        .to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        let random = match self.form {
            PrivateForm::Blinded => Some(random()?),
            PrivateForm::Unblinded | PrivateForm::Unchecked => None,
        };
        Ok(Box::new(SigningRunner {
            prepared: self,
            random,
        }))
    }
}

struct SigningRunner<'a> {
    prepared: &'a PreparedSigning,
    random: Option<ChaCha20Rng>,
}

impl Runner for SigningRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        let PreparedSigning { key, layout, .. } = self.prepared;
        check_items(*layout, inputs, outputs)?;
        let items = inputs
            .chunks_exact(layout.input)
            .zip(outputs.chunks_exact_mut(layout.output));
        for (digest, output) in items {
            let signature = match &mut self.random {
                Some(random) => key.sign_with_rng(random, scheme(), digest),
                None => key.sign(scheme(), digest),
            }
            .map_err(|error| EngineError::Library {
                call: "sign",
                message: error.to_string(),
            })?;
            output.copy_from_slice(&signature);
        }
        Ok(RunStats::default())
    }
}

/// A public key, shared by all threads.
pub(crate) struct PreparedVerifying {
    key: RsaPublicKey,
    layout: Layout,
}

impl PreparedVerifying {
    pub(crate) fn new(job: &Job, key: &StudyKey) -> Result<Self, EngineError> {
        Ok(Self {
            key: public_key(key)?,
            layout: job.layout(),
        })
    }
}

impl Prepared for PreparedVerifying {
    fn kernel(&self) -> String {
        "verify".to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        Ok(Box::new(self))
    }
}

impl Runner for &PreparedVerifying {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        check_items(self.layout, inputs, outputs)?;
        for (signed, verdict) in inputs.chunks_exact(self.layout.input).zip(outputs) {
            let (digest, signature) = signed.split_at(DIGEST_BYTES);
            *verdict = u8::from(self.key.verify(scheme(), digest, signature).is_ok());
        }
        Ok(RunStats::default())
    }
}
