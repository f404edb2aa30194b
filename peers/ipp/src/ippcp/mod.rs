//! The engine `ippcp`.

mod block;
mod ffi;
mod generate;
mod number;
mod supplier;

use rsalab_engines::{Engine, EngineError, EngineInfo, Job, Ledger, OPTIMISED, Op, Prepared, Reason, StudyKey, kit};

use crate::library::{Absent, Opened, folder, static_text};
use block::Operation;
use ffi::{Functions, LibraryVersion};
use generate::Trials;

/// Variants of the private operation, the default first.
const PRIVATE: [(&str, Operation); 2] = [("crt", Operation::PrivateCrt), ("plain", Operation::PrivatePlain)];

/// Variants of the generation of keys and primes, the default first: the last two are article (c)'s round, and as many
/// as OpenSSL takes below 2048 bits. Any other number can be named in the same way.
const GENERATION: [(&str, Trials); 3] = [
    ("standard", Trials::OfTheStandard),
    ("trials1", Trials::Fixed(1)),
    ("trials64", Trials::Fixed(64)),
];

/// The most rounds that a variant may name.
const MOST_TRIALS: usize = 1000;

/// ippcp as an engine.
#[derive(Debug)]
pub struct Ippcp {
    functions: Functions,
    version: String,
    origin: String,
    cpu: String,
}

impl Ippcp {
    /// The engine, on the library in the folder of [`folder`].
    pub fn new() -> Result<Self, Absent> {
        let library = Opened::open(&folder()?, "libippcp.so.13", &[])?;
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
        if let Some(mask) = features_wanted()? {
            // SAFETY: a number without preconditions; the library chooses code for these features, which the CPU has.
            let status = unsafe { (functions.ippcpSetCpuFeatures)((functions.ippcpGetEnabledCpuFeatures)() & mask) };
            if status < 0 {
                return Err(Absent::NotOnThisCpu(format!(
                    "ippcp has no code for the features that {FEATURES} leaves (ippcpSetCpuFeatures: {})",
                    functions.status_text(status)
                )));
            }
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

/// The variable that masks the CPU's features for the library: the bits of `ippcpdefs.h`, hexadecimal. 0xfffff are
/// those before AVX-512.
const FEATURES: &str = "IPPCP_FEATURES";

fn features_wanted() -> Result<Option<u64>, Absent> {
    let Some(mask) = std::env::var_os(FEATURES) else {
        return Ok(None);
    };
    let text = mask.to_string_lossy();
    u64::from_str_radix(text.trim_start_matches("0x"), 16)
        .map(Some)
        .map_err(|_| Absent::NotOnThisCpu(format!("{FEATURES} is no hexadecimal number: '{text}'")))
}

impl Engine for Ippcp {
    fn info(&self) -> EngineInfo {
        EngineInfo {
            name: "ippcp".to_owned(),
            version: self.version.clone(),
            origin: self.origin.clone(),
            cpu_path: Some(self.cpu.clone()),
            variants: [kit::names(&PRIVATE), kit::names(&GENERATION)].concat(),
            optimised: OPTIMISED,
        }
    }

    fn supports(&self, job: &Job) -> Result<Ledger, Reason> {
        job.check()?;
        if job.bare {
            return Err("ippcp neither blinds nor checks in any variant; leave out the wish for a bare one".into());
        }
        let numbers = Ledger::native("numbers, once per thread");
        let key = Ledger::native("key read, Montgomery constants, once per thread");
        Ok(match task(job)? {
            Task::Blocks(Operation::Public) => Ledger {
                exponent: Some(job.exponent),
                ..key
            },
            Task::Blocks(operation) => Ledger {
                crt: Some(operation == Operation::PrivateCrt),
                blinding: Some(false),
                result_check: Some(false),
                constant_time: Some(true),
                ..key
            },
            Task::Candidates(trials) => Ledger {
                rounds: Some(rounds(trials, job)),
                sieve: Some("trial division by the first 2048 primes".to_owned()),
                ..numbers
            },
            // `pcprsa_generatekeys.c`, `pcpprimegen_bn.c` and `pcpprime_mimimaltest.c` of the library's source.
            Task::Keys(trials) | Task::PrimePairs(trials) => Ledger {
                rounds: Some(rounds(trials, job)),
                sieve: Some("trial division by the first 2048 primes; independent random candidates".to_owned()),
                exponent: Some(job.exponent),
                ..numbers
            },
        })
    }

    fn prepare(&self, job: &Job, keys: &[StudyKey]) -> Result<Box<dyn Prepared + '_>, EngineError> {
        self.supports(job)?;
        let functions = &self.functions;
        Ok(match task(job)? {
            Task::Blocks(operation) => block::blocks(functions, operation, kit::key(job, keys)?),
            Task::Candidates(trials) => generate::candidates(functions, trials, job),
            Task::Keys(trials) => generate::keys(functions, trials, job),
            Task::PrimePairs(trials) => generate::prime_pairs(functions, trials, job),
        })
    }
}

/// A job's task.
enum Task {
    Blocks(Operation),
    Candidates(Trials),
    Keys(Trials),
    PrimePairs(Trials),
}

fn task(job: &Job) -> Result<Task, Reason> {
    let trials = || {
        let count = job
            .variant
            .as_ref()
            .and_then(|name| name.strip_prefix("trials")?.parse().ok());
        let trials = match count {
            Some(count) if (1..=MOST_TRIALS).contains(&count) => Trials::Fixed(count),
            _ => kit::variant(job, &GENERATION)?,
        };
        kit::even_bits(job).map(|()| trials)
    };
    match job.op {
        Op::Private => kit::variant(job, &PRIVATE).map(Task::Blocks),
        Op::Public => kit::only_variant(job).map(|()| Task::Blocks(Operation::Public)),
        Op::Sign | Op::Verify => {
            Err("ippcp pads digests of messages that it hashes itself, and takes no digest".into())
        }
        Op::Keygen => trials().map(Task::Keys),
        Op::PrimePair => trials().map(Task::PrimePairs),
        Op::PrimeSearch => trials().map(Task::Candidates),
        other => Err(kit::not_done("ippcp", other)),
    }
}

/// The primality tests of a search, in words.
fn rounds(trials: Trials, job: &Job) -> String {
    format!("{} of Miller-Rabin with random bases", trials.rounds(job.bits))
}
