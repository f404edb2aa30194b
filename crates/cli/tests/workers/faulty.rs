//! A worker that goes wrong when it is told to, for the tests: the textbook engine under the name `gmp`, with the fault
//! that the environment variable `FAULT` names.
//!
//! Every fault waits for a few runs, so that it strikes in the middle of a measurement.
#![forbid(unsafe_code)]

use std::{
    env, fs,
    io::Write,
    process,
    process::ExitCode,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use rsalab_engines::{
    Engine, EngineError, EngineInfo, Job, Ledger, Own, Prepared, Reason, RunStats, Runner, StudyKey, Textbook, worker,
};
use rsalab_rsa::{PrivateKey, primality::is_probable_prime, random::SystemRng};

/// The run in which the fault strikes.
const STRIKES_AT: usize = 40;

fn main() -> ExitCode {
    let fault = env::var("FAULT").unwrap_or_default();
    // The textbook engine makes no keys.
    let engine: Box<dyn Engine> = match fault.as_str() {
        "close primes" => Box::new(Own::auto()),
        _ => Box::new(Textbook),
    };
    worker::main(&Faulty { fault, engine })
}

struct Faulty {
    fault: String,
    engine: Box<dyn Engine>,
}

impl Engine for Faulty {
    fn info(&self) -> EngineInfo {
        EngineInfo {
            name: "gmp".to_owned(),
            ..self.engine.info()
        }
    }

    fn supports(&self, job: &Job) -> Result<Ledger, Reason> {
        self.engine.supports(job)
    }

    fn prepare(&self, job: &Job, keys: &[StudyKey]) -> Result<Box<dyn Prepared + '_>, EngineError> {
        Ok(Box::new(FaultyPrepared {
            inner: self.engine.prepare(job, keys)?,
            fault: &self.fault,
            runs: AtomicUsize::new(0),
        }))
    }
}

struct FaultyPrepared<'a> {
    inner: Box<dyn Prepared + 'a>,
    fault: &'a str,
    runs: AtomicUsize,
}

impl Prepared for FaultyPrepared<'_> {
    fn kernel(&self) -> String {
        self.inner.kernel()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        Ok(Box::new(FaultyRunner {
            inner: self.inner.runner()?,
            prepared: self,
        }))
    }
}

struct FaultyRunner<'a> {
    inner: Box<dyn Runner + 'a>,
    prepared: &'a FaultyPrepared<'a>,
}

impl Runner for FaultyRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        let stats = self.inner.run(inputs, outputs)?;
        let strikes = self.prepared.runs.fetch_add(1, Ordering::Relaxed) >= STRIKES_AT;
        match self.prepared.fault {
            // Wrong from the first run on, and the same each time: only the coordinator can notice.
            "wrong" => outputs.iter_mut().take(1).for_each(|byte| *byte ^= 1),
            "close primes" => {
                let prime = outputs.len() / 4;
                let key = with_close_primes(&outputs[..prime]);
                let made = [key.p(), key.q(), key.d()].concat();
                outputs.copy_from_slice(&made);
            }
            "fickle" if strikes => outputs.iter_mut().take(1).for_each(|byte| *byte ^= 1),
            "panic" if strikes => panic!("as the test wants it"),
            "exit" if strikes => process::exit(9),
            "hang" if strikes => thread::sleep(Duration::from_secs(3600)),
            // The loop of the worker holds the lock of standard output.
            "noise" if strikes => {
                let written = fs::File::options()
                    .append(true)
                    .open("/dev/stdout")
                    .and_then(|mut out| out.write_all(b"no answer\n"));
                written.expect("a worker has a standard output");
            }
            "refuse" if strikes => {
                return Err(EngineError::Library {
                    call: "as the test wants it",
                    message: "no".to_owned(),
                });
            }
            _ => {}
        }
        Ok(stats)
    }
}

/// A key of a prime and the next one that fits: right in every relation, and factored at once.
fn with_close_primes(prime: &[u8]) -> PrivateKey {
    let mut next = prime.to_vec();
    loop {
        for byte in next.iter_mut().rev() {
            let (sum, carried) = byte.overflowing_add(1);
            *byte = sum;
            if !carried {
                break;
            }
        }
        let is_prime = is_probable_prime(&next, 8, &mut SystemRng);
        if is_prime.expect("there is randomness")
            && let Ok(key) = PrivateKey::from_primes(&next, prime, &[1, 0, 1])
        {
            return key;
        }
    }
}
