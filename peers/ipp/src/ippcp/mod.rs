//! The engine `ippcp`.

mod block;
mod ffi;
mod generate;
mod number;
mod supplier;

use rsalab_engines::{
    Engine, EngineError, EngineInfo, Job, Ledger, OPTIMISED, Op, Prepared, Reason, StudyKey,
    ledger::{ClockOwner, ThreadOwner},
};

use crate::library::{Absent, Opened, folder, static_text};
use block::{Operation, PreparedBlocks};
use ffi::{Functions, LibraryVersion};
use generate::{PreparedCandidates, PreparedGeneration, Trials};

/// Forms of the private operation, the default first.
const PRIVATE_FORMS: [(&str, Operation); 2] = [
    ("crt", Operation::PrivateCrt),
    ("plain", Operation::PrivatePlain),
];

/// Forms of the generation of keys and primes, the default first.
const GENERATION_FORMS: [(&str, Trials); 2] = [
    ("standard", Trials::OfTheStandard),
    ("trials1", Trials::One),
];

/// ippcp as an engine.
#[derive(Debug)]
pub struct Ippcp {
    functions: Functions,
    version: String,
    origin: String,
    cpu: String,
}

impl Ippcp {
    /// The engine, on the library in the project's prefix.
    pub fn new() -> Result<Self, Absent> {
        let library = Opened::open(&folder(), "libippcp.so.13", &[])?;
        // SAFETY: the signatures are those of the headers of interface version 13, which the file's name states.
        let functions = unsafe { Functions::of(&library) }?;
        // SAFETY: no arguments, no preconditions; it looks at the CPU and chooses code for it.
        let status = unsafe { (functions.ippcpInit)() };
        if status < 0 {
            return Err(Absent::NotOnThisCpu(format!(
                "ippcp has no code for this CPU (ippcpInit: {})",
                functions.status_text(status)
            )));
        }
        // SAFETY: no arguments, no preconditions; the answer is a static record.
        let version: &LibraryVersion = unsafe { &*(functions.ippcpGetLibVersion)() };
        Ok(Self {
            functions,
            // SAFETY: a static string.
            version: unsafe { static_text(version.version) },
            origin: library.path.display().to_string(),
            // SAFETY: as above.
            cpu: unsafe { static_text(version.name) },
        })
    }
}

impl Engine for Ippcp {
    fn info(&self) -> EngineInfo {
        EngineInfo {
            name: "ippcp".to_owned(),
            version: self.version.clone(),
            origin: self.origin.clone(),
            cpu_path: Some(self.cpu.clone()),
            variants: PRIVATE_FORMS
                .iter()
                .map(|(name, _)| name)
                .chain(GENERATION_FORMS.iter().map(|(name, _)| name))
                .map(|name| (*name).to_owned())
                .collect(),
            optimised: OPTIMISED,
        }
    }

    fn supports(&self, job: &Job) -> Result<Ledger, Reason> {
        job.check()?;
        if job.bare {
            return Err(
                "ippcp neither blinds nor checks in any form; leave out the wish for a bare one"
                    .into(),
            );
        }
        let ledger = Ledger {
            crt: None,
            blinding: None,
            result_check: None,
            constant_time: None,
            rounds: None,
            sieve: None,
            exponent: None,
            padding: None,
            setup: "numbers, once per thread".to_owned(),
            lanes: 1,
            threads: ThreadOwner::Harness,
            clock: ClockOwner::Harness,
        };
        Ok(match task(job)? {
            Task::Blocks(Operation::Public) => Ledger {
                exponent: Some(job.exponent),
                setup: "key read, Montgomery constants, once per thread".to_owned(),
                ..ledger
            },
            Task::Blocks(operation) => Ledger {
                crt: Some(operation == Operation::PrivateCrt),
                blinding: Some(false),
                result_check: Some(false),
                constant_time: Some(true),
                setup: "key read, Montgomery constants, once per thread".to_owned(),
                ..ledger
            },
            Task::Candidates(trials) => Ledger {
                rounds: Some(rounds(trials, job)),
                sieve: Some("trial division by the first 2048 primes".to_owned()),
                ..ledger
            },
            // `pcprsa_generatekeys.c`, `pcpprimegen_bn.c` and `pcpprime_mimimaltest.c` of the library's source.
            Task::Generation(trials) => Ledger {
                rounds: Some(rounds(trials, job)),
                sieve: Some(
                    "trial division by the first 2048 primes; independent random candidates"
                        .to_owned(),
                ),
                exponent: Some(job.exponent),
                ..ledger
            },
        })
    }

    fn prepare(&self, job: &Job, keys: &[StudyKey]) -> Result<Box<dyn Prepared + '_>, EngineError> {
        self.supports(job).map_err(EngineError::Unsupported)?;
        match task(job).map_err(EngineError::Unsupported)? {
            Task::Blocks(operation) => {
                let key = keys.first().ok_or_else(|| {
                    EngineError::Key(format!("'{}' needs one and got none", job.op))
                })?;
                Ok(Box::new(PreparedBlocks::new(
                    &self.functions,
                    operation,
                    key,
                )))
            }
            Task::Candidates(trials) => Ok(Box::new(PreparedCandidates(PreparedGeneration::new(
                &self.functions,
                trials,
                job,
            )))),
            Task::Generation(trials) => Ok(Box::new(PreparedGeneration::new(
                &self.functions,
                trials,
                job,
            ))),
        }
    }
}

/// What a job asks for.
enum Task {
    Blocks(Operation),
    Candidates(Trials),
    Generation(Trials),
}

fn task(job: &Job) -> Result<Task, Reason> {
    match job.op {
        Op::Private => form(job, &PRIVATE_FORMS).map(Task::Blocks),
        Op::Sign | Op::Verify => {
            Err("ippcp pads digests of messages that it hashes itself, and takes no digest".into())
        }
        Op::Public => match &job.variant {
            None => Ok(Task::Blocks(Operation::Public)),
            Some(wanted) => Err(Reason(format!(
                "'public' has no form '{wanted}'; it has one only"
            ))),
        },
        Op::Keygen | Op::PrimePair | Op::PrimeSearch => {
            let trials = form(job, &GENERATION_FORMS)?;
            if !job.bits.is_multiple_of(2) {
                return Err(
                    "this engine makes two primes of one size, and so moduli of an even number of bits only"
                        .into(),
                );
            }
            Ok(match job.op {
                Op::PrimeSearch => Task::Candidates(trials),
                _ => Task::Generation(trials),
            })
        }
        other => Err(Reason(format!("ippcp does not do '{other}'"))),
    }
}

/// The form that a job names, or the first.
fn form<T: Copy>(job: &Job, forms: &[(&str, T)]) -> Result<T, Reason> {
    let Some(wanted) = &job.variant else {
        return Ok(forms[0].1);
    };
    let named = forms.iter().find(|(name, _)| name == wanted);
    named.map(|(_, form)| *form).ok_or_else(|| {
        let names: Vec<_> = forms.iter().map(|(name, _)| *name).collect();
        Reason(format!(
            "'{}' has no form '{wanted}'; it has {}",
            job.op,
            names.join(", ")
        ))
    })
}

/// The primality tests of a search, in words.
fn rounds(trials: Trials, job: &Job) -> String {
    format!(
        "{} of Miller-Rabin with random bases",
        trials.rounds(job.bits)
    )
}
