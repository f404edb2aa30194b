//! PKCS#1 v1.5 signatures of SHA-256 digests: made, and verified.

use rsalab_engines::{
    EngineError, Job, Layout, Prepared, RunStats, Runner, StudyKey, check_items, op::DIGEST_BYTES,
};

use crate::{
    context::Context,
    key::{Key, KeyDer},
    library::Libcrypto,
};

/// A key ready to be read by each thread.
pub(crate) struct PreparedSignatures<'a> {
    library: &'a Libcrypto,
    makes: bool,
    der: KeyDer,
    layout: Layout,
}

impl<'a> PreparedSignatures<'a> {
    /// To make signatures with a private key.
    pub(crate) fn to_sign(
        library: &'a Libcrypto,
        job: &Job,
        key: &StudyKey,
    ) -> Result<Self, EngineError> {
        Ok(Self {
            library,
            makes: true,
            der: KeyDer::private(key)?,
            layout: job.layout(),
        })
    }

    /// To verify signatures with a public key.
    pub(crate) fn to_verify(
        library: &'a Libcrypto,
        job: &Job,
        key: &StudyKey,
    ) -> Result<Self, EngineError> {
        Ok(Self {
            library,
            makes: false,
            der: KeyDer::public(key)?,
            layout: job.layout(),
        })
    }
}

impl Prepared for PreparedSignatures<'_> {
    fn kernel(&self) -> String {
        match self.makes {
            true => "EVP_PKEY_sign",
            false => "EVP_PKEY_verify",
        }
        .to_owned()
    }

    /// Each thread reads the key for itself, and does one operation beforehand, as for blocks.
    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        let key = Key::read(self.library, &self.der)?;
        let mut context = Context::for_signatures(self.library, &key, self.makes)?;
        match self.makes {
            true => context.sign(&[1; DIGEST_BYTES], &mut vec![0; self.layout.output])?,
            false => {
                context.verify(
                    &[1; DIGEST_BYTES],
                    &vec![1; self.layout.input - DIGEST_BYTES],
                );
            }
        }
        Ok(Box::new(SignatureRunner {
            context,
            prepared: self,
        }))
    }
}

struct SignatureRunner<'a> {
    context: Context<'a>,
    prepared: &'a PreparedSignatures<'a>,
}

impl Runner for SignatureRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        let PreparedSignatures { makes, layout, .. } = *self.prepared;
        check_items(layout, inputs, outputs)?;
        let items = inputs
            .chunks_exact(layout.input)
            .zip(outputs.chunks_exact_mut(layout.output));
        for (input, output) in items {
            if makes {
                self.context.sign(input, output)?;
            } else {
                let (digest, signature) = input.split_at(DIGEST_BYTES);
                output[0] = u8::from(self.context.verify(digest, signature));
            }
        }
        Ok(RunStats::default())
    }
}
