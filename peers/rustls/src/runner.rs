//! Handshakes, and the part of them that is timed.
//!
//! Of whole ones everything. Of the server's answers, clients begin and complete theirs outside the time: the runner
//! has clients ready that have written their first messages, and hands each batch's results out when it is collected.

use std::{collections::VecDeque, sync::Arc};

use rsalab_engines::{EngineError, Job, Op, Prepared, RunStats, Runner, check_items, op::NONCE_BYTES};
use rustls::ClientConfig;

use crate::{
    ends::{Ends, Signer},
    handshake::{Answered, Begun},
};

/// A job made ready.
pub(crate) struct Handshakes {
    pub(crate) ends: Ends,
    pub(crate) signer: Signer,
    pub(crate) job: Job,
}

impl Prepared for Handshakes {
    fn kernel(&self) -> String {
        let version = self.ends.version;
        let certificate = self.ends.certificate_bytes;
        match self.job.op {
            Op::HandshakeResumed => format!("{}, X25519 and a ticket", version.name()),
            _ => format!(
                "{}, X25519, {} by {}, certificate of {certificate} bytes",
                version.name(),
                version.scheme_name(),
                match self.signer {
                    Signer::Own => "rsalab-rustls",
                    Signer::Ring => "ring",
                    Signer::AwsLc => "aws-lc-rs",
                },
            ),
        }
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        let resumes = self.job.op == Op::HandshakeResumed;
        let client = self.ends.client(resumes)?;
        if resumes {
            // The session that the first one resumes.
            let mut output = [0; NONCE_BYTES + 1];
            Begun::new(&client)?
                .answer(&self.ends.server)?
                .complete(&[0; NONCE_BYTES], &mut output)?;
        }
        Ok(match self.job.op {
            Op::HandshakeServer => Box::new(Answers {
                of: self,
                client,
                ready: Vec::new(),
                answered: VecDeque::new(),
                most: 0,
            }),
            _ => Box::new(Whole { of: self, client }),
        })
    }
}

/// Client and server, from the beginning to the end.
struct Whole<'h> {
    of: &'h Handshakes,
    client: Arc<ClientConfig>,
}

impl Runner for Whole<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        let layout = self.of.job.layout();
        check_items(layout, inputs, outputs)?;
        let items = inputs.chunks_exact(layout.input);
        for (nonce, output) in items.zip(outputs.chunks_exact_mut(layout.output)) {
            let begun = Begun::new(&self.client)?;
            begun.answer(&self.of.ends.server)?.complete(nonce, output)?;
        }
        Ok(RunStats::default())
    }
}

/// The server's answers.
struct Answers<'h> {
    of: &'h Handshakes,
    client: Arc<ClientConfig>,
    /// Clients that have begun.
    ready: Vec<Begun>,
    /// Handshakes whose answer was timed, in order, each with its nonce.
    answered: VecDeque<(Answered, [u8; NONCE_BYTES])>,
    /// The most that were waiting at once.
    most: usize,
}

impl Answers<'_> {
    /// Clients for as many as ever waited at once, and twice that: a sample may grow.
    fn refill(&mut self) -> Result<(), EngineError> {
        while self.ready.len() < 2 * self.most.max(4) {
            self.ready.push(Begun::new(&self.client)?);
        }
        Ok(())
    }
}

impl Runner for Answers<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        self.run_kept(0, inputs, outputs)?;
        self.collect(0, outputs)?;
        Ok(RunStats::default())
    }

    fn keep(&mut self, batches: &mut dyn Iterator<Item = &[u8]>) -> Result<(), EngineError> {
        let items = batches.map(|inputs| inputs.len() / NONCE_BYTES);
        self.most = items.max().unwrap_or(0);
        self.refill()
    }

    fn run_kept(&mut self, _: usize, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        check_items(self.of.job.layout(), inputs, outputs)?;
        for nonce in inputs.chunks_exact(NONCE_BYTES) {
            let begun = match self.ready.pop() {
                Some(begun) => begun,
                None => Begun::new(&self.client)?,
            };
            let nonce = nonce.try_into().expect("a chunk is as long as a nonce");
            self.answered.push_back((begun.answer(&self.of.ends.server)?, nonce));
        }
        Ok(RunStats::default())
    }

    fn collect(&mut self, _: usize, outputs: &mut [u8]) -> Result<(), EngineError> {
        self.most = self.most.max(self.answered.len());
        for output in outputs.chunks_exact_mut(NONCE_BYTES + 1) {
            let waiting = self.answered.pop_front();
            let (answered, nonce) =
                waiting.ok_or_else(|| EngineError::library("the handshake", "no answer is waiting"))?;
            answered.complete(&nonce, output)?;
        }
        self.refill()
    }
}
